"""Variables declared as derivatives: a wrong value reference shows where they are not the rate of their state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from linkwork.fmu.check.differences import POINTS, wrong_slope
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import runnable, running, step
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error, warning
from linkwork.fmu.check.sampling import MOST, creep, short_step, spread, step_length, steps
from linkwork.fmu.description import Description, Variable

_SAME, _ZERO = 1e-9, 1e-12  # relative to the size of a value, and to the nominal value


@check("rates", "value references of states and their derivatives are those of their names", dynamic=True)
def rates(fmu: Fmu) -> Iterator[Finding]:
    """Compare them with the continuous states and derivatives, or in Co-Simulation with differences."""
    kinds = runnable(fmu, "ME", "CS")
    if "ME" in kinds:
        yield from _in_model_exchange(fmu)
    else:
        yield from _in_co_simulation(fmu)


def _in_model_exchange(fmu: Fmu) -> Iterator[Finding]:
    one = fmu.description
    states = one.states
    derivatives = [entry.variable for entry in one.unknowns("derivative") if entry.variable]
    if not states or len(derivatives) != len(states) or not all(v.real for v in (*states, *derivatives)):
        raise NotApplicable("no continuous states")
    with running(fmu, "ME") as instance:
        creep(instance, step_length(one) / 20)
        for what, variables, vector in (
            ("continuous state", states, instance.continuous_states()),
            ("derivative", derivatives, instance.derivatives()),
        ):
            yield from _same(one, what, variables, vector, instance.get(variables))


def _same(
    one: Description, what: str, variables: Sequence[Variable], vector: Sequence[float], values: Sequence[float]
) -> Iterator[Finding]:
    for number, expected, value in zip(one.numbers(variables), vector, values, strict=True):
        allowed = _SAME * max(abs(value), abs(expected)) + _ZERO * number.variable.nominal
        if not abs(value - expected) <= allowed:
            yield error(
                f"the {what} {number.name} is {expected:.9g} in the vector and {value:.9g} by its value reference "
                f"{number.variable.reference}; give it the reference of its own value"
            )


def _in_co_simulation(fmu: Fmu) -> Iterator[Finding]:
    one, h = fmu.description, short_step(fmu.description)
    found = [(v, one.find(v.given["derivative"])) for v in one.variables if v.given.get("derivative") is not None]
    pairs = spread([(v, state) for v, state in found if state and _scalar(v) and _scalar(state)], MOST)
    if not pairs:
        raise NotApplicable("no variable is declared as a derivative")
    both = [variable for pair in pairs for variable in pair]
    with running(fmu, "CS") as instance:
        for _ in range(2):
            step(instance, h)
        rows = steps(instance, both, h, POINTS)
    columns = list(zip(*rows, strict=True))
    for (derivative, state), rate, values in zip(pairs, columns[::2], columns[1::2], strict=True):
        slope = wrong_slope(values, rate, h, one.experiment["tolerance"] or 1e-6)
        if slope is not None:
            yield warning(
                f"{derivative.name}, declared as the derivative of {state.name}, is {rate[2]:.9g}; differences give "
                f"{slope:.9g}; look at the value references of both"
            )


def _scalar(variable: Variable) -> bool:
    return variable.real and not variable.dimensions
