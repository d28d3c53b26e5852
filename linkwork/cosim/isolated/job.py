"""What a child is asked to run, and what it answers with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.cosim.description import System

KEEP = ("all", "final", "summary")
TO_SINK = "sink"


@dataclass(frozen=True)
class Job:
    """A system to be run.

    Attributes
    ----------
    system
        With paths of FMUs that the child can read.
    settings
        Arguments of `linkwork.cosim.running.run`; they must be such as can be pickled.
    keep
        Of the recorded variables ``all`` values, the ``final`` ones, or a ``summary`` (`reduction`); `TO_SINK`: all
        go in their types to the sink that the parent has been given.
    """

    system: System
    settings: Mapping[str, Any] = field(default_factory=dict)
    keep: str = "all"


@dataclass
class Answer:
    """Columns that a run gave, of what it recorded.

    Attributes
    ----------
    names, units
        Of the columns.
    t
        Times [s], shape (n,).
    values
        Shape (n, columns).
    notices
        What the run has to say.
    statistics
        Its counts by name.
    events
        (time, component) of each.
    complete
        Whether it came to its end.
    """

    names: tuple[str, ...] = ()
    units: dict[str, str] = field(default_factory=dict)
    t: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    values: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 0)))
    notices: tuple[str, ...] = ()
    statistics: dict[str, Any] = field(default_factory=dict)
    events: tuple[tuple[float, str], ...] = ()
    complete: bool = False

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """A column by name, shape (n,)."""
        column: NDArray[np.float64] = self.values[:, self.names.index(name)]
        return column
