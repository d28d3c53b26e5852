"""The results of a sweep, read from its folder as they are asked for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork._util.optional import optional_import
from linkwork._util.registered import registered
from linkwork._util.text import listed
from linkwork.cosim.sweep import result_parts
from linkwork.cosim.sweep.result_parts import POINT, TIME
from linkwork.cosim.sweep.store import POINTS, RESULTS, read_failures, read_header
from linkwork.errors import CosimError
from linkwork.results.base import TableResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

SHOWN = 10  # failures in a summary


class SweepResult(TableResult):
    """The results of a sweep so far; it reads only the requested ones.

    Parameters
    ----------
    folder
        Of the sweep; it may still be running.

    Attributes
    ----------
    header
        System, points, settings and versions.
    keep
        Whether points have all values, the final ones or a summary.
    aborted
        Whether `sweep` was interrupted.
    notices
        The notices of `sweep`.
    wall_time
        How long it took, s; None if not known.
    """

    _error = _write_error = CosimError
    _ways: ClassVar[Mapping[str, Sequence[str]]] = {"to_csv": (".csv",), "to_parquet": (".parquet",)}

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.header = read_header(self.folder)
        self.keep = str(self.header["keep"])
        self.aborted = False
        self.notices: list[str] = []
        self.wall_time: float | None = None
        count = int(self.header["points"]["count"])
        self._paths = sorted((self.folder / RESULTS).glob("part-*.parquet"))
        self._part = np.full(count, -1, dtype=np.int32)  # in which each point is
        for k, path in enumerate(self._paths):
            numbers = result_parts.points_of(path)
            if numbers is not None:
                self._part[numbers] = k

    def __len__(self) -> int:
        """The number of points."""
        return len(self._part)

    def __repr__(self) -> str:
        return f"SweepResult({str(self.folder)!r}: {self.done} of {len(self)} points, {len(self.failures)} failed)"

    def to_dict(self) -> dict[str, Any]:
        """Return what the sweep came to, and the first failures, as plain data."""
        return {
            "name": self.header["system"]["name"],
            "folder": str(self.folder),
            "points": len(self),
            "done": self.done,
            "failed": len(self.failures),
            "aborted": self.aborted,
            "wall_time": self.wall_time,
            "notices": self.notices,
            "failures": self.failures[:SHOWN],
        }

    def summary(self) -> str:
        """Return what the sweep came to, and the first failures, as text."""
        facts = self.to_dict()
        failed = f", {facts['failed']} failed" if facts["failed"] else ""
        begin = "interrupted; run the command again to resume: " if self.aborted else ""
        took = f", {self.wall_time:.3g} s" if self.wall_time is not None else ""
        head = f"{facts['name']}: {begin}{self.done} of {len(self)} points{failed}{took}; results in {self.folder}"
        lines = []
        for one in self.failures:
            values = ", ".join(f"{name}={value}" for name, value in one["parameters"].items())
            lines.append((f"point {one['point']} ({values}), {one['attempts']} attempts: {one['error']}",))
        return "\n".join(listed(head, lines, SHOWN) or [head])

    @property
    def done(self) -> int:
        """The number of points that have results."""
        return int((self._part >= 0).sum())

    @property
    def finished(self) -> Any:
        """Whether each point has results, shape (points,)."""
        return self._part >= 0

    @cached_property
    def points(self) -> DataFrame:
        """Parameters by point."""
        frame: DataFrame = result_parts.read_points(self.folder / POINTS).to_pandas()
        return frame.set_index(POINT)

    @cached_property
    def failures(self) -> list[dict[str, Any]]:
        """Points that failed, with `point`, `attempts`, `error` and `parameters`, in order."""
        failed = read_failures(self.folder)
        return [failed[point] for point in sorted(failed) if self._part[point] < 0]

    def trajectory(self, point: int) -> DataFrame:
        """What a point has recorded, by time."""
        if not 0 <= point < len(self):
            raise CosimError(f"there is no point {point}; they go from 0 to {len(self) - 1}")
        if self._part[point] < 0:
            said = next((one["error"] for one in self.failures if one["point"] == point), "it has not been run")
            raise CosimError(f"point {point} has no results: {said}")
        frame: DataFrame = result_parts.read_part(self._paths[self._part[point]], point).to_pandas()
        return frame.drop(columns=POINT).set_index(TIME)

    def to_dataframe(self) -> DataFrame:
        """All results by point and time, in the order of points."""
        return self._gathered(last=False).set_index([POINT, TIME])

    def _table(self) -> dict[str, Any]:
        return dict(self.to_dataframe().reset_index())

    def final(self) -> DataFrame:
        """Parameters of finished points with their last values, or their summaries."""
        last = self._gathered(last=True).drop(columns=TIME).set_index(POINT)
        both = {name: f"{name} (final)" for name in last.columns if name in self.points.columns}
        return self.points.join(last.rename(columns=both), how="inner")

    @registered
    def plot(self, x: str, y: str, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot a final value or parameter over another, and save the picture if a path is given."""
        raise NotImplementedError

    def _gathered(self, last: bool) -> DataFrame:
        with optional_import("tables", "pandas", "sweep"):
            import pandas as pd

        frames = []
        for k, path in enumerate(self._paths):
            if not (self._part == k).any():
                continue
            frame: DataFrame = result_parts.read_part(path).to_pandas()
            frame = frame[self._part[frame[POINT].to_numpy()] == k]  # a point that was run twice counts once
            frames.append(frame.drop_duplicates(POINT, keep="last") if last else frame)
        if not frames:
            return pd.DataFrame({POINT: np.zeros(0, dtype=np.int64), TIME: np.zeros(0)})
        return pd.concat(frames).sort_values(POINT, kind="stable").reset_index(drop=True)
