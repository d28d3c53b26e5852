"""Many states of one model in arrays: their dynamics, and steps of fixed size from all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray, names_of, positive, real_array, whole_number
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import suggest
from linkwork.core.native import ASSEMBLY_TOLERANCE, Block, OffsetArray, Stage, offsets_of
from linkwork.core.tapes import StepMethod, Stopped, Tapes
from linkwork.errors import LinkworkError, MechanismError, SolverError, SolverValueError, UnknownNameError
from linkwork.model.arguments import Loads
from linkwork.model.base import ModelBase, State
from linkwork.model.rollout import Rollout
from linkwork.model.row_assembly import RowAssembly, closed_derivatives
from linkwork.model.row_workers import NO_OFFSETS, RowWorkers, Worker
from linkwork.model.run_of_state import run_of_state
from linkwork.model.state_values import JointArray

_START_VALUES = ("q_start", "u_start", "state_start")
_STEPS_AT_ONCE = 200  # between which an interruption is heard
_SPEEDS = (0.0, 0.2, 0.2, 2.0)  # at which Jacobians are recorded where that takes long, rad/s or m/s
_METHODS = {"rk4": StepMethod.RK4, "semi": StepMethod.SEMI, "rosenbrock": StepMethod.ROSENBROCK}


class _Columns:
    """Some columns of the given numbers as an array, into which assigned ones are written."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, batch: Batch | None, owner: type) -> FloatArray:
        return self if batch is None else batch.columns[self._name]  # type: ignore[return-value]

    def __set__(self, batch: Batch, value: ArrayLike) -> None:
        into = batch.columns[self._name]
        try:
            into[...] = value
        except (TypeError, ValueError) as error:
            raise MechanismError(f"{self._name} takes numbers {into.shape}, or a row of them: {error}") from None


@checks_keywords
class Batch:
    """Many states of one model, a row each, in arrays that may be written to; made by `Model.batch`.

    Numbers of a row depend on that row alone. Where it has none, such as accelerations in a singular pose, they are NaN
    and `errors` has the reason.

    Attributes
    ----------
    model
        Whose states they are.
    q, u
        Coordinates (size, nq) and speeds (size, nu) of the tree joints.
    q_cut
        Coordinates (size, nq_cut) of the cut joints, next to which theirs are taken: `q` has them but for revolutions.
    elements
        States of elements (size, n).
    time
        s, (size,).
    tau
        Loads of all joints, applied wrenches and inputs of actuators, (size, n).
    inputs
        These, and inputs of motions and of transitions behind them, (size, n).
    columns
        These arrays by name, and "states", [q; u; elements].
    parameters
        Values by name that differ from row to row, given by `put`.
    errors
        By row, why the last function has no numbers for it.
    """

    q, u, q_cut, elements, time, tau, inputs = (_Columns() for _ in range(7))

    def __init__(self, model: ModelBase, size: int, state: State | None, threads: int) -> None:
        size = whole_number(size, "size", 1)
        state = model.assemble() if state is None else state
        q, speeds = model.arguments.states(state, None)
        inputs, turns = model.arguments.with_motions(state, model.arguments.no_loads), model.arguments.turns(state)
        row = np.concatenate([q, speeds, inputs, [state.time, state.time], turns])
        self.model = model
        self.parameters: dict[str, FloatArray] = {}
        self.errors: dict[int, LinkworkError] = {}
        self._offsets = np.concatenate([model.entry_offsets, offsets_of(model.fields["cut_reference"].span)])
        self._given = np.tile(row, (size, 1))
        nq, nu, n = model.sizes.nq, model.sizes.nu, q.size + speeds.size
        loads, last = n + model.numbering.n_loads, n + inputs.size
        self.columns = {
            "q": self._given[:, :nq],
            "u": self._given[:, nq : nq + nu],
            "elements": self._given[:, nq + nu : n],
            "states": self._given[:, :n],
            "tau": self._given[:, n:loads],
            "inputs": self._given[:, n:last],
            "time": self._given[:, last],
            "motion_time": self._given[:, last + 1],
            "q_cut": self._given[:, last + 2 :],
        }
        self._state, self._begin = state, _samples(row, slice(nq, nq + nu), n)
        self._workers = RowWorkers(model, state, threads)
        self._discrete = np.tile(state.discrete_state, (size, 1)) if model.sizes.transitions else None

    @property
    def tapes(self) -> tuple[Tapes, ...]:
        """What computes the rows, of each thread: see `Model.tapes`."""
        return self._workers.tapes

    def __len__(self) -> int:
        return len(self._given)

    def __repr__(self) -> str:
        return f"Batch({self.model.mechanism.name!r}: {len(self)} states)"

    def put(self, given: Mapping[str, ArrayLike]) -> None:
        """Write states, inputs and parameters by name.

        Where parameters change, coordinates and speeds stay as they are. Geometry may be among them; `assemble` then
        closes the loops of each row.

        Parameters
        ----------
        given
            By name, as of `Model.value`: (size,), or (size, n) for a quantity of several.

        Raises
        ------
        MechanismError
            On a name of none of these, another size or a number that is not finite; nothing is changed then.
        """
        found = {name: self._rows_of(name, rows) for name, rows in given.items()}
        for name, rows in found.items():
            column = self._column(name)
            if column is None:
                self.parameters[name] = rows
            else:
                self._given[:, column] = rows

    def state(self, row: int) -> State:
        """Return the state of a row, of the model with its parameters, with what transitions have changed.

        Parameters
        ----------
        row
            Its number.
        """
        row = whole_number(row, "row")
        if row >= len(self):
            raise MechanismError(f"there is no row {row}: the batch has {len(self)}, from 0 on")
        model = self.model
        if self.parameters:
            own = {name: values[row] for name, values in self.parameters.items()}
            model = model.with_parameters({k: v if model.column(k).vector else v[0] for k, v in own.items()})
        block = model.block()
        if self._discrete is not None:
            block.put_discrete_state(self._discrete[row])
        speeds = np.concatenate([self.u[row], self.elements[row]])
        block.enter(self.q[row], speeds, self.inputs[row], float(self.time[row]))
        block.count_revolutions(self.q_cut[row])
        return model.state_of(block)

    def _column(self, name: str) -> slice | None:
        """Return where a state or an input stands among the given numbers, None for a parameter."""
        column, fields = self.model.column(name), self.model.fields
        if any(s.start <= column.first < s.stop for s in (fields[one].span for one in _START_VALUES)):
            raise MechanismError(f"{name!r} is a start value: give the state, such as 'A.q' in place of 'A.q_start'")
        if column.first < fields["time"].first:
            return None
        for place in np.flatnonzero(
            self._offsets[: self.columns["states"].shape[1] + self.inputs.shape[1]] == column.first
        ):
            return slice(int(place), int(place) + column.count)
        raise MechanismError(f"{name!r} is no state, input or parameter")

    def _rows_of(self, name: str, values: ArrayLike) -> FloatArray:
        self._column(name)
        shape = len(self), self.model.column(name).count
        try:
            array = real_array(values)
        except (TypeError, ValueError) as error:
            raise MechanismError(f"{name!r} must be numbers {shape}: {error}") from None
        if array.shape != shape and not (shape[1] == 1 and array.shape == shape[:1]):
            raise MechanismError(f"{name!r} has shape {array.shape}; it must be {shape}")
        array = array.reshape(shape).copy()
        for row in np.flatnonzero(~np.isfinite(array).all(axis=1))[:1]:
            raise MechanismError(f"{name!r} is not finite in row {row}")
        return array

    # ---- dynamics ----

    def accelerations(self) -> JointArray:
        """Return the accelerations of the tree joints (size, nu); those of the cut joints are its attribute `cut`."""
        span = self.model.fields["acceleration"].span
        return JointArray.split(self._numbers(offsets_of(span), Stage.ACCELERATIONS), self.model.sizes.nu)

    def derivatives(self) -> FloatArray:
        """Return the derivatives of all states (size, n), [qdot; udot; rates of the states of elements]."""
        return self._numbers(self._rates, Stage.DERIVATIVES)

    def jacobian(self) -> FloatArray:
        """Return the matrices of `derivatives` by the states (size, n, n)."""
        n, first = self.model.numbering.n_states, self.model.fields["q"].first
        states = offsets_of(slice(first, first + n))
        return self._numbers(self._rates, Stage.DERIVATIVES, states).reshape(len(self), n, n)

    def value(self, name: str) -> FloatArray:
        """Return a variable, (size,), or (size, n) for a quantity of several.

        Parameters
        ----------
        name
            Of the variable, such as "rod.r" or "energy.kinetic".
        """
        values = self._numbers(self._offsets_of(name), Stage.OUTPUTS)
        return values if self.model.column(name).vector else values[:, 0]

    def gradient(self, name: str, by: Iterable[str], closed: Iterable[str] | None = None) -> dict[str, FloatArray]:
        """Return the derivatives of a variable by states, inputs and parameters.

        All others of these stay as they are, coordinates too: loops are not closed again where their geometry changes,
        unless `closed` is given. Then they are derivatives of the value that the variable has behind `assemble`.

        Parameters
        ----------
        name
            Of the variable, which is one number.
        by
            Names of states, inputs and parameters; with `closed`, of states those of these joints and of elements.
        closed
            Tree joints that determine all others, each with all of its speeds, as many as there are degrees of freedom.
            They stay as they are, and the coordinates and speeds of all others follow, so that the loops are closed.

        Returns
        -------
        dict
            By name, (size,), or (size, n) for a quantity of several.

        Raises
        ------
        MechanismError
            On another name, or if the joints have more speeds or fewer. A row whose pose is singular, or in which the
            joints do not determine the others, is NaN, and `errors` has the reason.

        Examples
        --------
        The position of the slider of a slider-crank by the angle and by the length of the crank:

        >>> import linkwork as lw
        >>> mech = lw.Mechanism("slider-crank")
        >>> for name, length in (("crank", 0.1), ("rod", 0.3), ("slider", 0.1)):
        ...     mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=lw.inertia.rod(1.0, length))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "crank", at=(0, 0, 0))
        >>> mech.add_joint("B", lw.Revolute((0, 1, 0)), "crank", "rod", parent_frame=lw.Frame((0.1, 0, 0)))
        >>> mech.add_joint("C", lw.Revolute((0, 1, 0)), "rod", "slider", parent_frame=lw.Frame((0.3, 0, 0)))
        >>> mech.add_joint("D", lw.Prismatic((1, 0, 0)), "ground", "slider", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> batch = model.batch(1, model.assemble(q={"A": 0.5}))
        >>> found = batch.gradient("slider.r[1]", ["A.q", "B.parent_frame.position[1]"], closed=["A"])
        >>> {name: values.round(4) for name, values in found.items()}
        {'A.q': array([-0.0621]), 'B.parent_frame.position[1]': array([0.8])}
        """
        column = self.model.column(name)
        if column.vector:
            raise MechanismError(f"{name!r} has {column.count} numbers; give one of them, such as '{name}[1]'")
        chosen = names_of(by, "by")
        if not chosen:
            raise MechanismError("by: name at least one state, input or parameter")
        spans = {one: self._offsets_of(one) for one in chosen}
        unknown = self._offsets_of(name)
        if closed is not None:
            found, self.errors = closed_derivatives(self, unknown, chosen, names_of(closed, "closed"))
            return self._by_name(chosen, found[:, 0])
        for one, offsets in spans.items():
            if self._column(one) is None and one not in self.parameters:
                self.put({one: np.tile(self.model.block().reals[offsets], (len(self), 1))})
        return self._by_name(
            chosen, self._numbers(unknown, Stage.OUTPUTS, np.concatenate([NO_OFFSETS, *spans.values()]))
        )

    def _by_name(self, names: Iterable[str], derivatives: FloatArray) -> dict[str, FloatArray]:
        """Return derivatives (size, n) by the numbers of these quantities, one behind the other, as those by each."""
        columns, first, found = {one: self.model.column(one) for one in names}, 0, dict[str, FloatArray]()
        for one, column in columns.items():
            values = derivatives[:, first : first + column.count]
            first += column.count
            found[one] = values if column.vector else values[:, 0]
        return found

    # ---- motion ----

    def assemble(self, keep: Iterable[str] = (), tolerance: float = ASSEMBLY_TOLERANCE) -> NDArray[np.bool_]:
        """Close the loops of each row, with its parameters.

        Coordinates and speeds are guesses, of which those of the first joints stay as they are the longest.

        Parameters
        ----------
        keep
            Joints whose coordinates and speeds stay as they are. A row that cannot keep them is not closed.
        tolerance
            As of `Model.assemble`.

        Returns
        -------
        ndarray
            Which rows are closed (size,); the others stay as they are, and `errors` has the reasons.
        """
        positive(tolerance, "tolerance", ": the gap of a loop that is accepted, m")
        rows = RowAssembly(self, names_of(keep, "keep"), self.model.numbering.q, "keep")
        self.errors = {}
        for row in range(len(self)):
            try:
                block = rows.close(row, tolerance)
            except LinkworkError as error:
                self.errors[row] = error
            else:
                self.q[row], self.u[row], self.q_cut[row] = block["q"], block["u"], block["q_cut"]
        return np.array([row not in self.errors for row in range(len(self))])

    @checks_keywords
    def rollout(
        self,
        step: float,
        steps: int,
        tau: Loads | Callable[[float, Batch], Loads] = None,
        *,
        every: int = 1,
        method: str = "rk4",
    ) -> FloatArray:
        """Take steps of fixed size from all rows.

        Their errors are not controlled; `Model.loop_residual` shows the gaps of loops.

        Parameters
        ----------
        step
            s.
        steps
            How many.
        tau
            Loads that hold throughout, as of `Model.accelerations` with rows; or a function of the time and of the
            batch that gives them for each step. By default those of the batch.
        every
            States are kept after so many steps each.
        method
            "rk4", the classical method of Runge and Kutta, of order 4. "semi", Euler's semi-implicit method, of order
            1: one evaluation of the accelerations for a step, speeds before coordinates, as MuJoCo does by default.
            "rosenbrock", Rodas5P, linearly implicit, of order 5: for stiff springs, dampers and bushings; a step takes
            eight evaluations, the exact Jacobian and its decomposition.

        Returns
        -------
        ndarray
            States (size, 1 + steps // every, n), from those at the start on. The batch is left at the last ones. Rows
            that came to an error are NaN from there on.

        Raises
        ------
        MechanismError
            If the model has transitions, which steps of fixed size do not carry out, or there is no such method.
        """
        steps, every = self._check_steps(step, steps, every)
        if method not in _METHODS:
            raise MechanismError(f"method: there is no {method!r}: {suggest(str(method), _METHODS)}")
        begin, states, failed = self.time.copy(), self.columns["states"], dict[int, LinkworkError]()
        kept, done = [states.copy()], 0
        most = _STEPS_AT_ONCE // 20 if method == "rosenbrock" else _STEPS_AT_ONCE
        while done < steps:
            if tau is not None:
                self.tau = self.model.arguments.loads(tau(float(self.time[0]), self) if callable(tau) else tau)
            alone = callable(tau) or not self._cut_joints_turn
            last = self._end_of_steps(done, steps, every, alone, most)
            self._move(step, last - done, failed, _METHODS[method])
            done = last
            self.time = begin + done * step
            if not self._cut_joints_turn or done == steps:
                self._locate_cuts(failed)
            if done % every == 0:
                kept.append(states.copy())
        self.errors = failed
        return np.stack(kept, axis=1)

    @checks_keywords
    def simulate(
        self,
        t_end: float,
        *,
        t_eval: ArrayLike | None = None,
        solver: str = "auto",
        rtol: float = 1e-8,
        atol: float | None = None,
        max_step: float | None = None,
    ) -> FloatArray:
        """Simulate each row from its time on, with error control; events are located and transitions carried out.

        A row has the numbers of `simulate` from its `state` with its inputs, which are constant, to the bit. Rows are
        shared by the threads.

        Parameters
        ----------
        t_end
            s.
        t_eval
            Times of the states that are returned, (nt,), s; by default the end alone.
        solver, rtol, atol, max_step
            As of `simulate`.

        Returns
        -------
        ndarray
            States (size, nt, n). The batch is left at the end. Rows that came to an error are NaN from there on, and
            `errors` has the reasons.

        Raises
        ------
        MechanismError
            If `t_end` is no number, or there is no such solver. A `SolverValueError` or `SolverTypeError` on other
            arguments, as of `simulate`.
        """
        if isinstance(t_end, bool) or not isinstance(t_end, int | float | np.number):
            raise MechanismError(f"t_end must be a number, s, not {t_end!r}")
        times = np.array([t_end] if t_eval is None else t_eval, dtype=np.float64)
        options = {"solver": solver, "rtol": rtol, "atol": atol, "max_step": max_step, "t_eval": times}
        found = np.full((len(self), times.size, self.columns["states"].shape[1]), np.nan)

        def run(_: Worker, rows: slice) -> dict[int, LinkworkError]:
            errors = dict[int, LinkworkError]()
            for row in range(rows.start, rows.stop):
                try:
                    y, end = run_of_state(self.state(row), t_end, self._inputs_of(row), options)
                    found[row] = y
                    self._leave_at(row, end)
                except (SolverValueError, UnknownNameError):  # of an argument, which is the same for all rows
                    raise
                except LinkworkError as error:
                    partial = getattr(getattr(error, "result", None), "y", found[row, :0])
                    found[row, : len(partial)] = partial
                    self.columns["states"][row] = np.nan
                    errors[row] = error
            return errors

        self.errors = self._workers.run(run, len(self), 1)
        return found

    def _inputs_of(self, row: int) -> dict[str, ArrayLike]:
        """Return the inputs of a row that are not at rest, by name."""
        n, values, rest = self.model.numbering, self.inputs[row], self.model.arguments.no_inputs
        spans = {name: span for name, span in n.inputs.items() if "[" not in name}
        found: dict[str, ArrayLike] = {}
        for name, span in spans.items():
            if np.array_equal(values[span], rest[span]):
                continue
            found[name] = values[span].copy() if span.stop - span.start > 1 else float(values[span.start])
            if name in n.commands:
                found[name] = bool(values[span.start])
            if name in n.motions:
                value, *rates = values[span].tolist()
                if any(rates):
                    raise MechanismError(
                        f"row {row}: the motion of {name!r} has rates; inputs are constant in a run: set these to zero"
                    )
                found[name] = value
        return found

    def _leave_at(self, row: int, state: State) -> None:
        self.q[row], self.u[row], self.elements[row] = state.q, state.u, state.elements
        self.q_cut[row], self.time[row] = self.model.arguments.turns(state), state.time
        if self._discrete is not None:
            self._discrete[row] = state.discrete_state

    @checks_keywords
    def differentiable_rollout(self, step: float, steps: int, tau: Loads = None, *, every: int = 1) -> Rollout:
        """Take the steps of `rollout` by "rk4", and return their states with all that their gradients need.

        Parameters
        ----------
        step
            s.
        steps
            How many.
        tau
            Loads that hold throughout, as of `rollout`; or those of each step, by name or (size, steps, n), where size
            may be 1 and n that of `tau` of the batch. By default those of the batch.
        every
            States are kept after so many steps each.

        Returns
        -------
        Rollout
            Its `states` are those of `rollout`, and its `gradient` is that of all steps. The batch is left at the last
            states, with the same errors.

        Raises
        ------
        MechanismError
            If the model has transitions, and on loads by a function, whose derivatives are not known.

        Examples
        --------
        How far a pendulum falls in 0.1 s, by its start angle and by its mass:

        >>> import linkwork as lw
        >>> import numpy as np
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> batch = lw.compile(mech).batch(1)
        >>> run = batch.differentiable_rollout(step=1e-2, steps=10, every=10)
        >>> weights = np.zeros_like(run.states)
        >>> weights[:, -1, 0] = 1.0
        >>> found = run.gradient(weights, by=["rod.mass"])
        >>> run.states[0, -1].round(4), found.start.round(4), found.parameters["rod.mass"].round(4)
        (array([0.0736, 1.4707]), array([[0.9991, 0.0999]]), array([0.0061]))
        """
        steps, every = self._check_steps(step, steps, every)
        twin = self._sibling(len(self))
        twin._given[:] = self._given
        twin.parameters = {name: values.copy() for name, values in self.parameters.items()}
        run = Rollout(twin, step, steps, every, tau)
        self._given[:], self.errors = twin._given, dict(run.errors)
        return run

    def _check_steps(self, step: float, steps: int, every: int) -> tuple[int, int]:
        positive(step, "step", ": s")
        if self.model.sizes.transitions:
            raise MechanismError("steps of fixed size carry out no transitions: run them by `simulate`")
        return whole_number(steps, "steps", 1), whole_number(every, "every", 1)

    @staticmethod
    def _end_of_steps(done: int, steps: int, every: int, alone: bool, most: int = _STEPS_AT_ONCE) -> int:
        """Return after which step the time is set again, when so many are done; up to there they are taken at once."""
        if alone:
            return done + 1
        within = done % every
        return min(done + min(every - within, most - within % most), steps)

    def _sibling(self, size: int) -> Batch:
        """Return another batch at the same state, computed by the same threads, which serve one of them at a time."""
        made = Batch(self.model, size, self._state, 1)
        made._workers, made._discrete = self._workers, self._discrete
        return made

    @cached_property
    def _cut_joints_turn(self) -> bool:
        """Whether all cut joints have one speed, whose integral selects their revolution."""
        q, u = self.model.numbering.q, self.model.numbering.u
        cut = [name for name, span in q.items() if span.stop > self.model.sizes.nq]
        return all(q[name].stop - q[name].start == u[name].stop - u[name].start == 1 for name in cut)

    def _locate_cuts(self, failed: dict[int, LinkworkError]) -> None:
        if self.model.sizes.nq_cut:
            self.q_cut = self._numbers(offsets_of(self.model.fields["q_cut"].span), Stage.OUTPUTS, without=failed)
            failed |= self.errors

    def _move(
        self,
        step: float,
        count: int,
        failed: dict[int, LinkworkError],
        method: StepMethod = StepMethod.RK4,
        stages: FloatArray | None = None,
    ) -> None:
        """Take steps from the rows that have not failed, and add those that now do.

        Given numbers of all evaluations are written into `stages` (rows, count, 4, n), if there are any.
        """
        fields, n = self.model.fields, self.columns["states"].shape[1]
        computed, moves = self._rates, np.arange(n, dtype=np.uint32)
        columns = self._given.shape[1]
        if self._cut_joints_turn:
            computed = np.concatenate([computed, offsets_of(fields["u_cut"].span)])
            moves = np.concatenate([moves, np.arange(columns - self.q_cut.shape[1], columns, dtype=np.uint32)])
        times = np.array([columns - self.q_cut.shape[1] - 2, columns - self.q_cut.shape[1] - 1], np.uint32)
        left, given = self._rows(failed)
        offsets = self._given_offsets

        def move(worker: Worker, rows: slice) -> dict[int, LinkworkError]:
            tapes = worker.tapes(offsets, computed, Stage.DERIVATIVES)
            second = self._second(worker, method, offsets, computed, times)
            into = None if stages is None else stages[rows]
            stopped = tapes.move(worker.block, given[rows], moves, times, step, count, method, second, into)
            return {
                rows.start + row: _why_stopped(stopped[row], worker.block, tapes, second, given[rows.start + row], step)
                for row in np.flatnonzero(stopped).tolist()
            }

        errors = self._workers.run(move, len(given))
        if left is not None or self.parameters:
            self._given[slice(None) if left is None else left] = given[:, :columns]
        for row, error in errors.items():
            failed[row if left is None else int(left[row])] = error
        self.columns["states"][list(failed)] = np.nan

    def _second(
        self, worker: Worker, method: StepMethod, offsets: OffsetArray, computed: OffsetArray, times: OffsetArray
    ) -> Tapes | None:
        """Return the tapes that a method needs besides those of the rates, as of `Tapes.move`."""
        n = self.columns["states"].shape[1]
        if method == StepMethod.SEMI:
            return worker.tapes(offsets, np.delete(computed, np.s_[self.q.shape[1] : n]), Stage.DERIVATIVES)
        if method == StepMethod.RK4:
            return None
        by, begin = np.concatenate([offsets[:n], offsets[times]]), self._begin
        if self.parameters:
            own = self._workers.new_block().reals[offsets[begin.shape[1] :]]
            begin = np.concatenate([begin, np.tile(own, (len(begin), 1))], axis=1)
        return worker.tapes(offsets, computed, Stage.DERIVATIVES, by, chosen_at=begin)

    # ---- inside ----

    def _offsets_of(self, name: str) -> OffsetArray:
        column = self.model.column(name)
        return offsets_of(slice(column.first, column.first + column.count))

    @property
    def _rates(self) -> OffsetArray:
        first = self.model.fields["qdot"].first
        return offsets_of(slice(first, first + self.model.numbering.n_states))

    def _numbers(
        self,
        computed: OffsetArray,
        stage: Stage,
        by: OffsetArray = NO_OFFSETS,
        without: Collection[int] = (),
    ) -> FloatArray:
        """Return numbers of the block of every row; NaN where there are none, and the reasons in `errors`.

        With `by`, their derivatives by the numbers there. Rows `without` are left out, and NaN.
        """
        left, given = self._rows(without)
        discrete = self._discrete if left is None or self._discrete is None else self._discrete[left]
        numbers, errors = self._workers.numbers(given, self._given_offsets, computed, stage, by, discrete)
        self.errors = errors if left is None else {int(left[row]): error for row, error in errors.items()}
        if left is None:
            return numbers
        whole = np.full((len(self), numbers.shape[1]), np.nan)
        whole[left] = numbers
        return whole

    def _rows(self, without: Collection[int]) -> tuple[NDArray[np.intp] | None, FloatArray]:
        """Return which rows are left, None: all, and the numbers given for these; without parameters no copy."""
        self.columns["motion_time"][:] = self.time
        given = np.concatenate([self._given, *self.parameters.values()], axis=1) if self.parameters else self._given
        if not without:
            return None, given
        left = np.delete(np.arange(len(self)), list(without))
        return left, given[left]

    @property
    def _given_offsets(self) -> OffsetArray:
        return np.concatenate([self._offsets, *map(self._offsets_of, self.parameters)])


def _samples(row: FloatArray, speeds: slice, n: int) -> FloatArray:
    """Return given numbers near some others, whose states (n,) are no zeros, at rest and at several speeds."""
    found = np.tile(row, (len(_SPEEDS), 1))
    for k, size in enumerate(_SPEEDS):
        parts = np.arange(1.0, n + 1.0) * (0.618 + 0.1 * k) % 1.0
        found[k, :n] += 1e-9 * (1.0 + parts)
        found[k, speeds] += size * (parts[speeds] - 0.5)
    return found


def _why_stopped(
    reason: int, block: Block, tapes: Tapes, second: Tapes | None, given: FloatArray, step: float
) -> LinkworkError:
    """Return the error of a row that has stopped, from the numbers with which it was left."""
    errors = dict[int, LinkworkError]()
    if reason == Stopped.SINGULAR_STEP:
        return SolverError(f"the matrix of a step of {step:g} s is singular: take another step or method")
    asked = tapes if second is None or reason == Stopped.NO_RATES else second
    asked.evaluate(block, given[None], errors)
    return errors[0]
