"""Position assembly of series of loops that share joints: time by number of loops, and its growth."""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

import linkwork as lw
from bench.mechanisms import CHECKOUT
from bench.report import Cell, Goal, Report
from bench.timing import exponents, intervals

SIZES = (2, 4, 8, 16, 32, 64, 128, 300)
ERRORS = {"chain": 0.05}  # rad; elsewhere:
ERROR = 0.2
MAX_SECONDS = 2.0  # of all repetitions at one size
EXPONENT_AIM = 1.2
TIME_AIM = {64: 20.0}  # ms
METHOD = """\
CPU time of `assemble` on one core in ms, the best of {rounds} rounds. All tree coordinates are given, each off by up to
{error} rad (chains: {chain} rad), but those of the first joint, which has priority. Loops share joints with their
neighbours. In a chain each four-bar is supported by the coupler of the one before."""


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    sys.path.insert(0, str(CHECKOUT / "tests"))
    from support.loop_series import SERIES, rough

    report = Report("assembly", "Position assembly by number of loops", ("linkwork", "numpy"))
    report.text(METHOD.format(rounds=options.rounds, error=ERROR, chain=ERRORS["chain"]))
    goals: list[Goal] = []
    times: list[list[Cell]] = []
    growth: list[list[Cell]] = []
    for name, make in SERIES.items():
        size = ERRORS.get(name.split()[0], ERROR)
        found: dict[int, float | None] = {}
        for loops in SIZES:
            mech, q = make(loops)
            found[loops] = best_of(options.rounds, lw.compile(mech), rough(q, size))
        times.append([name, *found.values()])
        growth.append([name, *exponents(found)])
        overall = exponents({n: found[n] for n in (SIZES[0], SIZES[-1])})[0]
        goals.append(Goal(f"{name}: exponent from {SIZES[0]} to {SIZES[-1]} loops", overall, EXPONENT_AIM))
        goals += [Goal(f"{name}, {n} loops: ms", found[n], aim) for n, aim in TIME_AIM.items()]
    report.table(["mechanism", *map(str, SIZES)], times)
    report.text("Exponents of time over number of loops, between neighbouring sizes..")
    report.table(["mechanism", *intervals(SIZES)], growth)
    report.goals(goals)
    report.save()


def best_of(rounds: int, model: lw.Model, guess: dict[str, np.ndarray]) -> float | None:
    """CPU time in ms; None if the loops do not close."""
    spent: list[float] = []
    while len(spent) < rounds and sum(spent) < MAX_SECONDS:
        start = time.process_time()
        try:
            model.assemble(q=guess)
        except lw.AssemblyError:
            return None
        spent.append(time.process_time() - start)
    return 1e3 * min(spent)
