"""Linear models of many loops: time by number of loops, and its growth."""

from __future__ import annotations

import argparse
import time

import linkwork as lw
from bench.mechanisms import Scene, peer
from bench.report import Cell, Goal, Report
from bench.timing import exponents, intervals

SIZES = (4, 16, 64)
MAX_SECONDS = 2.0  # of all repetitions at one size
AIM = 5.0  # ms, of 64 loops
METHOD = """\
CPU time of `linearize` of a compiled mechanism on one core in ms, the best of {rounds} rounds, and the numbers of
states and inputs of 64 loops. Ladders: all loops share joints with their neighbours, so that there are two degrees of
freedom. In series: each four-bar is supported by the coupler of the one before. On the ground: four-bars that have
nothing in common."""


def four_bars_on_the_ground(count: int) -> lw.Model:
    """Four-bars next to each other, each with its own crank on the ground."""
    mech = lw.Mechanism("four-bars on the ground")
    for k in range(count):
        for name, mass, length in (("crank", 1.0, 0.4), ("coupler", 2.0, 1.0), ("rocker", 1.5, 0.8)):
            inertia = lw.inertia.rod(mass, length, axis="x")
            mech.add_body(f"{name}{k}", mass=mass, com=(length / 2, 0.0, 0.0), inertia=inertia)
        for joint, parent, child, x, y, end in (
            ("A", "ground", f"crank{k}", 0.0, 0.3 * k, 0.0),
            ("B", f"crank{k}", f"coupler{k}", 0.4, 0.0, 0.0),
            ("D", "ground", f"rocker{k}", 0.9, 0.3 * k, 0.0),
            ("C", f"coupler{k}", f"rocker{k}", 1.0, 0.0, 0.8),
        ):
            frames = {"parent_frame": lw.Frame((x, y, 0.0)), "child_frame": lw.Frame((end, 0.0, 0.0))}
            mech.add_joint(f"{joint}{k}", lw.Revolute("y"), parent, child, cut=joint == "C", **frames)
        mech.start(q={f"A{k}": -0.6 - 0.01 * k, f"D{k}": -1.2}, u={f"A{k}": 1.0})
    return lw.compile(mech)


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    peers = peer("peerlib", options.peers)
    report = Report("linear_models", "Linear models by number of loops", ("linkwork", "numpy"))
    report.text(METHOD.format(rounds=options.rounds))
    makers = {
        "ladder": lambda loops: Scene.of(peers.ladder(loops), "ladder").system,
        "series": lambda loops: Scene.of(peers.fourbars(loops), "series").system,
        "on the ground": four_bars_on_the_ground,
    }
    times: list[list[Cell]] = []
    growth: list[list[Cell]] = []
    goals: list[Goal] = []
    for name, make in makers.items():
        for states in ("minimal", "full"):
            found: dict[int, float | None] = {}
            for loops in SIZES:
                found[loops], model = best_of(options.rounds, make(loops), states)
            title = f"{name}, {states} states"
            times.append([title, str(len(model.states)), str(len(model.inputs)), *found.values()])
            growth.append([title, *exponents(found)])
            goals.append(Goal(f"{title}, {SIZES[-1]} loops: ms", found[SIZES[-1]], AIM))
    report.table(["mechanism", "states", "inputs", *map(str, SIZES)], times)
    report.text("Exponents of time over number of loops, between neighbouring sizes.")
    report.table(["mechanism", *intervals(SIZES)], growth)
    report.goals(goals)
    report.save()


def best_of(rounds: int, model: lw.Model, states: str) -> tuple[float, lw.LinearModel]:
    """CPU time in ms, and the linear model."""
    state, spent = model.assemble(), [0.0]
    while len(spent) <= rounds and sum(spent) < MAX_SECONDS:
        start = time.process_time()
        found = lw.linearize(model, state, states=states)  # type: ignore[arg-type]
        spent.append(time.process_time() - start)
    return 1e3 * min(spent[1:]), found
