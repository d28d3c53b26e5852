"""The run of a mechanism as pages hold it: the columns of most interest, and events in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.part_names import suffixes
from linkwork.errors import LinkworkError, MechanismError
from linkwork.mechanism import Impulse, Lock, Pin, Release, Stop, Unlock
from linkwork.mechanism.friction import sticking
from linkwork.view import payload
from linkwork.view.characteristics import add_characteristics, argument_columns
from linkwork.view.live import live_model
from linkwork.view.meshes import ShapeTable
from linkwork.view.part import PagePart, PageRequest
from linkwork.view.recording import recorded_run
from linkwork.view.scene import closed_column, closed_offsets, scene_of

if TYPE_CHECKING:
    from linkwork.core.native import Block
    from linkwork.model.impacts import Event
    from linkwork.model.model import Model
    from linkwork.results.files import Column
    from linkwork.simulation.result import Result

LEFT_OUT = (  # fields whose columns a page has on request only
    *("qdot", "udot", "acceleration", "body_velocity", "body_angular_velocity"),
    *("point_velocity", "point_acceleration", "impulse_force", "impulse_torque", "impulse", "motion_in"),
)
FINISHED = "reached t = "  # the message of a run that came to its end
_VERBS = {Lock: "locks", Unlock: "unlocks", Pin: "joins", Release: "opens", Impulse: "impulse on"}
_UNDONE = {Lock: "unlocks", Pin: "parts"}


def part_of_result(result: Result, request: PageRequest) -> PagePart:
    """Return the scene and the run of a result, and its simulator if that is asked for."""
    if not len(result):
        raise MechanismError(f"the result of {result.name!r} has no rows to show")
    model, drawn = result.model, result._drawn()
    discrete = drawn._trajectory.discrete
    columns = _columns(drawn, discrete, request)
    shapes = ShapeTable(model.mechanism)
    scene = scene_of(model, captured_frames(model, discrete), shapes)
    scene["units"] = {"time": "s", **{name: _unit(model, name) for name in columns}}
    run = recorded_run(
        result.name if request.label is None else request.label,
        drawn.t,
        columns,
        list(events_in_words(result)),
        "" if result.message.startswith(FINISHED) else result.message,
        rows_of_result=len(result),
        max_rows=request.max_rows,
    )
    add_characteristics(scene, model, live=False)
    live = None
    if request.live:
        end = float(result.t[-1]) if request.t_end is None else request.t_end
        live, units = live_model(model, replace(request, t_end=end), _first_state(result))
        scene["units"] |= units
    return PagePart(scene, run, live, shapes.packed())


def _columns(drawn: Result, discrete: Sequence[FloatArray], request: PageRequest) -> dict[str, Column]:
    """Return the columns of a page by name: poses first, then arguments of characteristics, and closed joints."""
    model = drawn.model
    drawn_by = [name for body in model.mechanism.bodies for name in pose_columns(body)]
    drawn_by += argument_columns(model)
    closed = [closed_column(model.mechanism, joint) for joint in model.joint_names]
    drawn_by += [name for name in closed if name in model.columns]
    found = drawn._scalars(drawn_by) | closed_joints(model, discrete)
    return found | drawn._scalars(default_columns(model) if request.columns is None else request.columns)


def _unit(model: Model, name: str) -> str:
    return model.column(name).unit if name in model.columns else "1"


def _first_state(result: Result) -> dict[str, float]:
    """Return the first row as start values of all joints; none if it is the assembled start."""
    model = result.model
    with suppress(LinkworkError):
        start, first = model.assemble(time=float(result.t[0])), result.state(float(result.t[0]))
        if np.array_equal(start.q, first.q) and np.array_equal(start.u, first.u):
            return {}
    found = {}
    for v in model.variables:
        if v.kind == "start":
            joint, _, index = v.name.rpartition("_start")
            found[v.name] = float(result[joint + index][0])
    return found


def pose_columns(body: str) -> list[str]:
    """Return the columns of the pose of a body.

    >>> pose_columns("arm")[:4]
    ['arm.r[1]', 'arm.r[2]', 'arm.r[3]', 'arm.Q[1]']
    """
    return [f"{body}.{what}[{i + 1}]" for what, count in (("r", 3), ("Q", 4)) for i in range(count)]


def default_columns(model: Model) -> list[str]:
    """Return the columns that a page has by default: all but derivatives, velocities of bodies and impulses."""
    spans = [model.fields[name].span for name in LEFT_OUT]
    kinds = ("input", "state", "output")
    return [
        v.name
        for v in model.variables
        if v.kind in kinds and not any(span.start <= v.reference < span.stop for span in spans)
    ]


def closed_joints(model: Model, discrete: Sequence[FloatArray]) -> dict[str, FloatArray]:
    """Return, for joints that are released, the columns that are 1 while they are closed."""
    return {name: _of_each(model, discrete, offset) for name, offset in closed_offsets(model).items()}


def _of_each(model: Model, discrete: Sequence[FloatArray], offset: int) -> FloatArray:
    """Return a number of the block in each of the discrete states."""
    block, last, values = model.block(), None, np.empty(len(discrete))
    for i, one in enumerate(discrete):
        if one is not last:
            block.put_discrete_state(one)
            last = one
        values[i] = block.reals[offset]
    return values


def captured_frames(model: Model, discrete: Sequence[FloatArray]) -> dict[str, payload.Frame]:
    """Return the frames that pins found when they closed in a run, by name of the joint; the last ones."""
    pins = [(j, n) for j, n in enumerate(model.joint_names) if closed_column(model.mechanism, n) == f"{n}.active"]
    found: dict[str, payload.Frame] = {}
    if not pins or not discrete:
        return found
    block, last, fields = model.block(), None, model.fields
    for one in discrete:
        if one is last:
            continue
        block.put_discrete_state(one)
        last = one
        found |= {name: _captured(block, fields["captured_frame"].span.start + 7 * j) for j, name in pins}
    return {name: frame for name, frame in found.items() if np.any(frame["Q"])}


def _captured(block: Block, first: int) -> payload.Frame:
    numbers = [float(value) + 0.0 for value in block.reals[first : first + 7]]
    return {"r": numbers[:3], "Q": numbers[3:]}


# ---- events ----


def events_in_words(result: Result) -> Iterator[payload.RunEvent]:
    """Return the events of a run and what happened."""
    within = result.events
    if len(result):
        low, high = sorted((float(result.t[0]), float(result.t[-1])))
        within = [event for event in within if low <= event.t <= high]
    stops = _stops(result, within)
    undoing = {
        name: False for name, one in result.model.mechanism.transitions.items() if one.falls(result.model.mechanism)
    }
    for event in within:
        texts = []
        for name in event.transitions:
            texts.append(_in_words(result.model, name, event, stops, undone=undoing.get(name, False)))
            if name in undoing:
                undoing[name] = not undoing[name]
        texts += [f"{name}: changes its sign" for name in event.functions]
        yield {"t": float(event.t), "text": "; ".join(texts)}


def _in_words(model: Model, name: str, event: Event, stops: dict[tuple[str, float], float], *, undone: bool) -> str:
    transition = model.mechanism.transitions.get(name)
    if transition is None:
        friction = next(one for one in sticking(model.mechanism) if one.name == name)
        return f"{name}: {friction.place} sticks, or slides again"
    action = transition.action
    lost = f", {event.energy_lost:.3g} J lost" if event.energy_lost > 0.0 else ""
    if isinstance(action, Stop):
        kind = model.mechanism.joints[action.joint].kind
        what = "impact" if np.any(event.u_before != event.u_after) else "contact changes"
        coordinate = f"{action.joint}.q{suffixes(kind.nq)[action.element]}"
        return (
            f"{name}: {what} at {coordinate} = {stops[name, event.t]:.4g} {kind.coordinate_units[action.element]}{lost}"
        )
    verbs = _UNDONE if undone else _VERBS
    verb = next(verb for kind, verb in verbs.items() if isinstance(action, kind))
    subject = f"{action.parent} and {action.child}" if isinstance(action, Pin) else transition.subject
    return f"{name}: {verb} {subject}{lost}"


def _stops(result: Result, events: Sequence[Event]) -> dict[tuple[str, float], float]:
    """Return the coordinate at each event of a stop, by name and time."""
    transitions, found = result.model.mechanism.transitions, dict[tuple[str, float], float]()
    for name, one in transitions.items():
        if isinstance(one.action, Stop):
            times = sorted({event.t for event in events if name in event.transitions})
            if times:
                column = np.atleast_2d(result.at(times, [f"{one.action.joint}.q"])[f"{one.action.joint}.q"].T)
                found |= {(name, t): float(q) for t, q in zip(times, column[one.action.element], strict=True)}
    return found
