"""A robot as a mechanism: what is the same for all formats.

The base is joined to the world; links that are fixed to each other become one body; point closures become hinges and
welds; every element gets its line in the report.

Two points that are held together on both bodies leave a rotation about their line: as two closures of three equations
each, one of the six is redundant. As one hinge all five are independent.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import free_name, quoted
from linkwork._util.part_names import legible_name
from linkwork.errors import AssemblyError, LinkworkError, LinkworkWarning, MechanismError
from linkwork.formats.bodies import Bodies, possible_inertia
from linkwork.formats.joint_graph import connected_sets, outward, split
from linkwork.formats.report import Report
from linkwork.formats.robot import Coordinate, Place, Robot, RobotFrames, RobotJoint, RobotLine, RobotPoint, RobotRod
from linkwork.mechanism import (
    GROUND,
    Actuator,
    Bushing,
    Fixed,
    Force,
    Frame,
    Free,
    Friction,
    GravityCompensation,
    Mechanism,
    Revolute,
    Spherical,
    SpringDamper,
    Stop,
    Tendon,
)
from linkwork.mechanism.frames import unit
from linkwork.mechanism.joints import JointKind

if TYPE_CHECKING:
    from linkwork.model.model import Model


def to_mechanism(
    robot: Robot,  # what a reader has read; it is used up
    base: str | None = None,  # "fixed" or "free"; None: as the file says
    limits: bool = False,  # True: limits of joints become stops
    merge_fixed: bool = True,  # True: links that are fixed to each other become one body
    strict: bool = False,  # True: refuse elements that are approximated or left out
) -> Mechanism:
    """Return a robot as a mechanism with its report."""
    _check_references(robot)
    set_base(robot, base)
    set_poses(robot)
    building = _Building(robot, Bodies(robot, merge_fixed), limits)
    mech = building.build()
    if strict:
        robot.report.check_strict()
    return mech


class _Building:
    """The mechanism as it grows, and the names that it has."""

    def __init__(self, robot: Robot, bodies: Bodies, limits: bool) -> None:
        self.robot, self.bodies, self.limits = robot, bodies, limits
        self.report = robot.report
        self.mech = Mechanism(legible_name(robot.name or "robot", ()))
        if robot.gravity is not None:
            self.mech.gravity = robot.gravity
        self.taken: set[str] = {GROUND}
        self.limit_elements: dict[str, str] = {}
        self.elements: dict[str, str] = {}  # of the joints of the mechanism
        self.names: dict[str, dict[str, str]] = {"link": {}, "joint": {}}

    def build(self) -> Mechanism:
        """Add all parts, in an order in which each finds what it names."""
        self._add_bodies()
        self._add_shapes()
        self._add_joints()
        self._add_couplings()
        self._add_reels()
        self._add_rods()
        self._add_tendons()
        self._add_mounts()
        self._add_actuators()
        self._add_laws()
        self._add_gravity_compensation()
        self._start()
        if model := make_loops_exact(self.mech, self.elements, self.report):
            report_open_pose(model, self.report)
        start_within_limits(self.mech, self.limit_elements, self.report)
        self.report.names = self.names
        self.mech.report = self.report
        self.mech.names = self.names
        return self.mech

    def _name(self, kind: str, given: str) -> str:
        """Return a free legible name for an element, and note it."""
        name = legible_name(given)
        if name in self.taken:
            name = legible_name(given if kind in ("link", "joint") else f"{given}_{kind}", self.taken)
        self.taken.add(name)
        self.names.setdefault(kind, {})[given] = name
        return name

    def _body(self, name: str | None) -> str:
        return GROUND if name is None else self.names["link"][name]

    def _add_bodies(self) -> None:
        # Bodies and joints may have the same name, but nothing else may.
        for name, body in self.bodies.bodies.items():
            element = f"link {name!r}"
            if body.mass < 0.0:
                raise MechanismError(f"{element} has the mass {body.mass:g} kg: a mass is not negative")
            inertia = possible_inertia(body, element, self.report)
            pose = self.robot.links[str(name)].pose
            assert pose is not None
            self.mech.add_body(
                self._name("link", str(name)), body.mass, body.com, inertia, pose.position, pose.rotation
            )
        for name in self.robot.links:
            body_name, _ = self.bodies.frames[name]
            self.names["link"][name] = self._body(body_name)
            part = "" if body_name == name else f"fixed part of {self._body(body_name)!r}"
            self.report.taken(f"link {name!r}", part)

    def _add_shapes(self) -> None:
        """Add shapes of links to their bodies, in whose frames they are then; the readers have reported them."""
        links = [(None, self.robot.shapes), *((name, link.shapes) for name, link in self.robot.links.items())]
        for name, shapes in links:
            body, frame = self.bodies.frames[name]
            for shape in shapes:
                self.mech.add_shape(self._body(body), replace(shape, frame=frame @ shape.frame))

    def _add_joints(self) -> None:
        self.taken -= set(self.mech.bodies)
        closures = []
        for joint in self.robot.joints.values():
            if joint.name in self.bodies.merged:
                self.report.taken(joint.element, "its links are one body")
                continue
            (parent, parent_frame), (child, child_frame) = (
                self.bodies.place(*end)
                for end in ((joint.parent, joint.parent_frame), (joint.child, joint.child_frame))
            )
            if parent == child:
                self.report.left_out(joint.element, "other joints fix its links to each other: it cannot move")
            elif joint.closes and not _is_loaded(joint):
                closures.append(
                    Closure(joint.name, joint.kind, parent, child, parent_frame, child_frame, [joint.element])
                )
            else:
                name = self._name("joint", joint.name)
                self.elements[name] = joint.element
                numbers = _numbers_of(joint)
                self.mech.add_joint(
                    name,
                    joint.kind,
                    self._body(parent),
                    self._body(child),
                    parent_frame=parent_frame,
                    child_frame=child_frame,
                    cut=joint.closes,
                    **numbers,
                )
                self.report.taken(joint.element, ("closes a loop: " * joint.closes) + type(joint.kind).__name__)
                self._add_spring(joint, name)
                self._add_friction(joint, name)
                self._add_limits(joint, name)
        for closure in joined(closures):
            self._add_closure(closure)
        self.taken |= set(self.mech.bodies)

    def _add_closure(self, closure: Closure) -> None:
        name = self._name("joint", closure.name)
        self.elements[name] = closure.elements[0]
        ends = self._body(closure.parent), self._body(closure.child)
        frame, other = closure.parent_frame, closure.child_frame
        self.mech.add_joint(name, closure.kind, *ends, parent_frame=frame, child_frame=other, cut=True)
        kind = type(closure.kind).__name__
        for element in closure.elements:
            if closure.gap:
                how = f"{closure.text}; the distances of the points differ by {closure.gap:.3g} m"
                self.report.approximated(element, how)
            else:
                self.report.taken(element, closure.text or f"closes a loop: {kind}")

    def _add_spring(self, joint: RobotJoint, name: str) -> None:
        stiffness, damping, free = (_each(of, joint.kind.nu) for of in (joint.stiffness, joint.damping, joint.free))
        if not any(stiffness) and not any(damping):
            return
        if any(stiffness) and joint.kind.quaternion is not None:
            self.report.left_out(
                f"{joint.element} > stiffness",
                "a joint that turns by a quaternion takes no spring; it would turn it back",
            )
            stiffness = free = (0.0,) * joint.kind.nu
            if not any(damping):
                return
        one = joint.kind.nu == 1
        values = {"stiffness": stiffness, "damping": damping, "free": free}
        self.mech.add_force(
            SpringDamper(name, **{key: value[0] if one else value for key, value in values.items() if any(value)})
        )
        self.report.taken(f"{joint.element} > spring and damper")

    def _add_friction(self, joint: RobotJoint, name: str) -> None:
        if not any(joint.friction):
            return
        element = f"{joint.element} > friction"
        if min(joint.friction) < 0.0:
            self.report.left_out(element, f"{min(joint.friction):g} is negative: friction takes energy, and gives none")
            return
        one = joint.kind.nu == 1
        for k, coulomb in enumerate(joint.friction, start=1):
            if coulomb:
                free = self._name("friction", f"{joint.name}_friction" + ("" if one else f"_{k}"))
                self.mech.add_force(Friction(name if one else f"{name}[{k}]", coulomb=coulomb, name=free))
        self.report.taken(element)

    def _add_limits(self, joint: RobotJoint, name: str) -> None:
        for k, bounds in enumerate(joint.limits):
            if bounds is None:
                continue
            element = f"{joint.element} > limit"
            unit = joint.kind.coordinate_units[k]
            lower, upper = (value if np.isfinite(value) else None for value in bounds)
            if lower is None and upper is None:
                continue
            if not self.limits:
                self.report.left_out(element, f"{bounds[0]:g} to {bounds[1]:g} {unit}; limits=True makes it a stop")
            elif lower is not None and upper is not None and lower >= upper:
                self.report.left_out(element, f"its range {lower:g} to {upper:g} {unit} is empty")
            else:
                coordinate = k + 1 if joint.kind.nq > 1 else None
                stop = self._name("limit", f"{joint.name}_limit")
                self.mech.add_transition(stop, Stop(name, lower, upper, coordinate=coordinate))
                self.limit_elements[stop] = element
                self.report.taken(element, "inelastic stop")

    def _add_couplings(self) -> None:
        for coupling in self.robot.couplings:
            if self._has_immovable(coupling.element, coupling.terms):
                continue
            terms = {self._coordinate(at, "q"): value for at, value in coupling.terms.items() if any(value)}
            self.mech.add_coupling(self._name("coupling", coupling.name), terms, offset=coupling.offset)
            self.report.taken(coupling.element, "coupling")

    def _add_reels(self) -> None:
        """Add a massless body to the ground for each sum of coordinates, whose joint has this sum as coordinate."""
        for reel in self.robot.reels:
            parts = {"friction": reel.friction, "armature": reel.reflected_inertia}
            if self.limits and reel.limits is not None:
                parts["range"] = 1.0
            elif reel.limits is not None:
                low, high = reel.limits
                self.report.left_out(f"{reel.element} > range", f"{low:g} to {high:g}; limits=True makes it a stop")
            given = [f"{reel.element} > {key}" for key, value in parts.items() if value]
            if not given or self._has_immovable(", ".join(given), reel.gears):
                continue
            name = self._name("reel", f"{reel.name}_reel")
            self.mech.add_body(name, 0.0, (0.0, 0.0, 0.0), np.zeros((3, 3)))
            self.mech.add_joint(
                name, Revolute((0.0, 0.0, 1.0)), GROUND, name, at=(0, 0, 0), reflected_inertia=reel.reflected_inertia
            )
            terms = {self._coordinate(at, "q"): gear for at, gear in reel.gears.items()}
            self.mech.add_coupling(self._name("coupling", f"{reel.name}_length"), {name: -1.0, **terms})
            if reel.friction:
                friction = self._name("friction", f"{reel.name}_friction")
                self.mech.add_force(Friction(name, coulomb=reel.friction, name=friction))
            if "range" in parts and reel.limits is not None:
                stop = self._name("limit", f"{reel.name}_limit")
                self.mech.add_transition(stop, Stop(name, *reel.limits))
                self.limit_elements[stop] = f"{reel.element} > range"
            for element in given:
                self.report.taken(element, f"in the joint of a massless body, {name!r}, coupled to its joints")

    def _add_rods(self) -> None:
        for rod in self.robot.rods:
            (first, a), (second, b) = (self._point(rod, end) for end in (0, 1))
            if first == second:
                self.report.left_out(rod.element, "both ends are on one body: it cannot move")
                continue
            name = self._name("tendon", rod.name)
            if rod.rigid:
                self.mech.add_distance(name, (first, second), (a, b), rod.free)
            else:
                self.mech.add_force(
                    SpringDamper(
                        bodies=(first, second),
                        points=(a, b),
                        stiffness=rod.stiffness,
                        damping=rod.damping,
                        free=rod.free,
                        name=name,
                    )
                )
            self.report.taken(rod.element, "rod" if rod.rigid else "spring and damper between points")

    def _point(self, rod: RobotRod, end: int) -> tuple[str, Any]:
        body, frame = self.bodies.frames[rod.links[end]]
        return self._body(body), frame.apply(rod.points[end])

    def _add_actuators(self) -> None:
        for actuator in self.robot.actuators:
            if self._has_immovable(actuator.element, actuator.gears):
                continue
            gears = {self._coordinate(at, "u"): gear for at, gear in actuator.gears.items() if gear}
            if not gears:
                self.report.left_out(actuator.element, "its gears are zero: it has no effect")
                continue
            self.mech.add_force(
                Actuator(
                    self._name("actuator", actuator.name),
                    gears,
                    gain=actuator.gain,
                    offset=actuator.offset,
                    stiffness=actuator.stiffness,
                    damping=actuator.damping,
                    input_range=actuator.input_range,
                    force_range=actuator.force_range,
                )
            )
            self.report.taken(actuator.element, "actuator")

    def _add_tendons(self) -> None:
        for tendon in self.robot.tendons:
            place = self._place(tendon.place, tendon.element)
            if place is not None:
                place |= {"stiffness": tendon.stiffness or None, "damping": tendon.damping or None}
                place |= {"free": tendon.free} if tendon.stiffness else {}
                self.mech.add_force(Tendon(**place, pushes=True, name=self._name("tendon", tendon.name)))
                self.report.taken(tendon.element, "tendon")

    def _add_mounts(self) -> None:
        for mount in self.robot.mounts:
            bodies, frames = self._frames(mount.links, mount.frames)
            if bodies[0] == bodies[1]:
                self.report.left_out(mount.element, _ON_ONE_BODY)
                continue
            displacement, rotation = mount.stiffness
            name = self._name("mount", mount.name)
            self.mech.add_force(Bushing(bodies, frames, (displacement,) * 3 + (rotation,) * 3, name=name))
            self.report.taken(mount.element, "bushing")

    def _add_laws(self) -> None:
        for law in self.robot.laws:
            place = self._place(law.place, law.element)
            if place is None:
                continue
            words, own = _words_of(law.place), dict[str, float]()
            formula = law.formula.format(**words)
            if isinstance(law.place, RobotLine):
                formula = f"-({formula})"
            if isinstance(law.place, RobotFrames | RobotPoint):
                own = place.pop("parameters")
                place |= {key: tuple(_with(one, formula) for one in place[key]) for key in ("force", "torque")}
            else:
                place["formula"] = formula
            words["motion"] = self._motion_unit(law.place)
            states = {
                name: {**one, **{key: one[key].format(**words) for key in ("formula", "unit")}}
                for name, one in law.states.items()
            }
            name = self._name(law.kind, law.name)
            place |= {"parameters": {**own, **law.parameters}, "inputs": law.inputs, "states": states or None}
            self.mech.add_force(Force(**place, name=name))
            self.report.taken(law.element, law.what)

    def _motion_unit(self, place: Place) -> str:
        """Return the unit of the length along which a force acts."""
        if isinstance(place, dict):
            (joint, element), *_ = place
            return self.robot.joints[joint].kind.motion_units[element]
        if isinstance(place, RobotFrames):
            return "m" if any(one != "0" for one in place.force) else "rad"
        return "m"

    def _place(self, place: Place, element: str) -> dict[str, Any] | None:
        """Return where a force acts as arguments of a class of forces; None: nowhere, which is reported."""
        if isinstance(place, dict):
            if self._has_immovable(element, place):
                return None
            return {"joint": {self._coordinate(at, "u"): gear for at, gear in place.items()}}
        if isinstance(place, RobotPoint):
            return self._point_of_body(place, element)
        if isinstance(place, RobotLine):
            at = [self.bodies.frames[link] for link in place.links]
            bodies = tuple(self._body(body) for body, _ in at)
            points = [frame.apply(point) for (_, frame), point in zip(at, place.points, strict=True)]
            moves = any(a != b and one for a, b, one in zip(bodies, bodies[1:], place.factors, strict=False))
            found: dict[str, Any] = {"bodies": bodies, "points": points, "factors": place.factors}
            if all(one == 1.0 for one in place.factors):
                del found["factors"]
        else:
            ends, frames = self._frames(place.links, place.frames)
            moves = ends[0] != ends[1]
            found = {"bodies": ends, "frames": frames, "force": place.force, "torque": place.torque}
            found["parameters"] = dict(place.parameters)
        if not moves:
            self.report.left_out(element, _ON_ONE_BODY)
        return found if moves else None

    def _point_of_body(self, place: RobotPoint, element: str) -> dict[str, Any] | None:
        body, frame = self.bodies.frames[place.link]
        if body is None:
            self.report.left_out(element, "it acts on the ground, which nothing moves")
            return None
        given: dict[str, Any] = {"body": self._body(body), "point": frame.apply(place.point), "axes": "body"}
        given["parameters"] = {}
        for key, vector in (("force", place.force), ("torque", place.torque)):
            turned = frame.rotation @ vector
            names = [f"{key}_{axis}" for axis in "xyz"]
            given[key] = tuple(f"{name}*{{F}}" if one else "0" for name, one in zip(names, turned, strict=True))
            given["parameters"] |= {name: one for name, one in zip(names, turned.tolist(), strict=True) if one}
        return given

    def _frames(
        self, links: tuple[str | None, str | None], frames: tuple[Frame, Frame]
    ) -> tuple[tuple[str, str], tuple[Frame, Frame]]:
        """Return bodies and frames in them."""
        (first, a), (second, b) = (self.bodies.place(link, frame) for link, frame in zip(links, frames, strict=True))
        return (self._body(first), self._body(second)), (a, b)

    def _add_gravity_compensation(self) -> None:
        """Add forces that carry weights: for each body one for all of its links with the same fraction."""
        members: dict[tuple[str | None, float], list[str]] = {}
        for name, link in self.robot.links.items():
            if link.carried and link.mass:
                members.setdefault((self.bodies.frames[name][0], link.carried), []).append(name)
        for (body, carried), names in members.items():
            if body is not None:
                links = [(self.robot.links[name], self.bodies.frames[name][1]) for name in names]
                mass, whole = sum(link.mass for link, _ in links), self.bodies.bodies[body].mass
                at = sum((link.mass * frame.apply(link.com) for link, frame in links), np.zeros(3)) / mass
                force = GravityCompensation(
                    self._body(body),
                    fraction=carried * mass / whole,
                    point=None if mass == whole else tuple(at),
                    name=self._name("compensation", f"{names[0]}_compensation"),
                )
                self.mech.add_force(force)
            for name in names:
                self.report.taken(f"link {name!r} > gravity compensation", f"{carried:g} of its weight is carried")

    def _has_immovable(self, element: str, terms: Iterable[Coordinate]) -> bool:
        """Report a part whose joints cannot all move, as it would need a coordinate that there is not."""
        lost = [name for name, _ in terms if name not in self.names["joint"]]
        if lost:
            self.report.left_out(element, f"joint {lost[0]!r} cannot move: other joints fix its links to each other")
        return bool(lost)

    def _coordinate(self, at: Coordinate, of: str) -> str:
        """Return the name of a coordinate ("q") or speed ("u") of the mechanism: "A" or "A[2]"."""
        joint, number = at
        name = self.names["joint"][joint]
        kind = self.mech.joints[name].kind
        return name if (kind.nq if of == "q" else kind.nu) == 1 else f"{name}[{number + 1}]"

    def _start(self) -> None:
        bounds = {
            one.action.joint: one.action for one in self.mech.transitions.values() if isinstance(one.action, Stop)
        }
        start, speeds = {}, {}
        for given, joint in self.robot.joints.items():
            name = self.names["joint"].get(given)
            if name is None or joint.closes or joint.kind.nq == 0:
                continue
            q = None if joint.start is None else np.array(joint.start, dtype=np.float64)
            stop = bounds.get(name)
            if stop is not None:
                before = joint.kind.neutral if q is None else q
                within = _clipped(before, stop)
                if np.any(within != before):
                    q = within
                    if joint.start is not None:
                        self.report.approximated(f"{joint.element} > start", "moved to its limit")
            if q is not None:
                start[name] = q
            if joint.start_u is not None:
                speeds[name] = joint.start_u
        self.mech.start(q=start, u=speeds)


_ON_ONE_BODY = "all of its ends are on one body: it cannot move"


def _words_of(place: Place) -> dict[str, str]:
    """Return what length and rate are called in formulas of a place."""
    if isinstance(place, dict):
        return {"x": "q", "v": "u"}
    if isinstance(place, RobotLine):
        return {"x": "length", "v": "rate"}
    return {"x": "0", "v": "0"} if isinstance(place, RobotPoint) else {"x": place.length, "v": place.rate}


def _with(component: str, force: str) -> str:
    return component.format(F=f"({force})")


def _check_references(robot: Robot) -> None:
    """Refuse what names links and joints that do not exist; a reader that knows the line does it before."""
    if not robot.links:
        raise MechanismError(f"{robot.report.path}: it has no links")
    for joint in robot.joints.values():
        for link in (joint.parent, joint.child):
            if link is not None and link not in robot.links:
                raise MechanismError(f"{joint.element}: there is no link {link!r}; there are {quoted(robot.links)}")
        if joint.parent == joint.child:
            raise MechanismError(f"{joint.element} joins {joint.parent!r} to itself: name two links")
    for part, terms in _terms(robot):
        for name, number in terms:
            if name not in robot.joints:
                raise MechanismError(f"{part}: there is no joint {name!r}; there are {quoted(robot.joints)}")
            if not 0 <= number < robot.joints[name].kind.nu:
                raise MechanismError(f"{part}: joint {name!r} has no coordinate {number + 1}")


def _terms(robot: Robot) -> Iterable[tuple[str, Iterable[Coordinate]]]:
    yield from ((one.element, one.terms) for one in robot.couplings)
    yield from ((one.element, one.gears) for one in robot.actuators)
    yield from ((one.element, one.place) for one in robot.laws if isinstance(one.place, dict))
    yield from ((one.element, one.place) for one in robot.tendons if isinstance(one.place, dict))
    yield from ((one.element, one.gears) for one in robot.reels)


def _is_loaded(joint: RobotJoint) -> bool:
    """Return whether a joint has more than its kind, and so cannot be one with others."""
    return any(
        map(
            any,
            (
                joint.stiffness,
                joint.damping,
                joint.friction,
                joint.reflected_inertia,
                joint.max_load,
                joint.limits,
            ),
        )
    )


def _numbers_of(joint: RobotJoint) -> dict[str, Any]:
    """Return the numbers of a joint's speeds as arguments of `add_joint`."""
    nu = joint.kind.nu
    inertia = _each(joint.reflected_inertia, nu)
    most = _each(joint.max_load, nu, np.inf)
    found: dict[str, Any] = {}
    if any(inertia):
        found["reflected_inertia"] = inertia[0] if nu == 1 else inertia
    if any(map(np.isfinite, most)):
        found["max_load"] = most[0] if nu == 1 else most
    return found


def _each(values: tuple[float, ...], count: int, default: float = 0.0) -> tuple[float, ...]:
    return values or (default,) * count


def _clipped(q: Any, stop: Stop) -> Any:
    found = q.copy()
    found[stop.element] = np.clip(
        q[stop.element],
        -np.inf if stop.lower is None else stop.lower,
        np.inf if stop.upper is None else stop.upper,
    )
    return found


def start_within_limits(
    mech: Mechanism,  # it gets start values of all joints of the tree, or loses stops
    elements: dict[str, str],  # for each stop the element of the file
    report: Report,  # what changes is noted here
) -> None:
    """Move the start of a mechanism to a closed pose within its stops; stops that exclude all poses are taken out."""
    from linkwork.model.bounded_pose import start_within_stops, stops_beyond
    from linkwork.model.compile import compile

    while mech.transitions:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkworkWarning)
            model = compile(mech)
        try:
            start = start_within_stops(model)
            beyond = stops_beyond(model) if start is None else {}
        except AssemblyError:
            return  # the loops cannot be closed at all, which assembly will explain
        if start:
            mech.start(q=start)
            report.approximated("start", "moved within the limits of all joints, as the closed start was beyond some")
        if not beyond:
            return
        for stop, amount in beyond.items():
            del mech.transitions[stop]
            report.entries = [entry for entry in report.entries if entry.element != elements[stop]]
            report.left_out(
                elements[stop],
                f"the closed start is {amount:.3g} beyond it, and no closed pose within all limits was found: nothing "
                "stops the joint",
            )


def make_loops_exact(
    mech: Mechanism,  # its joints change
    elements: Mapping[str, str],  # for each joint the element of the file
    report: Report,  # what changes is noted here: as approximated, or as taken where it is the rounding of ten digits
) -> Model | None:
    """Give a mechanism the frames with which `compile` would make its loops exact.

    Returns
    -------
    Model
        The compiled mechanism with these frames; None if it has no loops or cannot be compiled.
    """
    from linkwork.model.compile import compile

    if len(mech.joints) <= len(mech.bodies):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkworkWarning)
            model = compile(mech)
    except LinkworkError:
        return None  # which compilation will explain
    for one in model.corrections:
        exact = model.mechanism.joints[one.joint]
        mech.joints[one.joint] = replace(
            mech.joints[one.joint], parent_frame=exact.parent_frame, child_frame=exact.child_frame
        )
        note = report.approximated if one.is_large else report.taken
        sizes = f"turned by {one.angle:.2g} rad and moved by {one.distance:.2g} m"
        how = f"{sizes}, so that its loops move and close exactly"
        note(f"{elements.get(one.joint, f'joint {one.joint!r}')} > frame", how)
    return model


BASES = ("fixed", "free")


def set_base(robot: Robot, base: str | None) -> None:
    """Join every connected set of links to the world, by a Fixed or a Free joint.

    Parameters
    ----------
    robot
        It gets the joints, and its present joints to the world become Fixed or Free where `base` is not what they are.
    base
        "fixed", "free", or None: what the file says.
    """
    if base is not None:
        if base not in BASES:
            raise MechanismError(f"base must be 'fixed' or 'free', not {base!r}")
        _change_joints_to_the_world(robot, base)
    kind = Fixed if (base or robot.base) == "fixed" else Free
    for root, *_ in connected_sets((None, *robot.links), list(robot.joints.values())):
        if root is not None:
            pose = robot.links[root].pose or Frame()
            name = free_name(f"{root}_base", robot.joints)
            robot.joints[name] = RobotJoint(name, kind(), None, root, pose, element=f"base link {root!r}")
    for joint in split(robot.joints.values(), lambda joint: joint.closes)[0]:
        joint.closes = False  # closures carry what nothing else does


def set_poses(robot: Robot) -> None:
    """Give a pose to each link that has none, from the joints at coordinates zero; closures come last."""
    poses: dict[str | None, Frame] = {None: Frame()}
    for closing in (False, True):
        joints = [joint for joint in robot.joints.values() if closing or not joint.closes]
        for joint, known, new in outward(joints, list(poses)):
            if new in poses:
                continue
            across = joint.parent_frame @ joint.child_frame.inverse()
            poses[new] = poses[known] @ (across if new == joint.child else across.inverse())
    for name, link in robot.links.items():
        if link.pose is None:
            link.pose = poses[name]


def _change_joints_to_the_world(robot: Robot, base: str) -> None:
    """Make Free joints to the world Fixed, or the other way round."""
    wanted, other = (Fixed, Free) if base == "fixed" else (Free, Fixed)
    others = []
    for joint in robot.joints.values():
        if None not in (joint.parent, joint.child):
            continue
        if isinstance(joint.kind, other):
            if joint.start is not None:  # of a Free joint: where the base is
                joint.parent_frame @= Frame(joint.start[:3], joint.start[3:])
            joint.kind, joint.start, joint.start_u = wanted(), None, None
            joint.damping = joint.friction = joint.reflected_inertia = joint.limits = ()
        elif not isinstance(joint.kind, wanted):
            others.append(joint.name)
    if base == "free" and others:
        raise MechanismError(
            f"base='free': the robot is joined to the world by {quoted(others)}; leave base= out, or give these joints "
            "a base link in the file"
        )


_MOVED = 1e-2  # rad, or the part of the size of the mechanism


def report_open_pose(model: Model, report: Report) -> None:
    """Note the joints that are moved far because the loops are open in the pose of the file."""
    mech = model.mechanism
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkworkWarning)
            closed = model.by_joint(model.assemble().q)
    except LinkworkError:
        return  # which assembly will explain
    ends = [frame.position for one in mech.joints.values() for frame in (one.parent_frame, one.child_frame)]
    units = {"rad": 1.0, "m": max(float(np.abs(ends).max()), 1e-300)}
    moved = []
    for name in closed:
        if name in model.loop_names:
            continue  # a ball that closes a loop may stand in any orientation
        kind = mech.joints[name].kind
        changes = _changes(kind, mech.start_q.get(name, kind.neutral), np.atleast_1d(closed[name]))
        largest = max(changes, key=lambda one: one[0] / units[one[1]], default=(0.0, "rad"))
        if (part := largest[0] / units[largest[1]]) > _MOVED:
            moved.append((part, name, largest))
    if moved:
        _, most, (amount, unit) = max(moved)
        report.approximated(
            "start",
            f"the loops are open in the pose of the file: to close them {len(moved)} joints are moved, {most!r} most, "
            f"by {amount:.2g} {unit}; start values select another closed pose",
        )


def _changes(kind: JointKind, before: FloatArray, after: FloatArray) -> list[tuple[float, str]]:
    """Return by how much each coordinate, and the rotation of a quaternion, changes, with its unit."""
    differences = np.abs(after - before)
    found = [(float(one), unit) for one, unit in zip(differences, kind.coordinate_units, strict=True) if unit != "1"]
    if kind.quaternion is not None:
        along = abs(float(before[kind.quaternion] @ after[kind.quaternion]))
        found.append((2.0 * float(np.arccos(min(along, 1.0))), "rad"))
    return found


_EQUAL = 1e-3  # of distances on both bodies, relative to the largest; beyond, the closures contradict each other
_EXACT = 1e-9  # below, they are equal
_APART = 1e-9  # m; nearer points are one
_AREA = (
    1e-6  # of three points that are not on a line: twice their triangle's area, relative to the longest side squared
)


@dataclass
class Closure:
    """A closure between two bodies."""

    name: str
    kind: JointKind
    parent: str | None
    child: str | None
    parent_frame: Frame
    child_frame: Frame
    elements: list[str]  # those of the file that it stands for
    text: str = ""  # how, if they are several
    gap: float = 0.0  # m, by which distances of its points on one body differ from those on the other one


def joined(closures: list[Closure]) -> list[Closure]:
    """Return the closures with those replaced by hinges and welds that point closures make up."""
    pairs: dict[frozenset[str | None], list[Closure]] = {}
    for closure in closures:
        if isinstance(closure.kind, Spherical):
            pairs.setdefault(frozenset((closure.parent, closure.child)), []).append(closure)
    replaced = {id(closure): group for group in pairs.values() if len(group) > 1 for closure in group}
    found: list[Closure] = []
    for closure in closures:
        points = replaced.get(id(closure))
        if points is None:
            found.append(closure)
        elif closure is points[0]:
            one = _as_one(points)
            found += points if one is None else [one]
    return found


def _as_one(points: list[Closure]) -> Closure | None:
    """Return the one closure that point closures of a pair make up; None where they contradict each other."""
    parent, child = points[0].parent, points[0].child
    here = np.array([p.parent_frame.position if p.parent == parent else p.child_frame.position for p in points])
    there = np.array([p.child_frame.position if p.parent == parent else p.parent_frame.position for p in points])
    sides, others = (np.linalg.norm(at[:, None] - at[None], axis=-1) for at in (here, there))
    longest = float(sides.max())
    gap = float(np.abs(sides - others).max())
    if gap > max(_EQUAL * longest, _APART):
        return None
    gap = gap if gap > _EXACT * longest else 0.0
    elements = [element for point in points for element in point.elements]
    name = points[0].name
    first, second = np.unravel_index(sides.argmax(), sides.shape)
    if longest <= _APART:
        text = "the same point several times is one ball joint"
        return Closure(name, Spherical(), parent, child, Frame(here[0]), Frame(there[0]), elements, text, gap)
    third = int(np.argmax([_area(here, first, second, k) for k in range(len(here))]))
    if _area(here, first, second, third) <= _AREA * longest**2:
        frames = _line(here, first, second), _line(there, first, second)
        text = f"{len(points)} point closures on one line are one hinge"
        return Closure(name, Revolute((0, 0, 1)), parent, child, *frames, elements, text, gap)
    frames = _triangle(here, first, second, third), _triangle(there, first, second, third)
    text = f"{len(points)} point closures that are not on one line are a weld"
    return Closure(name, Fixed(), parent, child, *frames, elements, text, gap)


def _area(at: FloatArray, first: int, second: int, third: int) -> float:
    return float(np.linalg.norm(np.cross(at[second] - at[first], at[third] - at[first])))


def _line(at: FloatArray, first: int, second: int) -> Frame:
    return Frame.from_two_points(at[first], at[second], axis="z")


def _triangle(at: FloatArray, first: int, second: int, third: int) -> Frame:
    along = unit(at[second] - at[first])
    side = at[third] - at[first]
    return Frame.from_axes(x=along, y=unit(side - (side @ along) * along), origin=at[first])
