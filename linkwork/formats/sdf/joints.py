"""Joints of SDF: kinds, axes, springs, limits; what mimics and gearboxes couple."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted, suggest
from linkwork.formats.robot import Coordinate, Link, Range, Robot, RobotCoupling, RobotJoint
from linkwork.formats.sdf.scopes import Scope, pose_element
from linkwork.formats.sdf.values import bound_in, flag_in, number_in, text_in
from linkwork.formats.xml_tree import Element
from linkwork.mechanism import Fixed, Frame, Prismatic, Revolute, Screw, Spherical, Universal
from linkwork.mechanism.joints import PERPENDICULAR, JointKind

_TURN = 2.0 * math.pi
_ALIGNED = 1e-6  # sine of the angle between axes that are the same
_BORNE = 1e-2  # the same of a gearbox and of the hinge of its wheel: files have a right angle as 1.57

_ONE_AXIS = ("revolute", "continuous", "prismatic", "screw")
_TWO_AXES = ("universal", "revolute2")
_TYPES = (*_ONE_AXIS, *_TWO_AXES, "ball", "fixed", "gearbox")


@dataclass
class Axis:
    """An axis of a joint: its direction in joint-frame axes, and its properties."""

    direction: FloatArray
    stiffness: float
    free: float
    damping: float
    friction: float
    max_load: float
    limits: Range | None
    start: float


@dataclass
class _Ends:
    """What a joint connects: names of links (None: the world), and the joint frame in each and in the joint's scope."""

    parent: str | None
    child: str
    parent_frame: Frame
    child_frame: Frame
    frame: Frame


class JointReader:
    """Reads joints into a robot whose links are known; couplings follow when all joints are known."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._names: set[str] = set()
        self._coordinates: dict[tuple[str, str], Coordinate] = {}  # by joint, and "axis" or "axis2"
        self._mimics: list[tuple[Scope, str, Element, Element]] = []
        self._gearboxes: list[tuple[Scope, str, Element, _Ends]] = []

    def read(self, scope: Scope, element: Element) -> None:
        """Read a joint of a scope."""
        name = scope.prefix + element.attribute("name")
        label = f"joint {name!r}"
        kind = element.attribute("type").lower()
        if kind not in _TYPES:
            raise element.error(f"there is no type {kind!r} of joints; {suggest(kind, _TYPES)}")
        if name in self._names:
            raise element.error("another joint has this name: rename one")
        self._names.add(name)
        ends = self._ends(scope, element)
        self._leave_out_rest(element, label)
        closes = self._must_close(element, label)
        if kind == "gearbox":
            self._gearboxes.append((scope, name, element, ends))
        elif kind in _TWO_AXES:
            self._add_two_axes(scope, name, element, ends, closes)
        else:
            axes = [self._axis(scope, element, "axis", label, ends, kind)] if kind in _ONE_AXIS else []
            if not axes:
                self._leave_out_axes(element, label, kind)
            self._add(name, _kind(kind, element, axes), ends, axes, closes, label)
            self._remember(scope, name, element, {"axis": (name, 0)} if axes else {})

    def couple(self) -> None:
        """Add the couplings of the joints that were read."""
        for scope, name, element, axis in self._mimics:
            self._add_mimic(scope, name, element, axis)
        for scope, name, element, ends in self._gearboxes:
            self._add_gearbox(scope, name, element, ends)

    # ---- ends and axes ----

    def _ends(self, scope: Scope, element: Element) -> _Ends:
        parent_name, child_name = (element.required(end).text() for end in ("parent", "child"))
        parent, child = (scope.link(name, element) for name in (parent_name, child_name))
        if child is None:
            raise element.error(f"its child {child_name!r} is fixed in the world: exchange parent and child")
        if parent == child:
            raise element.error(f"its parent and its child are both the link {child!r}: name two links")
        pose, given = pose_element(element)
        relative_to = given or child_name
        frame = scope.pose(relative_to, element) @ pose
        world = scope.world_pose @ frame
        exact = scope.places.get(relative_to)
        alone = exact is not None and exact.kind == "link" and scope.prefix + relative_to
        in_parent, in_child = (
            pose if alone and alone == end else _pose(self.robot.links, end).inverse() @ world
            for end in (parent, child)
        )
        return _Ends(parent, child, in_parent, in_child, frame)

    def _axis(self, scope: Scope, element: Element, tag: str, label: str, ends: _Ends, kind: str) -> Axis:
        axis = element.required(tag)
        here = f"{label} > {tag}"
        direction = self._direction(scope, axis, ends.frame)
        dynamics, limit = axis.child("dynamics"), axis.child("limit")
        lower, upper = bound_in(limit, "lower", -math.inf), bound_in(limit, "upper", math.inf)
        if lower > upper:
            raise axis.error(f"its limits are {lower:g} to {upper:g}: exchange them")
        limits = (lower, upper) if math.isfinite(lower) or math.isfinite(upper) else None
        if kind == "continuous" and limits:
            self.robot.report.left_out(f"{here} > limit > lower, upper", "a continuous joint has no limits")
            limits = None
        effort = bound_in(limit, "effort", -1.0)
        velocity = bound_in(limit, "velocity", -1.0)
        if 0.0 <= velocity < math.inf:
            self.robot.report.left_out(f"{here} > limit > velocity", "speeds are not limited: the joint can be faster")
        for name, default in (("stiffness", 1e8), ("dissipation", 1.0)):
            if limits and bound_in(limit, name, default) != default:
                self.robot.report.left_out(f"{here} > limit > {name}", "the stops are those of Linkwork")
        if effort == 0.0:
            self.robot.report.left_out(
                f"{here} > limit > effort", "it is 0, which would rate the joint for no load at all"
            )
        return Axis(
            direction,
            number_in(dynamics, "spring_stiffness", 0.0),
            number_in(dynamics, "spring_reference", 0.0),
            number_in(dynamics, "damping", 0.0),
            number_in(dynamics, "friction", 0.0),
            effort if effort > 0.0 else math.inf,
            limits,
            number_in(axis, "initial_position", 0.0),
        )

    def _direction(self, scope: Scope, axis: Element, frame: Frame) -> FloatArray:
        """Return the unit vector of an axis in axes of the joint's `frame`, which is given in the scope's own."""
        xyz = axis.child("xyz")
        vector = np.array([0.0, 0.0, 1.0]) if xyz is None else xyz.text_vector(3)
        size = float(np.linalg.norm(vector))
        if size == 0.0:
            raise axis.error("its direction is zero: give a vector along it, such as 0 0 1")
        vector = vector / size
        within = "" if xyz is None else xyz.attribute("expressed_in", "")
        # Before SDF 1.7 a flag said so, and in 1.4 axes were always those of the model.
        if not within and flag_in(axis, "use_parent_model_frame", scope.version == 4):
            within = scope.own
        if not within:
            return vector
        return frame.rotation.T @ (scope.pose(within, axis).rotation @ vector)

    # ---- joints ----

    def _add(self, name: str, kind: JointKind, ends: _Ends, axes: list[Axis], closes: bool, label: str) -> None:
        joint = RobotJoint(
            name, kind, ends.parent, ends.child, ends.parent_frame, ends.child_frame, closes, element=label
        )
        if any(axis.stiffness for axis in axes):
            joint.stiffness = tuple(axis.stiffness for axis in axes)
            joint.free = tuple(axis.free for axis in axes)
        if any(axis.damping for axis in axes):
            joint.damping = tuple(axis.damping for axis in axes)
        if any(axis.friction for axis in axes):
            joint.friction = tuple(axis.friction for axis in axes)
        if any(axis.limits for axis in axes):
            joint.limits = tuple(axis.limits for axis in axes)
        if any(axis.max_load < math.inf for axis in axes):
            joint.max_load = tuple(axis.max_load for axis in axes)
        if any(axis.start for axis in axes):
            joint.start = np.array([axis.start for axis in axes])
        self.robot.joints[name] = joint

    def _add_two_axes(self, scope: Scope, name: str, element: Element, ends: _Ends, closes: bool) -> None:
        """Add two hinges in series: a Cardan joint where their axes are perpendicular."""
        label = f"joint {name!r}"
        axes = [self._axis(scope, element, tag, label, ends, "") for tag in ("axis", "axis2")]
        first, second = (axis.direction for axis in axes)
        if np.linalg.norm(np.cross(first, second)) < _ALIGNED:
            raise element.error("its axes are parallel, where two hinges are one too many: make it a revolute joint")
        if abs(float(first @ second)) <= PERPENDICULAR:
            self._add(name, Universal(first, second), ends, axes, closes, label)
            self._remember(scope, name, element, {"axis": (name, 0), "axis2": (name, 1)})
            return
        between = f"{name}_between"
        if between in self.robot.links:
            raise element.error(f"it needs a link between its axes, but there is a link {between!r}: rename that")
        world = _pose(self.robot.links, ends.parent) @ ends.parent_frame
        self.robot.links[between] = Link(between, pose=world)
        halves = [f"{name}_axis", f"{name}_axis2"]
        self._names.update(halves)
        links = [ends.parent, between, ends.child]
        frames = [ends.parent_frame, Frame(), Frame(), ends.child_frame]
        for i, half in enumerate(halves):
            pair = _Ends(links[i], str(links[i + 1]), frames[2 * i], frames[2 * i + 1], ends.frame)
            self._add(half, Revolute(axes[i].direction), pair, [axes[i]], closes and i == 1, label)
        self.robot.report.taken(
            label, f"two hinges {quoted(halves)} with a massless link between them, as the axes are not perpendicular"
        )
        self._remember(scope, name, element, {"axis": (halves[0], 0), "axis2": (halves[1], 0)})

    def _remember(self, scope: Scope, name: str, element: Element, coordinates: dict[str, Coordinate]) -> None:
        for tag, coordinate in coordinates.items():
            self._coordinates[name, tag] = coordinate
            axis = element.required(tag)
            if axis.child("mimic") is not None:
                self._mimics.append((scope, name, element, axis))

    # ---- couplings ----

    def _add_mimic(self, scope: Scope, name: str, element: Element, axis: Element) -> None:
        mimic = axis.required("mimic")
        leader_axis = mimic.attribute("axis", "axis") or "axis"
        leader = scope.joint(mimic.attribute("joint"), mimic)
        follower = self._coordinates[name, axis.tag]
        if (leader, leader_axis) not in self._coordinates:
            raise mimic.error(f"joint {leader!r} has no {leader_axis!r} that can be followed")
        led = self._coordinates[leader, leader_axis]
        if led == follower:
            raise mimic.error("it follows itself: name another joint")
        multiplier = number_in(mimic, "multiplier", 1.0)
        offset = number_in(mimic, "offset", 0.0) - multiplier * number_in(mimic, "reference", 0.0)
        terms: dict[Coordinate, tuple[float, ...]] = {follower: (1.0,)}
        if multiplier != 0.0:
            terms[led] = (-multiplier,)
        coupling = f"{name}_mimic" if axis.tag == "axis" else f"{name}_{axis.tag}_mimic"
        label = f"joint {name!r} > {axis.tag} > mimic"
        self.robot.couplings.append(RobotCoupling(coupling, terms, offset, label))

    def _add_gearbox(self, scope: Scope, name: str, element: Element, ends: _Ends) -> None:
        """Add theta_2 = -ratio theta_1, the angles of the gearbox's child and parent relative to its reference body."""
        label = f"joint {name!r}"
        ratio = number_in(element, "gearbox_ratio", 1.0)
        axes = [element.child(tag) for tag in ("axis", "axis2")]
        for axis, tag in zip(axes, ("axis", "axis2"), strict=True):
            for inner in axis.children("dynamics", "limit", "mimic") if axis is not None else ():
                inner.skip()
                self.robot.report.left_out(
                    f"{label} > {tag} > {inner.tag}", "a gearbox is an equation, and has no coordinate itself"
                )
        reference_name = text_in(element, "gearbox_reference_body")
        if not reference_name:
            raise element.error("the element 'gearbox_reference_body' is missing: name the link that bears both wheels")
        reference = scope.link(reference_name, element)
        terms: dict[Coordinate, tuple[float, ...]] = {}
        # An axis that is not given is that of z; a single one serves both.
        given = [axis for axis in axes if axis is not None]
        for axis, wheel, factor in ((axes[1], ends.child, 1.0), (axes[0], ends.parent, ratio)):
            source = axis if axis is not None else given[0] if given else None
            vector = self._direction(scope, source, ends.frame) if source is not None else np.array([0.0, 0.0, 1.0])
            world = (scope.world_pose @ ends.frame).rotation @ vector
            found = self._hinge(reference, wheel, world)
            if found is None:
                self.robot.report.left_out(
                    label,
                    f"there is no hinge along its axis between {_link_label(reference)} and {_link_label(wheel)}, so "
                    "that both turn independently: add the joint",
                )
                return
            coordinate, sign = found
            terms[coordinate] = (sign * factor,)
        if ratio == 0.0:
            raise element.error("gearbox_ratio is 0: give another one, or a fixed joint instead")
        if len(terms) < 2:
            raise element.error("both its wheels are the same link: name two")
        self.robot.couplings.append(RobotCoupling(name, terms, 0.0, label))

    def _hinge(self, reference: str | None, wheel: str | None, axis: FloatArray) -> tuple[Coordinate, float] | None:
        """Return the coordinate of a hinge between two links along `axis` (in the world), and the sign of its angle."""
        for joint in self.robot.joints.values():
            if {joint.parent, joint.child} != {reference, wheel} or not isinstance(joint.kind, Revolute):
                continue
            frame = _pose(self.robot.links, joint.parent) @ joint.parent_frame
            along = frame.rotation @ joint.kind.axis
            if np.linalg.norm(np.cross(along, axis)) < _BORNE:
                sign = math.copysign(1.0, float(along @ axis))
                return (joint.name, 0), sign if joint.child == wheel else -sign
        return None

    # ---- what is left out ----

    def _must_close(self, element: Element, label: str) -> bool:
        """Return whether the file wants the loop to be cut at this joint."""
        physics = element.child("physics")
        if physics is None:
            return False
        simbody = physics.child("simbody")
        closes = simbody is not None and flag_in(simbody, "must_be_loop_joint")
        for child in physics.children():
            if child.tag != "simbody":
                child.skip()
                self.robot.report.left_out(f"{label} > physics > {child.tag}", "it sets up another engine's equations")
        return closes

    def _leave_out_rest(self, element: Element, label: str) -> None:
        for sensor in element.children("sensor"):
            sensor.skip()
            self.robot.report.left_out(f"{label} > sensor", "any variable of the result can be measured: name it there")

    def _leave_out_axes(self, element: Element, label: str, kind: str) -> None:
        """Report axes of joints that have none; what they say would be damping at most."""
        for axis in element.children("axis", "axis2"):
            damping = number_in(axis.child("dynamics"), "damping", 0.0)
            axis.skip()
            why = f"the axes of a {kind} joint have no meaning in SDF"
            if damping:
                why += f"; a damping of {damping:g} N m s/rad would slow its rotation"
            self.robot.report.left_out(f"{label} > {axis.tag}", why)


def _kind(kind: str, element: Element, axes: list[Axis]) -> JointKind:
    if kind == "fixed":
        return Fixed()
    if kind == "ball":
        return Spherical()
    direction = axes[0].direction
    if kind == "prismatic":
        return Prismatic(direction)
    if kind == "screw":
        return Screw(direction, _pitch(element))
    return Revolute(direction)


def _pitch(element: Element) -> float:
    """Return the advance of a screw in m/rad."""
    older, lead = element.child("thread_pitch"), number_in(element, "screw_thread_pitch", 1.0)
    if element.child("screw_thread_pitch") is not None or older is None:
        if older is not None:
            older.skip()  # the newer element counts
        return lead / _TURN
    # thread_pitch is in rad/m, and positive for a left-hand thread.
    turns = older.text_number()
    if turns == 0.0:
        raise older.error("it is 0, a thread of infinite lead: make it a prismatic joint")
    return -1.0 / turns


def _pose(links: dict[str, Link], name: str | None) -> Frame:
    pose = Frame() if name is None else links[name].pose
    assert pose is not None
    return pose


def _link_label(name: str | None) -> str:
    return "the world" if name is None else f"link {name!r}"
