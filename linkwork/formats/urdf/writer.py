"""Writes a mechanism as URDF: a tree of links from the ground, loops as `<loop>` of URDF+, and couplings.

Joints that URDF has not are chains of hinges and slides with massless links, which is exact. Those of a ball are three
hinges, singular where the second turns by 90 degrees; `<ball>` names them for Linkwork. A screw is a `<drake:joint>`.
Every number has all its digits. The frame of a URDF link is the joint frame of the joint that carries it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import free_name, quoted
from linkwork.errors import MechanismError
from linkwork.formats.frictions import JointFriction, is_of_joint, joint_frictions
from linkwork.formats.joint_graph import outward, split
from linkwork.formats.report import Report
from linkwork.formats.urdf.elements import NO_BOUND, add, add_origin, is_macro
from linkwork.formats.visuals import parts_of
from linkwork.mechanism import (
    GROUND,
    Coupling,
    ForceElement,
    Frame,
    Friction,
    Joint,
    JointSpringDamper,
    Mechanism,
    PointSpringDamper,
    Stop,
    Transition,
)
from linkwork.mechanism.joints import AlongCircle, AlongPath, Fixed, Free, Planar, Screw, Spherical
from linkwork.mechanism.shapes import Mesh, Shape
from linkwork.mechanism.transitions import stop_range

_LOOP_NAMES = {"free": "floating"}
_OF_URDF_PLUS = ("revolute", "prismatic", "planar", "fixed")
_DRAKE = ("screw",)
_SKIPPED = {
    "points": "points of interest have no effect on the motion",
    "measures": "measures have no effect on the motion",
    "outputs": "outputs have no effect on the motion",
    "states": "URDF has no differential equations of elements",
}


def write(mech: Mechanism, report: Report) -> str:
    """Return a mechanism as the text of a URDF file, and report what became of each part."""
    writing = _Writing(mech, report, spanning_tree(mech))
    writing.write()
    _check_no_macros(writing.root)
    ElementTree.indent(writing.root)
    return ElementTree.tostring(writing.root, encoding="unicode") + "\n"


@dataclass
class Draft:
    """The file as it grows."""

    mech: Mechanism
    report: Report
    tree: Tree
    root: ElementTree.Element = field(default_factory=lambda: ElementTree.Element("robot"))
    links: dict[str, str] = field(default_factory=dict)  # by body: the name of its link
    # By joint and number of the coordinate, from 0: the `<joint>` that has this coordinate.
    places: dict[tuple[str, int], ElementTree.Element] = field(default_factory=dict)
    _taken_links: set[str] = field(default_factory=set)
    _taken_joints: set[str] = field(default_factory=set)

    def new_link(self, name: str) -> str:
        """Return a new name of a link."""
        return _new(name, self._taken_links)

    def new_joint(self, name: str) -> str:
        """Return a new name of a joint."""
        return _new(name, self._taken_joints)


def _new(name: str, taken: set[str]) -> str:
    found = free_name(name, taken)
    taken.add(found)
    return found


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
        steps = steps_of(joint, branch.outward, self._needs_coordinates(joint))
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
        sprung = joint.name in _loaded(self.mech)
        stopped = any(
            isinstance(t.action, Stop) and t.action.joint == joint.name for t in self.mech.transitions.values()
        )
        driven = bool(joint.reflected_inertia.any() or np.isfinite(joint.max_load).any())
        return coupled or sprung or stopped or driven

    # ---- loops and couplings ----

    def _write_loop(self, joint: Joint) -> None:
        kind = joint.kind
        if isinstance(kind, AlongPath):
            self.report.left_out(f"joint {joint.name!r}", "URDF has no joints along paths: the loop stays open")
            return
        name = _LOOP_NAMES.get(kind.type_name, kind.type_name)
        element = ElementTree.SubElement(self.root, "loop", name=joint.name, type=name)
        ends = (("predecessor", joint.parent, joint.parent_frame), ("successor", joint.child, joint.child_frame))
        for tag, body, frame in ends:
            end = ElementTree.SubElement(element, tag, link=self.links[body])
            add_origin(end, self.tree.in_link(body, frame))
        for tag, axis in zip(("axis", *kind.axis_names[1:]) if kind.axes else (), kind.axes, strict=True):
            add(element, tag, xyz=axis)
        if kind.parameter:
            add(element, kind.parameter.name, value=kind.value)
        extra = "" if name in _OF_URDF_PLUS else f", of the type {name!r}, which Linkwork adds to URDF+"
        self.report.taken(f"joint {joint.name!r}", f"<loop> of URDF+{extra}")

    def _write_coupling(self, coupling: Coupling) -> None:
        """Write an equation with constant coefficients: of two coordinates as <mimic>, others as Drake's tendon."""
        label = f"coupling {coupling.name!r}"
        terms = [(self.places.get((t.joint, t.element)), t.coefficients) for t in coupling.terms.values()]
        if coupling.formula is not None or coupling.motion is not None or any(any(c[1:]) for _, c in terms):
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


def write_shapes(draft: Draft, link: ElementTree.Element, body: str) -> None:
    """Write the shapes of a body, or of the ground, into its link."""
    for number, shape in enumerate(draft.mech.shapes.get(body, ()), start=1):
        visual = ElementTree.SubElement(link, "visual")
        add_origin(visual, shape.frame if body == GROUND else draft.tree.in_link(body, shape.frame))
        _write_geometry(ElementTree.SubElement(visual, "geometry"), shape)
        if shape.colour is not None:
            material = ElementTree.SubElement(visual, "material", name=shape.colour)
            add(material, "color", rgba=(*parts_of(shape.colour), 1.0))
        draft.report.taken(f"body {body!r} > shape {number}", "<visual>")


def _write_geometry(geometry: ElementTree.Element, shape: Shape) -> None:
    if isinstance(shape, Mesh):
        add(geometry, "mesh", filename=shape.path, scale=shape.scale)
        return
    tag = "drake:capsule" if shape.type_name == "capsule" else shape.type_name
    add(geometry, tag, **{name: value for name, value in shape.given.items() if name not in ("frame", "colour")})


class Step(NamedTuple):
    """A URDF joint."""

    type: str  # "revolute", "prismatic" and so on; "screw" is a type of `<drake:joint>`
    axis: FloatArray | None  # (3,), None without one
    coordinates: tuple[int, ...]  # which coordinates of the joint it has, from 0
    lead: float = 0.0  # of a screw: advance in one revolution, m


def steps_of(joint: Joint, outward: bool, apart: bool) -> list[Step]:
    """Return the joints that make a joint, from its inner body to its outer one.

    Parameters
    ----------
    outward
        Whether the inner body is the parent; otherwise the chain is reversed, and each axis with it.
    apart
        Whether the coordinates of a planar joint are needed as those of single joints.
    """
    found = _steps(joint, apart or not outward)
    if outward or isinstance(joint.kind, Spherical):  # a ball is one in either direction
        return found
    return [step._replace(axis=None if step.axis is None else -step.axis) for step in reversed(found)]


def _steps(joint: Joint, apart: bool) -> list[Step]:
    match kind := joint.kind:
        case Planar() if not apart:
            return [Step("planar", kind.normal, (0, 1, 2))]
        case Screw():
            return [Step("screw", kind.axis, (0,), 2.0 * math.pi * kind.pitch)]
        case Spherical():
            return [Step("continuous", axis, ()) for axis in np.eye(3)]
        case Free():
            return [Step("floating", None, ())]
        case Fixed():
            return [Step("fixed", None, ())]
        case AlongCircle():
            raise MechanismError(
                f"joint {joint.name!r}: URDF has no joint along a circle outside loops; replace the "
                f"{type(kind).__name__} by revolute joints about the centre of the circle"
            )
    if kind.simple_motions is None:
        raise MechanismError(f"joint {joint.name!r}: URDF has no {type(kind).__name__}; write JSON")
    types = {"turn": "continuous", "slide": "prismatic"}
    return [Step(types[motion], axis, (k,)) for k, (motion, axis) in enumerate(kind.simple_motions)]


_SINGLE = ("continuous", "revolute", "prismatic", "screw")


def write_loads(writing: Draft) -> None:
    """Write what acts in joints and between points; the joints must have been written."""
    for force in writing.mech.forces:
        _write_force(writing, force)
    for friction in joint_frictions(writing.mech):
        _write_friction(writing, friction)
    for joint in writing.mech.joints.values():
        _write_drive(writing, joint)
    for transition in writing.mech.transitions.values():
        _write_transition(writing, transition)


def _places(writing: Draft, joint: str) -> list[ElementTree.Element]:
    """Return the `<joint>` of each speed of a joint; empty where one has none, as in a loop."""
    kind = writing.mech.joints[joint].kind
    found = [writing.places.get((joint, k)) for k in range(kind.nu)]
    single = [element for element in found if element is not None and element.attrib["type"] in _SINGLE]
    return single if len(single) == kind.nu else []


# ---- forces ----


def _write_force(writing: Draft, force: ForceElement) -> None:
    if isinstance(force, JointSpringDamper):
        _write_damping(writing, force)
        _write_stiffness(writing, force)
    elif isinstance(force, PointSpringDamper):
        _write_spring(writing, force)
    elif not is_of_joint(force):  # which follows, as its viscous part is added to the dampers
        name = getattr(force, "name", "")
        writing.report.left_out(f"{type(force).__name__} {name!r}", "URDF has no such force; it does not act")


def _each(writing: Draft, force: JointSpringDamper, name: str) -> FloatArray:
    """Return the values of a spring and damper for each speed, (nu,)."""
    return np.broadcast_to(np.asarray(getattr(force, name), dtype=float), (writing.mech.joints[force.joint].kind.nu,))


def _write_damping(writing: Draft, force: JointSpringDamper) -> None:
    values = _each(writing, force, "damping")
    if not values.any():
        return
    label = f"damping of joint {force.joint!r}"
    places = _dynamics_places(writing, force.joint, values)
    if not (values >= 0.0).all():
        writing.report.left_out(label, "URDF has no negative damping; the joint is not damped")
    elif places:
        for element, value in zip(places, values, strict=False):
            add(element, "dynamics", damping=value)
        writing.report.taken(label)
    else:
        writing.report.left_out(label, "URDF has none for this joint; it is not damped")


def _dynamics_places(writing: Draft, joint: str, *values: FloatArray) -> list[ElementTree.Element]:
    """Return the elements that can have these values of speeds as `<dynamics>`: one for all of a ball; or none."""
    ball = next((e for e in writing.root.findall("ball") if e.attrib["name"] == joint), None)
    if ball is not None:
        return [ball] if all((one == one[0]).all() for one in values) else []
    return _places(writing, joint)


def _write_friction(writing: Draft, friction: JointFriction) -> None:
    joint = friction.joint.name
    places = _dynamics_places(writing, joint, friction.coulomb, friction.viscous)
    if not places:
        friction.leave_out(writing.report, "URDF has none for this joint; it moves without it")
        return
    for element, coulomb, viscous in zip(places, friction.coulomb, friction.viscous, strict=False):
        dynamics = element.find("dynamics")
        if dynamics is None:
            dynamics = add(element, "dynamics", damping=0.0)
        dynamics.set("damping", repr(float(dynamics.attrib["damping"]) + float(viscous)))
        dynamics.set("friction", repr(float(coulomb)))
    swapped = {branch.joint.name for branch in writing.tree.branches if not branch.outward}
    friction.report(writing.report, "<dynamics>", places[0].tag == "ball" and joint in swapped)


def _write_stiffness(writing: Draft, force: JointSpringDamper) -> None:
    stiffness, free = _each(writing, force, "stiffness"), _each(writing, force, "free")
    if not stiffness.any():
        return
    label, places = f"stiffness of joint {force.joint!r}", _places(writing, force.joint)
    if not places or not (stiffness >= 0.0).all():
        writing.report.left_out(label, "URDF has none for this joint; there is no spring")
        return
    for element, k, q in zip(places, stiffness, free, strict=True):
        gazebo = ElementTree.SubElement(writing.root, "gazebo", reference=element.attrib["name"])
        for tag, value in (("springStiffness", k), ("springReference", q)):
            ElementTree.SubElement(gazebo, tag).text = repr(float(value))
    writing.report.taken(label, "<gazebo> with springStiffness and springReference")


def _write_spring(writing: Draft, spring: PointSpringDamper) -> None:
    label = f"spring {spring.name!r}"
    if min(spring.stiffness, spring.damping, spring.free) < 0.0:
        writing.report.left_out(label, "Drake's springs have no negative numbers; there is no spring")
        return
    tag = "drake:linear_spring_damper"
    element = ElementTree.SubElement(writing.root, tag)
    for end, body, point in zip(("A", "B"), spring.bodies, spring.points, strict=True):
        at = writing.tree.frames[body].inverse().apply(np.array(point))
        ElementTree.SubElement(element, f"{tag}_body_{end}", name=writing.links[body])
        add(element, f"{tag}_p_{'AP' if end == 'A' else 'BQ'}", value=at)
    for name, value in (
        ("free_length", spring.free),
        ("stiffness", spring.stiffness),
        ("damping", spring.damping),
    ):
        add(element, f"{tag}_{name}", value=value)
    writing.report.taken(label, f"<{tag}>")


# ---- drives and stops ----


def _write_drive(writing: Draft, joint: Joint) -> None:
    """Write the largest load and the rotor of each speed."""
    places = _places(writing, joint.name)
    if np.isfinite(joint.max_load).any():
        label = f"max_load of joint {joint.name!r}"
        for element, value in zip(places, joint.max_load, strict=False):
            if np.isfinite(value):
                _set_limit(element, effort=value)
        _report(writing, label, places, "the load has no limit")
    if joint.reflected_inertia.any():
        label = f"reflected_inertia of joint {joint.name!r}"
        for element, value in zip(places, joint.reflected_inertia, strict=False):
            if value:
                _write_rotor(writing, element, value)
        _report(writing, label, places, "the joint accelerates without it")


def _report(writing: Draft, label: str, places: list[ElementTree.Element], effect: str) -> None:
    if places:
        writing.report.taken(label)
    else:
        writing.report.left_out(label, f"URDF has none for this joint; {effect}")


def _write_rotor(writing: Draft, element: ElementTree.Element, inertia: float) -> None:
    """Write a transmission with Drake's rotor inertia, which has the gear ratio 1."""
    name = element.attrib["name"]
    transmission = ElementTree.SubElement(writing.root, "transmission", name=f"{name}_transmission")
    ElementTree.SubElement(transmission, "type").text = "transmission_interface/SimpleTransmission"
    ElementTree.SubElement(transmission, "joint", name=name)
    actuator = ElementTree.SubElement(transmission, "actuator", name=f"{name}_motor")
    add(actuator, "drake:rotor_inertia", value=inertia)
    add(actuator, "drake:gear_ratio", value=1.0)


def _write_transition(writing: Draft, transition: Transition) -> None:
    stop = transition.action
    if not isinstance(stop, Stop):
        kind = type(stop).__name__
        writing.report.left_out(f"transition {transition.name!r}", f"URDF has no {kind}; it does not happen")
        return
    label = f"stop {transition.name!r}"
    element = writing.places.get((stop.joint, stop.element))
    if element is None or element.attrib["type"] not in _SINGLE:
        writing.report.left_out(label, "URDF has no limits for this joint; it has no bounds")
        return
    lower, upper = stop_range(writing.mech, stop.joint, stop.element)
    _set_limit(element, lower=max(lower, -NO_BOUND), upper=min(upper, NO_BOUND))
    if element.attrib["type"] == "continuous":
        element.set("type", "revolute")
    if stop.restitution:
        writing.report.approximated(label, f"a limit without its coefficient of restitution {stop.restitution:g}")
    else:
        writing.report.taken(label, "a limit, which limits=True makes a stop")


def _set_limit(element: ElementTree.Element, **values: float) -> None:
    """Set values of `<limit>`, which has all that URDF demands."""
    limit = element.find("limit")
    if limit is None:
        limit = add(element, "limit", effort=NO_BOUND, velocity=NO_BOUND)
    if "effort" not in values:
        values = {"lower": -NO_BOUND, "upper": NO_BOUND, **values}
    for name, value in values.items():
        limit.set(name, repr(float(value)))


class Branch(NamedTuple):
    """A joint of the tree, the body that carries it and the one that it carries."""

    joint: Joint
    inner: str
    outer: str

    @property
    def outward(self) -> bool:
        """Whether the joint's parent carries its child; False: the other way round."""
        return self.joint.parent == self.inner


@dataclass
class Tree:
    """Joints of the tree in an order in which each finds its inner body, those that close loops, frames of links."""

    branches: list[Branch] = field(default_factory=list)
    closing: list[Joint] = field(default_factory=list)
    # By body: the frame of its link in the body's frame.
    frames: dict[str, Frame] = field(default_factory=lambda: {GROUND: Frame()})

    def in_link(self, body: str, frame: Frame) -> Frame:
        """Return a frame of a body in the frame of its link."""
        link = self.frames[body]
        return frame if link == Frame() else link.inverse() @ frame


def _loaded(mech: Mechanism) -> set[str]:
    """Return the joints with springs, dampers and friction."""
    forces = (force for force in mech.forces if isinstance(force, JointSpringDamper | Friction))
    return {joint for force in forces for joint in force.joint_names}


def spanning_tree(mech: Mechanism) -> Tree:
    """Return the tree: joints whose coordinates the mechanism uses are in it first, and those with cut=True last."""
    used = {term.joint for coupling in mech.couplings.values() for term in coupling.terms.values()}
    loaded = _loaded(mech)
    loaded |= {t.action.joint for t in mech.transitions.values() if isinstance(t.action, Stop)}
    rank = {name: 4 * one.cut + 2 * (name not in used) + (name not in loaded) for name, one in mech.joints.items()}
    chosen, closing = split(mech.joints.values(), lambda joint: rank[joint.name])
    tree = Tree(closing=closing)
    for branch in map(Branch._make, outward(chosen, [GROUND])):
        tree.branches.append(branch)
        tree.frames[branch.outer] = branch.joint.child_frame if branch.outward else branch.joint.parent_frame
    if apart := [body for body in mech.bodies if body not in tree.frames]:
        raise MechanismError(f"bodies {quoted(apart)} have no joints to the ground: give them one, such as Free()")
    return tree
