"""Samples for dynamic checks: a bounded choice of variables, and the step."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TypeVar

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.check.instance import completed_step, step
from linkwork.fmu.description import Description, Number, Variable, as_number

Item = TypeVar("Item")
MOST = 200  # variables that are read at a time
STEPS = 20  # communication steps of a short run
GENTLE = 0.01  # of the size of a state: by how much an explicit step may move it


def spread(items: Sequence[Item], most: int) -> list[Item]:
    """At most so many, evenly chosen."""
    n = len(items)
    return list(items) if n <= most else [items[i * n // most] for i in range(most)]


def watched(one: Description) -> list[Variable]:
    """Real variables that show the behaviour: outputs, or local ones where there are none."""
    for causality in ("output", "local"):
        found = [v for v in one.variables if v.causality == causality and v.real]
        if found:
            return spread(found, MOST)
    return []


def real_inputs(one: Description) -> list[Variable]:
    """Continuous real inputs."""
    return [v for v in one.variables if v.causality == "input" and v.real and v.variability == "continuous"]


def step_length(one: Description) -> float:
    """The communication step that suits it, in the unit of time: a multiple of its internal step if that is fixed."""
    given, fixed = one.experiment, fixed_step(one)
    stop, start = given["stopTime"], given["startTime"] or 0.0
    length = (stop - start) / 100 if stop is not None and stop > start else 0.01
    if given["stepSize"] and given["stepSize"] > 0:
        length = given["stepSize"]
    return max(1, round(length / fixed)) * fixed if fixed else length


def fixed_step(one: Description) -> float | None:
    """The fixed internal step of Co-Simulation, which FMI 3.0 declares; None: there is none."""
    value = as_number(one.kinds["CS"].get("fixedInternalStepSize")) if "CS" in one.kinds else None
    return value if value and value > 0 else None


def takes_any_step(one: Description) -> bool:
    """Whether communication steps may have any length, and vary."""
    return one.able("CS", "canHandleVariableCommunicationStepSize") and fixed_step(one) is None


def short_step(one: Description) -> float:
    """Half of the suitable communication step where that is allowed."""
    return step_length(one) / 2 if takes_any_step(one) else step_length(one)


def bits(values: Sequence[float]) -> bytes:
    """Values as they are stored, for comparison to the bit."""
    return struct.pack(f"{len(values)}d", *values)


def steps(instance: FmuInstance, variables: Sequence[Variable], length: float, count: int) -> list[list[float]]:
    """Do steps in Co-Simulation; return what variables are after each."""
    rows = []
    for _ in range(count):
        step(instance, length)
        rows.append(instance.get(variables))
    return rows


def small_step(instance: FmuInstance, longest: float) -> tuple[float, list[float]]:
    """Time and states after an explicit step that moves no state far; nothing is set yet."""
    one = instance.description
    nominals = [number.variable.nominal for number in one.numbers(one.states)]
    x, rates = instance.continuous_states(), instance.derivatives()
    sizes = [max(abs(a), nominal) for a, nominal in zip(x, nominals, strict=True)]
    h = min([longest, *(GENTLE * size / abs(rate) for size, rate in zip(sizes, rates, strict=True) if rate)])
    return instance.time + h, [a + h * rate for a, rate in zip(x, rates, strict=True)]


def creep(instance: FmuInstance, length: float, count: int = STEPS) -> list[list[float]]:
    """Integrate in Model Exchange by small explicit steps, to a regular point; return the states of each step."""
    rows = []
    for _ in range(count):
        time, x = small_step(instance, length)
        instance.set_time(time)
        instance.set_continuous_states(x)
        completed_step(instance)
        rows.append(x + instance.derivatives())
    return rows


def differing(numbers: Sequence[Number], a: Sequence[float], b: Sequence[float]) -> str:
    """The first numbers, by name, that differ to the bit."""
    found = [one.name for one, x, y in zip(numbers, a, b, strict=True) if bits([x]) != bits([y])]
    return ", ".join(found[:3]) + (", ..." if len(found) > 3 else "")
