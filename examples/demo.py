"""The four-bar in Python and as FMUs: one table and one picture of how far they agree.

Writes four_bar_fmi2.fmu, four_bar_fmi3.fmu and four_bar.png to the folder out/ of this checkout.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ctypes import byref, c_long, c_void_p
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import fmpy
import fmpy.sundials
import numpy as np
from demo_picture import draw
from fmpy.simulation import instantiate_fmu
from fmpy.sundials.libraries import sundials_cvode
from four_bar import mechanism

import linkwork as lw

OUT = Path(__file__).resolve().parent.parent / "out"
END, SAMPLES = 10.0, 501  # s, points of output
TOLERANCE = 1e-10
REPEATS = 3  # the fastest counts

ANGLES = ("A.q", "B.q", "C.q", "D.q")
POSITIONS = ("coupler.r[1]", "coupler.r[3]", "rocker.r[1]", "rocker.r[3]")
COLUMNS = (*ANGLES, *POSITIONS, "loop.D.residual", "energy.kinetic", "energy.potential")
NOTE = f"""
{END:g} s of motion, {SAMPLES} points of output, tolerance {TOLERANCE:g}; the fastest of {REPEATS} runs counts.
difference: largest of any joint angle to Python, DOP853 at 1e-13. steps: the integrator's; in CS the calls
of FMPy, between which the FMU takes steps of its own.
"""
KINDS = {"ModelExchange": "ME, CVode", "CoSimulation": "CS"}


@dataclass
class Run:
    """One simulation: what it was, what it cost, and its columns by name at common times."""

    name: str
    wall: float  # s
    steps: int
    columns: dict[str, np.ndarray] = field(repr=False)

    def difference(self, reference: "Run") -> np.ndarray:
        """Largest difference of an angle at each time, rad."""
        found: np.ndarray = np.max([np.abs(self.columns[name] - reference.columns[name]) for name in ANGLES], axis=0)
        return found

    @property
    def drift(self) -> float:
        energy = self.columns["energy.kinetic"] + self.columns["energy.potential"]
        return float(np.abs(energy - energy[0]).max())

    @property
    def residual(self) -> float:
        return float(self.columns["loop.D.residual"].max())


def fastest(name: str, once: Callable[[], tuple[float, int, Mapping[str, np.ndarray] | np.ndarray]]) -> Run:
    wall, steps, columns = min((once() for _ in range(REPEATS)), key=lambda outcome: outcome[0])
    return Run(name, wall, steps, {column: np.array(columns[column]) for column in COLUMNS})


def in_python(system: lw.Model, solver: str, tolerance: float) -> Run:
    """From start values to all columns, the loop's assembly included."""

    def once() -> tuple[float, int, Mapping[str, np.ndarray]]:
        begin = time.perf_counter()
        result = lw.simulate(system, END, solver=solver, rtol=tolerance, t_eval=np.linspace(0.0, END, SAMPLES))
        columns = {name: result[name] for name in COLUMNS}
        return time.perf_counter() - begin, result.statistics.steps, columns

    return fastest(f"Python, {solver}", once)


def in_fmpy(path: Path, kind: str) -> Run:
    """The same stretch of work: the library is loaded and the instance made before the clock starts."""
    description = fmpy.read_model_description(path)

    def once() -> tuple[float, int, np.ndarray]:
        with unpacked(path) as folder, counted_steps() as solver:
            instance = instantiate_fmu(folder, description, kind)
            begin = time.perf_counter()
            result = fmpy.simulate_fmu(
                folder, model_description=description, fmu_instance=instance, fmi_type=kind, stop_time=END,
                output_interval=END / (SAMPLES - 1), relative_tolerance=TOLERANCE, output=COLUMNS,
            )  # fmt: skip
            wall = time.perf_counter() - begin
            instance.freeInstance()
        return wall, solver.steps if kind == "ModelExchange" else SAMPLES - 1, result

    return fastest(f"FMU {description.fmiVersion}, {KINDS[kind]}", once)


@contextmanager
def unpacked(path: Path) -> Iterator[str]:
    folder = tempfile.mkdtemp()
    try:
        yield str(fmpy.extract(path, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def counted_steps() -> Iterator[Any]:
    """FMPy keeps its CVode to itself: stand in for the class and ask it how many steps it took."""

    class Counted(fmpy.sundials.CVodeSolver):  # type: ignore[misc]
        steps = 0

        def step(self, t: float, t_next: float) -> Any:
            outcome = super().step(t, t_next)
            count = c_long()
            sundials_cvode.CVodeGetNumSteps(c_void_p(self.cvode_mem), byref(count))
            Counted.steps = count.value
            return outcome

    with mock.patch.object(fmpy.sundials, "CVodeSolver", Counted):
        yield Counted


def print_table(runs: list[Run], reference: Run) -> None:
    heads = ("run", "wall time", "steps", "difference", "loop residual", "energy drift")
    rows: list[tuple[str, ...]] = [heads, ("", "ms", "", "rad", "m", "J")]
    for run in runs:
        numbers = (run.difference(reference).max(), run.residual, run.drift)
        rows.append((run.name, f"{1e3 * run.wall:.1f}", str(run.steps), *(f"{number:.1e}" for number in numbers)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    for i, row in enumerate(rows):
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip())
        if i == 1:
            print("  ".join("-" * width for width in widths))


def main() -> None:
    OUT.mkdir(exist_ok=True)
    mech = mechanism()
    begin = time.perf_counter()
    fmus = [lw.export_fmu(mech, OUT / f"four_bar_fmi{version[0]}.fmu", fmi=version) for version in ("2.0", "3.0")]
    print(f"{mech.name}: two FMUs exported in {time.perf_counter() - begin:.2f} s\n")

    system = lw.compile(mech)
    reference = in_python(system, "DOP853", 1e-13)
    runs = [in_python(system, solver, TOLERANCE) for solver in ("dopri5", "DOP853")]
    runs += [in_fmpy(path, kind) for kind in KINDS for path in fmus]
    print_table(runs, reference)
    print(NOTE)
    picture = OUT / "four_bar.png"
    differences = {run.name: run.difference(reference) for run in runs}
    draw(picture, np.linspace(0.0, END, SAMPLES), reference.columns, differences)
    for path in (*fmus, picture):
        print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    main()
