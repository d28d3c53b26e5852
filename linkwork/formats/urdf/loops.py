"""Closed loops in a URDF: `<loop>` and `<coupling>` of URDF+, and the `<constraint>` that is proposed for ROS.

URDF+ (generalized_rbda): a loop is a joint between a frame of its predecessor and one of its successor; its axis is in
the frame of the predecessor. A coupling is ratio (sum of q to the predecessor) = (sum of q to the successor), both from
the nearest link that carries the two. Linkwork adds the types spherical, universal (axis, axis2), cylindrical, screw
(axis, pitch), pin_in_slot (axis, slot), curved_slide (axis, direction, radius), curved_slot (axis, slot, radius) and
floating to those of URDF+.

ROS (urdfdom_headers, pull request 108): `<constraint>` of the types revolute, prismatic, universal, spherical and link,
with an origin and an axis in each of both links.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork._util.names import suggest
from linkwork.formats.robot import Coordinate, RobotCoupling, RobotJoint
from linkwork.formats.urdf.context import Context, names
from linkwork.formats.urdf.geometry import axis_of, origin_of, rotation_onto
from linkwork.formats.urdf.joints import read_axis
from linkwork.formats.xml_tree import Element
from linkwork.mechanism import Frame
from linkwork.mechanism.joints import (
    KINDS,
    PERPENDICULAR,
    AlongPath,
    Fixed,
    Free,
    JointKind,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)

_KINDS = {name: kind for name, kind in KINDS.items() if kind is not Free and not issubclass(kind, AlongPath)}
_KINDS |= {"continuous": Revolute, "floating": Free}  # the names of URDF
LOOP_TYPES = tuple(_KINDS)
CONSTRAINT_TYPES = ("revolute", "prismatic", "universal", "spherical", "link")


def read_loops(context: Context, root: Element) -> None:
    """Read all loops, constraints and couplings; the joints must have been read."""
    for element in root.children("loop", "constraint"):
        joint = _loop(context, element) if element.tag == "loop" else _constraint(context, element)
        if joint.parent == joint.child:
            raise element.error("it connects a link with itself")
        context.robot.joints[joint.name] = joint
    for element in root.children("coupling"):
        context.robot.couplings.append(_coupling(context, element))


def _loop(context: Context, element: Element) -> RobotJoint:
    name = context.new_joint_name(names(element))
    first, second = element.required("predecessor"), element.required("successor")
    return RobotJoint(
        name,
        _loop_kind(context, element),
        context.link(first),
        context.link(second),
        origin_of(first),
        origin_of(second),
        closes=True,
        element=element.label,
    )


def _loop_kind(context: Context, element: Element) -> JointKind:
    given = element.attribute("type")
    if given not in _KINDS:
        raise element.error(f"there is no type {given!r} of <loop>; {suggest(given, LOOP_TYPES)}")
    kind = _KINDS[given]
    if not kind.axis_names:
        for unused in element.children("axis"):
            unused.skip()
        return kind()
    make: Callable[..., JointKind] = kind
    values: list[object] = [read_axis(context, element)]
    values += [axis_of(element, name, None)[0] for name in kind.axis_names[1:]]
    if kind.parameter is not None:
        values.append(element.required(kind.parameter.name).number("value"))
    return make(*values)


# ---- the constraint proposed for ROS ----


def _constraint(context: Context, element: Element) -> RobotJoint:
    name = context.new_joint_name(names(element))
    given = element.attribute("type").lower()
    if given not in CONSTRAINT_TYPES:
        raise element.error(f"there is no type {given!r} of <constraint>; {suggest(given, CONSTRAINT_TYPES)}")
    kind, turned = _constraint_kind(element, given)
    return RobotJoint(
        name,
        kind,
        context.link(element.required("parent")),
        context.link(element.required("child")),
        origin_of(element, "parent_origin"),
        origin_of(element, "child_origin") @ turned,
        closes=True,
        element=element.label,
    )


def _constraint_kind(element: Element, given: str) -> tuple[JointKind, Frame]:
    """Return the kind, and the joint frame in the constraint frame of the child: axes of both frames may differ."""
    if given in ("spherical", "link"):
        for axis in element.children("parent_axis", "child_axis"):
            axis.skip()
        return (Spherical() if given == "spherical" else Fixed()), Frame()
    first, _ = axis_of(element, "parent_axis")
    if given != "universal":
        second, _ = axis_of(element, "child_axis", first)
        kind: JointKind = Revolute(first) if given == "revolute" else Prismatic(first)
        return kind, Frame(rotation=rotation_onto(first, second))
    second, _ = axis_of(element, "child_axis", None)
    if abs(first @ second) <= PERPENDICULAR:
        return Universal(first, second), Frame()
    across = np.cross(first, np.eye(3)[int(np.abs(first).argmin())])
    universal = Universal(first, across)
    return universal, Frame(rotation=rotation_onto(universal.axis2, second))


# ---- couplings ----


def _coupling(context: Context, element: Element) -> RobotCoupling:
    name = names(element)
    ends = [context.link(element.required(tag)) for tag in ("predecessor", "successor")]
    ratio = element.required("ratio").number("value")
    if not ratio:
        raise element.error("ratio is 0: give the speed of the successor divided by that of the predecessor")
    first, second = _chains(context, *ends)
    terms: dict[Coordinate, tuple[float, ...]] = {}
    for chain, factor in ((first, ratio), (second, -1.0)):
        for joint in chain:
            if joint.kind.nq > 1:
                raise element.error(f"{joint.element} has several coordinates; couple links across joints with one")
            if joint.kind.nq:
                terms[joint.name, 0] = (factor,)
    if not terms:
        raise element.error("there is no joint that moves between its links and the link that carries both")
    return RobotCoupling(name, terms, element=element.label)


def _chains(context: Context, first: str | None, second: str | None) -> tuple[list[RobotJoint], list[RobotJoint]]:
    """Return the joints from the nearest link that carries both to each of two links, outermost first."""
    inboard = {joint.child: joint for joint in context.robot.joints.values() if not joint.closes}
    chains: list[list[RobotJoint]] = []
    for link in (first, second):
        chain = []
        while link is not None and link in inboard:
            chain.append(inboard[link])
            link = inboard[link].parent
        chains.append(chain)
    common = {joint.name for joint in chains[0]} & {joint.name for joint in chains[1]}
    a, b = ([joint for joint in chain if joint.name not in common] for chain in chains)
    return a, b
