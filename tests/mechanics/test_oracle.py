"""The reference of the other tests, tested itself: a check is worth no more than what it checks against."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import five_bar_with_three_legs, four_bar
from support.oracle import Oracle
from support.pinocchio_tree import PinocchioTree
from support.placement import body_poses
from support.random_mechanisms import FAMILIES, random_tree, well_posed


def test_pendulum_in_closed_form():
    mech = lw.Mechanism("pendulum", gravity=(0, -9.81, 0))
    mech.add_body("rod", mass=2.0, com=(0.3, 0, 0), inertia=np.diag([0.01, 0.02, 0.02]))
    mech.add_joint("A", lw.Revolute(axis=(0, 0, 1)), "ground", "rod", parent_frame=lw.Frame(), child_frame=lw.Frame())
    oracle = Oracle(mech, body_poses(mech, {"A": 0.4}, ["A"]))
    solution = oracle.solve({"A": 3.0}, {"A": 0.7})
    expected = (0.7 - 2.0 * 9.81 * 0.3 * np.cos(0.4)) / (0.02 + 2.0 * 0.09)
    assert solution.udot["A"] == pytest.approx(expected, rel=1e-13)
    along, across = np.array([np.cos(0.4), np.sin(0.4), 0]), np.array([-np.sin(0.4), np.cos(0.4), 0])
    force = 2.0 * (expected * 0.3 * across - 9.0 * 0.3 * along) + [0, 2.0 * 9.81, 0]
    assert solution.reaction["A"] == pytest.approx(np.r_[0, 0, 0, force], abs=1e-12)
    assert oracle.energy({"A": 3.0}) == pytest.approx((0.2 * 9 / 2, 2 * 9.81 * 0.3 * np.sin(0.4)), rel=1e-13)


@pytest.mark.parametrize("chain", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_trees_agree_with_pinocchio(seed, chain):
    rng = np.random.default_rng(seed)
    scene = random_tree(rng, 12, chain=chain)
    peer = PinocchioTree(scene.mechanism)
    tau = {name: rng.normal() for name in scene.q}
    found = scene.oracle.solve(scene.u, tau).udot
    expected = peer.accelerations(scene.q, scene.u, tau)
    scale = max(map(abs, expected.values()))
    assert found == pytest.approx(expected, abs=1e-12 * scale)
    assert scene.oracle.energy(scene.u) == pytest.approx(peer.energy(scene.q, scene.u), rel=1e-12)
    for name, pose in peer.poses(scene.q).items():
        assert pose.position == pytest.approx(scene.poses[name].position, abs=1e-12)
        assert pose.rotation == pytest.approx(scene.poses[name].rotation, abs=1e-12)


@pytest.mark.parametrize("cut", ["D", "C"])
def test_four_bar_of_record(cut):
    """Values that constraint embedding, multipliers and a loop recursion agreed on."""
    case = four_bar(cut)
    tree = [name for name in "ABCD" if name != cut]
    oracle = Oracle(case.mechanism, body_poses(case.mechanism, case.q, tree))
    assert oracle.gap() < 1e-15
    found = oracle.solve({"A": case.u["A"]}).udot
    assert [found[name] for name in tree] == pytest.approx([case.udot[name] for name in tree], rel=1e-13)
    assert oracle.energy({"A": case.u["A"]}) == pytest.approx((0.780399589499966, 18.327225750202), rel=1e-13)


def test_coupled_loops_of_record():
    case = five_bar_with_three_legs()
    oracle = Oracle(case.mechanism, body_poses(case.mechanism, case.q, list(case.udot)))
    found = oracle.solve(case.u).udot
    assert {name: found[name] for name in case.udot} == pytest.approx(case.udot, rel=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_families_are_closed_and_have_their_degrees_of_freedom(family):
    make, freedom = FAMILIES[family]
    scene = well_posed(make, seed=0)
    assert scene.oracle.gap() < 1e-13
    assert scene.oracle.coordinates() == pytest.approx(scene.q, abs=1e-13)
    assert freedom in (None, scene.oracle.motions.shape[1])
    assert scene.oracle.joint_speeds(scene.oracle.velocities(scene.u)) == pytest.approx(scene.u, abs=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
def test_reactions_balance_every_body(family):
    scene = well_posed(FAMILIES[family][0], seed=2)
    tau = dict.fromkeys(scene.q, 0.3)
    solution, loads = scene.oracle.solve(scene.u, tau), scene.oracle.loads(scene.u, tau)
    total = scene.oracle.with_loads(solution.reaction, loads)
    assert np.abs(scene.oracle.imbalance(solution, scene.u, total)).max() < 1e-12
    assert scene.oracle.axial(total) == pytest.approx(loads, abs=1e-9)


def test_redundant_wrenches_are_told_from_determined_ones():
    """A planar four-bar decides the forces in its plane and nothing else."""
    case = four_bar()
    solution = Oracle(case.mechanism, body_poses(case.mechanism, case.q, ["A", "B", "C"])).solve({"A": -3.0})
    for projector in solution.determined.values():
        assert np.diag(projector) == pytest.approx([0, 1, 0, 1, 0, 1], abs=1e-9)  # y is the axis: no torque about it


@pytest.mark.parametrize("family", FAMILIES)
def test_power_is_the_rate_of_energy(family):
    """Ties accelerations to energies without a second formulation: T from dT/dt = sum of v . M a + v . (w x J w)."""
    make, _ = FAMILIES[family]
    scene = well_posed(make, seed=1)
    rng = np.random.default_rng(1)
    tau = {name: rng.normal() for name in scene.q}
    oracle, mechanism = scene.oracle, scene.mechanism
    v, solution = oracle.velocities(scene.u), oracle.solve(scene.u, tau)
    a = solution.body_acceleration
    rate = 0.0
    for i, body in enumerate(mechanism.bodies.values()):
        rate += v[i, :3] @ oracle.inertia[i] @ a[i, :3]
        rate += body.mass * v[i, 3:] @ (a[i, 3:] - np.asarray(mechanism.gravity))
    loads = oracle.loads(scene.u, tau)
    pulled = solution.force - oracle.bodies.weight(v, np.asarray(mechanism.gravity))  # by springs between points
    power = sum(loads[name] * scene.u[name] for name in loads) + v.ravel() @ pulled
    assert rate == pytest.approx(power, rel=1e-9, abs=1e-9)
