"""FMUs with compiled tapes and without: Co-Simulation, Model Exchange, derivatives and size."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import linkwork as lw
from bench.core import build_driver
from bench.fmi3 import Instance, Unpacked, sizes
from bench.fmu_derivatives import started, time_fmu
from bench.fmu_steps import best_time
from bench.many_states import robots
from bench.mechanisms import example, peer
from bench.report import Cell, Report

STOP = 10.0  # s
IMPLICIT_STOP = 1.0  # s, by the implicit method
RODAS5P = 2  # among the solvers of an FMU
MATRICES = 20  # at once
NEAR = 1e-3  # rad or m, between states that are differentiated


def section(report: Report, options: argparse.Namespace) -> None:
    """Measure and add the tables."""
    driver, rows, derivatives = build_driver("time_fmu"), list[list[Cell]](), list[list[Cell]]()
    described = {"four-bar": started(peer("bench_fourbar", options.peers).mech())}
    described["quarter car"] = example("quarter_car").mechanism()
    described |= {name: model.mechanism for name, model in robots() if name == "Robotiq 2F-85"}
    for name, mech in described.items():
        with _exported(mech, False) as plain, _exported(mech, True) as native:
            run, faster = (_co_simulated(fmu, STOP) for fmu in (plain, native))
            more = sum(_size(fmu) * sign for fmu, sign in ((native, 1), (plain, -1)))
            implicit = [_co_simulated(fmu, IMPLICIT_STOP, RODAS5P) for fmu in (plain, native)]
            matrix = [_differentiated(fmu, lw.compile(mech)) for fmu in (plain, native)]
        one = time_fmu(driver, mech, options.rounds, native=True)
        core = [one["core"], one["fmu"], one["core"] / one["fmu"]]
        rows.append([name, 1e3 * run, 1e3 * faster, run / faster, *core, more / 1e3])
        both = [[scale * seconds for seconds in pair] for scale, pair in ((1e6, matrix), (1e3, implicit))]
        derivatives.append([name, *(cell for pair in both for cell in (*pair, pair[0] / pair[1]))])
    report.text(
        f"## Compiled tapes\n\nFMUs by `native=True`. Co-Simulation: {STOP:g} s in one step, by the default solver and "
        "tolerance, without instantiation and initialisation. Model Exchange: near the start, as above, and the core "
        "alone without tapes. The results have the same bits."
    )
    common = ["run [ms]", "with tapes [ms]", "faster"]
    report.table(["mechanism", *common, "core [us]", "with tapes [us]", "faster", "more [kB]"], rows)
    report.text(
        "All derivatives of the rates by states and inputs near the start, a call for each column, and runs of "
        f"{IMPLICIT_STOP:g} s by rodas5p."
    )
    report.table(["mechanism", "derivatives [us]", "with tapes [us]", "faster", *common], derivatives)


@contextmanager
def _exported(mech: lw.Mechanism, native: bool) -> Iterator[tuple[Path, Unpacked]]:
    with tempfile.TemporaryDirectory() as folder:
        fmu = lw.export_fmu(mech, Path(folder) / "one.fmu", native=native, reference=False)
        yield fmu, Unpacked(fmu, Path(folder))


def _size(fmu: tuple[Path, Unpacked]) -> int:
    return sum(packed for packed, _ in sizes(fmu[0]).values())


def _co_simulated(fmu: tuple[Path, Unpacked], stop: float, solver: int | None = None) -> float:
    """CPU s."""
    instance, references = Instance(fmu[1], "CoSimulation"), fmu[1].references()

    def prepare() -> None:
        instance.reset()
        if solver is not None:
            instance.set_enumeration(references["solver"], solver)
        instance.initialize()

    seconds = best_time(lambda: instance.run(stop, 1), prepare)
    instance.free()
    return seconds


def _differentiated(fmu: tuple[Path, Unpacked], model: lw.Model) -> float:
    """CPU s of a matrix; each is at another state than the one before."""
    listed, instance = fmu[1].references(), Instance(fmu[1], "ModelExchange")
    of_kind = {kind: [v for v in model.variables if v.kind == kind and v.name in listed] for kind in _KINDS}
    states, rates, inputs = ([listed[v.name] for v in sorted(of_kind[k], key=lambda v: v.reference)] for k in _KINDS)
    instance.initialize()
    differentiate, start = instance.differentiate(rates, [*states, *inputs]), model.assemble()
    x = [*start.q, *start.u, *start.elements]
    both = x, [value + NEAR / (1 + i) for i, value in enumerate(x)]

    def differentiate_often() -> None:
        for k in range(MATRICES):
            differentiate(both[k % 2])

    seconds = best_time(differentiate_often, lambda: None)
    instance.free()
    return seconds / MATRICES


_KINDS = ("state", "derivative", "input")
