"""Texts for people: cells in columns, numbers without digits of rounding."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat

MOST_LINES = 20  # of a list


def aligned(rows: Sequence[Sequence[str]], sides: str = "<") -> list[str]:
    """Return indented lines whose cells stand in columns, at the left "<" or right ">"; the last one is for the rest.

    >>> aligned([("A.q", "1", "rad"), ("rocker.q", "12", "rad")], "<><")
    ['  A.q        1  rad', '  rocker.q  12  rad']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    places = [f"{side}{width}" for width, side in zip(widths, chain(sides, repeat(sides[-1])), strict=False)]
    cells = ([f"{cell:{place}}" for cell, place in zip(row, places, strict=True)] for row in rows)
    return ["  " + "  ".join(line).rstrip() for line in cells]


def listed(heading: str, rows: Sequence[Sequence[str]], most: int = MOST_LINES) -> list[str]:
    """Return a heading and rows, and the number of those left out; nothing without rows.

    >>> listed("events (3)", [("0.1 s",), ("0.2 s",), ("0.3 s",)], most=1)
    ['events (3)', '  0.1 s', '  ... 2 more']
    """
    more = [f"  ... {len(rows) - most} more"] if len(rows) > most else []
    return [heading, *aligned(rows[:most]), *more] if rows else []


def tidy(value: float, form: str = ".6g") -> str:
    """Return a number without what only rounding has left.

    >>> tidy(-1e-17), tidy(0.1 + 0.2)
    ('0', '0.3')
    """
    return f"{round(float(value), 12) + 0.0:{form}}"
