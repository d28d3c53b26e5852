"""Newton corrections of chains, by two sweeps and by the reduced matrix, against a dense LU of the whole matrix."""

from functools import partial

import numpy as np
import pytest

from linkwork.core.chain_kernels import ChainBodies, ChainKernels
from linkwork.simulation.dae.chou import ChainNewton
from support import chou_oracle as oracle

SCHEMES = {"swept": partial(ChainNewton, reduced=False), "reduced": partial(ChainNewton, reduced=True)}
scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES)


def bodies(data):
    return ChainBodies(data.mass, data.inertia, data.a, data.r, data.gravity, data.support)


def check_solution(data, operator, x, xdot, cj, b):
    """The solution is numpy's, each kind of unknown in its own size."""
    matrix = ChainKernels(bodies(data)).jacobian(x, xdot, cj)
    operator.factor(0.0, x, xdot, cj)
    found, expected = operator.solve(b), np.linalg.solve(matrix, b)
    sizes = np.tile(np.abs(expected.reshape(-1, 14)).max(axis=0), data.n)
    assert (np.abs(found - expected) <= 1e-10 * sizes).all()


@pytest.mark.parametrize("cj", [1.0, 1e2, 1e5])
@pytest.mark.parametrize("n", [1, 2, 3, 10, 30])
@scheme
def test_off_all_constraints(scheme, n, cj):
    rng = np.random.default_rng(n)
    data = oracle.random_chain(rng, n)
    x, xdot = oracle.random_point(rng, n)
    check_solution(data, scheme(ChainKernels(bodies(data), dense=True)), x, xdot, cj, rng.normal(size=x.size))


@pytest.mark.parametrize("n", [1, 5, 30])
@scheme
def test_on_them(scheme, n):
    rng = np.random.default_rng(100 + n)
    data = oracle.random_chain(rng, n)
    x = oracle.closed_point(rng, data)
    xdot = ChainKernels(bodies(data)).derivative(x)
    for cj in (1.0, 50.0, 1e5):
        check_solution(data, scheme(ChainKernels(bodies(data), dense=True)), x, xdot, cj, rng.normal(size=x.size))


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
@scheme
def test_no_attitude_is_special(scheme, zero):
    """Whichever Euler parameters vanish, alone or all but one."""
    rng = np.random.default_rng(200)
    data = oracle.random_chain(rng, 4)
    for others in (rng.normal(size=4), np.eye(4)[(zero + 1) % 4]):
        x, xdot = oracle.random_point(rng, 4)
        x.reshape(4, 14)[:, 6:10] = others
        x.reshape(4, 14)[:, 6 + zero] = 0.0
        check_solution(data, scheme(ChainKernels(bodies(data), dense=True)), x, xdot, 40.0, rng.normal(size=x.size))


@scheme
def test_bodies_of_very_different_size(scheme):
    rng = np.random.default_rng(300)
    data = oracle.random_chain(rng, 6)
    factors = 10.0 ** np.array([3, -3, 0, 2, -2, 1])
    data.mass *= factors
    data.inertia *= factors[:, None, None]
    x = oracle.closed_point(rng, data)
    xdot = ChainKernels(bodies(data)).derivative(x)
    check_solution(data, scheme(ChainKernels(bodies(data), dense=True)), x, xdot, 100.0, rng.normal(size=x.size))


@pytest.mark.parametrize("n", [300, 3000])
def test_long_chains_need_no_matrix(n):
    """The residual of the linear equations, without forming them, each kind of equation in its own size."""
    rng = np.random.default_rng(n)
    data = oracle.random_chain(rng, n)
    chain = ChainKernels(bodies(data))
    x = oracle.closed_point(rng, data)
    xdot = chain.derivative(x)
    b = rng.normal(size=x.size)
    chain.factor(x, xdot, 100.0)
    solution = chain.solve(b)
    left = (oracle.newton_times(data, x, xdot, 100.0, solution) - b).reshape(n, 14)
    forces = np.abs(data.mass[:, None] * solution.reshape(n, 14)[:, 3:6]).sum()
    allowed = np.array([np.abs(solution).max()] * 6 + [100.0 * forces] * 3 + [np.abs(solution).max() * 100.0] * 5)
    assert (np.abs(left) <= 1e-12 * allowed).all()


@scheme
def test_one_matrix_serves_many_right_hand_sides(scheme):
    rng = np.random.default_rng(400)
    data = oracle.random_chain(rng, 5)
    x, xdot = oracle.random_point(rng, 5)
    operator = scheme(ChainKernels(bodies(data), dense=True))
    operator.factor(0.0, x, xdot, 7.0)
    for _ in range(3):
        v = rng.normal(size=x.size)
        np.testing.assert_allclose(
            operator.solve(oracle.newton_times(data, x, xdot, 7.0, v)), v, rtol=0, atol=1e-11 * np.abs(v).max()
        )


@scheme
def test_a_body_that_cannot_resist_turning_has_no_solution(scheme):
    """A mass point at its own joint: its attitude follows from nothing."""
    rng = np.random.default_rng(500)
    data = oracle.random_chain(rng, 3)
    data.inertia[2], data.a[2], data.r[2] = 0.0, 0.0, 0.0
    operator = scheme(ChainKernels(bodies(data), dense=True))
    x, xdot = oracle.random_point(rng, 3)
    with pytest.raises(np.linalg.LinAlgError, match="no inverse"):
        operator.factor(0.0, x, xdot, 10.0)
    with pytest.raises(RuntimeError, match="factor"):
        operator.solve(x)


@scheme
def test_what_is_not_finite_is_refused(scheme):
    rng = np.random.default_rng(600)
    data = oracle.random_chain(rng, 3)
    for at in (4, 20, 36):
        x, xdot = oracle.random_point(rng, 3)
        xdot[at] = np.nan
        with pytest.raises(np.linalg.LinAlgError, match="not finite"):
            scheme(ChainKernels(bodies(data), dense=True)).factor(0.0, x, xdot, 10.0)
