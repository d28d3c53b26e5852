"""The parts of a mechanism: what it consists of, and how a part is added."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.attributes import KnownAttributes
from linkwork._util.checks import FloatArray, check_finite, check_name, finite, length, numbers, shortened
from linkwork._util.keywords import checks_keywords
from linkwork.errors import MechanismError
from linkwork.formula import LookupTable
from linkwork.mechanism.actions import Action
from linkwork.mechanism.couplings import Coupling, coupling, name_of_drive, prescribed
from linkwork.mechanism.distances import Distance, distance
from linkwork.mechanism.forces import ForceElement, Taken, names_in_use
from linkwork.mechanism.formulas import Given
from linkwork.mechanism.frames import Frame, check_rotation, rotation_matrix
from linkwork.mechanism.joints import AlongPath, JointKind
from linkwork.mechanism.motions import Motion
from linkwork.mechanism.outputs import Output, Variables
from linkwork.mechanism.part_checks import (
    GROUND,
    check_body_known,
    check_inertia,
    check_mass,
    check_new_name,
    check_start,
)
from linkwork.mechanism.parts import Body, Joint, check_frame
from linkwork.mechanism.points import Measure, PointOfInterest, measure, point_of_interest
from linkwork.mechanism.shapes import Shape
from linkwork.mechanism.states import ElementState
from linkwork.mechanism.transitions import Transition, check_among, check_starts, transition
from linkwork.mechanism.triggers import Trigger

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings


class Description(KnownAttributes):
    """The parts of a mechanism and how they are added; attributes as of `Mechanism`."""

    name: str
    bodies: dict[str, Body]
    joints: dict[str, Joint]
    couplings: dict[str, Coupling]
    distances: dict[str, Distance]
    transitions: dict[str, Transition]
    points: dict[str, PointOfInterest]
    measures: dict[str, Measure]
    outputs: dict[str, Output]
    states: dict[str, ElementState]
    forces: list[ForceElement]
    shapes: dict[str, list[Shape]]
    folder: Path | None
    start_q: dict[str, FloatArray]
    start_u: dict[str, FloatArray]
    taken: Taken
    report: Any
    names: dict[str, dict[str, str]]
    _gravity: FloatArray

    def __init__(self, name: str, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        self.name = check_name(name, "mechanism")
        self.gravity = gravity
        self.bodies = {}
        self.joints = {}
        self.couplings = {}
        self.distances = {}
        self.transitions = {}
        self.points = {}
        self.measures = {}
        self.outputs = {}
        self.states = {}
        self.forces = []
        self.shapes = {}
        self.folder = None
        self.taken = Taken()
        self.start_q = {}
        self.start_u = {}
        self.report = None
        self.names = {}

    @property
    def variables(self) -> Variables:
        """What formulas of outputs read and transitions watch: units by name."""
        return Variables(self)

    @property
    def gravity(self) -> FloatArray:
        """Acceleration of free fall in world axes, (3,), m/s^2."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        self._gravity = finite(value, (3,), f"mechanism {self.name!r}: gravity")

    @checks_keywords
    def add_body(
        self,
        name: str,
        mass: float,
        com: ArrayLike,
        inertia: ArrayLike,
        origin: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike | None = None,
    ) -> None:
        """Add a rigid body.

        Parameters
        ----------
        name
            A new name, legal as that of a mechanism is.
        mass
            kg. Zero, together with a zero inertia, makes a massless body, such as the link between the two hinges of a
            universal joint; a body with inertia must hang on it or close a loop with it.
        com
            Centre of mass in body axes from the body's origin, (3,), m.
        inertia
            About the centre of mass in body axes, (3, 3), kg m^2; `linkwork.inertia` has the usual shapes.
        origin, rotation
            Reference pose in the world: (3,), m, and a rotation matrix (3, 3), body to world, or a unit quaternion
            [w, x, y, z]. Joints given with `at=` are placed in this pose.

        Examples
        --------
        >>> from linkwork.mechanism import Mechanism, inertia
        >>> mech = Mechanism("pendulum")
        >>> mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
        >>> mech.bodies["rod"].mass
        2.0
        """
        check_new_name(name, "body", names_in_use(self, "joint"))
        what = f"body {name!r}"
        turned = rotation_matrix(rotation, f"{what}: rotation")
        check_rotation(turned, f"{what}: rotation")
        self.bodies[name] = Body(
            name=name,
            mass=check_mass(mass, what),
            com=finite(com, (3,), f"{what}: com"),
            inertia=check_inertia(inertia, what),
            origin=finite(origin, (3,), f"{what}: origin"),
            rotation=turned,
        )

    @checks_keywords
    def add_joint(
        self,
        name: str,
        kind: JointKind,
        parent: str,
        child: str,
        *,
        at: ArrayLike | None = None,
        parent_frame: Frame | None = None,
        child_frame: Frame | None = None,
        cut: bool = False,
        reflected_inertia: float | Sequence[float] = 0.0,
        max_load: float | Sequence[float] | None = None,
    ) -> None:
        """Add a joint between bodies that have been added; one that closes a loop is added like any other.

        Parameters
        ----------
        name
            A new name, legal as that of a mechanism is.
        kind
            A kind of joint, such as `Revolute(axis)`, `Prismatic(axis)` or `Spherical()`; the conventions list all.
        parent, child
            Names of the bodies, one of them may be "ground".
        at
            World point, (3,), m, where the joint is in the reference poses; its axes are then in world axes, too.
        parent_frame, child_frame
            Instead of `at`: the joint frame in the parent's and in the child's own frame; the joint's axes are in it.
            One that is left out is `Frame()`: without `at` and without frames, the origins of both bodies coincide.
        cut
            True: cut the loop at this joint rather than at one that is chosen, so that its coordinates are no states.
        reflected_inertia
            Inertia of the rotor that drives the joint, times the gear ratio squared: kg m^2 for a rotation, kg for a
            displacement, not below zero. One number for all speeds, or one for each. It adds to the diagonal of the
            joint-space mass matrix, without gyroscopic torques (MuJoCo's armature).
        max_load
            Largest size of the driving load "A.tau", N m or N: beyond, the load that acts saturates. One number for all
            speeds, or one for each; infinite, or left out: no limit. Springs and dampers are not limited.

        Examples
        --------
        >>> from linkwork.mechanism import Mechanism, Revolute, inertia
        >>> mech = Mechanism("pendulum")
        >>> mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
        >>> mech.add_joint("A", Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> mech.joints["A"].kind
        Revolute((0.0, 1.0, 0.0))

        With a motor whose rotor has 1e-4 kg m^2, behind a gear of ratio 50 that carries 40 N m:

        >>> mech = Mechanism("driven")
        >>> mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
        >>> drive = {"reflected_inertia": 1e-4 * 50**2, "max_load": 40.0}
        >>> mech.add_joint("A", Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0), **drive)
        >>> mech.joints["A"].reflected_inertia
        array([0.25])
        """
        check_new_name(name, "joint", names_in_use(self, "body"))
        most = np.inf if max_load is None else max_load
        self.joints[name] = joint(
            self, name, kind, parent, child, at, parent_frame, child_frame, cut, reflected_inertia, most
        )

    @checks_keywords
    def add_coupling(
        self,
        name: str,
        terms: Mapping[str, ArrayLike] | None = None,
        offset: float = 0.0,
        motion: Motion | None = None,
        *,
        formula: str | None = None,
        parameters: Mapping[str, Given] | None = None,
        tables: Mapping[str, LookupTable | Mapping[str, Any]] | None = None,
    ) -> None:
        """Add an equation between joint coordinates: a gear, a belt, a rack and pinion, a differential, a cam.

        The joints may lie anywhere in the mechanism. The equation is ideal: it does no work, and has no play.
        Terms, a formula or both of them are needed; they add up to `offset`.

        Parameters
        ----------
        name
            A new name, legal as that of a mechanism is.
        terms
            A coefficient by coordinate: a number c for c q, or up to four numbers (c1, c2, ...) for
            c1 q + c2 q^2 + ... A coordinate is named by its joint, or as "U[2]" in a joint of several; joints that
            turn by quaternions have none that can be coupled.
        offset
            In the unit of the first coordinate named: the whole equation is counted in it.
        motion
            A function of time that is added to the offset.
        formula
            Of coordinates such as "cam.q" and of "time", written as those of a `Force`; one that reads time is a motion
            too. Its slope must be continuous: abs, sign, min, max, mod, floor and if are refused, and tables need
            monotone interpolation.
        parameters
            Values by name, in SI units, or pairs of value and unit, such as (0.01, "m"). They are variables, as
            "cam.k", and parameters of FMUs, which hold from the start of the motion on.
        tables
            Lookup tables by name, or their arguments as dictionaries, as those of a `Force`.

        Raises
        ------
        MechanismError
            On a name that is taken, an unknown or unfit coordinate, a coefficient of zero, a text that is no formula or
            has kinks, and on units that contradict each other. Nothing is added then.

        Examples
        --------
        >>> from linkwork.formula import LookupTable
        >>> from linkwork.mechanism import Mechanism, Prismatic, Revolute, inertia
        >>> mech = Mechanism("drive")
        >>> for name in ("rotor", "arm"):
        ...     mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=inertia.sphere(1.0, 0.1))
        >>> mech.add_joint("motor", Revolute((0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
        >>> mech.add_joint("hinge", Revolute((0, 0, 1)), "ground", "arm", at=(0, 0, 0))
        >>> mech.add_coupling("gear", {"motor": 1.0, "hinge": -20.0})  # 20 turns of the motor to one of the arm

        A cam lifts a follower; in the second one a table has the lift over one turn.

        >>> mech.add_body("follower", mass=0.2, com=(0, 0, 0), inertia=inertia.sphere(0.2, 0.01))
        >>> mech.add_joint("slide", Prismatic((0, 1, 0)), "ground", "follower", at=(0, 0, 0))
        >>> mech.add_coupling("cam", formula="slide.q - e*(1 - cos(hinge.q))", parameters={"e": (0.01, "m")})
        >>> x, values = [0.0, 2.0, 4.0, 6.283185307179586], [0.0, 0.01, 0.02, 0.0]
        >>> lift = LookupTable(x, values, interpolation="monotone", periodic=True)
        >>> mech.couplings.pop("cam").formula
        'slide.q - e*(1 - cos(hinge.q))'
        >>> mech.add_coupling("cam", formula="slide.q - lift(hinge.q)", tables={"lift": lift})
        """
        check_new_name(name, "coupling", names_in_use(self))
        self.couplings[name] = coupling(
            self, name, terms, offset, motion, formula=formula, parameters=parameters, tables=tables
        )

    @checks_keywords
    def prescribe(
        self,
        coordinate: str,
        motion: Motion | str,
        name: str | None = None,
        *,
        parameters: Mapping[str, Given] | None = None,
        tables: Mapping[str, LookupTable | Mapping[str, Any]] | None = None,
    ) -> None:
        """Prescribe a coordinate of a joint as a function of time: a drive gives whatever load that takes.

        Parameters
        ----------
        coordinate
            A joint, or "U[2]" in a joint of several; not a quaternion.
        motion
            The function of time: a Motion, or a formula such as "a*sin(2*time) + lift(time)".
        name
            Of the drive, a coupling of one term whose offset moves; by default "A_drive", or "U_2_drive".
        parameters, tables
            Of a formula, as those of `add_coupling`.

        Examples
        --------
        >>> from linkwork.mechanism import Mechanism, Motion, Revolute, inertia
        >>> mech = Mechanism("fan")
        >>> mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=inertia.sphere(1.0, 0.1))
        >>> mech.add_joint("shaft", Revolute((0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
        >>> mech.prescribe("shaft", Motion((0.0, 30.0)))  # 30 rad/s; the load is "shaft_drive.load"
        >>> del mech.couplings["shaft_drive"]
        >>> runs_up = {"w": (30.0, "rad/s"), "T": (2.0, "s")}
        >>> mech.prescribe("shaft", "w*(time + T*(exp(-time/T) - 1))", parameters=runs_up)
        """
        given = name_of_drive(self, coordinate) if name is None else name
        if isinstance(motion, str):
            check_new_name(given, "coupling", names_in_use(self))
            self.couplings[given] = prescribed(self, given, coordinate, motion, parameters, tables)
            return
        if not isinstance(motion, Motion):
            raise MechanismError(
                f"prescribe {coordinate!r}: give a Motion such as Motion((0.0, 1.0)), or a formula such as "
                f"'sin(3*time)', not {motion!r}"
            )
        if parameters or tables:
            raise MechanismError(f"prescribe {coordinate!r}: parameters and tables are those of a formula: give one")
        self.add_coupling(given, {coordinate: 1.0}, motion=motion)

    @checks_keywords
    def add_distance(self, name: str, bodies: Sequence[str], points: ArrayLike, length: float | None = None) -> None:
        """Keep points of two bodies at a constant distance: a massless rod with a ball joint at either end.

        It pushes as well as pulls, removes one degree of freedom, and does no work. Rods whose mass counts are bodies.

        Parameters
        ----------
        name
            A new name, legal as that of a mechanism is.
        bodies
            Names of two bodies, one of them may be "ground".
        points
            A point of each, (2, 3), m, in the frame of its body.
        length
            m, positive; by default the distance of the points in the reference poses of the bodies.

        Examples
        --------
        >>> from linkwork.mechanism import Free, Mechanism, inertia
        >>> mech = Mechanism("pendulum")
        >>> mech.add_body("bob", mass=2.0, com=(0, 0, 0), inertia=inertia.sphere(2.0, 0.05), origin=(0, 0, -0.8))
        >>> mech.add_joint("bob_in_world", Free(), "ground", "bob", at=(0, 0, -0.8))
        >>> mech.add_distance("rod", bodies=("ground", "bob"), points=((0, 0, 0), (0, 0, 0.05)))
        >>> mech.distances["rod"].length
        0.75
        """
        check_new_name(name, "distance", names_in_use(self))
        self.distances[name] = distance(self, name, bodies, points, length)

    @checks_keywords
    def add_force(self, force: ForceElement) -> None:
        """Add a force, a `SpringDamper`, `Force`, `Wrench` or `Actuator`, on joints or bodies that have been added.

        Parameters
        ----------
        force
            A `SpringDamper`, `Force`, `Wrench` or `Actuator`; its joints or bodies have been added before.

        Examples
        --------
        >>> from linkwork.mechanism import Mechanism, Revolute, SpringDamper, inertia
        >>> mech = Mechanism("pendulum")
        >>> mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
        >>> mech.add_joint("A", Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> mech.add_force(SpringDamper("A", stiffness=20.0, damping=0.5))
        >>> mech.forces
        [SpringDamper(joint='A', stiffness=20.0, damping=0.5, free=0.0)]
        """
        if not isinstance(force, ForceElement):
            raise MechanismError(f"add_force takes a force such as SpringDamper('A', stiffness=1.0), not {force!r}")
        force.check_new(self)
        force.check(self)
        self.forces.append(force)

    @checks_keywords
    def add_transition(self, name: str, action: Action, when: Trigger | None = None) -> None:
        """Add a change at an instant: a lock, a latch, a closure of a loop, a stop, an impulse.

        Parameters
        ----------
        name
            A new name; the joint that a `Pin` makes has it as well.
        action
            `Lock`, `Unlock`, `Pin`, `Release`, `Stop` or `Impulse`.
        when
            `Time`, `Crossing` or `Command`; for a `Stop`, which watches its bounds, it is left out.

        Raises
        ------
        MechanismError
            On a name that is taken, on what does not exist or does not fit, and on a transition that another one
            undoes at the same event. Nothing is added then.

        Examples
        --------
        >>> from linkwork.mechanism import Crossing, Lock, Mechanism, Revolute, Time, Unlock, inertia
        >>> mech = Mechanism("flap")
        >>> mech.add_body("lid", mass=1.0, com=(0, 0, 0), inertia=inertia.sphere(1.0, 0.1))
        >>> mech.add_joint("hinge", Revolute((0, 1, 0)), "ground", "lid", at=(0, 0, 0))
        >>> mech.add_transition("latch", Lock("hinge"), when=Crossing("hinge.q", 1.2))
        >>> mech.add_transition("free", Unlock("hinge"), when=Time(3.0))
        """
        check_new_name(name, "transition", names_in_use(self))
        made = transition(name, action, when)
        check_among(self, made)
        self.transitions[name] = made

    @checks_keywords
    def add_point(self, name: str, body: str, point: ArrayLike, axis: ArrayLike | None = None) -> None:
        """Add a point of interest: its position, velocity and acceleration become variables, in world axes.

        They are "camber.r", "camber.v" and "camber.a" of a point "camber", and its direction is "camber.e"; they are
        outputs of results, FMUs and linear models. The point changes nothing in the motion.

        Parameters
        ----------
        name
            A new name, legal as that of a mechanism is.
        body
            Name of the body in which it is fixed, or "ground".
        point
            In the frame of the body, (3,), m.
        axis
            A direction at the point in the frame of the body, (3,), of any length.

        Examples
        --------
        >>> from linkwork.mechanism import Mechanism, Revolute, inertia
        >>> mech = Mechanism("pendulum")
        >>> mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
        >>> mech.add_joint("hinge", Revolute(axis=(0, 1, 0)), "ground", "arm", at=(0, 0, 0))
        >>> mech.add_point("tip", "arm", (1, 0, 0), axis=(0, 0, 1))
        >>> mech.points["tip"].axis
        (0.0, 0.0, 1.0)
        """
        check_new_name(name, "point", names_in_use(self))
        self.points[name] = point_of_interest(self, name, body, point, axis)

    @checks_keywords
    def add_measure(self, name: str, quantity: str, points: Sequence[str]) -> None:
        """Add a distance or an angle of two points of interest as a variable, with its rate.

        A distance "travel" is "travel.length", m, and "travel.rate"; an angle "camber" is "camber.angle", rad, and
        "camber.rate".

        Parameters
        ----------
        name
            A new name, legal as that of a mechanism is.
        quantity
            "distance": of the points; "angle": between their axes, 0 to pi. Where the points coincide or the axes are
            parallel there is no rate, which is zero then.
        points
            Names of two points of interest, of two bodies.

        Raises
        ------
        MechanismError
            On a name that is taken, an unknown quantity or point, two points of one body, and a point without an axis
            for an angle. Nothing is added then.

        Examples
        --------
        >>> from linkwork.mechanism import Mechanism, Revolute, inertia
        >>> mech = Mechanism("pendulum")
        >>> mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
        >>> mech.add_joint("hinge", Revolute(axis=(0, 1, 0)), "ground", "arm", at=(0, 0, 0))
        >>> mech.add_point("tip", "arm", (1, 0, 0), axis=(1, 0, 0))
        >>> mech.add_point("wall", "ground", (2, 0, 0), axis=(0, 0, 1))
        >>> mech.add_measure("gap", "distance", ("tip", "wall"))
        >>> mech.add_measure("tilt", "angle", ("tip", "wall"))
        """
        check_new_name(name, "measure", names_in_use(self))
        self.measures[name] = measure(self, name, quantity, points)

    @checks_keywords
    def add_output(
        self,
        name: str,
        formula: str,
        parameters: Mapping[str, Given] | None = None,
        tables: Mapping[str, LookupTable | Mapping[str, Any]] | None = None,
        unit: str | None = None,
    ) -> None:
        """Add an output by a formula: a variable of this name, made of others, in results, FMUs and linear models.

        A formula reads any variable of the mechanism by its name: "crank.q", "crank.u" and "crank.a" of a joint,
        "arm.r[1]" of a body, "tip.v[3]" of a point of interest, "travel.length" of a measure, "spring.force",
        "hinge.t[2]" of a reaction, "energy.kinetic", "time", inputs, parameters such as "arm.mass", and outputs that
        were added before it. It changes nothing in the motion.

        Parameters
        ----------
        name
            A new name, legal as that of a mechanism is.
        formula
            Written as those of a `Force`.
        parameters
            Values by name, in SI units, or pairs of value and unit, such as (3.0, "N.m/rad"). They are variables and
            parameters of FMUs, as "gap.k".
        tables
            Lookup tables by name, or their arguments as dictionaries, as those of a `Force`.
        unit
            Unit of the output; by default the one that follows from the formula.

        Raises
        ------
        MechanismError
            On a text that is no formula, with the place, on unknown names, and on units that contradict each other.
            Nothing is added then.

        Examples
        --------
        >>> from linkwork.mechanism import Mechanism, Revolute, inertia
        >>> mech = Mechanism("pendulum")
        >>> mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
        >>> mech.add_joint("hinge", Revolute(axis=(0, 1, 0)), "ground", "arm", at=(0, 0, 0))
        >>> mech.add_output("excess", "abs(hinge.u) - limit", parameters={"limit": 2.0})
        >>> mech.add_output("power", "hinge.tau*hinge.u", unit="W")
        >>> mech.outputs["excess"].formula
        'abs(hinge.u) - limit'
        """
        check_new_name(name, "output", names_in_use(self))
        made = Output(name, formula, parameters, tables, unit)  # type: ignore[arg-type]
        made.check(self)
        self.outputs[name] = made

    @checks_keywords
    def add_state(
        self,
        name: str,
        formula: str,
        start: float = 0.0,
        unit: str = "1",
        parameters: Mapping[str, Given] | None = None,
        tables: Mapping[str, LookupTable | Mapping[str, Any]] | None = None,
        inputs: Sequence[str] = (),
        nominal: float = 1.0,
    ) -> None:
        """Add a continuous state of an element, such as a current, a pressure or the lag of an actuator.

        It is integrated with coordinates and speeds, and is the variable `name` with its derivative "der(name)". The
        formulas of forces, brakes and outputs read it by its name. Its own formula reads what those of outputs read:
        coordinates, speeds, loads and reactions, points, time, inputs, parameters, outputs and other states, but no
        derivative of a state. Impacts and other transitions leave it as it is.

        Names and units in the formula are looked up when the mechanism is compiled, so that a state may read a force
        that reads the state.

        Parameters
        ----------
        name
            A new name, legal as that of a mechanism is.
        formula
            The time derivative, written as the formulas of a `Force`.
        start
            Value at the start; it is a start value of FMUs, "i.start".
        unit
            Unit of the state; the formula has this unit per second.
        parameters
            Values by name, in SI units, or pairs of value and unit, such as (3.0, "N.m/rad"). They are variables and
            parameters of FMUs, as "i.R".
        tables
            Lookup tables by name, or their arguments as dictionaries, as those of a `Force`.
        inputs
            Names that come from outside, as "voltage": variables "i.voltage", zero by default.
        nominal
            A usual size of the state, above zero: absolute tolerances and the nominal values of FMUs count in it.

        Raises
        ------
        MechanismError
            On a name that is taken, a number that is not finite and a unit that is none. Nothing is added then.

        Examples
        --------
        >>> from linkwork.mechanism import Force, Mechanism, Revolute, inertia
        >>> mech = Mechanism("drive")
        >>> mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=inertia.disk(1.0, 0.1))
        >>> mech.add_joint("axle", Revolute(axis=(0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
        >>> values = {"R": (0.5, "Ohm"), "L": (2e-3, "H"), "k": (0.1, "N.m/A")}
        >>> mech.add_state("i", "(voltage - R*i - k*axle.u)/L", unit="A", parameters=values, inputs=("voltage",))
        >>> mech.add_force(Force("axle", "k*i", parameters={"k": (0.1, "N.m/A")}))
        >>> mech.states["i"].unit
        'A'
        """
        check_new_name(name, "state", names_in_use(self))
        self.states[name] = ElementState(name, formula, start, unit, parameters, tables, inputs, nominal)  # type: ignore[arg-type]

    @checks_keywords
    def add_shape(self, body: str, shape: Shape) -> None:
        """Add a shape to a body, for pictures and films; it has no mass and no contact, and changes nothing else.

        Bodies without shapes are drawn as rods and plates between their joints.

        Parameters
        ----------
        body
            Name of the body in which it is fixed, or "ground".
        shape
            Of `linkwork.shape`: a box, cylinder, capsule, sphere or mesh.

        Examples
        --------
        >>> from linkwork.mechanism import Mechanism, inertia, shape
        >>> mech = Mechanism("pendulum")
        >>> mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
        >>> mech.add_shape("arm", shape.box((1.0, 0.05, 0.05), frame=Frame((0.5, 0, 0))))
        >>> mech.add_shape("ground", shape.sphere(0.1, colour="#606060"))
        >>> mech.shapes["ground"]
        [Sphere(radius=0.1, colour='#606060')]
        """
        check_body_known(self, "add_shape", body)
        if not isinstance(shape, Shape):
            raise MechanismError(f"add_shape takes a shape such as shape.box((0.4, 0.05, 0.05)), not {shape!r}")
        self.shapes.setdefault(body, []).append(shape)

    @checks_keywords
    def start(self, q: Mapping[str, ArrayLike] | None = None, u: Mapping[str, ArrayLike] | None = None) -> None:
        """Give start guesses by name of the joint; assembly keeps them where it can and finds the others.

        Parameters
        ----------
        q
            Coordinates: a number, or an array (nq,); rad or m. A quaternion may have any length but zero.
        u
            Speeds: a number, or an array (nu,); rad/s or m/s.

        Examples
        --------
        >>> from linkwork.mechanism import Mechanism, Revolute, inertia
        >>> mech = Mechanism("pendulum")
        >>> mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
        >>> mech.add_joint("A", Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> mech.start(q={"A": 0.3}, u={"A": 2.0})
        >>> mech.start_q["A"], mech.start_u["A"]
        (array([0.3]), array([2.]))
        """
        new_q, new_u = self._start_values(q, "q"), self._start_values(u, "u")
        check_starts(self, new_q)
        self.start_q.update(new_q)
        self.start_u.update(new_u)

    def copy(self) -> Self:
        """Return a mechanism of its own; the parts in it, which never change, are the same."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict | list):
                setattr(twin, name, value.copy())
        twin.shapes = {body: shapes.copy() for body, shapes in self.shapes.items()}
        return twin

    def __repr__(self) -> str:
        counts = [
            (len(self.bodies), "body", "bodies"),
            (len(self.joints), "joint", "joints"),
            (len(self.forces), "force", "forces"),
        ]
        for part in ("coupling", "distance", "transition", "point", "measure", "output", "state"):
            if count := len(getattr(self, f"{part}s")):
                counts.append((count, part, f"{part}s"))
        if count := sum(map(len, self.shapes.values())):
            counts.append((count, "shape", "shapes"))
        parts = (f"{count} {one if count == 1 else many}" for count, one, many in counts)
        return f"Mechanism({self.name!r}: {', '.join(parts)})"

    def _start_values(self, values: Mapping[str, ArrayLike] | None, of: str) -> dict[str, FloatArray]:
        if not isinstance(values, Mapping | None):
            raise MechanismError(f"start {of} must be a dictionary such as {{'A': 0.1}}, not {values!r}")
        return {name: check_start(self, name, value, of) for name, value in (values or {}).items()}


def joint(
    mech: Surroundings,
    name: str,
    kind: JointKind,
    parent: str,
    child: str,
    at: ArrayLike | None,
    parent_frame: Frame | None,
    child_frame: Frame | None,
    cut: bool,
    reflected_inertia: ArrayLike,
    max_load: ArrayLike,
) -> Joint:
    """Return a joint between bodies of `mech`; errors name the joint."""
    what = f"joint {name!r}"
    if not isinstance(kind, JointKind):
        raise MechanismError(f"{what}: kind must be a joint such as Revolute(axis=(0, 0, 1)), not {kind!r}")
    for body in (parent, child):
        check_body_known(mech, what, body)
    if parent == child:
        raise MechanismError(f"{what} joins {parent!r} to itself: give two different bodies")
    if not isinstance(cut, bool | np.bool_):
        raise MechanismError(f"{what}: cut must be True or False, not {cut!r}")
    if at is None:
        frames = _given_frames(what, parent_frame, child_frame)
    elif isinstance(kind, AlongPath):
        raise MechanismError(f"{what}: a joint along a path has no single place; give parent_frame= and child_frame=")
    elif parent_frame is None and child_frame is None:
        point = finite(at, (3,), f"{what}: at")
        frames = _frame_in(mech, parent, point), _frame_in(mech, child, point)
    else:
        raise MechanismError(f"{what}: give either at= or parent_frame= and child_frame=, not both")
    rotors = _of_speeds(kind, reflected_inertia, f"{what}: reflected_inertia", "give 0 for none")
    limits = _of_speeds(kind, max_load, f"{what}: max_load", "leave it out for none")
    if rotors.any():
        check_finite(rotors, f"{what}: reflected_inertia")
    return Joint(name, kind, parent, child, *frames, bool(cut), rotors, limits)


def _of_speeds(kind: JointKind, value: ArrayLike, what: str, remedy: str) -> FloatArray:
    """Return a number for each speed of a joint, (nu,), from one for all of them or as many; none is below zero."""
    plain: object = value
    if isinstance(plain, float) and plain >= 0.0:
        return _alike(kind.nu, plain)
    count, title = length(value), type(kind).__name__
    if count != kind.nu and (count or np.ndim(value)):
        raise MechanismError(
            f"{what} has {count} numbers, but a {title} has {kind.nu} speeds: give one number for all of them"
            + (f", or {kind.nu}" if kind.nu > 1 else "")
        )
    given = np.array(np.broadcast_to(numbers(value, np.shape(value), what), (kind.nu,)))
    if not (given >= 0.0).all():
        raise MechanismError(f"{what} must not be below zero, and no NaN; {remedy}, not {shortened(value)}")
    given.setflags(write=False)
    return given


@lru_cache
def _alike(count: int, value: float) -> FloatArray:
    """Return the same number for each of several speeds; most joints share such arrays."""
    found = np.full(count, value)
    found.setflags(write=False)
    return found


def _given_frames(what: str, parent_frame: Frame | None, child_frame: Frame | None) -> tuple[Frame, Frame]:
    frames = []
    for frame, side in ((parent_frame, "parent_frame"), (child_frame, "child_frame")):
        if frame is not None:
            check_frame(frame, f"{what}: {side}")
        frames.append(Frame() if frame is None else frame)
    return frames[0], frames[1]


def _frame_in(mech: Surroundings, body: str, point: FloatArray) -> Frame:
    """Return the frame at a world point, parallel to the world, in the frame of a body in its reference pose."""
    if body == GROUND:
        return Frame(point)
    pose = mech.bodies[body]
    return Frame(pose.rotation.T @ (point - pose.origin), pose.rotation.T)
