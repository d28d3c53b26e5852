"""What the commands have in common: aligned lines, arguments of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

FILE_HELP = "a .json file, or a .py file that defines mechanism()"
INTERRUPTED = 130  # as shells expect of a program that was interrupted


def aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return indented lines whose cells stand in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return ["  " + "  ".join(cells).rstrip() for cells in padded]


def load(text: str) -> tuple[str, float]:
    """Take an argument as a load in a joint."""
    joint, _, value = text.partition("=")
    try:
        return joint, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not JOINT=LOAD, such as A=0.5") from None
