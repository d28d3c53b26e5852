"""One evaluation of the derivatives through an FMU for Model Exchange, compared with the core alone."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np

import linkwork as lw
from bench.core import build_driver
from bench.fmi3 import Unpacked
from bench.mechanisms import Missing, mechanism, peer
from bench.report import Cell, Goal, Report

AIM = 1.1
BODIES = 12
PATIENCE = 60.0  # s


def section(report: Report, options: argparse.Namespace) -> list[Goal]:
    """Measure and add the table."""
    driver = build_driver("time_fmu")
    library, scripts = peer("peerlib", options.peers), peer("bench_fourbar", options.peers)
    rows: list[list[Cell]] = []
    goals: list[Goal] = []
    for name, describe in mechanisms(library, scripts).items():
        best = time_fmu(driver, describe(), options.rounds)
        ratio = best["fmu"] / best["core"]
        rows.append(
            [name, best["core"], best["fmu"], 1e3 * (best["fmu"] - best["core"]), ratio, f"{best['difference']:.0e}"]
        )
        goals.append(Goal(f"Model Exchange, {name}: time of the derivatives to the core's", ratio, AIM))
    report.text(
        "## Model Exchange\n\nSetTime, SetContinuousStates and GetContinuousStateDerivatives, and `lw_ode_mechanism` "
        "of the core alone, by `bench/time_fmu.c`; each evaluation at other states and another time than before."
    )
    report.table(["mechanism", "core [us]", "FMU [us]", "more [ns]", "ratio", "derivatives differ"], rows)
    return goals


def mechanisms(library: ModuleType, scripts: ModuleType) -> Mapping[str, Callable[[], lw.Mechanism]]:
    """The timed mechanisms by name: the first two as the peers describe them."""
    return {
        "four-bar": partial(started, scripts.mech()),
        f"chain of {BODIES}": partial(started, library.chain(BODIES)),
        "spatial 7R": spatial_ring,
    }


def started(neutral: dict) -> lw.Mechanism:
    """A neutral mechanism with its motion as start values."""
    described = mechanism(neutral)
    names = [f"j{i}" for i in range(len(neutral["joints"]))]
    for quantity, values in {"q": neutral["q"], "u": neutral["v"]}.items():
        described.start(**{quantity: dict(zip(names, map(float, values), strict=True))})
    return described


def spatial_ring(joints: int = 7) -> lw.Mechanism:
    """One loop of hinges in general position: no row is redundant, and with seven of them it moves."""
    rng = np.random.default_rng(7)
    turns = 2 * np.pi * np.arange(joints) / joints
    points = np.column_stack([np.cos(turns), np.sin(turns), rng.uniform(-0.4, 0.4, joints)])
    axes = rng.normal(size=(joints, 3))
    mech = lw.Mechanism("spatial_7R")
    links = ["ground", *(f"link{k}" for k in range(1, joints))]
    for k, name in enumerate(links[1:]):
        middle = (points[k] + points[k + 1]) / 2
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=lw.inertia.box(1.0, (0.1, 0.2, 0.9)), origin=middle)
    for k in range(joints):
        kind = lw.Revolute(axes[k])
        mech.add_joint(f"R{k}", kind, links[k], links[(k + 1) % joints], at=points[k], cut=k == joints - 1)
    mech.start(u={"R0": 0.5})
    return mech


def time_fmu(driver: Path, described: lw.Mechanism, rounds: int, native: bool = False) -> dict[str, float]:
    """Return the best times of several processes, us, and by how much the derivatives differ."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Unpacked(lw.export_fmu(described, Path(folder) / "timed.fmu", native=native), Path(folder))
        command = [driver, unpacked.library, unpacked.resources, unpacked.token]
        for _ in range(rounds):
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            if done.returncode:
                raise Missing(f"the timing driver fails: {done.stderr.strip() or done.returncode}")
            for name, number in map(str.split, done.stdout.splitlines()):
                best[name] = min(best.get(name, np.inf), float(number))
    return best
