"""Model Exchange behind the calls of Co-Simulation: a solver integrates an FMU between communication points.

Between steps the FMU is in Event Mode, in which inputs of all kinds may be set. A step first updates the discrete
states, then integrates in Continuous-Time Mode, and handles each time, state and step event in between.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import FmuError
from linkwork.fmu.caller.instance import DISCARD, FmuInstance, Outcome
from linkwork.solvers import Problem, Terminate, solve

FloatArray = NDArray[np.float64]

MOST_UPDATES = 100  # of the discrete states at an event
MOST_EVENTS = 100_000  # in a step
RTOL = 1e-6  # if the FMU and the run have no tolerance


class ExchangeStepper:
    """Does the steps of an instance in Model Exchange.

    Parameters
    ----------
    fmu
        The instance, after Initialization Mode.
    rtol
        Tolerance of the solver, relative and, times the nominal values of the states, absolute.
    """

    def __init__(self, fmu: FmuInstance, rtol: float) -> None:
        self._fmu = fmu
        self._rtol = rtol
        self._next_event = math.inf
        self._terminate = False
        self._nominals = np.ones(fmu.n_states)

    def update(self) -> bool:
        """Update the discrete states in Event Mode to a fixed point; return whether the FMU ends the simulation."""
        update = self._fmu.update_until_settled(MOST_UPDATES)
        if update.needed and not update.terminate:
            raise FmuError(f"its discrete states request another update after {MOST_UPDATES}; let them converge")
        self._next_event = math.inf if update.next_event is None else update.next_event
        return update.terminate

    def step(self, time: float, length: float) -> Outcome:
        """Do a communication step from Event Mode to Event Mode."""
        end = time + length
        self._terminate = False
        for _ in range(MOST_EVENTS):
            if self.update() or self._terminate:
                return Outcome(time, terminate=True)
            if time >= end:
                return Outcome(end)
            self._fmu.enter_continuous_time_mode()
            time = self._advance(time, min(end, max(self._next_event, time)))
            self._fmu.enter_event_mode()
        raise FmuError(f"it has more than {MOST_EVENTS} events in a communication step; take a shorter step")

    def _advance(self, time: float, goal: float) -> float:
        """Integrate until the goal or an event; return the time reached."""
        if goal > time and self._fmu.n_states:
            return self._integrate(time, goal)
        self._fmu.set_time(goal)
        return goal

    def _integrate(self, time: float, goal: float) -> float:
        """Integrate the states as multiples of their nominal values."""
        nominals = np.array(self._fmu.nominals())
        self._nominals = np.where((nominals > 0.0) & np.isfinite(nominals), nominals, 1.0)
        problem = Problem(
            self._derivative,
            time,
            np.array(self._fmu.continuous_states()) / self._nominals,
            events=self._indicators if self._fmu.n_indicators else None,
            on_event=lambda _t, _y, _crossings: Terminate(),
            on_step=self._complete,
        )
        solution = solve(problem, goal, rtol=self._rtol)
        self._set(solution.t_end, solution.y_end)
        return solution.t_end

    def _set(self, t: float, y: FloatArray) -> None:
        self._fmu.set_time(t)
        self._fmu.set_continuous_states((y * self._nominals).tolist())

    def _derivative(self, t: float, y: FloatArray) -> FloatArray:
        """Not a number where the FMU discards the states, so that the solver takes a shorter step."""
        from fmpy.fmi1 import FMICallException

        try:
            self._set(t, y)
            return np.array(self._fmu.derivatives()) / self._nominals
        except FMICallException as problem:
            if problem.status != DISCARD:
                raise
            return np.full(self._fmu.n_states, np.nan)

    def _indicators(self, t: float, y: FloatArray) -> FloatArray:
        self._set(t, y)
        return np.array(self._fmu.event_indicators())

    def _complete(self, t: float, y: FloatArray) -> Terminate | None:
        """Report a step; a step event and the end of the simulation stop there."""
        self._set(t, y)
        event, self._terminate = self._fmu.completed_integrator_step()
        return Terminate() if event or self._terminate else None
