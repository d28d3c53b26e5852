"""Elements that Drake adds to URDF: ball constraints, springs and tendons; its joints are in `joints.py`."""

from __future__ import annotations

import math

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import suggest
from linkwork.formats.robot import Coordinate, RobotCoupling, RobotJoint, RobotRod
from linkwork.formats.urdf.context import Context
from linkwork.formats.xml_tree import Element
from linkwork.mechanism import Frame
from linkwork.mechanism.joints import Spherical

_NO_BUSHING = "there is no element with six stiffnesses; the links move against each other without these forces"
_NO_CONTACT = "there is no contact between links"
_NO_EFFECT = "it names a frame and has no effect on the motion"


def read_drake(context: Context, root: Element) -> None:
    """Read Drake's elements of the robot; the joints must have been read."""
    for number, element in enumerate(root.children("drake:ball_constraint"), start=1):
        _read_ball_constraint(context, element, number)
    for number, element in enumerate(root.children("drake:linear_spring_damper"), start=1):
        _read_spring(context, element, number)
    for number, element in enumerate(root.children("drake:tendon_constraint"), start=1):
        _read_tendon(context, element, number)
    for tag, why in (
        ("drake:linear_bushing_rpy", _NO_BUSHING),
        ("drake:collision_filter_group", _NO_CONTACT),
        ("frame", _NO_EFFECT),
    ):
        for element in root.children(tag):
            element.skip()
            context.report.left_out(element.label, why)


def _ends(context: Context, element: Element) -> tuple[tuple[str | None, str | None], FloatArray]:
    """Return the two links of an element, and the point (2, 3) in each."""
    links, points = [], []
    for body, point in (("body_A", "p_AP"), ("body_B", "p_BQ")):
        links.append(context.link(element.required(f"{element.tag}_{body}"), "name"))
        points.append(element.required(f"{element.tag}_{point}").vector("value", 3))
    if links[0] == links[1]:
        raise element.error("it connects a link with itself")
    return (links[0], links[1]), np.array(points)


def _value(element: Element, name: str, default: float) -> float:
    """Return the number of a child, which may be infinite."""
    child = element.child(f"{element.tag}_{name}")
    if child is None:
        return default
    text = child.attribute("value").lower()
    if text.lstrip("+-") in ("inf", "infinity"):
        return -math.inf if text.startswith("-") else math.inf
    return child.number("value")


def _read_ball_constraint(context: Context, element: Element, number: int) -> None:
    (first, second), (at_first, at_second) = _ends(context, element)
    name = context.new_joint_name(f"ball_constraint_{number}")
    label = f"drake:ball_constraint {number}"
    context.robot.joints[name] = RobotJoint(
        name, Spherical(), first, second, Frame(at_first), Frame(at_second), closes=True, element=label
    )


def _read_spring(context: Context, element: Element, number: int) -> None:
    links, points = _ends(context, element)
    free, stiffness, damping = (_value(element, name, 0.0) for name in ("free_length", "stiffness", "damping"))
    if min(free, stiffness, damping) < 0.0 or math.inf in (free, stiffness, damping):
        raise element.error("free_length, stiffness and damping must be finite and not negative")
    label = f"drake:linear_spring_damper {number}"
    name = f"linear_spring_damper_{number}"
    context.robot.rods.append(RobotRod(name, links, points, stiffness, damping, free, element=label))


def _read_tendon(context: Context, element: Element, number: int) -> None:
    """Read sum of a q + offset in [lower, upper]; equal bounds are a coupling, and other bounds are left out."""
    label = f"drake:tendon_constraint {number}"
    terms: dict[Coordinate, tuple[float, ...]] = {}
    for child in element.children("drake:tendon_constraint_joint"):
        name, factor = child.attribute("name"), child.number("a")
        joint = context.robot.joints.get(name)
        if joint is None:
            raise child.error(f"there is no joint {name!r}; {suggest(name, context.robot.joints)}")
        if joint.kind.nq != 1 or (name, 0) in terms or not factor:
            raise child.error(f"joint {name!r} must have one coordinate, occur once and have a factor 'a' other than 0")
        terms[name, 0] = (factor,)
    if not terms:
        raise element.error("the element 'drake:tendon_constraint_joint' is missing")
    offset = _value(element, "offset", 0.0)
    lower, upper = _value(element, "lower_limit", -math.inf), _value(element, "upper_limit", math.inf)
    stiffness = _value(element, "stiffness", math.inf)
    _value(element, "damping", 0.0)
    if lower != upper or not math.isfinite(offset):
        context.report.left_out(label, "bounds on a sum of coordinates are not possible; the sum can exceed them")
        return
    if stiffness < math.inf:
        context.report.approximated(label, f"its stiffness is {stiffness:.6g}; the coupling is rigid")
    context.robot.couplings.append(RobotCoupling(f"tendon_constraint_{number}", terms, lower - offset, label))
