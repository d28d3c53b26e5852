"""Linkwork and the peers' libraries on closed loops, turn by turn, each with its error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from bench import exact
from bench.contestants import LOOP_MODES, mujoco, pinocchio
from bench.core import time_core
from bench.mechanisms import Scene
from bench.session import Session
from bench.timing import Contestant, Timing, difference

STAGES = ("accelerations", "derivatives")
Neutral = dict[str, Any]


class Found(NamedTuple):
    """Time of one evaluation, us, and the error of its accelerations, to the largest of them."""

    us: float
    error: float

    def __str__(self) -> str:
        return f"{self.us:.3g} ({self.error:.0e})" if self.us < 100 else f"{self.us:.0f} ({self.error:.0e})"


@dataclass(frozen=True)
class Variant:
    """One way to describe a mechanism of any size: its spanning tree, and what Linkwork takes for its pins."""

    make: Callable[[int], Neutral]
    pins: str = "spherical"


@dataclass(frozen=True)
class Family:
    """A mechanism of growing size.

    The aim is a ratio of times to the fastest peer whose error is at most `accuracy`, at the sizes in `aimed`.
    """

    name: str
    variants: dict[str, Variant]
    sizes: tuple[int, ...]
    aimed: tuple[int, ...]
    aim: float
    accuracy: float


@dataclass(frozen=True)
class Outcome:
    """Of one mechanism: Linkwork by stage, the peers by name, and the error of the peers' own reference."""

    own: Mapping[str, Found]
    peers: Mapping[str, Found]
    exact_qdd: float


def families(peers: ModuleType) -> tuple[Family, Family]:
    """Ladders on both trees, and four-bars in series."""
    ladders = {"legs": Variant(peers.ladder), "deep": Variant(partial(peers.ladder, deep=True))}
    fourbars = {"pins": Variant(peers.fourbars), "hinges": Variant(peers.fourbars, "revolute")}
    return (
        Family("ladder", ladders, (1, 10, 100, 300), (10, 100, 300), 0.3, 1e-6),
        Family("four-bars", fourbars, (1, 10, 100), (1, 10, 100), 0.4, 1e-7),
    )


def fastest(outcomes: Iterable[Outcome], accuracy: float) -> Found | None:
    """The fastest peer whose error is at most this, on whichever variant; None: there is none."""
    everyone = [found for outcome in outcomes for found in outcome.peers.values()]
    return min((found for found in everyone if found.error <= accuracy), default=None)


def hold(session: Session, variant: Variant, loops: int) -> Outcome:
    """Time everyone at one size."""
    peers, neutral = session.peers, variant.make(loops)
    name = neutral["name"]
    contestants: list[Contestant] = [*pinocchio(peers, neutral, LOOP_MODES), *mujoco(peers, neutral)]
    scene = session.attempt(f"Linkwork on {name}", lambda: Scene.of(neutral, name, variant.pins))
    if scene is not None:
        contestants.append(partial(time_core, session.driver, scene))
    best = session.take_turns(contestants, name)
    truth = exact.accelerations(neutral)
    found = {who: judged(timing, truth) for who, timing in best.items()}
    own = {stage: found.pop(stage) for stage in STAGES if stage in found}
    return Outcome(own, found, difference(peers.exact_qdd(neutral), truth))


def judged(timing: Timing, truth: np.ndarray) -> Found:
    """The time with the error."""
    return Found(timing.us, difference(timing.udot, truth))
