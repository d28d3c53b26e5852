"""Loads of a delta robot's motors over a motion of 1000 rows."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

import numpy as np

import linkwork as lw
from bench.mechanisms import CHECKOUT
from bench.report import Goal, Report
from bench.state_loads import fastest
from linkwork.analysis.configuration_space import ConfigurationSpace
from linkwork.analysis.motors import Motors

AIM = 10e-3  # s, of all rows
ROWS = 1000


def delta() -> Any:
    """Return the module of the delta robot of the tests."""
    sys.path.insert(0, str(CHECKOUT / "tests"))
    try:
        return importlib.import_module("support.delta")
    finally:
        sys.path.pop(0)


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    report = Report("motor_loads", "Loads of motors over a motion", ("linkwork", "numpy", "scipy"))
    robot, rounds = delta(), 10 * options.rounds
    model = lw.compile(robot.delta_robot())
    t = np.linspace(0.0, 2.0, ROWS)
    size, rate, home = np.array([0.06, 0.05, 0.04]), np.array([3.0, 4.0, 5.0]), np.array([0.0, 0.0, robot.HOME])
    angle = t[:, None] * rate
    p, v, a = home + size * np.sin(angle), size * rate * np.cos(angle), -size * rate**2 * np.sin(angle)

    def by_position() -> lw.MotorLoads:
        return lw.inverse_dynamics(model, {"top.r": (p, v, a)}, motors=robot.HIPS, t_eval=t)

    from_path, loads = fastest(by_position, 2)
    motion = loads.q, loads.u, loads.udot
    whole, again = fastest(lambda: lw.inverse_dynamics(model, motion, motors=robot.HIPS, t_eval=t), rounds)
    redundant = [*robot.HIPS, "K1a[1]"]
    shared, _ = fastest(lambda: lw.inverse_dynamics(model, motion, motors=redundant, t_eval=t), rounds)
    space = ConfigurationSpace(model)
    rows, inputs = Motors(space, robot.HIPS).rows, np.zeros((ROWS, model.numbering.n_inputs))
    core, _ = fastest(lambda: space.block.load_equations(rows, t, *motion, inputs, None, 3), rounds)
    expected = robot.hip_loads(p, v, a)
    error = float(np.abs(again.loads - expected).max() / np.abs(expected).max())
    s = model.sizes
    report.text(
        f"A delta robot, {s.bodies} bodies, {s.joints} joints, {s.loops} loops, its platform on a path in space, "
        f"{ROWS} rows; "
        f"CPU time of all rows on one core, best of {rounds}. The loads differ from the closed form by {error:.1e} of "
        "the "
        "largest."
    )
    report.table(
        ["work", "ms", "us a row"],
        [
            [what, 1e3 * spent, 1e6 * spent / ROWS]
            for what, spent in (
                ("equations alone, one call of the core", core),
                ("`inverse_dynamics` of q, u, udot, three motors", whole),
                ("the same, a fourth motor, least norm", shared),
                ("`inverse_dynamics` of the platform's path, the pose of each row by Newton's iteration", from_path),
            )
        ],
    )
    report.goals([Goal(f"loads of {ROWS} rows of q, u, udot, ms", 1e3 * whole, 1e3 * AIM)])
    report.save()
