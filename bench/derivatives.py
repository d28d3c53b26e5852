"""Matrices of the accelerations by coordinates, speeds and loads, against Pinocchio's analytic derivatives."""

from __future__ import annotations

import argparse
import os
import subprocess
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import linkwork as lw
from bench.contestants import COMPILERS
from bench.many_states import by_tapes
from bench.mechanisms import CHECKOUT, Missing, Scene
from bench.report import Cell, Goal, Report
from bench.session import Session
from bench.timing import Timing, difference
from linkwork.core.native import Stage, offsets_of

SOURCE = CHECKOUT / "bench" / "time_pinocchio_derivatives.cpp"
FLAGS = ("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w")
LIMITS = (  # of Boost, as Pinocchio's headers need them
    *("-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30"),
    *("-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"),
)
AIM = 1.5


def described(peers: ModuleType) -> dict[str, dict[str, Any]]:
    """Neutral descriptions by name."""
    chains = {f"chain of {n}": peers.chain(n) for n in (6, 30)}
    return chains | {"four-bar": peers.fourbars(1), "10 four-bars in series": peers.fourbars(10)}


def headers() -> Path:
    """Return the folder of Pinocchio's headers, which its wheel has."""
    import pinocchio

    for folder in Path(str(pinocchio.__file__)).parents:
        if (folder / "include" / "pinocchio").is_dir():
            return folder / "include"
    raise Missing("Pinocchio's headers are not installed")


def driver(compiler: str, has_loops: bool) -> Path:
    """Compile the driver, which is kept."""
    kind = "loops" if has_loops else "trees"
    built = CHECKOUT / "build" / "bench" / f"pinocchio_derivatives_{kind}_{compiler}"
    if built.exists() and built.stat().st_mtime > SOURCE.stat().st_mtime:
        return built
    built.parent.mkdir(parents=True, exist_ok=True)
    places = f"-I{headers()}", "-isystem", "/usr/include/eigen3"
    chosen = ("-DWITH_CONSTRAINTS",) if has_loops else ()
    command = [compiler, *FLAGS, *LIMITS, *chosen, *places, str(SOURCE), "-o", str(built)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"Pinocchio's derivatives do not build by {compiler}: {done.stderr.splitlines()[0]}")
    return built


def of_pinocchio(peers: ModuleType, neutral: dict[str, Any], compiler: str) -> dict[str, Timing]:
    """The time, and the matrices: by q, by v, by tau."""
    program = driver(compiler, bool(neutral["pins"]))
    done = subprocess.run([program], input=peers.pin_text(neutral), capture_output=True, text=True, env=os.environ)
    if done.returncode:
        raise Missing(f"Pinocchio's derivatives end with {done.returncode}")
    us, *numbers = map(float, done.stdout.split())
    n = len(neutral["q"])
    return {"Pinocchio": Timing(us, np.hstack(np.array(numbers).reshape(3, n, n)))}


def matrices(batch: lw.Batch, tau: np.ndarray) -> np.ndarray:
    """Derivatives of the accelerations of the tree joints by their coordinates, speeds and loads, of each row."""
    fields, n = batch.model.fields, batch.model.sizes.nu
    batch.tau[:, :n] = tau[:n]
    by = [offsets_of(slice(fields[name].first, fields[name].first + n)) for name in ("q", "u", "tau")]
    rates = offsets_of(slice(fields["acceleration"].first, fields["acceleration"].first + n))
    found = batch._numbers(rates, Stage.ACCELERATIONS, np.concatenate(by))
    return found.reshape(len(batch), n, 3 * n)


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    session = Session(options)
    report = Report("derivatives", "Derivatives of accelerations", ("linkwork", "numpy", "pin"))
    report.text(
        "CPU time of the matrices of one state, us, on one core: accelerations by coordinates, speeds and loads of the "
        f"tree joints, best of {session.rounds} rounds in turn. Pinocchio: `computeABADerivatives`, and of loops "
        "`constraintDynamics` with `computeConstraintDynamicsDerivatives`, the faster build of g++ and clang++. "
        "Linkwork: rows of a batch of 4096, by tapes that are interpreted, and compiled where they have at most 50 000 "
        "distinct operations. Difference: of the matrices of trees, relative to the largest number. Those of loops "
        "differ in directions that open them: Linkwork's have the feedback that closes the loops."
    )
    rows: list[list[Cell]] = []
    goals: list[Goal] = []
    for name, neutral in described(session.peers).items():
        scene = Scene.of(neutral, name, "revolute")
        q, u, tau = scene.motion
        contestants = [partial(of_pinocchio, session.peers, neutral, compiler) for compiler in COMPILERS]
        contestants += by_tapes(scene.system, q, u, partial(matrices, tau=tau), "batch")
        best = session.take_turns(contestants, name)
        own, compiled, pin = (best.get(one) for one in ("batch", "batch, compiled", "Pinocchio"))
        least = compiled or own
        gap = ratio = None
        if least and pin:
            ratio = least.us / pin.us
            gap = None if neutral["pins"] else difference(least.udot, pin.udot)
        rows.append([name, *(one and one.us for one in (pin, own, compiled)), ratio, gap])
        goals.append(Goal(f"{name}: to Pinocchio", ratio, AIM))
    report.table(["mechanism", "Pinocchio", "batch", "batch, compiled", "ratio", "difference"], rows)
    report.text(session.gaps)
    report.goals(goals)
    report.save()
