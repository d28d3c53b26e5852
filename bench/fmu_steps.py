"""Ten seconds of a four-bar by Co-Simulation against Pinocchio with SciPy's DOP853: cost at equal error."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np

import linkwork as lw
from bench.fmi3 import Instance, Unpacked
from bench.mechanisms import mechanism, peer
from bench.report import Cell, Goal, Report

AIM = 0.2
SOLVERS = {"dopri5": 1, "rodas5p": 2}
STEPS = {"one step of 10 s": 1, "steps of 0.01 s": 1000}
TOLERANCES = tuple(10.0**-k for k in range(4, 13))
LEVELS = (1e-4, 1e-6, 1e-8, 1e-10)  # of error; the last is beyond Pinocchio, whose loops drift
MOST = 0.5  # s of repeating one run


class Cost(NamedTuple):
    """What one run to the end costs, CPU s, and the larger error of crank angle [rad] and rate [rad/s] there."""

    tolerance: float
    seconds: float
    error: float


def section(report: Report, options: argparse.Namespace) -> list[Goal]:
    """Measure and add the tables."""
    peers = peer("bench_fourbar", options.peers)
    reference, doubt = peers.reference()
    costs = {
        "Pinocchio, DOP853": [_by_pinocchio(peers, reference, tolerance, options.rounds) for tolerance in TOLERANCES]
    }
    with four_bar(peers) as (instance, references):
        for solver, number in SOLVERS.items():
            for words, steps in STEPS.items():
                runs = [_by_fmu(instance, references, number, steps, tol, peers, reference) for tol in TOLERANCES]
                costs[f"{solver}, {words}"] = runs
    report.text(
        f"## Co-Simulation\n\n{peers.T:g} s of the peers' four-bar. Error: the larger of crank angle [rad] and rate "
        f"[rad/s] at the end, to the one-coordinate reduction, known to {doubt:.0e}. Without instantiation and "
        "initialisation; Pinocchio without making its model. Each entry: CPU ms (error)."
    )
    report.table(["tolerance", *costs], _runs(costs))
    report.text("At equal error, log cost over log error interpolated, ms; a dash beyond the measured range:")
    at_levels = {who: [cost_at(runs, error) for error in LEVELS] for who, runs in costs.items()}
    heading = ["", *(f"error {error:g}" for error in LEVELS)]
    report.table(heading, [[who, *(ms and 1e3 * ms for ms in found)] for who, found in at_levels.items()])
    theirs = at_levels["Pinocchio, DOP853"]
    return [
        Goal(f"Co-Simulation, dopri5, {words}, error {error:g}: CPU time to Pinocchio", own and own / other, AIM)
        for words in STEPS
        for error, own, other in zip(LEVELS, at_levels[f"dopri5, {words}"], theirs, strict=True)
        if other
    ]


@contextmanager
def four_bar(peers: ModuleType) -> Iterator[tuple[Instance, dict[str, int]]]:
    """An instance of the peers' four-bar for Co-Simulation, and its value references."""
    neutral = peers.mech()
    described = mechanism(neutral)
    described.start(q={f"j{i}": float(q) for i, q in enumerate(neutral["q"])}, u={"j1": 0.0})
    with tempfile.TemporaryDirectory() as folder:
        fmu = lw.export_fmu(described, Path(folder) / "four_bar.fmu")
        unpacked = Unpacked(fmu, Path(folder))
        instance = Instance(unpacked, "CoSimulation")
        yield instance, unpacked.references()
        instance.free()


def _by_fmu(
    instance: Instance,
    references: dict[str, int],
    solver: int,
    steps: int,
    tolerance: float,
    peers: ModuleType,
    reference: np.ndarray,
) -> Cost:
    def prepare() -> None:
        instance.reset()
        instance.set_enumeration(references["solver"], solver)
        instance.set_real(references["tolerance"], tolerance)
        instance.initialize()

    seconds = best_time(lambda: instance.run(peers.T, steps), prepare)
    found = [instance.get_real(references[name]) for name in ("j1.q", "j1.u")]
    return Cost(tolerance, seconds, float(np.abs(found - reference).max()))


def _by_pinocchio(peers: ModuleType, reference: np.ndarray, tolerance: float, rounds: int) -> Cost:
    runs = [peers.run_pin("DOP853", tolerance, tolerance) for _ in range(rounds)]
    return Cost(tolerance, min(run[0] for run in runs), float(np.abs(runs[0][1] - reference).max()))


def best_time(work: Callable[[], None], prepare: Callable[[], None]) -> float:
    """CPU time, s; short runs are repeated more often."""
    best, spent = np.inf, 0.0
    while spent < MOST:
        prepare()
        begin = time.thread_time()
        work()
        seconds = time.thread_time() - begin
        best, spent = min(best, seconds), spent + seconds
    return best


def cost_at(runs: Sequence[Cost], error: float) -> float | None:
    """The cost for an error between those that were reached; None outside.

    A smaller error at less cost is as good: only what nothing else beats in both counts.
    """
    best: list[Cost] = []
    for run in sorted(runs, key=lambda run: run.seconds):
        if not best or run.error < best[-1].error:
            best.append(run)
    errors, seconds = np.log([run.error for run in best[::-1]]), np.log([run.seconds for run in best[::-1]])
    if not errors[0] <= np.log(error) <= errors[-1]:
        return None
    return float(np.exp(np.interp(np.log(error), errors, seconds)))


def _runs(costs: dict[str, list[Cost]]) -> list[list[Cell]]:
    return [
        [f"{tolerance:.0e}", *(f"{1e3 * (run := runs[k]).seconds:.3g} ({run.error:.0e})" for runs in costs.values())]
        for k, tolerance in enumerate(TOLERANCES)
    ]
