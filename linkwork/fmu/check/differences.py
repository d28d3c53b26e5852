"""Rates given by an FMU against differences of values that it gave at equal distances."""

from __future__ import annotations

from collections.abc import Sequence

POINTS = 5  # of a difference; the rate is compared in the middle
_RELATIVE = 1e-2


def wrong_slope(values: Sequence[float], rates: Sequence[float], h: float, tolerance: float) -> float | None:
    """Return the slope by differences at the middle point if the rate there is not it, else None.

    Parameters
    ----------
    values, rates
        At five times with the distance `h`.
    tolerance
        Of the integrator: the error of the values, relative to 1 or to their size.
    """
    a, b, c, d, e = values
    before, rate, after = rates[1:4]
    near, slope = (d - b) / (2 * h), (a - 8 * b + 8 * d - e) / (12 * h)
    # What higher derivatives, a kink, and the integrator leave of a difference.
    rest = 2 * abs(near - slope) + abs(b - 2 * c + d) / h
    # Stiff springs amplify the integrator's errors: the rates scatter from step to step.
    noise = 10 * tolerance * max(1.0, abs(c)) / h
    noise += 2 * (max(before, rate, after) - min(before, rate, after))
    return None if abs(rate - slope) <= _RELATIVE * abs(slope) + rest + noise else slope
