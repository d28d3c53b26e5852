"""Systems as chains: their states as unknowns and back, and accelerations by the two formulations."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import MechanismError
from linkwork.simulation.dae.chou import Chain
from support import chou_oracle as oracle
from support.chains import hung, random_state
from support.poses import quaternion_matrix

ways = pytest.mark.parametrize("reverse", [False, True], ids=["outwards", "either_way"])


@ways
@pytest.mark.parametrize("n", [1, 2, 7])
def test_unknowns_are_where_the_system_has_its_bodies(n, reverse):
    rng = np.random.default_rng(n)
    system = hung(rng, n, reverse)
    chain = Chain.of(system)
    q, u = random_state(rng, system)
    x = chain.unknowns(q, u).reshape(n, 14)
    for row, name in zip(x, chain.names, strict=True):
        r, orientation, v, w = (system.value(f"{name}.{what}", q, u) for what in "rQvw")
        turn = quaternion_matrix(orientation)
        arm = turn @ system.mechanism.bodies[name].com
        np.testing.assert_allclose(row[:3], r + arm, atol=1e-12)
        np.testing.assert_allclose(row[3:6], v + np.cross(w, arm), atol=1e-11)
        np.testing.assert_allclose(quaternion_matrix(row[6:10]), turn, atol=1e-13)
        np.testing.assert_allclose(turn @ (2 * oracle.matrix_g(row[6:10]) @ row[10:]), w, atol=1e-12)


@ways
def test_states_come_back_with_their_signs(reverse):
    rng = np.random.default_rng(20)
    system = hung(rng, 5, reverse)
    chain = Chain.of(system)
    given = [random_state(rng, system) for _ in range(6)]
    rows = chain.states(np.array([chain.unknowns(*state) for state in given]).reshape(2, 3, -1))
    np.testing.assert_allclose(rows.reshape(6, -1), [np.concatenate(state) for state in given], atol=1e-12)


def test_states_follow_the_unknowns_through_full_turns():
    """A body that turns twice comes back to the same quaternion without jumps."""
    rng = np.random.default_rng(30)
    system = hung(rng, 3)
    chain = Chain.of(system)
    q, u = random_state(rng, system)
    half = np.linspace(0, 2 * np.pi, 401)
    x = np.tile(chain.unknowns(q, u), (half.size, 1)).reshape(-1, 3, 14)
    for row, angle in zip(x, half, strict=True):
        about = np.array([np.cos(angle), np.sin(angle), 0, 0])
        row[1, 6:10] = oracle.quaternion_product(row[1, 6:10], about)
        row[1, 10:] = oracle.quaternion_product(row[1, 10:], about)
    rows = chain.states(x.reshape(half.size, -1))[:, :12]
    assert np.abs(np.diff(rows, axis=0)).max() < 0.02
    np.testing.assert_allclose(rows[-1], rows[0], atol=1e-12)
    once = rows[200][
        chain.q_index
    ]  # the same attitude by the other quaternion, in the two joints of the body that turned
    np.testing.assert_allclose(once, rows[0][chain.q_index] * [[1], [-1], [-1]], atol=1e-12)


@ways
@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_accelerations_are_those_of_the_tree(n, reverse):
    """The tree's, in joint coordinates by articulated bodies, differenced into those of the bodies' unknowns."""
    rng = np.random.default_rng(40 + n)
    system = hung(rng, n, reverse)
    chain = Chain.of(system)
    q, u = random_state(rng, system)
    x = chain.unknowns(q, u)
    xdot = chain.kernels().derivative(x)
    udot = system.accelerations(q, u)
    step = 1e-40j  # the unknowns are analytic in the states
    found = spun(chain, x + step * xdot).imag / step.imag
    np.testing.assert_allclose(found, udot[..., chain.u_index], atol=1e-10 * np.abs(udot).max())


def spun(chain, x):
    """Speeds of joints by complex unknowns, written with matrices."""
    rows = x.reshape(-1, 14)
    A = oracle.attitude(rows[:, 6:10])
    w = oracle.times(A, 2 * oracle.times(oracle.matrix_g(rows[:, 6:10]), rows[:, 10:]))
    speeds = []
    for i in range(chain.n):
        before_w, before_A = (w[i - 1], A[i - 1]) if i else (0.0, np.eye(3))
        frame = before_A @ quaternion_matrix(chain.inner_turn[i])
        relative = before_w - w[i]
        if not chain.reversed[i]:
            frame, relative = A[i] @ quaternion_matrix(chain.outer_turn[i]), -relative
        speeds.append(frame.T @ relative)
    return np.array(speeds)


def two_bodies(kind=None):
    mech = lw.Mechanism("two")
    for name in "ab":
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=np.eye(3))
    mech.add_joint("A", lw.Spherical(), "ground", "a", at=(0, 0, 0))
    mech.add_joint("B", kind or lw.Spherical(), "a", "b", at=(1, 0, 0))
    return mech


def branched():
    mech = two_bodies()
    mech.add_body("c", mass=1.0, com=(0.5, 0, 0), inertia=np.eye(3))
    mech.add_joint("C", lw.Spherical(), "a", "c", at=(1, 0, 0))
    return mech


def two_chains():
    mech = two_bodies()
    mech.add_body("c", mass=1.0, com=(0.5, 0, 0), inertia=np.eye(3))
    mech.add_joint("C", lw.Spherical(), "ground", "c", at=(1, 0, 0))
    return mech


def closed():
    mech = two_bodies()
    mech.add_joint("C", lw.Spherical(), "b", "ground", at=(2, 0, 0), cut=True)
    return mech


def with_distance():
    mech = two_bodies()
    mech.add_distance("rod", ("ground", "b"), ((0, 0, 0), (1, 0, 0)))
    return mech


def with_force(force):
    mech = two_bodies()
    mech.add_force(force)
    return mech


def with_transition():
    mech = two_bodies()
    mech.add_transition("latch", lw.Lock("B"), when=lw.Time(1.0))
    return mech


@pytest.mark.parametrize(
    ("mech", "words"),
    [
        (two_bodies(lw.Revolute((0, 0, 1))), "joint 'B' is Revolute"),
        (two_bodies(lw.Fixed()), "joint 'B' is Fixed"),
        (branched(), "joint 'C' the mechanism branches"),
        (two_chains(), "joint '[AC]' the mechanism branches"),
        (closed(), "joint 'C' closes a loop"),
        (with_distance(), "distance 'rod'"),
        (with_force(lw.SpringDamper("B", damping=0.1)), "SpringDamper in joint 'B'"),
        (with_force(lw.Wrench("b", name="push")), "Wrench 'push'"),
        (with_transition(), "transition 'latch'"),
    ],
)
def test_what_is_no_such_chain_is_refused(mech, words):
    with pytest.raises(MechanismError, match=f"{words}.*; use formulation='ggl'"):
        Chain.of(lw.compile(mech))
