"""Many states of one model in arrays: their dynamics, and steps of fixed size from all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray, positive
from linkwork._util.keywords import checks_keywords
from linkwork.core.native import ASSEMBLY_TOLERANCE, Block, OffsetArray, Stage, offsets_of
from linkwork.core.tapes import Tapes
from linkwork.errors import LinkworkError, MechanismError
from linkwork.model.arguments import Loads
from linkwork.model.state_values import JointArray

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.model.state import State

_NO_OFFSETS: OffsetArray = np.empty(0, np.uint32)
_ROWS_FOR_A_THREAD = 256  # fewer are computed before a thread has begun


@dataclass
class _Worker:
    """The memory of one thread: a block, and tapes by what they compute and the parameters that are given."""

    block: Block
    tapes: dict[tuple[str, ...], Tapes] = field(default_factory=dict)


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
    elements
        States of elements (size, n).
    time
        s, (size,).
    tau
        Loads of all joints, applied wrenches and inputs of actuators, (size, n).
    parameters
        Values by name that differ from row to row, given by `put`.
    errors
        By row, why the last function has no numbers for it.
    """

    def __init__(self, model: Model, size: int, state: State, threads: int) -> None:
        q, speeds = model.arguments.states(state, None)
        nu = model.sizes.nu
        self.model = model
        self.q = np.tile(np.asarray(q), (size, 1))
        self.u, self.elements = np.tile(speeds[:nu], (size, 1)), np.tile(speeds[nu:], (size, 1))
        self.time = np.full(size, state.time)
        self.tau = np.zeros((size, model.numbering.n_loads))
        self.parameters: dict[str, FloatArray] = {}
        self.errors: dict[int, LinkworkError] = {}
        # Inputs behind the loads are those of the state: motions, and inputs of transitions.
        self._inputs = model.arguments.with_motions(state, model.arguments.no_loads)[model.numbering.n_loads :]
        self._state = state
        self._threads = threads or os.cpu_count() or 1
        self._workers: list[_Worker] = []

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        return f"Batch({self.model.mechanism.name!r}: {len(self)} states)"

    def put(self, parameters: Mapping[str, ArrayLike]) -> None:
        """Give parameters a value of their own in each row; coordinates and speeds stay as they are.

        Parameters
        ----------
        parameters
            Values by name as of `Model.with_parameters`: (size,), or (size, n) for a parameter of several. Geometry may
            be among them; `assemble` then closes the loops of each row.

        Raises
        ------
        MechanismError
            On an unknown name, another size or a number that is not finite; nothing is changed then.
        """
        self.parameters |= {name: self._rows_of(name, values) for name, values in parameters.items()}

    def _rows_of(self, name: str, values: ArrayLike) -> FloatArray:
        count = self.model.parameter_offsets(name).size
        array = np.asarray(values, dtype=np.float64)
        if array.shape not in {(len(self), count), *({(len(self),)} if count == 1 else ())}:
            raise MechanismError(f"{name!r} has shape {array.shape}; it must be ({len(self)}, {count})")
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0])
            raise MechanismError(f"{name!r} is not finite in row {row}")
        return array.reshape(len(self), count).copy()

    # ---- dynamics ----

    def accelerations(self) -> JointArray:
        """Return the accelerations of the tree joints (size, nu); those of the cut joints are its attribute `cut`."""
        values = self._numbers("accelerations", self.model.fields["acceleration"].span, Stage.ACCELERATIONS)
        return JointArray.split(values, self.model.sizes.nu)

    def derivatives(self) -> FloatArray:
        """Return the derivatives of all states (size, n), [qdot; udot; rates of the states of elements]."""
        return self._numbers("derivatives", self._rates, Stage.DERIVATIVES)

    def jacobian(self) -> FloatArray:
        """Return the matrices of `derivatives` by the states (size, n, n)."""
        n, first = self.model.numbering.n_states, self.model.fields["q"].first
        by = offsets_of(slice(first, first + n))
        return self._numbers("jacobian", self._rates, Stage.DERIVATIVES, by).reshape(len(self), n, n)

    def value(self, name: str) -> FloatArray:
        """Return a variable by name, (size,), or (size, n) for a quantity of several."""
        column = self.model.column(name)
        values = self._numbers(f"value {name}", slice(column.first, column.first + column.count), Stage.OUTPUTS)
        return values if column.vector else values[:, 0]

    def gradient(self, name: str, by: Iterable[str]) -> dict[str, FloatArray]:
        """Return the derivatives of a variable by states, inputs and parameters, all other ones unchanged.

        Parameters
        ----------
        name
            Of the variable, which is one number.
        by
            Names of variables.

        Returns
        -------
        dict
            By name, (size,), or (size, n) for a quantity of several.
        """
        column = self.model.column(name)
        if column.vector:
            raise MechanismError(f"{name!r} has {column.count} numbers; give one of them, such as '{name}[1]'")
        columns = {one: self.model.column(one) for one in by}
        time = self.model.fields["time"].first
        for one in columns:
            if one not in self.parameters and columns[one].first < time:
                self.put({one: np.tile(self._common(one), (len(self), 1))})
        spans = [offsets_of(slice(c.first, c.first + c.count)) for c in columns.values()]
        what = f"gradient {name} {' '.join(columns)}"
        values = self._numbers(what, slice(column.first, column.first + 1), Stage.OUTPUTS, np.concatenate(spans))
        parts = np.split(values, np.cumsum([one.size for one in spans])[:-1], axis=1)
        return {one: p if c.vector else p[:, 0] for (one, c), p in zip(columns.items(), parts, strict=True)}

    # ---- motion ----

    def assemble(self, tolerance: float = ASSEMBLY_TOLERANCE) -> NDArray[np.bool_]:
        """Close the loops of each row, with its parameters, from its coordinates and speeds as guesses.

        Parameters
        ----------
        tolerance
            As of `Model.assemble`.

        Returns
        -------
        ndarray
            Which rows are closed (size,); the others stay as they are, and `errors` has the reasons.
        """
        positive(tolerance, "tolerance", ": the gap of a loop that is accepted, m")
        self.errors = {}
        block, fields = self._worker(0).block, self.model.fields
        nq, nu = self.model.sizes.nq, self.model.sizes.nu
        offsets = {name: self.model.parameter_offsets(name) for name in self.parameters}
        for name, count in (("q", nq), ("u", nu)):
            block.reals[fields[f"{name}_priority"].span] = 0.0
            block.reals[fields[f"{name}_start"].span][count:] = getattr(self._state, name).cut
        for row in range(len(self)):
            for name, values in self.parameters.items():
                block.set(offsets[name], values[row])
            block.reals[fields["q_start"].span][:nq] = self.q[row]
            block.reals[fields["u_start"].span][:nu] = self.u[row]
            block.reals[fields["state_start"].span] = self.elements[row]
            block.put_motion(self.time[row], self._state.motion)
            try:
                block.assemble(tolerance)
            except LinkworkError as error:
                self.errors[row] = error
            else:
                self.q[row], self.u[row] = block["q"], block["u"]
        return np.array([row not in self.errors for row in range(len(self))])

    @checks_keywords
    def rollout(
        self, dt: float, steps: int, tau: Loads | Callable[[float, Batch], Loads] = None, *, every: int = 1
    ) -> FloatArray:
        """Take steps of fixed size from all rows, by the classical method of Runge and Kutta, of order 4.

        Parameters
        ----------
        dt
            s, of a step.
        steps
            How many.
        tau
            Loads that hold throughout, as of `Model.accelerations` with rows; or a function of the time and of the
            batch that gives them for each step. By default those of the batch.
        every
            States are kept after so many steps each.

        Returns
        -------
        ndarray
            States (size, 1 + steps // every, n), from those at the start on. The batch is left at the last ones, and
            rows that came to an error are NaN from there on.
        """
        positive(dt, "dt", ": s, of a step")
        kept, failed = [self._states()], dict[int, LinkworkError]()
        for step in range(1, steps + 1):
            if tau is not None:
                given = tau(float(self.time[0]), self) if callable(tau) else tau
                self.tau[:] = self.model.arguments.loads(given)
            self._step(dt, failed)
            if step % every == 0:
                kept.append(self._states())
        self.errors = failed
        return np.stack(kept, axis=1)

    # ---- inside ----

    @property
    def _rates(self) -> slice:
        first = self.model.fields["qdot"].first
        return slice(first, first + self.model.numbering.n_states)

    def _common(self, name: str) -> FloatArray:
        """Return the numbers of a parameter (n,) that all rows have."""
        return self.model.block().reals[self.model.parameter_offsets(name)]

    def _states(self) -> FloatArray:
        return np.concatenate([self.q, self.u, self.elements], axis=1)

    def _put_states(self, y: FloatArray) -> None:
        nq, nu = self.model.sizes.nq, self.model.sizes.nu
        self.q[:], self.u[:], self.elements[:] = y[:, :nq], y[:, nq : nq + nu], y[:, nq + nu :]

    def _step(self, dt: float, failed: dict[int, LinkworkError]) -> None:
        start, begin, slopes = self._states(), self.time.copy(), list[FloatArray]()
        for share in (0.0, 0.5, 0.5, 1.0):
            if slopes:
                self._put_states(start + share * dt * slopes[-1])
                self.time[:] = begin + share * dt
            slopes.append(self.derivatives())
            for row, error in self.errors.items():
                failed.setdefault(row, error)
        first, second, third, last = slopes
        self._put_states(start + dt / 6.0 * (first + 2.0 * (second + third) + last))
        self.time[:] = begin + dt

    def _worker(self, number: int) -> _Worker:
        while len(self._workers) <= number:
            block = self.model.block()
            if self.model.sizes.transitions:
                block.put_discrete_state(self._state.discrete_state)
            block.count_revolutions(self.model.arguments.turns(self._state))
            self._workers.append(_Worker(block))
        return self._workers[number]

    def _numbers(self, name: str, span: slice, stage: Stage, by: OffsetArray = _NO_OFFSETS) -> FloatArray:
        """Return numbers of the block of every row; NaN where there are none, and the reasons in `errors`."""
        inputs = np.broadcast_to(self._inputs, (len(self), self._inputs.size))
        time = self.time[:, None]
        entries = [self.q, self.u, self.elements, self.tau, inputs, time, time]
        given = np.concatenate([*entries, *self.parameters.values()], axis=1)
        key = (name, *self.parameters)

        def compute(number: int, rows: slice) -> tuple[FloatArray, dict[int, LinkworkError]]:
            worker, errors = self._workers[number], dict[int, LinkworkError]()
            if key not in worker.tapes:
                changed = [self.model.parameter_offsets(one) for one in self.parameters]
                offsets = np.concatenate([self.model.entry_offsets, *changed])
                worker.tapes[key] = Tapes(offsets, offsets_of(span), stage, by)
            values = worker.tapes[key].evaluate(worker.block, given[rows], errors)
            return values, {rows.start + row: error for row, error in errors.items()}

        count = min(self._threads, -(-len(self) // _ROWS_FOR_A_THREAD))
        ends = np.linspace(0, len(self), count + 1).astype(int)
        parts = [(k, slice(int(ends[k]), int(ends[k + 1]))) for k in range(count)]
        self._worker(count - 1)
        if count == 1:
            found = [compute(*parts[0])]
        else:
            with ThreadPoolExecutor(count) as pool:
                found = list(pool.map(compute, *zip(*parts, strict=True)))
        self.errors = {row: error for _, errors in found for row, error in errors.items()}
        return np.concatenate([values for values, _ in found])


def batch_of(model: Model, size: int, state: State | None, threads: int) -> Batch:
    """Do what `Model.batch` does."""
    if not isinstance(size, int) or size < 1:
        raise MechanismError(f"size must be a number of states, 1 or more, not {size!r}")
    return Batch(model, size, model.assemble() if state is None else state, threads)
