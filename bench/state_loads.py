"""What a load in Python costs in each evaluation, and what a study saves over compiling each point."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import linkwork as lw
from bench.mechanisms import example
from bench.report import Goal, Report

AIM = 6e-6  # s, of a load of the state in a call, beyond the user's function
END, DAMPERS, EACH = 20.0, 60, 2.0


def arm() -> lw.Mechanism:
    """One rod on a hinge: the mechanics cost next to nothing."""
    mech = lw.Mechanism("arm")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    return mech


def pd(t: float, state: Any) -> float:
    """Return the load."""
    return -20.0 * (state["A.q"] - 0.5) - 3.0 * state["A.u"]


def fastest(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """Return the least CPU time, s, and the last answer."""
    best, answer = np.inf, None
    for _ in range(rounds):
        begin = time.process_time()
        answer = work()
        best = min(best, time.process_time() - begin)
    return best, answer


def cost_of(model: lw.Model, load: Any, rounds: int) -> float:
    """Return the CPU time of an evaluation within a run, s: the longer of two runs less the shorter."""
    times, counts = [], []
    for end in (END, 3 * END):
        spent, result = fastest(lambda end=end: lw.simulate(model, end, inputs={"A": load}, t_eval=[0.0, end]), rounds)
        times.append(spent)
        counts.append(result.statistics.evaluations)
    return (times[1] - times[0]) / (counts[1] - counts[0])


def own_cost(rounds: int) -> float:
    """Return the CPU time of the user's function alone, s."""
    state, count = {"A.q": 0.1, "A.u": 0.2}, 100_000
    return fastest(lambda: [pd(0.0, state) for _ in range(count)], rounds)[0] / count


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    report = Report("state_loads", "Loads in Python, and studies over parameters", ("linkwork", "numpy"))
    model, rounds = lw.compile(arm()), 2 * options.rounds
    constant, of_time = cost_of(model, 0.1, rounds), cost_of(model, lambda t: 0.1, rounds)
    of_state, own = cost_of(model, pd, rounds), own_cost(rounds)
    report.text(f"One rod, dopri5; CPU time of an evaluation within a run, best of {rounds}, us.")
    rows = [["a number", constant], ["a function of time", of_time], ["a function of time and state", of_state]]
    report.table(["load", "us"], [[name, 1e6 * cost] for name, cost in [*rows, ["the function alone", own]]])
    beyond = of_state - constant - own
    report.goals([Goal("a load of the state beyond the user's function, us", 1e6 * beyond, 1e6 * AIM)])
    mech = example("quarter_car").mechanism()
    values = np.linspace(500.0, 5000.0, DAMPERS)
    study, table = fastest(lambda: lw.study(lw.compile(mech), EACH, {"strut.damping": values}, workers=1), 3)
    names = table.values

    def compiled_each() -> list[lw.Result]:
        plain = mech.to_dict()
        results = []
        for value in values:
            plain["forces"][0]["damping"] = float(value)
            result = lw.simulate(lw.compile(lw.Mechanism.from_dict(plain)), EACH)
            _ = [result[name][-1] for name in names]
            results.append(result)
        return results

    each, results = fastest(compiled_each, 3)
    same = all(results[i][name][-1] == table[name][i] for i in range(DAMPERS) for name in names)
    report.text(
        f"The quarter car of the examples with {DAMPERS} dampers, {EACH:g} s each, in one process; CPU time of a "
        f"point, ms. The final values are {'the same to the bit' if same else 'not the same'}. A study shares its "
        "points among all cores; compiling each in a loop does not."
    )
    report.table(
        ["work", "ms"],
        [
            ["a point of a study", 1e3 * study / DAMPERS],
            ["compile, simulate, final values", 1e3 * each / DAMPERS],
        ],
    )
    report.save()
