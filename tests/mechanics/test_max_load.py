"""Loads saturate at the limit of their actuator: what acts, what is reported, derivatives and what is required."""

import dataclasses

import numpy as np
import pytest

import linkwork as lw
from support.driving import by_joint, largest_difference, random_loads, reached
from support.joint_families import ALL_KINDS, JOINT_FAMILIES
from support.methods import METHODS, compiled
from support.random_mechanisms import FAMILIES, random_tree, well_posed
from support.small import PENDULUM_INERTIA, pendulum

LOOPS = ["planar_4R_springs", "slider_crank_cut_slider", "spherical_cut", "cylindrical_cut", "screw_cut", "coupled"]


def limited(scene, rng):
    """Random loads, and limits that some of them exceed; also the loads that act."""
    tau, acting = random_loads(rng, scene), {}
    for name, load in tau.items():
        joint = scene.mechanism.joints[name]
        most = np.where(rng.random(joint.kind.nu) < 0.3, np.inf, rng.uniform(0.0, 5.0, joint.kind.nu))
        scene.mechanism.joints[name] = dataclasses.replace(joint, max_load=most)
        acting[name] = np.clip(load, -most, most).reshape(np.shape(load))
    return tau, acting


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["tree", *LOOPS])
def test_the_loads_that_act(name, method):
    rng = np.random.default_rng(6)
    families = {n: make for n, (make, *_) in (FAMILIES | JOINT_FAMILIES).items()}
    scene = random_tree(rng, 6, ALL_KINDS, springs=2) if name == "tree" else well_posed(families[name], 6)
    tau, acting = limited(scene, rng)
    assert any(np.any(np.not_equal(acting[joint], load)) for joint, load in tau.items())
    system = compiled(scene.mechanism, method)
    state = system.assemble(q=scene.q, u=scene.u)
    found = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(found, scene.oracle.solve(scene.u, acting).udot) < 1e-10


def motor(most=3.0, damping=0.4):
    mech = pendulum(damping)
    mech.joints["A"] = dataclasses.replace(mech.joints["A"], max_load=np.array([most]))
    return lw.compile(mech)


def test_inverse_dynamics_returns_what_is_required():
    system = motor()
    for udot in (-40.0, 0.0, 40.0):
        expected = udot * PENDULUM_INERTIA - 9.81 * 0.5 * np.cos(0.3) + 0.4 * 1.5
        assert system.inverse_dynamics([0.3], u=[1.5], udot=[udot]) == pytest.approx([expected], rel=1e-12)


@pytest.mark.parametrize(("tau", "slope"), [(-4.0, 0.0), (-2.0, 1.0), (2.9, 1.0), (3.1, 0.0)])
def test_derivatives_by_a_saturated_load_are_zero(tau, slope):
    linear = motor().linearize(motor().assemble(q={"A": 0.3}), tau={"A": tau}, inputs=["A.tau"], outputs=["A.a"])
    assert linear.B[1] == pytest.approx([slope / PENDULUM_INERTIA])
    assert linear.D.ravel() == pytest.approx([slope / PENDULUM_INERTIA])


def test_results_have_the_load_that_was_given():
    system = motor(damping=0.0)
    result = lw.simulate(system, 0.5, inputs={"A": lambda t: 20.0 * np.sin(5.0 * t)}, rtol=1e-9)
    assert result["A.tau"].max() > 15.0
    acting = np.clip(result["A.tau"], -3.0, 3.0)
    expected = (acting + 9.81 * 0.5 * np.cos(result["A.q"])) / PENDULUM_INERTIA
    assert result["A.a"] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_limit_is_a_parameter():
    system = motor()
    weight = 9.81 * 0.5 * np.cos(0.3)
    for most, acting in ((3.0, 3.0), (7.0, 7.0), (np.inf, 50.0), (0.0, 0.0)):
        changed = system.with_parameters({"A.max_load": most})
        state = changed.assemble(q={"A": 0.3})
        assert changed.accelerations(state, tau={"A": 50.0}) == pytest.approx([(acting + weight) / PENDULUM_INERTIA])
    with pytest.raises(lw.MechanismError, match="below zero"):
        system.with_parameters({"A.max_load": -1.0}).assemble()


def limit(mech, name, most):
    mech.joints[name] = dataclasses.replace(mech.joints[name], max_load=np.array([most]))


def test_reactions_of_a_saturated_joint():
    """Of the cut joint: all have limits, because the one to be cut is a joint without limit where there is one."""
    scene = well_posed(FAMILIES["planar_4R"][0], 7)
    for joint in scene.mechanism.joints:
        limit(scene.mechanism, joint, 50.0)
    wide, state = reached(scene)
    name = wide.numbering.cut[0]
    expected = wide.reactions(state, tau={name: 1.5})
    limit(scene.mechanism, name, 1.5)
    system, state = reached(scene)
    assert system.numbering.cut == wide.numbering.cut
    found = system.reactions(state, tau={name: 9.0})
    assert found == pytest.approx(expected, abs=1e-11 * np.abs(expected).max())
