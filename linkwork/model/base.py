"""A compiled mechanism: its names, its states and the quantities computed at them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, number, positive
from linkwork.core.native import ASSEMBLY_TOLERANCE, Block, OffsetArray, Stage, offsets_of
from linkwork.core.tapes import Tapes
from linkwork.errors import AssemblyError, MechanismError, SingularityError
from linkwork.mechanism import Mechanism
from linkwork.model.arguments import Loads, one, sized, together, vector
from linkwork.model.changed_starts import ChangedStart, changed_starts, describe_changed_starts, warn_of_changed_starts
from linkwork.model.closures import describe_closures, describe_misalignment, describe_tolerance
from linkwork.model.compiled import CompiledMechanism, compile_mechanism
from linkwork.model.kept_state import KeptState
from linkwork.model.methods import MethodRequest
from linkwork.model.state_values import JointArray
from linkwork.model.structure import ModelStructure


class Energy(NamedTuple):
    """Kinetic and potential energy, J; the latter of gravity (zero at the world's origin) and springs."""

    kinetic: FloatArray | float
    potential: FloatArray | float


class ModelBase(ModelStructure):
    """A compiled mechanism: its names, its states and the quantities computed at them; attributes as of `Model`."""

    # What the state has that `assemble` gives without arguments, behind its model, which a circle would keep alive;
    # nothing in it can be changed.
    _start: tuple[Any, ...] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _recompiled, (type(self), self.mechanism, self.method, self.reference, self.parameters)

    # ---- parameters ----

    def with_parameters(self, parameters: Mapping[str, ArrayLike]) -> Self:
        """Return the same model with other values of parameters and start values, without compiling it again.

        The description `mechanism` stays as it is, and so do the spanning tree and the methods that were chosen for it.
        States of one of the two are none of the other; loops are closed again by `assemble`.

        Parameters
        ----------
        parameters
            Values by name, as an FMU has them: ``{"strut.damping": 5.0, "crank.com": (0.2, 0, 0), "A.q_start": 0.1}``,
            each in the unit of its variable.

        Returns
        -------
        Model
            Values that are not named are as in this one.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> heavy = model.with_parameters({"rod.mass": 2.0})
        >>> heavy.value("rod.mass", heavy.assemble()), model.value("rod.mass", model.assemble())
        (2.0, 1.0)
        """
        if not isinstance(parameters, Mapping):
            raise MechanismError(f"parameters must be a dictionary such as {{'A.q_start': 0.1}}, not {parameters!r}")
        block = self.block()
        for name, value in parameters.items():
            offsets = self._parameter(name)
            limits = self.fields["max_load"].span
            infinite = limits.start <= offsets[0] < limits.stop  # no limit
            block.set(offsets, one(vector(value, slice(0, offsets.size), name, infinite=infinite), name))
            self._prioritize(block, offsets)
        values = block.reals[: self.fields["time"].first]
        changed = type(self)(self._compiled.with_parameters(values), self.parameters | dict(parameters))
        for shared in ("columns", "q_names", "u_names"):  # names do not depend on values
            changed.__dict__[shared] = getattr(self, shared)
        return changed

    def _parameter(self, name: str) -> OffsetArray:
        """Return where the numbers of a parameter or start value stand."""
        column = self.column(name)
        if column.first >= self.fields["time"].first:
            kind = next(v.kind for v in self.variables if v.reference == column.first)
            raise MechanismError(f"{name!r} is no parameter but its kind is {kind!r}: give a parameter or start value")
        return np.arange(column.first, column.first + column.count, dtype=np.uint32)

    def _prioritize(self, block: Block, offsets: OffsetArray) -> None:
        """Have assembly keep start values that were set: first of all, those of the first joints the longest."""
        for q, numbers in (("q", self.numbering.q), ("u", self.numbering.u)):
            start, priority = (self.fields[f"{q}_{part}"].span for part in ("start", "priority"))
            if start.start <= offsets[0] < start.stop:
                at = offsets - start.start
                joint, span = next(one for one in numbers.items() if one[1].start <= at[0] < one[1].stop)
                whole = q == "q" and self.mechanism.joints[joint].kind.quaternion is not None
                block.reals[priority][span if whole else at] = (span.start + 1.0) / (span.start + 2.0)

    # ---- states ----

    def assemble(
        self,
        q: Mapping[str, ArrayLike] | None = None,
        u: Mapping[str, ArrayLike] | None = None,
        tolerance: float = ASSEMBLY_TOLERANCE,
        *,
        time: float = 0.0,
        motion: Mapping[str, ArrayLike] | None = None,
        elements: Mapping[str, ArrayLike] | None = None,
    ) -> State:
        """Find a state that closes every loop and satisfies every coupling and distance.

        Parameters
        ----------
        q, u
            Start values by joint name, added to or replacing those of `Mechanism.start`. They are kept where the loops
            allow it, before those of the description, and the first given longest; the others serve as guesses. All
            other coordinates and speeds start at zero.
        tolerance
            Largest gap of a loop or distance that is accepted, m, in loops of about a metre; in smaller and larger ones
            in proportion to their size.
        time
            s, of motions that are prescribed.
        motion
            By drive, what its inputs add: a value, or value, rate and acceleration.
        elements
            States of elements by name, as in ``{"i": 0.5}``; the others are at their start values.

        Returns
        -------
        State
            The state found; it holds the cut joints' coordinates as well. Its `changed_start_values` are those given
            that it could not keep.

        Warns
        -----
        StartValueWarning
            On start values that are out of reach, or that contradict those given before them. Of more coordinates than
            degrees of freedom the last ones may be guesses, up to 1 rad or about the size of the loop from the pose
            that they select.

        Raises
        ------
        AssemblyError
            If a loop cannot be closed or a coupling or distance cannot be satisfied, or if couplings or distances
            repeat or contradict each other or couplings let nothing move; the text names the joint and the gap that
            remains, or the couplings or distances, and a small error of an axis that keeps a loop from closing. Where
            there are several closures, a table of all of them with their gaps in a least-squares compromise follows,
            and the closures without which the others close; as data it is the error's `closures`.
        MechanismError
            On an unknown joint, a wrong size or a number that is not finite.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> state = model.assemble(q={"A": 0.3})
        >>> state["A.q"]
        0.3
        """
        is_start = q is u is motion is elements is None and type(tolerance) is type(time) is float
        is_start = is_start and (tolerance, time) == (ASSEMBLY_TOLERANCE, 0.0)
        if is_start and self._start is not None:
            state = State(self, *self._start)
            warn_of_changed_starts(self, state.changed_start_values)
            return state
        block = self.block()
        try:
            state = self._closed_state(q, u, tolerance, time, motion, block, elements)
        except AssemblyError as error:

            def again(twin: CompiledMechanism, joint: str) -> State:
                guesses = {name: value for name, value in (q or {}).items() if name != joint}
                return type(self)(twin)._closed_state(guesses, None, tolerance, time, motion)

            def accepts(enough: float) -> bool:
                try:
                    self._closed_state(q, u, enough, time, motion)
                except AssemblyError:
                    return False
                return True

            causes = describe_misalignment(self, error, again), describe_tolerance(self, error, accepts)
            error.args = ("; ".join([str(error), *filter(None, causes)]),)
            error.closures, table = describe_closures(self, block, tolerance)
            if table:
                error.args = (f"{error}\n{table}",)
            raise
        warn_of_changed_starts(self, state.changed_start_values)
        if is_start:
            self._start = tuple(vars(state).values())[1:]  # all but the model
        return state

    def _closed_state(
        self,
        q: Mapping[str, ArrayLike] | None = None,
        u: Mapping[str, ArrayLike] | None = None,
        tolerance: float = ASSEMBLY_TOLERANCE,
        time: float = 0.0,
        motion: Mapping[str, ArrayLike] | None = None,
        block: Block | None = None,
        elements: Mapping[str, ArrayLike] | None = None,
    ) -> State:
        """Do what `assemble` does, in a block, without warnings and without a search for the cause of an error."""
        block = self.block() if block is None else block
        self.set_starts(block, q, u)
        if elements is not None:
            block.reals[self.fields["state_start"].span] = self.arguments.elements(elements)
        positive(tolerance, "tolerance", ": the gap of a loop that is accepted, m")
        block.put_motion(number(time, "time"), self.arguments.motions(motion))
        block.assemble(tolerance)
        return self.assembled_state_of(block)

    def assembled_state_of(self, block: Block) -> State:
        """Return the state that a block is in just after its assembly, with the start values that it did not keep."""
        changed = changed_starts(self, block)
        try:
            return self.state_of(block, changed)
        except SingularityError as error:  # values out of reach lead to the ends of ranges
            texts = [str(error), describe_changed_starts(self, changed)]
            raise SingularityError("; ".join(filter(None, texts))) from None

    def set_starts(self, block: Block, q: Mapping[str, ArrayLike] | None, u: Mapping[str, ArrayLike] | None) -> None:
        """Write start values by joint name into a block, to be kept by its assembly."""
        for given, slices, name in ((q, self.numbering.q, "q"), (u, self.numbering.u, "u")):
            if not isinstance(given, Mapping | None):
                raise MechanismError(f"{name} must be a dictionary by joint name such as {{'A': 0.1}}, not {given!r}")
            if not given:
                continue
            starts, held = (block.reals[self.fields[f"{name}_{part}"].span] for part in ("start", "priority"))
            for rank, (joint, value) in enumerate(given.items(), start=1):
                span, what = self.arguments.span(slices, joint, name), f"{name} of joint {joint!r}"
                values = one(vector(value, span, what), what)
                kind = self.mechanism.joints[joint].kind
                starts[span] = kind.normalised(values, what) if name == "q" else values
                held[span] = rank / (1.0 + rank)  # below 1: kept before those of the description

    def state_of(self, block: Block, changed: tuple[ChangedStart, ...] = ()) -> State:
        """Return the state that a block is in, after an assembly with the start values that it did not keep."""
        q_cut, u_cut = block["q_cut"], block["u_cut"]  # which are computed, with all that they need
        reals, fields = block.reals, self.fields
        q = np.concatenate([reals[fields["q"].span], q_cut])
        u = np.concatenate([reals[fields["u"].span], u_cut])
        motion = reals[fields["motion_in"].span].copy()
        elements = reals[fields["element_state"].span].copy()
        q.flags.writeable = u.flags.writeable = motion.flags.writeable = elements.flags.writeable = False
        discrete_state = block.discrete_state
        discrete_state.flags.writeable = False
        n = self.numbering
        arrays = JointArray.split(q, n.nq), JointArray.split(u, n.nu)
        return State(self, *arrays, float(block["time"][0]), motion, discrete_state, None, changed, elements)

    def state(
        self,
        q: ArrayLike,
        u: ArrayLike,
        *,
        time: float = 0.0,
        motion: Mapping[str, ArrayLike] | None = None,
        elements: Mapping[str, ArrayLike] | None = None,
    ) -> State:
        """Return the state with coordinates q (nq,) and speeds u (nu,) of the tree joints, as they are.

        Parameters
        ----------
        q, u
            Coordinates (nq,) and speeds (nu,) of the tree joints.
        time
            s, of motions that are prescribed.
        motion
            By drive, what its inputs add: a value, or value, rate and acceleration.
        elements
            States of elements by name, as in ``{"i": 0.5}``; the others are at their start values.

        Returns
        -------
        State
            With loops as open as the coordinates leave them; `assemble` closes them.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.state([0.3], [2.0])["A.u"]
        2.0
        """
        coordinates, speeds = self.arguments.states(q, u)
        block = self._prepared(None)
        inputs = np.concatenate([self.arguments.no_loads, self.arguments.motions(motion), self.arguments.changes])
        block.enter(one(coordinates, "q"), speeds, inputs, number(time, "time"))
        if elements is not None:
            block.put("element_state", self.arguments.elements(elements))
        return self.state_of(block)

    # ---- computed quantities ----

    def accelerations(
        self, state: State | ArrayLike, u: ArrayLike | None = None, *, tau: Loads = None, time: ArrayLike | None = None
    ) -> JointArray:
        """Return the accelerations of the tree joints, those of the cut joints along with them.

        They come from the method chosen in `compile`; by default in O(n + m).

        Parameters
        ----------
        state, u
            A `State`; or coordinates (..., nq) and speeds (..., nu) of the tree joints, leading dimensions alike.
        tau
            Loads (..., nu), N m or N; or by name of joints and applied wrenches, as in ``{"A": 0.1}``. By default none.
        time
            s, (...), where motions are prescribed; by default that of the state, or 0.

        Returns
        -------
        JointArray
            (..., nu), rad/s^2 or m/s^2; those of the cut joints are its attribute `cut`.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.accelerations([0.0], [0.0])  # m g l/2 over m l^2/3
        JointArray([14.715])
        >>> model.accelerations([0.0], [0.0], tau={"A": -14.715}).round(12)
        array([0.])
        """
        values = self._numbers("acceleration", self._accelerations, Stage.ACCELERATIONS, state, u, tau, time)
        return JointArray.split(values, self.sizes.nu)

    def derivatives(
        self, state: State | ArrayLike, u: ArrayLike | None = None, *, tau: Loads = None, time: ArrayLike | None = None
    ) -> FloatArray:
        """Return the derivatives that a solver integrates, with the loops' feedback.

        Parameters
        ----------
        state, u
            A `State`; or coordinates (..., nq) and speeds (..., nu) of the tree joints, leading dimensions alike.
        tau
            Loads (..., nu), N m or N; or by name of joints and applied wrenches, as in ``{"A": 0.1}``. By default none.
        time
            s, (...), where motions are prescribed; by default that of the state, or 0.

        Returns
        -------
        ndarray
            [qdot; udot; rates of the states of elements], (..., n).

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.derivatives([0.0], [2.0])
        array([ 2. , 14.715])
        """
        return self._numbers("derivatives", self._rates, Stage.DERIVATIVES, state, u, tau, time)

    def energy(self, state: State | ArrayLike, u: ArrayLike | None = None) -> Energy:
        """Return kinetic and potential energy.

        Parameters
        ----------
        state, u
            A `State`; or coordinates (..., nq) and speeds (..., nu) of the tree joints, leading dimensions alike.

        Returns
        -------
        Energy
            `kinetic` and `potential`, each (...), J.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.energy([0.0], [2.0])
        Energy(kinetic=2.0, potential=0.0)
        """
        span = slice(self.fields["energy_kinetic"].first, self.fields["energy_potential"].span.stop)
        values = self._numbers("energy", span, Stage.OUTPUTS, state, u, None)
        if values.ndim == 1:
            return Energy(float(values[0]), float(values[1]))
        return Energy(values[..., 0], values[..., 1])

    def loop_residual(self, state: State | ArrayLike, u: ArrayLike | None = None) -> FloatArray:
        """Return the gap of every loop, misalignments times the loop's length included.

        Parameters
        ----------
        state, u
            A `State`; or coordinates (..., nq) and speeds (..., nu) of the tree joints, leading dimensions alike.

        Returns
        -------
        ndarray
            (..., loops), m, in the order of `loop_names`.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("triangle")
        >>> for name in ("left", "right"):
        ...     mech.add_body(name, mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> hinge, tip = lw.Revolute((0, 1, 0)), lw.Frame((1, 0, 0))
        >>> mech.add_joint("A", hinge, "ground", "left", at=(0, 0, 0))
        >>> mech.add_joint("B", hinge, "left", "right", parent_frame=tip)
        >>> mech.add_joint("C", lw.Cylindrical((1, 0, 0)), "ground", "right", parent_frame=lw.Frame(), child_frame=tip)
        >>> model = lw.compile(mech)
        >>> bool(model.loop_residual(model.assemble(q={"A": 0.5})).max() < 1e-9)
        True
        """
        return self._numbers("loop_residual", self.fields["loop_residual"].span, Stage.ACCELERATIONS, state, u, None)

    def coupling_residual(
        self, state: State | ArrayLike, u: ArrayLike | None = None, *, time: ArrayLike | None = None
    ) -> FloatArray:
        """Return the sum of the terms of every coupling, less its offset and motion.

        Parameters
        ----------
        state, u
            A `State`; or coordinates (..., nq) and speeds (..., nu) of the tree joints, leading dimensions alike.
        time
            s, (...), where motions are prescribed; by default that of the state, or 0.

        Returns
        -------
        ndarray
            (..., couplings), in the order of `coupling_names`, each in the unit of its first coordinate.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("gears")
        >>> for name, joint in (("wheel", "A"), ("pinion", "B")):
        ...     mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=lw.inertia.disk(1.0, 0.1))
        ...     mech.add_joint(joint, lw.Revolute((0, 0, 1)), "ground", name, at=(0, 0, 0))
        >>> mech.add_coupling("gear", {"A": 1.0, "B": 3.0})
        >>> lw.compile(mech).coupling_residual([0.5, 0.1], [0.0, 0.0]).round(12)
        array([0.8])
        """
        n = len(self.mechanism.couplings)
        return self._each(state, u, None, (n,), lambda block: block["coupling_residual"][:n], time)

    def distance_residual(self, state: State | ArrayLike, u: ArrayLike | None = None) -> FloatArray:
        """Return the distance between the points of every distance, less its length.

        Parameters
        ----------
        state, u
            A `State`; or coordinates (..., nq) and speeds (..., nu) of the tree joints, leading dimensions alike.

        Returns
        -------
        ndarray
            (..., distances), m, in the order of `distance_names`.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("slider")
        >>> mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
        >>> mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
        >>> mech.add_distance("rod", ("ground", "block"), ((0, 0, 0), (0, 0, 0)), length=1.0)
        >>> lw.compile(mech).distance_residual([1.5], [0.0])
        array([0.5])
        """
        n = self.sizes.couplings - self.sizes.distances
        return self._each(state, u, None, (self.sizes.distances,), lambda block: block["coupling_residual"][n:])

    def reactions(
        self, state: State | ArrayLike, u: ArrayLike | None = None, *, tau: Loads = None, time: ArrayLike | None = None
    ) -> FloatArray:
        """Return the wrench of every joint on its child.

        It is in world axes about the origin of the child's joint frame, the driving load along the axis included. Where
        redundant constraints leave a loop's reactions open, those of least norm.

        Parameters
        ----------
        state, u
            A `State`; or coordinates (..., nq) and speeds (..., nu) of the tree joints, leading dimensions alike.
        tau
            Loads (..., nu), N m or N; or by name of joints and applied wrenches, as in ``{"A": 0.1}``. By default none.
        time
            s, (...), where motions are prescribed; by default that of the state, or 0.

        Returns
        -------
        ndarray
            [torque; force], (..., joints, 6), N m and N, rows in the order of `joint_names`.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> hanging = model.assemble(q={"A": 1.5707963267948966})
        >>> model.by_joint(model.reactions(hanging).round(9) + 0.0)
        {'A': array([ 0.  ,  0.  ,  0.  ,  0.  ,  0.  , 29.43])}
        """
        n = self.sizes.joints

        def wrenches(block: Block) -> FloatArray:
            torque, force = block["reaction_torque"].reshape(n, 3), block["reaction_force"].reshape(n, 3)
            return np.concatenate([torque, force], axis=1)

        return self._each(state, u, tau, (n, 6), wrenches, time)

    def mass_matrix(self, state: State | ArrayLike, u: ArrayLike | None = None) -> FloatArray:
        """Return the joint-space mass matrix of the spanning tree, loops open.

        Parameters
        ----------
        state, u
            A `State`; or coordinates (..., nq) and speeds (..., nu) of the tree joints, leading dimensions alike.

        Returns
        -------
        ndarray
            (..., nu, nu).

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.mass_matrix([0.3], [0.0]).round(12)
        array([[1.]])
        """
        n = self.numbering.nu
        return self._each(state, u, None, (n, n), lambda block: block.mass_matrix())

    def inverse_dynamics(
        self,
        state: State | ArrayLike,
        udot: ArrayLike,
        u: ArrayLike | None = None,
        *,
        applied: Mapping[str, ArrayLike] | None = None,
    ) -> JointArray:
        """Return the loads of the tree joints that make given accelerations, springs and dampers at work.

        With loops many loads do; these have the least norm, and no load acts in the cut joints. In the norm a force
        counts in N times a length of the mechanism, the distance that the first loop of a cluster spans, against
        torques in N m: the split between prismatic and revolute joints depends on this length, and their power does
        not.

        Parameters
        ----------
        state, u
            A `State`; or coordinates (..., nq) and speeds (..., nu) of the tree joints, leading dimensions alike.
        udot
            Accelerations (..., nu).
        applied
            Applied wrenches and inputs of actuators by name, as in ``{"push.F": (0, 0, -5)}``; by default none.

        Returns
        -------
        JointArray
            tau, (..., nu), N m or N.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.inverse_dynamics([0.0], [0.0], [0.0])
        JointArray([-14.715])
        """
        q, speeds = self.arguments.states(state, u)
        wanted = sized(udot, self.numbering.nu, "udot", self.numbering.u)
        inputs = self.arguments.with_motions(state, self.arguments.wrenches(applied))
        q, speeds, wanted, inputs = together({"q": q, "u": speeds, "udot": wanted, "applied": inputs})
        block = self._prepared(state)
        time = self.arguments.times(state, None)[0]
        result = np.zeros((*wanted.shape[:-1], self.numbering.nu_all))
        for i in np.ndindex(wanted.shape[:-1]):
            block.enter(q[i], speeds[i], inputs[i], time)
            result[i][: self.numbering.nu] = block.inverse_dynamics(wanted[i])
        return JointArray.split(result, self.numbering.nu)

    def jacobian(
        self, state: State | ArrayLike, u: ArrayLike | None = None, *, tau: Loads = None, time: ArrayLike | None = None
    ) -> FloatArray:
        """Return the matrix of `derivatives` by the states, exact to rounding.

        Parameters
        ----------
        state, u
            A `State`; or coordinates (..., nq) and speeds (..., nu) of the tree joints, leading dimensions alike.
        tau
            Loads (..., nu), N m or N; or by name of joints and applied wrenches, as in ``{"A": 0.1}``. By default none.
        time
            s, (...), where motions are prescribed; by default that of the state, or 0.

        Returns
        -------
        ndarray
            (..., n, n), n = nq + nu and the number of states of elements.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.jacobian([1.5707963267948966], [0.0]).round(9) + 0.0
        array([[ 0. , 1. ],
               [-14.715, 0. ]])
        """
        n = self.numbering.n_states
        states = slice(self.fields["q"].first, self.fields["q"].first + n)
        return self._numbers("jacobian", self._rates, Stage.DERIVATIVES, state, u, tau, time, by=states)

    def block_jacobian(self, block: Block) -> FloatArray:
        """Return the same of a block at its present states."""
        n = self.numbering.n_states
        first, of = self.fields["q"].first, self.fields["qdot"].first
        return block.jacobian(offsets_of(slice(of, of + n)), offsets_of(slice(first, first + n)))

    def value(
        self,
        name: str,
        state: State | ArrayLike,
        u: ArrayLike | None = None,
        *,
        tau: Loads = None,
        time: ArrayLike | None = None,
    ) -> float | FloatArray:
        """Return a variable by name at a state.

        Parameters
        ----------
        name
            Of the variable, such as "rod.r" or "energy.kinetic".
        state, u
            A `State`; or coordinates (..., nq) and speeds (..., nu) of the tree joints, leading dimensions alike.
        tau
            Loads (..., nu), N m or N; or by name of joints and applied wrenches, as in ``{"A": 0.1}``. By default none.
        time
            s, (...), where motions are prescribed; by default that of the state, or 0.

        Returns
        -------
        float or ndarray
            A number (...), or (..., n) for a quantity of several.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.value("energy.kinetic", [0.0], [2.0])
        2.0
        """
        column = self.column(name)
        span = slice(column.first, column.first + column.count)
        values = self._numbers(name, span, Stage.OUTPUTS, state, u, tau, time)
        if column.vector:
            return values
        return float(values[0]) if values.ndim == 1 else values[..., 0]

    # ---- inside ----

    @cached_property
    def _accelerations(self) -> slice:
        """Where those of all joints stand in the block."""
        return self.fields["acceleration"].span

    @cached_property
    def _rates(self) -> slice:
        """Where the derivatives of all states stand."""
        first = self.fields["qdot"].first
        return slice(first, first + self.numbering.n_states)

    def _each(
        self,
        state: State | ArrayLike,
        u: ArrayLike | None,
        tau: Loads,
        shape: tuple[int, ...],
        read: Callable[[Block], ArrayLike],
        time: ArrayLike | None = None,
    ) -> FloatArray:
        """Return what `read` finds in the block, numbers of some shape, at every state of a batch."""
        q, speeds, inputs, times = self._entries(state, u, tau, time)
        block = self._prepared(state)
        result = np.empty((*q.shape[:-1], *shape))
        for i in np.ndindex(q.shape[:-1]):
            block.enter(q[i], speeds[i], inputs[i], times[i][0])
            result[i] = read(block)
        return result

    def _numbers(
        self,
        name: str,
        span: slice,
        stage: Stage,
        state: State | ArrayLike,
        u: ArrayLike | None,
        tau: Loads,
        time: ArrayLike | None = None,
        by: slice = slice(0),
    ) -> FloatArray:
        """Return numbers of the block (..., n), which a stage computes, at every state of a batch, by tapes.

        With `by`, their derivatives (..., n, m) by the states or inputs there.
        """
        if tau is None and time is None and not by.stop and isinstance(state, np.ndarray) and isinstance(u, np.ndarray):
            found = self._numbers_at_rest(span, stage, state, u)
            if found is not None:
                return found
        entries = self._entries(state, u, tau, time)
        block = self._prepared(state)
        if entries[0].ndim == 1 and not by.stop:
            q, speeds, inputs, times = entries
            block.enter(q, speeds, inputs, times[0])
            block.evaluate(stage)
            return block.reals[span].copy()
        leading, shape = entries[0].shape[:-1], (span.stop - span.start, *([by.stop - by.start] if by.stop else []))
        given = np.concatenate([*entries, entries[-1]], axis=-1)
        values = self._tapes_of(name, span, stage, by).evaluate(block, given.reshape(-1, given.shape[-1]))
        return values.reshape(*leading, *shape)

    def _numbers_at_rest(self, span: slice, stage: Stage, q: FloatArray, u: FloatArray) -> FloatArray | None:
        """Return numbers of the block at one state without loads, in a third of the time that checks by name take.

        None: the arrays are not such of finite doubles, the stage cannot be computed, or there are transitions; then
        `_numbers` gives the numbers or the error.
        """
        own = self._own
        block = own.block
        if not own.at_rest or block is None:
            if self.sizes.transitions:
                return None
            block, arguments = self._prepared(None), self.arguments
            speeds = np.concatenate([np.zeros(self.sizes.nu), arguments.elements(None)])
            block.enter(np.zeros(self.sizes.nq), speeds, arguments.no_inputs)
            own.at_rest = True
        if block.evaluated_at(q, u, stage):
            return block.reals[span].copy()
        own.at_rest = False
        return None

    def _tapes_of(self, name: str, span: slice, stage: Stage, by: slice) -> Tapes:
        """Return what computes numbers of the block from those that `_entries` gives, and the time of motions."""
        found = self._own_tapes.get(name)
        if found is None:
            found = self._own_tapes[name] = Tapes(self.entry_offsets, offsets_of(span), stage, offsets_of(by))
        return found

    @property
    def entry_offsets(self) -> OffsetArray:
        """Where the numbers stand that `_entries` gives, and the time of motions."""
        fields = [self.fields[one].span for one in ("q", "u", "element_state", "time", "motion_time")]
        return np.concatenate([offsets_of(one) for one in (*fields[:3], self._native.inputs, *fields[3:])])

    @property
    def _own_tapes(self) -> dict[str, Tapes]:
        """Of this thread, by what they compute."""
        if not hasattr(self._own, "tapes"):
            self._own.tapes = {}
        found: dict[str, Tapes] = self._own.tapes
        return found

    @property
    def tapes(self) -> dict[str, Tapes]:
        """What computes batches of states in this thread, and runs, by what it computes: see `Tapes`.

        Functions that take a batch of states first use the kernels for each of them. From a thousand states on what the
        kernels do at one of them is recorded; its tape computes 64 states at once, as long as its guards hold.

        Examples
        --------
        >>> import linkwork as lw
        >>> import numpy as np
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> q = np.linspace(0.0, 1.0, 5000)[:, None]
        >>> accelerations = model.accelerations(q, 0 * q)
        >>> used = model.tapes["acceleration"]
        >>> used.by_kernels, [tape.states for tape in used.recorded]
        (1000, [4000])
        """
        runs = self.rates_of_runs.tapes
        return self._own_tapes | ({"runs": runs} if runs.recorded else {})

    def _entries(
        self, state: State | ArrayLike, u: ArrayLike | None, tau: Loads, time: ArrayLike | None
    ) -> tuple[FloatArray, ...]:
        """Return coordinates, speeds with states of elements, inputs and times, leading dimensions alike."""
        q, speeds = self.arguments.states(state, u)
        inputs = self.arguments.with_motions(state, self.arguments.loads(tau))
        times = self.arguments.times(state, time)
        if q.ndim == inputs.ndim == times.ndim == 1:
            return q, speeds, inputs, times
        return tuple(together({"q": q, "u": speeds, "tau": inputs, "time": times}))

    def _prepared(self, state: State | ArrayLike | None) -> Block:
        """Return the block with the discrete state and the revolutions of a state; None, or arrays: as at first."""
        block = self._block
        if self.sizes.transitions:
            block.put_discrete_state(state.discrete_state if isinstance(state, State) else self.initial_discrete_state)
        if self.sizes.nq_cut:
            block.count_revolutions(0.0 if state is None else self.arguments.turns(state))
        return block

    def __repr__(self) -> str:
        s = self.sizes
        counts = f"{s.bodies} bodies, {s.joints} joints, {s.loops} loops, {s.states} states"
        return f"{type(self).__name__}({self.mechanism.name!r}: {counts})"


@dataclass(frozen=True, eq=False, repr=False)
class State(KeptState):  # noqa: D101
    __doc__ = KeptState.__doc__

    model: ModelBase


def _recompiled(
    kind: type[ModelBase], mech: Mechanism, method: MethodRequest, reference: str, parameters: Mapping[str, ArrayLike]
) -> ModelBase:
    return kind(compile_mechanism(mech, method, reference)).with_parameters(parameters)
