"""A mechanism that a page simulates: its model with a wrench on each body, and where its numbers stand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.part_names import suffixes
from linkwork.mechanism import Mechanism, Wrench
from linkwork.mechanism.forces import names_in_use
from linkwork.model.compile import compile
from linkwork.model.compiled import compile_mechanism
from linkwork.view import payload
from linkwork.view.characteristics import add_characteristics
from linkwork.view.meshes import ShapeTable
from linkwork.view.packing import pack
from linkwork.view.page import page
from linkwork.view.part import PagePart, PageRequest
from linkwork.view.scene import closed_offsets, scene_of

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.variables.schema import Variable

T_END = 10.0  # s
ROWS_PER_SECOND = 100.0
SHOWN = ("input", "state", "derivative", "output", "time")
# Quaternions are no numbers to change one by one; each run sets the feedback on loops itself.
FIXED = ("parent_orientation", "child_orientation", "correction_gain")


def part_of_mechanism(mech: Mechanism, request: PageRequest) -> PagePart:
    """Return the scene and the simulator of a mechanism."""
    return live_part(compile(mech), request)


def page_of_mechanism(mech: Mechanism, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write the page of a mechanism; see `Mechanism.page`."""
    return page(compile(mech), path, **options)


def live_page(model: Model, t_end: float, rtol: float) -> str:
    """Return the page that simulates a model."""
    return page(model, t_end=t_end, rtol=rtol)


def live_part(model: Model, request: PageRequest) -> PagePart:
    """Return the scene and the simulator of a model; values of its parameters are kept."""
    shapes = ShapeTable(model.mechanism)
    scene = scene_of(model, shapes=shapes)
    live, scene["units"] = live_model(model, request)
    add_characteristics(scene, model, live=True)
    return PagePart(scene, live=live, meshes=shapes.packed())


def live_model(
    model: Model, request: PageRequest, start: Mapping[str, float] | None = None
) -> tuple[payload.LiveModel, dict[str, str]]:
    """Return the simulator of a model and the units of its columns.

    Parameters
    ----------
    model
        The compiled mechanism; values of its parameters are kept.
    request
        Span and tolerances.
    start
        Start values by name; those of the model if left out.
    """
    dragged, wrenches = with_drags(model)
    if start:
        dragged = dragged.with_parameters(start)
    known = {v.name for v in model.variables}
    variables = [v for v in dragged.variables if v.name in known]
    settings = {
        kind: [_setting(v) for v in variables if v.kind == kind and _may_change(dragged, v)]
        for kind in ("parameter", "input", "start")
    }
    shown = [v for v in variables if v.kind in SHOWN]
    columns = {v.name: v.reference for v in shown}
    columns["time"] = dragged.fields["time"].first
    closed = closed_offsets(dragged)
    columns |= closed
    live: payload.LiveModel = {
        "scene": 0,
        "model": pack(dragged.model_bytes),
        "t_end": T_END if request.t_end is None else float(request.t_end),
        "rtol": request.rtol,
        "atol": request.rtol if request.atol is None else request.atol,
        "rows_per_second": ROWS_PER_SECOND,
        "parameters": settings["parameter"],
        "inputs": settings["input"],
        "start": settings["start"],
        "priorities": _priorities(dragged),
        "given": _given(dragged.mechanism),
        "columns": columns,
        "drag": {
            body: {"point": dragged.column(f"{name}.point").first, "force": dragged.column(f"{name}.F").first}
            for body, name in wrenches.items()
        },
    }
    return live, {"time": "s", **{v.name: v.unit for v in shown}, **dict.fromkeys(closed, "1")}


def with_drags(model: Model) -> tuple[Model, dict[str, str]]:
    """Return the model with a wrench on each body, and the names of the wrenches by body.

    A wrench of zero changes no bit of the motion.
    """
    mech, names = model.mechanism.copy(), dict[str, str]()
    mech.forces = list(mech.forces)
    used = list(names_in_use(mech).values())
    for body in mech.bodies:
        name = f"drag {body}"
        while any(name in one for one in (*used, names.values())):
            name += "_"
        names[body] = name
        mech.forces.append(Wrench(body, name=name))
    compiled = compile_mechanism(mech, model.method, model.reference)
    dragged = type(model)(compiled)
    return (dragged.with_parameters(model.parameters) if model.parameters else dragged), names


def _may_change(model: Model, variable: Variable) -> bool:
    spans = (model.fields[name].span for name in FIXED)
    return not any(span.start <= variable.reference < span.stop for span in spans)


def _setting(v: Variable) -> payload.Setting:
    low, high = (0.0, 1.0) if v.type == "boolean" else (v.minimum, v.maximum)
    return {
        "name": v.name,
        "offset": v.reference,
        "value": _finite(v.start or 0.0),
        "unit": v.unit,
        "minimum": low,
        "maximum": high,
    }


def _finite(value: float) -> float:
    """Return a number that JSON has: a limit that is infinite is the largest number."""
    return float(np.clip(value, -np.finfo(np.float64).max, np.finfo(np.float64).max)) + 0.0


def _priorities(model: Model) -> list[payload.Priority]:
    first, joints = model.fields["q_priority"].first, model.mechanism.joints
    return [
        {"name": f"{name}.q{suffix}", "offset": first + span.start + i}
        for name, span in model.numbering.q.items()
        for i, suffix in enumerate(suffixes(joints[name].kind.nq))
    ]


def _given(mech: Mechanism) -> list[str]:
    """Return the names of the coordinates and speeds whose start values the description gives, in their order."""
    return [
        f"{name}.{what}{suffix}"
        for what, start in (("q", mech.start_q), ("u", mech.start_u))
        for name in start
        for suffix in suffixes(start[name].size)
    ]
