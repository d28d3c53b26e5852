"""The size of FMUs, and from a description to a running instance, in fresh processes."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import linkwork as lw
from bench.fmi3 import sizes
from bench.mechanisms import CHECKOUT, Missing
from bench.report import Goal, Report
from examples.four_bar import mechanism

CELLS = (50, 5000)  # of the spatial ladder of the examples, which has two bodies a cell and one more
FEW_AIM, MANY_AIM, MEMORY_AIM = 3.0, 5.0, 1e9  # s, s, bytes
MEASURE = """
import json, os, re, sys, time
from pathlib import Path
os.sched_setaffinity(0, range(os.cpu_count()))  # compression is a thread of its own
times = []
def clock(step):
    peak = re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())
    times.append([step, time.perf_counter(), time.process_time(), 1024 * int(peak[1])])
clock("")
"""
EXPORT = f"""{MEASURE}
import linkwork as lw
clock("import")
sys.path.insert(0, "examples")
from spatial_ladder import mechanism
clock("import of the example")
described = mechanism(int(sys.argv[1]))
clock("describe")
system = lw.compile(described)
clock("compile")
lw.export_fmu(system, sys.argv[2])
clock("export")
print(json.dumps(times))
"""
INSTANTIATE = f"""
from bench.fmi3 import Instance, Unpacked
{MEASURE}
unpacked = Unpacked(Path(sys.argv[2]), Path(sys.argv[2]).parent)
clock("unpack")
instance = Instance(unpacked, "ModelExchange")
clock("instantiate")
instance.initialize()
clock("initialise")
print(json.dumps(times))
"""
COUNTED = ("compile", "export", "instantiate", "initialise")


class Step(NamedTuple):
    """What one step takes: wall and CPU time, s, and the peak of its process when it ends, bytes."""

    wall: float
    cpu: float
    peak: float


def section(report: Report, options: argparse.Namespace) -> list[Goal]:
    """Measure and add the tables."""
    _add_sizes(report)
    steps = {cells: best_steps(cells, options.rounds if cells < 1000 else min(options.rounds, 3)) for cells in CELLS}
    report.text(
        "## Export and start\n\nSpatial ladders of the examples, all quantities as outputs, best of some fresh "
        "processes: one exports, one without linkwork instantiates for Model Exchange. Imports are a checkout's, "
        "which look whether C code has changed. All cores may be used here."
    )
    heading = ["bodies", "step", "wall [s]", "CPU [s]", "peak [MB]"]
    rows = [
        [str(2 * cells + 1), name, step.wall, step.cpu, step.peak / 1e6]
        for cells, found in steps.items()
        for name, step in found.items()
    ]
    report.table(heading, rows)
    few, many = (steps[cells] for cells in CELLS)
    exporting = sum(few[name].wall for name in ("import", "describe", "compile", "export"))
    whole = sum(many[name].wall for name in COUNTED)
    return [
        Goal(f"{2 * CELLS[0] + 1} bodies: import to FMU, wall [s]", exporting, FEW_AIM),
        Goal(f"{2 * CELLS[1] + 1} bodies: compile, export, instantiate and initialise, wall [s]", whole, MANY_AIM),
        Goal(
            f"{2 * CELLS[1] + 1} bodies: peak of any process [MB]",
            max(s.peak for s in many.values()) / 1e6,
            MEMORY_AIM / 1e6,
        ),
    ]


def best_steps(cells: int, rounds: int) -> dict[str, Step]:
    """Return the least of each step over several pairs of processes."""
    best: dict[str, Step] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            for work in (EXPORT, INSTANTIATE):
                for name, step in _run(work, cells, Path(folder) / "ladder.fmu").items():
                    before = best.get(name, step)
                    best[name] = Step(*map(min, step, before))
    best.pop("import of the example")
    return best


def _run(work: str, cells: int, fmu: Path) -> dict[str, Step]:
    done = subprocess.run(
        [sys.executable, "-c", work, str(cells), str(fmu)], cwd=CHECKOUT, capture_output=True, text=True
    )
    if done.returncode:
        raise Missing(f"a process fails: {(done.stderr.strip().splitlines() or ['killed'])[-1]}")
    times = json.loads(done.stdout)
    return {
        name: Step(wall - begin, cpu - cpu_begin, peak)
        for (_, begin, cpu_begin, _), (name, wall, cpu, peak) in pairwise(times)
    }


def _add_sizes(report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fmu = lw.export_fmu(mechanism(), Path(folder) / "four_bar.fmu")
        parts, whole = sizes(fmu), fmu.stat().st_size
    report.text("## Size\n\nThe four-bar of the examples for one platform; each other platform adds its binaries.")
    rows = [[name, str(packed), str(unpacked)] for name, (packed, unpacked) in parts.items()]
    report.table(["part", "in the FMU [bytes]", "unpacked [bytes]"], [*rows, ["all", str(whole), "-"]])
