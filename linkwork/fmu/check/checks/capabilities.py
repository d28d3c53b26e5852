"""What an FMU declares that it can, tried once: abilities that no other check needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.check.differences import POINTS, wrong_slope
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import EndOfSimulation, enter, runnable, running, settle, start, step
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error, note
from linkwork.fmu.check.sampling import MOST, real_inputs, short_step, spread, step_length, takes_any_step, watched
from linkwork.fmu.description import Description, Variable, references

_UPDATES = "providesIntermediateUpdate"
_RETURNS = "canReturnEarlyAfterIntermediateUpdate"
_RATES = "maxOutputDerivativeOrder"
_OF_RATE = 1e-2  # relative error of what a rate does
_STEPS = 50  # communication steps that are one, so that the integrator takes some of its own


class _Remark(str):
    """A text that is no error."""


@check(
    "abilities",
    "declared capabilities work when tried: interpolation, rates, intermediate updates",
    dynamic=True,
)
def abilities(fmu: Fmu) -> Iterator[Finding]:
    """Try each ability of Co-Simulation that is declared."""
    runnable(fmu, "CS", why="no Co-Simulation")
    declared = [(names, attempt) for names, attempt in _ATTEMPTS if _declares(fmu.description, names)]
    if not declared:
        raise NotApplicable("it declares nothing that other checks do not try")
    for name, attempt in declared:
        try:
            for said in attempt(fmu):
                level = note if isinstance(said, _Remark) else error
                yield level(f"it declares {name}, but {said}")
        except EndOfSimulation:
            raise
        except Exception as problem:  # a status other than OK
            said = "; ".join(getattr(problem, "__notes__", ()))
            yield error(f"it declares {name}, but {problem}" + (f" The FMU reports: {said}" if said else ""))


def _declares(one: Description, name: str) -> bool:
    value = one.kinds["CS"].get(name)
    return value not in (None, "false", "0") and (one.fmi3 or name in _OF_FMI2)


def _interpolation(fmu: Fmu) -> Iterator[str]:
    """Inputs with a rate: a step ends where two halves of it end that follow the same line."""
    inputs = [one for one in real_inputs(fmu.description) if one.number("max") is None and one.number("min") is None]
    if not inputs:
        return
    variables, tolerance = watched(fmu.description), fmu.description.experiment["tolerance"] or 1e-6
    lines, held = ([_on_a_line(fmu, inputs, variables, n, *how) for n in (1, 2)] for how in ((0.0, 1.0), (1.0, 1.0)))
    still = _on_a_line(fmu, inputs, variables, 1, 0.0, 0.0)

    def differ(runs: list[list[float]], i: int) -> bool:
        a, b = (run[i] for run in runs)
        return not abs(a - b) <= _OF_RATE * abs(b - still[i]) + 10 * tolerance * max(1.0, abs(b))

    coarse = any(differ(held, i) for i in range(len(still)))
    for i, number in enumerate(fmu.description.numbers(variables)):
        if differ(lines, i):
            a, b = (run[i] for run in lines)
            text = f"after a step with inputs on a line {number.name} is {a:.9g}, after two halves of it {b:.9g}"
            yield _Remark(f"{text}; with constant inputs results depend on the step too") if coarse else text
            return


def _on_a_line(
    fmu: Fmu, inputs: list[Variable], variables: list[Variable], parts: int, begin: float, end: float
) -> list[float]:
    """Values after inputs that go from their begin to their end in a step, or in parts of it."""
    length, n = 4 * step_length(fmu.description), sum(one.size for one in inputs)
    with running(fmu, "CS") as instance:
        for part in range(parts):
            instance.set(inputs, [begin + part / parts * (end - begin)] * n)
            if begin != end:
                instance.set_input_derivatives(inputs, [(end - begin) / length] * n)
            step(instance, length / parts)
        return instance.get(variables)


def _rates(fmu: Fmu) -> Iterator[str]:
    """Each derivative of outputs up to the declared order against differences of the one before."""
    one, h = fmu.description, short_step(fmu.description)
    highest = int(one.kinds["CS"].get(_RATES, "0"))
    outputs = [v for v in one.variables if v.causality == "output" and v.real and v.variability == "continuous"]
    outputs = spread([v for v in outputs if not v.dimensions], MOST)
    if not outputs:
        return
    found: list[list[list[float]]] = [[] for _ in range(highest + 1)]  # by order and time
    with running(fmu, "CS") as instance:
        for _ in range(2):
            step(instance, h)
        for _ in range(POINTS):
            step(instance, h)
            found[0].append(instance.get(outputs))
            found[1].append(instance.output_derivatives(outputs))
            for order in range(2, highest + 1):
                try:
                    found[order].append(instance.output_derivatives(outputs, order))
                except Exception as problem:  # a status other than OK
                    yield f"order {order} of {highest} cannot be read: {problem}"
                    return
    for order in range(1, highest + 1):
        columns = (zip(*found[k], strict=True) for k in (order - 1, order))
        for variable, values, rates in zip(outputs, *columns, strict=True):
            slope = wrong_slope(values, rates, h, one.experiment["tolerance"] or 1e-6)
            if slope is not None:
                what = "rate" if order == 1 else f"derivative of order {order}"
                yield f"the {what} of {variable.name} is given as {rates[2]:.9g}; differences give {slope:.9g}"
                return


def _updates(fmu: Fmu) -> Iterator[str]:
    """A long step in which the importer looks at all that it asked for."""
    calls: list[float] = []
    failed: list[str] = []
    seen = [one for one in watched(fmu.description) if one.variability == "continuous"]

    def look(_environment: Any, time: float, _set: bool, get: bool, *_rest: Any) -> None:
        calls.append(time)
        try:
            if get:
                instance.get(seen)
        except Exception as problem:  # which may not pass through the library
            failed.append(str(problem))

    with running(
        fmu, "CS", started=False, intermediateUpdate=look, requiredIntermediateVariables=references(seen)
    ) as instance:
        enter(instance)
        start(instance)
        calls.clear()
        begin, length = instance.time, _long(fmu.description)
        step(instance, length)
        if not calls:
            yield "nothing was called in a long step"
        if any(not begin <= time <= begin + length * (1 + 1e-9) for time in calls):
            yield f"it was called at times outside of the step, {min(calls):g} to {max(calls):g}"
        if failed:
            yield f"what may be read then cannot: {failed[0]}"


def _early(fmu: Fmu) -> Iterator[str]:
    """An early return is asked for as soon as it may be."""
    asked: list[float] = []

    def stop(_environment: Any, time: float, *rest: Any) -> None:
        *_flags, can_return, requested, return_time = rest
        if can_return and not asked:
            asked.append(time)
            requested[0], return_time[0] = True, time

    with running(fmu, "CS", started=False, earlyReturnAllowed=True, intermediateUpdate=stop) as instance:
        enter(instance)
        start(instance)
        goal = instance.time + _long(fmu.description)
        early, reached = step(instance, goal - instance.time)
        if asked and not (early and asked[0] <= reached < goal):
            yield f"a step to {goal:g}, asked to end at {asked[0]:g}, continued to {reached:g} (earlyReturn {early})"
        if early and takes_any_step(fmu.description):
            step(instance, goal - reached)


def _event_mode(fmu: Fmu) -> Iterator[str]:
    """Through Event Mode at the start and after a step."""
    h = step_length(fmu.description)
    with running(fmu, "CS", started=False, eventModeUsed=True) as instance:
        enter(instance)
        instance.exit_initialization()
        settle(instance)
        instance.enter_step_mode()
        for _ in range(3):
            step(instance, h)
            instance.enter_event_mode()
            settle(instance)
            instance.enter_step_mode()
        wrong = [v.name for v, x in _values(instance, watched(fmu.description)) if not math.isfinite(x)]
        if wrong:
            yield f"{wrong[0]} is not finite after some steps"


def _evaluation(fmu: Fmu) -> Iterator[str]:
    with running(fmu, "CS", started=False) as instance:
        enter(instance)
        instance.evaluate_discrete_states()
    yield from ()


def _values(instance: FmuInstance, variables: list[Variable]) -> list[tuple[Variable, float]]:
    numbers = instance.description.numbers(variables)
    return [(number.variable, value) for number, value in zip(numbers, instance.get(variables), strict=True)]


def _long(one: Description) -> float:
    start, stop = one.experiment["startTime"] or 0.0, one.experiment["stopTime"]
    step, count = step_length(one), _STEPS
    if stop is not None and stop > start:
        count = max(1, min(count, int(0.9 * (stop - start) / step)))
    return count * step


_ATTEMPTS: list[tuple[str, Callable[[Fmu], Iterator[str]]]] = [
    ("canInterpolateInputs", _interpolation),
    (_RATES, _rates),
    (_UPDATES, _updates),
    (_RETURNS, _early),
    ("hasEventMode", _event_mode),
    ("providesEvaluateDiscreteStates", _evaluation),
]
_OF_FMI2 = ("canInterpolateInputs", _RATES)
