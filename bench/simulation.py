"""Runs of the examples by each solver, next to those of another installation if one is given."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import NamedTuple

from bench.report import Cell, Report

WORKER = Path(__file__).with_name("time_runs.py")
EXAMPLES = {  # and how long they are simulated, s
    "double_pendulum": 2.0,
    "four_bar": 2.0,
    "slider_crank": 2.0,
    "andrews_squeezer": 0.03,
    "geared_arm": 2.0,
    "gripper": 0.5,
    "planar_robot": 2.0,
    "quarter_car": 1.0,
    "spatial_ladder": 1.0,
}
SOLVERS = ("auto", "dopri5", "rodas5p", "DOP853", "LSODA", "BDF", "ida")
RTOL = 1e-8


class Run(NamedTuple):
    """One run: the version that made it, its CPU time, s, and its counts."""

    version: str
    cpu: float
    steps: int
    evaluations: int


class Installation:
    """A process of an installation that simulates."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(
            [python, str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/"
        )

    def run(self, example: str, solver: str) -> Run | None:
        """Simulate, several times where that is cheap; None: it does not have the solver."""
        runs = 3 if solver in ("auto", "dopri5", "rodas5p") else 1
        wanted = {"example": example, "solver": solver, "t_end": EXAMPLES[example], "rtol": RTOL, "runs": runs}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(wanted), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        return None if answer is None else Run(*answer)


def fastest(installations: list[Installation], example: str, solver: str, rounds: int) -> list[Run | None]:
    """Return the fastest run of each installation; they run alternately."""
    turns = [[one.run(example, solver) for one in installations] for _ in range(rounds)]
    return [min(filter(None, runs), key=lambda run: run.cpu, default=None) for runs in zip(*turns, strict=True)]


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    report = Report(
        "simulation", "Simulations of the examples", ("linkwork", "numpy", "scipy", "scikits-odes-sundials")
    )
    pythons = [sys.executable, *([options.other] if options.other else [])]
    installations = [Installation(python) for python in pythons]
    other = ""
    rows: list[list[Cell]] = []
    for example, solver in product(EXAMPLES, SOLVERS):
        here, *there = fastest(installations, example, solver, 2 * options.rounds)
        if here is None:
            continue
        rows.append([example, solver, 1e3 * here.cpu, str(here.steps), str(here.evaluations)])
        for run in there:
            other = run.version if run else other
            rows[-1] += [1e3 * run.cpu, here.cpu / run.cpu, str(run.evaluations)] if run else [None, None, None]
    report.text(
        f"`lw.simulate` of compiled examples at rtol {RTOL:g} in processes of their own, alternately; "
        f"CPU time of a run, best of {2 * options.rounds} or more, ms."
    )
    beside = [f"{other}, ms", "ratio", f"evaluations of {other}"] if options.other else []
    report.table(["example", "solver", "ms", "steps", "evaluations", *beside], rows)
    report.save()
