"""A run in legs: up to each transition that has its time, so that a step ends there exactly."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork.simulation.dae.formulation import solve_in
from linkwork.solvers import Solution
from linkwork.solvers.solution import Statistics

if TYPE_CHECKING:
    from linkwork.simulation.run import Run


@dataclass(frozen=True)
class Settings:
    """What a solver is asked for, in all legs."""

    solver: str
    rtol: float
    atol: float
    t_eval: ArrayLike | None
    max_step: float | None
    first_step: float | None
    max_steps: int | None


def run_in_segments(run: Run, t_end: float, settings: Settings) -> Solution:
    """Return the states from the start of a run to its end.

    A row that is wanted at the very time of a transition is that after it. However a leg fails, the attribute
    `solution` of the exception holds what was computed until then.
    """
    t, y = run.t_start, run.y0
    legs: list[Solution] = []
    wanted = settings.t_eval
    while True:
        until = run.next_time(t_end)
        try:
            leg = _solved(run, t, y, until, t_end, replace(settings, t_eval=wanted), legs)
        except BaseException as error:
            if isinstance(partial := getattr(error, "solution", None), Solution):
                run.end_segment(len(partial.t))
                _keep(error, [*legs, partial])
            raise
        legs.append(leg)
        run.end_segment(len(leg.t))
        if wanted is not None:
            wanted = np.asarray(wanted, dtype=np.float64)[len(leg.t) :]
        try:
            t, y = until, run.pass_time(until, leg.y_end)
        except BaseException as error:
            _keep(error, legs)
            raise
        if until == t_end:
            return joined([*legs, *_last_row(run, t, y, leg, settings.t_eval)])


def _keep(error: BaseException, legs: list[Solution]) -> None:
    """Leave what was computed on an exception; some foreign ones take no attributes."""
    with suppress(AttributeError, TypeError):
        error.solution = joined(legs)  # type: ignore[attr-defined]


def _solved(
    run: Run, t: float, y: FloatArray, until: float, t_end: float, settings: Settings, before: list[Solution]
) -> Solution:
    wanted = settings.t_eval
    if wanted is not None and until != t_end:
        times = np.asarray(wanted, dtype=np.float64)
        wanted = times[: int(np.searchsorted(times, until))] if times.ndim == 1 else times
    left = settings.max_steps
    if left is not None and before:
        left = max(1, left - sum(leg.statistics.steps for leg in before))
    return solve_in(
        run.formulation,
        run.problem(t, y),
        until,
        settings.solver,
        settings.rtol,
        settings.atol,
        t_eval=wanted,
        max_step=settings.max_step,
        first_step=None if before else settings.first_step,
        max_steps=left,
    )


def _last_row(run: Run, t: float, y: FloatArray, leg: Solution, t_eval: ArrayLike | None) -> list[Solution]:
    """What follows the end of the run at once: a row of it, or in place of the last one."""
    if np.array_equal(y, leg.y_end):
        return []
    if t_eval is None:
        run.end_segment(1)
        return [replace(leg, t=np.array([t]), y=y[np.newaxis], y_end=y, events=[], statistics=Statistics())]
    if len(leg.t) and leg.t[-1] == t:
        leg.y[-1] = y
        run.move_last_row()
    return []


def joined(legs: list[Solution]) -> Solution:
    """Return legs that follow one another as one solution."""
    if len(legs) == 1:
        return legs[0]
    return replace(
        legs[-1],
        t=np.concatenate([leg.t for leg in legs]),
        y=np.concatenate([leg.y for leg in legs]),
        events=[event for leg in legs for event in leg.events],
        statistics=_summed([leg.statistics for leg in legs]),
    )


def _summed(statistics: list[Statistics]) -> Statistics:
    total = Statistics()
    for one in fields(Statistics):
        values = [getattr(each, one.name) for each in statistics]
        setattr(total, one.name, None if None in values else sum(values))
    return total
