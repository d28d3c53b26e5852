"""Energy over time, and wrenches that the joints carry; of all families in test_joint_loops.py."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.driving import by_joint, energy_drift, wrenches
from support.methods import METHODS
from support.random_mechanisms import random_tree


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cut", ["C", "D"])
def test_the_wrench_of_a_cut_joint_has_least_norm(cut, method):
    """Nothing determines how a planar four-bar shares loads out of its plane: its cut joint carries none."""
    case = four_bar(cut)
    system = lw.compile(case.mechanism, method)
    state = system.assemble(q=case.q, u=case.u)
    assert state[f"{cut}.f"][1] == pytest.approx(0.0, abs=1e-12)
    assert state[f"{cut}.t"] == pytest.approx(np.zeros(3), abs=1e-12)
    assert np.abs(state[f"{cut}.f"]).max() > 1.0


def test_weight_of_a_standing_tower():
    """Signs by hand: the joint holds its child up."""
    mech = lw.Mechanism("tower", gravity=(0, 0, -10))
    mech.add_body("base", mass=3.0, com=(0, 0, 0.5), inertia=np.eye(3))
    mech.add_body("top", mass=2.0, com=(0.25, 0, 0.5), inertia=np.eye(3), origin=(0, 0, 1))
    mech.add_joint("foot", lw.Fixed(), "ground", "base", at=(0, 0, 0))
    mech.add_joint("lift", lw.Prismatic(axis=(0, 0, 1)), "base", "top", at=(0, 0, 1))
    system = lw.compile(mech)
    state = system.assemble()
    found = wrenches(system, state, {"lift": 20.0})
    assert by_joint(system, system.accelerations(state, tau={"lift": 20.0})) == pytest.approx({"lift": 0.0}, abs=1e-12)
    assert found["lift"] == pytest.approx([0, -5, 0, 0, 0, 20], abs=1e-12)  # the weight stands 0.25 aside
    assert found["foot"] == pytest.approx([0, -5, 0, 0, 0, 50], abs=1e-12)


@pytest.mark.parametrize(("bodies", "chain", "seed"), [(5, True, 0), (10, False, 3)])
def test_energy_is_conserved_by_random_trees(bodies, chain, seed):
    scene = random_tree(np.random.default_rng(seed), bodies, ("revolute",), chain=chain)
    mech = scene.mechanism
    mech.start(q=scene.q, u=scene.u)
    system = lw.compile(mech)
    result = lw.simulate(system, 10.0, rtol=1e-11, t_eval=np.linspace(0.0, 10.0, 41))
    assert energy_drift(result) < 1e-9
