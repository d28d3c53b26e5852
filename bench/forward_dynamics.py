"""Accelerations from q, u, tau of chains, trees and a four-bar: Linkwork against Pinocchio."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.contestants import DIRECT_MODES, TREE_MODES, pinocchio
from bench.core import build_driver, time_core
from bench.mechanisms import Scene, peer, random_tree
from bench.report import Report
from bench.timing import difference, growth, in_turn

SIZES = (6, 10, 30, 100, 300)
# Ratios to Pinocchio
AIMS = {"chain 6": 0.5, "chain 100": 0.4, "chain 300": 0.3, "four-bar, moving": 0.4, "four-bar, at rest": 0.4}
IN_PYTHON = ("chain 6", "chain 100", "four-bar, moving")
METHOD = """\
CPU time of one evaluation on one core in us, the best of 25 batches of 16 ms in each of {rounds} rounds in which the
libraries took turns. *accelerations*: from q, u and tau, as Pinocchio's algorithm; *derivatives*: with the feedback of
the loops, as a solver calls it. Pinocchio: C++ from its headers, `-O3 -march=native`, by g++ and by clang++, the faster
build and convention.
Linkwork: as in the package, built for any processor of this kind, which chooses its kernels at run time.
*ratio*: accelerations to Pinocchio, *aim*: at most. *difference*: largest between the accelerations, to the largest."""


@dataclass(frozen=True)
class Row:
    """CPU time of one scene, us, the faster algorithm of Pinocchio, and the difference of the accelerations."""

    scene: Scene
    accelerations: float
    derivatives: float
    pinocchio: float
    algorithm: str
    difference: float

    @property
    def ratio(self) -> float:
        return self.accelerations / self.pinocchio


def families(peers: ModuleType, fourbar: ModuleType) -> dict[str, list[Scene]]:
    """Scenes by family; the first two grow."""
    chains = {n: peers.chain(n) for n in SIZES}
    return {
        "chain": [Scene.of(chain, f"chain {n}") for n, chain in chains.items()],
        "tree": [Scene.of(random_tree(chain), f"random tree {n}") for n, chain in chains.items()],
        "four-bar": [Scene.of(peers.fourbars(1), "four-bar, moving"), Scene.of(fourbar.mech(), "four-bar, at rest")],
    }


def measure(peers: ModuleType, driver: Path, scene: Scene, rounds: int) -> Row:
    """Time one scene in both, turn by turn."""
    modes = DIRECT_MODES if scene.neutral["pins"] else TREE_MODES
    best = in_turn([partial(time_core, driver, scene), *pinocchio(peers, scene.neutral, modes)], rounds)
    own, derivatives = (best.pop(name) for name in ("accelerations", "derivatives"))
    algorithm = min(best, key=lambda name: best[name].us)
    peer_best = best[algorithm]
    return Row(scene, own.us, derivatives.us, peer_best.us, algorithm, difference(own.udot, peer_best.udot))


def python_calls(peers: ModuleType, scene: Scene) -> tuple[float, float]:
    """Return the time of one call from Python of Linkwork and of Pinocchio, us."""
    q, u, tau = scene.motion
    own = peers.best_us(lambda: scene.system.accelerations(q, u, tau=tau))
    return own, peers.best_us(_pinocchio_call(peers, scene.neutral))


def _pinocchio_call(peers: ModuleType, neutral: dict[str, Any]) -> Callable[[], object]:
    pin: Any = import_module("pinocchio")
    model, ids = peers.pin_model(neutral)
    data = model.createData()
    q, u, tau = neutral["q"], neutral["v"], neutral["tau"]
    if not neutral["pins"]:
        return lambda: pin.aba(model, data, q, u, tau)
    loops, loop_data = peers.pin_pins(model, ids, neutral)
    pin.initConstraintDynamics(model, data, loops, loop_data)
    settings = pin.ProximalSettings(1e-12, 1e-12, 1)
    return lambda: pin.constraintDynamics(model, data, q, u, tau, loops, loop_data, settings)


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    peers, fourbar = peer("peerlib", options.peers), peer("bench_fourbar", options.peers)
    driver = build_driver()
    report = Report("forward_dynamics", "Forward dynamics compared with Pinocchio", ("linkwork", "pin", "numpy"))
    rows = {
        family: [measure(peers, driver, scene, options.rounds) for scene in scenes]
        for family, scenes in families(peers, fourbar).items()
    }
    report.text(METHOD.format(rounds=options.rounds))
    heading = ["mechanism", "accelerations", "derivatives", "Pinocchio", "by", "ratio", "aim", "difference"]
    everything = [row for family in rows.values() for row in family]
    report.table(heading, [_cells(row) for row in everything])
    report.text("Growth: exponents of time over number of joints, between neighbouring sizes.")
    report.table(["family", *(f"{a} to {b}" for a, b in pairwise(SIZES))], _growth_cells(rows))
    report.text("One call from Python with NumPy arrays in and out, us.")
    in_python = [(row, *python_calls(peers, row.scene)) for row in everything if row.scene.name in IN_PYTHON]
    report.table(
        ["mechanism", "System.accelerations", "of it in C", "Pinocchio", "of it in C++"],
        [[row.scene.name, own, row.accelerations, other, row.pinocchio] for row, own, other in in_python],
    )
    report.save()


def _cells(row: Row) -> list[str | float | None]:
    name = row.scene.name
    times = [row.accelerations, row.derivatives, row.pinocchio]
    return [name, *times, row.algorithm, row.ratio, AIMS.get(name), f"{row.difference:.0e}"]


def _growth_cells(rows: dict[str, list[Row]]) -> list[list[str | float]]:
    table: list[list[str | float]] = []
    for family in ("chain", "tree"):
        table.append([f"{family}, Linkwork", *growth(SIZES, [row.accelerations for row in rows[family]])])
        table.append([f"{family}, Pinocchio", *growth(SIZES, [row.pinocchio for row in rows[family]])])
    return table
