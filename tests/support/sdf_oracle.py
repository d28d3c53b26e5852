"""Reads SDF files of one model with hinges, slides, balls and gearboxes in its own way, for comparison.

Rows and loads go to `Maximal`; nothing is taken from the package under test.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from .maximal import Array, Maximal, Moving, across


@dataclass
class SdfLink:
    """Mass properties in its own frame, and pose in the file."""

    mass: float
    com: Array
    inertia: Array
    p: Array
    R: Array


@dataclass
class SdfJoint:
    """An axis is in the world, in the pose of the file; so is the anchor."""

    name: str
    type: str
    parent: str
    child: str
    axis: Array
    anchor: Array
    stiffness: float
    free: float
    damping: float
    ratio: float
    reference: str


def _numbers(element: ET.Element, tag: str, default: str) -> Array:
    return np.array([float(word) for word in element.findtext(tag, default).split()])


def _pose(element: ET.Element) -> tuple[Array, Array]:
    values = _numbers(element, "pose", "0 0 0 0 0 0")
    return values[:3], Rotation.from_euler("xyz", values[3:]).as_matrix()


_WORLD = SdfLink(0.0, np.zeros(3), np.zeros((3, 3)), np.zeros(3), np.eye(3))


class SdfOracle:
    """A model of SDF 1.5 or 1.6."""

    def __init__(self, path: Path) -> None:
        model = ET.parse(path).getroot().find("model")
        assert model is not None
        self.links = {one.attrib["name"]: self._link(one) for one in model.findall("link")}
        self.joints = [self._joint(one) for one in model.findall("joint")]

    @staticmethod
    def _link(element: ET.Element) -> SdfLink:
        inertial = element.find("inertial")
        assert inertial is not None
        com, axes = _pose(inertial)
        i = {k: float(inertial.findtext(f"inertia/{k}", "0")) for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")}
        tensor = np.array(
            [[i["ixx"], i["ixy"], i["ixz"]], [i["ixy"], i["iyy"], i["iyz"]], [i["ixz"], i["iyz"], i["izz"]]]
        )
        return SdfLink(float(inertial.findtext("mass", "1")), com, axes @ tensor @ axes.T, *_pose(element))

    def _joint(self, element: ET.Element) -> SdfJoint:
        child = str(element.findtext("child"))
        link = self.links[child]
        place, axes = _pose(element)
        axis = element.find("axis")
        direction = np.array([0.0, 0.0, 1.0])
        if axis is not None:
            direction = _numbers(axis, "xyz", "0 0 1")
            if axis.findtext("use_parent_model_frame", "0") not in ("1", "true"):
                direction = link.R @ axes @ direction
        value = lambda tag: float(element.findtext(f"axis/dynamics/{tag}", "0"))  # noqa: E731
        return SdfJoint(
            element.attrib["name"],
            element.attrib["type"],
            str(element.findtext("parent")),
            child,
            direction / np.linalg.norm(direction),
            link.p + link.R @ place,
            value("spring_stiffness"),
            value("spring_reference"),
            value("damping"),
            float(element.findtext("gearbox_ratio", "1")),
            str(element.findtext("gearbox_reference_body")),
        )

    def maximal(self, bodies: dict[str, Moving], gravity: Array) -> Maximal:
        """Rows and loads in a state."""
        found = Maximal(bodies, gravity)
        for joint in self.joints:
            self._bind(found, joint)
        return found

    def _bind(self, system: Maximal, joint: SdfJoint) -> None:
        A, B = self.links.get(joint.parent, _WORLD), self.links[joint.child]
        a, b = None if A is _WORLD else joint.parent, joint.child
        here = [link.R.T @ (joint.anchor - link.p) for link in (A, B)]
        axis = [link.R.T @ joint.axis for link in (A, B)]
        if joint.type == "gearbox":
            # theta_2 = -ratio theta_1: angles of child and parent relative to the reference body.
            r = joint.reference
            e = self.links[r].R.T @ joint.axis
            system.rows.append(system.spin(r, b, e).plus(system.spin(r, a, e).times(joint.ratio)))
        elif joint.type == "ball":
            system.coincide(a, here[0], b, here[1])
        elif joint.type == "revolute":
            system.coincide(a, here[0], b, here[1])
            system.parallel(a, axis[0], b, axis[1])
            n = across(axis[0])
            zero = A.R.T @ B.R  # of the child in the parent, in the file
            turned = system.body(a).R.T @ system.bodies[b].R @ zero.T
            angle = np.arctan2(n[1] @ turned @ n[0], n[0] @ turned @ n[0])
            world = system.body(a).R @ axis[0]
            rate = world @ (system.bodies[b].w - system.body(a).w)
            system.torque(a, b, -(joint.stiffness * (angle - joint.free) + joint.damping * rate) * world)
        elif joint.type == "prismatic":
            system.aligned(a, A.R.T, b, B.R.T)
            system.rows += [system.gap(a, here[0], b, here[1], e, a) for e in across(axis[0])]
            displacement = system.gap(a, here[0], b, here[1], axis[0], a)
            world = system.body(a).R @ axis[0]
            size = -(joint.stiffness * (displacement.value - joint.free) + joint.damping * displacement.rate)
            # Force and reaction act on one line, through the point of the child.
            system.force(b, here[1], size * world)
            point = system.bodies[b].at(here[1])[0]
            system.force(a, system.body(a).R.T @ (point - system.body(a).p), -size * world)
        else:
            raise ValueError(joint.type)
