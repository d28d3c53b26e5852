"""What a child is asked to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwork.cosim.system import System

KEEP = ("all", "final", "summary")


@dataclass(frozen=True)
class Job:
    """A system to be run."""

    system: System  # with paths of FMUs that the child can read
    # Arguments of `linkwork.cosim.running.run`; they must be such as can be pickled.
    settings: Mapping[str, Any] = field(default_factory=dict)
    keep: str = "all"  # of the recorded variables ``all`` values, the ``final`` ones, or a ``summary`` (`reduction`)
    # Whether every row that came before a crash is to be had after it, for which each run takes some milliseconds.
    outlive: bool = True
