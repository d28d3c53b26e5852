"""A run as the command line asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwork.cosim.system import System


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
