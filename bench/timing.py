"""Times that can be compared although the machine is shared: CPU time, one core, turn by turn, best of all."""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

MEMORY = 18 * 10**9  # bytes
SLOW = 1e4  # us


@dataclass(frozen=True)
class Timing:
    """CPU time of one evaluation, us, and the accelerations it gave."""

    us: float
    udot: np.ndarray


Contestant = Callable[[], dict[str, Timing]]  # gives what it can time, by name


def pin_to_one_core() -> None:
    """Keep this process and its children on one core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def limit_memory() -> None:
    """Keep peers whose storage grows with the cube of the size from filling the machine; children inherit it."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    soft = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def in_turn(contestants: Iterable[Contestant], rounds: int) -> dict[str, Timing]:
    """Run all contestants in every round and return the best time of each name.

    An evaluation longer than `SLOW` runs twice: more runs would add no information.
    """
    best: dict[str, Timing] = {}
    running = list(contestants)
    for turn in range(rounds):
        still = []
        for run in running:
            timings = run()
            for name, timing in timings.items():
                if name not in best or timing.us < best[name].us:
                    best[name] = timing
            if not turn or all(timing.us < SLOW for timing in timings.values()):
                still.append(run)
        running = still
    return best


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference relative to the largest number."""
    return float(np.abs(a - b).max() / np.abs(b).max())


def growth(sizes: Iterable[float], times: Iterable[float]) -> list[float]:
    """Return the exponents d log time / d log size between neighbouring sizes."""
    exponents: list[float] = (np.diff(np.log(list(times))) / np.diff(np.log(list(sizes)))).tolist()
    return exponents


def intervals(sizes: Iterable[int]) -> list[str]:
    """Headings for `exponents`."""
    return [f"{a} to {b}" for a, b in pairwise(sizes)]


def exponents(times: Mapping[int, float | None]) -> list[float | None]:
    """Return the exponents of `growth` for times by size, None next to a size without a time."""
    steps = pairwise(times.items())
    return [growth((n, m), (a, b))[0] if a and b else None for (n, a), (m, b) in steps]
