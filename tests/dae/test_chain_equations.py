"""The equations of chains in C against the same written with matrices in numpy, and against Newton-Euler."""

import numpy as np
import pytest

from linkwork.core.chain_kernels import ChainBodies, ChainKernels
from linkwork.errors import MechanismError
from support import chou_oracle as oracle

NUMBERS = [1, 2, 3, 8]
SHIFTS = [1.0, 3.7, 1e3, 1e5]


def bodies(data):
    return ChainBodies(data.mass, data.inertia, data.a, data.r, data.gravity, data.support)


def case(seed, n):
    rng = np.random.default_rng(seed)
    data = oracle.random_chain(rng, n)
    return rng, data, ChainKernels(bodies(data))


def close_to(value, expected, tolerance):
    assert np.abs(value - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("n", NUMBERS)
def test_residual(n):
    rng, data, chain = case(n, n)
    for _ in range(5):
        x, xdot = oracle.random_point(rng, n)
        close_to(chain.residual(x, xdot), oracle.residual(data, x, xdot), 1e-13)


@pytest.mark.parametrize("cj", SHIFTS)
@pytest.mark.parametrize("n", NUMBERS)
def test_every_element_of_the_matrix(n, cj):
    rng, data, chain = case(10 + n, n)
    x, xdot = oracle.random_point(rng, n)
    found, expected = chain.jacobian(x, xdot, cj), oracle.newton_matrix(data, x, xdot, cj)
    assert ((found == 0) | (expected != 0)).all()
    rows = np.abs(expected).max(axis=1, keepdims=True)  # equations differ in size with cj
    assert (np.abs(found - expected) <= 1e-13 * rows + 1e-12 * np.abs(expected)).all()


@pytest.mark.parametrize("n", NUMBERS)
def test_rates_part_of_the_matrix(n):
    rng, data, chain = case(20 + n, n)
    x, xdot = oracle.random_point(rng, n)
    v = rng.normal(size=x.size)
    chain.factor(x, xdot, 30.0)
    close_to(chain.rate_times(v), oracle.rate_times(data, x, xdot, v), 1e-13)


@pytest.mark.parametrize("n", [*range(1, 11), 20, 30])
def test_accelerations_are_those_of_newton_and_euler(n):
    rng, data, chain = case(30 + n, n)
    x = oracle.closed_point(rng, data)
    xdot = chain.derivative(x)
    v_rate, w_rate = oracle.accelerations(data, x)
    rates, states = xdot.reshape(n, 14), x.reshape(n, 14)
    turn = oracle.matrix_g(states[:, 6:10])
    close_to(rates[:, 3:6], v_rate, 1e-11)
    close_to(2 * oracle.times(turn, rates[:, 10:]), w_rate, 1e-11)
    np.testing.assert_array_equal(rates[:, :3], states[:, 3:6])
    np.testing.assert_array_equal(rates[:, 6:10], states[:, 10:])


@pytest.mark.parametrize("n", [1, 4, 30, 300])
def test_a_start_is_consistent(n):
    rng, data, chain = case(40 + n, n)
    x, _ = oracle.random_point(rng, n)
    x = chain.close(x)
    xdot = chain.derivative(x)
    left = oracle.residual(data, x, xdot).reshape(n, 14)
    force = np.abs(data.mass[:, None] * (xdot.reshape(n, 14)[:, 3:6] - data.gravity)).sum()
    scale = np.ones(14)
    scale[:6], scale[6:9] = np.abs(x.reshape(n, 14)[:, :6]).max(), force
    assert (np.abs(left) <= 1e-13 * scale).all()
    close_to(chain.close(x), x, 1e-15)


def test_the_start_stays_on_the_velocity_equations():
    """The time derivative of positions and velocities along X' is zero: they hold on, not only now."""
    rng, data, chain = case(50, 6)
    x = oracle.closed_point(rng, data)
    xdot = chain.derivative(x)
    moved = oracle.residual(data, x + 1j * oracle.STEP * xdot, xdot).imag / oracle.STEP
    along = np.delete(moved.reshape(6, 14), [6, 7, 8, 11, 12, 13], axis=1)
    assert np.abs(along).max() < 1e-11 * np.abs(xdot).max()


def test_a_swinging_rod_has_its_textbook_acceleration():
    """A rod of length l on a pivot falls with 3 g sin(theta) / (2 l) about it."""
    mass, length, theta = 2.0, 1.5, 0.7
    inertia = np.diag([mass * length**2 / 12, 1e-3, mass * length**2 / 12])
    data = ChainBodies(
        np.array([mass]), inertia[None], np.array([[0.0, length, 0]]), np.array([[0.0, length / 2, 0]]),
        np.array([0.0, -9.81, 0.0]), np.zeros(3),
    )  # fmt: skip
    chain = ChainKernels(data)
    x = np.zeros(14)
    x[6], x[9] = np.cos(theta / 2), np.sin(theta / 2)  # about z, hanging along -y
    x = chain.close(x)
    np.testing.assert_allclose(x[:3], [length / 2 * np.sin(theta), -length / 2 * np.cos(theta), 0], atol=1e-15)
    turn = oracle.matrix_g(x[None, 6:10])[0]
    np.testing.assert_allclose(
        2 * turn @ chain.derivative(x)[10:], [0, 0, -1.5 * 9.81 / length * np.sin(theta)], atol=1e-13
    )


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("mass", np.zeros(2), "positive masses and finite numbers"),
        ("inertia", np.full((2, 3, 3), np.nan), "positive masses and finite numbers"),
        ("inner", np.zeros((1, 3)), "a chain of 2 bodies needs arrays of as many"),
    ],
)
def test_impossible_bodies_are_refused(field, value, text):
    given = bodies(oracle.random_chain(np.random.default_rng(0), 2))
    with pytest.raises(MechanismError, match=text):
        ChainKernels(ChainBodies(**{**given.__dict__, field: value}))


def test_what_is_not_finite_goes_through_the_residual_and_stops_the_rest():
    rng, _, chain = case(60, 3)
    x, xdot = oracle.random_point(rng, 3)
    x[20] = np.nan
    assert np.isnan(chain.residual(x, xdot)).any()
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        chain.factor(x, xdot, 1.0)
    with pytest.raises(RuntimeError, match="factor"):
        chain.solve(x)
    with pytest.raises(MechanismError, match="finite"):
        chain.close(x)
    with pytest.raises(RuntimeError, match="dense=True"):
        chain.reduce(x, xdot, 1.0)


def test_arrays_that_are_too_short_never_reach_c():
    chain = case(70, 2)[2]
    with pytest.raises(ValueError, match="small"):
        chain.residual(np.zeros(27), np.zeros(28))
