"""Values in SDF files: flags, poses, limits that may be infinite."""

from __future__ import annotations

import math

import numpy as np

from linkwork._util.checks import shortened
from linkwork.formats.xml_tree import Element
from linkwork.mechanism import Frame

UNBOUNDED = 1e16  # how files of SDF 1.6 and before write an infinite limit


def number_in(element: Element | None, tag: str, default: float) -> float:
    """Return the number in a child of an element."""
    child = element.child(tag) if element is not None else None
    return default if child is None else child.text_number()


def bound_in(element: Element | None, tag: str, default: float) -> float:
    """Return the number in a child, which may be infinite."""
    child = element.child(tag) if element is not None else None
    if child is None:
        return default
    text = child.text().lower()
    if text in ("inf", "+inf", "-inf", "infinity", "-infinity"):
        return -math.inf if text.startswith("-") else math.inf
    value = child.text_number()
    return math.copysign(math.inf, value) if abs(value) >= UNBOUNDED else value


def flag_in(element: Element, tag: str, default: bool = False) -> bool:
    """Return the truth value in a child."""
    child = element.child(tag)
    return default if child is None else _flag(child, child.text(), "its text")


def flag_attribute(element: Element, name: str, default: bool = False) -> bool:
    """Return an attribute that is a truth value."""
    text = element.attribute(name, None)
    return default if text is None else _flag(element, text, f"the attribute {name!r}")


def text_in(element: Element, tag: str) -> str:
    """Return the text of a child; "" without one."""
    child = element.child(tag)
    return "" if child is None else child.text()


def pose_of(pose: Element | None) -> Frame:
    """Return what a `pose` element says, in the frame that it is relative to."""
    if pose is None:
        return Frame()
    pose.attribute("frame", "")
    form = pose.attribute("rotation_format", "euler_rpy")
    degrees = flag_attribute(pose, "degrees")
    if form not in ("euler_rpy", "quat_xyzw"):
        raise pose.error(f"rotation_format must be 'euler_rpy' or 'quat_xyzw', not {shortened(form)}")
    if not pose.text():
        return Frame()
    if form == "euler_rpy":
        values = pose.text_vector(6)
        return Frame.from_euler(values[3:], "xyz", values[:3], degrees=degrees)
    values = pose.text_vector(7)
    if degrees:
        raise pose.error("degrees belongs to Euler angles: leave it out, or change rotation_format")
    size = float(np.linalg.norm(values[3:]))
    if size == 0.0:
        raise pose.error("its quaternion is zero: give x y z w of a rotation, such as 0 0 0 1")
    return Frame(values[:3], np.roll(values[3:], 1) / size)


def _flag(element: Element, text: str, what: str) -> bool:
    if text.lower() in ("true", "1"):
        return True
    if text.lower() in ("false", "0"):
        return False
    raise element.error(f"{what} must be true or false, not {shortened(text)}")
