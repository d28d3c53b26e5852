"""Signals from a table over time, such as a road: straight from point to point, or a smooth cubic spline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.keywords import checks_keywords
from linkwork._util.piecewise import coefficients
from linkwork.controllers.built_in import native
from linkwork.controllers.native.controller import NativeController
from linkwork.controllers.native.interface import Structure, flat
from linkwork.errors import FmuError


class Signal(NativeController):
    """Values and their rates. Pieces are polynomials of the time since their begin, lowest power first."""

    law = "signal"
    depends_on_time = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.times: list[float] = self.setting("times", [0.0, 1.0])
        self.pieces: dict[str, list[list[float]]] = self.setting("pieces", {"y": [[0.0, 1.0]]})
        self.periodic: bool = self.setting("periodic", False)
        units: dict[str, str] = self.setting("units", {})
        for name in self.pieces:
            unit = units.get(name, "1")
            self.add_output(name, unit, "the signal", depends=())
            self.add_output(f"{name}.rate", "1/s" if unit == "1" else f"{unit}/s", "its rate", depends=())
        self.add_parameter("delay", 0.0, "s", "by which the signal comes later")
        self.add_parameter("scale", 1.0, description="factor on values and rates")

    def structure(self) -> Structure:
        """Return the times, and the polynomials of each signal."""
        factors = {len(piece) for pieces in self.pieces.values() for piece in pieces}
        sizes = (len(self.pieces), len(self.times), *(factors or {0}), int(self.periodic))
        return Structure(sizes, (*self.times, *flat(piece for pieces in self.pieces.values() for piece in pieces)))


@native(Signal)
@checks_keywords
def signal(
    times: ArrayLike,
    values: Mapping[str, ArrayLike] | ArrayLike,
    *,
    interpolation: Literal["linear", "monotone", "cubic"] = "linear",
    units: Mapping[str, str] | None = None,
    periodic: bool = False,
    delay: float = 0.0,
    scale: float = 1.0,
) -> dict[str, Any]:
    """Write a table over time as an FMU that is a source of signals.

    Parameters
    ----------
    times
        (n,), s, increasing.
    values
        (n,) each, by name; or one array, of the signal ``y``. Of each signal there is the rate as well, ``y.rate``.
    interpolation
        "linear"; "monotone", cubics with continuous rate that exceed no value; or "cubic": twice continuously
        differentiable, with SciPy's not-a-knot ends (periodic ones where `periodic`).
    units
        By signal.
    periodic
        Repeat the table; else its ends are held.
    delay, scale
        s, and a factor.
    """
    t = np.asarray(times, dtype=float)
    signals = values if isinstance(values, Mapping) else {"y": values}
    if t.ndim != 1 or len(t) < 2 or not np.isfinite(t).all() or not (np.diff(t) > 0).all():
        raise FmuError("signal: times must be two or more numbers that increase, s")
    pieces = {}
    for name, its in signals.items():
        y = np.asarray(its, dtype=float)
        if y.shape != t.shape or not np.isfinite(y).all():
            raise FmuError(f"signal {name!r}: give one finite number for each of the {len(t)} times")
        pieces[name] = _pieces(t, y, interpolation, periodic, name)
    settings = {"times": t.tolist(), "pieces": pieces, "units": dict(units or {}), "periodic": periodic}
    return settings | {"delay": delay, "scale": scale}


def _pieces(
    t: NDArray[np.float64], y: NDArray[np.float64], interpolation: str, periodic: bool, name: str
) -> list[list[float]]:
    if interpolation not in ("linear", "monotone", "cubic"):
        raise FmuError(f"signal: interpolation is linear, monotone or cubic, not {interpolation!r}")
    if interpolation == "cubic" and periodic and y[0] != y[-1]:
        raise FmuError(f"signal {name!r}: a cubic that repeats must end with the value with which it begins")
    found: list[list[float]] = coefficients(t, y, interpolation, periodic=periodic).tolist()
    return found
