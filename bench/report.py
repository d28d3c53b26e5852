"""What a benchmark found, printed and kept as Markdown in bench/results."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

RESULTS = Path(__file__).resolve().parent / "results"
Cell = str | float | None


class Goal(NamedTuple):
    """Something to be found, None if it was not, and what it is to be at most."""

    what: str
    found: float | None
    aim: float

    @property
    def is_met(self) -> str:
        if self.found is None:
            return "not measured"
        return "yes" if self.found <= self.aim else "no"


class Report:
    """Text and tables under one title, headed by the machine they were found on."""

    def __init__(self, name: str, title: str, packages: Iterable[str]) -> None:
        self.name = name
        self.started = time.time()
        self.blocks = [f"# {title}", _circumstances(packages)]

    def text(self, text: str) -> None:
        self.blocks.append(text)

    def table(self, heading: Sequence[str], rows: Iterable[Sequence[Cell]]) -> None:
        """Add a table; numbers get three digits, None a dash."""
        cells = [list(heading), *([_shown(cell) for cell in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in cells]
        lines.insert(1, " | ".join("-" * width for width in widths))
        self.blocks.append("\n".join(f"| {line} |" for line in lines))

    def goals(self, goals: Iterable[Goal]) -> None:
        """Add a table of the goals."""
        self.text("## Aims")
        self.table(["what", "found", "at most", "met"], [[*goal, goal.is_met] for goal in goals])

    def save(self) -> None:
        """Print the report and write it under today's date."""
        text = "\n\n".join(filter(None, self.blocks)) + "\n"
        print(text)
        RESULTS.mkdir(exist_ok=True)
        day = time.strftime("%Y-%m-%d", time.localtime(self.started))
        (RESULTS / f"{day}_{self.name}.md").write_text(text, encoding="utf-8")


def _shown(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:.3g}" if abs(cell) < 100 else f"{cell:.0f}"
    return "-" if cell is None else cell


def _circumstances(packages: Iterable[str]) -> str:
    versions = [f"Python {platform.python_version()}", *(f"{name} {_version(name)}" for name in packages)]
    load = ", ".join(f"{number:.1f}" for number in os.getloadavg())
    return (
        f"{time.strftime('%Y-%m-%d %H:%M')}, {_processor()}, {os.cpu_count()} cores, "
        f"load {load} before the start.  \n{', '.join(versions)}."
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(none)"


def _processor() -> str:
    """The processor's name; `platform` knows only its architecture on Linux."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
