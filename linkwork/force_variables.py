"""The variables of the forces that have a name: springs between points, and applied wrenches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from linkwork.description import PointSpringDamper, Wrench
from linkwork.description.forces import of_kind

if TYPE_CHECKING:
    from linkwork.variables import Variable, _Namer

# name behind the dot, field of the core, unit, meaning
_SPRING_PARAMETERS = (
    ("c", "spring_stiffness", "N/m", "stiffness of the spring"),
    ("d", "spring_damping", "N.s/m", "damping of the damper"),
    ("l_free", "spring_free_length", "m", "length at which the spring is free"),
)
_SPRING_OUTPUTS = (
    ("length", "spring_length", "m", "distance of the spring's points"),
    ("rate", "spring_rate", "m/s", "time derivative of the length"),
    ("force", "spring_force", "N", "force of spring and damper; pulling is positive"),
)
_WRENCH_INPUTS = (
    ("F", "applied_force", "N", "force applied to {}, world axes"),
    ("T", "applied_torque", "N.m", "torque applied to {}, world axes"),
)


def force_parameters(namer: _Namer) -> Iterator[Variable]:
    """Where forces act, and what springs and dampers are made of."""
    for s, spring in enumerate(of_kind(namer.mech.forces, PointSpringDamper)):
        for end, body in enumerate(spring.bodies):
            for i in range(3):
                name, text = f"{spring.name}.r{end + 1}[{i + 1}]", f"end of the spring in {body}"
                yield namer.parameter(name, "spring_points", 6 * s + 3 * end + i, "m", text)
        for suffix, field, unit, text in _SPRING_PARAMETERS:
            yield namer.parameter(f"{spring.name}.{suffix}", field, s, unit, text)
    for w, wrench in enumerate(of_kind(namer.mech.forces, Wrench)):
        for i in range(3):
            text = f"where the force acts in {wrench.body}"
            yield namer.parameter(f"{wrench.name}.r[{i + 1}]", "wrench_point", 3 * w + i, "m", text)


def force_inputs(namer: _Namer) -> Iterator[Variable]:
    """Applied forces and torques."""
    for w, wrench in enumerate(of_kind(namer.mech.forces, Wrench)):
        for suffix, field, unit, text in _WRENCH_INPUTS:
            for i in range(3):
                name = f"{wrench.name}.{suffix}[{i + 1}]"
                yield namer.load(name, field, 3 * w + i, unit, text.format(wrench.body))


def force_outputs(namer: _Namer) -> Iterator[Variable]:
    """Lengths of springs, and what they pull with."""
    for s, spring in enumerate(of_kind(namer.mech.forces, PointSpringDamper)):
        positions, motion = namer.depends.between(*spring.bodies)
        for suffix, field, unit, text in _SPRING_OUTPUTS:
            depends = positions if suffix == "length" else motion
            yield namer.output(f"{spring.name}.{suffix}", field, s, unit, text, depends)
