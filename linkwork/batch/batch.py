"""Many states of one model in arrays: their dynamics, and steps of fixed size from all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray, positive
from linkwork._util.keywords import checks_keywords
from linkwork.core.native import Block, Stage, offsets_of
from linkwork.core.tapes import Tapes
from linkwork.errors import AssemblyError, LinkworkError, MechanismError
from linkwork.model.arguments import Loads
from linkwork.model.state_values import JointArray

if TYPE_CHECKING:
    from linkwork.model.model import Model

Law = Callable[[float, "Batch"], Loads]


class Batch:
    """Many states of one model, one a row, in arrays that may be written to.

    All rows begin at a state of the model, by default its assembled start. What a row cannot have, such as
    accelerations in a singular pose, is NaN there and disturbs no other row; `errors` has the reason.

    Parameters
    ----------
    model
        Whose states they are.
    size
        How many.
    state
        Where all of them begin; by default the assembled start.

    Attributes
    ----------
    q, u
        Coordinates (size, nq) and speeds (size, nu) of the tree joints.
    elements
        States of elements (size, n).
    time
        s, (size,).
    tau
        Loads of all joints, applied wrenches and inputs of actuators (size, n), in the order of the model's inputs.
    parameters
        Values (size, ...) by name that differ from row to row; see `put`.
    errors
        By row, why the last function has no numbers for it.
    """

    def __init__(self, model: Model, size: int, state: object = None) -> None:
        start = model.assemble() if state is None else state
        q, u = model.arguments.states(start, None)
        self.model = model
        self.q = np.tile(np.asarray(q), (size, 1))
        speeds = np.tile(np.asarray(u), (size, 1))
        self.u, self.elements = speeds[:, : model.sizes.nu].copy(), speeds[:, model.sizes.nu :].copy()
        self.time = np.full(size, float(model.arguments.times(start, None)[0]))
        self.tau = np.zeros((size, model.numbering.n_loads))
        self._motion = model.arguments.with_motions(start, model.arguments.no_loads)[model.numbering.n_loads :]
        self.parameters: dict[str, FloatArray] = {}
        self.errors: dict[int, LinkworkError] = {}
        self._state = start
        self._block: Block = model.block()
        self._tapes: dict[tuple[str, tuple[str, ...]], Tapes] = {}

    def __len__(self) -> int:
        return len(self.q)

    # ---- parameters ----

    def put(self, parameters: Mapping[str, ArrayLike]) -> None:
        """Give parameters values of their own in each row, ``{"rod.mass": masses}``; states stay as they are.

        Parameters
        ----------
        parameters
            Values by name, (size,) or (size, n) for a parameter of several, as of `Model.with_parameters`. Geometry may
            be among them: `assemble` closes the loops of each row.

        Raises
        ------
        MechanismError
            On an unknown name, a wrong size or a value that a parameter cannot have; nothing changes then.
        """
        given = {}
        for name, values in parameters.items():
            offsets = self.model.parameter_offsets(name)
            array = np.asarray(values, dtype=np.float64)
            rows = np.broadcast_to(array.reshape(*array.shape[:1], -1), (len(self), offsets.size)).copy()
            if not np.isfinite(rows).all():
                raise MechanismError(f"{name!r} is not finite in row {int(np.argwhere(~np.isfinite(rows))[0][0])}")
            given[name] = rows
        self.parameters |= given

    # ---- dynamics ----

    def accelerations(self) -> JointArray:
        """Return the accelerations of the tree joints (size, nu), those of the cut joints as its attribute `cut`."""
        values = self._numbers("acceleration", self.model.fields["acceleration"].span, Stage.ACCELERATIONS)
        return JointArray.split(values, self.model.sizes.nu)

    def derivatives(self) -> FloatArray:
        """Return the derivatives of all states (size, n), [qdot; udot; rates of the states of elements]."""
        first, n = self.model.fields["qdot"].first, self.model.numbering.n_states
        return self._numbers("derivatives", slice(first, first + n), Stage.DERIVATIVES)

    def jacobian(self) -> FloatArray:
        """Return the matrices of `derivatives` by the states (size, n, n)."""
        n = self.model.numbering.n_states
        rates, states = self.model.fields["qdot"].first, self.model.fields["q"].first
        of, by = slice(rates, rates + n), offsets_of(slice(states, states + n))
        return self._numbers("jacobian", of, Stage.DERIVATIVES, by).reshape(len(self), n, n)

    def value(self, name: str) -> FloatArray:
        """Return a variable by name, (size,), or (size, n) for a quantity of several."""
        column = self.model.column(name)
        values = self._numbers(name, slice(column.first, column.first + column.count), Stage.OUTPUTS)
        return values if column.vector else values[:, 0]

    def gradient(self, name: str, by: list[str]) -> dict[str, FloatArray]:
        """Return the derivatives of a variable by others.

        Parameters
        ----------
        name
            Of the variable, a number.
        by
            Names of states, inputs and parameters; parameters are those that were given by `put`.

        Returns
        -------
        dict
            By name, (size,), or (size, n) for a quantity of several.
        """
        column = self.model.column(name)
        columns = {one: self.model.column(one) for one in by}
        spans = [offsets_of(slice(c.first, c.first + c.count)) for c in columns.values()]
        of = slice(column.first, column.first + column.count)
        values = self._numbers(f"{name} by {', '.join(by)}", of, Stage.OUTPUTS, np.concatenate(spans))
        ends = np.cumsum([one.size for one in spans])[:-1]
        parts = np.split(values, ends, axis=1)
        return {one: p if c.vector else p[:, 0] for (one, c), p in zip(columns.items(), parts, strict=True)}

    # ---- motion ----

    def assemble(self, tolerance: float | None = None) -> NDArray[np.bool_]:
        """Close the loops of every row, from its coordinates and speeds as guesses; return which rows are closed."""
        closed = np.ones(len(self), dtype=bool)
        raise NotImplementedError
        return closed

    @checks_keywords
    def rollout(self, dt: float, steps: int, tau: Loads | Law = None, *, every: int = 1) -> FloatArray:
        """Take steps of fixed size from all rows, by the classical method of Runge and Kutta of order 4.

        Parameters
        ----------
        dt
            s, of a step.
        steps
            How many.
        tau
            Loads that hold during all steps; or a function of the time of the first row and of the batch that gives
            them at the start of each step. By default those of the batch.
        every
            Rows are kept after so many steps each.

        Returns
        -------
        ndarray
            States (size, kept, n), the first ones those of the start; the batch is left at the last ones.
        """
        positive(dt, "dt", ": s, of a step")
        kept = [self._states()]
        failed: dict[int, LinkworkError] = {}
        for step in range(1, steps + 1):
            if tau is not None:
                self.tau[:] = self.model.arguments.loads(tau(float(self.time[0]), self) if callable(tau) else tau)
            self._step(dt, failed)
            if step % every == 0 or step == steps:
                kept.append(self._states())
        self.errors = failed
        return np.stack(kept, axis=1)

    # ---- inside ----

    def _states(self) -> FloatArray:
        return np.concatenate([self.q, self.u, self.elements], axis=1)

    def _put_states(self, y: FloatArray) -> None:
        nq, nu = self.model.sizes.nq, self.model.sizes.nu
        self.q[:], self.u[:], self.elements[:] = y[:, :nq], y[:, nq : nq + nu], y[:, nq + nu :]

    def _step(self, dt: float, failed: dict[int, LinkworkError]) -> None:
        start, begin = self._states(), self.time.copy()
        slopes: list[FloatArray] = []
        for share in (0.0, 0.5, 0.5, 1.0):
            if slopes:
                self._put_states(start + share * dt * slopes[-1])
                self.time[:] = begin + share * dt
            slopes.append(self.derivatives())
            failed |= {row: error for row, error in self.errors.items() if row not in failed}
        k1, k2, k3, k4 = slopes
        self._put_states(start + dt / 6.0 * (k1 + 2.0 * (k2 + k3) + k4))
        self.time[:] = begin + dt

    def _numbers(self, name: str, span: slice, stage: Stage, by: NDArray[np.uint32] | None = None) -> FloatArray:
        """Return numbers of the block of every row; NaN where there are none, and the reason in `errors`."""
        key = name, tuple(self.parameters)
        model = self.model
        if key not in self._tapes:
            offsets = [model.parameter_offsets(one) for one in self.parameters]
            self._tapes[key] = Tapes(np.concatenate([model.entry_offsets, *offsets]), offsets_of(span), stage, by)
        motion = np.broadcast_to(self._motion, (len(self), self._motion.size))
        time = self.time[:, None]
        given = [self.q, self.u, self.elements, self.tau, motion, time, time, *self.parameters.values()]
        values, self.errors = self._tapes[key].evaluate_all(self._block, np.concatenate(given, axis=1))
        return values


def batch_of(model: Model, size: int, state: object) -> Batch:
    """Do what `Model.batch` does."""
    if not isinstance(size, int) or size < 1:
        raise MechanismError(f"size must be a whole number of states, at least 1, not {size!r}")
    return Batch(model, size, state)
