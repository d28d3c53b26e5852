"""Transitions as the core reads them: a row of whole numbers and a row of parameters each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.compiler.numbering import Numbering
from linkwork.compiler.topology_variants import Changes, taken
from linkwork.mechanism import (
    Action,
    Command,
    Crossing,
    Impulse,
    Lock,
    Mechanism,
    Pin,
    PointDistance,
    Release,
    Stop,
    Time,
    Transition,
    Unlock,
)

ACTIONS = {Lock: 0, Unlock: 1, Pin: 2, Release: 3, Stop: 4, Impulse: 5}  # lw_action
AT_TIME, CROSSING, COMMAND, NO_TRIGGER = range(4)  # lw_trigger
COORDINATE, SPEED, DISTANCE, DISTANCE_RATE = range(4)  # lw_quantity
LOWER, UPPER = 1, 2
Positions = Mapping[str, int]  # of joints or bodies by name


def transition_table(changes: Changes, numbering: Numbering) -> list[list[int]]:
    """Return for each transition the whole numbers of csrc/load/reader.c."""
    mech = changes.mech
    joints, bodies = ({name: k for k, name in enumerate(names)} for names in (mech.joints, mech.bodies))
    return [
        [
            ACTIONS[type(one.action)],
            *_target(mech, joints, bodies, one),
            *_trigger(mech, bodies, numbering, one),
            *_last(mech, one),
        ]
        for one in mech.transitions.values()
    ]


def _target(mech: Mechanism, joint: Positions, body: Positions, transition: Transition) -> list[int]:
    """Joint or body, directions and bounds."""
    action = transition.action
    match action:
        case Lock() | Unlock():
            return [joint[action.joint], sum(1 << element for element in action.elements(mech)), 0]
        case Stop():
            bounds = LOWER * (action.lower is not None) + UPPER * (action.upper is not None)
            return [joint[action.joint], 1 << action.element, bounds]
        case Release():
            return [joint[action.joint], 0, 0]
        case Impulse():
            return [body[action.body], 0, 0]
    return [joint[transition.name], 0, 0]


def _trigger(mech: Mechanism, body: Positions, numbering: Numbering, transition: Transition) -> list[int]:
    """Trigger, quantity that crosses or -1, its number or -1, two bodies, direction."""
    when = transition.when
    match when:
        case Time():
            return [AT_TIME, -1, -1, -1, -1, 0]
        case Command():
            return [COMMAND, -1, -1, -1, -1, 0]
        case Crossing():
            return [CROSSING, *_watched(mech, body, numbering, when), when.direction]
    return [NO_TRIGGER, -1, -1, -1, -1, 0]


def _watched(mech: Mechanism, body: Positions, numbering: Numbering, crossing: Crossing) -> list[int]:
    """Quantity, its number or -1, two bodies."""
    watched = crossing.watched(mech)
    if isinstance(watched, PointDistance):
        return [DISTANCE_RATE if watched.rate else DISTANCE, -1, *(body.get(name, -1) for name in watched.bodies)]
    first = (numbering.u if watched.is_speed else numbering.q)[watched.joint].start
    return [SPEED if watched.is_speed else COORDINATE, first + watched.element, -1, -1]


def _last(mech: Mechanism, transition: Transition) -> list[int]:
    """Whether the end of a command undoes it, and which frame of a pin is found when it closes."""
    pin = transition.action
    return [int(transition.falls(mech)), taken(pin) if isinstance(pin, Pin) else 0]


def transition_parameters(mech: Mechanism) -> list[FloatArray]:
    """Return the fields transition_value, restitution, transition_points, impulse_point and impulse_start, flat."""
    all_of = list(mech.transitions.values())
    restitution = [one.action.restitution if isinstance(one.action, Stop) else 0.0 for one in all_of]
    return [
        np.array([_values(one) for one in all_of]).ravel(),
        np.array(restitution),
        np.array([_points(one) for one in all_of]).ravel(),
        np.array([one.action.point if isinstance(one.action, Impulse) else (0.0,) * 3 for one in all_of]).ravel(),
        np.array([_impulse(one.action) for one in all_of]).ravel(),
    ]


def _values(transition: Transition) -> list[float]:
    match transition.action, transition.when:
        case Stop() as stop, _:
            return [stop.lower or 0.0, stop.upper or 0.0]
        case _, Time() as time:
            return [time.t, 0.0]
        case _, Crossing() as crossing:
            return [crossing.value, 0.0]
    return [0.0, 0.0]


def _points(transition: Transition) -> list[float]:
    """The ends of a distance that is monitored."""
    when = transition.when
    if isinstance(when, Crossing) and isinstance(when.quantity, PointDistance):
        return [*when.quantity.points[0], *when.quantity.points[1]]
    return [0.0] * 6


def _impulse(action: Action) -> list[float]:
    """Impulse and angular impulse."""
    return [*action.force, *action.torque] if isinstance(action, Impulse) else [0.0] * 6
