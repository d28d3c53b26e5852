"""Forces at a pose against the accelerations and energies of the core, and stiffness against differences of forces."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.analysis.configuration_space import ConfigurationSpace
from linkwork.analysis.force_balance import ForceBalance
from support.joint_families import JOINT_FAMILIES
from support.random_mechanisms import FAMILIES, well_posed

ALL = {name: make for name, (make, _) in (FAMILIES | JOINT_FAMILIES).items()}
SOME = ("planar_4R_springs", "spatial_7R_springs", "coupled", "free_tree", "spherical_cut", "RUSR_on_free_base", "RTSR")


@pytest.fixture(params=SOME)
def forces(request: pytest.FixtureRequest) -> ForceBalance:
    return ForceBalance(ConfigurationSpace(lw.compile(well_posed(ALL[request.param], 4).mechanism)))


def energy(forces: ForceBalance, q: np.ndarray) -> float:
    space = forces.space
    return space.model.energy(space.model.state(q, np.zeros(space.nu))).potential


def far_pose(forces: ForceBalance, seed: int) -> np.ndarray:
    space = forces.space
    basis = space.tangent().basis
    step = 0.3 * space.length * basis @ np.random.default_rng(seed).standard_normal(basis.shape[1])
    found = space.closed(space.displaced(space.q, step))
    assert found.found
    return found.q


def test_the_forces_are_those_that_the_accelerations_have(forces: ForceBalance) -> None:
    space, q = forces.space, far_pose(forces, 1)
    balance = forces.at(q)
    state = space.model.state(q, np.zeros(space.nu))
    mass, udot = space.model.mass_matrix(state), space.model.accelerations(state)
    left = balance.tangent.basis.T @ (mass @ udot) + balance.gradient
    np.testing.assert_allclose(left, 0.0, atol=1e-11 * forces.scale(balance))
    np.testing.assert_allclose(forces.linear(q, balance).mass, mass, atol=1e-12 * np.abs(mass).max())


def test_the_work_between_poses_is_the_difference_of_the_energies(forces: ForceBalance) -> None:
    begin, end = forces.space.q, far_pose(forces, 2)
    change = energy(forces, end) - energy(forces, begin)
    assert abs(change) > 1e-3
    assert forces.work(begin, end) == pytest.approx(change, rel=1e-3)
    assert forces.work(end, begin) == pytest.approx(-change, rel=1e-3)


def test_the_stiffness_is_the_second_derivative_of_the_energy_along_closed_poses(forces: ForceBalance) -> None:
    """At a pose of rest, where the way there does not matter."""
    space = forces.space
    mech = space.model.mechanism
    for k, body in enumerate(mech.bodies):
        ends = {"bodies": ("ground", body), "points": ((0.3 * k, 0.2, 0.8), (0.05, 0.02, 0.03))}
        mech.add_force(lw.SpringDamper(name=f"tie{k}", stiffness=40.0, free=0.1, **ends))
    found = lw.equilibrium(mech)
    forces = ForceBalance(ConfigurationSpace(found.model, found.state))
    space = forces.space
    q, h = space.q, 1e-3 * space.length
    for k in range(min(found.basis.shape[1], 3)):
        values = []
        for sign in (1.0, -1.0):
            near = space.closed(space.displaced(q, sign * h * found.basis[:, k]))
            values.append(energy(forces, near.q))
        second = (values[0] - 2 * energy(forces, q) + values[1]) / h**2
        assert found.stiffness[k, k] == pytest.approx(second, rel=1e-3, abs=1e-4 * np.abs(found.stiffness).max())
    np.testing.assert_allclose(found.stiffness, found.stiffness.T, atol=1e-9 * np.abs(found.stiffness).max())
