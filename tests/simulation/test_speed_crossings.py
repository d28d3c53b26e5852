"""Events where a speed of a joint, or the rate of a distance, crosses a value, against closed forms."""

import math

import numpy as np
import pytest

import linkwork as lw
from support.problems import every_solver
from support.turning import turning_slider_crank

X, Z = (1, 0, 0), (0, 0, 1)
G = 9.81


def thrown(speed: float = 5.0) -> lw.Mechanism:
    """A mass that rises along a vertical slide z from 0, and a lamp."""
    mech = lw.Mechanism("thrown", gravity=(0, 0, -G))
    for name in ("mass", "lamp"):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_joint("z", lw.Prismatic(Z), "ground", "mass", at=(0, 0, 0))
    mech.add_joint("lamp", lw.Revolute(Z), "ground", "lamp", at=(0, 0, 0))
    mech.start(u={"z": speed})
    return mech


def times(result: lw.Result, name: str) -> list[float]:
    return [event.t for event in result.events if name in event.transitions]


@every_solver
def test_a_mass_is_caught_where_it_turns(solver: str) -> None:
    mech = thrown()
    mech.add_transition("catch", lw.Lock("z"), when=lw.Crossing("z.u", 0.0, direction=-1))
    result = lw.simulate(mech, 1.0, solver=solver)
    assert times(result, "catch") == pytest.approx([5.0 / G], abs=1e-6)
    assert result["z.q"][-1] == pytest.approx(5.0**2 / (2.0 * G), abs=1e-6)
    assert result["z.u"][-1] == 0.0


@pytest.mark.parametrize(("direction", "expected"), [(+1, []), (-1, [3.0]), (0, [3.0])])
def test_directions(direction: int, expected: list[float]) -> None:
    mech = thrown()
    mech.add_transition("mark", lw.Lock("lamp"), when=lw.Crossing("z.u", 2.0, direction))
    assert times(lw.simulate(mech, 1.0), "mark") == pytest.approx([speed / G for speed in expected], abs=1e-12)


@every_solver
def test_impacts_cross_speeds(solver: str) -> None:
    """A rebound raises the speed through zero, gravity lowers it: each once a bounce."""
    mech = thrown(0.0)
    mech.start(q={"z": 1.0})
    mech.add_transition("floor", lw.Stop("z", lower=0.0, restitution=1.0))
    mech.add_transition("up", lw.Lock("lamp"), when=lw.Crossing("z.u", 0.0, direction=+1))
    mech.add_transition("down", lw.Unlock("lamp"), when=lw.Crossing("z.u", 0.0, direction=-1))
    result = lw.simulate(mech, 3.0, solver=solver, rtol=1e-8)
    fall = math.sqrt(2.0 / G)
    assert times(result, "up") == pytest.approx([fall, 3 * fall, 5 * fall], abs=1e-5)
    assert times(result, "up") == times(result, "floor")
    assert times(result, "down") == pytest.approx([2 * fall, 4 * fall, 6 * fall], abs=1e-5)


@pytest.mark.parametrize("start", [2.0, 2.0 + 1e-15])
def test_a_start_at_the_value_is_no_crossing(start: float) -> None:
    """Rounding neither: the acceleration says on which side the speed begins."""
    mech = thrown(start)
    mech.add_transition("mark", lw.Lock("lamp"), when=lw.Crossing("z.u", 2.0, direction=0))
    assert times(lw.simulate(mech, 0.2), "mark") == []


@every_solver
@pytest.mark.parametrize("driven", [True, False])
def test_a_constant_speed_crosses_nothing(solver: str, driven: bool) -> None:
    """Neither the value that it has nor one next to it."""
    mech = thrown()
    if driven:
        mech.prescribe("lamp", lw.Motion((0.3, 2.0)))
    else:
        mech.start(u={"lamp": 2.0})
    for name, value in (("at", 2.0), ("above", 2.0 + 1e-9), ("below", 2.0 - 1e-9)):
        mech.add_transition(name, lw.Impulse("mass", force=(0, 0, 1)), when=lw.Crossing("lamp.u", value, direction=0))
    assert not lw.simulate(mech, 20.0, solver=solver, max_step=1.0).events


def test_constant_speeds_between_commands() -> None:
    """A motor that is reversed by steps of its load: the speed is constant, then crosses zero within a step."""
    mech = lw.Mechanism("wheel", gravity=(0, 0, 0))
    mech.add_body("wheel", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("A", lw.Revolute(Z), "ground", "wheel", at=(0, 0, 0))
    mech.start(u={"A": 1.0})
    mech.add_transition("brake", lw.Lock("A"), when=lw.Crossing("A.u", 0.0, direction=-1))
    load = ([0.0, 5.0, 5.0, 5.5], [0.0, 0.0, -4.0, -4.0])
    result = lw.simulate(mech, 10.0, inputs={"A": load})
    assert times(result, "brake") == pytest.approx([5.25], abs=1e-9)
    assert result["A.q"][-1] == pytest.approx(5.0 + 0.125, abs=1e-9)


@pytest.mark.parametrize("element", [1, 2, 3])
def test_a_speed_of_a_ball_joint(element: int) -> None:
    """An angular velocity in the child's axes, which no coordinate has as its rate."""
    mech = lw.Mechanism("ball", gravity=(0, 0, 0))
    mech.add_body("body", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("ball", lw.Spherical(), "ground", "body", at=(0, 0, 0))
    axis = np.eye(3)[element - 1]
    mech.start(u={"ball": -axis})
    mech.add_transition("stop", lw.Lock("ball"), when=lw.Crossing(f"ball.u[{element}]", 0.5))
    result = lw.simulate(mech, 2.0, inputs={"ball": lambda t: 2.0 * axis})
    assert times(result, "stop") == pytest.approx([0.75], abs=1e-9)


@every_solver
@pytest.mark.parametrize("cut", ["B", "D"])
@pytest.mark.thin(4)
def test_a_slider_at_its_dead_points(solver: str, cut: str) -> None:
    """By a driven crank; the slide is a tree joint or closes the loop."""
    mech = slider_crank(cut)
    mech.add_transition("near", lw.Lock("lamp"), when=lw.Crossing("D.u", 0.0, direction=+1))
    mech.add_transition("far", lw.Unlock("lamp"), when=lw.Crossing("D.u", 0.0, direction=-1))
    result = lw.simulate(mech, 6.5, solver=solver)
    turns = 2.0 * np.pi * np.arange(1, 4)
    assert times(result, "near") == pytest.approx((turns - np.pi - 1.0) / 3.0, abs=1e-5)
    assert times(result, "far") == pytest.approx((turns - 1.0) / 3.0, abs=1e-5)


def slider_crank(cut: str) -> lw.Mechanism:
    """A crank of 0.1 m at 3 rad/s from 1 rad on, a rod of 0.3 m, a slider and a lamp."""
    mech = lw.Mechanism("slider_crank", gravity=(0, 0, 0))
    for name in ("crank", "rod", "slider", "lamp"):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_joint("lamp", lw.Revolute(Z), "ground", "lamp", at=(0, 0, 0))
    for name, kind, parent, child, along in (
        ("A", lw.Revolute(Z), "ground", "crank", 0.0),
        ("B", lw.Revolute(Z), "crank", "rod", 0.1),
        ("C", lw.Revolute(Z), "rod", "slider", 0.3),
        ("D", lw.Prismatic(X), "ground", "slider", 0.0),
    ):
        mech.add_joint(name, kind, parent, child, parent_frame=lw.Frame((along, 0, 0)), cut=name == cut)
    mech.prescribe("A", lw.Motion((1.0, 3.0)))
    mech.start(q={"D": 0.1 * math.cos(1.0) + math.sqrt(0.09 - (0.1 * math.sin(1.0)) ** 2)})
    return mech


@pytest.mark.parametrize("method", ["rcr", "embedding", "multipliers", "dca"])
def test_methods(method: str) -> None:
    mech = slider_crank("D")
    distance = lw.PointDistance(("ground", "rod"), ((0, 0, 0), (0.3, 0, 0)), rate=True)  # the slide's coordinate
    mech.add_transition("near", lw.Lock("lamp"), when=lw.Crossing("D.u", 0.1, direction=+1))
    mech.add_transition("same", lw.Impulse("lamp"), when=lw.Crossing(distance, 0.1, direction=+1))
    result = lw.simulate(lw.compile(mech, method), 6.5, rtol=1e-9)
    assert len(times(result, "near")) == 3
    assert times(result, "near") == pytest.approx(times(result, "same"), abs=1e-9)
    for t in times(result, "near"):
        q = 1.0 + 3.0 * t
        height = 0.1 * math.sin(q)
        assert 3.0 * (-height - height * 0.1 * math.cos(q) / math.sqrt(0.09 - height**2)) == pytest.approx(
            0.1, abs=1e-7
        )


@every_solver
def test_the_rate_of_a_distance(solver: str) -> None:
    """Of a point that passes another one at constant speed: v x / l = value."""
    mech = lw.Mechanism("pass", gravity=(0, 0, 0))
    mech.add_body("body", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("x", lw.Prismatic(X), "ground", "body", at=(0, 0, 0))
    mech.start(q={"x": -3.0}, u={"x": 2.0})
    passing = lw.PointDistance(("body", "ground"), ((0, 0, 0), (0, 0.5, 0)), rate=True)
    for name, value in (("coming", -1.2), ("nearest", 0.0), ("going", 1.2)):
        mech.add_transition(name, lw.Impulse("body"), when=lw.Crossing(passing, value))
    result = lw.simulate(mech, 3.0, solver=solver)
    places = [-0.375, 0.0, 0.375]
    assert [event.transitions for event in result.events] == [("coming",), ("nearest",), ("going",)]
    assert [event.t for event in result.events] == pytest.approx([(x + 3.0) / 2.0 for x in places], abs=1e-6)


def test_the_start_at_a_rate_takes_its_side_by_the_acceleration() -> None:
    """At the nearest place the rate of the distance is zero and rises; below a point it falls from rest, and rises."""
    mech = thrown(0.1)
    beside = lw.PointDistance(("mass", "ground"), ((0, 0, 0), (0.5, 0, 0)), rate=True)
    mech.add_transition("mark", lw.Impulse("lamp"), when=lw.Crossing(beside, 0.0, direction=0))
    assert not lw.simulate(mech, 0.1 / G).events
    mech = thrown(0.0)
    above = lw.PointDistance(("mass", "ground"), ((0, 0, 0), (0, 0, 1.0)), rate=True)
    mech.add_transition("above", lw.Impulse("lamp"), when=lw.Crossing(above, 0.0, direction=0))
    assert not lw.simulate(mech, 1.0).events


def test_variables_have_their_units() -> None:
    mech = thrown()
    mech.add_transition("mark", lw.Lock("lamp"), when=lw.Crossing("z.u", 2.0, direction=-1))
    mech.add_transition("turn", lw.Lock("lamp"), when=lw.Crossing("lamp.u", 2.0))
    rate = lw.PointDistance(("mass", "ground"), ((0, 0, 0), (0.5, 0, 0)), rate=True)
    mech.add_transition("near", lw.Lock("lamp"), when=lw.Crossing(rate, 0.5))
    model = lw.compile(mech)
    units = {one.name: one.unit for one in model.variables}
    assert [units[f"{name}.value"] for name in ("mark", "turn", "near")] == ["m/s", "rad/s", "m/s"]
    result = lw.simulate(model, 1.0, parameters={"mark.value": 4.0})
    assert times(result, "mark") == pytest.approx([1.0 / G])


@pytest.mark.parametrize("direction", [+1, -1, 0])
def test_crossings_stay_at_the_value(direction: int) -> None:
    """Each event takes away a little of what the speeds leave the loop by, and the next one is where it would be."""
    mech = turning_slider_crank(0.45, "B", 0.0, math.pi)
    mech.add_transition("other", lw.Lock("lamp"), when=lw.Crossing("D.u", 0.0, direction))
    result = lw.simulate(mech, 600.0, solver="dopri5", t_eval=[0.0, 600.0])
    found = np.array(times(result, "other"))
    expected = np.arange(1.0, 600.0)[{+1: slice(0, None, 2), -1: slice(1, None, 2), 0: slice(None)}[direction]]
    assert found == pytest.approx(expected, abs=1e-8)
    assert times(result, "dead_point") == pytest.approx(np.arange(1.0, 600.0, 2.0), abs=1e-8)
