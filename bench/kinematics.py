"""Kinematic sweeps and identification: time of a row, and its growth with the loops and with the rows."""

from __future__ import annotations

import argparse
from itertools import pairwise
from math import log
from typing import Any

import numpy as np

import linkwork as lw
from bench.report import Goal, Report
from bench.state_loads import fastest

SWEEP_AIM, IDENTIFY_AIM, GROWTH_AIM = 20e-6, 5e-6, 1.1  # s a row; exponent
ROWS = (101, 1001, 10001)
LOOPS = (4, 8, 16, 32, 64)
HINGE = lw.Revolute((0, 0, 1))


def four_bar() -> lw.Mechanism:
    """Crank, coupler and rocker."""
    mech = lw.Mechanism("four_bar")
    for name, length in (("crank", 0.2), ("coupler", 0.6), ("rocker", 0.4)):
        mech.add_body(name, mass=1.0, com=(0.5 * length, 0, 0), inertia=lw.inertia.rod(1.0, length))
    mech.add_joint("A", HINGE, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", HINGE, "crank", "coupler", parent_frame=lw.Frame((0.2, 0, 0)))
    mech.add_joint("C", HINGE, "ground", "rocker", parent_frame=lw.Frame((0.6, 0, 0)))
    ends = {"parent_frame": lw.Frame((0.6, 0, 0)), "child_frame": lw.Frame((0.4, 0, 0))}
    mech.add_joint("D", HINGE, "coupler", "rocker", **ends)
    mech.start(q={"A": 0.5, "B": 0.5})
    return mech


def row_of_parallelograms(loops: int) -> lw.Mechanism:
    """Rockers in a row, each joined to the one before by a coupler."""
    mech = lw.Mechanism("row")
    for k in range(loops + 1):
        mech.add_body(f"rocker{k}", mass=1.0, com=(0.1, 0, 0), inertia=lw.inertia.rod(1.0, 0.2))
        mech.add_joint(f"A{k}", HINGE, "ground", f"rocker{k}", parent_frame=lw.Frame((0.3 * k, 0, 0)))
    tip = lw.Frame((0.2, 0, 0))
    for k in range(loops):
        mech.add_body(f"coupler{k}", mass=1.0, com=(0.15, 0, 0), inertia=lw.inertia.rod(1.0, 0.3))
        mech.add_joint(f"B{k}", HINGE, f"rocker{k}", f"coupler{k}", parent_frame=tip)
        ends = {"parent_frame": lw.Frame((0.3, 0, 0)), "child_frame": tip}
        mech.add_joint(f"D{k}", HINGE, f"coupler{k}", f"rocker{k + 1}", **ends)
    mech.start(q={f"A{k}": 1.0 for k in range(loops + 1)} | {f"B{k}": -1.0 for k in range(loops)})
    return mech


def measured_path(rows: int) -> tuple[Any, dict[str, Any]]:
    """Return times and a path of the four-bar's crank."""
    t = np.linspace(0.0, 3.0, rows)
    return t, {"A.q": 1.2 + 0.8 * np.sin(2 * t) + 0.3 * np.sin(5 * t)}


def measured(model: lw.Model, rows: int) -> dict[str, Any]:
    """Return a motion of the four-bar with the loads of its crank."""
    t, path = measured_path(rows)
    motion = lw.inverse_dynamics(model, path, motors="A", t_eval=t)
    return {"t": t, "q": motion.q, "u": motion.u, "udot": motion.udot, "A.tau": motion.loads[:, 0]}


def exponents(counts: tuple[int, ...], seconds: list[float]) -> list[float]:
    """Return by which power of the counts the times grow, between neighbours."""
    return [log(b / a) / log(m / n) for (n, m), (a, b) in zip(pairwise(counts), pairwise(seconds), strict=True)]


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    report = Report("kinematics", "Kinematic sweeps and identification", ("linkwork", "numpy", "scipy"))
    model = lw.compile(four_bar())
    by_rows = [
        fastest(lambda rows=rows: lw.kinematics(model, "A.q", 0.5, 0.5 + 2 * np.pi, rows=rows), options.rounds)[0]
        for rows in ROWS
    ]
    by_loops = []
    for loops in LOOPS:
        chain = lw.compile(row_of_parallelograms(loops))
        by_loops.append(fastest(lambda chain=chain: lw.kinematics(chain, "A0.q", 1.0, 1.8, rows=101), 2)[0])
    names = ["crank", "coupler", "rocker"]
    by_samples = []
    for rows in ROWS[:2]:
        data = measured(model, rows)
        by_samples.append(fastest(lambda data=data: lw.identify(model, data, names), 2)[0])
    path = measured_path(ROWS[1])
    by_path, _ = fastest(lambda: lw.inverse_dynamics(model, path[1], motors="A", t_eval=path[0]), options.rounds)
    report.text(f"CPU time on one core, best of {options.rounds}, of long sweeps and identification best of 2.")
    report.table(
        ["a turn of a four-bar's crank, rows", "us a row"],
        [[str(rows), 1e6 * spent / rows] for rows, spent in zip(ROWS, by_rows, strict=True)],
    )
    growth = exponents(LOOPS, by_loops)
    report.table(
        ["row of parallelograms, 101 rows, loops", "us a row", "us a row and loop", "exponent"],
        [
            [str(loops), 1e4 * spent / 1.01, 1e4 * spent / 1.01 / loops, power]
            for loops, spent, power in zip(LOOPS, by_loops, [np.nan, *growth], strict=True)
        ],
    )
    report.table(
        ["all inertial parameters of the four-bar, rows", "us a row"],
        [[str(rows), 1e6 * spent / rows] for rows, spent in zip(ROWS[:2], by_samples, strict=True)],
    )
    report.text(f"`inverse_dynamics` of a path of the crank, {ROWS[1]} rows: {1e6 * by_path / ROWS[1]:.3g} us a row.")
    report.goals(
        [
            Goal("a row of the sweep, 1001 rows, us", 1e6 * by_rows[1] / ROWS[1], 1e6 * SWEEP_AIM),
            Goal("a row of the sweep, 101 rows, us", 1e6 * by_rows[0] / ROWS[0], 1e6 * SWEEP_AIM),
            Goal("growth of a sweep with the loops, largest exponent", max(growth), GROWTH_AIM),
            Goal("a row of the identification, us", 1e6 * by_samples[1] / ROWS[1], 1e6 * IDENTIFY_AIM),
        ]
    )
    report.save()
