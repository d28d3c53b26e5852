"""Detection of a run whose time does not advance."""

from __future__ import annotations

from linkwork.cosim.network.network import Network
from linkwork.errors import CosimError

MOST_STANDSTILLS = 1000  # communication steps at one time, at events
MOST_CRAWLS = 20  # in a row, of steps shorter than ...
CRAWL = 1e-11  # ... this part of the run


class StallDetection:
    """Ends a run whose time does not advance."""

    def __init__(self, network: Network, begin: float, end: float) -> None:
        self._network, self._end = network, end
        self._short = CRAWL * (end - begin)
        self._standstills = self._crawls = 0

    def check(self, before: float, time: float) -> None:
        """Check a step."""
        length = time - before
        self._standstills = 0 if length > 0 else self._standstills + 1
        if self._standstills > MOST_STANDSTILLS:
            raise CosimError(f"events follow each other without end at t = {time:.9g} s")
        self._crawls = self._crawls + 1 if 0 < length < self._short and time < self._end else 0
        if self._crawls > MOST_CRAWLS:
            names = ", ".join(f"{one.name!r} ({one.model.path.name})" for one in self._network.each() if one.discarded)
            raise CosimError(
                f"no step of sensible length from t = {time:.9g} s succeeds, however short"
                + f"; steps are discarded by {names}; check their inputs there" * bool(names)
            )
