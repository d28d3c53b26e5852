"""The variables of the forces that have a name: springs between points, and applied wrenches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from linkwork.mechanism import PointSpringDamper, Wrench
from linkwork.mechanism.forces import of_kind
from linkwork.variables.templates import Entity, indices, load, output, parameter

if TYPE_CHECKING:
    from linkwork.variables.namer import Namer

_AXES = indices(3)

_SPRING_PARAMETERS = (
    parameter("{0}.points[]", "spring_points", "m", "ends of the spring: 1 in {1}, 2 in {2}", elements=indices(2, 3)),
    parameter("{0}.stiffness", "spring_stiffness", "N/m", "stiffness of the spring"),
    parameter("{0}.damping", "spring_damping", "N.s/m", "damping of the damper"),
    parameter("{0}.free", "spring_free_length", "m", "length at which the spring is free"),
)
_SPRING_OUTPUTS = (  # the rules: of positions, of positions and speeds
    output("{0}.length", "spring_length", "m", "distance of the spring's points"),
    output("{0}.rate", "spring_rate", "m/s", "time derivative of the length", dependency=1),
    output("{0}.force", "spring_force", "N", "force of spring and damper; pulling is positive", dependency=1),
)
_WRENCH_PARAMETERS = (parameter("{0}.point[]", "wrench_point", "m", "where the force acts in {1}", elements=_AXES),)
_WRENCH_INPUTS = (
    load("{0}.F[]", "applied_force", "N", "force applied to {1}, world axes", elements=_AXES),
    load("{0}.T[]", "applied_torque", "N.m", "torque applied to {1}, world axes", elements=_AXES),
)


def force_parameters(namer: Namer) -> Iterator[Entity]:
    """Where forces act, and what springs and dampers are made of."""
    for s, spring in enumerate(of_kind(namer.mech.forces, PointSpringDamper)):
        yield namer.entity(spring.name, (s,), _SPRING_PARAMETERS, labels=spring.bodies)
    for w, wrench in enumerate(of_kind(namer.mech.forces, Wrench)):
        yield namer.entity(wrench.name, (w,), _WRENCH_PARAMETERS, labels=(wrench.body, ""))


def force_inputs(namer: Namer) -> Iterator[Entity]:
    """Applied forces and torques."""
    for w, wrench in enumerate(of_kind(namer.mech.forces, Wrench)):
        yield namer.entity(wrench.name, (w,), _WRENCH_INPUTS, labels=(wrench.body, ""))


def force_outputs(namer: Namer) -> Iterator[Entity]:
    """Lengths of springs, and what they pull with."""
    for s, spring in enumerate(of_kind(namer.mech.forces, PointSpringDamper)):
        yield namer.entity(spring.name, (s,), _SPRING_OUTPUTS, partial(namer.depends.between, *spring.bodies))
