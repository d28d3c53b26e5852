"""Tables over time: what an input is between the rows and outside of them, and where it changes abruptly."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, shortened
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import suggest
from linkwork._util.piecewise import INTERPOLATIONS, Interpolation, coefficients, shifted
from linkwork.errors import MechanismError, MechanismNameError

Outside: TypeAlias = Literal["hold", "zero", "error"]
OUTSIDES: tuple[str, ...] = get_args(Outside)

KINK = 1e-9  # relative change of a coefficient from piece to piece; less is rounding


@checks_keywords
class Table:
    """A quantity over time by rows: an input of `simulate`, or a function of time elsewhere.

    Parameters
    ----------
    t
        (n,), s, increasing. A time may occur twice: the value jumps there, from the first row to the second.
    values
        (n,), or (n, k) for k numbers at each time.
    interpolation
        Between rows: "linear"; "hold" keeps the last row; "monotone" is a cubic with continuous rate that exceeds
        no row; "cubic" is a spline with continuous acceleration, which may overshoot.
    outside
        Before the first and after the last row: "hold" keeps the end values; "zero" is zero there; "error" refuses.

    Examples
    --------
    >>> import linkwork as lw
    >>> torque = lw.Table([0.0, 4.0, 5.0, 6.0], [0.0, 0.0, 100.0, 0.0])
    >>> torque(4.5), torque(20.0)
    (50.0, 0.0)
    >>> lw.Table([0.0, 1.0, 2.0], [3.0, 5.0, 4.0], interpolation="hold")(1.9)
    5.0
    """

    def __init__(
        self,
        t: ArrayLike,
        values: ArrayLike,
        interpolation: Interpolation = "linear",
        outside: Outside = "hold",
    ) -> None:
        _check_choice(interpolation, INTERPOLATIONS, "interpolation")
        _check_choice(outside, OUTSIDES, "outside")
        self.interpolation, self.outside = interpolation, outside
        self.t, self.values = _rows(t, values)
        self._times: list[float] = self.t.tolist()
        self._pieces = self._all_pieces()  # (n + 1, powers, k): before the rows, between them, after them
        self._numbers = self._pieces[:, :, 0].tolist() if self.values.ndim == 1 else None

    def __call__(self, t: float) -> Any:
        """Return the value at a time, s: a number, or (k,)."""
        k = self._piece(t)
        s = t - self._times[k - 1] if k else 0.0
        if self._numbers is not None:
            value = 0.0
            for factor in reversed(self._numbers[k]):
                value = value * s + factor
            return value
        return self._sum(k, s)[0]

    def motion(self, t: float) -> FloatArray:
        """Return value, rate and acceleration at a time, (3,), of a table of single numbers."""
        k = self._piece(t)
        values = self._sum(k, t - self._times[k - 1] if k else 0.0)
        return np.array([float(one[0]) for one in values])

    def jumps(self) -> list[tuple[float, float]]:
        """Return where the table is not one polynomial: the last instant before, and the first one after, s.

        Each piece is met with its own polynomial: at a time between both, which are neighbours, there is no number.
        """
        t = self.t
        begins = np.concatenate([t[:1], t])
        durations = np.concatenate([[0.0], np.diff(t), [0.0]])
        before = shifted(self._pieces, durations)[:-1]  # of each row, the polynomial before it
        after = self._pieces[1:]
        size = np.abs(self.values).max(initial=0.0) or 1.0
        # A coefficient of power p matters by what it does within the neighbouring pieces.
        span = np.maximum(durations[:-1], durations[1:]).reshape(-1, 1, 1)
        powers = np.arange(after.shape[1]).reshape(1, -1, 1)
        changes = (np.abs(after - before) * span**powers).max(axis=(1, 2)) > KINK * size
        found = []
        for k in np.flatnonzero(changes & (np.append(np.diff(t), 1.0) > 0.0)):
            at = float(begins[k + 1])
            at_end = k == len(t) - 1 and self._closed
            found.append((at, float(np.nextafter(at, np.inf))) if at_end else (float(np.nextafter(at, -np.inf)), at))
        return found

    def rate_jump(self, t_start: float, t_end: float) -> float | None:
        """Return the first time within a run at which value or rate jump; None: there is none."""
        low, high = min(t_start, t_end), max(t_start, t_end)
        size = float(np.ptp(self.values)) or 1.0
        typical = size / (self._times[-1] - self._times[0])
        for before, after in self.jumps():
            if low < after <= high or low <= before < high:
                change = np.abs(self.motion(after) - self.motion(before))
                if change[0] > KINK * size or change[1] > KINK * typical:
                    return after
        return None

    def check_run(self, t_start: float, t_end: float) -> None:
        """Refuse a run that a table with `outside` "error" does not cover."""
        for t in (t_start, t_end):
            if self._refuses(t):
                raise MechanismError(f"{self._outside_text(t)}; give rows for the whole run, or another `outside`")

    @property
    def _closed(self) -> bool:
        """Whether the last row is the end of the piece before it, not the begin of the one after it."""
        return self.interpolation != "hold" and len(self.t) > 1 and self._times[-2] < self._times[-1]

    def _refuses(self, t: float) -> bool:
        return self.outside == "error" and not self._times[0] <= t <= self._times[-1]

    def _outside_text(self, t: float) -> str:
        return f"t = {t:.9g} s is outside the table, which is from {self._times[0]:.9g} s to {self._times[-1]:.9g} s"

    def _piece(self, t: float) -> int:
        """Return the number of the piece at a time: 0 before the rows, n after them."""
        if self.outside == "error" and self._refuses(t):
            raise MechanismError(self._outside_text(t))
        k = bisect_right(self._times, t)
        return k - 1 if self._closed and t == self._times[-1] else k

    def _sum(self, k: int, s: float) -> list[FloatArray]:
        """Return value, rate and acceleration, (k,) each, of a piece at s after its begin."""
        piece = self._pieces[k]
        value, rate, half = np.zeros((3, piece.shape[1]))
        for factor in piece[::-1]:  # Horner's scheme with its derivatives
            half = half * s + rate
            rate = rate * s + value
            value = value * s + factor
        return [value, rate, 2.0 * half]

    def _all_pieces(self) -> FloatArray:
        """Return all polynomials, (n + 1, powers, k), each in powers of the time since the row at its begin."""
        y = self.values.reshape(len(self.t), -1)
        parts = np.flatnonzero(np.diff(self.t) == 0.0) + 1  # each part is continuous
        bounds = [0, *parts.tolist(), len(y)]
        pieces = [np.zeros((0, 1, y.shape[1]))]
        for first, end in pairwise(bounds):
            if end - first > 1:
                pieces.append(coefficients(self.t[first:end], y[first:end], self.interpolation))
            if end < len(y):
                pieces.append(y[end - 1 : end, np.newaxis])  # of no length
        ends = y[[0, -1], np.newaxis] * (0.0 if self.outside == "zero" else 1.0)
        pieces = [ends[:1], *pieces, ends[1:]]
        powers = max(piece.shape[1] for piece in pieces)
        return np.concatenate([np.pad(one, ((0, 0), (0, powers - one.shape[1]), (0, 0))) for one in pieces])

    def __repr__(self) -> str:
        size = "" if self.values.ndim == 1 else f" of {self.values.shape[1]} numbers"
        span = f"from {self._times[0]:.6g} s to {self._times[-1]:.6g} s"
        return f"Table({len(self.t)} rows{size} {span}, {self.interpolation}, outside {self.outside})"


def as_table(value: Any) -> Table | None:
    """Return an input that is a table: a `Table`, times and values, or a Series or DataFrame of pandas; else None."""
    if isinstance(value, Table):
        return value
    if isinstance(value, tuple) and len(value) == 2 and all(_has_items(one) for one in value):
        return Table(*value)
    if hasattr(value, "index") and hasattr(value, "to_numpy"):
        return Table(_seconds(value.index), value.to_numpy())
    return None


def _has_items(value: Any) -> bool:
    return not isinstance(value, str) and hasattr(value, "__len__") and getattr(value, "ndim", 1) > 0


def _seconds(index: Any) -> Any:
    """Return the index of pandas as times; one of durations in seconds."""
    if hasattr(index, "total_seconds"):
        return index.total_seconds().to_numpy()
    return index.to_numpy()


def _check_choice(value: object, choices: Sequence[str], what: str) -> None:
    if value not in choices:
        raise MechanismNameError(f"there is no {what} {value!r} of tables: {suggest(str(value), choices)}")


def _rows(t: ArrayLike, values: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return times (n,) and values (n,) or (n, k), checked."""
    times, numbers = _array(t, "times", "fiu"), _array(values, "values", "fiub")
    if times.ndim != 1 or not times.size:
        raise MechanismError(f"a table has times of shape {times.shape}; give (n,), at least one")
    if numbers.ndim not in (1, 2) or len(numbers) != len(times) or not numbers.size:
        raise MechanismError(
            f"a table has {len(times)} times, but values of shape {numbers.shape}: give one row of values for each time"
        )
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    for array, what in ((times, "time"), (numbers, "value")):
        if not (good := np.isfinite(array)).all():
            row = int(np.argwhere(~good)[0][0])
            raise MechanismError(
                f"a table has the {what} {shortened(array[row].tolist())} in row {row + 1}: give numbers"
            )
    steps = np.diff(times)
    wrong = np.flatnonzero((steps < 0.0) | ((steps == 0.0) & (np.append(steps[1:], 1.0) == 0.0)))
    if wrong.size:
        k = int(wrong[0])
        raise MechanismError(
            f"the times of a table must increase: row {k + 2} has {times[k + 1]:.9g} s after {times[k]:.9g} s; a time "
            "may occur twice, where the value jumps"
        )
    return times, numbers


def _array(value: ArrayLike, what: str, kinds: str) -> FloatArray:
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        array = np.asarray(None)
    if array.dtype.kind not in kinds:
        wanted = "times in seconds" if what == "times" else "numbers"
        raise MechanismError(f"the {what} of a table must be {wanted}, not {shortened(value)}")
    found = np.array(array, dtype=np.float64)
    found.setflags(write=False)
    return found
