"""Motions: what a drive prescribes as a function of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from linkwork._util.checks import finite, length, number
from linkwork._util.keywords import checks_keywords
from linkwork.errors import MechanismError

TERMS = 4


@checks_keywords
@dataclass(frozen=True)
class Motion:
    """A coordinate as a function of time: c0 + c1 t + c2 t^2 + c3 t^3 + amplitude sin(2 pi frequency t + phase).

    What the inputs of the drive hold, by default zero, is added to it, so that ``Motion()`` is driven by them alone.

    Parameters
    ----------
    polynomial
        c0, or up to four numbers (c0, c1, c2, c3), in the unit of the coordinate and powers of s.
    amplitude
        In the unit of the coordinate.
    frequency
        Hz.
    phase
        rad.

    Examples
    --------
    >>> Motion((0.3, 12.0))  # a crank that turns steadily
    Motion(polynomial=(0.3, 12.0), amplitude=0.0, frequency=0.0, phase=0.0)
    >>> Motion(amplitude=0.01, frequency=5)  # a base that shakes
    Motion(polynomial=(0.0,), amplitude=0.01, frequency=5.0, phase=0.0)
    """

    polynomial: float | Sequence[float] = (0.0,)
    amplitude: float = 0.0
    frequency: float = 0.0
    phase: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "polynomial", _polynomial(self.polynomial))
        for name in ("amplitude", "frequency", "phase"):
            object.__setattr__(self, name, number(getattr(self, name), f"Motion: {name}"))

    @property
    def constant(self) -> float:
        """The part c0 that does not depend on time."""
        return self.coefficients[0]

    @property
    def coefficients(self) -> tuple[float, ...]:
        """c0, c1, c2 and c3."""
        given = tuple(self.polynomial) if isinstance(self.polynomial, Sequence) else (self.polynomial,)
        return (*given, *(0.0,) * (TERMS - len(given)))


def _polynomial(value: ArrayLike) -> tuple[float, ...]:
    size = 0 if isinstance(value, str) else length(value)
    if size == 0:
        return (number(value, "Motion: polynomial"),)
    if size > TERMS:
        raise MechanismError(f"Motion: polynomial has {size} numbers: give up to {TERMS}, (c0, c1, c2, c3)")
    return tuple(finite(value, (size,), "Motion: polynomial").tolist())
