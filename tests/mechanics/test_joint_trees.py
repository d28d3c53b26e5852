"""Trees of joints of several speeds, forward and backward, against Pinocchio."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.methods import REFERENCES
from support.driving import (
    by_joint,
    coordinate_difference,
    largest_difference,
    names_of,
    random_loads,
    rates,
    reached,
)
from support.joint_families import ALL_KINDS
from support.oracle import Oracle
from support.pinocchio_tree import PinocchioTree
from support.placement import body_poses
from support.poses import quaternion_matrix
from support.random_mechanisms import random_tree

# kinds, bodies, chain: each kind alone, so that no other hides its mistakes, and all of them mixed
TREES = [((kind,), 6, False) for kind in ALL_KINDS[:-1]]
TREES += [(ALL_KINDS, size, chain) for size, chain in ((1, False), (5, True), (12, False), (30, True), (60, False))]
TREES += [(("revolute", "prismatic", "fixed"), 100, False)]


@pytest.fixture(params=TREES, ids=lambda p: f"{p[0][-1]}{p[1]}")
def scene(request):
    kinds, bodies, chain = request.param
    rng = np.random.default_rng([0, bodies])
    return random_tree(rng, bodies, kinds, chain=chain, reverse=0.5, springs=bodies // 2)


@pytest.mark.parametrize(
    ("method", "reference"), [("auto", "auto")] + [("multipliers", reference) for reference in REFERENCES]
)
@pytest.mark.thin(6, kept=2)
def test_accelerations(scene, method, reference):
    system = lw.compile(scene.mechanism, method, reference=reference)
    state = system.assemble(q=scene.q, u=scene.u)
    tau = random_loads(np.random.default_rng(0), scene)
    expected = PinocchioTree(scene.mechanism).accelerations(scene.q, scene.u, scene.oracle.loads(scene.u, tau))
    assert largest_difference(by_joint(system, system.accelerations(state, tau=tau)), expected) < 1e-10


def test_state_is_as_given(scene):
    system, state = reached(scene)
    assert coordinate_difference(scene.mechanism, by_joint(system, state.q), scene.q) < 1e-14
    assert largest_difference(by_joint(system, state.u), scene.u) == 0.0


def test_derivatives(scene):
    system, state = reached(scene)
    found = system.derivatives(state)
    n = len(state.q)
    assert largest_difference(by_joint(system, found[:n]), rates(scene, scene.u)) < 1e-12
    accelerations = system.accelerations(state)
    assert found[n:] == pytest.approx(accelerations, abs=1e-12 * np.abs(accelerations).max(initial=1.0))


def test_inverse_dynamics_returns_the_loads(scene):
    system, state = reached(scene)
    tau = random_loads(np.random.default_rng(1), scene)
    found = by_joint(system, system.inverse_dynamics(state, system.accelerations(state, tau=tau)))
    assert largest_difference(found, tau) < 1e-10


def test_mass_matrix(scene):
    system, state = reached(scene)
    expected = PinocchioTree(scene.mechanism).mass_matrix(scene.q, names_of(system.u_names))
    assert system.mass_matrix(state) == pytest.approx(expected, abs=1e-12 * np.abs(expected).max(initial=0.0))


def test_energy(scene):
    system, state = reached(scene)
    kinetic = PinocchioTree(scene.mechanism).energy(scene.q, scene.u)[0]
    assert system.energy(state).kinetic == pytest.approx(kinetic, rel=1e-12)
    assert system.energy(state) == pytest.approx(scene.oracle.energy(scene.u), rel=1e-11, abs=1e-11)


def test_poses_and_velocities_of_bodies(scene):
    _, state = reached(scene)
    poses = PinocchioTree(scene.mechanism).poses(scene.q)
    velocities = scene.oracle.velocities(scene.u)
    for i, name in enumerate(scene.mechanism.bodies):
        omega = velocities[i, :3]
        at_origin = velocities[i, 3:] + np.cross(omega, poses[name].position - scene.oracle.com[i])
        assert state[f"{name}.r"] == pytest.approx(poses[name].position, abs=1e-11)
        assert quaternion_matrix(state[f"{name}.Q"]) == pytest.approx(poses[name].rotation, abs=1e-11)
        assert state[f"{name}.w"] == pytest.approx(omega, abs=1e-10 * max(1.0, np.abs(omega).max()))
        assert state[f"{name}.v"] == pytest.approx(at_origin, abs=1e-10 * max(1.0, np.abs(at_origin).max()))


def test_far_from_the_world_origin():
    """Nothing may be lost by distance: the same chain 10 km away moves alike to 1e-10."""
    near = _chain_at(np.zeros(3))
    far = _chain_at(np.array([1e4, -2e4, 5e3]))
    q = u = {f"j{i}": 0.3 * (i + 1) for i in range(5)}
    found = []
    for mechanism in (near, far):
        system = lw.compile(mechanism)
        found.append(by_joint(system, system.accelerations(system.assemble(q=q, u=u))))
    assert largest_difference(found[1], found[0]) < 1e-10
    reference = Oracle(near, body_poses(near, q, list(q))).solve(u).udot
    assert largest_difference(found[0], reference) < 1e-12


def _chain_at(place, bodies=5):
    mech = lw.Mechanism("chain")
    for i in range(bodies):
        mech.add_body(f"b{i}", mass=1.0 + i, com=(0.2, 0.1, 0.0), inertia=np.diag([0.02, 0.03, 0.04]))
        frame = lw.Frame(place) if i == 0 else lw.Frame((0.5, 0, 0))
        mech.add_joint(
            f"j{i}", lw.Revolute(axis=np.eye(3)[i % 3]), f"b{i - 1}" if i else "ground", f"b{i}", parent_frame=frame
        )
    return mech


def test_memory_is_linear_in_the_bodies():
    """Three sizes of models and of their states, equally far apart, lie on a line."""
    models = [lw.compile(_chain_at((0, 0, 0), bodies)) for bodies in (40, 80, 120)]
    for sizes in zip(*((len(model.model_bytes), model.sizes.reals) for model in models), strict=True):
        assert sizes[2] - sizes[1] == pytest.approx(sizes[1] - sizes[0], rel=0.01)
