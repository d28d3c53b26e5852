"""The variables of actuators, each counted in the unit of the first coordinate that the actuator names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from linkwork._util.units import LOADS
from linkwork.mechanism import Actuator
from linkwork.mechanism.forces import of_kind
from linkwork.variables.couplings import unit_ratio
from linkwork.variables.templates import Entity, Quantity, indices, load, output, parameter

if TYPE_CHECKING:
    from linkwork.variables.namer import Namer

_INPUT = (load("{0}.input", "actuator_input", "1", "input of the actuator, within its range"),)
_LIMITS = indices(2)  # lower, upper


def actuator_parameters(namer: Namer) -> Iterator[Entity]:
    """Gains, limits and gears."""
    first_gear = 0
    for k, actuator in enumerate(of_kind(namer.mech.forces, Actuator)):
        units = _units(namer, actuator)
        yield namer.entity(actuator.name, (k,), _parameters(actuator, units[0], actuator.has_length(namer.mech)))
        for g, (coordinate, unit) in enumerate(zip(actuator.gears, units, strict=True), start=first_gear):
            text = "load of a force of one, and part in length and rate"
            gear = parameter("{0}.{1}.gear", "actuator_gear", unit_ratio(units[0], unit), text)
            yield namer.entity(actuator.name, (g,), [gear], labels=(coordinate, ""))
        first_gear += len(actuator.gears)


def actuator_inputs(namer: Namer) -> Iterator[Entity]:
    """The input of each."""
    for k, actuator in enumerate(of_kind(namer.mech.forces, Actuator)):
        yield namer.entity(actuator.name, (k,), _INPUT)


def actuator_outputs(namer: Namer) -> Iterator[Entity]:
    """Lengths, rates and forces."""
    for k, actuator in enumerate(of_kind(namer.mech.forces, Actuator)):
        outputs = _outputs(_units(namer, actuator)[0], actuator.has_length(namer.mech))
        yield namer.entity(actuator.name, (k,), outputs, partial(namer.depends.actuator, actuator))


def _units(namer: Namer, actuator: Actuator) -> list[str]:
    """Of the motion along each of its speeds."""
    return [namer.mech.joints[joint].kind.motion_units[element] for joint, element in actuator.places(namer.mech)]


def _parameters(actuator: Actuator, unit: str, has_length: bool) -> Iterator[Quantity]:
    force = LOADS[unit]
    yield parameter("{0}.gain", "actuator_gain", force, "force of an input of one")
    yield parameter("{0}.offset", "actuator_offset", force, "force where input, length and rate are zero")
    if has_length:
        yield parameter(
            "{0}.stiffness", "actuator_stiffness", f"{force}/{unit}", "stiffness: what the force loses by length"
        )
    yield parameter("{0}.damping", "actuator_damping", f"{force}.s/{unit}", "damping: what the force loses by rate")
    if actuator.input_range is not None:
        text = "lower and upper limit of the input"
        yield parameter("{0}.input_range[]", "actuator_input_range", "1", text, elements=_LIMITS)
    if actuator.force_range is not None:
        text = "lower and upper limit of the force"
        yield parameter("{0}.force_range[]", "actuator_force_range", force, text, elements=_LIMITS)


def _outputs(unit: str, has_length: bool) -> Iterator[Quantity]:
    """The rules: of the length, of the rate, of the force."""
    if has_length:
        yield output("{0}.length", "actuator_length", unit, "sum of gear times coordinate")
    yield output("{0}.rate", "actuator_rate", f"{unit}/s", "sum of gear times speed", dependency=1)
    text = "force of the actuator, within its range; gear times this loads each of its joints"
    yield output("{0}.force", "actuator_force", LOADS[unit], text, dependency=2)
