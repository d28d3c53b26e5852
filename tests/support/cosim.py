"""Systems of FMUs that tests of recording and of the command line run, and what they record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.cosim.recording.recorder import Recorded
from support.checkout import TOP


def exported(example: str, folder: Path, *, fmi: str = "3.0", outputs: list[str] | None = None) -> Path:
    """Export an example as an FMU."""
    from linkwork.cli.mechanism_files import load_mechanism

    mech = load_mechanism(TOP / "examples" / f"{example}.py")
    return lw.export_fmu(mech, folder / f"{example}.fmu", fmi, outputs)


class Live:
    """Values as an instance holds them: they change from row to row, the arrays stay."""

    def __init__(self) -> None:
        self.real = np.zeros(5)
        self.whole = np.zeros(3, dtype=np.int64)
        self.text = [""]
        self.more = np.zeros(2)

    def variables(self) -> list[Recorded]:
        """Of all types; not in the order in which they lie, and not all that is there."""
        return [
            Recorded("b.y", "rad/s", float, self.more, 1),
            Recorded("a.mode", "", str, self.text, 0),
            Recorded("a.x[1,1]", "m", float, self.real, 3),
            Recorded("a.x[1,2]", "m", float, self.real, 0),
            Recorded("a.z", "m", float, self.real, 4),
            Recorded("a.on", "", bool, self.whole, 2),
            Recorded("a.count", "", int, self.whole, 0),
        ]

    def set(self, i: int) -> float:
        """Take the values of row i; return its time."""
        self.real[:] = [np.sin(i), np.nan, np.nan, i / 3.0, 1e300 * (-1.0) ** i]
        self.whole[:] = [2**53 + i, -1, i % 2]
        self.text[0] = f'"mode" {i // 3}, done'
        self.more[:] = [np.nan, np.inf if i == 4 else np.exp(-i)]
        return 0.1 * i

    @staticmethod
    def expected(n: int) -> dict[str, Any]:
        """The columns of n rows."""
        i = np.arange(n)
        y = np.exp(-i.astype(float))
        y[4:5] = np.inf
        return {
            "b.y": y,
            "a.mode": np.array([f'"mode" {k // 3}, done' for k in i]),
            "a.x[1,1]": i / 3.0,
            "a.x[1,2]": np.sin(i),
            "a.z": 1e300 * (-1.0) ** i,
            "a.on": i % 2 == 1,
            "a.count": 2**53 + i,
        }
