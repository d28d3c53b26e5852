"""XML elements with numbers that have all their digits, and the angles that URDF has for rotations."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.mechanism import Frame

NO_BOUND = 1e16  # what URDF files have where the format demands a bound and there is none


def is_macro(text: str) -> bool:
    """Return whether xacro would expand a text, as ``${length}`` or ``$(arg side)``."""
    return "${" in text or "$(" in text


def add(parent: ElementTree.Element, tag: str, **values: object) -> ElementTree.Element:
    """Add an element whose attributes are numbers, vectors or text."""
    return ElementTree.SubElement(parent, tag, {name: _text(value) for name, value in values.items()})


def add_origin(parent: ElementTree.Element, frame: Frame) -> None:
    """Add `<origin>` for a frame, unless it is that of the parent."""
    given: dict[str, object] = {}
    if frame.position.any():
        given["xyz"] = frame.position
    if not np.array_equal(frame.rotation, np.eye(3)):
        given["rpy"] = np.array(roll_pitch_yaw(frame.rotation))
    if given:
        add(parent, "origin", **given)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return " ".join(repr(float(number)) for number in np.ravel(np.asarray(value, dtype=np.float64)))


def roll_pitch_yaw(rotation: FloatArray) -> tuple[float, float, float]:
    """Return angles about the fixed axes x, y and z of a rotation matrix (3, 3).

    The roll is chosen first, and the other two angles with it, so that they are exact near a pitch of 90 degrees too,
    where only the sum or the difference of roll and yaw counts.

    >>> np.rad2deg(roll_pitch_yaw(np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])))[0]
    np.float64(90.0)
    """
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    cosine, sine = math.cos(roll), math.sin(roll)
    second = cosine * rotation[:, 1] - sine * rotation[:, 2]  # of Rz(yaw) Ry(pitch): (-sin yaw, cos yaw, 0)
    yaw = math.atan2(-second[0], second[1])
    pitch = math.atan2(-rotation[2, 0], math.cos(yaw) * rotation[0, 0] + math.sin(yaw) * rotation[1, 0])
    return roll, pitch, yaw
