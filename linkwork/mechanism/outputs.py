"""Outputs by formulas: variables of a mechanism that are made of its other variables and change nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from linkwork.errors import MechanismError
from linkwork.formula import LookupTable, Source
from linkwork.formula.units import read_unit
from linkwork.mechanism import part_quantities as of_parts
from linkwork.mechanism import point_quantities as of_points
from linkwork.mechanism.forces import ForceOnJoints, NamedForce, of_kind
from linkwork.mechanism.formulas import Given, Readable, WithFormulas
from linkwork.mechanism.friction import has_events
from linkwork.mechanism.quantities import Quantity, Reading, output
from linkwork.mechanism.springs import JointSpringDamper
from linkwork.mechanism.triggers import Command, Crossing

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

RESERVED = ("time", "gravity", "energy", "events")  # names of variables of the whole mechanism
_OF_ALL = frozenset(one.field for name in RESERVED for one in of_parts.of_all(name, has_events=True))


@dataclass(frozen=True)
class Output(WithFormulas):
    """A scalar that a formula makes of other variables."""

    name: str  # its name, which is that of its variable
    formula: str  # such as "crank.q - 2*rocker.q"
    parameters: Mapping[str, Given] | None = None  # type: ignore[assignment]
    tables: Mapping[str, LookupTable] | None = None  # type: ignore[assignment]
    unit: str | None = None  # that the formula must have; None: the one that follows

    def __post_init__(self) -> None:
        if self.name in RESERVED:
            raise MechanismError(f"{self.label}: this is the name of a variable of the whole mechanism: rename it")
        if self.unit is not None:
            read_unit(self.unit, f"{self.label}: unit")
        self._take_formulas()

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"output {self.name!r}"

    def _sources(self, mech: Surroundings) -> list[Source]:
        return [Source(self.formula, self.unit, self.label)]

    def _names(self, mech: Surroundings) -> Variables:
        return Variables(mech, self.name)

    def outputs(self, mech: Surroundings) -> Iterator[Quantity]:
        """Return its value, with the unit of the formula."""
        (formula,) = self.program(mech).formulas
        text = " ".join(self.formula.split()).replace("{", "{{").replace("}", "}}")
        yield output("{0}", "formula_output", formula.unit, text)

    def read(self, mech: Surroundings) -> tuple[str, ...]:
        """Return the names of the variables that it reads."""
        return self.program(mech).formulas[0].quantities

    def check(self, mech: Surroundings) -> None:
        """Refuse a text that is no formula, and names that do not exist (any more)."""
        self.program(mech)


class Variables(Readable):
    """The variables of a mechanism by name: of outputs those before one, or all.

    Those of single loops and derivatives of coordinates are left out: which joints have these is known when the
    mechanism is compiled.
    """

    def __init__(self, mech: Surroundings, before: str | None = None) -> None:
        self._mech = mech
        outputs = takewhile(lambda one: one.name != before, mech.outputs.values())
        self._outputs = {one.name: one for one in outputs}

    def find(self, name: str) -> Reading | None:
        """Return what a name means; None: nothing."""
        found = self._of_owner(_owner_of(name)).get(name)
        if found is None and name.startswith("der(") and name.endswith(")"):
            return self._of_owner(_owner_of(name[len("der(") : -1])).get(name)
        return found

    def __iter__(self) -> Iterator[str]:
        for owner in self._owners():
            yield from self._of_owner(owner)

    def _owners(self) -> Iterable[str]:
        mech = self._mech
        owners = [*RESERVED, *self._outputs, *mech.states, *mech.joints, *mech.bodies, *mech.points, *mech.measures]
        owners += [one.name for one in mech.forces if isinstance(one, NamedForce)]
        return dict.fromkeys([*owners, *mech.couplings, *mech.distances, *mech.transitions])

    def _of_owner(self, owner: str) -> dict[str, Reading]:
        if owner in self._mech.states:
            own: dict[str, Reading] = self._mech.states[owner].readings()
            return own
        found: dict[str, Reading] = {}
        for quantity, word, first in self._quantities(owner):
            units = quantity.unit
            for k, element in enumerate(quantity.elements):
                name = quantity.name.replace("[]", element).format(owner, word)
                unit = units if isinstance(units, str) else units[k]
                if quantity.field in ("lookup_value", "coupling_table"):
                    found[name] = Reading(quantity.field, f"{owner}.{quantity.stem}", k, unit)
                else:
                    of = None if quantity.field in _OF_ALL else owner
                    found[name] = Reading(quantity.field, of, first + quantity.offset + k, unit)
        for force in self._mech.forces:
            if isinstance(force, NamedForce) and force.name == owner:
                for state in force.own_states(self._mech):
                    found |= state.readings()
        return found

    def _quantities(self, owner: str) -> Iterator[tuple[Quantity, str, int]]:
        """Return the quantities of the parts of a name, their second words and first places among their like."""
        for quantity in self._plain(owner):
            yield quantity, "", 0
        mech = self._mech
        for force in mech.forces:
            if isinstance(force, ForceOnJoints) and force.has_gears and force.name == owner:
                for k, (coordinate, gear) in enumerate(of_parts.gears(mech, force)):
                    yield gear, coordinate, k
        if owner in mech.couplings:
            coupling = mech.couplings[owner]
            units = of_parts.coupling_units(mech, coupling)
            for quantity in coupling.formula_parameters(mech):
                yield quantity, "", 0
            for k, (coordinate, unit) in enumerate(zip(coupling.given_terms, units, strict=False)):
                for quantity in of_parts.coupling_coefficients(units[0], unit):
                    yield quantity, str(coordinate), 4 * k

    def _plain(self, owner: str) -> Iterator[Quantity]:
        mech = self._mech
        if owner in RESERVED:
            yield from of_parts.of_all(owner, has_events=has_events(mech))
        if owner in self._outputs:
            yield from self._outputs[owner].outputs(mech)
            yield from self._outputs[owner].formula_parameters(mech)
        if owner in mech.bodies:
            yield from (*of_parts.BODY_PARAMETERS, *of_parts.BODY_OUTPUTS)
        if owner in mech.joints:
            joint = mech.joints[owner]
            limited = bool(np.isfinite(joint.max_load).any())
            yield from of_parts.of_joint(joint.kind, limited, has_events=has_events(mech))
            if any(one.joint == owner for one in of_kind(mech.forces, JointSpringDamper)):
                yield from of_parts.SPRING_OUTPUTS
        for force in mech.forces:
            if isinstance(force, NamedForce) and force.name == owner:
                yield from force.quantities(mech)
        if owner in mech.points:
            yield from of_points.point_parameters(mech.points[owner])
            yield from of_points.point_outputs(mech.points[owner])
        if owner in mech.measures:
            yield from of_points.measure_outputs(mech.measures[owner])
        if owner in mech.couplings:
            yield from of_parts.of_coupling(mech, mech.couplings[owner])
        if owner in mech.distances:
            yield from of_parts.DISTANCE_QUANTITIES
        if owner in mech.transitions:
            transition = mech.transitions[owner]
            if not isinstance(transition.when, Crossing):  # what it watches may be an output, which would read itself
                yield from of_parts.transition_parameters(mech, transition)
            yield from of_parts.transition_outputs(transition)
            if isinstance(transition.when, Command):
                yield of_parts.command("")
            yield from of_parts.impulse_inputs(transition)


def _owner_of(name: str) -> str:
    return re.split(r"[.\[]", name, maxsplit=1)[0]
