"""A line on standard error with the present run of a comparison."""

from __future__ import annotations

import sys
from types import TracebackType

WIDTH = 70


class Told:
    """Shows the present run and the number of runs; `wanted` None: on a terminal only."""

    def __init__(self, wanted: bool | None, total: int) -> None:
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self._total, self._done = total, 0

    def __enter__(self) -> Told:
        return self

    def show(self, what: str) -> None:
        """Show the present run."""
        if self.wanted:
            sys.stderr.write("\r" + f"  {self._done} of {self._total} done; {what}"[:WIDTH].ljust(WIDTH))
            sys.stderr.flush()

    def done(self) -> None:
        """One more run is done."""
        self._done += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.wanted:
            sys.stderr.write("\r" + WIDTH * " " + "\r")
            sys.stderr.flush()
