"""The variables of a controller as its class declares them: the one source of its FMU's files and descriptions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from linkwork.controllers.controller import Controller
from linkwork.errors import FmuError

FIRST_REFERENCE = {"2.0": 0, "3.0": 1}  # in FMI 3.0 as of mechanisms
_TYPES = {"Real": "real", "Boolean": "boolean", "Integer": "integer"}


@dataclass(frozen=True)
class Variable:
    """One variable; its value reference is its position, from `FIRST_REFERENCE` on."""

    name: str
    type: str  # "real", "boolean" or "integer"
    # causality, variability: as in FMI
    causality: str
    variability: str
    start: float  # start value, of outputs 0
    unit: str  # "1" if it has none
    description: str


@dataclass(frozen=True)
class Interface:
    """All variables of a controller."""

    name: str
    variables: tuple[Variable, ...]
    # By position of an output, those of the inputs, and of time, on which it depends directly.
    dependencies: dict[int, tuple[int, ...]]

    @property
    def time(self) -> int:
        """Return the position of time, which follows the variables."""
        return len(self.variables)

    @property
    def knowns(self) -> tuple[int, ...]:
        """Return the positions of those on which outputs may depend."""
        timed = any(self.time in knowns for knowns in self.dependencies.values())
        return (*self.positions("input"), *((self.time,) if timed else ()))

    def positions(self, causality: str) -> tuple[int, ...]:
        """Return the positions of one causality."""
        return tuple(i for i, one in enumerate(self.variables) if one.causality == causality)


def interface_of(controller: Controller, depends_on_time: bool) -> Interface:
    """Return the interface of an instance of a controller's class, whose outputs may depend on time directly."""
    variables = tuple(_variable(one, controller.units) for one in controller.vars.values())
    at = {one.name: i for i, one in enumerate(variables)}
    outputs = [i for i, one in enumerate(variables) if one.causality == "output"]
    inputs = tuple(i for i, one in enumerate(variables) if one.causality == "input")
    given = {at[name]: tuple(sorted(at[one] for one in knowns)) for name, knowns in controller.dependencies.items()}
    time = (len(variables),) if depends_on_time else ()
    dependencies = {i: (*given.get(i, inputs), *time) for i in outputs}
    return Interface(type(controller).__name__, variables, dependencies)


def _variable(one: Any, units: dict[str, str]) -> Variable:
    kind = _TYPES.get(type(one).__name__)
    if kind is None:
        raise FmuError(f"variable {one.name!r}: controllers in C have no variables of type {type(one).__name__}")
    start = float(one.getter())
    if math.isnan(start):
        raise FmuError(f"variable {one.name!r}: its start value is not a number")
    variability = one.variability.name if one.variability else "continuous" if kind == "real" else "discrete"
    causality = one.causality.name
    return Variable(one.name, kind, causality, variability, start, units.get(one.name, "1"), one.description or "")


@dataclass(frozen=True)
class Structure:
    """Sizes and numbers in the order in which the controller's C file in ``fmu_src/controllers`` takes them."""

    sizes: tuple[int, ...] = ()
    numbers: tuple[float, ...] = ()


def flat(rows: Iterable[Iterable[float]]) -> tuple[float, ...]:
    """Return the numbers of all rows, one row after the other.

    >>> flat([[1.0, 2.0], [3.0, 4.0]])
    (1.0, 2.0, 3.0, 4.0)
    """
    return tuple(value for row in rows for value in row)
