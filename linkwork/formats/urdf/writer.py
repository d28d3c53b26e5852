"""Writes a mechanism as URDF: a tree of links from the ground, loops as `<loop>` of URDF+, and couplings.

Joints that URDF has not are chains of hinges and slides with massless links, which is exact. Those of a ball are three
hinges, singular where the second turns by 90 degrees; `<ball>` names them for Linkwork. A screw is a `<drake:joint>`.
Every number has all its digits.
"""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from linkwork.errors import MechanismError
from linkwork.formats.report import Report
from linkwork.formats.urdf.draft import Draft
from linkwork.formats.urdf.elements import NO_BOUND, add, add_origin, is_macro
from linkwork.formats.urdf.loads import write_loads
from linkwork.formats.urdf.shapes import write_shapes
from linkwork.formats.urdf.spanning import Branch, spanning_tree
from linkwork.formats.urdf.steps import Step, steps_of
from linkwork.mechanism import GROUND, Coupling, Frame, Joint, JointSpringDamper, Mechanism, Stop
from linkwork.mechanism.joints import JointKind, Spherical

_LOOP_NAMES = {"free": "floating"}
_OF_URDF_PLUS = ("revolute", "prismatic", "planar", "fixed")
_DRAKE = ("screw",)
_SKIPPED = {
    "points": "points of interest have no effect on the motion",
    "measures": "measures have no effect on the motion",
}


def write(mech: Mechanism, report: Report) -> str:
    """Return a mechanism as the text of a URDF file, and report what became of each part."""
    writing = _Writing(mech, report, spanning_tree(mech))
    writing.write()
    _check_no_macros(writing.root)
    ElementTree.indent(writing.root)
    return ElementTree.tostring(writing.root, encoding="unicode") + "\n"


class _Writing(Draft):
    """The parts of the file, in its order."""

    def write(self) -> None:
        """Add all parts."""
        self.root.set("name", self.mech.name)
        self.root.set("xmlns:drake", "http://drake.mit.edu")
        self._taken_links = set(self.mech.bodies)
        self.links = {body: body for body in self.mech.bodies}
        self.links[GROUND] = self.new_link("world")
        self._taken_joints = set(self.mech.joints)
        ground = ElementTree.SubElement(self.root, "link", name=self.links[GROUND])
        write_shapes(self, ground, GROUND)
        for name in self.mech.bodies:
            self._write_body(name)
        for branch in self.tree.branches:
            self._write_joint(branch)
        for joint in self.tree.closing:
            self._write_loop(joint)
        for coupling in self.mech.couplings.values():
            self._write_coupling(coupling)
        write_loads(self)
        self._report_rest()

    # ---- bodies and joints ----

    def _write_body(self, name: str) -> None:
        body = self.mech.bodies[name]
        link = ElementTree.SubElement(self.root, "link", name=name)
        self.report.taken(f"body {name!r}")
        write_shapes(self, link, name)
        if body.mass == 0.0 and not body.inertia.any():
            return
        inertial = ElementTree.SubElement(link, "inertial")
        add_origin(inertial, self.tree.in_link(name, Frame(body.com)))
        add(inertial, "mass", value=body.mass)
        products = {f"i{'xyz'[i]}{'xyz'[k]}": body.inertia[i, k] for i in range(3) for k in range(i, 3)}
        add(inertial, "inertia", **products)

    def _write_joint(self, branch: Branch) -> None:
        """Write a joint of the tree, with massless links where it takes several."""
        joint = branch.joint
        frame = self.tree.in_link(branch.inner, joint.parent_frame if branch.outward else joint.child_frame)
        steps = steps_of(joint.kind, branch.outward, self._needs_coordinates(joint))
        inner, names = self.links[branch.inner], list[str]()
        for number, step in enumerate(steps, start=1):
            last = number == len(steps)
            outer = self.links[branch.outer] if last else self.new_link(f"{joint.name}_{number}")
            if not last:
                ElementTree.SubElement(self.root, "link", name=outer)
            name = joint.name if len(steps) == 1 else self.new_joint(f"{joint.name}_{number}")
            element = self._write_step(name, step, inner, outer, frame if number == 1 else Frame())
            self.places.update({(joint.name, coordinate): element for coordinate in step.coordinates})
            inner = outer
            names.append(name)
        if isinstance(joint.kind, Spherical):
            add(self.root, "ball", name=joint.name, joints=" ".join(names))
        self.report.taken(f"joint {joint.name!r}", self._as_what(branch, steps, names))

    def _as_what(self, branch: Branch, steps: list[Step], names: list[str]) -> str:
        kind = branch.joint.kind
        reversed_ = not branch.outward and kind.quaternion is not None
        note = "; parent and child are swapped: its coordinates are those of the inverse motion" if reversed_ else ""
        if len(steps) > 1:
            text = f"{type(kind).__name__} as the joints {' and '.join(names)} with massless links between them"
            is_ball = isinstance(kind, Spherical)
            return text + ("; where the second turns by 90 degrees, other programs find it singular" + note) * is_ball
        return f"<drake:joint> of type {steps[0].type!r}{note}" if steps[0].type in _DRAKE else note.lstrip("; ")

    def _write_step(self, name: str, step: Step, inner: str, outer: str, frame: Frame) -> ElementTree.Element:
        tag = "drake:joint" if step.type in _DRAKE else "joint"
        element = ElementTree.SubElement(self.root, tag, name=name, type=step.type)
        add_origin(element, frame)
        ElementTree.SubElement(element, "parent", link=inner)
        ElementTree.SubElement(element, "child", link=outer)
        if step.axis is not None:
            add(element, "axis", xyz=step.axis)
        if step.type == "screw":
            add(element, "drake:screw_thread_pitch", value=step.lead)
        if step.type == "prismatic":  # URDF demands it
            add(element, "limit", lower=-NO_BOUND, upper=NO_BOUND, effort=NO_BOUND, velocity=NO_BOUND)
        return element

    def _needs_coordinates(self, joint: Joint) -> bool:
        """Return whether something refers to single coordinates of a joint."""
        coupled = any(term.joint == joint.name for c in self.mech.couplings.values() for term in c.terms.values())
        sprung = any(isinstance(f, JointSpringDamper) and f.joint == joint.name for f in self.mech.forces)
        stopped = any(
            isinstance(t.action, Stop) and t.action.joint == joint.name for t in self.mech.transitions.values()
        )
        driven = bool(joint.reflected_inertia.any() or np.isfinite(joint.max_load).any())
        return coupled or sprung or stopped or driven

    # ---- loops and couplings ----

    def _write_loop(self, joint: Joint) -> None:
        kind = joint.kind
        name = _LOOP_NAMES.get(kind.type_name, kind.type_name)
        element = ElementTree.SubElement(self.root, "loop", name=joint.name, type=name)
        ends = (("predecessor", joint.parent, joint.parent_frame), ("successor", joint.child, joint.child_frame))
        for tag, body, frame in ends:
            end = ElementTree.SubElement(element, tag, link=self.links[body])
            add_origin(end, self.tree.in_link(body, frame))
        for tag, axis in zip(_axis_tags(kind), kind.axes, strict=True):
            add(element, tag, xyz=axis)
        if kind.parameter:
            add(element, "pitch", value=kind.value)
        extra = "" if name in _OF_URDF_PLUS else f", of the type {name!r}, which Linkwork adds to URDF+"
        self.report.taken(f"joint {joint.name!r}", f"<loop> of URDF+{extra}")

    def _write_coupling(self, coupling: Coupling) -> None:
        """Write an equation with constant coefficients: of two coordinates as <mimic>, others as Drake's tendon."""
        label = f"coupling {coupling.name!r}"
        terms = [(self.places.get((t.joint, t.element)), t.coefficients) for t in coupling.terms.values()]
        if coupling.motion is not None or any(any(c[1:]) for _, c in terms):
            self.report.left_out(label, "URDF has constant ratios only; its coordinates move independently")
            return
        elements = [element for element, _ in terms if element is not None]
        if len(elements) < len(terms):
            self.report.left_out(label, "a joint of it has no coordinates in URDF; its coordinates move independently")
            return
        factors = [c[0] for _, c in terms]
        for k in (0, 1) if len(terms) == 2 else ():
            if elements[k].tag == "joint" and elements[k].find("mimic") is None:
                multiplier, offset = -factors[1 - k] / factors[k], coupling.offset / factors[k]
                other = elements[1 - k].attrib["name"]
                add(elements[k], "mimic", joint=other, multiplier=multiplier, offset=offset)
                self.report.taken(label, f"<mimic> of joint {elements[k].attrib['name']!r}")
                return
        tendon = ElementTree.SubElement(self.root, "drake:tendon_constraint")
        for element, factor in zip(elements, factors, strict=True):
            add(tendon, "drake:tendon_constraint_joint", name=element.attrib["name"], a=factor)
        for bound in ("lower_limit", "upper_limit"):
            add(tendon, f"drake:tendon_constraint_{bound}", value=coupling.offset)
        self.report.taken(label, "<drake:tendon_constraint> with equal limits")

    # ---- the rest ----

    def _report_rest(self) -> None:
        if not np.array_equal(self.mech.gravity, Mechanism("m").gravity):
            why = "URDF has no gravity: readers take 9.81 m/s^2 downwards, along -z"
            self.report.left_out("gravity", why)
        for distance in self.mech.distances.values():
            self.report.left_out(f"distance {distance.name!r}", "URDF has no rods; the points move independently")
        for name in {**self.mech.start_q, **self.mech.start_u}:
            self.report.left_out(f"start of joint {name!r}", "URDF has no start values; assembly starts from zero")
        for kind, why in _SKIPPED.items():
            for name in getattr(self.mech, kind):
                self.report.left_out(f"{kind.removesuffix('s')} {name!r}", why)


def _check_no_macros(root: ElementTree.Element) -> None:
    """Refuse names that readers take for macros of xacro."""
    for element in root.iter():
        for value in element.attrib.values():
            if is_macro(value):
                raise MechanismError(
                    f"the name {value!r}: readers of URDF take '${{' and '$(' for macros of xacro: "
                    "choose another name, or write JSON or MJCF"
                )


def _axis_tags(kind: JointKind) -> tuple[str, ...]:
    """Return the tags of the axes in `<loop>`."""
    return {"universal": ("axis", "axis2"), "pin_in_slot": ("axis", "slot")}.get(
        kind.type_name, ("axis",) * len(kind.axes)
    )
