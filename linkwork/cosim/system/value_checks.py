"""Whether a value fits a variable."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.cosim.system.definition import Value

if TYPE_CHECKING:
    from linkwork.fmu.description import Variable


TRUTH = {"true": True, "false": False}


def misfit(component: str, value: Value, variable: Variable, fmu: str) -> Iterator[str]:
    """The first error of a value, if any."""
    where = f"FMU {fmu} (instance {component!r}): {variable.name!r}"
    low, high = variable.number("min"), variable.number("max")
    low, high = -math.inf if low is None else low, math.inf if high is None else high
    parts = _parts(value, variable)
    if variable.value_type is None:
        why = why_not_exchanged(variable) if variable.clocks else f"is of type {variable.type}, which"
        yield f"{where} {why}{': it' if variable.clocks else ''} cannot be set"
    elif not _can_be_set(variable):
        what = f"{variable.causality}, {variable.variability}"
        yield f"{where} cannot be set, the FMU computes it ({what}); set a parameter or input"
    elif len(parts) != variable.size:
        yield f"{where} has {count(variable.size)}, not {len(parts)}: it cannot be {value!r}"
    elif not all(_type_fits(part, variable) for part in parts):
        yield f"{where} is of type {variable.type}; it cannot be {value!r}; {_expected(variable)}"
    elif variable.value_type != "text" and not all(low <= float(part) <= high for part in parts):
        yield f"{where} lies within {low:g} ... {high:g}; it cannot be {value!r}"


def why_not_exchanged(variable: Variable) -> str:
    """Why a variable without a type of value is not exchanged, for an error's text."""
    if variable.clocks:
        return f"belongs to the clock {variable.clocks[0]!r}, and clocks are not activated"
    return f"is of type {variable.type}, which is not exchanged"


def _parts(value: Value, variable: Variable) -> list[Any]:
    """The numbers or texts of a value; numbers may be given as text, as on a command line."""
    if not isinstance(value, str) or variable.value_type == "text":
        plain: list[Any] = np.ravel(np.array(value, dtype=object)).tolist()  # integers of 64 bits stay integers
        return [one.item() if isinstance(one, np.generic) else one for one in plain]
    texts = value.split() if variable.size > 1 else [value]
    return [_number(text, variable) for text in texts]


def _number(text: str, variable: Variable) -> Any:
    """What a text means, or the text itself."""
    if variable.type == "Boolean" and text.lower() in TRUTH:
        return TRUTH[text.lower()]
    try:
        return float(text)
    except ValueError:
        return text


def _can_be_set(variable: Variable) -> bool:
    """Variables with a start value can be set before initialisation, except constants."""
    if variable.variability == "constant" or variable.causality in ("independent", "calculatedParameter"):
        return False
    return variable.causality not in ("output", "local") or variable.start is not None


def _type_fits(part: object, variable: Variable) -> bool:
    if variable.value_type == "text" or isinstance(part, str):
        return variable.value_type == "text" and isinstance(part, str)
    assert isinstance(part, (bool, int, float))
    if variable.type == "Boolean":
        return part in (0, 1)
    if isinstance(part, bool) or math.isnan(part):
        return False
    if variable.value_type == "real":
        return True
    low, high = integer_range(variable.type)
    items = [value for _, value in variable.items]
    return math.isfinite(part) and part == int(part) and low <= part < high and (not items or part in items)


def integer_range(kind: str) -> tuple[int, int]:
    """Return the lowest integer of a type, and the one above its highest."""
    digits = "".join(filter(str.isdigit, kind))
    bits = int(digits) if digits else 32
    return (0, 2**bits) if kind.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1))


def _expected(variable: Variable) -> str:
    if variable.items:
        return "give one of " + ", ".join(f"{value} ({name})" for name, value in variable.items)
    if variable.type == "Boolean":
        return "give True or False"
    return {"real": "give a number", "text": "give a text"}.get(
        variable.value_type or "", "give a whole number in its range"
    )


def count(size: int) -> str:
    """How many numbers, for an error's text."""
    return "one number" if size == 1 else f"{size} numbers"
