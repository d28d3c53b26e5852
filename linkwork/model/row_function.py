"""A model as a function of arrays, with its exact Jacobians: what functions of other packages are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from linkwork._util.checks import FloatArray, names_of
from linkwork.core.native import OffsetArray, Stage, offsets_of
from linkwork.errors import LinkworkError, MechanismError
from linkwork.model.base import ModelBase, State
from linkwork.model.row_workers import NO_OFFSETS, RowWorkers

NO_SECOND_DERIVATIVES = "there are no second derivatives of this function; linkwork.casadi.function has them"


class RowFunction:
    """Derivatives of the states, and variables, by time, states, loads and parameters.

    Arguments and results are arrays (..., n) of float64; leading dimensions are those of a batch, of which each row has
    the numbers that it has alone. Several threads may call it.

    Parameters
    ----------
    model
        Of the mechanism.
    state
        Transitions, inputs of motions and revolutions of cut joints are as at it; by default at the assembled start.
    outputs
        Names of variables that are results as well.
    parameters
        Names of those that are arguments; all others are constants.
    threads
        As of `Model.batch`.

    Attributes
    ----------
    arguments
        Names of the numbers of each: t, x, tau, p.
    results
        Sizes by name: der_x, and each output.
    vectors
        The names of the results that are arrays, (..., n); the others are (...).
    defaults
        The arguments at the state, without loads.
    """

    def __init__(
        self,
        model: ModelBase,
        state: State | None = None,
        outputs: Iterable[str] = (),
        parameters: Iterable[str] = (),
        threads: int = 0,
    ) -> None:
        self._made_of = model, state, tuple(names_of(outputs, "outputs")), tuple(names_of(parameters, "parameters"))
        self._threads = threads
        self._state = model.assemble() if state is None else state
        self._workers, self._lock = RowWorkers(model, self._state, threads), Lock()
        self._model = model
        self._stage = Stage.OUTPUTS if self._made_of[2] else Stage.DERIVATIVES
        self._set_computed(self._made_of[2])
        self._set_given(self._made_of[3])

    @property
    def signature(self) -> str:
        """Arguments and results with their sizes."""
        given = ", ".join(f"{name}[{len(names)}]" for name, names in self.arguments.items())
        return f"({given}) -> ({', '.join(f'{name}[{size}]' for name, size in self.results.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self._made_of, self._threads)

    def _set_computed(self, outputs: Sequence[str]) -> None:
        model = self._model
        columns = [model.column(name) for name in outputs]
        if repeated := [name for name in outputs if outputs.count(name) > 1]:
            raise MechanismError(f"outputs: {repeated[0]!r} is named twice")
        rate, n = model.fields["qdot"].first, model.numbering.n_states
        spans = [slice(rate, rate + n), *(slice(c.first, c.first + c.count) for c in columns)]
        self._computed = np.concatenate([offsets_of(span) for span in spans])
        self.results = {"der_x": n} | {name: c.count for name, c in zip(outputs, columns, strict=True)}
        self.vectors = {"der_x", *(name for name, c in zip(outputs, columns, strict=True) if c.vector)}

    def _set_given(self, parameters: Sequence[str]) -> None:
        """Find where arguments stand in the block; a row of all given numbers begins with the states and loads."""
        model, fields = self._model, self._model.fields
        columns = [model.column(name) for name in parameters]
        for name, column in zip(parameters, columns, strict=True):
            if column.first >= fields["time"].first:
                raise MechanismError(f"parameters: {name!r} is none; states, inputs and the time are arguments already")
        n, loads = model.numbering.n_states, model.numbering.n_loads
        entries = model.entry_offsets
        own = np.concatenate([NO_OFFSETS, *(offsets_of(slice(c.first, c.first + c.count)) for c in columns)])
        self._offsets = {
            "t": offsets_of(fields["time"].span),
            "x": entries[:n],
            "tau": entries[n : n + loads],
            "p": own,
        }
        self._given = np.concatenate([entries, offsets_of(fields["cut_reference"].span), own])
        named = {one.reference: one.name for one in model.variables}
        self.arguments = {one: tuple(named[at] for at in of.tolist()) for one, of in self._offsets.items()}
        state, arguments = self._state, model.arguments
        q, speeds = arguments.states(state, None)
        inputs = arguments.with_motions(state, arguments.no_loads)
        self.defaults = {
            "t": np.array([state.time]),
            "x": np.concatenate([q, speeds]),
            "tau": arguments.no_loads,
            "p": model.block().reals[own],
        }
        last = n + inputs.size
        self._row = np.concatenate([q, speeds, inputs, [0.0, 0.0], arguments.turns(state), self.defaults["p"]])
        self._columns = {
            "t": slice(last, last + 2),  # the time of the inputs of motions, too
            "x": slice(0, n),
            "tau": slice(n, n + loads),
            "p": slice(self._row.size - own.size, self._row.size),
        }

    def shaped(
        self, given: Mapping[str, Any], array: Callable[[str, Any], Any], broadcast_to: Callable[..., Any]
    ) -> list[Any]:
        """Return all arguments with the same leading dimensions, arrays of another package.

        Parameters
        ----------
        given
            The arguments by name, None: by default; the time is (...), all others (..., n).
        array
            Makes an array of the package of a name and its value.
        broadcast_to
            Its function of this name.
        """
        found = dict[str, Any]()
        for name, value in given.items():
            made = array(name, self.defaults[name] if value is None else value)
            found[name] = made[..., None] if name == "t" else made
            size = len(self.arguments[name])
            if found[name].shape[-1:] != (size,):
                raise MechanismError(f"{name} has shape {tuple(made.shape)}; its last dimension must be {size}")
        try:
            batch = np.broadcast_shapes(*(tuple(one.shape[:-1]) for one in found.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {tuple(one.shape[:-1])}" for name, one in found.items())
            raise MechanismError(f"the leading dimensions of {shapes} do not agree") from None
        return [broadcast_to(one, (*batch, one.shape[-1])) for one in found.values()]

    def split(self, whole: Any) -> Any:
        """Return the results one by one, of an array of another package (..., n); one alone as it is, else a tuple."""
        ends = np.cumsum([0, *self.results.values()]).tolist()
        found = tuple(
            whole[..., first:last] if name in self.vectors else whole[..., first]
            for name, (first, last) in zip(self.results, pairwise(ends), strict=True)
        )
        return found if len(found) > 1 else found[0]

    def values(self, *given: FloatArray) -> FloatArray:
        """Return all results one behind the other (..., n), of the arguments in their order.

        Raises
        ------
        LinkworkError
            Of the first row that has no numbers, such as one in a singular pose; it names the row.
        """
        return self._numbers(given, NO_OFFSETS)

    def jacobians(self, by: Sequence[str], *given: FloatArray) -> FloatArray:
        """Return the matrices (..., n, m) of the results by arguments, one behind the other.

        Parameters
        ----------
        by
            Which of t, x, tau, p.
        given
            The arguments in their order.
        """
        if "t" in by and self._state.motion.reshape(-1, 3)[:, 1:].any():
            raise MechanismError(
                "there are no derivatives by the time where inputs of motions have rates, which count at one instant; "
                "give a state without them, and a motion by a formula"
            )
        offsets = np.concatenate([NO_OFFSETS, *(self._offsets[one] for one in by)])
        if not offsets.size:
            return np.empty((*np.shape(given[0])[:-1], self._computed.size, 0))
        found = self._numbers(given, offsets)
        return found.reshape(*found.shape[:-1], self._computed.size, offsets.size)

    def _numbers(self, given: Sequence[FloatArray], by: OffsetArray) -> FloatArray:
        batch = np.broadcast_shapes(*(np.shape(one)[:-1] for one in given))
        rows = np.tile(self._row, (*batch, 1))
        for name, one in zip(self.arguments, given, strict=True):
            check_finite(np.broadcast_to(one, (*batch, np.shape(one)[-1])), self.arguments[name])
            rows[..., self._columns[name]] = one
        rows = rows.reshape(-1, self._row.size)
        with self._lock:
            numbers, errors = self._workers.numbers(rows, self._given, self._computed, self._stage, by)
        if errors:
            row = min(errors)
            raise of_row(errors[row], [int(k) for k in np.unravel_index(row, batch)]) from None
        return numbers.reshape(*batch, numbers.shape[1])


def check_finite(values: FloatArray, names: Sequence[str]) -> None:
    """Refuse rows of numbers (..., n) that are not finite, and name the first one."""
    if not np.isfinite(values).all():
        *row, column = np.argwhere(~np.isfinite(values))[0].tolist()
        raise of_row(MechanismError(f"{names[column]} is not finite"), row)


def of_row(error: LinkworkError, row: Sequence[int]) -> LinkworkError:
    """Return an error that names the row, if there are several."""
    return type(error)(f"row {', '.join(map(str, row))}: {error}") if row else error
