"""The record of a simulation: rows with their discrete states, revolutions of the cut joints and events."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork.model.model import Model
from linkwork.simulation.discrete_state import Change, DiscreteState
from linkwork.simulation.inputs import Inputs
from linkwork.simulation.result import Result
from linkwork.simulation.trajectory import Node
from linkwork.solvers.recorder import Recorder


class SimulationRecorder(Recorder):
    """Record of a simulation, which alone makes its `Result`.

    Parameters
    ----------
    system, inputs, gains
        The mechanism, its inputs and the feedback gains on its loops (2,), for the columns of the result.
    t_start, t_end, t_eval
        As for `Recorder`.

    Attributes
    ----------
    states
        Map from rows of the solver's unknowns to rows of the states [q; u].
    changes
        Events by transitions and the states after them, in the order in which they happened.
    step_values
        Coordinates of the cut joints, (nq_cut,), whole revolutions included.
    """

    states: Callable[[FloatArray], FloatArray] = staticmethod(lambda rows: rows)

    def __init__(
        self,
        system: Model,
        inputs: Inputs,
        gains: FloatArray,
        t_start: float,
        t_end: float,
        t_eval: ArrayLike | None = None,
    ) -> None:
        super().__init__(t_start, t_end, t_eval, n_step_values=system.numbering.nq_cut)
        self.gains = gains
        self.changes: list[Change] = []
        self._system = system
        self._inputs = inputs
        self._discrete: list[tuple[int, DiscreteState, int]] = []  # from which row on, and after how many events

    @property
    def _count(self) -> int:
        return self.output.count if self.started else 0

    def discrete(self, state: DiscreteState) -> None:
        """Record the discrete state of the rows from here on."""
        self._discrete.append((self._count, state, len(self.changes)))

    def change(self, change: Change) -> None:
        """Record an event by transitions; the rows from here on have the discrete state after it."""
        self.changes.append(change)
        self.discrete(change.discrete)

    def last_row(self, t: float, unknowns: FloatArray) -> None:
        """Record a jump at the end of the run: as a further row, or in the row of that time if times are given."""
        if not self.times_given:
            self.output.append(t, unknowns)
        elif self._count and self.output.t[self._count - 1] == t:
            self.output.y[self._count - 1] = unknowns
            self._discrete.append((self._count - 1, *self._discrete[-1][1:]))

    def result(self) -> Result:
        """Return the rows so far and everything that their columns need."""
        t, unknowns = self.output.rows()
        of_rows = self._discrete_of_rows()
        return Result(
            self._system,
            t,
            self.states(unknowns),
            inputs=self._inputs.over(t),
            gains=self.gains,
            revolutions=self.output.step_values[: len(t)].copy(),
            discrete=[state for state, _ in of_rows],
            events=[change.event for change in self.changes],
            statistics=self.statistics,
            message=self.message,
            events_before=np.array([count for _, count in of_rows] or [0] * len(t), dtype=np.intp),
            nodes=self._nodes(),
        )

    def _discrete_of_rows(self) -> list[tuple[DiscreteState, int]]:
        """Return discrete state and number of events before every row; nothing for a mechanism without transitions."""
        rows: list[tuple[DiscreteState, int]] = []
        for first, state, count in self._discrete:
            rows[first:] = [(state, count)] * (self._count - first)
        return rows

    def _nodes(self) -> list[Node]:
        """Return the states before and after every event and at the end: times that may be no rows."""
        nq, nodes = self._system.numbering.nq, []
        discrete = {count: state for _, state, count in self._discrete}
        times = np.array([*(change.event.t for change in self.changes), self.t])
        inputs = np.broadcast_to(self._inputs.over(times), (len(times), self._system.numbering.n_inputs))
        for count, (change, of_inputs) in enumerate(zip(self.changes, inputs, strict=False)):
            before = np.concatenate([change.y[:nq], change.event.u_before])
            if count in discrete:
                nodes.append(Node(change.event.t, before, of_inputs, discrete[count], count))
            nodes.append(Node(change.event.t, change.y, of_inputs, change.discrete, count + 1))
        count = sum(change.event.t < self.t for change in self.changes)
        if count in discrete or not self._discrete:
            end = np.asarray(self.states(self.y[np.newaxis]))[0]
            nodes.append(Node(self.t, end, inputs[-1], discrete.get(count), count))
        return nodes
