"""A motion from point to point, at rest in each, with waits: a polynomial of degree five between two points.

q = p + (10 s^3 - 15 s^4 + 6 s^5) (p' - p),   s from 0 to 1 over the move: the least jerk from rest to rest
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.keywords import checks_keywords
from linkwork.controllers.built_in import native
from linkwork.controllers.native.controller import NativeController
from linkwork.controllers.native.interface import Structure, flat
from linkwork.errors import FmuError


class Trajectory(NativeController):
    """Desired coordinates, speeds and accelerations over time, such as ``L.q_d``, ``L.u_d``, ``L.a_d``."""

    law = "trajectory"
    depends_on_time = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.names: list[str] = self.setting("names", ["joint"])
        self.points: list[list[float]] = self.setting("points", [[0.0], [1.0]])
        self.moves: list[float] = self.setting("move_times", [1.0])
        waits: list[float] = self.setting("dwell_times", [0.0, 0.0])
        self.cycle: bool = self.setting("cycle", False)
        # Rest in the first point, move, rest in the second, and so on; where each move begins.
        rests = accumulate(move + wait for move, wait in zip(self.moves, waits[1:], strict=True))
        self.begins = [waits[0], *(waits[0] + rest for rest in rests)]
        for name, unit in zip(self.names, self.setting("units", ["rad"]), strict=True):
            self.add_output(f"{name}.q_d", unit, "desired coordinate", depends=())
            self.add_output(f"{name}.u_d", f"{unit}/s", "desired speed", depends=())
            self.add_output(f"{name}.a_d", f"{unit}/s2", "desired acceleration", depends=())
        self.add_parameter("start", 0.0, "s", "when the motion begins")
        self.add_parameter("speed", 1.0, description="factor: at 2 the motion takes half the time")

    def structure(self) -> Structure:
        """Return the times of the moves, and the points."""
        numbers = (*self.begins, *self.moves, *flat(self.points))
        return Structure((len(self.names), len(self.points), int(self.cycle)), numbers)


@native(Trajectory)
@checks_keywords
def trajectory(
    points: ArrayLike,
    *,
    names: Sequence[str],
    units: str | Sequence[str] = "rad",
    move_time: float | Sequence[float] = 1.0,
    dwell_time: float | Sequence[float] = 0.0,
    cycle: bool = False,
    start: float = 0.0,
    speed: float = 1.0,
) -> dict[str, Any]:
    """Write a pick-and-place motion as an FMU.

    Parameters
    ----------
    points
        (points, coordinates), at least two points.
    names, units
        Of the coordinates, of joints or of a tool: ``L`` gives ``L.q_d``, ``L.u_d``, ``L.a_d``.
    move_time
        s, of all moves or of each one (points - 1).
    dwell_time
        s, of rest in all points or in each one (points).
    cycle
        Begin again after the last point, which should be the first one.
    start, speed
        s, when it begins, and a factor on its speed.
    """
    values = np.asarray(points, dtype=float)
    if isinstance(names, str) and values.ndim == 2 and values.shape[1] != 1:
        several = list(names) if len(names) == values.shape[1] else [f"{names}{k + 1}" for k in range(values.shape[1])]
        raise FmuError(
            f"trajectory: names={names!r} is one name, and the points have {values.shape[1]} columns; "
            f"name each one, as in names={json.dumps(several)}"
        )
    names = [names] if isinstance(names, str) else list(names)
    if values.ndim == 1 and len(names) == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) < 2 or values.shape[1] != len(names) or not np.isfinite(values).all():
        raise FmuError(f"trajectory: points must be numbers of shape (points, {len(names)}) with two points or more")
    moves = _times(move_time, len(values) - 1, "move_time")
    waits = _times(dwell_time, len(values), "dwell_time")
    if min(moves) <= 0.0 or min(waits) < 0.0:
        raise FmuError("trajectory: move times must be positive and dwell times not negative")
    if cycle and not np.array_equal(values[0], values[-1]):
        raise FmuError("trajectory: a motion that repeats must end where it begins: add the first point at the end")
    return {
        "points": values.tolist(),
        "names": names,
        "units": [units] * len(names) if isinstance(units, str) else list(units),
        "move_times": moves,
        "dwell_times": waits,
        "cycle": cycle,
        "start": start,
        "speed": speed,
    }


def _times(given: float | Sequence[float], n: int, what: str) -> list[float]:
    values = np.asarray(given, dtype=float)
    if values.ndim > 1 or (values.ndim == 1 and len(values) != n) or not np.isfinite(values).all():
        raise FmuError(f"trajectory: {what} must be one number or {n} numbers, s")
    return [float(value) for value in np.broadcast_to(values, n)]
