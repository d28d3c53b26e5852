"""Motions at constant angular speed, where steps may have any length, with events at known times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import linkwork as lw

Z = (0, 0, 1)
KINDS = (
    *("drive", "function", "accelerated", "spin", "counter", "chain", "free", "spherical", "stop", "event"),
    *("rate", "speed"),
)
LONG_STEPS = {"free": 100.0, "spherical": 100.0, "speed": 500.0}  # revolutions; the steps of these take long


@dataclass
class Turning:
    """A mechanism, the arguments of its run, and how many events are right."""

    kind: str
    mechanism: lw.Mechanism
    t_end: float
    expected: int
    arguments: dict = field(default_factory=dict)

    def found(self, solver: str) -> int:
        return len(lw.simulate(self.mechanism, self.t_end, solver=solver, **self.arguments).events)

    def missed(self, solver: str) -> str | None:
        found = self.found(solver)
        return None if found == self.expected else f"{solver}: {found} of {self.expected}, {self}"


def rotor(joint: lw.mechanism.joints.Joint, *others: str) -> lw.Mechanism:
    """Return a rotor in a joint A, a lamp that a pass of the rotor locks, and other bodies, without gravity."""
    mech = lw.Mechanism("rotor", gravity=(0, 0, 0))
    for name in ("rotor", "lamp", *others):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_joint("lamp", lw.Revolute(Z), "ground", "lamp", at=(0, 0, 0))
    mech.add_joint("A", joint, "ground", "rotor", at=(0, 0, 0))
    return mech


def random_turning(rng: np.random.Generator, kind: str, most_turns: float = 30.0) -> Turning:
    """Return one of 0.1 to 1000 revolutions a second, over one to `most_turns` of them."""
    while True:
        turns = min(most_turns, LONG_STEPS.get(kind, most_turns)) ** rng.uniform()
        rate = 10.0 ** rng.uniform(-1.0, 3.0)
        q0, w = rng.uniform(-3.0, 3.0), 2.0 * np.pi * rate
        make = MAKERS.get(kind, _pass)
        made = make(rng, kind, q0, w, turns / rate)
        if made is not None:
            return made


def _count(from_: float, to: float) -> int | None:
    """Return how many whole numbers are between; None where one is too near to an end to be counted."""
    near = any(abs(end - round(end)) < 1e-4 for end in (from_, to))
    return None if near else int(np.floor(to) - np.floor(from_))


def _of_coordinate(rng: np.random.Generator, kind: str, q0: float, w: float, t_end: float) -> Turning | None:
    mech = rotor(lw.Revolute(Z))
    mech.start(q={"A": q0}, u={"A": w})
    if kind == "stop":
        upper, lower = q0 + 10.0 ** rng.uniform(-1.0, 2.0), q0 - 10.0 ** rng.uniform(-1.0, 2.0)
        mech.add_transition("stop", lw.Stop("A", lower=lower, upper=upper, restitution=1.0))
        expected = _count((q0 - lower) / (upper - lower), (q0 + w * t_end - lower) / (upper - lower))
        return None if expected is None else Turning(kind, mech, t_end, expected)
    times, phase = int(rng.integers(1, 4)), rng.uniform(0.0, 6.0)
    expected = _count(*((times * q - phase) / (2.0 * np.pi) for q in (q0, q0 + w * t_end)))
    event = lw.EventFunction(lambda t, state: np.sin(times * state["A.q"] - phase), direction=+1, name="turn")
    return None if expected is None else Turning(kind, mech, t_end, expected, {"events": [event]})


def _moving(rng: np.random.Generator, kind: str, q0: float, w: float, t_end: float) -> tuple:
    """Return the mechanism, the angle at a time, what the points are of, and the arguments of the run."""
    arguments: dict = {}
    angle: Callable[[float], float] = lambda t: q0 + w * t  # noqa: E731
    joints = {"free": lw.Free(), "spherical": lw.Spherical()}
    mech, bodies = (
        rotor(joints.get(kind, lw.Revolute(Z)), *{"counter": ["other"], "chain": ["tip"]}.get(kind, [])),
        ("rotor", "ground"),
    )
    if kind == "drive":
        mech.prescribe("A", lw.Motion((q0, w)))
    elif kind == "function":
        mech.prescribe("A", lw.Motion(), name="drive")
        arguments["inputs"] = {"drive": lambda t: (q0 + w * t, w, 0.0)}
    elif kind == "accelerated":
        mech.prescribe("A", lw.Motion((q0, 0.0, w / t_end)))
        angle = lambda t: q0 + w / t_end * t**2  # noqa: E731
    elif kind == "spin":
        mech.start(q={"A": q0}, u={"A": w})
    elif kind in ("free", "spherical"):
        mech.start(u={"A": [0, 0, w, 0, 0, 0][: 6 if kind == "free" else 3]})
        angle = lambda t: w * t  # noqa: E731
    else:
        other = rng.uniform(-1.0, 1.0) * w
        in_chain = kind == "chain"
        child, bodies = ("tip", ("tip", "ground")) if in_chain else ("other", ("rotor", "other"))
        mech.add_joint("B", lw.Revolute(Z), "rotor" if in_chain else "ground", child, at=(0, 0, 0))
        mech.start(q={"A": q0}, u={"A": w, "B": other if in_chain else -abs(other)})
        angle = lambda t: q0 + (w + (other if in_chain else abs(other))) * t  # noqa: E731
    return mech, angle, bodies, arguments


def _of_rate(rng: np.random.Generator, kind: str, q0: float, w: float, t_end: float) -> Turning | None:
    """Return passes of a point of the rotor by the nearest place to another one, where the distance begins to rise."""
    mech, angle, bodies, _ = _moving(rng, "spin", q0, w, t_end)
    expected = _count(*(angle(t) / (2.0 * np.pi) for t in (0.0, t_end)))
    distance = lw.PointDistance(bodies, ((0.1, 0, 0), (rng.uniform(0.01, 0.5), 0, 0.02)), rate=True)
    mech.add_transition("nearest", lw.Lock("lamp"), when=lw.Crossing(distance, 0.0, direction=+1))
    return None if expected is None else Turning(kind, mech, t_end, expected)


def turning_slider_crank(rod: float, cut: str, q0: float, w: float, crank: float = 0.1) -> lw.Mechanism:
    """Return one with its crank at constant speed, and an event where the slider begins to go out: angles of pi."""
    mech = rotor(lw.Revolute(Z), "rod", "slider")
    for name, joint, parent, child, along in (
        ("B", lw.Revolute(Z), "rotor", "rod", crank),
        ("C", lw.Revolute(Z), "rod", "slider", rod),
        ("D", lw.Prismatic((1, 0, 0)), "ground", "slider", 0.0),
    ):
        mech.add_joint(name, joint, parent, child, parent_frame=lw.Frame((along, 0, 0)), cut=name == cut)
    mech.prescribe("A", lw.Motion((q0, w)))
    mech.start(q={"D": crank * np.cos(q0) + np.sqrt(rod**2 - (crank * np.sin(q0)) ** 2)})
    mech.add_transition("dead_point", lw.Lock("lamp"), when=lw.Crossing("D.u", 0.0, direction=+1))
    return mech


def _of_speed(rng: np.random.Generator, kind: str, q0: float, w: float, t_end: float) -> Turning | None:
    mech = turning_slider_crank(rng.uniform(0.15, 0.5), str(rng.choice([*"BD"])), q0, w)
    expected = _count(*((angle - np.pi) / (2.0 * np.pi) for angle in (q0, q0 + w * t_end)))
    return None if expected is None else Turning(kind, mech, t_end, expected)


def _pass(rng: np.random.Generator, kind: str, q0: float, w: float, t_end: float) -> Turning | None:
    """Return passes of a point of the rotor by another one, closer than a distance."""
    mech, angle, bodies, arguments = _moving(rng, kind, q0, w, t_end)
    radius = 10.0 ** rng.uniform(-1.5, 0.5)
    other, above = radius * rng.choice([1.0, rng.uniform(0.3, 3.0)]), radius * rng.choice([0.0, rng.uniform(0.0, 0.2)])
    nearest, farthest = np.hypot(radius - other, above), np.hypot(radius + other, above)
    value = nearest + (farthest - nearest) * 10.0 ** rng.uniform(-3.0, -0.5)
    half = np.arccos((radius**2 + other**2 + above**2 - value**2) / (2.0 * radius * other))
    expected = _count(*((angle(t) + half) / (2.0 * np.pi) for t in (0.0, t_end)))
    distance = lw.PointDistance(bodies, points=((radius, 0, 0), (other, 0, above)))
    mech.add_transition("pass", lw.Lock("lamp"), when=lw.Crossing(distance, value, direction=-1))
    return None if expected is None else Turning(kind, mech, t_end, expected, arguments)


MAKERS = {"stop": _of_coordinate, "event": _of_coordinate, "rate": _of_rate, "speed": _of_speed}
