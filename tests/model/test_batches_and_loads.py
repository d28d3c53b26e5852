"""Many states in one call, and loads by name or as arrays."""

import numpy as np
import pytest

from support.driving import OF_STATES, random_loads, reached
from support.random_mechanisms import FAMILIES, well_posed

# ---- batches ----


def batch_of(system, state, shape, seed=0):
    rng = np.random.default_rng(seed)
    size = system.sizes.nq
    q = state.q + 1e-3 * rng.normal(size=(*shape, size))
    return q, rng.normal(size=(*shape, size)), rng.normal(size=(*shape, system.sizes.nu + system.sizes.nu_cut))


@pytest.mark.parametrize("shape", [(1,), (5,), (2, 3), (4, 1, 2)], ids=str)
@pytest.mark.parametrize("call", OF_STATES)
def test_batches_equal_single_calls(system, state, call, shape):
    q, u, tau = batch_of(system, state, shape)
    loads = {"tau": tau} if call in ("accelerations", "derivatives", "reactions", "jacobian") else {}
    function = getattr(system, call)
    together = function(q, u, **loads)
    for i in np.ndindex(shape):
        alone = function(q[i], u[i], **{name: values[i] for name, values in loads.items()})
        if call == "energy":
            assert (together.kinetic[i], together.potential[i]) == alone
        else:
            assert np.array_equal(together[i], alone)
            assert together.shape == (*shape, *alone.shape)


def test_batches_of_other_functions(system, state):
    q, u, tau = batch_of(system, state, (2, 3))
    udot = system.accelerations(q, u, tau=tau)
    assert udot.cut.shape == (2, 3, 1)
    loads = system.inverse_dynamics(q, udot, u)
    assert np.array_equal(loads[1, 2], system.inverse_dynamics(q[1, 2], udot[1, 2], u[1, 2]))
    assert system.value("coupler.r", q, u).shape == (2, 3, 3)
    assert system.value("A.a", q, u, tau=tau).shape == (2, 3)
    assert np.array_equal(system.value("D.a", q, u, tau=tau), udot.cut[..., 0])


def test_loads_broadcast_against_states(system, state):
    loads = np.linspace(-2.0, 2.0, 5)
    named = system.accelerations(state, tau={"A": loads, "D": 0.5})
    listed = system.accelerations(state, tau=np.stack([loads, 0 * loads, 0 * loads, 0 * loads + 0.5], axis=-1))
    assert named.shape == (5, 3)
    assert np.array_equal(named, listed)
    q, u, _ = batch_of(system, state, (4, 1))
    grid = system.accelerations(q, u, tau={"A": loads})
    assert grid.shape == (4, 5, 3)
    assert np.array_equal(grid[2, 3], system.accelerations(q[2, 0], u[2, 0], tau={"A": loads[3]}))
    assert np.array_equal(system.accelerations(state.q, u)[3, 0], system.accelerations(state.q, u[3, 0]))
    assert system.inverse_dynamics(state, np.zeros((6, 3))).shape == (6, 3)


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)], ids=str)
def test_empty_batch(system, shape):
    q = np.zeros((*shape, 3))
    n = system.sizes.nq + system.sizes.nu
    assert system.accelerations(q, q).shape == (*shape, 3)
    assert system.accelerations(q, q).cut.shape == (*shape, 1)
    assert system.derivatives(q, q).shape == (*shape, n)
    assert system.energy(q, q).kinetic.shape == shape
    assert system.loop_residual(q, q).shape == (*shape, 1)
    assert system.reactions(q, q).shape == (*shape, 4, 6)
    assert system.mass_matrix(q, q).shape == (*shape, 3, 3)
    assert system.jacobian(q, q).shape == (*shape, n, n)
    assert system.inverse_dynamics(q, q, q).shape == (*shape, 3)
    assert system.value("coupler.Q", q, q).shape == (*shape, 4)
    assert system.value("A.q", q, q).shape == shape
    assert {name: values.shape for name, values in system.by_joint(system.accelerations(q, q)).items()}["D"] == shape


# ---- loads ----


@pytest.mark.parametrize("family", ["planar_4R", "moving_slider_crank", "side_by_side", "closed_by_fixed", "coupled"])
def test_loads_as_arrays_and_by_name(family):
    scene = well_posed(FAMILIES[family][0], 1)
    system, state = reached(scene)
    named = random_loads(np.random.default_rng(1), scene)
    listed = [named[joint] for joint in system.by_joint(state.q)]
    expected = system.accelerations(state, tau=named)
    assert np.array_equal(system.accelerations(state, tau=listed), expected)
    assert np.array_equal(system.accelerations(state, tau={name: [load] for name, load in named.items()}), expected)
    tree = listed[: system.sizes.nu]
    without = {name: 0.0 if name in system.loop_names else load for name, load in named.items()}
    assert np.array_equal(system.accelerations(state, tau=tree), system.accelerations(state, tau=without))


def test_no_loads(system, state):
    free = system.accelerations(state)
    for none in (None, {}, np.zeros(3), np.zeros(4), {"A": 0}):
        assert np.array_equal(system.accelerations(state, tau=none), free)
