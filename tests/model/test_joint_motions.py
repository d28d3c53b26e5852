"""Joints of several speeds at a state: masses, derivatives, the same motion out of hinges and slides, loops."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.mobility import degrees_of_freedom
from support.joint_types import (
    LOOP_IDS,
    LOOPS,
    SEVERAL,
    on_carrier,
    on_chain,
    plunger,
    rotation,
    spherical_pendulum,
    tumbling,
)

EVERY = pytest.mark.parametrize("name", SEVERAL)
BOTH_WAYS = pytest.mark.parametrize("backwards", [False, True], ids=["forward", "backwards"])
LOOP = pytest.mark.parametrize(("make", "cut"), LOOPS, ids=LOOP_IDS)


def moved(system):
    """A state away from the start, and loads on all joints."""
    start, rng = system.assemble(), np.random.default_rng(3)
    q = start.q + 0.3 * rng.normal(size=start.q.size)
    return q, start.u + rng.normal(size=start.u.size), rng.normal(size=system.numbering.nu_all)


# ---- loads and masses ----


@EVERY
@BOTH_WAYS
def test_inverse_dynamics_undoes_the_loads(name, backwards):
    mech = on_carrier(name, backwards=backwards)
    mech.add_force(lw.SpringDamper("S", damping=np.linspace(0.1, 0.4, SEVERAL[name].kind.nu)))
    system = lw.compile(mech)
    q, u, tau = moved(system)
    udot = system.accelerations(q, u, tau=tau)
    np.testing.assert_allclose(system.inverse_dynamics(q, udot, u), tau, atol=1e-12)


@EVERY
@BOTH_WAYS
def test_mass_matrix_is_that_of_the_kinetic_energy(name, backwards):
    system = lw.compile(on_carrier(name, backwards=backwards))
    q, u, _ = moved(system)
    matrix = system.mass_matrix(q, u)
    assert matrix.shape == (u.size, u.size)
    assert 0.5 * u @ matrix @ u == pytest.approx(system.energy(q, u).kinetic, rel=1e-13)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-14)


# ---- derivatives ----


@EVERY
@BOTH_WAYS
def test_jacobian_is_that_of_differences(name, backwards):
    mech = on_carrier(name, backwards=backwards)
    mech.add_force(lw.SpringDamper("S", damping=0.3))
    check_jacobian(lw.compile(mech))


@LOOP
def test_jacobian_of_a_loop(make, cut):
    check_jacobian(lw.compile(make(cut)))


def check_jacobian(system):
    state, n = system.assemble(), system.sizes.nq
    y = np.concatenate([state.q, state.u])
    h = 1e-6

    def derivatives(y):
        return system.derivatives(y[:n], y[n:])

    differences = np.stack(
        [(derivatives(y + h * e) - derivatives(y - h * e)) / (2 * h) for e in np.eye(y.size)], axis=1
    )
    found = system.jacobian(y[:n], y[n:])
    assert found.shape == (n + system.sizes.nu,) * 2
    np.testing.assert_allclose(found, differences, atol=2e-7 * np.abs(found).max())


@EVERY
@BOTH_WAYS
def test_derivatives_of_coordinates_move_the_body(name, backwards):
    """The velocities that the speeds mean are those at which the pose changes as the coordinates do."""
    system = lw.compile(on_carrier(name, backwards=backwards))
    state = system.assemble()
    qdot, h = system.derivatives(state)[: system.sizes.nq], 1e-6
    ahead, behind = (system.state(state.q + side * h * qdot, state.u) for side in (1, -1))
    for body in ("carrier", "body"):
        np.testing.assert_allclose((ahead[f"{body}.r"] - behind[f"{body}.r"]) / (2 * h), state[f"{body}.v"], atol=1e-8)
        turned = (
            (rotation(ahead[f"{body}.Q"]) - rotation(behind[f"{body}.Q"])) / (2 * h) @ rotation(state[f"{body}.Q"]).T
        )
        spin = [turned[2, 1], turned[0, 2], turned[1, 0]]
        np.testing.assert_allclose(spin, state[f"{body}.w"], atol=1e-8)


def test_the_length_of_a_quaternion_has_no_effect():
    system = lw.compile(tumbling())
    q, u, tau = moved(system)
    longer = q.copy()
    longer[3:] *= 3.0
    for function in (system.accelerations, system.reactions):
        np.testing.assert_allclose(function(longer, u, tau=tau), function(q, u, tau=tau), atol=1e-12)
    inward = system.derivatives(longer, u)[3:7] @ longer[3:]
    assert inward < 0.0  # back to length one


# ---- the same motion out of hinges and slides ----


@EVERY
def test_accelerations_are_those_of_a_chain(name):
    """Of the body's velocities: speeds mean other things."""
    several, chain = lw.compile(on_carrier(name)), lw.compile(on_chain(name))
    states = [system.assemble() for system in (several, chain)]
    for what in ("r", "v", "w"):
        np.testing.assert_allclose(states[0][f"body.{what}"], states[1][f"body.{what}"], atol=1e-13)
    np.testing.assert_allclose(rotation(states[0]["body.Q"]), rotation(states[1]["body.Q"]), atol=1e-13)
    if not isinstance(SEVERAL[name].kind, lw.Spherical | lw.Free):
        expected = [states[1][f"S{i + 1}.a"] for i in range(len(SEVERAL[name].chain))]
        np.testing.assert_allclose(states[0]["S.a"], expected, rtol=1e-6, atol=1e-6)
    assert states[0]["A.a"] == pytest.approx(states[1]["A.a"], rel=1e-6)
    last = f"S{len(SEVERAL[name].chain)}"
    for what in "ft":  # loads of joint and chain on the body are the same; the chain's last joint stands at its origin
        np.testing.assert_allclose(states[0][f"S.{what}"], states[1][f"{last}.{what}"], atol=1e-6)


@pytest.mark.parametrize("name", ["universal", "cylindrical", "planar"])
def test_springs_dampers_and_loads_are_those_of_a_chain(name):
    mechs = on_carrier(name), on_chain(name)
    stiffness, damping, free, tau = np.random.default_rng(2).uniform(0.5, 2.0, size=(4, SEVERAL[name].kind.nu))
    mechs[0].add_force(lw.SpringDamper("S", stiffness=stiffness, damping=damping, free=free))
    for i in range(len(tau)):
        mechs[1].add_force(lw.SpringDamper(f"S{i + 1}", stiffness[i], damping[i], free[i]))
    several, chain = map(lw.compile, mechs)
    states = several.assemble(), chain.assemble()
    found = several.accelerations(states[0], tau={"S": tau})
    expected = chain.accelerations(states[1], tau={f"S{i + 1}": tau[i] for i in range(len(tau))})
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)
    assert several.energy(states[0]).potential == pytest.approx(chain.energy(states[1]).potential, rel=1e-7)


# ---- loops ----


@LOOP
def test_a_loop_is_closed_and_the_same_wherever_it_is_cut(make, cut):
    system, other = lw.compile(make(cut)), lw.compile(make("U"))
    assert system.loop_names == [cut]
    state, expected = system.assemble(), other.assemble()
    assert system.loop_residual(state).max() < 1e-12
    udot, wanted = system.by_joint(system.accelerations(state)), other.by_joint(other.accelerations(expected))
    q, u = system.by_joint(state.q), system.by_joint(state.u)
    for joint in system.joint_names:
        np.testing.assert_allclose(q[joint], other.by_joint(expected.q)[joint], atol=1e-9)
        np.testing.assert_allclose(u[joint], other.by_joint(expected.u)[joint], atol=1e-9)
        np.testing.assert_allclose(udot[joint], wanted[joint], atol=1e-7)


@LOOP
def test_a_closed_pose_given_in_full_is_kept(make, cut):
    """Start values of every joint, the cut one's quaternion included, from a motion with another cut."""
    result = lw.simulate(make("U"), 0.4, rtol=1e-11, t_eval=[0.4])
    system = lw.compile(make(cut))
    q, u = ({joint: result[f"{joint}.{what}"][-1] for joint in system.joint_names} for what in "qu")
    state = system.assemble(q=q, u=u)
    for joint in system.joint_names:
        np.testing.assert_allclose(state[f"{joint}.q"], q[joint], atol=1e-7)
        np.testing.assert_allclose(state[f"{joint}.u"], u[joint], atol=1e-7)


def test_a_free_joint_that_closes_a_loop_constrains_nothing():
    bare = spherical_pendulum()
    mech = spherical_pendulum()
    mech.add_joint("F", lw.Free(), "ground", "bob", parent_frame=lw.Frame((1, 2, 3)), cut=True)
    system, alone = lw.compile(mech), lw.compile(bare)
    state = system.assemble()
    assert system.loop_names == ["F"]
    np.testing.assert_allclose(system.accelerations(state), alone.accelerations(alone.assemble()), atol=1e-12)
    np.testing.assert_allclose(state["F.q"][:3], state["bob.r"] - [1, 2, 3], atol=1e-14)
    np.testing.assert_allclose(rotation(state["F.q"][3:]), rotation(state["bob.Q"]), atol=1e-14)
    np.testing.assert_allclose(state["F.u"][:3], state["S.u"], atol=1e-14)


def test_a_plunger_has_two_degrees_of_freedom():
    for cut in "ASUC":
        system = lw.compile(plunger(cut))
        assert degrees_of_freedom(system, system.assemble()) == 2
