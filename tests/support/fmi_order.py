"""Which calls FMI allows in which state of an instance in Co-Simulation; read from what an FMU has written down.

After the tables "allowed calls" of FMI 2.0 (4.2.4) and the state machine of FMI 3.0 (4.2).
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

STATES = {"GetState", "SetState", "FreeState"}
ALWAYS = {"Instantiate", "FreeInstance", "Reset"}
OK, WARNING, DISCARD, ERROR, FATAL = range(5)

# In which state what may be called; "get" and "set" stand for all types.
ALLOWED2 = {
    "instantiated": {"SetupExperiment", "EnterInitializationMode", "set", "SetRealInputDerivatives"},
    "initialization": {"get", "set", "ExitInitializationMode", "SetRealInputDerivatives"},
    "step": {"get", "set", "DoStep", "Terminate", "SetRealInputDerivatives"},
    "failed": {"get", "GetRealStatus", "GetBooleanStatus", "Terminate"},
    "terminated": {"get", "GetRealStatus", "GetBooleanStatus"},
    "error": {"get"},
}
ALLOWED3 = {
    "instantiated": {"EnterInitializationMode", "set"},
    "initialization": {"get", "set", "ExitInitializationMode"},
    "event": {"get", "set", "UpdateDiscreteStates", "EnterStepMode", "Terminate"},
    "step": {"get", "set", "DoStep", "EnterEventMode", "Terminate"},
    "terminated": {"get"},
    "error": set(),
}
NEXT = {
    "Instantiate": "instantiated",
    "EnterInitializationMode": "initialization",
    "EnterEventMode": "event",
    "EnterStepMode": "step",
    "Terminate": "terminated",
    "FreeInstance": "freed",
}


class Called(NamedTuple):
    """A call: of which instance, which function, with what, and its status."""

    instance: str
    function: str
    detail: str
    status: int


def calls(path: Path) -> list[Called]:
    """Read the record of calls."""
    rows = [line.split("|") for line in path.read_text().splitlines()]
    return [
        Called(name, function.removeprefix("fmi2").removeprefix("fmi3"), d, int(s)) for name, function, d, s in rows
    ]


def faults(made: list[Called], *, three: bool, event_mode: bool = False) -> list[str]:
    """Calls that the standard does not allow, and memory that was not freed."""
    allowed = ALLOWED3 if three else ALLOWED2
    state: dict[str, str] = defaultdict(lambda: "none")
    snapshots: dict[str, set[str]] = defaultdict(set)
    found = []
    lost = False
    for one in made:
        now = state[one.instance]
        kind = {"Get": "get", "Set": "set"}.get(one.function[:3], "") if _is_value(one.function) else one.function
        fine = now != "freed" and (kind in STATES | ALWAYS or kind in allowed.get(now, set()))
        if one.function == "Instantiate":
            fine = now in ("none", "freed")
        if lost or not fine:
            found.append(f"{one.instance}: {one.function} after {'fatal' if lost else now}")
        if kind == "set" and not set(one.detail.split()) <= settable(now, event_mode):
            found.append(f"{one.instance}: {one.function} of {one.detail}while {now}")
        if one.function == "GetState":
            snapshots[one.instance].add(one.detail)
        if one.function == "FreeState":
            snapshots[one.instance].discard(one.detail)
        if one.function == "FreeInstance" and snapshots[one.instance]:
            found.append(f"{one.instance}: {len(snapshots[one.instance])} states are left")
        lost |= one.status == FATAL
        state[one.instance] = _after(now, one, three, event_mode) if fine else now
    if not lost:
        found += [f"{name} is left" for name, now in state.items() if now != "freed"]
    return found


def _is_value(function: str) -> bool:
    types = ("Real", "Integer", "Boolean", "String", "Float", "Int", "UInt")
    name = function[3:]
    return name.startswith(types) and not name.endswith(("Status", "Derivatives"))


def _after(now: str, one: Called, three: bool, event_mode: bool) -> str:
    if one.status >= ERROR:
        return "error"
    if one.function == "ExitInitializationMode":
        return "event" if event_mode else "step"
    if one.function == "DoStep":
        return "failed" if one.status == DISCARD and not three else "step"
    if one.function == "SetState":
        return "step" if now in ("failed", "error") else now
    return NEXT.get(one.function, now)


INPUTS = {"2"} | {str(base + k) for base in range(100, 220, 10) for k in (0, 2, 4)}
DISCRETE = {one for one in INPUTS if one not in {"2", "100", "102", "110", "112"}}
PARAMETERS = {"5", "6", "7", "8", "300"}


def settable(state: str, event_mode: bool) -> set[str]:
    """References of the variables that may be set in a state."""
    if state in ("instantiated", "initialization"):
        return INPUTS | PARAMETERS
    return INPUTS - DISCRETE if event_mode and state == "step" else INPUTS
