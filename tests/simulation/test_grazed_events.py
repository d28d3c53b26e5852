"""Stops and values that are passed and passed back within one step, with every solver, against closed forms."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.solvers import solve
from support.grazed import MULTISTEP, Graze, random_graze
from support.problems import SOLVERS, clock, every_solver


def missed(graze: Graze, solver: str, **options: float) -> str | None:
    """Run to some time after the highest point; return what is wrong."""
    rtol = graze.tolerance(solver)
    end = graze.turn * 1.4
    result = lw.simulate(graze.mechanism(), end, solver=solver, rtol=rtol, atol=rtol * graze.height, **options)
    scale = graze.rate or graze.gravity * graze.turn / graze.height
    # the time of an event depends on the height by a square root
    error = (np.sqrt(300.0 * rtol) if graze.rate or solver in MULTISTEP else 1e-6) / scale
    if not result.events:
        return f"{solver} misses {graze}"
    if abs(result.events[0].t - graze.time) > error + 1e-6 * graze.turn:
        return f"{solver} finds {graze} at {result.events[0].t}, not {graze.time}"
    if result["z.u" if graze.of_speed else "z.q"].max() > graze.bound + 1e-10 * graze.height:
        return f"{solver} passes the bound of {graze}"
    return None


@every_solver
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_none_is_missed(solver: str, part: int) -> None:
    rng = np.random.default_rng(1000 * part + SOLVERS.index(solver))
    runs = 150 if part else 12
    least = 1e-6 if solver == "RK23" else 1e-8  # its steps are too many at smaller tolerances
    found = [missed(random_graze(rng, least=least), solver, **some_steps(rng, solver)) for _ in range(runs)]
    assert not any(found), "\n".join(filter(None, found))


def some_steps(rng: np.random.Generator, solver: str) -> dict[str, float]:
    """Return limits of steps: none, or steps that begin long, of which multistep methods do not recover."""
    return {} if solver in MULTISTEP or rng.random() < 0.5 else {"first_step": 10.0 ** rng.uniform(-3.0, 0.0)}


@every_solver
@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-8])
def test_the_dead_point_of_a_slider_crank(solver: str, gap: float) -> None:
    """The slider's coordinate is a cut joint's, farthest where crank and rod are in line."""
    crank, rod, speed = 0.3, 0.8, 2.0
    mech = lw.Mechanism("slider_crank", gravity=(0, 0, 0))
    mech.add_body("crank", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.box(20.0, (1, 1, 1)))
    mech.add_body("rod", mass=0.1, com=(rod / 2, 0, 0), inertia=lw.inertia.rod(0.1, rod, axis="x"))
    mech.add_body("slider", mass=0.1, com=(0, 0, 0), inertia=lw.inertia.sphere(0.1, 0.05))
    for name, kind, parent, child, along in (
        ("A", lw.Revolute((0, 0, 1)), "ground", "crank", 0.0),
        ("B", lw.Revolute((0, 0, 1)), "crank", "rod", crank),
        ("C", lw.Revolute((0, 0, 1)), "rod", "slider", rod),
        ("D", lw.Prismatic((1, 0, 0)), "ground", "slider", 0.0),
    ):
        frames = {"parent_frame": lw.Frame((along, 0, 0)), "child_frame": lw.Frame((0, 0, 0))}
        mech.add_joint(name, kind, parent, child, **frames, cut=name == "D")
    mech.start(q={"A": -0.8}, u={"A": speed})
    mech.add_transition("latch", lw.Lock("A"), when=lw.Crossing("D.q", (crank + rod) * (1.0 - gap)))
    result = lw.simulate(mech, 0.8, solver=solver, rtol=max(1e-3 * gap, 1e-11))
    (event,) = result.events
    assert -np.sqrt(20.0 * gap) < result["A.q"][-1] < 0.0
    assert event.t < 0.8


@every_solver
@pytest.mark.parametrize("stop", [False, True])
def test_the_bound_that_the_docs_give(solver: str, stop: bool) -> None:
    """Steps of nine tenths of the indicator's period, at any place in the step and any depth; flat before."""
    rng = np.random.default_rng(SOLVERS.index(solver))
    for _ in range(20):
        rate, depth = 10.0 ** rng.uniform(-1.0, 2.0), 10.0 ** rng.uniform(-8.0, -2.0)
        step = 0.9 * 2.0 * math.pi / rate
        turn = (2.0 + rng.uniform()) * step

        def gap(t: float, y: np.ndarray, w: float = rate, d: float = depth, at: float = turn) -> float:
            phase = max(w * (t - at), -math.pi)
            value, speed = 1.0 - d - math.cos(phase), w * math.sin(phase)
            return max(value, speed) if stop else value  # the indicator of a stop has a kink

        solution = solve(clock([gap]), turn + 3.0 / rate, solver, first_step=step, max_step=step)
        assert solution.events, (rate, depth, turn / step)
        assert solution.events[0].t == pytest.approx(turn - math.acos(1.0 - depth) / rate, abs=1e-6 / rate)


@pytest.mark.parametrize("solver", ["dopri5", "DOP853"])
def test_no_more_samples_where_nothing_comes_near(solver: str) -> None:
    """A stop beyond the turning point costs four samples a step, as before the first one."""
    problem = clock([lambda t, y: 2.0 - math.cos(t), lambda t, y: 5.0 + math.sin(3.0 * t), lambda t, y: 9.0 - 0.5 * t])
    counts = solve(problem, 10.0, solver, max_step=0.2).statistics
    assert counts.event_evaluations <= 4 * counts.steps + 3
