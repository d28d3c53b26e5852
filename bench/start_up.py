"""What a user waits for before the first FMU is there: import, compile and export in a fresh process."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.mechanisms import CHECKOUT
from bench.report import Report

AIM = 2.0  # s
RUNS = 7
LARGEST = 8
STEPS = ("import", "describe and compile", "export")
WORK = """
import json, sys, time
clocks = lambda: (time.perf_counter(), time.process_time())
times = [clocks()]
import linkwork as lw
times.append(clocks())
from examples.four_bar import mechanism
system = lw.compile(mechanism())
times.append(clocks())
lw.export_fmu(system, sys.argv[1])
times.append(clocks())
print(json.dumps([[b - a for a, b in zip(*pair)] for pair in zip(times, times[1:])]))
"""


def fresh_process(*flags: str) -> subprocess.CompletedProcess[str]:
    """Do the work in a new interpreter."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, *flags, "-c", WORK, str(Path(folder) / "four_bar.fmu")]
        return subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True)


def run_once() -> dict[str, tuple[float, float]]:
    """Return wall and CPU time, s, of each step and of the whole process, its children's included."""
    before = os.times()
    process = fresh_process()
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    steps = dict(zip(STEPS, map(tuple, json.loads(process.stdout)), strict=True))
    return {**steps, "whole process": (after.elapsed - before.elapsed, cpu)}


def largest_imports(times: str) -> list[tuple[str, float]]:
    """Return packages by the time that their own modules took to import, ms, from the output of -X importtime."""
    own: dict[str, float] = {}
    for microseconds, name in re.findall(r"import time:\s*(\d+) \|\s*\d+ \|\s*(\S+)", times):
        package = ".".join(name.split(".")[:2]) if name.startswith(("scipy.", "linkwork.")) else name.split(".")[0]
        own[package] = own.get(package, 0.0) + int(microseconds) / 1e3
    return sorted(own.items(), key=lambda item: -item[1])[:LARGEST]


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    report = Report("start_up", "From a fresh process to an FMU", ("linkwork", "numpy", "scipy"))
    runs = [run_once() for _ in range(RUNS)]
    report.text(
        f"The four-bar of the examples, best of {RUNS} processes with all files in memory, s. In a checkout the import "
        "also looks whether C code has changed (CMake, ninja), which an installed package does not. "
        f"Aim for the whole: below {AIM:g} s."
    )
    best = {step: [min(run[step][k] for run in runs) for k in (0, 1)] for step in runs[0]}
    report.table(["step", "wall", "CPU"], [[step, *times] for step, times in best.items()])
    report.text(
        "Largest imports by package, own modules only, ms of wall time in one run that traces them; the look at "
        "the C code counts as `linkwork.core._core`:"
    )
    report.table(["package", "ms"], largest_imports(fresh_process("-X", "importtime").stderr))
    report.save()
