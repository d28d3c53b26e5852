"""The variables of transitions: what sets them off, what they have brought about, and what an importer watches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from linkwork._util.part_names import suffixes
from linkwork.mechanism import Command, Crossing, Friction, Impulse, Lock, Pin, PointDistance, Stop, Time
from linkwork.mechanism.forces import of_kind
from linkwork.mechanism.quantities import Quantity, indices, load, output, parameter
from linkwork.variables.templates import Entity, Pattern

if TYPE_CHECKING:
    from linkwork.mechanism import Transition
    from linkwork.variables.dependencies import Names
    from linkwork.variables.namer import Namer

_AXES = indices(3)
_IMPULSE = (
    load("{0}.impulse.f[]", "impulse", "N.s", "impulse on {1}, world axes", elements=_AXES, discrete=True),
    load(
        *("{0}.impulse.t[]", "impulse", "N.m.s", "angular impulse on {1}, world axes"),
        elements=_AXES,
        offset=3,
        discrete=True,
    ),
)
_ACTIVE = {Lock: "its lock holds", Pin: "its pin is closed", Stop: "the joint rests on it"}
_OF_EVENTS = (
    output("energy.lost", "energy_lost", "J", "kinetic energy lost in events so far", discrete=True),
    output("events", "event_count", "1", "number of events so far", type="integer", discrete=True),
)


def _impulses_of_joints() -> Iterator[Quantity]:
    for what, field, unit, text in (
        ("f", "impulse_force", "N.s", "impulse"),
        ("t", "impulse_torque", "N.m.s", "angular impulse"),
    ):
        meaning = f"last {text} of the joint on its child, world axes"
        yield output(f"{{0}}.impulse.{what}[]", field, unit, meaning, elements=_AXES, discrete=True)


def transition_parameters(namer: Namer) -> Iterator[Entity]:
    """When transitions happen, and bounds of stops."""
    for i, (name, one) in enumerate(namer.mech.transitions.items()):
        yield namer.entity(name, (i,), _parameters(namer, one))


def _parameters(namer: Namer, transition: Transition) -> Iterator[Quantity]:
    match transition.action, transition.when:
        case Stop() as stop, _:
            unit = namer.mech.joints[stop.joint].kind.coordinate_units[stop.element]
            for k, bound in enumerate(("lower", "upper")):
                if getattr(stop, bound) is not None:
                    text = f"{bound} bound of the coordinate"
                    yield parameter(f"{{0}}.{bound}", "transition_value", unit, text, offset=k)
            yield parameter("{0}.restitution", "restitution", "1", "speed after an impact, by that before")
        case _, Time():
            yield parameter("{0}.time", "transition_value", "s", "when it happens")
        case _, Crossing() as crossing:
            yield parameter("{0}.value", "transition_value", _crossing_unit(namer, crossing), "trigger level")


def transition_inputs(namer: Namer) -> Iterator[Entity]:
    """Commands and impulses."""
    for i, (name, one) in enumerate(namer.mech.transitions.items()):
        if isinstance(one.when, Command):
            text = f"makes the transition happen where it becomes true{_end(namer, one)}"
            yield namer.entity(name, (i,), [load("{0}.command", "command", "1", text, type="boolean", discrete=True)])
        if isinstance(one.action, Impulse):
            yield namer.entity(name, (i,), _IMPULSE, labels=(one.action.body, ""))


def _end(namer: Namer, transition: Transition) -> str:
    return ", and undone where it becomes false" if transition.falls(namer.mech) else ""


def transition_outputs(namer: Namer) -> Iterator[Entity]:
    """What transitions have brought about. It changes at events alone, so it depends on nothing in between."""
    for i, (name, one) in enumerate(namer.mech.transitions.items()):
        for action, meaning in _ACTIVE.items():
            if isinstance(one.action, action):
                more = {"type": "boolean", "discrete": True}
                active = output("{0}.active", "transition_active", "1", f"whether {meaning}", **more)
                yield namer.entity(name, (i,), [active], _on_nothing)
    if not (namer.mech.transitions or of_kind(namer.mech.forces, Friction)):
        return
    pattern = Pattern(tuple(_impulses_of_joints()), namer.fields)
    for j, joint in enumerate(namer.mech.joints):
        yield Entity(pattern, (joint, "", ""), (j,), _on_nothing)
    for quantity in _OF_EVENTS:
        yield namer.entity(quantity.name, (0,), [quantity], _on_nothing)


def _on_nothing() -> tuple[Names, ...]:
    return ((),)


def event_indicators(namer: Namer) -> Iterator[Entity]:
    """What falls below zero when a transition is due, in the core's order; it stands behind the block."""
    number = 0
    for name, one in namer.mech.transitions.items():
        for suffix, unit, text, depends in _indicators(namer, one):
            quantity = Quantity(f"{{0}}.indicator{suffix}", "indicator", "indicator", unit, text)
            yield namer.entity(name, (number,), [quantity], partial(tuple, [depends]))
            number += 1
    for friction in of_kind(namer.mech.forces, Friction):
        text = "speed in the direction in which it slides; what is left of the limit while it sticks"
        depends = namer.depends.acceleration(friction.joint_names[0])
        quantity = Quantity("{0}.indicator", "indicator", "indicator", "1", text)
        yield namer.entity(friction.name, (number,), [quantity], partial(tuple, [depends]))
        number += 1


def _indicators(namer: Namer, transition: Transition) -> Iterator[tuple[str, str, str, Names]]:
    """What the name ends in, unit, meaning and dependencies."""
    match transition.action, transition.when:
        case Stop() as stop, _:
            text = "way left to the {} bound; what the stop presses with where the joint rests on it"
            for bound in ("lower", "upper"):
                if getattr(stop, bound) is not None:
                    yield f".{bound}", "1", text.format(bound), namer.depends.acceleration(stop.joint)
        case _, Crossing() as crossing:
            text = "way left until the value is crossed"
            yield "", _crossing_unit(namer, crossing), text, _crossing_depends(namer, crossing)


def _crossing_unit(namer: Namer, crossing: Crossing) -> str:
    watched = crossing.watched(namer.mech)
    if isinstance(watched, PointDistance):
        return "m/s" if watched.rate else "m"
    kind = namer.mech.joints[watched.joint].kind
    return f"{kind.motion_units[watched.element]}/s" if watched.is_speed else kind.coordinate_units[watched.element]


def _crossing_depends(namer: Namer, crossing: Crossing) -> Names:
    watched = crossing.watched(namer.mech)
    if isinstance(watched, PointDistance):
        return namer.depends.between(*watched.bodies)[watched.rate]
    if watched.joint not in namer.tree:
        return namer.depends.loop(watched.joint)[watched.is_speed]
    kind = namer.mech.joints[watched.joint].kind
    symbol, count = ("u", kind.nu) if watched.is_speed else ("q", kind.nq)
    return (f"{watched.joint}.{symbol}{suffixes(count)[watched.element]}",)
