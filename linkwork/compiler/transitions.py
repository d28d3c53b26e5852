"""Transitions as the core reads them: a row of whole numbers and a row of parameters each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from linkwork.compiler.changes import Changes, taken
from linkwork.compiler.numbering import Numbering
from linkwork.description import (
    Action,
    Crossing,
    Impulse,
    Input,
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
from linkwork.description.checks import FloatArray

ACTIONS = {Lock: 0, Unlock: 1, Pin: 2, Release: 3, Stop: 4, Impulse: 5}  # lw_action
AT_TIME, CROSSING, COMMAND, NO_TRIGGER = range(4)  # lw_trigger
LOWER, UPPER = 1, 2
Positions = Mapping[str, int]  # of joints or bodies by name


def transition_table(changes: Changes, numbering: Numbering) -> list[list[int]]:
    """Return for each transition the whole numbers of csrc/model/reader.c."""
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
    """Trigger, coordinate that crosses or -1, two bodies, direction."""
    when = transition.when
    match when:
        case Time():
            return [AT_TIME, -1, -1, -1, 0]
        case Input():
            return [COMMAND, -1, -1, -1, 0]
        case Crossing():
            if isinstance(when.quantity, PointDistance):
                return [CROSSING, -1, *(body.get(name, -1) for name in when.quantity.bodies), when.direction]
            coordinate = when.coordinate(mech)
            assert coordinate is not None
            joint, element = coordinate
            return [CROSSING, numbering.q[joint].start + element, -1, -1, when.direction]
    return [NO_TRIGGER, -1, -1, -1, 0]


def _last(mech: Mechanism, transition: Transition) -> list[int]:
    """Whether the end of a command undoes it, and which frame of a pin is found when it closes."""
    pin = transition.action
    return [int(transition.falls(mech)), taken(pin) if isinstance(pin, Pin) else 0]


def transition_parameters(mech: Mechanism) -> list[FloatArray]:
    """Return the fields transition_value, restitution, transition_points and impulse_start, each flat."""
    all_of = list(mech.transitions.values())
    restitution = [one.action.restitution if isinstance(one.action, Stop) else 0.0 for one in all_of]
    return [
        np.array([_values(one) for one in all_of]).ravel(),
        np.array(restitution),
        np.array([_points(one) for one in all_of]).ravel(),
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
    """The ends of a distance that is watched, or in their place the point of an impulse."""
    when = transition.when
    if isinstance(transition.action, Impulse):
        return [*transition.action.point, 0.0, 0.0, 0.0]
    if isinstance(when, Crossing) and isinstance(when.quantity, PointDistance):
        return [*when.quantity.points[0], *when.quantity.points[1]]
    return [0.0] * 6


def _impulse(action: Action) -> list[float]:
    """Impulse and angular impulse."""
    return [*action.force, *action.torque] if isinstance(action, Impulse) else [0.0] * 6
