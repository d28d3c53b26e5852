"""What a benchmark works with, and what it could not measure."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import linkwork as lw
from bench.core import build_driver
from bench.mechanisms import Missing, peer
from bench.timing import Contestant, Timing, in_turn

T = TypeVar("T")


class Session:
    """One run: the peers' module, the driver in C, how many rounds, and the omitted parts with their reasons."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.peers: ModuleType = peer("peerlib", options.peers)
        self.driver = build_driver()
        self.rounds: int = options.rounds
        self.left_out: dict[str, str] = {}

    @property
    def peers_folder(self) -> Path:
        return Path(str(self.peers.__file__)).parent

    def attempt(self, what: str, work: Callable[[], T]) -> T | None:
        """Return the result of `work`. On a missing requirement or a refusal note the reason and continue."""
        try:
            return work()
        except (Missing, lw.LinkworkError, MemoryError) as error:
            self.left_out[what] = str(error).split("\n")[0] or type(error).__name__
            return None

    def take_turns(self, contestants: Iterable[Contestant], what: str) -> dict[str, Timing]:
        """Return the best time of each name; who refuses is left out, noted as `what`."""

        def forgiving(contestant: Contestant) -> Contestant:
            return lambda: self.attempt(what, contestant) or {}

        return in_turn(map(forgiving, contestants), self.rounds)

    @property
    def gaps(self) -> str:
        return "\n".join(f"Left out: {what} ({reason}).  " for what, reason in self.left_out.items())
