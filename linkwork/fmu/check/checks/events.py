"""Model Exchange at events: numbers of states and indicators, nominals, and an end to every event."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import completed_step, event, runnable, running
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error, warning
from linkwork.fmu.check.sampling import differing, small_step, step_length

_MOST, _LONGEST = 2000, 5.0  # small steps, and seconds, to look for a zero crossing
_HALVES = 60


@check(
    "events", "states and indicators are as many as declared, nominals above zero, events come to an end", dynamic=True
)
def events(fmu: Fmu) -> Iterator[Finding]:
    """Look at the start and at an event without a cause."""
    runnable(fmu, "ME", why="no Model Exchange")
    one = fmu.description
    with running(fmu, "ME") as instance:
        if one.fmi3:
            kinds, declared = ("continuous states", "event indicators"), (one.n_states, one.n_indicators)
            for said, number, expected in zip(kinds, instance.counts(), declared, strict=True):
                if number != expected:
                    yield error(f"the library has {number} {said}, ModelStructure {expected}; make them agree")
        values = {
            "state": instance.continuous_states(),
            "derivative": instance.derivatives(),
            "event indicator": instance.event_indicators(),
        }
        for said, numbers in values.items():
            wrong = [str(i + 1) for i, value in enumerate(numbers) if not math.isfinite(value)]
            if wrong:
                yield error(f"after initialisation {said} {', '.join(wrong[:5])} is not finite")
        names = [number.variable.name for number in one.numbers(one.states)]
        for name, nominal in zip(names, instance.nominals(), strict=True):
            if not nominal > 0:
                yield error(f"the nominal value of {name} is {nominal!r}; it must be above zero")
        x = instance.continuous_states()
        changed = event(instance)
        if instance.continuous_states() != x:
            yield error(
                "a second event at the start, without a cause, moves the states; an event must be over when it is"
            )
        elif changed:
            yield warning(
                "an event without a cause reports that values of states changed, which did not; importers that begin "
                "again then never come to an end"
            )


@check(
    "crossings",
    "where an event indicator crosses zero the event happens once, however often it is handled",
    dynamic=True,
)
def crossings(fmu: Fmu) -> Iterator[Finding]:
    """Go to the first zero crossing and handle its event twice: importers differ on the sign that zero belongs to."""
    runnable(fmu, "ME", why="no Model Exchange")
    if not fmu.description.n_indicators:
        raise NotApplicable("no event indicators")
    with running(fmu, "ME") as instance:
        crossed = _to_crossing(instance)
        if crossed is None:
            raise NotApplicable("no event indicator crosses zero in the time looked at")
        before, told = instance.continuous_states(), event(instance)
        x = instance.continuous_states()
        yield from _jumps(fmu, before, x, told)
        event(instance)
        moved = differing(fmu.description.numbers(fmu.description.states), x, instance.continuous_states())
        if moved:
            yield error(
                f"at t = {instance.time:.6g}, where event indicator {crossed} crosses zero, {moved} move once more "
                "when the event is handled again; let it happen once"
            )


def _jumps(fmu: Fmu, before: list[float], after: list[float], told: bool) -> Iterator[Finding]:
    """An event that changes states reports that."""
    numbers = fmu.description.numbers(fmu.description.states)
    moved = [number for number, a, b in zip(numbers, before, after, strict=True) if a != b]
    for number in moved:
        if number.variable.given.get("reinit") not in ("true", "1"):
            yield error(f"an event moves the state {number.name}, which has no reinit; mark it")
            break
    if moved and not told:
        yield error(f"an event moves the state {moved[0].name}, but reports that values of states did not change")


def _to_crossing(instance: FmuInstance) -> int | None:
    """Integrate until an indicator has just changed its sign; return its number, from 1."""
    one, end = instance.description, time.monotonic() + _LONGEST
    stop = one.experiment["stopTime"]
    for _ in range(_MOST):
        t0, x0, z0 = instance.time, instance.continuous_states(), instance.event_indicators()
        t1, x1 = small_step(instance, step_length(one))
        if (stop is not None and t1 > stop) or time.monotonic() > end:
            return None

        def go(part: float, t0: float = t0, t1: float = t1, x0: list[float] = x0, x1: list[float] = x1) -> list[float]:
            instance.set_time(t0 + part * (t1 - t0))
            instance.set_continuous_states([a + part * (b - a) for a, b in zip(x0, x1, strict=True)])
            return instance.event_indicators()

        crossed = _crossed(z0, go(1.0))
        if crossed is not None:
            low, high = 0.0, 1.0
            for _ in range(_HALVES):
                middle = 0.5 * (low + high)
                low, high = (low, middle) if _crossed(z0, go(middle)) is not None else (middle, high)
            return (_crossed(z0, go(high)) or 0) + 1
        completed_step(instance)
    return None


def _crossed(before: list[float], after: list[float]) -> int | None:
    """The first indicator with another sign than before, where zero counts as negative."""
    return next((i for i, (a, b) in enumerate(zip(before, after, strict=True)) if (a > 0) != (b > 0)), None)
