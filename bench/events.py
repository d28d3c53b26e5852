"""Cost of a sample of a digital controller beyond its law, of a bounce, and of limits that are not reached."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import linkwork as lw
from bench.many_states import robots
from bench.mechanisms import example
from bench.report import Cell, Goal, Report
from bench.state_loads import arm, fastest

AIM = 10.0  # us, of a sample beyond the law, and of a bounce
PERIOD, SAMPLES, BOUNCES = 1e-3, 2000, 1000
FAR = 50.0  # rad, of limits that are not reached
LARGEST_RATIO = 1.25  # of a run with limits that are not reached to one without


class Plant(NamedTuple):
    """A mechanism, and the joint on which a controller acts."""

    name: str
    mechanism: lw.Mechanism
    joint: str

    def law(self, t: float, state: Any) -> dict[str, float]:
        """Return the load of a sample."""
        return {self.joint: -0.1 * state[f"{self.joint}.q"] - 0.02 * state[f"{self.joint}.u"]}

    def run(self, model: lw.Model, samples: int) -> lw.Result:
        """Run so many samples."""
        return lw.simulate(model, samples * PERIOD, controller=self.law, sample_time=PERIOD, progress=False)


def plants() -> Iterator[Plant]:
    """A rod, a four-bar and a gripper."""
    yield Plant("rod on a hinge", arm(), "A")
    four_bar = example("four_bar").mechanism()
    yield Plant("four-bar", four_bar, next(iter(four_bar.joints)))
    name, model = next(iter(robots()))
    driver = next(joint for joint in model.mechanism.joints if "right_driver_joint" in joint)
    yield Plant(name, model.mechanism, driver)


def limited(mechanism: lw.Mechanism) -> lw.Mechanism:
    """Return the mechanism with stops on its hinges, cut ones too, that are never reached."""
    mech = lw.Mechanism.from_dict(mechanism.to_dict())
    for name, joint in mech.joints.items():
        if isinstance(joint.kind, lw.Revolute):
            mech.add_transition(f"{name}_far", lw.Stop(name, lower=-FAR, upper=FAR))
    return mech


def cost_of_samples(plant: Plant, rounds: int) -> tuple[float, float]:
    """Return CPU times of a sample with its step, and of the law alone, us; compiled tapes are ready."""
    model = lw.compile(plant.mechanism)
    for _ in range(10):
        plant.run(model, SAMPLES)
    model.rates_of_runs.wait()
    times = [fastest(partial(plant.run, model, n), rounds)[0] for n in (SAMPLES, 3 * SAMPLES)]
    state = {f"{plant.joint}.q": 0.1, f"{plant.joint}.u": 0.2}
    own = fastest(lambda: [plant.law(0.0, state) for _ in range(SAMPLES)], rounds)[0]
    return 1e6 * (times[1] - times[0]) / (2 * SAMPLES), 1e6 * own / SAMPLES


def ball() -> lw.Mechanism:
    """A ball that bounces without a loss: three steps a flight."""
    mech = lw.Mechanism("ball")
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("z", lw.Prismatic((0, 0, 1)), "ground", "ball", at=(0, 0, 0))
    mech.add_transition("floor", lw.Stop("z", lower=0.0, restitution=1.0))
    mech.start(q={"z": 0.1}, u={"z": 0.0})
    return mech


def cost_of_bounces(rounds: int) -> tuple[float, float]:
    """Return the CPU times of a bounce with its flight, and of reading its event, us."""
    model, flight = lw.compile(ball()), 2.0 * np.sqrt(2.0 * 0.1 / 9.81)

    def run(count: int, reads: bool) -> int:
        result = lw.simulate(model, count * flight, max_events=None, progress=False)
        return len(result.events) if reads else result.statistics.events

    costs = []
    for reads in (False, True):
        (less, few), (more, many) = (fastest(partial(run, n, reads), rounds) for n in (BOUNCES, 3 * BOUNCES))
        costs.append(1e6 * (more - less) / (many - few))
    return costs[0], costs[1] - costs[0]


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    report = Report("events", "Samples, bounces, and limits that are not reached", ("linkwork", "numpy"))
    rounds = 2 * options.rounds
    rows: list[list[Cell]] = []
    goals = []
    for plant in plants():
        (cost, own), (far, _) = (
            cost_of_samples(plant._replace(mechanism=mech), rounds)
            for mech in (plant.mechanism, limited(plant.mechanism))
        )
        rows.append([plant.name, cost, own, cost - own, far, far / cost])
        goals.append(Goal(f"a sample of the {plant.name} beyond the law, us", cost - own, AIM))
        goals.append(Goal(f"{plant.name}: with limits to without", far / cost, LARGEST_RATIO))
    report.text(
        f"Samples of {PERIOD:g} s, each with a step of the solver and its seven evaluations; CPU time of a sample, "
        f"best of {rounds}, us. Limits: stops on all hinges, which are not reached."
    )
    report.table(["mechanism", "sample", "law", "beyond the law", "with limits", "ratio"], rows)
    bounce, reading = cost_of_bounces(rounds)
    report.text(
        f"A ball that bounces without a loss: {bounce:.3g} us for a bounce with the three steps of its flight, and "
        f"{reading:.2g} us to read its event in the result."
    )
    report.goals([*goals, Goal("a bounce with its flight, us", bounce, AIM)])
    report.save()
