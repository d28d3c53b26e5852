"""FMUs with compiled tapes and without: Co-Simulation, Model Exchange and size."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import NamedTuple

import linkwork as lw
from bench.core import build_driver
from bench.fmi3 import Instance, Unpacked, sizes
from bench.fmu_derivatives import started, time_fmu
from bench.fmu_steps import best_time
from bench.many_states import robots
from bench.mechanisms import peer
from bench.report import Cell, Report

STOP = 10.0  # s


class Cost(NamedTuple):
    """CPU s of a run, and bytes of the FMU."""

    seconds: float
    size: int


def section(report: Report, options: argparse.Namespace) -> None:
    """Measure and add the table."""
    driver, rows = build_driver("time_fmu"), list[list[Cell]]()
    described = {"four-bar": started(peer("bench_fourbar", options.peers).mech())}
    described |= {name: model.mechanism for name, model in robots() if name == "Robotiq 2F-85"}
    for name, mech in described.items():
        plain, native = (_co_simulated(mech, native) for native in (False, True))
        one = time_fmu(driver, mech, options.rounds, native=True)
        runs = [1e3 * plain.seconds, 1e3 * native.seconds, plain.seconds / native.seconds]
        rows.append([name, *runs, one["core"], one["fmu"], one["core"] / one["fmu"], (native.size - plain.size) / 1e3])
    report.text(
        f"## Compiled tapes\n\nFMUs by `native=True`. Co-Simulation: {STOP:g} s in one step, by the default solver and "
        "tolerance, without instantiation and initialisation. Model Exchange: near the start, as above, and the core "
        "alone without tapes. The results have the same bits."
    )
    heading = [
        "mechanism",
        "run [ms]",
        "with tapes [ms]",
        "faster",
        "core [us]",
        "with tapes [us]",
        "faster",
        "more [kB]",
    ]
    report.table(heading, rows)


def _co_simulated(mech: lw.Mechanism, native: bool) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        fmu = lw.export_fmu(mech, Path(folder) / "one.fmu", native=native, reference=False)
        instance = Instance(Unpacked(fmu, Path(folder)), "CoSimulation")

        def prepare() -> None:
            instance.reset()
            instance.initialize()

        seconds = best_time(lambda: instance.run(STOP, 1), prepare)
        instance.free()
        return Cost(seconds, sum(packed for packed, _ in sizes(fmu).values()))
