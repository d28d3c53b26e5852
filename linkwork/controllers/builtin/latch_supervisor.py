"""Commands latches of a plant: each where its angle is near a target, slowly and long enough; in a row or alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linkwork._util.keywords import checks_keywords
from linkwork.controllers.built_in import native
from linkwork.controllers.native.controller import NativeController
from linkwork.controllers.native.interface import Structure
from linkwork.errors import FmuError


class LatchSupervisor(NativeController):
    """Its outputs go to the commands of the plant, such as ``latch1.command``; a command that was given stays."""

    law = "latch_supervisor"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.latches: dict[str, dict[str, Any]] = self.setting("latches", {"latch": {"angle": "q", "speed": "u"}})
        seen: set[str] = set()
        for latch, facts in self.latches.items():
            unit = facts.get("unit", "rad")
            for name, its_unit in ((facts["angle"], unit), (facts["speed"], f"{unit}/s")):
                if name not in seen:
                    self.add_input(name, 0.0, its_unit, "measured")
                    seen.add(name)
            self.add_output(f"{latch}.command", "1", "closes the latch", kind=bool)
            self.add_parameter(f"{latch}.target", facts.get("target", 0.0), unit, "where it shall close")
        self.add_output("stage", "1", "how many commands were given", kind=int)
        units = {facts.get("unit", "rad") for facts in self.latches.values()}
        unit = units.pop() if len(units) == 1 else "1"
        self.add_parameter("window", 0.01, unit, "largest distance to the target")
        self.add_parameter("max_speed", 0.05, f"{unit}/s" if unit != "1" else "1", "largest speed")
        self.add_parameter("hold_time", 0.0, "s", "how long both must hold")
        self.add_parameter("sequence", True, description="one latch after the other; else each by itself")

    def structure(self) -> Structure:
        """Return the positions of the variables of each latch."""
        at = {variable.name: i for i, variable in enumerate(self.vars.values())}
        names = (
            (facts["angle"], facts["speed"], f"{one}.command", f"{one}.target") for one, facts in self.latches.items()
        )
        return Structure(tuple(at[name] for four in names for name in four))


@native(LatchSupervisor)
@checks_keywords
def latch_supervisor(
    latches: Mapping[str, Mapping[str, Any] | str],
    *,
    window: float = 0.01,
    max_speed: float = 0.05,
    hold_time: float = 0.0,
    sequence: bool = True,
) -> dict[str, Any]:
    """Write a supervisor of latches as an FMU.

    Parameters
    ----------
    latches
        By latch the joint to watch, ``{"latch1": "H1"}``, for ``H1.q`` and ``H1.u`` near 0 rad; or a dictionary with
        ``angle``, ``speed`` (names of the inputs), ``target`` and ``unit`` (rad; m of sliding joints). In the order of
        the sequence.
    window, max_speed, hold_time, sequence
        A latch is commanded when it has been within `window` of its target, rad, and not faster than `max_speed`,
        rad/s, for `hold_time`, s; with `sequence` not before the one listed before it.
    """
    if not isinstance(latches, Mapping) or not latches:
        raise FmuError("latch_supervisor: name at least one latch, as in {'latch1': 'H1'}")
    described = {latch: _described(latch, facts) for latch, facts in latches.items()}
    settings = {"window": window, "max_speed": max_speed, "hold_time": hold_time, "sequence": sequence}
    return settings | {"latches": described}


def _described(latch: str, facts: Mapping[str, Any] | str) -> dict[str, Any]:
    if isinstance(facts, str):
        return {"angle": f"{facts}.q", "speed": f"{facts}.u"}
    unknown = set(facts) - {"angle", "speed", "target", "unit"}
    if unknown or not {"angle", "speed"} <= set(facts):
        raise FmuError(f"latch {latch!r}: give angle and speed, and if need be target and unit, not {dict(facts)}")
    return dict(facts)
