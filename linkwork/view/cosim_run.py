"""The run of a system of FMUs as pages hold it: one scene of all FMUs that carry one, in the same world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork.errors import CosimError
from linkwork.view import payload
from linkwork.view.fmu_scene import content_of, joined
from linkwork.view.part import PagePart, PageRequest
from linkwork.view.recording import NUMBERS, recorded_run

if TYPE_CHECKING:
    from linkwork.cosim.recording.result import Result


def part_of_cosim(result: Result, request: PageRequest) -> PagePart:
    """Return scene and run of a result, from the scene files of its components."""
    if not result.scenes:
        raise CosimError(
            f"no FMU of {result.name!r} carries a scene: a page shows FMUs that Linkwork has written; export them again"
        )
    if request.live:
        raise CosimError("a page simulates mechanisms, not systems of FMUs: leave live=True out")
    found = {name: content_of(text, f"component {name!r}")["scene"] for name, text in result.scenes.items()}
    patterns = [f"'{component}.*.{what}[?]'" for component in found for what in "rQ"]
    remedy = (
        f"record poses, run(..., columns=[{', '.join(patterns)}, ...]); an FMU that was exported with chosen outputs "
        "must have them among these"
    )
    return part_of_table(result, joined(result.name, found), request, remedy)


def part_of_table(result: Result, scene: payload.Scene, request: PageRequest, remedy: str) -> PagePart:
    """Return scene and run of columns by name, which have the names that the scene has."""
    if not len(result):
        raise CosimError(f"the result of {result.name!r} has no rows to show")
    poses = [column for body in scene["bodies"] for column in (*body["r"], *body["Q"])]
    _check_poses(result, poses, remedy)
    closed = [one["closed"] for one in scene["joints"] if one["closed"] is not None and one["closed"] in result]
    columns = result._scalars([*poses, *closed, *(result.names if request.columns is None else request.columns)])
    texts = [name for name in poses if columns[name].dtype.kind not in NUMBERS]
    if texts:
        raise CosimError(f"column {texts[0]!r} of the result of {result.name!r} has texts: they must be numbers")
    for joint in scene["joints"]:
        joint["closed"] = joint["closed"] if joint["closed"] in columns else None
    scene["units"] = {"time": "s", **{name: result._unit(name) for name in columns}}
    events: list[payload.RunEvent] = [{"t": float(t), "text": str(what)} for t, what in result.events]
    run = recorded_run(
        result.name if request.label is None else request.label,
        np.asarray(result.t),
        columns,
        events,
        "the run was aborted" if result.aborted else "",
        rows_of_result=len(result),
        max_rows=request.max_rows,
    )
    return PagePart(scene, run)


def _check_poses(result: Result, poses: list[str], remedy: str) -> None:
    missing = [name for name in poses if name not in result]
    if missing:
        raise CosimError(
            f"the result of {result.name!r} has no column {missing[0]!r}, one of {len(missing)} that the scene needs: "
            f"{remedy}"
        )
