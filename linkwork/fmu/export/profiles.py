"""Profiles: FMUs for importers that take a part of the standard."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork._util.names import suggest
from linkwork.errors import ExportError, ExportNameError


@dataclass(frozen=True)
class Profile:
    """What an importer takes."""

    name: str  # as users write it
    continuous: bool  # real variables alone that change continuously; other inputs keep their start values
    co_simulation: bool  # whether the FMU has Co-Simulation, and its settings
    all_dependencies: bool  # whether all dependencies are written, however many
    parameters_as_inputs: bool  # whether tunable parameters may be inputs


_PROFILES = {"casadi": Profile("casadi", True, False, True, True)}


def find_profile(name: str | None, arrays: bool, dae: bool) -> Profile | None:
    """Return a profile by its name, after a check of the options that it excludes."""
    if name is None:
        return None
    if name not in _PROFILES:
        raise ExportNameError(f"there is no profile {name!r}: {suggest(str(name), _PROFILES)}")
    if arrays or dae:
        option, reason = ("arrays", "scalars alone") if arrays else ("dae", "explicit equations alone")
        raise ExportError(f"profile={name!r} has {reason}; leave out {option}=True")
    return _PROFILES[name]
