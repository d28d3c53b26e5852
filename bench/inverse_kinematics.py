"""Inverse kinematics of a Gough-Stewart platform and of a limb with a closed loop: time, steps and accuracy."""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

import linkwork as lw
from bench.mechanisms import CHECKOUT
from bench.report import Goal, Report
from linkwork.analysis.configuration_space import ConfigurationSpace
from linkwork.analysis.inverse_kinematics import Attempt, PoseSolver, checked_targets
from linkwork.analysis.limits import Limits

POSES = 1000
TIME_AIM = 1.0  # ms
ERROR_AIM = 1e-10  # m
METHOD = """\
CPU time of one pose in ms on one core, the best of {rounds} rounds for each pose, of {poses} random reachable poses. A
platform of six UPS limbs is displaced by up to 0.15 m along each axis and turned by up to 0.5 rad about each, without
and with stops of its six struts; a limb of a robot (hip and five-bar, one loop) has random angles of its three motors.
Targets are position and orientation of the platform, and the position of the foot. Each search begins at the pose
before, as along a path, or at the assembled start. The error is what constraints and targets miss in the end, m, angles
times the length of the mechanism."""


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    sys.path.insert(0, str(CHECKOUT / "tests"))
    from support.platforms import limb, stewart

    report = Report("inverse_kinematics", "Inverse kinematics of closed chains", ("linkwork", "numpy", "scipy"))
    report.text(METHOD.format(rounds=options.rounds, poses=POSES))
    rows, goals = [], []
    for name, model, targets in (
        ("platform", lw.compile(stewart()), platform_targets()),
        ("platform with stops", lw.compile(stewart(limits=(-0.4, 0.4))), platform_targets()),
        ("limb", lw.compile(limb()), limb_targets(lw.compile(limb()))),
    ):
        for start in ("the pose before", "the assembled start"):
            times, ends = measured(model, targets, options.rounds, is_path=start == "the pose before")
            found = sum(end.found for end in ends)
            error = max(max(end.distance, end.violation) for end in ends)
            steps = float(np.median([end.steps for end in ends]))
            median, tail = (float(np.percentile(times, part)) for part in (50, 95))
            rows.append([name, start, f"{found} of {POSES}", median, tail, steps, f"{error:.1e}"])
            goals += [
                Goal(f"{name} from {start}: poses not found", float(POSES - found), 0.0),
                Goal(f"{name} from {start}: median ms", median, TIME_AIM),
                Goal(f"{name} from {start}: error, m", error, ERROR_AIM),
            ]
    report.table(["mechanism", "start", "found", "median ms", "95 % ms", "steps, median", "error"], rows)
    report.goals(goals)
    report.save()


def platform_targets() -> dict[str, np.ndarray]:
    """Return positions and orientations."""
    from scipy.spatial.transform import Rotation

    from support.platforms import HEIGHT

    rng = np.random.default_rng(0)
    positions = np.array([0, 0, HEIGHT]) + rng.uniform(-0.15, 0.15, (POSES, 3))
    turns = Rotation.from_rotvec(rng.uniform(-0.5, 0.5, (POSES, 3)))
    return {"platform.r": positions, "platform.Q": turns.as_quat(scalar_first=True)}


def limb_targets(model: lw.Model) -> dict[str, np.ndarray]:
    """Return positions of the foot."""
    rng = np.random.default_rng(1)
    ranges = {"hip": (-0.6, 0.6), "front": (0.3, 1.4), "back": (1.7, 2.8)}
    poses = [model.assemble(q={name: rng.uniform(*ends) for name, ends in ranges.items()}) for _ in range(POSES)]
    return {"foot.r": np.array([pose["foot.r"] for pose in poses])}


def measured(
    model: lw.Model, targets: dict[str, np.ndarray], rounds: int, *, is_path: bool
) -> tuple[np.ndarray, list[Attempt]]:
    """Return CPU times (poses,), ms, and how the searches ended."""
    space = ConfigurationSpace(model)
    functions, values, _ = checked_targets(space, targets, "targets")
    solver, start = PoseSolver(space, functions, Limits.of(space, None)), space.q
    times = np.full(POSES, np.inf)
    for _ in range(rounds):
        q, ends = start, []
        for k in range(POSES):
            wanted = [value[k] for value in values]
            before = time.process_time_ns()
            ends.append(solver.solve(wanted, q))
            times[k] = min(times[k], (time.process_time_ns() - before) / 1e6)
            q = ends[-1].q if is_path else start
    return times, ends
