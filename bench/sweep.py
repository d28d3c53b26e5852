"""Sweeps of the four-bar: by one process, by two of this machine, and by a cluster of two workers."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import linkwork as lw
from bench.mechanisms import CHECKOUT, Missing
from bench.report import Goal, Report
from examples.four_bar import mechanism

POINTS = 200
STEP = 0.002  # s
WORKS = {"all": 2.0, "summary": 10.0}  # stored results of a point, and its length, s
AIM = 1.6  # times as fast with two
RUNS = 3


def points() -> Any:
    """Masses of crank and coupler."""
    from linkwork.cosim.sweep import latin

    return latin({"four_bar.crank.mass": (0.5, 2.0), "four_bar.coupler.mass": (1.0, 10.0, "log")}, POINTS, seed=1)


def swept(fmu: Path, folder: Path, keep: str, **how: Any) -> tuple[float, Any]:
    """Sweep into a new folder; return the wall time, s, and all results."""
    from linkwork.cosim import Jacobi
    from linkwork.cosim.sweep import sweep

    begin = time.perf_counter()
    result = sweep(fmu, points(), folder, t_end=WORKS[keep], master=Jacobi(STEP), keep=keep, progress=False, **how)
    wall = time.perf_counter() - begin
    return wall, result.to_dataframe()


def costs(fmu: Path) -> list[tuple[str, float]]:
    """Return what a point consists of of which all is kept, ms, each the best of several."""
    stop = WORKS["all"]
    from linkwork.cosim import Jacobi, System, run
    from linkwork.cosim.isolated.job import Job
    from linkwork.cosim.isolated.parent import Child
    from linkwork.cosim.sweep.result_parts import write_part

    system = System.load(fmu)
    models: dict[Path, Any] = {}

    def here(length: float, kept: dict[Path, Any]) -> Any:
        return run(system, length, master=Jacobi(STEP), models=kept, progress=False)

    result = here(stop, models)
    job = Job(system, {"t_end": stop, "master": Jacobi(STEP)}, outlive=False)
    part = fmu.with_suffix(".parquet")
    with Child() as child:
        start = best(lambda: child.run(job), 1)
        there = best(lambda: child.run(job))
    whole, shortest = best(lambda: here(stop, models)), best(lambda: here(STEP, models))
    return [
        ("start of a process with its first point (once)", start),
        ("reading and unpacking the FMU (once in a process)", best(lambda: here(STEP, {})) - shortest),
        ("loading, instance, start and end of a run", shortest),
        ("steps", whole - shortest),
        ("to another process and back", there - whole),
        ("as Parquet", best(lambda: write_part(part, [(k, result) for k in range(POINTS)])) / POINTS),
    ]


def best(work: Any, count: int = 7) -> float:
    """Return the best wall time, ms."""
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - begin))
    return min(times)


def all_cores() -> None:
    """Undo the pinning of the other benchmarks: this one measures the effect of cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


def compare(report: Report, fmu: Path, folder: Path, keep: str, ways: dict[str, dict[str, Any]]) -> None:
    """Sweep in each way, turn by turn."""
    walls: dict[str, list[float]] = {name: [] for name in ways}
    frames = {}
    for turn in range(RUNS):
        for name, how in ways.items():
            wall, frames[name] = swept(fmu, folder / f"{keep} {name} {turn}", keep, **how)
            walls[name].append(wall)
    serial = frames["one process"]
    report.text(
        f"{POINTS} points of {WORKS[keep]:g} s in steps of {STEP:g} s, keep={keep!r}, wall time of the best of {RUNS} "
        "turns, start and end of processes included. All give the same bits: "
        f"{'yes' if all(one.equals(serial) for one in frames.values()) else 'NO'}."
    )
    found = {name: min(times) for name, times in walls.items()}
    one = found["one process"]
    rows = [[name, wall, POINTS / wall, one / wall] for name, wall in found.items()]
    report.table(["by", "s", "points/s", "times as fast"], rows)
    report.goals(
        Goal(f"wall time of {name} relative to one process, keep={keep!r}", found[name] / one, 1 / AIM)
        for name in list(ways)[1:]
    )


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    try:
        import distributed  # noqa: F401
    except ImportError as missing:
        raise Missing(str(missing)) from missing
    all_cores()
    sys.path.insert(0, str(CHECKOUT / "tests"))
    from support.dask_cluster import DaskCluster

    report = Report("sweep", "Sweeps of a four-bar", ("linkwork", "numpy", "fmpy", "pyarrow", "distributed"))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        fmu = lw.export_fmu(mechanism(), folder / "four_bar.fmu")
        (folder / "cluster").mkdir()
        cluster = stack.enter_context(DaskCluster(folder / "cluster"))
        for _ in range(2):
            cluster.add_worker()
        cluster.await_workers()
        ways: dict[str, dict[str, Any]] = {
            "one process": {"workers": 1},
            "two processes": {"workers": 2},
            "cluster of two workers": {"scheduler": cluster.address},
        }
        for keep in WORKS:
            compare(report, fmu, folder, keep, ways)
        parts = costs(fmu)
    report.text("What a point consists of of which all is kept, ms:")
    report.table(["part", "ms"], parts)
    report.save()
