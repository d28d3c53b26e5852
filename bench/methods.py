"""Linkwork's methods compared on the ladder, and the three reference points on the quarter car."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import linkwork as lw
from bench import exact, quarter_car
from bench.contest import Found, judged
from bench.core import Motion, run_driver
from bench.mechanisms import Scene, example
from bench.report import Cell, Report
from bench.session import Session
from bench.timing import Contestant, Timing, difference, exponents, intervals

SIZES = (1, 3, 10, 30, 100)
METHODS = {name: {"method": name} for name in ("rcr", "embedding", "multipliers")}
REFERENCES = ("joint", "centroid", "origin")
ON_THE_CAR = {name: choices for name, choices in METHODS.items() if name != "multipliers"} | {
    f"multipliers, {point}": {"method": "multipliers", "reference": point} for point in REFERENCES
}
OTHERS_TO = "multipliers, centroid"

Made = tuple[lw.Model, Motion]


def on_ladders(session: Session, report: Report) -> None:
    """Times and errors by method, and how the times grow."""
    found = {loops: _on_ladder(session, loops) for loops in SIZES}
    report.text("## Methods\n\nLinkwork's methods on the ladder with all legs in the tree.")
    rows = [[str(loops), *(_shown(at.get(name)) for name in METHODS)] for loops, at in found.items()]
    report.table(["loops", *METHODS], rows)
    report.text("Exponents of time over number of loops, between neighbouring sizes.")
    times = {name: {n: at[name].us if name in at else None for n, at in found.items()} for name in METHODS}
    report.table(["method", *intervals(SIZES)], [[name, *exponents(by_size)] for name, by_size in times.items()])


def on_hooke_ladders(session: Session, report: Report) -> None:
    """The spatial ladder of the examples, its loops cut at the rungs' hinges or at the legs' Hooke joints."""
    report.text(
        "## Hooke joints\n\nThe ladder of `examples/spatial_ladder.py`, two degrees of freedom: accelerations in us by "
        "recursive coordinate reduction, its loops cut at the rungs' hinges or at the Hooke joints of the legs, which "
        "makes the tree as deep as there are bodies. *difference*: of the accelerations of the joints in both trees."
    )
    found = {cells: _on_hooke_ladder(session, cells) for cells in SIZES}
    rows: list[list[Cell]] = [
        [str(n), at["hinges"].us, at["Hooke joints"].us, f"{_apart(at):.0e}"] for n, at in found.items()
    ]
    report.table(["cells", "cut at hinges", "cut at Hooke joints", "difference"], rows)
    report.text("Exponents of time over number of cells, between neighbouring sizes.")
    times = {name: {n: at[name].us for n, at in found.items()} for name in ("hinges", "Hooke joints")}
    report.table(["cut at", *intervals(SIZES)], [[name, *exponents(by_size)] for name, by_size in times.items()])


def _on_hooke_ladder(session: Session, cells: int) -> dict[str, Timing]:
    mechanism = example("spatial_ladder").mechanism
    hinges, hooke = mechanism(cells), mechanism(cells)
    for name, joint in hooke.joints.items():
        hooke.joints[name] = replace(joint, cut=name.startswith("H") and name != "H0")
    made = {"hinges": hinges, "Hooke joints": hooke}
    return _take_turns(session, {name: partial(_at_start, mech) for name, mech in made.items()}, "Hooke ladder by")


def _at_start(mech: lw.Mechanism) -> Made:
    system = lw.compile(mech, method="rcr")
    state = system.assemble()
    return system, (state.q, state.u, np.zeros(system.numbering.nu_all))


def _apart(at: Mapping[str, Timing]) -> float:
    """The root's Hooke joint has the first two speeds in either tree."""
    return difference(at["hinges"].udot[:2], at["Hooke joints"].udot[:2])


def on_the_quarter_car(session: Session, report: Report) -> None:
    """Times by method and reference point, and their ratio to those about the centroids."""
    car = session.attempt("quarter car", lambda: quarter_car.mechanism(session.peers_folder.parent / "cases"))
    if car is None:
        return
    makers = {name: partial(_in_motion, car, choices) for name, choices in ON_THE_CAR.items()}
    best = _take_turns(session, makers, "quarter car by")
    report.text(
        f"The quarter car ({len(car.bodies)} bodies and the chassis, three loops), multipliers about different "
        f"reference points too; ratio of time and difference of accelerations to those by {OTHERS_TO}."
    )
    rows = [_row_of(name, best) for name in best]
    report.table(["method", "accelerations", "ratio", "difference"], rows)


def _on_ladder(session: Session, loops: int) -> dict[str, Found]:
    neutral = session.peers.ladder(loops)
    makers = {name: partial(_ladder, neutral, choices) for name, choices in METHODS.items()}
    best = _take_turns(session, makers, "ladder by")
    truth = exact.accelerations(neutral)
    return {name: judged(timing, truth) for name, timing in best.items()}


def _ladder(neutral: dict[str, Any], choices: dict[str, str]) -> Made:
    scene = Scene.of(neutral, neutral["name"], "spherical", **choices)
    return scene.system, scene.motion


def _in_motion(car: lw.Mechanism, choices: dict[str, str]) -> Made:
    system = lw.compile(car, **choices)
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


def _accelerations(session: Session, name: str, system: lw.Model, motion: Motion) -> dict[str, Timing]:
    return {name: run_driver(session.driver, system, motion).timings["accelerations"]}


def _row_of(name: str, best: dict[str, Timing]) -> list[Cell]:
    here, other = best[name], best.get(OTHERS_TO)
    if other is None:
        return [name, here.us, None, None]
    return [name, here.us, here.us / other.us, f"{difference(here.udot, other.udot):.0e}"]


def _shown(found: Found | None) -> str | None:
    return str(found) if found else None
