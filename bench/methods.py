"""Linkwork's methods beside each other on the ladder, and the three reference points on the quarter car."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

import linkwork as lw
from bench import exact, quarter_car
from bench.contest import Found, judged
from bench.core import Motion, run_driver
from bench.mechanisms import Scene
from bench.report import Cell, Report
from bench.session import Session
from bench.timing import Contestant, Timing, difference, exponents, intervals

SIZES = (1, 3, 10, 30, 100)
METHODS = {"rcr": {"method": "rcr"}, "multipliers": {"method": "multipliers", "reference": "origin"}}
REFERENCES = ("joint", "centroid", "origin")  # the first is what the others are compared with

Made = tuple[lw.System, Motion]


def on_ladders(session: Session, report: Report) -> None:
    """Times and errors by method, and how the times grow."""
    found = {loops: _on_ladder(session, loops) for loops in SIZES}
    report.text("## Methods\n\nLinkwork's methods on the ladder with all legs in the tree.")
    rows = [[str(loops), *(_shown(at.get(name)) for name in METHODS)] for loops, at in found.items()]
    report.table(["loops", *METHODS], rows)
    report.text("Exponents of time over number of loops, between neighbouring sizes.")
    times = {name: {n: at[name].us if name in at else None for n, at in found.items()} for name in METHODS}
    report.table(["method", *intervals(SIZES)], [[name, *exponents(by_size)] for name, by_size in times.items()])


def on_the_quarter_car(session: Session, report: Report) -> None:
    """Times by method and reference point, and their ratio to the first of these."""
    car = session.attempt("quarter car", lambda: quarter_car.mechanism(session.peers_folder.parent / "cases"))
    if car is None:
        return
    rows: list[list[Cell]] = []
    for method in METHODS:
        makers = {point: partial(_in_motion, car, method, point) for point in REFERENCES}
        best = _take_turns(session, makers, f"quarter car by {method}")
        rows += [_reference_row(method, point, best) for point in best]
    report.text(
        f"The quarter car ({len(car.bodies)} bodies and the chassis, three loops) about different reference points; "
        f"ratio of time and difference of accelerations to those about the {REFERENCES[0]}s."
    )
    report.table(["method", "reference", "accelerations", "ratio", "difference"], rows)


def _on_ladder(session: Session, loops: int) -> dict[str, Found]:
    neutral = session.peers.ladder(loops)
    makers = {name: partial(_ladder, neutral, choices) for name, choices in METHODS.items()}
    best = _take_turns(session, makers, "ladder by")
    truth = exact.accelerations(neutral)
    return {name: judged(timing, truth) for name, timing in best.items()}


def _ladder(neutral: dict[str, Any], choices: dict[str, str]) -> Made:
    scene = Scene.of(neutral, neutral["name"], "spherical", **choices)
    return scene.system, scene.motion


def _in_motion(car: lw.Mechanism, method: str, reference: str) -> Made:
    system = lw.compile(car, method=method, reference=reference)
    state = system.assemble(u=quarter_car.SPEED)
    return system, (state.q, state.u, np.zeros(system.numbering.nu_all))


def _take_turns(session: Session, makers: Mapping[str, Callable[[], Made]], what: str) -> dict[str, Timing]:
    """Time the accelerations of what can be made, by name."""
    contestants: list[Contestant] = []
    for name, make in makers.items():
        made = session.attempt(f"{what} {name}", make)
        if made is not None:
            contestants.append(partial(_accelerations, session, name, *made))
    return session.take_turns(contestants, what)


def _accelerations(session: Session, name: str, system: lw.System, motion: Motion) -> dict[str, Timing]:
    return {name: run_driver(session.driver, system, motion).timings["accelerations"]}


def _reference_row(method: str, point: str, best: dict[str, Timing]) -> list[Cell]:
    here, first = best[point], best.get(REFERENCES[0])
    if first is None:
        return [method, point, here.us, None, None]
    return [method, point, here.us, here.us / first.us, f"{difference(here.udot, first.udot):.0e}"]


def _shown(found: Found | None) -> str | None:
    return str(found) if found else None
