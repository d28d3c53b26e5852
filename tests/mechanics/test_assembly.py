"""Closing the loops from guesses."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.oracle import Oracle
from support.placement import body_poses
from support.random_mechanisms import FAMILIES, well_posed

LOOPS = ["planar_4R", "planar_5R", "slider_crank", "spatial_7R", "spherical_4R", "bennett_4R", "closed_chain_12R"]
LOOPS += ["moving_slider_crank", "outboard_trees", "loop_on_loop", "fixed_in_loop", "closed_by_fixed", "sarrus_6R"]
LOOPS += ["three_planar_legs", "four_planar_legs", "three_spatial_legs", "coupled"]


def residual(system, state):
    return float(np.abs(system.loop_residual(state)).max())


def pose_gap(system, state):
    """The gap as the oracle sees it, from the states alone."""
    mechanism = system.mechanism
    joints = list(mechanism.joints)
    tree = [joints[link.joint] for link in system.topology.links]
    poses = body_poses(mechanism, {name: float(v) for name, v in system.by_joint(state.q).items() if np.size(v)}, tree)
    return Oracle(mechanism, poses).gap()


@pytest.mark.thin(12, kept=2)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("family", LOOPS)
def test_perturbed_guesses_close(family, seed):
    scene = well_posed(FAMILIES[family][0], seed)
    rng = np.random.default_rng(seed)
    system = lw.compile(scene.mechanism)
    guess = {name: value + rng.uniform(-0.5, 0.5) for name, value in scene.q.items()}
    state = system.assemble(q=guess, u=scene.u)
    assert residual(system, state) < 1e-12
    assert pose_gap(system, state) < 1e-11


def crank_rocker(**start):
    """The four-bar of record without its solution."""
    mech = four_bar().mechanism
    mech.start(**start)
    return lw.compile(mech)


@pytest.mark.parametrize("angle", np.linspace(-3.0, 3.0, 9))
def test_the_driving_joint_alone_is_given(angle):
    system = crank_rocker()
    state = system.assemble(q={"A": angle}, u={"A": 2.0})
    assert state["A.q"] == angle
    assert state["A.u"] == pytest.approx(2.0, abs=1e-14)
    assert residual(system, state) < 1e-12
    assert pose_gap(system, state) < 1e-12


def test_start_values_of_the_mechanism_are_guesses():
    state = crank_rocker(q={"A": -0.7}, u={"A": -3.0}).assemble()
    assert state["A.q"] == -0.7
    assert state["A.u"] == pytest.approx(-3.0, abs=1e-14)


def test_speeds_follow_from_the_given_one():
    case = four_bar()
    system = lw.compile(case.mechanism)
    state = system.assemble(q=case.q, u={"A": case.u["A"]})
    assert state["A.u"] == pytest.approx(case.u["A"], rel=1e-13)
    for name in "BCD":
        assert state[f"{name}.u"] == pytest.approx(case.u[name], rel=1e-11)


NEARLY_RIGHT = [("A", "B"), ("A", "C"), ("A", "D"), ("B", "C"), ("C", "D"), ("A", "B", "C"), ("A", "B", "C", "D")]


@pytest.mark.parametrize("given", NEARLY_RIGHT, ids="".join)
def test_rounded_coordinates_change_as_little_as_needed(given):
    """Two coordinates for one degree of freedom, typed with three digits, choose the branch and hardly move."""
    case = four_bar()
    guess = {name: round(case.q[name], 3) for name in given}
    state = lw.compile(case.mechanism).assemble(q=guess)
    assert residual(state.model, state) < 1e-12
    assert {name: state[f"{name}.q"] for name in case.q} == pytest.approx(case.q, abs=0.01)


def test_contradicting_speeds_keep_the_one_given_first():
    case = four_bar()
    state = lw.compile(case.mechanism).assemble(q=case.q, u={"A": -3.0, "B": 4.0})
    assert {name: state[f"{name}.u"] for name in case.u} == pytest.approx(case.u, rel=1e-11)


@pytest.mark.parametrize("family", LOOPS)
def test_small_errors_cause_small_changes(family):
    """The state found is not much further from the guess than a closed pose known to be near."""
    scene = well_posed(FAMILIES[family][0], seed=1)
    rng = np.random.default_rng(1)
    error = {name: 1e-3 * rng.normal() for name in scene.q}
    state = lw.compile(scene.mechanism).assemble(q={name: scene.q[name] + error[name] for name in scene.q})
    change = [state[f"{name}.q"] - scene.q[name] - error[name] for name in scene.q]
    change = [value - 2 * np.pi * np.round(value / (2 * np.pi)) for value in change]
    assert np.linalg.norm(change) < 5 * np.linalg.norm(list(error.values()))


def test_all_links_in_line():
    """At zero angles the bars lie in line, where the closing rows lose rank."""
    system = crank_rocker()
    state = system.assemble(q={"A": 0.0, "B": 0.0, "C": 0.0})
    assert residual(system, state) < 1e-12
    assert pose_gap(system, state) < 1e-12


def test_without_any_guess():
    system = crank_rocker()
    assert residual(system, system.assemble()) < 1e-12


def test_links_too_short():
    mech = lw.Mechanism("short")
    for name in ("left", "right"):
        mech.add_body(name, mass=1.0, com=(0.1, 0, 0), inertia=0.01 * np.eye(3))
    axis = (0, 1, 0)
    mech.add_joint("A", lw.Revolute(axis=axis), "ground", "left", parent_frame=lw.Frame())
    mech.add_joint("B", lw.Revolute(axis=axis), "left", "right", parent_frame=lw.Frame((0.3, 0, 0)))
    ends = {"parent_frame": lw.Frame((1.0, 0, 0)), "child_frame": lw.Frame((0.3, 0, 0))}
    mech.add_joint("C", lw.Revolute(axis=axis), "ground", "right", cut=True, **ends)
    with pytest.raises(lw.AssemblyError) as refused:
        lw.compile(mech).assemble(q={"A": 0.3, "B": 0.2})
    message = str(refused.value)
    assert "'C'" in message
    assert "0.4" in message  # metres that are missing at best
    with pytest.raises(lw.AssemblyError):
        lw.simulate(mech, 1.0)
