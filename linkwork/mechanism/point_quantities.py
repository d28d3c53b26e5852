"""The quantities of points of interest and of measures between them."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork.mechanism.points import ANGLE, Measure, PointOfInterest
from linkwork.mechanism.quantities import Quantity, indices, output, parameter

AXES = indices(3)
POINT_PARAMETERS: tuple[Quantity, ...] = (
    parameter("{0}.point[]", "point_in_body", "m", "point of interest in {1}", elements=AXES),
)
AXIS_PARAMETERS = (parameter("{0}.axis[]", "axis_in_body", "1", "direction of any length, axes of {1}", elements=AXES),)
POINT_OUTPUTS: tuple[Quantity, ...] = (  # the rules: of positions, of velocities, of accelerations
    output("{0}.r[]", "point_position", "m", "position of the point of {1}, world axes", elements=AXES),
    output("{0}.v[]", "point_velocity", "m/s", "velocity of the point, world axes", elements=AXES, dependency=1),
    output(
        "{0}.a[]", "point_acceleration", "m/s2", "acceleration of the point, world axes", elements=AXES, dependency=2
    ),
)
AXIS_OUTPUTS = (output("{0}.e[]", "point_axis", "1", "direction at the point, world axes", elements=AXES),)
DISTANCE_OUTPUTS: tuple[Quantity, ...] = (  # the rules: of positions, of positions and speeds
    output("{0}.length", "measure_value", "m", "distance of {1} and {2}"),
    output("{0}.rate", "measure_rate", "m/s", "time derivative of the length", dependency=1),
)
ANGLE_OUTPUTS = (
    output("{0}.angle", "measure_value", "rad", "angle between the directions of {1} and {2}, 0 to pi"),
    output("{0}.rate", "measure_rate", "rad/s", "time derivative of the angle", dependency=1),
)


def point_parameters(point: PointOfInterest) -> Iterator[Quantity]:
    """Where a point of interest is in its body, the first word."""
    yield from POINT_PARAMETERS if point.axis is None else (*POINT_PARAMETERS, *AXIS_PARAMETERS)


def point_outputs(point: PointOfInterest) -> Iterator[Quantity]:
    """Its motion."""
    yield from POINT_OUTPUTS if point.axis is None else (*POINT_OUTPUTS, *AXIS_OUTPUTS)


def measure_outputs(measure: Measure) -> Iterator[Quantity]:
    """A measure of two points, the words, and its rate."""
    yield from ANGLE_OUTPUTS if measure.quantity == ANGLE else DISTANCE_OUTPUTS
