"""Parameters of a model by name, alone or moving together along weights, as numbers of the block.

A combination such as the length of a link moves several numbers of the model: element k changes by its weight w_k
times the change of the combination. The value of a combination is that of its first member over the weight of that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray, names_of, number, shortened
from linkwork._util.names import quoted
from linkwork.core.native import Block
from linkwork.errors import MechanismError
from linkwork.mechanism.quantities import Kind
from linkwork.variables.schema import Variable, matching

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase

Combinations = Mapping[str, Mapping[str, float]]
"""Weights by the name of a model's parameter, by the name of the combination."""

SETTABLE: tuple[Kind, ...] = ("parameter", "start")
COMPUTED: tuple[Kind, ...] = ("state", "derivative", "output")


class ParameterSet:
    """Parameters of a model, p of them, over m numbers of its block.

    Parameters
    ----------
    model
        A compiled mechanism.
    names
        Of parameters or start values as an FMU has them, such as "crank.mass"; of a group, such as "crank.com", all of
        its elements; of combinations.
    combinations
        Weights by parameter, by the name of the combination.
    """

    def __init__(self, model: ModelBase, names: Sequence[str], combinations: Combinations | None = None) -> None:
        known = [variable for variable in model.variables if variable.type == "real" and not variable.discrete]
        combined = _checked(combinations)
        _refuse_names_of_variables(model, combined)
        self.model = model
        moved: dict[str, dict[str, float]] = {}
        elements: dict[str, Variable] = {}
        units: dict[str, str] = {}
        for name in names_of(names, "parameters"):
            if name in combined:
                refuse_repeated([name], moved, name)
                members = {}
                for member, weight in combined[name].items():
                    found = matching(known, member, SETTABLE, f"combinations: {name!r}")
                    if len(found) > 1:
                        raise MechanismError(
                            f"combinations: {name!r}: {member!r} stands for {len(found)} numbers, which have a weight "
                            f"each: {quoted(variable.name for variable in found)}"
                        )
                    members[found[0].name] = weight
                    elements[found[0].name] = found[0]
                moved[name] = members
                units[name] = elements[next(iter(members))].unit
                continue
            fitting = matching(known, name, SETTABLE, "parameters")
            refuse_repeated([variable.name for variable in fitting], moved, name)
            for variable in fitting:
                moved[variable.name] = {variable.name: 1.0}
                elements[variable.name] = variable
                units[variable.name] = variable.unit
        if not moved:
            raise MechanismError("parameters is empty: name at least one, such as 'crank.mass'")
        # names, units: of the p parameters
        self.names, self.units = tuple(moved), tuple(units[name] for name in moved)
        self.elements = tuple(elements)  # names of the m numbers that they move
        # (m,), where these stand in the block.
        self.offsets = np.array([variable.reference for variable in elements.values()], dtype=np.uint32)
        # (m, p), their derivative by the parameters.
        self.weights = np.array([[moved[name].get(element, 0.0) for name in self.names] for element in self.elements])
        self._base = model.block().reals[self.offsets]
        at = {element: k for k, element in enumerate(self.elements)}
        # (p,), those of the model.
        self.values = np.array(
            [self._base[at[first]] / weight for first, weight in (next(iter(moved[n].items())) for n in self.names)]
        )

    def __len__(self) -> int:
        return len(self.names)

    def numbers(self, values: FloatArray) -> FloatArray:
        """Return what the m numbers of the model are at values (p,) of the parameters."""
        moved: FloatArray = self._base + self.weights @ (values - self.values)
        return moved

    def put(self, block: Block, values: FloatArray) -> None:
        """Write values (p,) into a block of the model; MechanismError on one that the model cannot have."""
        block.set(self.offsets, self.numbers(values))

    def by_element(self, values: FloatArray) -> dict[str, float]:
        """Return the numbers of the model by name, as `with_parameters` takes them."""
        return dict(zip(self.elements, self.numbers(values).tolist(), strict=True))

    def describe(self, values: Iterable[float]) -> str:
        """Return values for a message: "length = 0.4 m, crank.mass = 1 kg"."""
        rows = zip(self.names, values, self.units, strict=True)
        return ", ".join(f"{name} = {value:.6g}{'' if unit == '1' else ' ' + unit}" for name, value, unit in rows)


def computed_variables(model: ModelBase, names: Sequence[str], what: str = "of") -> list[Variable]:
    """Return the smooth variables that names, or beginnings of names up to a dot or bracket, stand for."""
    known = [variable for variable in model.variables if variable.type == "real" and not variable.discrete]
    found: dict[str, Variable] = {}
    for name in names_of(names, what):
        found |= {variable.name: variable for variable in matching(known, name, COMPUTED, what)}
    if not found:
        raise MechanismError(f"{what} is empty: name at least one variable, such as 'coupler.r'")
    return list(found.values())


def refuse_repeated(elements: Iterable[str], before: Collection[str], name: str) -> None:
    """Refuse a name of elements that names before stand for as well."""
    if repeated := [element for element in elements if element in before]:
        other = "" if repeated[0] == name else f", by {name!r} too"
        raise MechanismError(f"parameters: {repeated[0]!r} is named twice{other}: name it once")


def _refuse_names_of_variables(model: ModelBase, combinations: Iterable[str]) -> None:
    known = {variable.name for variable in model.variables}
    known |= {name.partition("[")[0] for name in known}
    for name in combinations:
        if name in known:
            raise MechanismError(
                f"combinations: {name!r} is a variable of the mechanism: give the combination another name"
            )


def _checked(combinations: Combinations | None) -> dict[str, dict[str, float]]:
    if not isinstance(combinations, Mapping | None):
        raise MechanismError(f"combinations must be a dictionary of weights by name, not {combinations!r}")
    found: dict[str, dict[str, float]] = {}
    for name, weights in (combinations or {}).items():
        if not isinstance(name, str):
            raise MechanismError(f"combinations must have names, not {shortened(name)}")
        if not isinstance(weights, Mapping) or not weights:
            raise MechanismError(f"combinations: {name!r} must have weights by parameter, not {weights!r}")
        found[name] = {
            member: number(weight, f"weight of {member!r} in {name!r}") for member, weight in weights.items()
        }
        if not next(iter(found[name].values())):
            raise MechanismError(f"combinations: the first weight of {name!r} is zero, which gives it no value")
    return found
