"""Model Exchange: unknowns follow from states, inputs and time, whatever was evaluated before."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import runnable, running
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error
from linkwork.fmu.check.sampling import creep, step_length, watched
from linkwork.fmu.description import Description, Variable

_SAME = 1e-7  # relative: more than rounding, and than what iterations within a tolerance leave
_CANCELLED = 1e-6  # of the largest value: smaller ones may be the difference of such
_NEAR, _FAR = 0.1, 3.0  # by how much states move, in nominal values
_SAMPLES = 3
_NEIGHBOURS, _ROUNDING = 8, 1e-13
_LONGEST = 10.0  # seconds


@dataclass(frozen=True)
class _Visit:
    """Time and states to evaluate at."""

    name: str
    time: float
    x: list[float]


@check("history", "unknowns follow from states and time alone, whatever was evaluated before", dynamic=True)
def history(fmu: Fmu) -> Iterator[Finding]:
    """Evaluate states in a new instance, and once more after others, in motion and at rest."""
    runnable(fmu, "ME", why="no Model Exchange")
    one = fmu.description
    if not one.n_states:
        raise NotApplicable("no continuous states")
    variables = [v for v in watched(one) if v.variability == "continuous"]
    visits = _visits(fmu)
    detours = [visit for visit in visits if visit.name != "at rest"]
    end = time.monotonic() + _LONGEST
    for visit in visits:
        if time.monotonic() > end:
            return
        with running(fmu, "ME") as instance:
            first = _evaluate(instance, visit, variables)
            if first is None:
                continue  # states that it refuses in any case
            for detour in detours:
                _evaluate(instance, detour, variables)
                again = _evaluate(instance, visit, variables)
                found = _compare(fmu, variables, (detour, visit), first, again)
                if found:
                    yield error(f"{found}; let it depend on states, inputs and time alone")
                    return


def _visits(fmu: Fmu) -> list[_Visit]:
    """Points near the start and farther away, in motion and at rest."""
    one, random_numbers = fmu.description, random.Random(0)
    with running(fmu, "ME") as instance:
        start, x = instance.time, instance.continuous_states()
        creep(instance, step_length(one) / 20)
        moving, speeds = instance.continuous_states(), _speeds(one, instance)
        nominals = instance.nominals()
        later = instance.time

    def move(by: float) -> list[float]:
        return [a + by * nominal * random_numbers.uniform(-1, 1) for a, nominal in zip(x, nominals, strict=True)]

    found = [_Visit("at the start", start, x), _Visit("shortly after the start", later, moving)]
    for _ in range(_SAMPLES):
        near = move(_NEAR)
        found.append(_Visit("near the start", start, near))
        found.append(_Visit("in motion", later, [a + (i in speeds) for i, a in enumerate(near)]))
        found.append(_Visit("at rest", later, [0.0 if i in speeds else a for i, a in enumerate(near)]))
    return [*found, _Visit("far from the start", later, move(_FAR))]


def _speeds(one: Description, instance: FmuInstance) -> set[int]:
    """States that are the derivatives of others."""
    by_name = {number.name: i for i, number in enumerate(one.numbers(one.states))}
    x = instance.continuous_states()
    probes = [
        (0.3 + 0.01 * i) * size for i, size in enumerate(instance.nominals())
    ]  # which no derivative has by chance
    instance.set_continuous_states([a + 1e-3 * b for a, b in zip(x, probes, strict=True)])
    try:
        states, rates = instance.continuous_states(), set(instance.derivatives())
    except Exception:  # a status other than OK
        states, rates = x, set(instance.derivatives())
    finally:
        instance.set_continuous_states(x)
    return {i for i in by_name.values() if states[i] in rates}


def _evaluate(instance: FmuInstance, visit: _Visit, variables: Sequence[Variable]) -> list[float] | None:
    """Derivatives, indicators and outputs; None: the FMU refuses these states."""
    try:
        instance.set_time(visit.time)
        instance.set_continuous_states(visit.x)
        return [*instance.derivatives(), *instance.event_indicators(), *instance.get(variables)]
    except Exception:  # a status other than OK
        return None


def _compare(
    fmu: Fmu, variables: list[Variable], way: tuple[_Visit, _Visit], first: list[float], again: list[float] | None
) -> str | None:
    """Return how the values differ; None: they do not."""
    detour, visit = way
    if again is None:
        return f"a state {visit.name} is refused after an evaluation {detour.name}, but not in a new instance"
    least = max(1.0, _CANCELLED * max((abs(value) for value in first if math.isfinite(value)), default=0.0))
    pairs = list(zip(first, again, strict=True))
    different = [i for i, (a, b) in enumerate(pairs) if not _agree(a, b, least)]
    if not different:
        return None
    nearby = list(_nearby(fmu, visit, variables))
    for i in different:
        a, b = pairs[i]
        if not any(_agree(values[i], b, least) for values in nearby):
            name = _names(fmu.description, variables)[i]
            return f"{name} {visit.name} is {a:.9g}, and {b:.9g} after an evaluation {detour.name}"
    return None


def _agree(a: float, b: float, least: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or abs(a - b) <= _SAME * max(least, abs(a))


def _nearby(fmu: Fmu, visit: _Visit, variables: list[Variable]) -> Iterator[list[float]]:
    """Values in new instances at states that differ by rounding: where one jumps, histories differ as well."""
    random_numbers = random.Random(1)
    for _ in range(_NEIGHBOURS):
        with running(fmu, "ME") as instance:
            x = [a + _ROUNDING * max(1.0, abs(a)) * random_numbers.uniform(-1, 1) for a in visit.x]
            values = _evaluate(instance, _Visit(visit.name, visit.time, x), variables)
            if values is not None:
                yield values


def _names(one: Description, variables: list[Variable]) -> list[str]:
    """What `_evaluate` returns."""
    names = [f"the derivative of {number.name}" for number in one.numbers(one.states)]
    names += [f"event indicator {i + 1}" for i in range(one.n_indicators)]
    return names + [number.name for number in one.numbers(variables)]
