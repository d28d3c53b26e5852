"""The variables of transitions: what sets them off, what they have brought about, and what an importer watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from linkwork._util.part_names import suffixes
from linkwork.mechanism import Command, Crossing, Impulse, PointDistance, Stop
from linkwork.mechanism import part_quantities as of_parts
from linkwork.mechanism.friction import has_events, sticking
from linkwork.mechanism.quantities import Quantity, Reading
from linkwork.variables.templates import Entity, Pattern

if TYPE_CHECKING:
    from linkwork.mechanism import Transition
    from linkwork.variables.dependencies import Names
    from linkwork.variables.namer import Namer


def transition_parameters(namer: Namer) -> Iterator[Entity]:
    """When transitions happen, and bounds of stops."""
    for i, (name, one) in enumerate(namer.mech.transitions.items()):
        yield namer.entity(name, (i,), of_parts.transition_parameters(namer.mech, one))


def transition_inputs(namer: Namer) -> Iterator[Entity]:
    """Commands and impulses."""
    for i, (name, one) in enumerate(namer.mech.transitions.items()):
        if isinstance(one.when, Command):
            yield namer.entity(name, (i,), [of_parts.command(_end(namer, one))])
        if isinstance(one.action, Impulse):
            yield namer.entity(name, (i,), of_parts.impulse_inputs(one), labels=(one.action.body, ""))


def _end(namer: Namer, transition: Transition) -> str:
    return ", and undone where it becomes false" if transition.falls(namer.mech) else ""


def transition_outputs(namer: Namer) -> Iterator[Entity]:
    """What transitions have brought about. It changes at events alone, so it depends on nothing in between."""
    for i, (name, one) in enumerate(namer.mech.transitions.items()):
        for quantity in of_parts.transition_outputs(one):
            yield namer.entity(name, (i,), [quantity], _on_nothing)
    if not has_events(namer.mech):
        return
    pattern = Pattern(tuple(of_parts.impulses_of_joints()), namer.fields)
    for j, joint in enumerate(namer.mech.joints):
        yield Entity(pattern, (joint, "", ""), (j,), _on_nothing)
    for quantity in of_parts.OF_EVENTS:
        yield namer.entity(quantity.name, (0,), [quantity], _on_nothing)


def _on_nothing() -> tuple[Names, ...]:
    return ((),)


def event_indicators(namer: Namer, of_variable: Callable[[str], Names]) -> Iterator[Entity]:
    """What falls below zero when a transition is due, in the core's order; it stands behind the block.

    `of_variable` returns what a variable depends on.
    """
    number = 0
    for name, one in namer.mech.transitions.items():
        for suffix, unit, text, depends in _indicators(namer, one, of_variable):
            quantity = Quantity(f"{{0}}.indicator{suffix}", "indicator", "indicator", unit, text)
            yield namer.entity(name, (number,), [quantity], partial(tuple, [depends]))
            number += 1
    for friction in sticking(namer.mech):
        text = "speed in its direction while it slides; rest of the limit while it sticks; else 1e-9 less the speed"
        depends = namer.depends.accelerations(friction.joint_names)
        quantity = Quantity("{0}.indicator", "indicator", "indicator", "1", text)
        yield namer.entity(friction.name, (number,), [quantity], partial(tuple, [depends]))
        number += 1


def _indicators(
    namer: Namer, transition: Transition, of_variable: Callable[[str], Names]
) -> Iterator[tuple[str, str, str, Names]]:
    """What the name ends in, unit, meaning and dependencies."""
    match transition.action, transition.when:
        case Stop() as stop, _:
            text = "way left to the {} bound; what the stop presses with where the joint rests on it"
            for bound in ("lower", "upper"):
                if getattr(stop, bound) is not None:
                    yield f".{bound}", "1", text.format(bound), namer.depends.acceleration(stop.joint)
        case _, Crossing() as crossing:
            text = "way left until the value is crossed"
            depends = _crossing_depends(namer, crossing, of_variable)
            yield "", of_parts.crossing_unit(namer.mech, crossing), text, depends


def _crossing_depends(namer: Namer, crossing: Crossing, of_variable: Callable[[str], Names]) -> Names:
    watched = crossing.watched(namer.mech)
    if isinstance(watched, Reading):
        return of_variable(str(crossing.quantity))
    if isinstance(watched, PointDistance):
        return namer.depends.between(*watched.bodies)[watched.rate]
    if watched.joint not in namer.tree:
        return namer.depends.loop(watched.joint)[watched.is_speed]
    kind = namer.mech.joints[watched.joint].kind
    symbol, count = ("u", kind.nu) if watched.is_speed else ("q", kind.nq)
    return (f"{watched.joint}.{symbol}{suffixes(count)[watched.element]}",)
