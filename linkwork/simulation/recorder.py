"""The record of a simulation: rows with their discrete states, revolutions of the cut joints and events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork.model.impacts import Event
from linkwork.model.model import Model
from linkwork.simulation.discrete_state import Change, DiscreteState
from linkwork.simulation.result import Result
from linkwork.solvers.recorder import Recorder


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a run and what was discrete at them.

    Attributes
    ----------
    t, y, x
        Times (nt,), states [q; u] (nt, nq + nu) and the controller's continuous states (nt, n).
    revolutions
        Coordinates of the cut joints where they were last counted, (nt, nq_cut).
    discrete
        The discrete state of every row; none for a mechanism without transitions.
    held
        Inputs (nt, n_inputs) that did not change from instant to instant.
    """

    t: FloatArray
    y: FloatArray
    x: FloatArray
    revolutions: FloatArray
    discrete: list[DiscreteState]
    held: FloatArray


class SimulationRecorder(Recorder):
    """Record of a simulation, which alone makes its `Result`.

    Parameters
    ----------
    system, gains
        The mechanism and the feedback gains on its loops (2,), for the columns of the result.
    t_start, t_end, t_eval
        As for `Recorder`.

    Attributes
    ----------
    states
        Map from rows of the solver's unknowns to rows of the states [q; u].
    own_states
        Map from these rows to those of the controller's continuous states, (nt, n).
    inputs
        Map from the rows to the inputs at them, (nt, n_inputs).
    transitions
        Events by transitions, in the order in which they happened.
    step_values
        Coordinates of the cut joints, (nq_cut,), whole revolutions included.
    """

    states: Callable[[FloatArray], FloatArray] = staticmethod(lambda rows: rows)
    own_states: Callable[[FloatArray], FloatArray] = staticmethod(lambda rows: rows[:, :0])
    inputs: Callable[[Rows], FloatArray]

    def __init__(
        self,
        system: Model,
        gains: FloatArray,
        t_start: float,
        t_end: float,
        t_eval: ArrayLike | None = None,
    ) -> None:
        super().__init__(t_start, t_end, t_eval, n_step_values=system.numbering.nq_cut)
        self.gains = gains
        self.transitions: list[Event] = []
        self._system = system
        self._held: list[tuple[int, FloatArray]] = []  # the first row of each, and the inputs held from there
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

    def hold(self, inputs: FloatArray) -> None:
        """Record inputs (n_inputs,) that are held from here on."""
        self._held.append((self._count, inputs.copy()))

    def event_functions(self, t: float, names: tuple[str, ...], speeds: FloatArray) -> None:
        """Record an event by functions of the user."""
        self.transitions.append(Event(t, (), speeds, speeds, {}, 0.0, names))

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
        revolutions = self.output.step_values[: len(t)].copy()
        x = self.own_states(unknowns)
        rows = Rows(t, self.states(unknowns), x, revolutions, self._discrete_of_rows(), self._held_of_rows())
        return Result(
            self._system,
            t,
            rows.y,
            inputs=self.inputs(rows),
            gains=self.gains,
            revolutions=revolutions,
            discrete=rows.discrete,
            events=self.transitions,
            statistics=self.statistics,
            message=self.message,
            controller_states=x,
            step_controls=self.output.step_control[: len(t)].copy(),
        )

    def _held_of_rows(self) -> FloatArray:
        """Return the inputs that were held at every row, (nt, n_inputs)."""
        held = np.empty((self._count, self._system.numbering.n_inputs))
        for first, inputs in self._held:
            held[first:] = inputs
        return held

    def _discrete_of_rows(self) -> list[DiscreteState]:
        """Return the discrete state of every row; none for a mechanism without transitions."""
        rows: list[DiscreteState] = []
        for first, state in self._discrete:
            rows[first:] = [state] * (self._count - first)
        return rows
