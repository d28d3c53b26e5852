"""The contract of a formulation: other unknowns than the states [q; u], and implicit equations for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.solvers import Action, Implicit, Problem, Restart, Solution, Terminate, solve
from linkwork.solvers.problem import IntArray
from linkwork.solvers.solution import EventRecord


class Formulation(ABC):
    """Differential-algebraic equations of a mechanism in unknowns Y of its own.

    A new one is a module with a subclass, and a line in `linkwork.simulation.dae.registry`.
    """

    implicit: Implicit  #: the equations

    @abstractmethod
    def unknowns(self, t: float, y: FloatArray) -> FloatArray:
        """Return the unknowns (n,) at states y = [q; u] that close all loops."""

    @abstractmethod
    def rates(self, t: float, unknowns: FloatArray) -> FloatArray:
        """Return Y' (n,) that satisfies the equations together with unknowns (n,) that came from `unknowns`."""

    @abstractmethod
    def states(self, unknowns: FloatArray) -> FloatArray:
        """Return the states [q; u], (..., nq + nu), of unknowns (..., n)."""


def solve_in(formulation: Formulation | None, problem: Problem, t_end: float, *args: Any, **options: Any) -> Solution:
    """Solve a problem in the states through the unknowns of a formulation, if any; arguments as of `solve`."""
    if formulation is None:
        return solve(problem, t_end, *args, **options)
    try:
        solution = solve(in_unknowns(formulation, problem), t_end, *args, **options)
    except BaseException as error:
        if isinstance(partial := getattr(error, "solution", None), Solution):
            with suppress(AttributeError, TypeError):
                error.solution = in_states(formulation, partial)  # type: ignore[attr-defined]
        raise
    return in_states(formulation, solution)


def in_unknowns(formulation: Formulation, problem: Problem) -> Problem:
    """Return a problem in the states as one in the unknowns of a formulation; its functions still get states."""
    events, on_event, on_step = problem.events, problem.on_event, problem.on_step

    def handle(t: float, unknowns: FloatArray, crossings: IntArray) -> Action | None:
        assert on_event is not None
        action = on_event(t, formulation.states(unknowns), crossings)
        if isinstance(action, Restart | Terminate) and action.y is not None:
            return type(action)(formulation.unknowns(t, np.asarray(action.y, dtype=np.float64)))
        return action

    assert events is None or callable(events)
    return Problem(
        formulation.rates,
        problem.t0,
        formulation.unknowns(problem.t0, problem.y0),
        events=None if events is None else lambda t, unknowns: events(t, formulation.states(unknowns)),
        directions=problem.directions,
        on_event=None if on_event is None else handle,
        on_step=None if on_step is None else lambda t, unknowns: on_step(t, formulation.states(unknowns)),
        on_progress=problem.on_progress,
        implicit=formulation.implicit,
    )


def in_states(formulation: Formulation, solution: Solution) -> Solution:
    """Return a solution in the unknowns of a formulation as one in the states."""
    states = formulation.states
    return replace(
        solution,
        y=states(solution.y),
        y_end=states(solution.y_end),
        events=[_event_in_states(formulation, event) for event in solution.events],
    )


def _event_in_states(formulation: Formulation, event: EventRecord) -> EventRecord:
    states = formulation.states
    return replace(event, y_before=states(event.y_before), y_after=states(event.y_after))
