"""Cost of friction, formulas and long tables."""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import linkwork as lw
from bench.core import Motion, answer_of, build_driver, count_instructions, run_driver
from bench.mechanisms import CHECKOUT
from bench.report import Cell, Goal, Report
from bench.state_loads import arm, fastest
from bench.timing import Timing

TIMES_WITHOUT = 2.0  # of the four-bar with friction by reactions, to that without
TIMES_C = 3.0  # of a formula, to C by hand
TABLE_LOADS = 0.2  # s, of a million knots
COULOMB = 0.1  # N m or N
FORCES = 64
KNOTS = (1_000, 10_000, 100_000, 1_000_000)


class Machine(NamedTuple):
    """A mechanism that slips in every joint, with the friction of its bearings, and for how long it runs."""

    mechanism: lw.Mechanism
    mu: float
    radius: float
    q: dict[str, float]
    u: dict[str, float]
    end: float


def machines() -> dict[str, Machine]:
    """Build the machines, which come from the tests."""
    sys.path.insert(0, str(CHECKOUT / "tests"))
    try:
        rubbed, cases = importlib.import_module("support.rubbed"), importlib.import_module("support.cases")
        delta = importlib.import_module("support.delta").delta_robot
    finally:
        sys.path.pop(0)
    return {
        "four-bar": Machine(cases.four_bar().mechanism, 0.3, 0.03, {"A": -0.7}, {"A": -8.0}, 1.0),
        "five-bar": Machine(rubbed.five_bar(), 0.3, 0.03, {"P0": 0.1}, {"P0": 3.0, "P1": -2.0}, 0.5),
        "suspension": Machine(rubbed.suspension(), 0.3, 0.02, {}, {"J0": 3.0}, 0.1),
        "delta robot": Machine(delta(), 0.3, 0.02, {"H1": 0.1}, {"H1": 2.0, "H2": -1.0}, 0.1),
        "lift of 20 stages": Machine(rubbed.scissor_lift(20), 0.1, 0.01, {"S": -0.1}, {"S": -0.5}, 0.1),
    }


def variants(machine: Machine) -> dict[str, lw.Mechanism]:
    """Return the mechanism without friction, with constant friction, and with that of its bearings."""
    pressed = importlib.import_module("support.rubbed").rubbed(machine.mechanism, machine.mu, machine.radius)
    constant = machine.mechanism.copy()
    for force in pressed.forces:
        if isinstance(force, lw.Friction):
            constant.add_force(lw.Friction(force.joint, coulomb=COULOMB, name=force.name))
    return {"none": machine.mechanism, "constant": constant, "by reactions": pressed}


def motion_of(model: lw.Model, machine: Machine) -> Motion:
    """Return q and u of the tree, and no loads."""
    state = model.assemble(q=machine.q, u=machine.u)
    return state.q, state.u, np.zeros(model.numbering.nu + model.numbering.nu_cut)


def take_turns(driver: Path, models: dict[str, lw.Model], motions: dict[str, Motion], rounds: int) -> dict[str, Timing]:
    """Return the best time of each model; all of them run in every round."""
    best: dict[str, Timing] = {}
    for _ in range(rounds):
        for name, model in models.items():
            found = run_driver(driver, model, motions[name]).timings["accelerations"]
            if name not in best or found.us < best[name].us:
                best[name] = found
    return best


def run_of(model: lw.Model, machine: Machine, rounds: int) -> tuple[float, lw.Result]:
    """Return the CPU time of a run by the default solver, s, and its result."""
    start = model.assemble(q=machine.q, u=machine.u)
    return fastest(lambda: lw.simulate(model, machine.end, start), rounds)


def add_friction(report: Report, rounds: int) -> list[Goal]:
    """Add evaluations and runs of the machines."""
    driver = build_driver()
    times: list[list[Cell]] = []
    counts: list[list[Cell]] = []
    runs: list[list[Cell]] = []
    goals: list[Goal] = []
    for name, machine in machines().items():
        models = {kind: lw.compile(mechanism) for kind, mechanism in variants(machine).items()}
        motions = {kind: motion_of(model, machine) for kind, model in models.items()}
        us = {kind: timing.us for kind, timing in take_turns(driver, models, motions, rounds).items()}
        counted = {kind: count_instructions(driver, model, motions[kind]) for kind, model in models.items()}
        times.append([name, *us.values(), us["constant"] / us["none"], us["by reactions"] / us["none"]])
        base, by_reactions = counted["none"], counted["by reactions"]
        ratio = by_reactions / base if base and by_reactions else None
        counts.append([name, *counted.values(), ratio])
        if not goals:
            goals.append(Goal("four-bar by reactions to none, time", us["by reactions"] / us["none"], TIMES_WITHOUT))
            goals.append(Goal("the same, instructions", ratio, TIMES_WITHOUT))
        spent: list[Cell] = [name]
        for model in models.values():
            cpu, result = run_of(model, machine, rounds)
            spent += [1e3 * cpu, float(result.statistics.evaluations)]
        runs.append([*spent, float(len(result.events))])
    report.text(
        "## Friction in every joint\nForward dynamics while all of them slip, CPU time, us. Constant: "
        f"`coulomb={COULOMB:g}`."
    )
    kinds = ["none", "constant", "by reactions"]
    report.table(["machine", *kinds, "constant / none", "by reactions / none"], times)
    report.text("Instructions, by valgrind:")
    report.table(["machine", *kinds, "by reactions / none"], counts)
    report.text("Runs by the default solver from the same state on, CPU time, ms, and evaluations:")
    heads = [head for kind in kinds for head in (kind, "evaluations")]
    report.table(["machine", *heads, "where a slip turns or sticks"], runs)
    return goals


def with_forces(forces: list[Any]) -> lw.Model:
    """Compile the arm with forces."""
    mech = arm()
    for force in forces:
        mech.add_force(force)
    return lw.compile(mech)


def add_built_ins(report: Report, rounds: int) -> None:
    """Add a spring between points, and the formula that imitates it."""
    driver = build_driver()
    ends: dict[str, Any] = {"bodies": ("ground", "rod"), "points": ((0, 0, 1), (0.8, 0, 0))}
    text, given = "k*(length - free) + d*rate", {"k": 300.0, "free": 0.4, "d": 2.0}
    names = [f"f{k}" for k in range(FORCES)]
    models = {
        "none": with_forces([]),
        "SpringDamper": with_forces(
            [lw.SpringDamper(**ends, stiffness=300, free=0.4, damping=2, name=n) for n in names]
        ),
        f"`{text}`": with_forces([lw.Force(**ends, formula=text, parameters=given, name=n) for n in names]),
    }
    motion = np.array([0.4]), np.array([0.3]), np.zeros(1)
    none, *found = take_turns(driver, models, dict.fromkeys(models, motion), rounds).values()
    if (found[0].udot != found[1].udot).any():
        raise AssertionError("the formula gives other bits than the spring")
    report.text(f"## Formulas\nOne of {FORCES} forces between points, in an evaluation, CPU time, ns; the same bits:")
    costs = [1e3 * (one.us - none.us) / FORCES for one in found]
    report.table(["force", "ns"], [[name, cost] for name, cost in zip(list(models)[1:], costs, strict=True)])


def times_of_formulas(driver: Path, model: lw.Model) -> tuple[list[list[float]], float]:
    """Return free, held and in C of each formula, ns, and the time to load the model, s."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(model.model_bytes)
        *formulas, load = answer_of([driver, path]).stdout.splitlines()
    return [[float(number) for number in line.split()] for line in formulas], 1e-6 * float(load)


def shown(ns: float) -> float | None:
    """A measured number; none where it is not one."""
    return None if np.isnan(ns) else ns


def add_formulas(report: Report, rounds: int) -> list[Goal]:
    """Add formulas against the same in C."""
    driver = build_driver("time_formulas")
    forces, texts = [], []
    for line in answer_of([driver]).stdout.splitlines():
        text, names, values = line.split("; ")
        given = dict(zip(names.split(), map(float, values.split()), strict=False))
        forces.append(lw.Force("A", text, parameters=given, name=f"f{len(forces)}"))
        texts.append(text)
    model = with_forces(forces)
    best = np.min([times_of_formulas(driver, model)[0] for _ in range(rounds)], axis=0)
    report.text("A formula alone, and the same written by hand in C, CPU time, ns; held: on one branch of its kinks.")
    report.table(
        ["formula", "free", "held", "C", "free / C", "held / C"],
        [
            [f"`{text}`", free, shown(held), own, free / own, shown(held / own)]
            for text, (free, held, own) in zip(texts, best, strict=True)
        ],
    )
    worst = max(max(free, shown(held) or 0.0) / own for free, held, own in best)
    return [Goal("a formula to C by hand, time", worst, TIMES_C)]


def add_tables(report: Report, rounds: int) -> list[Goal]:
    """Add tables of many knots."""
    driver = build_driver("time_formulas")
    rows: list[list[Cell]] = []
    loads = 0.0
    for knots in KNOTS:
        x = np.linspace(0.0, 1.0, knots)

        def build(x: np.ndarray = x) -> lw.Model:
            table = lw.LookupTable(x, np.sin(20.0 * x), interpolation="monotone")
            return with_forces([lw.Force("A", "-k*t(q)", parameters={"k": 3.0}, tables={"t": table}, name="f")])

        made, model = fastest(build, min(rounds, 3))
        found = [times_of_formulas(driver, model) for _ in range(rounds)]
        free, held, _ = np.min([formulas[0] for formulas, _ in found], axis=0)
        loads = min(load for _, load in found)
        rows.append([f"{knots:,}".replace(",", " "), 1e3 * made, 1e3 * loads, free, shown(held)])
    report.text(
        "## Tables\nMonotone tables over an even grid: ms of making the table, the force and the compiled model in "
        "Python, and of loading the model with its first evaluation in the core; ns of a look-up at changing places."
    )
    report.table(["knots", "Python, ms", "core, ms", "look-up, ns", "held, ns"], rows)
    return [Goal("a table of a million knots in the core, s", loads, TABLE_LOADS)]


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    report = Report("forces", "Friction, formulas and tables", ("linkwork", "numpy"))
    goals = add_friction(report, options.rounds)
    add_built_ins(report, options.rounds)
    goals += add_formulas(report, options.rounds)
    goals += add_tables(report, options.rounds)
    report.goals(goals)
    report.save()
