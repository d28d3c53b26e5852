"""The variables of a system by name, as users, results and FMUs see them. Each is an offset into the core's block.

What each part has is listed in `linkwork.mechanism.part_quantities`; here it gets its place and its dependencies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from linkwork.mechanism import Crossing, FormulaForce, JointSpringDamper
from linkwork.mechanism import part_quantities as of_parts
from linkwork.mechanism import point_quantities as of_points
from linkwork.mechanism.forces import ForceAlongLine, ForceOnJoints, of_kind
from linkwork.mechanism.own_states import StateOfForce, all_states
from linkwork.mechanism.quantities import Kind, Quantity, parameter
from linkwork.variables.couplings import coupling_variables
from linkwork.variables.dependencies import MOST, Names
from linkwork.variables.namer import Layout, Namer
from linkwork.variables.schema import Variable
from linkwork.variables.templates import COMPUTED, Entity, Pattern
from linkwork.variables.transitions import (
    event_indicators,
    transition_inputs,
    transition_outputs,
    transition_parameters,
)

if TYPE_CHECKING:
    from linkwork._util.checks import FloatArray
    from linkwork.mechanism.outputs import Output
    from linkwork.mechanism.states import ElementState

_NO_NAMES: tuple[Names, ...] = (None,)


class _Catalog(Namer):
    """Quantities of the world, bodies, joints and loops."""

    def world(self) -> Iterator[Entity]:
        """Time, gravity and gains."""
        yield self.entity("time", (0,), [of_parts.TIME])
        yield self.entity("gravity", (0,), [of_parts.GRAVITY])
        if self.layout.topology.clusters:
            gains = [
                parameter(f"{{0}}.{what}", "correction_gain", "1/s", of_parts.FEEDBACK.format(what), offset=i)
                for i, what in enumerate(("position", "speed"))
            ]
            yield self.entity("loop_gain", (0,), gains)

    def body_parameters(self) -> Iterator[Entity]:
        """Masses and inertias."""
        pattern = Pattern(of_parts.BODY_PARAMETERS, self.fields)
        for b, name in enumerate(self.mech.bodies):
            yield Entity(pattern, (name, "", ""), (b,), _nothing)

    def joint_parameters(self) -> Iterator[Entity]:
        """Frames, springs, drives and start values of joints."""
        for name, joint in self.mech.joints.items():
            kind = type(joint.kind)
            limited = bool(np.isfinite(joint.max_load).any())
            pattern = self.pattern(("parameters", kind, limited), partial(of_parts.joint_parameters, kind, limited))
            yield Entity(pattern, (name, joint.parent, joint.child), self.places[name], _nothing)

    @cached_property
    def places(self) -> dict[str, tuple[int, int, int]]:
        """Of each joint its number, its first coordinate and its first speed."""
        q, u = self.numbering.q, self.numbering.u
        return {name: (j, q[name].start, u[name].start) for j, name in enumerate(self.mech.joints)}

    def motion(self) -> Iterator[Entity]:
        """Loads, coordinates, speeds and accelerations of joints."""
        for name, joint in self.mech.joints.items():
            kind = type(joint.kind)
            if name in self.tree:
                pattern = self.pattern(("tree", kind), partial(of_parts.tree_motion, kind, self.jumps))
                depends = partial(self._of_tree_joint, name)
            else:
                pattern = self.pattern(
                    ("cut", kind), partial(of_parts.cut_motion, kind, self.numbering.nq, self.numbering.nu)
                )
                depends = partial(self._of_cut_joint, name)
            yield Entity(pattern, (name, "", ""), self.places[name], depends)

    def _of_tree_joint(self, joint: str) -> tuple[Names, ...]:
        return (*self.depends.coordinate_rates(joint), self.depends.acceleration(joint))

    def _of_cut_joint(self, joint: str) -> tuple[Names, ...]:
        return (*self.depends.loop(joint), self.depends.acceleration(joint))

    def reactions(self) -> Iterator[Entity]:
        """What joints do to their children."""
        pattern = Pattern(of_parts.REACTIONS, self.fields)
        for j, name in enumerate(self.mech.joints):
            yield Entity(pattern, (name, "", ""), (j,), partial(self._of_reaction, name))

    def _of_reaction(self, joint: str) -> tuple[Names, ...]:
        return (self.depends.acceleration(joint),)

    def springs(self) -> Iterator[Entity]:
        """Powers of springs and dampers in joints."""
        pattern = Pattern(of_parts.SPRING_OUTPUTS, self.fields)
        numbers = {name: j for j, name in enumerate(self.mech.joints)}
        for force in of_kind(self.mech.forces, JointSpringDamper):
            depends = partial(self._of_spring, force.joint)
            yield Entity(pattern, (force.joint, "", ""), (numbers[force.joint],), depends)

    def _of_spring(self, joint: str) -> tuple[Names, ...]:
        return (self.depends.at_joint(joint),)

    def bodies(self) -> Iterator[Entity]:
        """Poses and velocities of bodies."""
        pattern = Pattern(of_parts.BODY_OUTPUTS, self.fields)
        for b, name in enumerate(self.mech.bodies):
            yield Entity(pattern, (name, "", ""), (b,), partial(self.depends.path, b))

    def totals(self) -> Iterator[Entity]:
        """Energies, and the residual of each loop."""
        yield self.entity("energy", (0,), of_parts.ENERGIES, lambda: self.depends.everything)
        pattern = Pattern(of_parts.LOOP_OUTPUTS, self.fields)
        for i, joint in enumerate(self.numbering.cut):
            yield Entity(pattern, (f"loop.{joint}", "", ""), (i,), partial(self.depends.loop, joint))


def _nothing() -> tuple[Names, ...]:
    return _NO_NAMES


def list_entities(layout: Layout) -> list[Entity]:
    """Return all that has variables, in the order in which an FMU lists these."""
    namer = _Catalog(layout)
    known: dict[str, list[Entity]] = {}
    groups: tuple[Iterable[Entity], ...] = (
        namer.world(),
        namer.body_parameters(),
        namer.joint_parameters(),
        force_variables(namer, "parameter"),
        formula_parameters(namer),
        state_starts(namer),
        point_parameters(namer),
        transition_parameters(namer),
        namer.motion(),
        state_variables(namer, known),
        force_variables(namer, "input"),
        state_inputs(namer),
        transition_inputs(namer),
        namer.reactions(),
        namer.bodies(),
        force_variables(namer, "output"),
        namer.springs(),
        point_outputs(namer),
        coupling_variables(namer),
        distance_variables(namer),
        transition_outputs(namer),
        namer.totals(),
    )
    entities = [entity for group in groups for entity in group]
    known |= _by_owner(entities)
    return [*entities, *formula_outputs(namer, known)]


def list_variables(layout: Layout, values: FloatArray) -> list[Variable]:
    """Return all variables in the order in which an FMU lists them; `values` of the block as the model is loaded."""
    return [variable for entity in list_entities(layout) for variable in entity.variables(values)]


def list_indicators(layout: Layout) -> list[Entity]:
    """Return the event indicators in the order in which the core gives them."""
    mech, namer = layout.mechanism, Namer(layout)
    watches = any(isinstance(one.when, Crossing) for one in mech.transitions.values())
    of_states = any(one.program(mech).count_kinks() for one in all_states(mech))
    known = _by_owner(list_entities(layout)) if watches or of_states else {}
    found = list(event_indicators(namer, lambda name: _of_variable(name, known)))
    return [*found, *_kink_indicators(namer, known, len(found))]


def _kink_indicators(namer: Namer, known: Mapping[str, list[Entity]], first: int) -> Iterator[Entity]:
    """Return those of the kinks of formulas that move something, which stand behind the others."""
    for one, depends in _kinked(namer, known):
        for k in range(one.program(namer.mech).count_kinks()):
            text = "way left to a kink, jump or knot of its formula"
            quantity = Quantity(f"{{0}}.kink[{k + 1}]", "indicator", "indicator", "1", text)
            yield namer.entity(one.name, (first,), [quantity], depends)
            first += 1


def _kinked(
    namer: Namer, known: Mapping[str, list[Entity]]
) -> Iterator[tuple[FormulaForce | ElementState | StateOfForce, Callable[[], tuple[Names, ...]]]]:
    """Return parts with formulas that move something, in the order of the core, and their dependencies."""
    for kind, forces in namer.force_kinds:
        for force in forces if issubclass(kind, FormulaForce) else ():
            yield force, partial(_of_result, namer, force)
    for one in all_states(namer.mech):
        yield one, partial(_of_formula, namer, one, known)


def _of_result(namer: Namer, force: FormulaForce) -> tuple[Names, ...]:
    return (namer.depends.force(force)[2],)


def distance_variables(namer: Namer) -> Iterator[Entity]:
    """Return the variables of distances."""
    couplings = namer.layout.sizes.couplings - namer.layout.sizes.distances
    for i, one in enumerate(namer.mech.distances.values()):
        depends = partial(_distance_depends, namer, i, one.bodies)
        yield namer.entity(one.name, (i, couplings + i), of_parts.DISTANCE_QUANTITIES, depends, labels=one.bodies)


def _distance_depends(namer: Namer, index: int, bodies: tuple[str, str]) -> tuple[Names, ...]:
    return namer.depends.between(*bodies)[0], namer.depends.distance_force(index)


def force_variables(namer: Namer, kind: Kind) -> Iterator[Entity]:
    """Return the quantities of a kind that forces have by their records, and with the parameters those of gears."""
    first_gear = first_number = first_input = first_value = first_point = number = 0
    for force_kind, forces in namer.force_kinds:
        by_formula = issubclass(force_kind, FormulaForce)
        may_have = by_formula or force_kind.fields_of(kind)
        for k, force in enumerate(forces):
            labels = (*force.body_names, "", "")[:2]
            quantities = [one for one in force.quantities(namer.mech) if one.kind == kind] if may_have else []
            if quantities:
                places = (k, first_number, first_input, first_value, first_point, number)
                yield namer.entity(force.name, places, quantities, partial(namer.depends.force, force), labels)
            number += 1
            if by_formula:
                first_number += len(force.program(namer.mech).numbers)
                first_input += len(force.inputs)
                first_value += force.table_values
            if isinstance(force, ForceAlongLine):
                first_point += len(force.bodies)
            if kind == "parameter" and isinstance(force, ForceOnJoints):
                yield from _gears(namer, force, first_gear) if force.has_gears else ()
                first_gear += len(force.gears)


def _gears(namer: Namer, force: ForceOnJoints, first: int) -> Iterator[Entity]:
    for g, (coordinate, gear) in enumerate(of_parts.gears(namer.mech, force), start=first):
        yield namer.entity(force.name, (g,), [gear], labels=(coordinate, ""))


def point_parameters(namer: Namer) -> Iterator[Entity]:
    """Where points of interest are in their bodies."""
    for k, point in enumerate(namer.mech.points.values()):
        yield namer.entity(point.name, (k,), of_points.point_parameters(point), labels=(point.body, ""))


def point_outputs(namer: Namer) -> Iterator[Entity]:
    """Motions of points of interest, then measures."""
    for k, point in enumerate(namer.mech.points.values()):
        depends = partial(namer.depends.motion, point.body)
        yield namer.entity(point.name, (k,), of_points.point_outputs(point), depends, labels=(point.body, ""))
    for k, one in enumerate(namer.mech.measures.values()):
        bodies = (namer.mech.points[name].body for name in one.points)
        between = partial(namer.depends.between, *bodies)
        yield namer.entity(one.name, (k,), of_points.measure_outputs(one), between, labels=one.points)


def formula_parameters(namer: Namer) -> Iterator[Entity]:
    """Parameters and tables of outputs; those of forces stand before them in the core."""
    by_forces = [one for one in namer.mech.forces if isinstance(one, FormulaForce)]
    first_number = sum(len(one.program(namer.mech).numbers) for one in by_forces)
    first_value = sum(one.table_values for one in by_forces)
    for k, one in enumerate(namer.mech.outputs.values()):
        yield namer.entity(one.name, (k, first_number, 0, first_value), one.formula_parameters(namer.mech))
        first_number += len(one.program(namer.mech).numbers)
        first_value += one.table_values


def _first_of_states(namer: Namer) -> tuple[int, int, int]:
    """Return where numbers, inputs and values of tables of states begin in the core: behind forces and outputs."""
    by_forces = [one for one in namer.mech.forces if isinstance(one, FormulaForce)]
    before = [*by_forces, *namer.mech.outputs.values()]
    numbers = sum(len(one.program(namer.mech).numbers) for one in before)
    return numbers, sum(len(one.inputs) for one in by_forces), sum(one.table_values for one in before)


def _of_states(namer: Namer) -> Iterator[tuple[ElementState | StateOfForce, tuple[int, int, int, int]]]:
    """Return states with their places: number among them, first number, input and value of a table."""
    number, place, value = _first_of_states(namer)
    for k, one in enumerate(all_states(namer.mech)):
        yield one, (k, number, place, value)
        number += len(one.program(namer.mech).numbers)
        place += len(one.inputs)
        value += one.table_values


def state_starts(namer: Namer) -> Iterator[Entity]:
    """Start values, parameters and tables of states of elements."""
    for one, places in _of_states(namer):
        yield namer.entity(one.owner, places, [one.start_parameter(), *one.formula_parameters(namer.mech)])


def state_inputs(namer: Namer) -> Iterator[Entity]:
    """Inputs of states of elements."""
    for one, places in _of_states(namer):
        if one.inputs:
            yield namer.entity(one.owner, places, one.listed_inputs(namer.mech))


def state_variables(namer: Namer, known: Mapping[str, list[Entity]]) -> Iterator[Entity]:
    """States of elements with their derivatives, which depend on what the variables that they read depend on."""
    for one, places in _of_states(namer):
        yield namer.entity(one.owner, places, one.motion(), partial(_of_formula, namer, one, known))


def formula_outputs(namer: Namer, known: dict[str, list[Entity]]) -> Iterator[Entity]:
    """Outputs by formulas, which depend on what the variables that they read depend on."""
    for k, one in enumerate(namer.mech.outputs.values()):
        made = namer.entity(one.name, (k,), one.outputs(namer.mech), partial(_of_formula, namer, one, known))
        known.setdefault(one.name, []).append(made)
        yield made


def _by_owner(entities: Iterable[Entity]) -> dict[str, list[Entity]]:
    found: dict[str, list[Entity]] = {}
    for entity in entities:
        found.setdefault(entity.labels[0], []).append(entity)
    return found


def _of_formula(
    namer: Namer, one: Output | ElementState | StateOfForce, known: Mapping[str, list[Entity]]
) -> tuple[Names, ...]:
    found: dict[str, None] = {}
    for name in one.read(namer.mech):
        depends = _of_variable(name, known)
        if depends is None:
            return (None,)
        found |= dict.fromkeys(depends)
    return (tuple(found) if len(found) <= MOST else None,)


def _of_variable(name: str, known: Mapping[str, list[Entity]]) -> Names:
    """What a variable depends on: itself where it is known, nothing where it is a parameter."""
    inner = name[len("der(") : -1] if name.startswith("der(") else name
    owners = (name, inner, re.split(r"[.\[]", inner)[0])
    for entity in (entity for owner in dict.fromkeys(owners) for entity in known.get(owner, ())):
        for v, rule in zip(entity.pattern.variables, entity.pattern.rules, strict=True):
            if v.name.format(*entity.labels) == name:
                if v.kind in COMPUTED:
                    return entity.depends()[rule]
                return () if v.kind in ("parameter", "start") else (name,)
    raise KeyError(name)
