"""States: made, kept, exchanged between systems, and those of systems that cannot move."""

import numpy as np
import pytest

import linkwork as lw
from support.builder import cut_at
from support.cases import four_bar
from support.small import welded


def test_state_from_arrays(system, state):
    again = system.state(state.q, state.u)
    assert np.array_equal(again.q, state.q)
    assert np.array_equal(again.u, state.u)
    assert again["D.q"] == pytest.approx(state["D.q"], abs=1e-14)


def test_states_cannot_be_changed_by_accident(state):
    with pytest.raises(ValueError, match="read-only"):
        state.q[0] = 1.0
    with pytest.raises(AttributeError):
        state.q = np.zeros(3)


def test_what_is_computed_from_a_state_is_ordinary(state):
    assert type(state.q + 1.0) is np.ndarray
    assert type(state.q.sum()) is np.float64
    assert type(state.q @ state.u) is np.float64


def test_turns_of_a_cut_joint_belong_to_the_state():
    """The same pose with the cut joint turned twice more: its spring has another energy."""
    case = four_bar()
    case.mechanism.add_force(lw.SpringDamper("D", stiffness=2.0))
    system = lw.compile(case.mechanism)
    once = system.assemble(q=case.q)
    twice = system.assemble(q=case.q | {"D": case.q["D"] + 4 * np.pi})
    turned = case.q["D"] + 4 * np.pi
    assert np.allclose(once.q, twice.q, atol=1e-12)
    assert twice.q.cut == pytest.approx([turned], abs=1e-12)
    assert twice["D.q"] == twice.q.cut[0]
    gained = system.energy(twice).potential - system.energy(once).potential
    assert gained == pytest.approx(turned**2 - case.q["D"] ** 2)
    assert not np.allclose(system.accelerations(once), system.accelerations(twice))
    assert once["D.q"] == once.q.cut[0]


def test_start_values_keep_the_turns_of_all_joints():
    case = four_bar()
    turned = {joint: value + 6 * np.pi for joint, value in case.q.items()}
    case.mechanism.start(q=turned)
    state = lw.compile(case.mechanism).assemble()
    assert {joint: state[f"{joint}.q"] for joint in case.q} == pytest.approx(turned)


def test_state_of_the_same_mechanism_compiled_again(system, state):
    again = lw.compile(four_bar().mechanism)
    assert np.array_equal(again.accelerations(state), system.accelerations(state))


def test_state_of_another_system(state):
    other = lw.compile(cut_at(four_bar().mechanism, "B"))
    with pytest.raises(lw.MechanismError, match="belongs to another model of 'four_bar_of_record'"):
        other.accelerations(state)


@pytest.mark.parametrize("closed", [False, True])
def test_systems_without_coordinates(closed):
    system = lw.compile(welded(closed))
    state = system.assemble()
    assert repr(system).endswith(f"2 bodies, {2 + closed} joints, {int(closed)} loops, 0 states)")
    assert repr(state) == "State('welded': t = 0 s)"
    assert system.q_names == system.u_names == []
    assert state.q.shape == state.u.shape == (0,)
    for call, shape in (("accelerations", (0,)), ("derivatives", (0,)), ("mass_matrix", (0, 0)), ("jacobian", (0, 0))):
        assert getattr(system, call)(state).shape == shape
    assert system.inverse_dynamics(state, []).shape == (0,)
    assert system.by_joint(state.q) == {}
    assert system.energy(state) == (0.0, 0.0)
    assert state["right.r"] == pytest.approx([1.0, 0.0, 0.0])
    weight = sum(wrench[5] for name, wrench in system.by_joint(system.reactions(state)).items() if name != "G")
    assert weight == pytest.approx(4.0 * 9.81)


def numbers_of(state):
    parts = state.q, state.q.cut, state.u, state.u.cut, state.motion, state.discrete_state, state.elements
    return [part.tolist() for part in parts] + [state.time]


def test_the_start_is_the_same_whenever_it_is_asked_for():
    case = four_bar()
    case.mechanism.start(q=case.q)
    model, fresh = lw.compile(case.mechanism), lw.compile(case.mechanism)
    first = model.assemble()
    elsewhere = model.assemble(q={"A": case.q["A"] + 0.1})
    assert numbers_of(model.assemble()) == numbers_of(first) == numbers_of(fresh.assemble())
    assert numbers_of(elsewhere) != numbers_of(first)
    moved = model.with_parameters({"A.q_start": case.q["A"] + 0.1})
    assert moved.assemble()["A.q"] == pytest.approx(case.q["A"] + 0.1, abs=1e-12)
    assert model.assemble(time=1.0).time == 1.0
    with pytest.raises(lw.MechanismError, match="tolerance"):
        model.assemble(tolerance=0.0)


def test_arrays_give_what_lists_give(system, state):
    """Whatever the loads, the time and the state were in the calls before."""
    rng = np.random.default_rng(3)
    q, u, tau = np.array(state.q), np.array(state.u), rng.normal(size=state.u.size)
    for of in (system.accelerations, system.derivatives, lambda q, u: np.array(system.energy(q, u))):
        expected = of(q.tolist(), u.tolist())
        for _ in range(2):
            assert np.array_equal(of(q, u), expected)
            system.accelerations(q, u, tau=tau, time=2.0)
            system.accelerations(state)
    assert system.accelerations(q, u).cut.shape == system.accelerations(state).cut.shape
    with pytest.raises(lw.MechanismError, match="not finite"):
        system.accelerations(np.full_like(q, np.nan), u)
    with pytest.raises(lw.MechanismError, match="its last dimension must be"):
        system.accelerations(q, u[:-1])
    assert np.array_equal(system.accelerations(q, u), system.accelerations(q.tolist(), u.tolist()))
