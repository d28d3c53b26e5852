"""The progress of a sweep: finished and failed points, their rate and the remaining time."""

from __future__ import annotations

import time

from linkwork._util.progress import Progress


class SweepProgress:
    """Counts the points of a sweep and reports them."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total = progress, total
        self.begin(0)

    def begin(self, done: int) -> None:
        """Start the clock with the number of points that are finished already."""
        self._at_first, self._began = done, time.monotonic()

    def show(self, done: int, failed: int) -> None:
        """Report the numbers of finished and of failed points, if due."""
        if not self._progress.due:
            return
        ended, total = done + failed, self._total
        speed = (ended - self._at_first) / max(time.monotonic() - self._began, 1e-9)
        left = f", {_duration((total - ended) / speed)} left" if speed > 0 else ""
        text = f"{done} of {total} points, {failed} failed, {speed:.3g} points/s{left}"
        self._progress.show(text, ended / total if total else None)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
