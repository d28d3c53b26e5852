"""Jumps by divide and conquer: a hinge in the middle of a chain or ladder locks; growth with the size, and threads."""

from __future__ import annotations

import argparse
import os
import time
from functools import partial

import numpy as np

from bench.mechanisms import Scene, peer
from bench.report import Cell, Goal, Report
from bench.timing import growth
from linkwork.core.native import Jump, threads

SIZES = (10, 100, 1000, 4096, 10000)
SHARED = 4096  # bodies at which threads are measured
EXPONENT_AIM, SPEED_UP_AIM = 1.05, 1.5
FORMS = {"chain": "revolute", "ladder": "spherical"}  # and the joints that close the loops


def main(options: argparse.Namespace) -> None:
    """Measure and save the report. Threads need more than the one core that the other benchmarks keep to."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))
    peers = peer("peerlib", options.peers)
    report = Report("dca", "Jumps by divide and conquer", ["linkwork", "numpy"])
    goals: list[Goal] = []
    for form, pins in FORMS.items():
        rows: list[list[Cell]] = []
        times: dict[int, float] = {}
        for n in SIZES:
            scene = Scene.of(getattr(peers, form)(n), form, pins)
            bodies = scene.system.sizes.bodies
            serial, shared, lack = measure(scene, options.rounds)
            levels = scene.system.levels
            rows.append(
                [str(n), str(bodies), str(levels), 1e6 * serial, 1e6 * serial / bodies, serial / shared, f"{lack:.0e}"]
            )
            times[bodies] = serial
            if n == SHARED:
                what = f"{form}, {n}: time with two threads, of that with one"
                goals.append(Goal(what, shared / serial, 1 / SPEED_UP_AIM))
        ends = [min(times), max(times)]
        exponent = growth(ends, [times[n] for n in ends])[0]
        goals.append(Goal(f"{form}: exponent from {ends[0]} to {ends[1]} bodies", exponent, EXPONENT_AIM))
        report.text(f"## {form.capitalize()}")
        report.table(["size", "bodies", "levels", "us", "us a body", "speed-up of two threads", "lack"], rows)
    report.goals(goals)
    report.save()


def measure(scene: Scene, rounds: int) -> tuple[float, float, float]:
    """Return the best times with one thread and with two, s, and the jump's residual."""
    q, u, _ = scene.motion
    block = scene.system.block()
    block.put("q", q)
    block.put("u", u)
    middle = len(u) // 2
    jump = partial(block.jump, {middle: -u[middle]})
    best: dict[int, float] = {}
    found: list[Jump] = []
    for count in (1, 2) * rounds:
        threads(count)
        jump()
        start = time.perf_counter()
        found.append(jump())
        best[count] = min(best.get(count, np.inf), time.perf_counter() - start)
    threads(1)
    return best[1], best[2], found[0].lack
