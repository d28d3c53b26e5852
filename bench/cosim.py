"""What a communication step costs a host over the FMUs' own calls: two masses on springs, coupled by a spring."""

from __future__ import annotations

import argparse
import ctypes
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from fmpy import fmi2

import linkwork as lw
from bench.report import Goal, Report
from linkwork.cosim import Adaptive, GaussSeidel, Jacobi, System, run
from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.fmu.model import read_model
from linkwork.cosim.masters import Master

STEP, END = 0.01, 10.0  # s
STIFFNESS, COUPLING = 10.0, 5.0  # N/m
CONNECTIONS = 2
AIM = 20.0  # us for each connection
MASTERS: dict[str, Callable[[], Master]] = {
    f"{kind.__name__}, order {order}": (lambda kind=kind, order=order: kind(STEP, order))  # type: ignore[misc]
    for kind in (Jacobi, GaussSeidel)
    for order in (0, 1, 2)
}
TRIED = {
    "Adaptive, doubling": lambda: Adaptive(1e-4, first_step=STEP, max_step=STEP, min_step=STEP),
    "Adaptive, inputs": lambda: Adaptive(1.0, first_step=STEP, max_step=STEP, estimate="inputs"),
}


def main(options: argparse.Namespace) -> None:
    """Measure and report."""
    report = Report("cosim", "Communication steps", ["fmpy", "numpy"])
    report.text(
        f"{END:g} s by steps of {STEP:g} s, two FMUs of FMI 2.0 and two connections, recorded. The FMUs alone: their "
        "get, set, derivatives of inputs (where the master gives them), doStep, and getFMUstate, as masters save "
        "those of FMI 2.0; called through the same functions with arguments prepared. "
        "CPU us for each communication step."
    )
    goals = []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        fmus = [_fmu(Path(folder), name, q) for name, q in (("left", 1.0), ("right", 0.0))]
        for name, master in MASTERS.items():
            order = int(name[-1])
            alone = min(_bare(fmus, order) for _ in range(options.rounds))
            whole = min(_by_master(fmus, master()) for _ in range(options.rounds))
            rows.append([name, whole, alone, whole - alone])
            goals.append(Goal(f"{name}: us over the FMUs' for each connection", (whole - alone) / CONNECTIONS, AIM))
        for name, master in TRIED.items():
            rows.append([name, min(_by_master(fmus, master()) for _ in range(options.rounds)), None, None])
    report.table(["master", "whole", "FMUs alone", "host"], rows)
    report.text("The adaptive master by doubling makes three steps, and saves and restores, for each two it counts.")
    report.goals(goals)
    report.save()


def _fmu(folder: Path, name: str, start: float) -> Path:
    mech = lw.Mechanism(name, gravity=(0, 0, 0))
    mech.add_body("b", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("x", lw.Prismatic(axis=(1, 0, 0)), "ground", "b", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("x", stiffness=STIFFNESS + COUPLING))
    mech.start(q={"x": start})
    return lw.export_fmu(mech, folder / f"{name}.fmu", fmi="2.0", outputs=["x.q"])


def _by_master(fmus: list[Path], master: Master) -> float:
    system = System("bench")
    for name, fmu in zip(("left", "right"), fmus, strict=True):
        system.add(name, fmu)
    system.connect("left.x.q", "right.x.tau", factor=COUPLING, convert_units=False)
    system.connect("right.x.q", "left.x.tau", factor=COUPLING, convert_units=False)
    models = {fmu: read_model(fmu) for fmu in fmus}
    for model in models.values():
        assert model.folder.is_dir()  # unpacked before the clock runs
    begin = time.thread_time()
    result = run(system, END, master=master, models=models, progress=False)
    seconds = time.thread_time() - begin
    assert result.statistics is not None
    return 1e6 * seconds / result.statistics.steps


def _bare(fmus: list[Path], order: int) -> float:
    """The calls of a step, and nothing else."""
    instances = [_ready(name, fmu) for name, fmu in zip(("left", "right"), fmus, strict=True)]
    calls = []
    for instance, other in (instances, instances[::-1]):
        of = instance.fmu.fmpy.dll
        component, inputs, outputs = instance.fmu.component, instance.inputs.calls[0], other.outputs.calls[0]
        derivatives = [instance.inputs.derivatives(k + 1)[:4] for k in range(order)]
        get = other.fmu.fmpy.dll.fmi2GetReal, (other.fmu.component, *outputs[1:4])
        put = of.fmi2SetReal, (component, *inputs[1:4])
        rates = [(of.fmi2SetRealInputDerivatives, (component, *one)) for one in derivatives]
        save = of.fmi2GetFMUstate, (component, ctypes.byref(fmi2.fmi2FMUstate()))
        calls.append((save, get, put, rates, of.fmi2DoStep, component, instance.inputs.real, other.outputs.real))
    begin = time.thread_time()
    for k in range(round(END / STEP)):
        for (keep, where), (get, of), (put, to), rates, step, component, taken, given in calls:
            keep(*where)
            get(*of)
            taken[0] = COUPLING * given[0]
            put(*to)
            for rate, arguments in rates:
                rate(*arguments)
            step(component, k * STEP, STEP, 0)
    seconds = time.thread_time() - begin
    for instance in instances:
        instance.free()
    return 1e6 * seconds / round(END / STEP)


def _ready(name: str, fmu: Path) -> Instance:
    model = read_model(fmu)
    instance = Instance(name, model)
    instance.bind([model.variable("x.tau")], [model.variable("x.q")], [])
    instance.instantiate()
    instance.enter_initialization(0.0, END, None)
    instance.exit_initialization()
    return instance
