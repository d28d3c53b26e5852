"""Linkwork alone on ladders larger than its peers can take: time, growth, error and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from bench import exact
from bench.contest import Family, Found, Outcome, Variant, judged
from bench.core import run_driver, time_core
from bench.mechanisms import CHECKOUT, Missing, Scene
from bench.report import Cell, Goal, Report
from bench.session import Session
from bench.timing import exponents

SIZES = (1000, 3000, 10000)
ENDS = (10, 10000)  # between which the exponent is taken
EXPONENT_AIM = 1.05
ERROR_AIMS = {10: 1e-11, 100: 1e-11, 300: 1e-11, 1000: 1e-11, 10000: 1e-10}
WORK = """
import json, re, sys, time
from pathlib import Path
from bench.mechanisms import Scene, peer
peak = lambda: 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
peers = peer("peerlib", Path(sys.argv[1]))
imported, start = peak(), time.process_time()
scene = Scene.of(peers.ladder(int(sys.argv[2])), "ladder", "spherical")
seconds = time.process_time() - start
q, u, tau = scene.motion
scene.system.accelerations(q, u, tau=tau)
print(json.dumps([peak(), imported, seconds]))
"""


@dataclass(frozen=True)
class Memory:
    """Bytes with the largest ladder: the model, a state's block, the peaks of a process in C and of one in Python."""

    model: int
    block: int
    in_c: int
    in_python: int
    imported: int  # of the latter, before it starts
    seconds: float  # CPU time from the peers' description to the compiled system


def section(
    session: Session, report: Report, family: Family, smaller: Mapping[str, Mapping[int, Outcome]]
) -> list[Goal]:
    """Measure beyond the sizes that the peers had as well, and add the tables."""
    goals: list[Goal] = []
    rows: list[list[Cell]] = []
    for name, variant in family.variants.items():
        found = {n: outcome.own.get("accelerations") for n, outcome in smaller[name].items()}
        found |= grow(session, variant)
        rows += [[name, str(n), at.us, at.us / n, f"{at.error:.0e}"] for n, at in found.items() if at]
        for n, aim in ERROR_AIMS.items():
            goals.append(Goal(f"ladder, {name}, {n}: error", at.error if (at := found[n]) else None, aim))
        exponent = exponents({n: at.us if (at := found[n]) else None for n in ENDS})[0]
        goals.append(Goal(f"ladder, {name}: exponent from {ENDS[0]} to {ENDS[1]}", exponent, EXPONENT_AIM))
    report.text("Linkwork alone, on larger ladders too.")
    report.table(["variant", "loops", "accelerations", "per loop", "error"], rows)
    if measured := session.attempt("memory of the largest ladder", partial(memory, session, family.variants["legs"])):
        _add_memory(report, measured)
    return goals


def grow(session: Session, variant: Variant) -> dict[int, Found | None]:
    """Accelerations at each of the sizes, up to the first that is refused."""
    outcomes: dict[int, Found | None] = dict.fromkeys(SIZES)
    for loops in SIZES:
        neutral = variant.make(loops)
        name = neutral["name"]
        scene = session.attempt(f"Linkwork on {name}", partial(Scene.of, neutral, name, variant.pins))
        if scene is None:
            break
        best = session.take_turns([partial(time_core, session.driver, scene)], f"Linkwork on {name}")
        if not best:
            break
        outcomes[loops] = judged(best["accelerations"], exact.accelerations(neutral))
    return outcomes


def memory(session: Session, variant: Variant) -> Memory:
    """Measure with the largest of the sizes."""
    neutral = variant.make(SIZES[-1])
    scene = Scene.of(neutral, neutral["name"], variant.pins)
    run = run_driver(session.driver, scene.system, scene.motion)
    command = [sys.executable, "-c", WORK, str(session.peers_folder), str(SIZES[-1])]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"a process in Python fails: {(done.stderr.strip().splitlines() or ['killed'])[-1]}")
    peak, imported, seconds = json.loads(done.stdout)
    return Memory(len(scene.system.model_bytes), run.block, run.peak, peak, imported, seconds)


def _add_memory(report: Report, found: Memory) -> None:
    report.text(
        f"Memory with {SIZES[-1]} loops, all legs in the tree. Describing and compiling take {found.seconds:.1f} s."
    )
    in_bytes = {
        "serialised model": found.model,
        "block of a state": found.block,
        "process in C that loads the model and computes, at its peak": found.in_c,
        "process in Python that describes, compiles and computes, at its peak": found.in_python,
        "the latter when all is imported": found.imported,
    }
    report.table(["what", "MB"], [[what, number / 1e6] for what, number in in_bytes.items()])
