"""Joints of a URDF, with their limits, damping and mimic couplings, and those of `<drake:joint>`.

The joint frame in the child is the frame of the child link.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted, suggest
from linkwork.formats.robot import Coordinate, Range, RobotCoupling, RobotJoint
from linkwork.formats.urdf.context import WORLD, Context, names
from linkwork.formats.urdf.geometry import axis_of, is_unit, origin_of
from linkwork.formats.xml_tree import Element
from linkwork.mechanism import Frame
from linkwork.mechanism.joints import Fixed, Free, JointKind, Planar, Prismatic, Revolute, Screw, Spherical, Universal

_ALONG_AXIS: dict[str, Callable[..., JointKind]] = {
    "revolute": Revolute,
    "continuous": Revolute,
    "prismatic": Prismatic,
    "planar": Planar,
}
_WITHOUT_AXIS: dict[str, Callable[..., JointKind]] = {"fixed": Fixed, "floating": Free}
TYPES = (*_ALONG_AXIS, *_WITHOUT_AXIS)
DRAKE_TYPES = ("ball", "planar", "screw", "universal")

_NO_BOUND = 1e10  # rad, m, N ...: files have 1e16 and the like where the format demands a bound and there is none
_NO_SPEED_LIMIT = "joints have no limits of speed or acceleration; the motion can be faster than the file allows"
_SOFTWARE = "it is of the robot's software and has no effect on the mechanics"
_ONE_EACH = "it is defined for joints with one coordinate only"


def read_joints(context: Context, root: Element) -> None:
    """Read all joints and then their mimic couplings."""
    elements = root.children("joint", "drake:joint")
    for element in elements:
        _read_joint(context, element)
    _check_tree(context, elements)
    for element in elements:
        _read_mimic(context, element)


def _read_joint(context: Context, element: Element) -> None:
    name = names(element)
    if name in context.robot.joints:
        raise element.error("another joint has this name: names of joints are unique")
    parent, child = (context.link(element.required(tag)) for tag in ("parent", "child"))
    if child is None:
        raise element.error("its child is the world: swap parent and child")
    if parent == child:
        raise element.error(f"its parent and its child are the same link {child!r}")
    kind = _drake_kind(context, element) if element.tag == "drake:joint" else _kind(context, element)
    joint = RobotJoint(name, kind, parent, child, origin_of(element), element=element.label)
    context.robot.joints[name] = joint
    _read_limit(context, element, joint)
    _read_dynamics(context, element, joint)
    _read_preference(context, element, joint)
    for tag in ("calibration", "safety_controller"):
        for found in element.children(tag):
            found.skip()
            context.report.left_out(f"{element.label} > {tag}", _SOFTWARE)


# ---- kinds ----


def _kind(context: Context, element: Element) -> JointKind:
    given = element.attribute("type")
    if given in _WITHOUT_AXIS:
        for axis in element.children("axis"):  # has no meaning there, and exporters write zero
            axis.skip()
        return _WITHOUT_AXIS[given]()
    if given not in _ALONG_AXIS:
        remedy = " as <drake:joint>" if given in DRAKE_TYPES else ""
        raise element.error(f"there is no type {given!r}{remedy or f'; {suggest(given, TYPES)}'}")
    return _ALONG_AXIS[given](read_axis(context, element))


def _drake_kind(context: Context, element: Element) -> JointKind:
    """Return the kind of a `<drake:joint>`, in the conventions of the Drake class of that name."""
    given = element.attribute("type")
    if given == "screw":
        lead = element.required("drake:screw_thread_pitch").number("value")  # m in one revolution
        return Screw(read_axis(context, element), lead / (2.0 * math.pi))
    for axis in element.children("axis"):
        axis.skip()
    if given == "ball":
        return Spherical()
    if given == "universal":
        return Universal((1, 0, 0), (0, 1, 0))
    if given == "planar":
        return Planar((0, 0, 1))
    raise element.error(f"Linkwork reads the types {quoted(DRAKE_TYPES)} of <drake:joint>, not {given!r}")


def read_axis(context: Context, element: Element) -> FloatArray:
    """Return the direction of `<axis>`; a length other than 1 is reported."""
    direction, length = axis_of(element)
    if not is_unit(length):
        context.report.approximated(f"{element.label} > axis", f"its length is {length:.6g}, not 1: made a unit vector")
    return direction


# ---- limits and damping ----


def _read_limit(context: Context, element: Element, joint: RobotJoint) -> None:
    """Read position limits and the largest load; URDF has them for joints with one coordinate."""
    limit = element.child("limit")
    if limit is None:
        return
    at = f"{element.label} > limit"
    if not isinstance(joint.kind, Revolute | Prismatic | Screw):
        limit.skip()
        if not isinstance(joint.kind, Fixed):
            context.report.left_out(at, _ONE_EACH)
        return
    for rate in ("velocity", "acceleration", "deceleration", "jerk", "drake:acceleration"):
        if limit.has(rate) and _bound(limit, rate, math.inf) < _NO_BOUND:
            context.report.left_out(f"{element.label} > limit > {rate}", _NO_SPEED_LIMIT)
    _read_effort(context, limit, joint)
    bounds = _bounds(context, element, limit)
    if bounds is not None:
        joint.limits = (bounds,)


def _read_effort(context: Context, limit: Element, joint: RobotJoint) -> None:
    effort = _bound(limit, "effort", math.inf)
    if effort < 0.0:
        raise limit.error(f"effort is {effort!r}: it must not be negative")
    if effort == 0.0:
        why = "exporters write 0 where they do not know it, and 0 would be a joint that nothing can drive"
        context.report.left_out(f"{joint.element} > limit > effort '0'", why)
    elif effort < _NO_BOUND:
        joint.max_load = (effort,)


def _bounds(context: Context, element: Element, limit: Element) -> Range | None:
    """Return the range of the coordinate; without both bounds there is none, although URDF's default of each is 0."""
    if not (limit.has("lower") or limit.has("upper")):
        return None
    lower, upper = _bound(limit, "lower", 0.0), _bound(limit, "upper", 0.0)
    lower, upper = (-math.inf if lower <= -_NO_BOUND else lower), (math.inf if upper >= _NO_BOUND else upper)
    unbounded = math.isinf(lower) and math.isinf(upper)
    if element.attribute("type") == "continuous" and not unbounded:
        context.report.left_out(f"{element.label} > limit > lower, upper", "a continuous joint has no bounds")
        return None
    if lower > upper:
        context.report.left_out(f"{element.label} > limit", f"lower {lower!r} is above upper {upper!r}")
        return None
    return None if unbounded else (lower, upper)


def _bound(limit: Element, name: str, default: float) -> float:
    """Return a number that may be infinite."""
    if limit.attribute(name, "0").lower().lstrip("+-") in ("inf", "infinity"):
        return -math.inf if limit.attribute(name).startswith("-") else math.inf
    return limit.number(name, default)


def _read_dynamics(context: Context, element: Element, joint: RobotJoint) -> None:
    """Read viscous damping and friction: a number for each speed, or one for all of a ball or universal of Drake."""
    for found in element.children("joint_properties", "dynamics"):  # the former of the exporter onshape-to-robot
        joint.friction = _of_speeds(context, element, joint, found, "friction") or joint.friction
    dynamics = element.child("dynamics")
    if dynamics is None or not dynamics.has("damping"):
        return
    if isinstance(joint.kind, Planar) and element.tag == "drake:joint":
        joint.damping = tuple(dynamics.vector("damping", 3).tolist())
    else:
        joint.damping = _of_speeds(context, element, joint, dynamics, "damping")
    if any(value < 0.0 for value in joint.damping):
        raise dynamics.error("damping must not be negative")


def _of_speeds(
    context: Context, element: Element, joint: RobotJoint, dynamics: Element, name: str
) -> tuple[float, ...]:
    """Return one number of a joint for all its speeds; empty if it is zero, or left out."""
    value, count = dynamics.number(name, 0.0), joint.kind.nu
    if value and count != 1 and element.tag not in ("drake:joint", "ball"):
        context.report.left_out(f"{element.label} > {dynamics.tag} > {name}", _ONE_EACH)
        return ()
    return (value,) * count if value else ()


def _read_preference(context: Context, element: Element, joint: RobotJoint) -> None:
    """Read `independent` of URDF+: a preference of coordinates, which are then the start values to keep."""
    if not element.has("independent"):
        return
    given = element.attribute("independent")
    if given.lower() not in ("true", "false", "1", "0"):
        raise element.error(f"independent must be 'true' or 'false', not {given!r}")
    if given.lower() in ("true", "1") and joint.kind.nq:
        joint.start = joint.kind.neutral
    how = "the solver chooses the independent coordinates itself; the motion is the same"
    context.report.taken(f"{element.label} > independent {given!r}", how)


# ---- balls ----


def read_balls(context: Context, root: Element) -> None:
    """Read `<ball name="S" joints="S_1 S_2 S_3">`, which Linkwork writes: three hinges that make a `Spherical`."""
    for element in root.children("ball"):
        hinges = [_hinge_of(context, element, name) for name in element.attribute("joints").split()]
        links = context.robot.links
        for inner, outer in pairwise(hinges):
            axes = np.array([inner.kind.axes[0], outer.kind.axes[0]])
            is_centred = outer.parent == inner.child and outer.parent_frame == Frame()
            if not is_centred or not math.isclose(axes[0] @ axes[1], 0.0, abs_tol=1e-9) or links[str(inner.child)].mass:
                raise element.error(f"{outer.name!r} does not turn across {inner.name!r} about the same point")
        if len(hinges) != 3 or not math.isclose(hinges[0].kind.axes[0] @ hinges[2].kind.axes[0], 0.0, abs_tol=1e-9):
            raise element.error("joints must name three hinges, each across the others")
        first, last = hinges[0], hinges[-1]
        for hinge in hinges:
            del context.robot.joints[hinge.name]
        for hinge in hinges[:-1]:
            del links[str(hinge.child)]
        name = names(element)
        ball = RobotJoint(name, Spherical(), first.parent, last.child, first.parent_frame, element=element.label)
        context.robot.joints[name] = ball
        _read_dynamics(context, element, ball)


def _hinge_of(context: Context, element: Element, name: str) -> RobotJoint:
    joint = context.robot.joints.get(name)
    if joint is None or not isinstance(joint.kind, Revolute):
        raise element.error(f"there is no hinge {name!r}; {suggest(name, context.robot.joints)}")
    return joint


# ---- couplings and the tree ----


def _read_mimic(context: Context, element: Element) -> None:
    """Read `<mimic>`: q = multiplier q_other + offset."""
    mimic = element.child("mimic")
    if mimic is None:
        return
    joint, other_name = context.robot.joints[element.attribute("name")], mimic.attribute("joint")
    other = context.robot.joints.get(other_name)
    multiplier, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    if other is None:
        raise mimic.error(f"there is no joint {other_name!r}; {suggest(other_name, context.robot.joints)}")
    if other is joint:
        raise mimic.error(f"joint {joint.name!r} mimics itself")
    if joint.kind.nq != 1 or other.kind.nq > 1:
        context.report.left_out(f"{element.label} > mimic", _ONE_EACH)
        return
    terms: dict[Coordinate, tuple[float, ...]] = {(joint.name, 0): (1.0,)}
    if multiplier and other.kind.nq:  # a fixed joint has the coordinate 0
        terms[other.name, 0] = (-multiplier,)
    label = f"{element.label} > mimic"
    context.robot.couplings.append(RobotCoupling(f"{joint.name}_mimic", terms, offset, label))


def _check_tree(context: Context, elements: list[Element]) -> None:
    """Refuse links with two parents, circles and several roots, as URDF is a tree; its root becomes the first link."""
    outboard: dict[str | None, list[str]] = {}
    with_parent: set[str] = set()
    for element in elements:
        joint = context.robot.joints[element.attribute("name")]
        child = str(joint.child)
        if child in with_parent:
            raise element.error(f"link {child!r} is already the child of a joint; close a loop by <loop>")
        with_parent.add(child)
        outboard.setdefault(joint.parent, []).append(child)
    roots: list[str | None] = [name for name in context.robot.links if name not in with_parent]
    roots += [None] * context.world
    reached, queue = set(roots), list(roots)
    while queue:
        found = outboard.get(queue.pop(), [])
        reached.update(found)
        queue.extend(found)
    for element in elements:
        if context.robot.joints[element.attribute("name")].child not in reached:
            raise element.error("its parents form a circle; close a loop by <loop>")
    if len(roots) > 1:
        raise context.error(
            f"links {quoted([name or WORLD for name in roots])} have no parent joint, and URDF has one root: connect "
            "the others by joints, fixed or floating"
        )
    if roots and roots[0] is not None:  # the first link is the base
        root = roots[0]
        context.robot.links = {root: context.robot.links[root], **context.robot.links}
