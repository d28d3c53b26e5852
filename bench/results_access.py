"""Results with a million rows: time and memory; a call, assembly, a short run, a point of a study; large JSON files."""

from __future__ import annotations

import argparse
import tempfile
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from bench.mechanisms import example
from bench.report import Cell, Goal, Report
from bench.state_loads import fastest
from linkwork.core._core import lib
from linkwork.core.native import Stage

EXAMPLES = ("double_pendulum", "four_bar", "planar_robot")
ROWS, END = 1_000_000, 2.0
SHORT, POINT_END, POINTS = 1e-4, 0.1, 40  # s, s
AIMS = {"state": 0.02, "output": 1.0, "run": 1e-4, "point": 1.5e-4, "call": 2.5e-6}  # s
WAYS = ("save", "load")
BODIES, AIM_OF_FILES = 10_000, 1.0 / 26.0  # s/MB


def time_of(work: Callable[[], Any], rounds: int, count: int = 1) -> float:
    """Return the least CPU time of one of so many calls, s."""
    return fastest(lambda: [work() for _ in range(count)], rounds)[0] / count


def memory(work: Callable[[], Any]) -> float:
    """Return the largest memory in use during a call beyond that before, MB."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def long_result(model: lw.Model) -> lw.Result:
    """Return a result with many rows, of which no column has been asked for."""
    return lw.simulate(model, END, t_eval=np.linspace(0.0, END, ROWS), progress=False)


def columns(model: lw.Model, rounds: int) -> dict[str, tuple[float, float]]:
    """Return time, s, and memory, MB, of columns of long results, each as the first one that is asked for."""
    state, body = model.q_names[0], list(model.mechanism.bodies)[-1]
    asks: dict[str, Callable[[lw.Result], Any]] = {
        "state": lambda result: result[state],
        "output": lambda result: result["energy.kinetic"],
        "vector": lambda result: result[f"{body}.r"],
        "one instant": lambda result: result.at(0.4 * END, ["energy.kinetic"]),
        "table of four": lambda result: result.to_dataframe([state, f"{body}.r"]),
    }
    return {name: first_asked(model, ask, rounds) for name, ask in asks.items()}


def first_asked(model: lw.Model, ask: Callable[[lw.Result], Any], rounds: int) -> tuple[float, float]:
    """Return the least time, s, and the memory, MB, of something that is the first one asked for of a result."""
    results = [long_result(model) for _ in range(rounds + 1)]
    spent = min(time_of(partial(ask, one), 1) for one in results[1:])
    return spent, memory(partial(ask, results[0]))


def call(model: lw.Model, rounds: int) -> tuple[float, float]:
    """Return the CPU time of accelerations at one state, s, and that of the core alone."""
    state = model.assemble()
    q, u = np.array(state.q), np.array(state.u) + 0.1
    block = model.block()
    model.enter(block, model.state(q, u))
    stages = int(Stage.CONSTANTS), int(Stage.ACCELERATIONS)

    def in_core() -> None:
        lib.lw_state_changed(block.handle, stages[0])
        lib.lw_evaluate(block.handle, stages[1])

    return time_of(lambda: model.accelerations(q, u), rounds, 2000), time_of(in_core, rounds, 2000)


def runs(model: lw.Model, rounds: int) -> tuple[float, float, float]:
    """Return the CPU time of short runs, from the start values and from a state, and of a point of a study, s."""
    state, mass = model.assemble(), f"{next(iter(model.mechanism.bodies))}.mass"
    points = {mass: model.value(mass, state) * np.linspace(1.0, 1.1, POINTS)}
    started = time_of(lambda: lw.simulate(model, SHORT, progress=False), rounds, 50)
    from_state = time_of(lambda: lw.simulate(model, SHORT, state, progress=False), rounds, 50)
    study = time_of(lambda: lw.study(model, POINT_END, points, workers=1, progress=False), rounds)
    return started, from_state, study / POINTS


def large_mechanism() -> lw.Mechanism:
    """Return a chain of many bodies, each with a spring in its joint."""
    rng = np.random.default_rng(1)
    mech, parent = lw.Mechanism("chain"), "ground"
    for k in range(BODIES):
        mech.add_body(f"b{k}", 1.0 + rng.random(), rng.random(3), np.diag(1.0 + 0.1 * rng.random(3)))
        frames = {"parent_frame": lw.Frame(rng.random(3)), "child_frame": lw.Frame(rng.random(3))}
        mech.add_joint(f"j{k}", lw.Revolute((0, 1, 0)), parent, f"b{k}", **frames)
        mech.add_force(lw.SpringDamper(f"j{k}", stiffness=rng.random(), damping=rng.random()))
        parent = f"b{k}"
    return mech


def file_times(rounds: int) -> tuple[float, float, float]:
    """Return the size of a JSON file, MB, and the CPU time to save and to load it, s/MB."""
    mech = large_mechanism()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "chain.json"
        saved = time_of(lambda: mech.save(path), rounds)
        size = path.stat().st_size / 1e6
        return size, saved / size, time_of(lambda: lw.Mechanism.load(path), rounds) / size


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    report = Report("results_access", "Results, calls and short runs", ("linkwork", "numpy", "pandas"))
    table: list[list[Cell]] = []
    others: list[list[Cell]] = []
    goals = []
    for name in EXAMPLES:
        model = lw.compile(example(name).mechanism())
        found = columns(model, min(options.rounds, 3))
        for column, (spent, peak) in found.items():
            table.append([name, column, 1e3 * spent, peak])
        whole, core = call(model, 3 * options.rounds)
        started, from_state, point = runs(model, 3 * options.rounds)
        again = time_of(model.assemble, options.rounds, 1000)
        others.append([name, 1e6 * whole, 1e6 * core, 1e6 * again, 1e6 * started, 1e6 * from_state, 1e6 * point])
        goals += [
            Goal(f"{name}: column of a state, ms", 1e3 * found["state"][0], 1e3 * AIMS["state"]),
            Goal(f"{name}: column of an output, ms", 1e3 * found["output"][0], 1e3 * AIMS["output"]),
            Goal(f"{name}: a call beyond the core, us", 1e6 * (whole - core), 1e6 * AIMS["call"]),
            Goal(f"{name}: a short run from a state, us", 1e6 * from_state, 1e6 * AIMS["run"]),
            Goal(f"{name}: a point of a study, us", 1e6 * point, 1e6 * AIMS["point"]),
        ]
    report.text(
        f"The first column asked for of a result with {ROWS:,} rows, and its values at one instant. CPU time, one "
        "core; memory in use at most beyond that of the result. A column is 8 MB."
    )
    report.table(["example", "asked for", "ms", "MB"], table)
    report.text(
        f"`accelerations` at one state; the start, assembled before; `simulate` over {SHORT:g} s; a study of {POINTS} "
        f"points over {POINT_END:g} s by one process. CPU time, us."
    )
    heading = ["example", "call", "in the core", "start again", "run", "run from a state", "point of a study"]
    report.table(heading, others)
    size, *of_files = file_times(min(options.rounds, 3))
    report.text(f"A chain of {BODIES:,} bodies with springs as JSON, {size:.1f} MB. CPU time, s/MB.")
    report.table([*WAYS], [[*of_files]])
    goals += [Goal(f"{what} of JSON, s/MB", spent, AIM_OF_FILES) for what, spent in zip(WAYS, of_files, strict=True)]
    report.goals(goals)
    report.save()
