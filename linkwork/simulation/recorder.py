"""The record of a simulation: rows with their discrete states, revolutions of the cut joints and events."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.stack import levels_of_package
from linkwork.errors import RowsWarning
from linkwork.model.model import Model
from linkwork.simulation.discrete_state import Change, DiscreteState
from linkwork.simulation.result import Result
from linkwork.simulation.trajectory import Node
from linkwork.solvers.output import MOST_FOLLOWING
from linkwork.solvers.problem import AngularSpeed
from linkwork.solvers.recorder import Recorder
from linkwork.solvers.rotation import SAMPLE_ANGLE

SHOWN_ROWS = 100  # at which speeds are looked at


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a run and the discrete states at them.

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
    changes
        Events and the states after them, in the order in which they happened.
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
        self.changes: list[Change] = []
        self._system = system
        self._own: list[FloatArray] = []  # of each change, the controller's states
        self._held: list[tuple[int, FloatArray, int]] = []  # inputs held: from which row on, and after how many events
        # The same of discrete states; None: there are no transitions.
        self._discrete: list[tuple[int, DiscreteState | None, int]] = []

    @property
    def _count(self) -> int:
        return self.output.count if self.started else 0

    def discrete(self, state: DiscreteState | None) -> None:
        """Record the discrete state of the rows from here on."""
        self._discrete.append((self._count, state, len(self.changes)))

    def change(self, change: Change, x: FloatArray) -> None:
        """Record an event and the controller's states there; the rows from here on have the discrete state after it."""
        self.changes.append(change)
        self._own.append(x.copy())
        self.discrete(change.discrete)

    def hold(self, inputs: FloatArray) -> None:
        """Record inputs (n_inputs,) that are held from here on."""
        self._held.append((self._count, inputs.copy(), len(self.changes)))

    def last_row(self, t: float, unknowns: FloatArray) -> None:
        """Record a jump at the end of the run: as a further row, or in the row of that time if times are given."""
        self.step_control = None
        if not self.times_given:
            self.output.append(t, unknowns)
        elif self._count and self.output.t[self._count - 1] == t:
            self.output.y[self._count - 1] = unknowns
            self._discrete.append((self._count - 1, *self._discrete[-1][1:]))

    def warn_of_rows(self, angular_speed: AngularSpeed) -> None:
        """Warn where there were too many rows for all to follow what turns."""
        rows = self.output
        behind = np.linspace(MOST_FOLLOWING, rows.count - 1, SHOWN_ROWS).astype(int)
        if rows.times_given or rows.count <= MOST_FOLLOWING + 1:
            return
        spacing, states = np.abs(rows.t[behind] - rows.t[behind - 1]), self.states(rows.y[behind])
        speeds = [angular_speed(t, y, 0.0)[0] for t, y in zip(rows.t[behind], states, strict=True)]
        if (spacing * speeds > 2.0 * SAMPLE_ANGLE).any():
            text = (
                f"the rows behind t = {rows.t[MOST_FOLLOWING]:g} s do not follow what turns within a step, since there "
                f"are {MOST_FOLLOWING} before: give the times of the output as t_eval"
            )
            warnings.warn(RowsWarning(text), stacklevel=levels_of_package())

    def result(self) -> Result:
        """Return the rows so far and everything that their columns need."""
        t, unknowns = self.output.rows()
        of_rows = self._discrete_of_rows()
        discrete = [state for state, _ in of_rows if state is not None]
        revolutions = self.output.step_values[: len(t)].copy()
        held = _spread(self._held, self._count, self._system.numbering.n_inputs)
        rows = Rows(t, self.states(unknowns), self.own_states(unknowns), revolutions, discrete, held)
        return Result(
            self._system,
            t,
            rows.y,
            inputs=self.inputs(rows),
            gains=self.gains,
            revolutions=revolutions,
            discrete=discrete,
            events=[change.event for change in self.changes],
            statistics=self.statistics,
            message=self.message,
            events_before=np.array([count for _, count in of_rows] or [0] * len(t), dtype=np.intp),
            nodes=self._nodes(),
            controller_states=rows.x,
            step_controls=self.output.step_control[: len(t)].copy(),
            end_control=self.step_control,
        )

    def _discrete_of_rows(self) -> list[tuple[DiscreteState | None, int]]:
        """Return discrete state and number of events before every row; nothing for a run without any."""
        rows: list[tuple[DiscreteState | None, int]] = [(None, 0)] * (self._count if self._discrete else 0)
        for first, state, count in self._discrete:
            rows[first:] = [(state, count)] * (self._count - first)
        return rows

    def _nodes(self) -> list[Node]:
        """Return the states before and after every event and at the end: times that may be no rows."""
        nq = self._system.numbering.nq
        discrete = {count: state for _, state, count in self._discrete}
        known = not self._system.sizes.transitions
        nodes: list[tuple[float, FloatArray, FloatArray, DiscreteState | None, int]] = []
        for count, (change, x) in enumerate(zip(self.changes, self._own, strict=True)):
            t, before = change.event.t, np.concatenate([change.y[:nq], change.event.u_before])
            if known or count in discrete:
                nodes.append((t, before, x, discrete.get(count), count))
            nodes.append((t, change.y, x, change.discrete, count + 1))
        count = sum(change.event.t < self.t for change in self.changes)
        if count in discrete or not self._discrete or known:
            end = self.y[np.newaxis]
            nodes.append((self.t, self.states(end)[0], self.own_states(end)[0], discrete.get(count), count))
        return self._with_inputs(nodes)

    def _with_inputs(self, nodes: list[tuple[float, FloatArray, FloatArray, DiscreteState | None, int]]) -> list[Node]:
        """Return nodes from times, states, the controller's states, discrete states and numbers of events."""
        if not nodes:
            return []
        t, y, x = np.array([one[0] for one in nodes]), np.array([one[1] for one in nodes]), [one[2] for one in nodes]
        discrete = [one[3] for one in nodes if one[3] is not None]
        turns = np.array([self._turns(time) for time in t]).reshape(len(t), -1)
        held = np.array([self._held_after(one[4]) for one in nodes])
        inputs = self.inputs(Rows(t, y, np.array(x).reshape(len(t), -1), turns, discrete, held))
        inputs = np.broadcast_to(inputs, (len(t), self._system.numbering.n_inputs))
        return [Node(one[0], one[1], row, one[3], one[4], one[2]) for one, row in zip(nodes, inputs, strict=True)]

    def _turns(self, t: float) -> FloatArray:
        """Return the coordinates of the cut joints where they were last counted before a time."""
        times = self.output.t[: self._count]
        row = int(
            np.searchsorted(times if self.t_end >= self.t_start else -times, t if self.t_end >= self.t_start else -t)
        )
        turns: FloatArray = self.output.step_values[min(row, self._count - 1)] if self._count else self.step_values
        return turns

    def _held_after(self, count: int) -> FloatArray:
        """Return the inputs that were held after a number of events."""
        return next(inputs for _, inputs, events in reversed(self._held) if events <= count)


def _spread(held: list[tuple[int, FloatArray, int]], rows: int, n_inputs: int) -> FloatArray:
    """Return the inputs that were held at every row, (nt, n_inputs)."""
    spread = np.empty((rows, n_inputs))
    for first, inputs, _ in held:
        spread[first:] = inputs
    return spread
