"""A run as the command line asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwork.cosim.system import System


@dataclass
class Plan:
    """A run as it was asked for: the system, the arguments of `linkwork.cosim.run`, the columns to be shown."""

    system: System
    start: float
    stop: float
    settings: dict[str, Any]
    columns: list[str]
    master: str
    notices: list[str]
