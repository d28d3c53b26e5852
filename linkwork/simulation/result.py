"""What a simulation gives back: columns by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.files import atomic_path
from linkwork.core.native import Stage
from linkwork.errors import LinkworkError
from linkwork.model.impacts import Event
from linkwork.model.model import Model
from linkwork.simulation.discrete_state import DiscreteState
from linkwork.solvers import Statistics

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class Result:
    """A simulated motion.

    Every variable of the system is found by name: ``result["A.q"]`` has shape (nt,), ``result["coupler.r"]`` (nt, 3).
    Columns are computed on demand. Where a quantity does not exist, as at the end of a run that failed, it is not
    a number.

    Attributes
    ----------
    system
        The simulated mechanism.
    t
        Times, (nt,), s.
    y
        States [q; u] of the tree joints, (nt, nq + nu).
    statistics
        Steps, evaluations and so on.
    message
        How the run ended.
    controller_states
        Continuous states of the controller, (nt, n).
    """

    def __init__(
        self,
        system: Model,
        t: FloatArray,
        y: FloatArray,
        *,
        inputs: FloatArray,
        gains: FloatArray,
        revolutions: FloatArray,
        discrete: Sequence[DiscreteState],
        events: Sequence[Event],
        statistics: Statistics,
        message: str,
        controller_states: FloatArray | None = None,
        step_controls: FloatArray | None = None,
    ) -> None:
        self.system = system
        self.t = t
        self.y = y
        self.statistics = statistics
        self.message = message
        self.controller_states = np.empty((len(t), 0)) if controller_states is None else controller_states
        self._step_controls = step_controls  # of each row, what the solver's step size control remembered
        self._events = events
        self._discrete = discrete  # of each row, if there are transitions
        self._inputs = np.broadcast_to(inputs, (len(self.t), system.numbering.n_inputs))
        self._gains = gains  # of the feedback on loops
        self._revolutions = revolutions  # of each row, coordinates of the cut joints where they were last counted

    @property
    def events(self) -> list[Event]:
        """Events by transitions and by event functions, in the order in which they happened."""
        return list(self._events)

    def __getitem__(self, name: str) -> FloatArray:
        column = self.system.column(name)
        first, last = self._span
        if not first <= column.first < last:  # a parameter or start value
            values = np.tile(self.system.block().reals[column.first : column.first + column.count], (len(self.t), 1))
        else:
            values = self._rows[:, column.first - first : column.first - first + column.count]
        return values.copy() if column.vector else values[:, 0].copy()

    @property
    def names(self) -> list[str]:
        """Names of all scalar columns but the parameters."""
        return [v.name for v in self.system.variables if v.kind in ("time", "input", "state", "derivative", "output")]

    @property
    def _span(self) -> tuple[int, int]:
        fields = self.system.fields
        return fields["time"].first, fields["energy_potential"].span.stop

    @cached_property
    def _rows(self) -> FloatArray:
        """Everything computed at every time: (nt, numbers); the angles of cut joints are unwrapped from row to row."""
        system, block = self.system, self.system.block()
        block.put("correction_gain", self._gains, Stage.NONE)
        first, last = self._span
        computed = system.fields["qdot"].first
        at = block.model.discrete_state
        happened = slice(at.start - first, at.stop - first)
        rows = np.full((len(self.t), last - first), np.nan)
        nq = system.numbering.nq
        for i, (t, y, inputs) in enumerate(zip(self.t, self.y, self._inputs, strict=True)):
            if self._discrete and (i == 0 or self._discrete[i] is not self._discrete[i - 1]):
                self._discrete[i].enter(block)
            if i == 0 or not np.array_equal(self._revolutions[i], self._revolutions[i - 1]):
                block.count_revolutions(self._revolutions[i])
            block.enter(y[:nq], y[nq:], inputs, t)
            block.step_accepted()
            rows[i, : computed - first] = block.reals[first:computed]
            rows[i, happened] = block.discrete_state
            with suppress(LinkworkError):
                block.evaluate(Stage.OUTPUTS)
                rows[i] = block.reals[first:last]
        return rows

    def to_dataframe(self, names: Iterable[str] | None = None) -> pd.DataFrame:
        """Return columns (all by default) as a pandas table with the time as index; needs pandas (extra `viz`)."""
        import pandas as pd

        return pd.DataFrame(self._scalars(names), index=pd.Index(self.t, name="time"))

    def to_csv(self, path: str | os.PathLike[str], names: Iterable[str] | None = None) -> None:
        """Write time and columns (all by default) as CSV, all digits; the file appears whole or not at all."""
        columns = self._scalars(names)
        columns.pop("time", None)
        table = np.column_stack([self.t, *columns.values()])
        header = ",".join(["time", *map(_quoted, columns)])
        with atomic_path(path) as part:
            np.savetxt(part, table, fmt="%.17g", delimiter=",", header=header, comments="")

    def _scalars(self, names: Iterable[str] | None) -> dict[str, FloatArray]:
        """Return scalar columns by name; a quantity of several numbers gives its elements."""
        if names is None:
            return {name: self[name] for name in self.names if name != "time"}
        columns: dict[str, FloatArray] = {}
        for name in names:
            values = self[name]
            if values.ndim == 1:
                columns[name] = values
            else:
                columns.update(zip(self._elements(name), values.T, strict=True))
        return columns

    def _elements(self, name: str) -> list[str]:
        """Return the names of the numbers that a quantity consists of."""
        column = self.system.column(name)
        return [self._names_at[column.first + i] for i in range(column.count)]

    @cached_property
    def _names_at(self) -> dict[int, str]:
        return {v.reference: v.name for v in self.system.variables}

    def plot(self, names: Iterable[str] | None = None, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot columns over time, one panel for each unit; needs matplotlib (extra `viz`).

        Parameters
        ----------
        names
            Columns; by default coordinates, speeds and energies.
        path
            Where to save the picture, if anywhere.
        """
        from linkwork.draw.plotting import plot_columns

        if names is None:
            cut = [f"{joint}.{kind}" for kind in "qu" for joint in self.system.loop_names]
            energies = ["energy.kinetic", "energy.potential"]
            states = [*self.system.q_names, *self.system.u_names]
            names = [*states, *(name for name in cut if name in self.system.columns), *energies]
        columns = self._scalars(names)
        return plot_columns(self.t, columns, {n: self._unit(n) for n in columns}, self.system.mechanism.name, path)

    def _unit(self, name: str) -> str:
        return self.system.column(name).unit

    def __repr__(self) -> str:
        span = f"{self.t[0]:.6g} to {self.t[-1]:.6g} s" if len(self.t) else "empty"
        return f"Result({self.system.mechanism.name!r}: {len(self.t)} times, {span}; {self.message})"


def _quoted(name: str) -> str:
    return f'"{name}"' if "," in name else name
