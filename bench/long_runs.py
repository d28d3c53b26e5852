"""Runs whose rates the kernels compute, and compiled tapes: a four-bar against Pinocchio with DOP853, and others."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from types import ModuleType
from typing import NamedTuple
from unittest import mock

import numpy as np

import linkwork as lw
from bench.many_states import robots
from bench.mechanisms import Missing, example, mechanism, peer
from bench.report import Cell, Goal, Report
from bench.state_loads import fastest

EXAMPLES = {"slider_crank": 2.0, "biped_leg": 2.0, "spatial_ladder": 2.0, "quarter_car": 2.0, "gripper": 1.0}  # s
ROBOTS = {"Robotiq 2F-85": 0.5, "Cassie": 0.5}
LOAD = 0.1  # N.m on all joints of robots
RTOL = 1e-8
AIM = 0.04
LONGEST = 100.0  # s, of runs before there are tapes
RUNS_WITHOUT = 60  # a new tape


class Case(NamedTuple):
    """A mechanism that runs from a state, for so many seconds, with constant loads."""

    name: str
    model: lw.Model
    start: lw.State
    t_end: float
    loads: dict[str, float]

    def run(self, model: lw.Model, solver: str = "auto") -> lw.Result:
        """Run a model of it."""
        return lw.simulate(model, self.t_end, self.start, inputs=self.loads, rtol=RTOL, solver=solver)

    def record(self) -> None:
        """Let the model run until it has compiled tapes, and needs no others."""
        recorded, since, begin = -1, 0, time.process_time()
        while since < RUNS_WITHOUT and time.process_time() - begin < LONGEST:
            self.run(self.model)
            count = len(self.model.rates_of_runs.tapes.recorded)
            recorded, since = (count, since + 1) if count == recorded and count else (count, 0)
            if reason := self.model.rates_of_runs.wait():
                raise Missing(f"tapes are not compiled: {reason}")


def cases(peers: ModuleType) -> Iterator[Case]:
    """Mechanisms from small to large."""
    neutral = peers.mech()
    four_bar = lw.compile(mechanism(neutral))
    start = four_bar.assemble(q={f"j{i}": float(q) for i, q in enumerate(neutral["q"])}, u={"j1": 0.0})
    yield Case("four-bar of the peers", four_bar, start, peers.T, {})
    for name, t_end in EXAMPLES.items():
        model = lw.compile(example(name).mechanism())
        yield Case(name, model, model.assemble(), t_end, {})
    for name, model in robots():
        joints = [name for name, joint in model.mechanism.joints.items() if joint.kind.nu == 1]
        driven = [name for name in joints if name in model.numbering.inputs]
        yield Case(name, model, model.assemble(), ROBOTS[name], dict.fromkeys(driven, LOAD))


def of_jacobians(case: Case, rounds: int) -> list[Cell]:
    """Measure runs by "rodas5p", with Jacobians by complex steps and by tapes."""
    run = partial(case.run, case.model, solver="rodas5p")
    served = case.model.rates_of_runs
    with mock.patch.object(type(served), "of_run", return_value=nullcontext()):
        by_steps, expected = fastest(run, rounds)
    begin = time.process_time()
    run()
    first = time.process_time() - begin
    by_tapes, found = fastest(run, rounds)
    gap = np.abs(found.y[-1] - expected.y[-1]).max()
    count = max(tapes.adopted for tapes in served.jacobians)
    ratio = by_tapes / by_steps
    return [
        case.name,
        str(found.statistics.steps),
        str(count),
        *(1e3 * t for t in (by_steps, first, by_tapes)),
        ratio,
        gap,
    ]


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    peers = peer("bench_fourbar", options.peers)
    report = Report("long_runs", "Runs by compiled tapes", ("linkwork", "numpy", "scipy", "pin"))
    report.text(
        f"`lw.simulate` at rtol {RTOL:g}: CPU time of a run, best of {options.rounds}, ms, with the rates by the "
        "kernels alone, and by the tapes that earlier runs have left. Both give the same rows to the bit. Robots move "
        f"by loads of {LOAD:g} N.m on all joints of one angle."
    )
    rows: list[list[Cell]] = []
    implicit: list[list[Cell]] = []
    goals: list[Goal] = []
    for case in cases(peers):
        with mock.patch.object(type(case.model.rates_of_runs), "record"):  # no tapes come about meanwhile
            by_kernels, expected = fastest(partial(case.run, lw.compile(case.model.mechanism)), options.rounds)
        case.record()
        by_tapes, found = fastest(partial(case.run, case.model), options.rounds)
        if not np.array_equal(found.y, expected.y):
            raise AssertionError(f"{case.name}: tapes and kernels differ")
        tapes = case.model.rates_of_runs.tapes.recorded
        sizes = str(max((tape.operations for tape in tapes), default=0))
        counts = str(found.statistics.evaluations), str(len(tapes)), sizes
        rows.append([case.name, *counts, 1e3 * by_kernels, 1e3 * by_tapes, by_tapes / by_kernels])
        implicit.append(of_jacobians(case, options.rounds))
        if not goals:
            theirs = min(peers.run_pin("DOP853", RTOL, RTOL)[0] for _ in range(options.rounds))
            what = f"{case.t_end:g} s of the peers' four-bar, to Pinocchio with DOP853"
            goals.append(Goal(what, by_tapes / theirs, AIM))
    report.table(["mechanism", "evaluations", "tapes", "operations", "kernels", "tapes", "ratio"], rows)
    report.text(
        'The same by `solver="rodas5p"`, whose steps have a Jacobian each, with the rates by these tapes: Jacobians by '
        "complex steps alone; the first run, which records tapes of Jacobians; the next ones. Ratio of these to "
        "complex steps; and the largest difference of the states at the end, which both round in different ways. The "
        "2F-85 moves chaotically: at the end a change of `rtol` by 0.1 % makes as large a difference."
    )
    columns = ["mechanism", "steps", "tapes", "complex steps", "first run", "tapes of Jacobians", "ratio", "difference"]
    report.table(columns, implicit)
    report.goals(goals)
    report.save()
