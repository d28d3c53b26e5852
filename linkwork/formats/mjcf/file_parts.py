"""The parts of an MJCF file that is being written."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.formats.mjcf.factors import Placed
from linkwork.formats.mjcf.tree import Tree
from linkwork.formats.report import Report
from linkwork.formats.xml_tree import MAX_DEPTH
from linkwork.mechanism import GROUND, Frame, Mechanism

NO_COORDINATE = "closes a loop in the file and has no coordinate there"

_SECTIONS = ("compiler", "option", "asset", "worldbody", "tendon", "equality", "actuator", "keyframe")


class FileParts:
    """The XML as it grows, and where the parts of the mechanism are in it.

    Attributes
    ----------
    mech, tree, report
        The mechanism, its tree, and what became of its parts.
    sections
        The sections of the file by tag.
    bodies
        Names in the file of the bodies of the file, by those in the mechanism; the ground is "world".
    elements
        The XML element of each body, and of the ground.
    poses
        The pose of each body in the world where all coordinates are zero.
    joints
        The joints of the file in its order.
    joint_elements
        The XML elements of the joints by name.
    joint_names
        For each joint of the mechanism the name of its last joint of the file.
    """

    def __init__(self, mech: Mechanism, tree: Tree, report: Report) -> None:
        self.mech, self.tree, self.report = mech, tree, report
        lost = [name for name in mech.bodies if name not in tree.steps and name not in tree.folded]
        if lost:
            raise MechanismError(f"body {lost[0]!r}: no joint connects it to the ground: give it one, such as a Free")
        self.root = Element("mujoco", model=mech.name)
        self.sections = {tag: SubElement(self.root, tag) for tag in _SECTIONS}
        self.bodies = {GROUND: "world"}
        self.elements: dict[str, Element] = {GROUND: self.sections["worldbody"]}
        self.poses: dict[str, Frame] = {GROUND: Frame()}
        self.joints: list[Placed] = []
        self.joint_elements: dict[str, Element] = {}
        self._of_joint: dict[str, list[Placed]] = {}
        self.joint_names: dict[str, str] = {}
        self._coordinates: dict[tuple[str, int], str] = {}
        self._used: dict[str, set[str]] = {"body": {"world"}}

    def name(self, kind: str, wanted: str) -> str:
        """Return a free name for an element of a kind."""
        used = self._used.setdefault(kind, set())
        found, number = wanted, 2
        while found in used:
            found, number = f"{wanted}_{number}", number + 1
        used.add(found)
        return found

    def add_joint(self, joint: Placed, element: Element) -> None:
        """Note a joint of the file, which its coordinates then find."""
        self.joints.append(joint)
        self.joint_elements[joint.name] = element
        self._of_joint.setdefault(joint.joint.name, []).append(joint)
        self.joint_names[joint.joint.name] = joint.name
        if joint.factor.type in ("hinge", "slide") and joint.factor.pitch is None:
            self._coordinates[joint.joint.name, joint.factor.coordinate] = joint.name

    def coordinate(self, joint: str, element: int) -> str | None:
        """Return the hinge or slide whose coordinate is that of a joint; None: there is none."""
        return self._coordinates.get((joint, element))

    def joints_of(self, joint: str) -> list[tuple[Placed, Element]]:
        """Return the joints of the file, with their elements, of a joint of the mechanism; none of a cut joint."""
        return [(one, self.joint_elements[one.name]) for one in self._of_joint.get(joint, ())]

    def add_site(self, name: str, body: str, frame: Frame) -> str:
        """Add a site to a body and return its name."""
        element = SubElement(self.elements[body], "site", name=self.name("site", name))
        place(element, frame)
        return element.attrib["name"]

    def text(self) -> str:
        """Return the XML; empty sections are left out."""
        if (levels := _levels(self.root)) > MAX_DEPTH:
            raise MechanismError(
                f"MJCF nests the bodies of a chain, here {levels} levels deep, and at most {MAX_DEPTH} are read: "
                "write URDF or JSON"
            )
        for section in list(self.root):
            if not len(section) and not section.attrib and section.tag != "worldbody":
                self.root.remove(section)
        indent(self.root)
        return tostring(self.root, encoding="unicode") + "\n"


def _levels(root: Element) -> int:
    """Return how deep elements are nested."""
    level, count = [root], 0
    while level:
        level, count = [child for element in level for child in element], count + 1
    return count


def place(element: Element, frame: Frame) -> None:
    """Set position and orientation of an element; those that are zero are left out."""
    if frame.position.any():
        element.set("pos", text_of(frame.position))
    if (frame.rotation != np.eye(3)).any():
        element.set("quat", text_of(frame.quaternion))


def text_of(numbers: FloatArray | Iterable[float] | float) -> str:
    """Return numbers with all their digits."""
    return " ".join(repr(float(number) + 0.0) for number in np.atleast_1d(np.asarray(numbers, dtype=np.float64)))
