"""The part of a built-in controller besides its variables: sizes and numbers of its tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Structure:
    """Sizes and numbers in the order in which the controller's C file in ``fmu_src/controllers`` takes them."""

    sizes: tuple[int, ...] = ()
    numbers: tuple[float, ...] = ()


def flat(rows: Iterable[Iterable[float]]) -> tuple[float, ...]:
    """Return the numbers of all rows, one row after the other.

    >>> flat([[1.0, 2.0], [3.0, 4.0]])
    (1.0, 2.0, 3.0, 4.0)
    """
    return tuple(value for row in rows for value in row)
