"""Start, minimum, maximum and nominal of variables."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, error, warning
from linkwork.fmu.description import REALS, Description, Variable, as_number

_INTEGERS3 = {f"{sign}Int{bits}": (sign, bits) for sign in ("", "U") for bits in (8, 16, 32, 64)}


@check("values", "start values are numbers of their type and within min and max; nominal is not zero")
def values(fmu: Fmu) -> Iterator[Finding]:
    """Look at the numbers of each variable."""
    for one in fmu.description.variables:
        if one.type in REALS or one.type in ("Integer", "Enumeration", *_INTEGERS3):
            yield from _numbers(one)
        elif one.type == "Boolean" and one.start is not None:
            wrong = [text for text in one.start.split() if text not in ("true", "false", "0", "1")]
            if wrong or not one.start.split():
                yield error(f"start of {one.name} is {one.start!r}; a boolean is 'true' or 'false'")


def _numbers(one: Variable) -> Iterator[Finding]:
    low, high, nominal = (one.number(name) for name in ("min", "max", "nominal"))
    for name in ("min", "max", "nominal"):
        if one.attribute(name) is not None and one.number(name) is None:
            yield error(f"{name} of {one.name} is {one.attribute(name)!r}, not a number")
    if low is not None and high is not None and low > high:
        yield error(f"min {low:g} of {one.name} is above its max {high:g}")
    if nominal == 0:
        yield error(f"nominal of {one.name} is zero; leave it out or give its usual size")
    for text in (one.start or "").split():
        yield from _start(one, text, low, high)
    if one.start is not None and not one.start.split() and not one.dimensions:
        yield error(f"start of {one.name} is empty; give a number")


def _start(one: Variable, text: str, low: float | None, high: float | None) -> Iterator[Finding]:
    value = as_number(text)
    if value is None or (one.type not in REALS and not text.lstrip("+-").isdigit()):
        yield error(f"start of {one.name} is {text!r}, not a number of its type {one.type}")
        return
    if value != value or abs(value) == float("inf"):
        yield error(f"start of {one.name} is {text}; give a finite number")
    if (low is not None and value < low) or (high is not None and value > high):
        limits = f"[{'-inf' if low is None else f'{low:g}'}, {'inf' if high is None else f'{high:g}'}]"
        yield error(f"start {text} of {one.name} lies outside {limits}; move it or the limits")
    if one.type in _INTEGERS3:
        sign, bits = _INTEGERS3[one.type]
        least, most = (0, 2**bits - 1) if sign else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if not least <= int(text) <= most:
            yield error(f"start {text} of {one.name} does not fit its type {one.type}")


@check("starts", "start values are there where the standard requires them, and nowhere where it forbids them")
def starts(fmu: Fmu) -> Iterator[Finding]:
    """Look at where start values are."""
    for one in fmu.description.variables:
        if one.type == "Clock":
            continue
        required = one.initial in ("exact", "approx") or one.causality in ("input", "parameter", "structuralParameter")
        if required and one.start is None:
            why = f'initial="{one.initial}"' if one.initial else f"causality {one.causality}"
            yield error(f"{one.name} has no start value, which {why} requires; add it")
        if one.start is not None and (one.initial == "calculated" or one.causality == "independent"):
            why = 'initial="calculated"' if one.initial == "calculated" else "being independent"
            yield error(f"{one.name} has a start value, which {why} forbids; drop it")


@check("states", "reinit is given for continuous states only, and derivatives belong to a real variable")
def states(fmu: Fmu) -> Iterator[Finding]:
    """Look at the attributes `reinit` and `derivative`."""
    one = fmu.description
    known = {id(state) for state in one.states}
    for variable in one.variables:
        if variable.given.get("reinit") in ("true", "1") and id(variable) not in known:
            yield error(f"{variable.name} has reinit, but is no continuous state; drop it")
        if variable.given.get("derivative") is not None:
            yield from _derivative(one, variable)


def _derivative(description: Description, variable: Variable) -> Iterator[Finding]:
    state = description.find(variable.given["derivative"])
    if state is None:
        yield error(f"derivative of {variable.name} names {variable.given['derivative']}, which is no variable")
    elif state is variable:
        yield error(f"{variable.name} is declared as its own derivative; name the state")
    elif state.type not in REALS or state.variability != "continuous":
        yield error(f"{variable.name} is declared as the derivative of {state.name}, which is no continuous real")
    elif state.causality not in ("local", "output", "input"):
        yield error(f"{variable.name} is declared as the derivative of the {state.causality} {state.name}")
    elif state.unit is not None and state.unit == variable.unit != "1":
        yield warning(f"{variable.name} has the unit {variable.unit} of its state {state.name}; divide it by a time")
    elif _is_another_rate(description, state, variable):
        yield warning(
            f"{variable.name} has the unit {variable.unit}, which is not that of its state {state.name}, "
            f"{state.unit}, divided by a time; look at the unit and at the state that it names"
        )


def _is_another_rate(description: Description, state: Variable, variable: Variable) -> bool:
    """Whether both have base units, and these are not those of a quantity and its rate."""
    units = description.base_units
    if state.unit not in units or variable.unit not in units:
        return False
    rate = dict(units[state.unit])
    rate["s"] = rate.get("s", 0) - 1
    return {base: n for base, n in rate.items() if n} != units[variable.unit]
