"""What a run came to, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linkwork.cli.shared import aligned
from linkwork.cosim.recording.result import Result
from linkwork.cosim.recording.tee import Tee

if TYPE_CHECKING:
    from linkwork.cli.run_plan import Plan

MOST_EVENTS = 20  # printed
MOST_VALUES = 30
ONE = {"steps": "step", "rejected": "rejected", "rollbacks": "rollback", "iterations": "iteration"}


def summarise(plan: Plan, run: Result, tee: Tee, wall: float, written: Sequence[Path]) -> dict[str, Any]:
    """Return what a run came to, as JSON has it; `wall` in s, final values of the columns to be shown."""
    return {
        "name": run.name,
        "components": {name: one.fmu.name for name, one in plan.system.components.items()},
        "master": plan.master,
        "t_start": plan.t_start,
        "t_end": plan.t_end,
        "reached": tee.reached,
        "wall_time": wall,
        **(asdict(run.statistics) if run.statistics else {}),
        "events": [{"t": t, "component": component} for t, component in run.events],
        "notices": list(dict.fromkeys([*plan.notices, *run.notices])),
        "aborted": run.aborted,
        "final": {name: tee.last[name] for name in plan.columns if name in tee.last},
        "written": [str(path) for path in written],
    }


def as_text(summary: Mapping[str, Any], units: Mapping[str, str]) -> str:
    """Return a summary as it is printed."""
    counts = [
        f"{summary[name]} {name if summary[name] > 1 else ONE[name]}"
        for name in ("steps", "rejected", "rollbacks", "iterations")
        if summary.get(name)
    ]
    reached = summary["t_start"] if summary["reached"] is None else summary["reached"]
    lines = [
        f"{summary['name']}: {summary['t_start']:g} to {reached:g} s with {summary['master']}; "
        + ", ".join([*counts, _duration(summary["wall_time"])]),
        *(f"note: {one}" for one in summary["notices"]),
        *_events(summary["events"]),
    ]
    if summary["final"]:
        rows = [(name, _printed(value), units.get(name, "")) for name, value in summary["final"].items()]
        lines += [f"at t = {reached:g} s", *aligned(rows[:MOST_VALUES])]
        lines += [f"  ... {len(rows) - MOST_VALUES} more; --show selects"] if len(rows) > MOST_VALUES else []
    return "\n".join([*lines, *(f"wrote {path}" for path in summary["written"])])


def _events(events: Sequence[Mapping[str, Any]]) -> list[str]:
    if not events:
        return []
    rows = [(f"{one['t']:.9g} s", one["component"]) for one in events[:MOST_EVENTS]]
    more = len(events) - MOST_EVENTS
    return [f"events ({len(events)})", *aligned(rows), *([f"  ... {more} more"] if more > 0 else [])]


def _duration(wall: float) -> str:
    return f"{wall:.3g} s" if wall >= 1 else f"{1e3 * wall:.1f} ms"


def _printed(value: Any) -> str:
    if isinstance(value, float):
        return f"{value: .9g}"
    return repr(value) if isinstance(value, str) else f" {value}"
