"""The variables of transitions: what sets them off, what they have brought about, and what an importer watches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from linkwork.description import Crossing, Impulse, Input, Lock, Pin, PointDistance, Release, Stop, Time, Unlock
from linkwork.quantities import Type, Variable

if TYPE_CHECKING:
    from linkwork.compiler.dependencies import Names
    from linkwork.description import Transition
    from linkwork.variables import _Namer

# name behind the dot, field of a joint, field of an applied impulse: first of its six numbers; unit, meaning
_IMPULSES = (
    ("f", "impulse_force", 0, "N.s", "impulse"),
    ("t", "impulse_torque", 3, "N.m.s", "angular impulse"),
)
_ACTIVE = {Lock: "its lock holds", Pin: "its pin is closed", Stop: "the joint rests on it"}


def transition_parameters(namer: _Namer) -> Iterator[Variable]:
    """When transitions happen, and bounds of stops."""
    for i, (name, one) in enumerate(namer.mech.transitions.items()):
        match one.action, one.when:
            case Stop() as stop, _:
                unit = _coordinate_unit(namer, stop.joint, stop.element)
                for k, bound in enumerate(("lower", "upper")):
                    if getattr(stop, bound) is not None:
                        text = f"{bound} bound of the coordinate"
                        yield namer.parameter(f"{name}.{bound}", "transition_value", 2 * i + k, unit, text)
                text = "speed after an impact, by that before"
                yield namer.parameter(f"{name}.restitution", "restitution", i, "1", text)
            case _, Time():
                yield namer.parameter(f"{name}.time", "transition_value", 2 * i, "s", "when it happens")
            case _, Crossing() as crossing:
                unit = _crossing_unit(namer, crossing)
                yield namer.parameter(f"{name}.value", "transition_value", 2 * i, unit, "what is crossed")


def transition_inputs(namer: _Namer) -> Iterator[Variable]:
    """Commands and blows."""
    for i, (name, one) in enumerate(namer.mech.transitions.items()):
        if isinstance(one.when, Input):
            at, text = namer.at("command", i), f"makes the transition happen where it becomes true{_end(namer, one)}"
            yield Variable(f"{name}.command", at, "input", "1", text, start=0.0, type="boolean", discrete=True)
        if isinstance(one.action, Impulse):
            for what, _, first, unit, text in _IMPULSES:
                for k in range(3):
                    at, text_of = namer.at("impulse", 6 * i + first + k), f"{text} on {one.action.body}, world axes"
                    start = float(namer.defaults[at])
                    full = f"{name}.impulse.{what}[{k + 1}]"
                    yield Variable(full, at, "input", unit, text_of, start=start, discrete=True)


def _end(namer: _Namer, transition: Transition) -> str:
    return ", and undone where it becomes false" if transition.falls(namer.mech) else ""


def transition_outputs(namer: _Namer) -> Iterator[Variable]:
    """What transitions have brought about. It changes at events alone, so it depends on nothing in between."""
    for i, (name, one) in enumerate(namer.mech.transitions.items()):
        for action, meaning in _ACTIVE.items():
            if isinstance(one.action, action):
                at, text = namer.at("transition_active", i), f"whether {meaning}"
                yield _of_event(f"{name}.active", at, "1", text, "boolean")
    if not namer.mech.transitions:
        return
    for j, joint in enumerate(namer.mech.joints):
        for what, field, _, unit, text in _IMPULSES:
            for k in range(3):
                meaning = f"last {text} of the joint on its child, world axes"
                yield _of_event(f"{joint}.impulse.{what}[{k + 1}]", namer.at(field, 3 * j + k), unit, meaning)
    yield _of_event("energy.lost", namer.at("energy_lost"), "J", "kinetic energy lost in events so far")
    yield _of_event("events", namer.at("event_count"), "1", "number of events so far", "integer")


def _of_event(name: str, at: int, unit: str, text: str, kind: Type = "real") -> Variable:
    return Variable(name, at, "output", unit, text, depends=(), type=kind, discrete=True)


def speeds_jump(namer: _Namer) -> bool:
    """Return whether events may change speeds."""
    return any(not isinstance(one.action, Unlock | Release) for one in namer.mech.transitions.values())


def event_indicators(namer: _Namer) -> Iterator[Variable]:
    """What falls below zero when a transition is due, in the core's order; in the block they have no place."""
    behind = namer.system.sizes.reals
    for name, one in namer.mech.transitions.items():
        for suffix, unit, text, depends in _indicators(namer, one):
            yield Variable(f"{name}.indicator{suffix}", behind, "indicator", unit, text, depends=depends)
            behind += 1


def _indicators(namer: _Namer, transition: Transition) -> Iterator[tuple[str, str, str, Names]]:
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


def _coordinate_unit(namer: _Namer, joint: str, element: int) -> str:
    return namer.mech.joints[joint].kind.coordinate_units[element]


def _crossing_unit(namer: _Namer, crossing: Crossing) -> str:
    coordinate = crossing.coordinate(namer.mech)
    return "m" if coordinate is None else _coordinate_unit(namer, *coordinate)


def _crossing_depends(namer: _Namer, crossing: Crossing) -> Names:
    if isinstance(crossing.quantity, PointDistance):
        return namer.depends.between(*crossing.quantity.bodies)[0]
    coordinate = crossing.coordinate(namer.mech)
    assert coordinate is not None
    joint, element = coordinate
    if joint not in namer.tree:
        return namer.depends.loop(joint)[0]
    return (f"{joint}.q{namer.coordinates(joint)[element].suffix}",)
