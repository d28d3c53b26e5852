"""The contract of a formulation: other unknowns than the states, and implicit equations for them."""

from __future__ import annotations

from abc import ABC, abstractmethod

from linkwork._util.checks import FloatArray
from linkwork.solvers import Implicit, Problem


class Formulation(ABC):
    """Differential-algebraic equations of a mechanism in unknowns Y of its own.

    A new one is a module with a subclass, and a line in `linkwork.simulation.dae.registry`.
    """

    implicit: Implicit  #: the equations

    @abstractmethod
    def unknowns(self, t: float, y: FloatArray) -> FloatArray:
        """Return the unknowns (n,) at states y that close all loops."""

    @abstractmethod
    def rates(self, t: float, unknowns: FloatArray) -> FloatArray:
        """Return Y' (n,) that satisfies the equations together with unknowns (n,) that came from `unknowns`."""

    @abstractmethod
    def states(self, unknowns: FloatArray) -> FloatArray:
        """Return the states (..., n_states) of unknowns (..., n)."""


def in_unknowns(formulation: Formulation, problem: Problem) -> Problem:
    """Return a problem in the states as one in the unknowns of a formulation; its functions still get states."""
    events, on_step = problem.events, problem.on_step
    angular_speed, turn_of_step = problem.angular_speed, problem.turn_of_step
    assert events is None or callable(events)
    return Problem(
        formulation.rates,
        problem.t0,
        formulation.unknowns(problem.t0, problem.y0),
        events=None if events is None else lambda t, unknowns: events(t, formulation.states(unknowns)),
        on_step=None if on_step is None else lambda t, unknowns: on_step(t, formulation.states(unknowns)),
        angular_speed=None
        if angular_speed is None
        else lambda t, unknowns, enough: angular_speed(t, formulation.states(unknowns), enough),
        turn_of_step=None
        if turn_of_step is None
        else lambda step, start, end: turn_of_step(step, formulation.states(start), formulation.states(end)),
        implicit=formulation.implicit,
    )
