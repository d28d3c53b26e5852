"""The record of a simulation: rows with their discrete states, revolutions of the cut joints and events."""

from __future__ import annotations

from collections.abc import Callable

from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork.model.impacts import Event
from linkwork.model.model import Model
from linkwork.simulation.discrete_state import Change, DiscreteState
from linkwork.simulation.inputs import Inputs
from linkwork.simulation.result import Result
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
    transitions
        Events by transitions, in the order in which they happened.
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
        self.transitions: list[Event] = []
        self._system = system
        self._inputs = inputs
        self._discrete: list[tuple[int, DiscreteState]] = []  # the first row of each, and the discrete state from there

    @property
    def _count(self) -> int:
        return self.output.count if self.started else 0

    def discrete(self, state: DiscreteState) -> None:
        """Record the discrete state of the rows from here on."""
        self._discrete.append((self._count, state))

    def change(self, change: Change) -> None:
        """Record an event by transitions; the rows from here on have the discrete state after it."""
        self.transitions.append(change.event)
        self.discrete(change.discrete)

    def last_row(self, t: float, unknowns: FloatArray) -> None:
        """Record a jump at the end of the run: as a further row, or in the row of that time if times are given."""
        if not self.times_given:
            self.output.append(t, unknowns)
        elif self._count and self.output.t[self._count - 1] == t:
            self.output.y[self._count - 1] = unknowns
            self._discrete.append((self._count - 1, self._discrete[-1][1]))

    def result(self) -> Result:
        """Return the rows so far and everything that their columns need."""
        t, unknowns = self.output.rows()
        return Result(
            self._system,
            t,
            self.states(unknowns),
            inputs=self._inputs.over(t),
            gains=self.gains,
            revolutions=self.output.step_values[: len(t)].copy(),
            discrete=self._discrete_of_rows(),
            events=self.transitions,
            statistics=self.statistics,
            message=self.message,
        )

    def _discrete_of_rows(self) -> list[DiscreteState]:
        """Return the discrete state of every row; none for a mechanism without transitions."""
        rows: list[DiscreteState] = []
        for first, state in self._discrete:
            rows[first:] = [state] * (self._count - first)
        return rows
