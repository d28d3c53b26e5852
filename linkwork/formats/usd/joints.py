"""Joints of USD Physics: kinds, frames, limits, start values; what drives, mimics and start them.

Stages state frames in single precision. A planar loop whose axes are off by 1e-8 rad is no planar loop: it neither
closes nor moves. Axes that are parallel but for such digits are made exactly parallel, and the frames of their joints
meet exactly where the stage has the bodies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork.formats.report import Report
from linkwork.formats.robot import Coordinate, Link, Range, Robot, RobotActuator, RobotCoupling, RobotJoint, RobotRod
from linkwork.formats.usd.attributes import Attributes
from linkwork.formats.usd.bodies import Bodies
from linkwork.formats.usd.units import Units, radians, rotation_of
from linkwork.mechanism import Cylindrical, Fixed, Frame, Free, Planar, Prismatic, Revolute, Spherical, Universal
from linkwork.mechanism.joints import JointKind

JOINTS = (
    "PhysicsFixedJoint",
    "PhysicsRevoluteJoint",
    "PhysicsPrismaticJoint",
    "PhysicsSphericalJoint",
    "PhysicsDistanceJoint",
    "PhysicsJoint",
)
_AXES = {"X": np.array([1.0, 0, 0]), "Y": np.array([0, 1.0, 0]), "Z": np.array([0, 0, 1.0])}
_OPEN = 1e-3  # m and rad by which a joint may be open in the poses of the stage, typed with few digits
_UNLIMITED = 1e30  # how files write a limit that is none

_ARMATURE = ("newton:armature", "physxJoint:armature", "mjc:armature")
_FRICTION = ("newton:friction", "mjc:frictionloss")
_NO_EFFECT = {
    "physics:collisionEnabled": "there are no contacts",
    "physics:breakForce": "joints do not break",
    "physics:breakTorque": "joints do not break",
}


@dataclass
class _Ends:
    """What a joint connects: names of links (None: the world), and its frame in each."""

    parent: str | None
    child: str | None
    parent_frame: Frame
    child_frame: Frame


class JointReader:
    """Reads joints into a robot; couplings and actuators follow when all joints are known."""

    def __init__(self, robot: Robot, bodies: Bodies, units: Units, attributes: Attributes) -> None:
        self.robot, self.bodies, self.units, self.attributes = robot, bodies, units, attributes
        # By path of the joint: coordinates by freedom ("rotX"), and whether the joint has a single one.
        self._coordinates: dict[str, dict[str, Coordinate]] = {}
        self._mimics: list[tuple[Any, str]] = []
        self._staged: list[StagedJoint] = []

    def read(self, prim: Any, name: str) -> None:
        """Read a joint."""
        values, label = self.attributes, f"joint {name!r}"
        if not values.flag(prim, "physics:jointEnabled", True):
            values.skip(prim, "")
            self.robot.report.left_out(label, "jointEnabled is false: its bodies move independently")
            return
        ends = self._ends(prim, label)
        for attribute, why in _NO_EFFECT.items():
            value = values.authored(prim, attribute)
            if value and value != math.inf:
                self.robot.report.left_out(f"{label} > {attribute}", why)
        if ends.parent == ends.child:
            values.skip(prim, "")
            place = "the world" if ends.parent is None else f"body {ends.parent!r}"
            self.robot.report.left_out(label, f"both its ends are in {place}")
            return
        kind = str(prim.GetTypeName())
        if kind == "PhysicsDistanceJoint":
            self._add_distance(prim, name, label, ends)
            return
        steps = self._steps(prim, kind)
        self._add(prim, name, label, ends, steps)
        coordinates = self._coordinates[str(prim.GetPath())]
        for freedom, coordinate in coordinates.items():
            self._add_limit(prim, kind, label, freedom, coordinate)
            self._add_drive(prim, kind, name, label, freedom, coordinate)
            self._set_state(prim, label, freedom, coordinate)
        self._leave_out_other_drives(prim, label)
        self._set_numbers(prim, label, steps, coordinates)
        self._mimics.append((prim, name))

    def couple(self) -> None:
        """Align the axes of the joints that were read, and add their couplings."""
        align(self._staged, self.robot.report)
        for prim, name in self._mimics:
            self._add_newton_mimic(prim, name)
            for freedom in (*TURNS, *SLIDES):
                if f"PhysxMimicJointAPI:{freedom}" in prim.GetAppliedSchemas() or prim.GetRelationship(
                    f"physxMimicJoint:{freedom}:referenceJoint"
                ):
                    self._add_physx_mimic(prim, name, freedom)

    # ---- ends and freedoms ----

    def _ends(self, prim: Any, label: str) -> _Ends:
        frames: list[Frame] = []
        names: list[str | None] = []
        for i in (0, 1):
            target = self.attributes.target(prim, f"physics:body{i}")
            position = self.attributes.vector(prim, f"physics:localPos{i}")
            turned = self.attributes.get(prim, f"physics:localRot{i}")
            rotation = None if turned is None else rotation_of(turned, f"{label}: localRot{i}")
            if target is None:
                names.append(None)
                frames.append(Frame(position * self.units.length, rotation))
                continue
            end = prim.GetStage().GetPrimAtPath(target)
            if not end:
                raise self.attributes.error(prim, f"physics:body{i} names {target}, and there is no such prim")
            body = self.bodies.owner(end)
            placed = self.bodies.placed(end)
            local = Frame(position * placed.scale * self.units.length, rotation)
            exact = body is not None and self.bodies.prims[body] == end
            names.append(body)
            frames.append(local if exact else self.bodies.frame_of(body).inverse() @ placed.frame @ local)
        return _Ends(names[0], names[1], frames[0], frames[1])

    def _steps(self, prim: Any, kind: str) -> list[Step]:
        if kind == "PhysicsJoint":
            return steps_of({freedom for freedom in (*SLIDES, *TURNS) if not self._locked(prim, freedom)})
        axis = self.attributes.token(prim, "physics:axis", "X")
        if kind == "PhysicsFixedJoint":
            return [Step(Fixed(), ())]
        if axis not in _AXES:
            raise self.attributes.error(prim, f"physics:axis must be X, Y or Z, not {axis!r}")
        if kind == "PhysicsRevoluteJoint":
            return [Step(Revolute(_AXES[axis]), (f"rot{axis}",))]
        if kind == "PhysicsPrismaticJoint":
            return [Step(Prismatic(_AXES[axis]), (f"trans{axis}",))]
        for angle in ("physics:coneAngle0Limit", "physics:coneAngle1Limit"):
            if 0.0 <= self.attributes.number(prim, angle, -1.0, finite=False) < math.inf:
                self.robot.report.left_out(f"joint {prim.GetName()!r} > {angle}", "balls turn without limits")
        return [Step(Spherical(), ())]

    def _locked(self, prim: Any, freedom: str) -> bool:
        low, high = (
            self.attributes.number(prim, f"limit:{freedom}:physics:{end}", default, finite=False)
            for end, default in (("low", -math.inf), ("high", math.inf))
        )
        return low > high

    # ---- joints ----

    def _add(self, prim: Any, name: str, label: str, ends: _Ends, steps: list[Step]) -> None:
        closes = self.attributes.flag(prim, "physics:excludeFromArticulation", False)
        start, gap, angle = self._start(ends, steps)
        opened = max(gap, angle) > _OPEN
        if opened:
            self.robot.report.approximated(
                f"{label} > start",
                f"in the poses of the stage it is open by {gap:.3g} m and {math.degrees(angle):.3g} degrees: its start "
                "values are zero",
            )
        coordinates: dict[str, Coordinate] = {}
        links: list[str | None] = [ends.parent, *(f"{name}_{i + 1}" for i in range(len(steps) - 1)), ends.child]
        for link in links[1:-1]:
            assert link is not None
            if link in self.robot.links:
                raise self.attributes.error(prim, f"it needs massless links, but there is a body {link!r}: rename that")
            self.robot.links[link] = Link(link)
        for i, step in enumerate(steps):
            own = name if len(steps) == 1 else f"{name}_{'_'.join(step.freedoms) or 'ball'}"
            if own in self.robot.joints:
                raise self.attributes.error(prim, f"another joint has the name {own!r}: rename one")
            self.robot.joints[own] = RobotJoint(
                own,
                step.kind,
                links[i],
                links[i + 1],
                ends.parent_frame if i == 0 else Frame(),
                ends.child_frame if i == len(steps) - 1 else Frame(),
                closes=closes and len(steps) == 1,
                start=None if opened or closes or step.kind.nq == 0 else start[i],
                element=label,
            )
            if len(steps) == 1 and isinstance(step.kind, Revolute | Prismatic | Cylindrical | Planar):
                parent, child = (self.bodies.frame_of(end) for end in (ends.parent, ends.child))
                self._staged.append(StagedJoint(self.robot.joints[own], parent, child, start[i], gap, angle))
            coordinates.update({freedom: (own, k) for k, freedom in enumerate(step.freedoms)})
        if len(steps) > 1:
            kinds = " and ".join(type(step.kind).__name__ for step in steps)
            self.robot.report.taken(label, f"{kinds} in series, with massless links between them")
        self._coordinates[str(prim.GetPath())] = coordinates

    def _start(self, ends: _Ends, steps: list[Step]) -> tuple[list[FloatArray], float, float]:
        """Return start values of each step in the poses of the stage, and the largest gap, m and rad."""
        parent, child = (self.bodies.frame_of(end) for end in (ends.parent, ends.child))
        pose = (parent @ ends.parent_frame).inverse() @ (child @ ends.child_frame)
        found, gap, angle = [], 0.0, 0.0
        for i, step in enumerate(steps):
            if len(steps) > 1 and isinstance(step.kind, Prismatic):
                q = np.array([step.kind.axis @ pose.position])
                pose = Frame(pose.position - q[0] * step.kind.axis, pose.rotation)
                if i == len(steps) - 1:
                    _, gap, angle = coordinates_at(Fixed(), pose)
            else:
                q, gap, angle = coordinates_at(step.kind, pose)
            found.append(q)
        return found, gap, angle

    def _set_state(self, prim: Any, label: str, freedom: str, coordinate: Coordinate) -> None:
        """Take the start value that a file states for a coordinate."""
        turns = freedom in TURNS
        name = "angular" if turns else "linear"
        for instance in (name, freedom):
            value = self.attributes.authored(prim, f"state:{instance}:physics:position")
            if value is not None:
                joint = self.robot.joints[coordinate[0]]
                q = joint.kind.neutral.copy() if joint.start is None else np.array(joint.start)
                position = self.attributes.number(prim, f"state:{instance}:physics:position", 0.0)
                q[coordinate[1]] = radians(position) if turns else position * self.units.length
                joint.start = q
            if self.attributes.authored(prim, f"state:{instance}:physics:velocity"):
                self.robot.report.left_out(
                    f"{label} > state:{instance}:physics:velocity", "start speeds are arguments of simulate()"
                )

    def _add_limit(self, prim: Any, kind: str, label: str, freedom: str, coordinate: Coordinate) -> None:
        names = (
            (f"limit:{freedom}:physics:low", f"limit:{freedom}:physics:high")
            if kind == "PhysicsJoint"
            else ("physics:lowerLimit", "physics:upperLimit")
        )
        low, high = (
            self.attributes.number(prim, name, default, finite=False)
            for name, default in zip(names, (-math.inf, math.inf), strict=True)
        )
        low, high = (math.copysign(math.inf, value) if abs(value) >= _UNLIMITED else value for value in (low, high))
        if low > high:
            self.robot.report.left_out(f"{label} > limit", f"its lower limit {low:g} is above the upper one, {high:g}")
            return
        if math.isinf(low) and math.isinf(high):
            return
        joint = self.robot.joints[coordinate[0]]
        limits: list[Range | None] = list(joint.limits) or [None] * joint.kind.nq
        factor = radians(1.0) if freedom in TURNS else self.units.length
        limits[coordinate[1]] = (low * factor, high * factor)
        joint.limits = tuple(limits)

    def _set_numbers(self, prim: Any, label: str, steps: list[Step], coordinates: dict[str, Coordinate]) -> None:
        """Take reflected inertias, springs and dampers of a joint, which are the same for all its speeds."""
        values = self.attributes
        stated = [value for value in (self._positive(prim, name) for name in _ARMATURE) if value is not None]
        damping = self._positive(prim, "mjc:damping")
        per_degree = self._positive(prim, "newton:damping")
        stiffness, free = self._positive(prim, "mjc:stiffness"), values.number(prim, "mjc:springref", 0.0)
        friction = next((value for value in (self._positive(prim, name) for name in _FRICTION) if value), 0.0)
        if friction and not coordinates:
            self.robot.report.left_out(f"{label} > friction", "the joint has no single coordinates")
        if self._positive(prim, "physxJoint:jointFriction"):
            self.robot.report.left_out(
                f"{label} > physxJoint:jointFriction",
                "a share of the force and torque that the joint transmits, and not a load: friction is less by it",
            )
        for joint in {name: self.robot.joints[name] for name, _ in coordinates.values()}.values():
            units = [self.units.torque if unit == "rad" else self.units.mass for unit in joint.kind.motion_units]
            degrees = [1.0 / radians(1.0) if unit == "rad" else 1.0 for unit in joint.kind.motion_units]
            lengths = [1.0 if unit == "rad" else self.units.length for unit in joint.kind.motion_units]
            loads = [self.units.torque if unit == "rad" else self.units.force for unit in joint.kind.motion_units]
            if friction:
                joint.friction = tuple(friction * unit for unit in loads)
            if stated:
                joint.reflected_inertia = tuple(stated[0] * unit for unit in units)
            if damping is not None:
                joint.damping = tuple(damping * unit for unit in units)
            elif per_degree is not None:
                joint.damping = tuple(per_degree * unit * d for unit, d in zip(units, degrees, strict=True))
            if stiffness is not None:
                joint.stiffness = tuple(stiffness * unit for unit in units)
                joint.free = tuple(free * length for length in lengths)

    def _positive(self, prim: Any, name: str) -> float | None:
        if self.attributes.authored(prim, name) is None:
            return None
        value = self.attributes.number(prim, name, 0.0)
        if value < 0.0:
            raise self.attributes.error(prim, f"{name} is {value:g}: give a number that is not negative")
        return value

    def _add_distance(self, prim: Any, name: str, label: str, ends: _Ends) -> None:
        low, high = (
            self.attributes.number(prim, f"physics:{end}Distance", -1.0, finite=False) for end in ("min", "max")
        )
        if low == high and 0.0 < low < math.inf:
            points = np.array([ends.parent_frame.position, ends.child_frame.position])
            self.robot.rods.append(
                RobotRod(
                    name, (ends.parent, ends.child), points, free=low * self.units.length, rigid=True, element=label
                )
            )
        else:
            self.robot.report.left_out(
                label, f"distances from {low:g} to {high:g} are no constraint here: only equal ones make a rod"
            )

    # ---- drives and mimics ----

    def _add_drive(self, prim: Any, kind: str, name: str, label: str, freedom: str, coordinate: Coordinate) -> None:
        instance = freedom if kind == "PhysicsJoint" else "angular" if freedom in TURNS else "linear"
        if not prim.HasAPI("PhysicsDriveAPI", instance):
            return
        start, values = f"drive:{instance}:physics:", self.attributes
        numbers = {
            key: values.number(prim, start + key, 0.0)
            for key in ("stiffness", "damping", "targetPosition", "targetVelocity")
        }
        most = values.number(prim, start + "maxForce", math.inf, finite=False)
        element = f"{label} > drive {instance}"
        if values.token(prim, start + "type", "force") != "force":
            self.robot.report.left_out(element, "it controls the acceleration: give it the type 'force'")
            return
        if most < 0.0 or numbers["stiffness"] < 0.0 or numbers["damping"] < 0.0:
            raise values.error(prim, f"{start}: stiffness, damping and maxForce must not be negative")
        turns = freedom in TURNS
        per_angle, length = (1.0 / radians(1.0), radians(1.0)) if turns else (1.0, self.units.length)
        force = self.units.torque if turns else self.units.force
        # A gain is a force for a length; an angle has no unit of length.
        gain = force * (per_angle if turns else 1.0 / self.units.length)
        stiffness, damping = numbers["stiffness"] * gain, numbers["damping"] * gain
        offset = stiffness * numbers["targetPosition"] * length + damping * numbers["targetVelocity"] * length
        if stiffness:
            meaning, factor = "its input is added to the target position of the file", stiffness
        elif damping:
            meaning, factor = "its input is added to the target velocity of the file", damping
        else:
            meaning, factor = "it has no stiffness and no damping: its input is the load", 1.0
        self.robot.actuators.append(
            RobotActuator(
                name if kind != "PhysicsJoint" else f"{name}_{instance}",
                {coordinate: 1.0},
                gain=factor,
                offset=offset,
                stiffness=stiffness,
                damping=damping,
                force_range=(-most * force, most * force) if most < math.inf else None,
                element=element,
            )
        )
        self.robot.report.taken(element, meaning)

    def _leave_out_other_drives(self, prim: Any, label: str) -> None:
        """Report drives of what is no coordinate, such as those of a ball."""
        for schema in prim.GetAppliedSchemas():
            if not schema.startswith("PhysicsDriveAPI:"):
                continue
            start = f"drive:{schema.partition(':')[2]}:"
            unread = [name for name in prim.GetAuthoredPropertyNames() if name.startswith(start)]
            if unread and not self.attributes.was_read(prim, unread):
                self.attributes.skip(prim, start)
                self.robot.report.left_out(f"{label} > {start[:-1]}", "the joint has no such coordinate")

    def _add_newton_mimic(self, prim: Any, name: str) -> None:
        target = self.attributes.target(prim, "newton:mimicJoint")
        if target is None:
            return
        label = f"joint {name!r} > NewtonMimicAPI"
        offset = self.attributes.number(prim, "newton:mimicCoef0", 0.0)
        ratio = self.attributes.number(prim, "newton:mimicCoef1", 1.0)
        if not self.attributes.flag(prim, "newton:mimicEnabled", True):
            self.robot.report.left_out(label, "mimicEnabled is false")
            return
        follower, leader = self._single(prim, str(prim.GetPath())), self._single(prim, str(target))
        self._couple(prim, f"{name}_mimic", label, follower, leader, ratio, offset)

    def _add_physx_mimic(self, prim: Any, name: str, freedom: str) -> None:
        start = f"physxMimicJoint:{freedom}:"
        target = self.attributes.target(prim, f"{start}referenceJoint")
        if target is None:
            raise self.attributes.error(prim, f"{start}referenceJoint is missing: name a joint")
        gearing = self.attributes.number(prim, f"{start}gearing", 1.0)
        offset = self.attributes.number(prim, f"{start}offset", 0.0)
        self.attributes.get(prim, f"{start}referenceJointAxis")
        label = f"joint {name!r} > PhysxMimicJointAPI:{freedom}"
        for key in ("naturalFrequency", "dampingRatio"):
            if self.attributes.authored(prim, start + key):
                self.robot.report.left_out(f"{label} > {key}", "the coupling is rigid")
        # One coordinate is that of the joint, whatever axis of PhysX it was given.
        follower, leader = self._single(prim, str(prim.GetPath()), freedom), self._single(prim, str(target))
        self._couple(prim, f"{name}_mimic", label, follower, leader, -gearing, -offset)

    def _couple(
        self,
        prim: Any,
        name: str,
        label: str,
        follower: tuple[str, Coordinate],
        leader: tuple[str, Coordinate],
        ratio: float,
        offset: float,
    ) -> None:
        """Add follower = ratio leader + offset; the file counts angles in degrees."""
        if follower[1] == leader[1]:
            raise self.attributes.error(prim, "it follows itself: name another joint")
        scale = [radians(1.0) if freedom in TURNS else self.units.length for freedom, _ in (follower, leader)]
        terms: dict[Coordinate, tuple[float, ...]] = {follower[1]: (1.0,)}
        ratio *= scale[0] / scale[1]
        if ratio:
            terms[leader[1]] = (-ratio,)
        self.robot.couplings.append(RobotCoupling(name, terms, offset * scale[0], label))

    def _single(self, prim: Any, path: str, freedom: str = "") -> tuple[str, Coordinate]:
        """Return the coordinate of a joint, with its freedom: the one that is named, or the only one."""
        coordinates = self._coordinates.get(path, {})
        if freedom in coordinates:
            return freedom, coordinates[freedom]
        if len(coordinates) != 1:
            raise self.attributes.error(
                prim, f"a mimic couples joints of one coordinate, and {path} has {len(coordinates)}: name another one"
            )
        return next(iter(coordinates.items()))


_DIGITS = 2e-6  # rad, and parts of the largest coordinate: some roundings of single precision in a row
_ROUNDING = 1e-12


@dataclass
class StagedJoint:
    """A joint with one axis, closed in the stage: the poses of its links there, and its coordinates."""

    joint: RobotJoint
    parent: Frame
    child: Frame
    q: FloatArray
    # gap, angle: by which it is open, m and rad
    gap: float
    angle: float

    @property
    def direction(self) -> FloatArray:
        """Its axis in the stage."""
        return self.parent.rotate(self.joint.parent_frame.rotate(self.joint.kind.axes[0]))

    @property
    def size(self) -> float:
        """The largest coordinate of which it is made, m."""
        positions = (self.parent, self.child, self.joint.parent_frame, self.joint.child_frame)
        return max(float(abs(frame.position).max()) for frame in positions)


def align(staged: list[StagedJoint], report: Report) -> None:
    """Make axes exactly parallel that are so within single precision; a report gets what changes."""
    groups: list[list[StagedJoint]] = []
    for one in staged:
        if one.angle > _DIGITS or one.gap > _DIGITS * one.size:
            continue
        for group in groups:
            if np.linalg.norm(np.cross(group[0].direction, one.direction)) < _DIGITS:
                group.append(one)
                break
        else:
            groups.append([one])
    names, turned, moved = [], 0.0, 0.0
    for group in groups:
        for one in group if len(group) > 1 else ():
            angle, distance = _align(one, group[0].direction)
            if max(angle, distance) > _ROUNDING:
                names.append(one.joint.name)
                turned, moved = max(turned, angle), max(moved, distance)
    if names:
        report.taken(
            f"axes of joints {quoted(names)}",
            f"made exactly parallel, from single precision: turned by up to {turned:.1g} rad, moved by {moved:.1g} m",
        )


def _align(one: StagedJoint, direction: FloatArray) -> tuple[float, float]:
    """Turn a joint's axis to a direction of the stage, and let its frames meet; return by how much, rad and m."""
    joint, before = one.joint, one.direction
    if before @ direction < 0.0:
        direction = -direction
    across = np.cross(before, direction)
    # A rotation this small is its own first order; the frame makes it orthonormal.
    half = np.append(1.0, across / 2.0)
    turn = Frame((0, 0, 0), half / np.linalg.norm(half))
    frame = one.parent @ joint.parent_frame
    exact = Frame(frame.position, turn.rotation @ frame.rotation)
    meeting = exact @ pose_at(joint.kind, one.q)
    child_frame = one.child.inverse() @ meeting
    moved = float(np.linalg.norm(child_frame.position - joint.child_frame.position))
    joint.parent_frame, joint.child_frame = one.parent.inverse() @ exact, child_frame
    return float(np.linalg.norm(across)), moved


SLIDES, TURNS = ("transX", "transY", "transZ"), ("rotX", "rotY", "rotZ")
_UNITS = np.eye(3)


class Step(NamedTuple):
    """One of the joints in series that have the freedoms together: its kind, and the freedom of each coordinate."""

    kind: JointKind
    freedoms: tuple[str, ...]


def steps_of(free: set[str]) -> list[Step]:
    """Return the joints in series with these freedoms, from the parent on; massless links stand between them.

    Slides are fixed in the parent. Of two turns the first is about an axis of the parent, the second of the child.

    >>> [type(step.kind).__name__ for step in steps_of({"transX", "rotX"})]
    ['Cylindrical']
    """
    slides = [name for name in SLIDES if name in free]
    turns = [name for name in TURNS if name in free]
    if len(slides) == 3 and len(turns) == 3:
        return [Step(Free(), ())]
    if len(slides) == 2 and len(turns) == 1:
        normal = TURNS.index(turns[0])
        if SLIDES[normal] not in slides:
            kind = Planar(_UNITS[normal])
            x = int(np.argmax(kind.canonical_axes[:, 0]))
            y = int(np.argmax(abs(kind.canonical_axes[:, 1])))
            if kind.canonical_axes[y, 1] > 0.0:
                return [Step(kind, (SLIDES[x], SLIDES[y], turns[0]))]
    if len(slides) == len(turns) == 1 and slides[0][-1] == turns[0][-1]:
        return [Step(Cylindrical(_UNITS[TURNS.index(turns[0])]), (turns[0], slides[0]))]
    steps = [Step(Prismatic(_UNITS[SLIDES.index(name)]), (name,)) for name in slides]
    axes = [_UNITS[TURNS.index(name)] for name in turns]
    if len(turns) == 1:
        steps.append(Step(Revolute(axes[0]), (turns[0],)))
    elif len(turns) == 2:
        steps.append(Step(Universal(axes[0], axes[1]), (turns[0], turns[1])))
    elif turns:
        steps.append(Step(Spherical(), ()))
    return steps or [Step(Fixed(), ())]


def coordinates_at(kind: JointKind, pose: Frame) -> tuple[FloatArray, float, float]:
    """Return the coordinates at which a joint is nearest to a relative pose of its frames, and what remains.

    Returns
    -------
    q, gap, angle
        (nq,); m and rad by which the pose is off the joint's.
    """
    q = kind.neutral.copy()
    if isinstance(kind, Free):
        return np.concatenate([pose.position, pose.quaternion]), 0.0, 0.0
    if isinstance(kind, Spherical):
        return pose.quaternion, float(np.linalg.norm(pose.position)), 0.0
    for k, (motion, axis) in enumerate(kind.simple_motions or ()):
        q[k] = axis @ pose.position if motion == "slide" else _angle_about(axis, pose)
    if isinstance(kind, Universal):
        # The child's axis2 is turned about axis1 only, and the parent's axis1 seen from the child about axis2 only.
        first, second = kind.axis1, kind.axis2
        seen, back = pose.rotation @ second, pose.rotation.T @ first
        q[0] = math.atan2(np.cross(first, second) @ seen, second @ seen)
        q[1] = math.atan2(np.cross(first, second) @ back, first @ back)
    rest = pose_at(kind, q).inverse() @ pose
    return (
        q,
        float(np.linalg.norm(rest.position)),
        2.0 * math.atan2(float(np.linalg.norm(rest.quaternion[1:])), abs(rest.quaternion[0])),
    )


def pose_at(kind: JointKind, q: FloatArray) -> Frame:
    """Return the pose of the child's joint frame in the parent's."""
    pose = Frame()
    for (motion, axis), value in zip(kind.simple_motions or (), q, strict=True):
        pose @= Frame(axis * value) if motion == "slide" else _turned(axis, value)
    return pose


def _turned(axis: FloatArray, angle: float) -> Frame:
    return Frame((0, 0, 0), np.append(math.cos(angle / 2.0), math.sin(angle / 2.0) * axis))


def _angle_about(axis: FloatArray, pose: Frame) -> float:
    quaternion = pose.quaternion
    return 2.0 * math.atan2(float(axis @ quaternion[1:]), float(quaternion[0]))
