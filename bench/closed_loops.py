"""Coupled closed loops: ladders and four-bars, Linkwork against every library of the peers' folder."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping

from bench import large, methods
from bench.contest import STAGES, Family, Outcome, families, fastest, hold
from bench.contestants import LOOP_PEERS
from bench.report import Cell, Goal, Report
from bench.session import Session
from bench.timing import exponents, intervals

COMPARED = {"ladder": (10, 100), "four-bars": (1,)}  # sizes at which derivatives are compared with accelerations
DERIVATIVES_AIM = 1.8
METHOD = """\
CPU time of one evaluation on one core in us, the best of 25 batches of 16 ms in each of {rounds} rounds in which all
took turns (two rounds where one takes longer than 10 ms). All get q, u and tau and give the accelerations of the tree
joints. In brackets the error, relative to the largest of all accelerations.
Every loop is closed by a pin (three equations), in Linkwork a spherical joint. *legs*: ladders with all legs in the
tree, cut at the far end of each rung; *deep*: one leg, rung, leg, rung, ..., cut at the top of each leg but the first.
*pins*: four-bars as the peers have them; *hinges*: the same with revolute joints only.
Errors are relative to the exact reduction to the known degrees of freedom, in extended precision. The peers' reference,
the same in double precision, is shown by its error in the column *exact_qdd*: it loses digits on deep trees.
Pinocchio: C++ from its headers, `-O3 -march=native`, the faster build of g++ and clang++; lcaba with one and with
three iterations; it cannot hold the ladder of 300 with all legs in the tree. MuJoCo: the faster of sparse and dense
Jacobian; loops as stiff as it allows.
Linkwork: as in the package, built for any processor of this kind, which chooses its kernels at run time.
*ratio*: to the fastest peer that is accurate enough; *to fastest*: to the fastest of all; both whichever way the peer
describes the mechanism."""

Outcomes = Mapping[str, Mapping[int, Outcome]]  # by variant and size


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    session = Session(options)
    report = Report(
        "closed_loops", "Closed loops: Linkwork and other libraries", ("linkwork", "pin", "mujoco", "numpy")
    )
    report.text(METHOD.format(rounds=session.rounds))
    goals: list[Goal] = []
    for family in families(session.peers):
        outcomes = {
            name: {loops: hold(session, variant, loops) for loops in family.sizes}
            for name, variant in family.variants.items()
        }
        goals += beside_peers(report, family, outcomes)
        goals += derivatives(report, family, outcomes)
        if family.name == "ladder":
            goals += large.section(session, report, family, outcomes)
    methods.on_ladders(session, report)
    methods.on_hooke_ladders(session, report)
    methods.on_the_quarter_car(session, report)
    report.goals(goals)
    report.text(session.gaps)
    report.save()


def beside_peers(report: Report, family: Family, outcomes: Outcomes) -> list[Goal]:
    """Times and errors of everyone, and how the times grow."""
    goals: list[Goal] = []
    rows: list[list[Cell]] = []
    for name, sizes in outcomes.items():
        for loops, outcome in sizes.items():
            sides = [others[loops] for others in outcomes.values()]
            own = outcome.own.get("accelerations")
            rivals = [fastest(sides, accuracy) for accuracy in (family.accuracy, math.inf)]
            ratios = [own.us / rival.us if own and rival else None for rival in rivals]
            everyone = [own, *(outcome.peers.get(who) for who in LOOP_PEERS)]
            times = [str(found) if found else None for found in everyone]
            rows.append([name, str(loops), *times, f"{outcome.exact_qdd:.0e}", *ratios])
            if loops in family.aimed:
                what = f"{family.name}, {name}, {loops}: time to the fastest peer"
                goals.append(Goal(f"{what} with an error up to {family.accuracy:.0e}", ratios[0], family.aim))
                goals.append(Goal(f"{what} of all", ratios[1], 1.0))
    report.text(f"## {family.name.capitalize()}\n\nAccurate enough: error up to {family.accuracy:.0e}.")
    report.table(["variant", "loops", "Linkwork", *LOOP_PEERS, "exact_qdd", "ratio", "to fastest"], rows)
    report.text("Exponents of time over number of loops, between neighbouring sizes.")
    report.table(["variant", "by", *intervals(family.sizes)], _growth(family, outcomes))
    return goals


def _growth(family: Family, outcomes: Outcomes) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for name, sizes in outcomes.items():
        for who in ("Linkwork", *LOOP_PEERS):
            found = {
                n: outcome.own.get("accelerations") if who == "Linkwork" else outcome.peers.get(who)
                for n, outcome in sizes.items()
            }
            rows.append([name, who, *exponents({n: at.us if at else None for n, at in found.items()})])
    return rows


def derivatives(report: Report, family: Family, outcomes: Outcomes) -> list[Goal]:
    """What the loops' feedback adds, which a solver needs."""
    goals: list[Goal] = []
    rows: list[list[Cell]] = []
    for name, sizes in outcomes.items():
        for loops in COMPARED[family.name]:
            own = sizes[loops].own
            ratio = own[STAGES[1]].us / own[STAGES[0]].us if own else None
            rows.append([name, str(loops), *(own[stage].us if own else None for stage in STAGES), ratio])
            what = f"{family.name}, {name}, {loops}: derivatives to accelerations"
            goals.append(Goal(what, ratio, DERIVATIVES_AIM))
    report.text("Derivatives of the states as a solver calls them, with the feedback of the loops, and accelerations.")
    report.table(["variant", "loops", *STAGES, "ratio"], rows)
    return goals
