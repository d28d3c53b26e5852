"""Derivatives of event indicators: closed forms, differences, and the same in every mode."""

import dataclasses

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from support.cases import four_bar
from support.differences import LIMIT, ONE, along, matrix, offsets, relative
from support.random_changes import random_change
from support.random_transitions import as_transitions

Y = (0, 1, 0)
WATCHED = (0, 2, 3, 7, 8, 10, 11, 16, 21, 23)  # random changes after which an indicator is away from zero
KNOWNS = ("q", "u", "transition_value", "transition_points", "restitution", "tau", "body_mass", "parent_position")


def indicators(block):
    first, sizes = block.model.sizes.reals, block.model.sizes
    return np.arange(first, first + sizes.event_indicators, dtype=np.uint32)


def slope_by(block, field, element=0):
    known = offsets(block, field)[element : element + 1]
    return block.directional_derivative(indicators(block), known, ONE)


def watched():
    """A four-bar with whatever has indicators; its loop opens, another one closes, a joint locks."""
    scene = four_bar()
    mech = scene.mechanism
    mech.start(q=scene.q, u=scene.u)
    mech.add_transition("open", lw.Release("D"), when=lw.Command())
    mech.add_transition("latch", lw.Lock("B"), when=lw.Command())
    mech.add_transition("bump", lw.Stop("A", lower=scene.q["A"] - 0.02, upper=scene.q["A"] + 0.3, restitution=0.5))
    pin = lw.Pin("rocker", "ground", lw.Spherical(), lw.Frame((0.1, 0, 0)))
    mech.add_transition("pin", pin, when=lw.Command())
    mech.add_transition("tree", lw.Unlock("B"), when=lw.Crossing("B.q", 0.2, 0))
    mech.add_transition("cut", lw.Unlock("B"), when=lw.Crossing("D.q", 1.0, 0))
    ends = lw.PointDistance(("crank", "rocker"), ((0.1, 0.2, 0.0), (0.3, 0.0, -0.1)))
    mech.add_transition("apart", lw.Unlock("B"), when=lw.Crossing(ends, 0.5, 0))
    mech.add_transition("leaving", lw.Unlock("B"), when=lw.Crossing(dataclasses.replace(ends, rate=True), 0.5, 0))
    mech.add_transition("tree_speed", lw.Unlock("B"), when=lw.Crossing("B.u", 0.2, 0))
    mech.add_transition("cut_speed", lw.Unlock("B"), when=lw.Crossing("D.u", 1.0, 0))
    return mech


MODES = {
    "at first": [],
    "open": ["open"],
    "resting": ["bump"],
    "open and locked": ["open", "latch"],
    "open and pinned": ["open", "pin"],
    "open, pinned and locked": ["open", "pin", "latch"],
    "open, resting": ["open", "bump"],
}


def in_mode(mech, names, method="auto"):
    system = lw.compile(mech, method)
    block = system.block()
    block.assemble(1e-10)
    block.start_events()
    order = list(mech.transitions)
    for name in names:
        block.make_transitions([order.index(name)])
    return block


@pytest.mark.parametrize("method", ["auto", "dca"])
@pytest.mark.parametrize("mode", MODES)
def test_modes_against_differences(mode, method):
    block = in_mode(watched(), MODES[mode], method)
    for known in offsets(block, *KNOWNS):
        exact = block.directional_derivative(indicators(block), np.array([known]), ONE)
        assert relative(exact, along(block, known, block.event_indicators)) < LIMIT, known


def test_modes_of_one_state_follow_each_other():
    """An earlier mode leaves no trace: the same as in a state that comes straight there."""
    mech = watched()
    order = list(mech.transitions)
    block = in_mode(mech, [])
    unknowns = np.concatenate([indicators(block), offsets(block, "udot", "q_cut", "u_cut", "reaction_force")])
    knowns = offsets(block, "q", "u", "transition_value", "parent_position")
    made = []
    for name in ("open", "pin", "latch"):
        matrix(block.directional_derivative, unknowns, knowns)
        block.make_transitions([order.index(name)])
        made.append(name)
        fresh = in_mode(mech, made)
        here, there = (matrix(one.directional_derivative, unknowns, knowns) for one in (block, fresh))
        assert np.array_equal(here, there), name


@pytest.mark.parametrize("seed", WATCHED)
def test_random_transitions(seed):
    """In the mode that a random change leaves."""
    drawn = as_transitions(random_change(seed))
    system, state = drawn.reached()
    block = system.block()
    after = system.jump(state, drawn.names).state
    block.enter(after.q, after.u, np.zeros(system.numbering.n_inputs))
    block.put_discrete_state(after.discrete_state)
    smooth = block.event_indicators() > 1e-3  # at a bound that is just left they have a kink
    assert smooth.size
    for known in offsets(block, "q", "u", "transition_value"):
        exact = block.directional_derivative(indicators(block), np.array([known]), ONE)
        assert relative(exact[smooth], along(block, known, block.event_indicators, 1e-4)[smooth]) < LIMIT, known


def pendulum(when=None, action=None):
    mech = lw.Mechanism("pendulum")
    mech.add_body("arm", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("hinge", lw.Revolute(Y), "ground", "arm", at=(0, 0, 0))
    mech.add_transition("event", action or lw.Lock("hinge"), when=when)
    mech.start(q={"hinge": 0.4}, u={"hinge": -2.0})
    return mech


@pytest.mark.parametrize(("value", "side"), [(-0.3, 1.0), (0.9, -1.0), (0.0, 1.0)])
def test_crossing_of_a_coordinate(value, side):
    block = in_mode(pendulum(lw.Crossing("hinge.q", value, 0)), [])
    assert slope_by(block, "q") == side
    assert slope_by(block, "u") == 0.0
    width = 4e-15 if value >= 0.0 else -4e-15
    assert slope_by(block, "transition_value") == pytest.approx(-side + width, abs=3e-16)


def test_distance_of_points():
    """Unit vectors: p = R a, from b in the ground; dp/dq = axis x p."""
    a, b = np.array([0.8, 0.1, -0.2]), np.array([-0.3, 0.4, 1.1])
    block = in_mode(pendulum(lw.Crossing(lw.PointDistance(("arm", "ground"), (a, b)), 3.0, 0)), [])
    c, s = np.cos(0.4), np.sin(0.4)
    turned = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    n = (turned @ a - b) / np.linalg.norm(turned @ a - b)
    side = -1.0
    expected = [side * n @ np.cross(Y, turned @ a), *(side * n @ turned), *(-side * n)]
    found = [slope_by(block, "q")[0]] + [slope_by(block, "transition_points", k)[0] for k in range(6)]
    assert found == pytest.approx(expected, rel=1e-13, abs=1e-14)


def test_stop():
    """The way left; beyond a bound the speed; at rest on it what presses, here the moment of the weight."""
    block = in_mode(pendulum(action=lw.Stop("hinge", lower=0.1, upper=0.6, restitution=0.0)), [])
    block.put("u", 0.0)
    assert slope_by(block, "q").tolist() == [1.0, -1.0]
    assert slope_by(block, "transition_value", 0) == pytest.approx([-1.0 + 4e-15, 0.0], abs=3e-16)
    assert slope_by(block, "transition_value", 1) == pytest.approx([0.0, 1.0 + 4e-15], abs=3e-16)
    block.put("q", 0.6 + 1e-3)
    assert slope_by(block, "q").tolist() == [1.0, 0.0]
    assert slope_by(block, "u").tolist() == [0.0, -1.0]
    block.put("q", 0.6)
    block.put("u", 1.0)
    block.make_transitions([0])
    first = block.event_indicators()
    moment = block["body_mass"][0] * 9.81 * 0.5 * np.cos(0.6)
    assert first == pytest.approx([1.0, moment], rel=1e-9)
    assert slope_by(block, "body_mass") == pytest.approx([0.0, 9.81 * 0.5 * np.cos(0.6)], rel=1e-12)
    assert slope_by(block, "tau") == pytest.approx([0.0, 1.0], rel=1e-12)


def test_linear_and_mixed_with_others():
    block = in_mode(watched(), [])
    rng = np.random.default_rng(0)
    knowns, unknowns = offsets(block, *KNOWNS), np.concatenate([indicators(block), offsets(block, "udot")])
    columns = matrix(block.directional_derivative, unknowns, knowns)
    seed = rng.normal(size=knowns.size)
    assert relative(block.directional_derivative(unknowns, knowns, seed), columns @ seed) < 1e-12


def test_no_such_indicator():
    block = in_mode(watched(), [])
    behind = indicators(block)[-1:] + np.uint32(1)
    with pytest.raises(lw.MechanismError, match="there is no variable"):
        block.directional_derivative(behind, offsets(block, "q")[:1], ONE)
    block.evaluate(Stage.OUTPUTS)
