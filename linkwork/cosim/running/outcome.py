"""What a run came to whose rows went to files, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from linkwork._util.text import aligned, listed
from linkwork.cosim.recording.result import Result
from linkwork.cosim.recording.tee import Tee
from linkwork.cosim.system import System
from linkwork.errors import CosimError
from linkwork.results.base import ResultBase

MOST_VALUES = 30  # printed
ONE = {"steps": "step", "rejected": "rejected", "rollbacks": "rollback", "iterations": "iteration"}


@dataclass
class Plan:
    """A run as it was asked for: the system, the arguments of `linkwork.cosim.run`, columns shown and kept."""

    system: System
    t_start: float
    t_end: float
    settings: dict[str, Any]
    columns: list[str]
    kept: list[str]
    master: str
    notices: list[str]


@dataclass
class Outcome(ResultBase):
    """A run, the last values of the columns to be shown, the files written, and why it ended early, if it did."""

    plan: Plan
    result: Result
    rows: Tee
    wall_time: float
    problem: CosimError | None = None
    written: Sequence[Path] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return what the run came to as plain data."""
        plan, run = self.plan, self.result
        return {
            "name": run.name,
            "components": {name: one.fmu.name for name, one in plan.system.components.items()},
            "master": plan.master,
            "t_start": plan.t_start,
            "t_end": plan.t_end,
            "reached": self.rows.reached,
            "wall_time": self.wall_time,
            **(asdict(run.statistics) if run.statistics else {}),
            "events": [{"t": t, "component": component} for t, component in run.events],
            "notices": list(dict.fromkeys([*plan.notices, *run.notices])),
            "aborted": run.aborted,
            "final": {name: self.rows.last[name] for name in plan.columns if name in self.rows.last},
            "written": [str(path) for path in self.written],
        }

    def summary(self) -> str:
        """Return what the run came to as text."""
        facts, units = self.to_dict(), self.rows.units
        counts = [f"{facts[name]} {name if facts[name] > 1 else one}" for name, one in ONE.items() if facts.get(name)]
        counts.append(f"{self.wall_time:.3g} s" if self.wall_time >= 1 else f"{1e3 * self.wall_time:.1f} ms")
        reached = facts["t_start"] if facts["reached"] is None else facts["reached"]
        events = [(f"{one['t']:.9g} s", one["component"]) for one in facts["events"]]
        rows = [(name, _printed(value), units.get(name, "")) for name, value in facts["final"].items()]
        more = [f"  ... {len(rows) - MOST_VALUES} more; --show selects"] if len(rows) > MOST_VALUES else []
        lines = [
            f"{facts['name']}: {facts['t_start']:g} to {reached:g} s with {facts['master']}; {', '.join(counts)}",
            *(f"note: {one}" for one in facts["notices"]),
            *listed(f"events ({len(events)})", events),
            *([f"at t = {reached:g} s", *aligned(rows[:MOST_VALUES]), *more] if rows else []),
            *(f"wrote {path}" for path in facts["written"]),
        ]
        return "\n".join(lines)

    @property
    def kept_until(self) -> str:
        """Until when there are results, and in which files, as the rest of a sentence."""
        if self.rows.reached is None:
            return ""
        if not self.written:
            return f"; it had come to t = {self.rows.reached:.9g} s, and -o FILE would have kept the results"
        if self.rows.saved is None:
            return ""
        return f"; results until t = {self.rows.saved:.9g} s are in {' and '.join(map(str, self.written))}"


def _printed(value: Any) -> str:
    if isinstance(value, float):
        return f"{value: .9g}"
    return repr(value) if isinstance(value, str) else f" {value}"
