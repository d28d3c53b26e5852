"""Communication steps: where they end, and that results do not hang on their length."""

from __future__ import annotations

import math
from collections.abc import Iterator

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import runnable, running, step
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error, warning
from linkwork.fmu.check.sampling import STEPS, bits, real_inputs, step_length, steps, takes_any_step, watched
from linkwork.fmu.description import Variable

_VARIABLE = "canHandleVariableCommunicationStepSize"
_FACTOR = 1e3  # by which results may differ, in tolerances
_SMALL = 1e-6  # of the nominal value: differences of smaller values are measured against this


def _variable_steps(fmu: Fmu) -> None:
    runnable(fmu, "CS", why="no Co-Simulation")
    if not fmu.description.able("CS", _VARIABLE):
        raise NotApplicable(f"it does not declare {_VARIABLE}")
    if not takes_any_step(fmu.description):
        raise NotApplicable("its internal step is fixed, and communication steps are multiples of it")


@check("steps", "a step ends exactly where it is asked to, whatever its length", dynamic=True)
def lengths(fmu: Fmu) -> Iterator[Finding]:
    """Do steps of irrational length, and compare two that hardly differ."""
    _variable_steps(fmu)
    one = fmu.description
    h = step_length(one) * math.sqrt(2) / 3
    clock = [v for v in one.variables if v.causality == "independent" and v.real]
    with running(fmu, "CS") as instance:
        for length in (h, h * math.pi, h / math.e):
            found = list(_one_step(instance, length, clock))
            yield from found
            if found:
                break
    variables = watched(one)
    # Outputs that rest at first, as before the begin of a motion, are no evidence.
    begin, *after = (bits(_after(fmu, variables, length)) for length in (0.0, h, h * (1 - 1e-3), 10 * h))
    if begin != after[0] == after[1] != after[2]:
        yield error(
            f"a step of {h!r} and one shorter by a thousandth end in the same values: steps are cut to a grid; "
            f"go to the very end, or do not declare {_VARIABLE}"
        )


def _one_step(instance: FmuInstance, length: float, clock: list[Variable]) -> Iterator[Finding]:
    goal = instance.time + length
    early, reached = step(instance, length)
    if early:
        if not instance.description.able("CS", "mightReturnEarlyFromDoStep"):
            yield error("doStep returns early, which the model description does not declare")
        return
    if abs(reached - goal) > 1e-12 * max(1.0, abs(goal)):
        yield error(f"a step to t = {goal!r} reports lastSuccessfulTime {reached!r} without an early return")
    for value in instance.get(clock):
        if abs(value - goal) > 1e-12 * max(1.0, abs(goal)):
            yield error(f"after a step to t = {goal!r} {clock[0].name} is {value!r}; go to the very end")


def _after(fmu: Fmu, variables: list[Variable], length: float) -> list[float]:
    """Return the values after one step, or at the start time."""
    with running(fmu, "CS") as instance:
        if length > 0.0:
            step(instance, length)
        return instance.get(variables)


@check("step-size", "results do not depend on the communication step, within tolerance", dynamic=True)
def step_size(fmu: Fmu) -> Iterator[Finding]:
    """Compare steps with half of them."""
    _variable_steps(fmu)
    one = fmu.description
    variables, h = watched(one), step_length(one)
    allowed = _FACTOR * (one.experiment["tolerance"] or 1e-6)
    with running(fmu, "CS") as instance:
        coarse = steps(instance, variables, h, STEPS)
    with running(fmu, "CS") as instance:
        fine = steps(instance, variables, h / 2, 2 * STEPS)[1::2]
    for i, number in enumerate(one.numbers(variables)):
        a, b = [row[i] for row in coarse], [row[i] for row in fine]
        scale = max(_SMALL * number.variable.nominal, *map(abs, b))
        error_ = max(abs(x - y) for x, y in zip(a, b, strict=True)) / scale
        if error_ > allowed:
            yield warning(
                f"{number.name} differs by {error_:.1e} between steps of {h:g} and half of it ({allowed:.0e} were "
                "within tolerance); control the error inside of a step"
            )
            return


@check("inputs", "inputs can be set between steps", dynamic=True)
def inputs(fmu: Fmu) -> Iterator[Finding]:
    """Set all continuous inputs between steps and read them back."""
    runnable(fmu, "CS", why="no Co-Simulation")
    found = [
        v for v in real_inputs(fmu.description) if (v.number("max") or 1.0) >= 1.0 and (v.number("min") or 0.0) <= 1.0
    ]
    if not found:
        raise NotApplicable("no continuous inputs")
    h = step_length(fmu.description)
    numbers = fmu.description.numbers(found)
    with running(fmu, "CS") as instance:
        step(instance, h)
        instance.set(found, [0.25] * len(numbers))
        step(instance, h)
        for number, value in zip(numbers, instance.get(found), strict=True):
            if value != 0.25:
                yield error(f"the input {number.name} was set to 0.25 and reads {value!r} after a step; keep it")
