"""Reads a URDF: links with their visuals, transmissions, elements of Gazebo and Drake; joints by `joints.py`."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import suggest
from linkwork.errors import MechanismError
from linkwork.formats.report import Report
from linkwork.formats.robot import Coordinate, Link, Robot, RobotCoupling, RobotJoint, RobotRod
from linkwork.formats.urdf.closures import find_closures, read_closures
from linkwork.formats.urdf.context import WORLD, Context, names
from linkwork.formats.urdf.elements import is_macro
from linkwork.formats.urdf.geometry import origin_of
from linkwork.formats.urdf.joints import read_balls, read_joints
from linkwork.formats.urdf.loops import read_loops
from linkwork.formats.visuals import TEXTURE, MeshFiles, add_shape, colour_of
from linkwork.formats.xml_tree import Element, read_xml
from linkwork.mechanism import Frame, shape
from linkwork.mechanism.joints import Spherical
from linkwork.mechanism.shapes import Shape


def read(path: Path, closures: Path | None = None, *, root: Path | None = None) -> Robot:
    """Read a URDF.

    Parameters
    ----------
    path
        The file. Meshes are looked for and not opened.
    root
        A folder around it in which meshes may lie as well.
    closures
        A YAML file with closures of loops; None: the one with the same stem in the same folder, if there is one.

    Returns
    -------
    Robot
        Its root is fixed to the world; the report has what only this format knows.
    """
    path = Path(path)
    robot = read_xml(path, "robot")
    _refuse_xacro(robot)
    name = robot.attribute("name", path.stem) or path.stem
    robot.attribute("version", "1.0")
    context = Context(Robot(name, Report(str(path), "URDF")))
    read_links(context, robot, MeshFiles(path, root))
    read_joints(context, robot)
    read_balls(context, robot)
    read_loops(context, robot)
    read_drake(context, robot)
    read_transmissions(context, robot)
    read_gazebo(context, robot)
    found = find_closures(path) if closures is None else Path(closures)
    if found is not None:
        read_closures(context, found)
    if not context.robot.links:
        raise robot.error("it has no link")
    robot.report_unread(context.report)
    return context.robot


def _refuse_xacro(root: Element) -> None:
    """Refuse macros that have not been expanded; the namespace alone is what xacro itself leaves in its output."""
    for element in root.walk():
        values = element.attributes.values()
        if element.tag.startswith("xacro:") or any(map(is_macro, values)):
            raise element.error(
                "this is a xacro file, with macros; expand it first: xacro robot.urdf.xacro > robot.urdf"
            )
    for name in root.attributes:
        if name.startswith("xmlns"):
            root.attribute(name)


def read_links(context: Context, root: Element, files: MeshFiles) -> None:
    """Read all links; a root "world" without inertia is the world itself, which needs no element either."""
    children = {name for joint in _all_joints(root) for name in _link_names(joint, "child")}
    parents = {name for joint in _all_joints(root) for name in _link_names(joint, "parent")}
    elements = root.children("link")
    declared = {element.attribute("name") for element in elements}
    context.world = WORLD in parents and WORLD not in declared
    visuals = Visuals(context, root, files)
    for element in elements:
        name = names(element)
        if name in context.robot.links or (name == WORLD and context.world):
            raise element.error("another link has this name: names of links are unique")
        shapes = visuals.read(element)
        inertial = element.child("inertial")
        if name == WORLD and name not in children and inertial is None:
            context.world = True
            context.robot.shapes += shapes
            context.report.taken("link 'world'", "the world, as it is a root without inertia")
            continue
        context.robot.links[name] = Link(name) if inertial is None else _link(name, inertial)
        context.robot.links[name].shapes = shapes
    visuals.report_materials(root)


def _all_joints(root: Element) -> list[Element]:
    return root.children("joint", "drake:joint")


def _link_names(joint: Element, tag: str) -> list[str]:
    return [end.attribute("link", "") for end in joint.children(tag)]


def _link(name: str, inertial: Element) -> Link:
    """Return a link with the inertia of `<inertial>`, whose axes may be rotated against those of the link."""
    mass = inertial.required("mass").number("value")
    if mass < 0.0:
        raise inertial.error(f"link {name!r} has the mass {mass!r} kg: it must not be negative")
    frame = origin_of(inertial)
    given = inertial.required("inertia")
    ixx, ixy, ixz, iyy, iyz, izz = (given.number(f"i{axes}") for axes in ("xx", "xy", "xz", "yy", "yz", "zz"))
    inertia = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    if not np.array_equal(frame.rotation, np.eye(3)):
        inertia = frame.rotation @ inertia @ frame.rotation.T
        inertia = 0.5 * (inertia + inertia.T)
    return Link(name, mass, frame.position, inertia)


_CONTACT = "there is no contact, and masses are those of <inertial>"


class Visuals:
    """Reads visuals."""

    def __init__(self, context: Context, root: Element, files: MeshFiles) -> None:
        self._report, self._files = context.report, files
        self._colours: dict[str, Element] = {}
        for material in root.children("material"):
            self._colours.setdefault(material.attribute("name", ""), material)

    def read(self, link: Element) -> list[Shape]:
        """Return the shapes of a link; collisions are left out."""
        shapes: list[Shape] = []
        for visual in link.children("visual"):
            label = f"{link.label} > visual"
            add_shape(shapes, self._report, label, lambda visual=visual: self._shape(visual))  # type: ignore[misc]
            if any(material.children("texture") for material in visual.children("material")):
                self._report.left_out(f"{label} > texture", TEXTURE)
            visual.skip()
        for collision in link.children("collision"):
            collision.skip()
            self._report.left_out(f"{link.label} > collision", _CONTACT)
        return shapes

    def report_materials(self, root: Element) -> None:
        """Report the materials of the file."""
        for material in root.children("material"):
            if material.children("texture"):
                self._report.left_out(f"{material.label} > texture", TEXTURE)
            self._report.taken(material.label, "colour of shapes")
            material.skip()

    def _shape(self, visual: Element) -> Shape:
        frame, colour = origin_of(visual), self._colour(visual)
        geometry = visual.required("geometry")
        children = geometry.children()
        if len(children) != 1:
            raise geometry.error(f"it has {len(children)} shapes, not one")
        one = children[0]
        kind = one.tag.removeprefix("drake:")
        if kind == "box":
            return shape.box(tuple(one.vector("size", 3).tolist()), frame=frame, colour=colour)
        if kind == "sphere":
            return shape.sphere(one.number("radius"), frame=frame, colour=colour)
        if kind in ("cylinder", "capsule"):
            made = shape.cylinder if kind == "cylinder" else shape.capsule
            return made(one.number("radius"), one.number("length"), frame=frame, colour=colour)
        if kind == "mesh":
            path, scale = self._files.find(one.attribute("filename")), one.vector("scale", 3, (1.0, 1.0, 1.0))
            return shape.mesh(path, scale=tuple(scale.tolist()), frame=frame, colour=colour)
        raise MechanismError(f"{kind!r} is not shown: shapes are boxes, cylinders, capsules, spheres and meshes")

    def _colour(self, visual: Element) -> str | None:
        """Return the colour of a visual: its own, or that of the material that it names."""
        material = visual.child("material")
        if material is None:
            return None
        colour = material.child("color")
        if colour is None:
            named = self._colours.get(material.attribute("name", ""))
            colour = None if named is None else named.child("color")
        return None if colour is None else colour_of(*colour.vector("rgba", 4).tolist())


def read_transmissions(context: Context, root: Element) -> None:
    """Read all transmissions; the joints must have been read."""
    for element in root.children("transmission"):
        _read_transmission(context, element)


def _read_transmission(context: Context, element: Element) -> None:
    joints = [context.robot.joints.get(joint.attribute("name", "")) for joint in element.children("joint")]
    actuators = element.children("actuator")
    reductions = [float_text(e) for a in (element, *actuators) for e in a.children("mechanicalReduction")]
    kind = element.child("type")
    given = element.attribute("type", "") if kind is None else kind.text()
    if len(joints) == 1 and joints[0] is not None:
        for actuator in actuators:
            _read_rotor(context, actuator, joints[0])
    element.skip()
    given = given.rsplit("/", 1)[-1] or "of no type"
    if "SimpleTransmission" in given and all(value == 1.0 for value in reductions):
        context.report.taken(element.label, "the input of the joint is the load of its motor")
        return
    if "SimpleTransmission" in given:
        ratio = ", ".join(f"{value:.6g}" for value in reductions)
        why = f"the input of a joint is the load at the joint: multiply that of the motor by {ratio}"
    else:
        why = f"{given}: inputs are loads at the joints; convert those of the motors"
    context.report.left_out(element.label, why)


def _read_rotor(context: Context, actuator: Element, joint: RobotJoint) -> None:
    """Read Drake's rotor inertia; the joint accelerates with it times the square of the gear ratio."""
    inertia, ratio = (actuator.child(f"drake:{name}") for name in ("rotor_inertia", "gear_ratio"))
    if inertia is None or joint.kind.nu != 1:
        return
    value, gear = inertia.number("value"), 1.0 if ratio is None else ratio.number("value")
    if value < 0.0:
        raise inertia.error(f"the inertia is {value!r}: it must not be negative")
    reflected = value * gear**2
    joint.reflected_inertia = (sum(joint.reflected_inertia) + reflected,)


def float_text(element: Element) -> float:
    """Return the number between the tags; an empty element is 1."""
    return element.text_number() if element.text() else 1.0


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


_FRICTION = "there is no contact and no friction between links"
_SIMULATOR = "it is of the simulator Gazebo and has no effect on the mechanics"
_PLUGIN = "plugins are programs; use a controller, an input or an action"
_REASONS = {
    "turnGravityOff": "all bodies have weight; the link would have none",
    "gravity": "all bodies have weight; the link might have none",
    "dampingFactor": "links have no damping against the world; the motion loses less energy",
    "plugin": _PLUGIN,
    "sensor": "sensors have no effect on the motion; every variable is an output",
    **dict.fromkeys(("mu", "mu1", "mu2", "kp", "kd", "fdir1", "fdir", "minDepth", "maxVel", "selfCollide"), _FRICTION),
    **dict.fromkeys(("maxContacts", "laserRetro", "collision", "surface"), _FRICTION),
}
_HAS_WEIGHT = {"turnGravityOff": ("false", "0"), "gravity": ("true", "1")}
_OTHERS = {
    "sensor": _REASONS["sensor"],
    "ros2_control": "it is of the robot's software and has no effect on the mechanics",
}


def read_gazebo(context: Context, root: Element) -> None:
    """Read what `<gazebo>` has of the mechanics, and note what is left out; the joints must have been read."""
    for element in root.children("gazebo"):
        reference = element.attribute("reference", "")
        joint = context.robot.joints.get(reference)
        if joint is not None:
            _read_joint_spring(element, joint)
        element.attribute("name", "")
        owner = f"gazebo {reference!r}" if reference else "gazebo"
        for child in element.children():
            if child.tag in ("springStiffness", "springReference") and joint is not None and joint.kind.nu == 1:
                continue
            if child.text().lower() in _HAS_WEIGHT.get(child.tag, ()):
                continue
            child.skip()
            context.report.left_out(f"{owner} > {child.tag}", _REASONS.get(child.tag, _SIMULATOR))
    for tag, why in _OTHERS.items():
        for element in root.children(tag):
            element.skip()
            context.report.left_out(element.label, why)


def _read_joint_spring(element: Element, joint: RobotJoint) -> None:
    """Read the spring of a joint: stiffness in N m/rad or N/m, and where it is free, in rad or m."""
    stiffness, free = element.child("springStiffness"), element.child("springReference")
    if joint.kind.nu != 1 or stiffness is None:
        return
    value = stiffness.text_number()
    if value < 0.0:
        raise stiffness.error(f"it is {value!r}: it must not be negative")
    joint.stiffness = (value,)
    joint.free = (0.0 if free is None else free.text_number(),)
