"""The variables of points of interest and of measures between them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from linkwork.mechanism.points import ANGLE
from linkwork.variables.templates import Entity, Quantity, indices, output, parameter

if TYPE_CHECKING:
    from linkwork.variables.namer import Namer

_AXES = indices(3)

_POINT_PARAMETERS: tuple[Quantity, ...] = (
    parameter("{0}.point[]", "point_in_body", "m", "point of interest in {1}", elements=_AXES),
)
_AXIS_PARAMETERS = (
    parameter("{0}.axis[]", "axis_in_body", "1", "direction of any length, axes of {1}", elements=_AXES),
)
_POINT_OUTPUTS: tuple[Quantity, ...] = (  # the rules: of positions, of velocities, of accelerations
    output("{0}.r[]", "point_position", "m", "position of the point of {1}, world axes", elements=_AXES),
    output("{0}.v[]", "point_velocity", "m/s", "velocity of the point, world axes", elements=_AXES, dependency=1),
    output(
        "{0}.a[]", "point_acceleration", "m/s2", "acceleration of the point, world axes", elements=_AXES, dependency=2
    ),
)
_AXIS_OUTPUTS = (output("{0}.e[]", "point_axis", "1", "direction at the point, world axes", elements=_AXES),)
_DISTANCE_OUTPUTS: tuple[Quantity, ...] = (  # the rules: of positions, of positions and speeds
    output("{0}.length", "measure_value", "m", "distance of {1} and {2}"),
    output("{0}.rate", "measure_rate", "m/s", "time derivative of the length", dependency=1),
)
_ANGLE_OUTPUTS = (
    output("{0}.angle", "measure_value", "rad", "angle between the directions of {1} and {2}, 0 to pi"),
    output("{0}.rate", "measure_rate", "rad/s", "time derivative of the angle", dependency=1),
)


def point_parameters(namer: Namer) -> Iterator[Entity]:
    """Where points of interest are in their bodies."""
    for k, point in enumerate(namer.mech.points.values()):
        quantities = _POINT_PARAMETERS if point.axis is None else (*_POINT_PARAMETERS, *_AXIS_PARAMETERS)
        yield namer.entity(point.name, (k,), quantities, labels=(point.body, ""))


def point_outputs(namer: Namer) -> Iterator[Entity]:
    """Motions of points of interest, then measures."""
    for k, point in enumerate(namer.mech.points.values()):
        quantities = _POINT_OUTPUTS if point.axis is None else (*_POINT_OUTPUTS, *_AXIS_OUTPUTS)
        yield namer.entity(
            point.name, (k,), quantities, partial(namer.depends.motion, point.body), labels=(point.body, "")
        )
    for k, one in enumerate(namer.mech.measures.values()):
        bodies = (namer.mech.points[name].body for name in one.points)
        outputs = _ANGLE_OUTPUTS if one.quantity == ANGLE else _DISTANCE_OUTPUTS
        yield namer.entity(one.name, (k,), outputs, partial(namer.depends.between, *bodies), labels=one.points)
