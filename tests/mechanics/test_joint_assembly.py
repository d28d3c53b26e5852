"""Assembly of loops with joints of several coordinates from rough guesses."""

import numpy as np
import pytest

import linkwork as lw
from support.driving import by_joint, largest_difference, reached, tree_joints, tree_only
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.oracle import Oracle
from support.placement import body_poses
from support.random_mechanisms import well_posed

FAMILIES = ["RSSR", "RUSR", "RCCC", "RSCR", "RSSP", "PUCS", "EUC", "SSS", "UUUU", "universal_backward", "planar_cut"]
FAMILIES += ["screw_cut", "screw_backward", "pin_in_slot_cut", "HTSR"]
FAMILIES += ["curved_slide_cut", "curved_slot_cut", "curved_slide_backward"]
FAMILIES += ["free_tree", "RRCS_flat", "RRS_centred", "SS_on_one_axis", "stewart_SPS", "tripod_PRS", "delta_US"]
FAMILIES += ["ladder_hooke", "ladder_spherical_deep", "legs_mixed", "rack", "gear_of_elements", "cam_on_cut_joint"]
FAMILIES += ["screw_as_cut_joint", "gear_between_loops"]


def oracle_of(system, state, gears):
    """The oracle at the pose that the coordinates of the tree make."""
    q = tree_only(system, by_joint(system, state.q))
    return Oracle(system.mechanism, body_poses(system.mechanism, q, tree_joints(system)), q, gears=gears)


def guessed(scene, rng, spread):
    """Coordinates that are off by up to `spread`; quaternions of any length."""
    guess = {}
    for name, value in scene.q.items():
        guess[name] = value + rng.uniform(-spread, spread, np.shape(value))
        if scene.oracle.moving[name].shape.nq > scene.oracle.moving[name].shape.nu:
            guess[name][-4:] *= rng.uniform(0.3, 3.0)
    return guess


@pytest.mark.thin(12, kept=4)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(4))
def test_rough_guesses(family, seed):
    scene = well_posed((JOINT_FAMILIES | GEAR_FAMILIES)[family][0], seed)
    system = lw.compile(scene.mechanism)
    state = system.assemble(q=guessed(scene, np.random.default_rng(seed), 0.1), u=scene.u)
    assert np.abs(system.loop_residual(state)).max(initial=0.0) < 1e-12
    oracle = oracle_of(system, state, scene.gears)
    assert oracle.gap() < 1e-10
    u = by_joint(system, state.u)
    expected = oracle.solve(u).udot
    assert largest_difference(by_joint(system, system.accelerations(state)), expected) < 1e-8


@pytest.mark.parametrize("family", ["RSSR", "RCCC", "EUC", "stewart_SPS", "ladder_hooke"])
def test_rates_are_found(family):
    """Guesses of speeds that contradict each other: the state found has speeds that all joints admit."""
    scene = well_posed(JOINT_FAMILIES[family][0], seed=4)
    rng = np.random.default_rng(4)
    system, exact = reached(scene)
    guess = {name: u + rng.normal(scale=0.5, size=np.shape(u)) for name, u in scene.u.items()}
    state = system.assemble(q=scene.q, u=guess)
    assert state.q == pytest.approx(exact.q, abs=1e-12)
    found = by_joint(system, state.u)
    assert largest_difference(scene.oracle.joint_speeds(scene.oracle.velocities(found)), found) < 1e-10
