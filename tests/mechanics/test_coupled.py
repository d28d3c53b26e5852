"""Loops that share joints; the families of random mechanisms hold more of them, for all other tests."""

import itertools

import numpy as np
import pytest

import linkwork as lw
from support.builder import Builder, cut_at
from support.cases import five_bar_with_three_legs, windows
from support.driving import by_joint, largest_difference, random_loads, reached, wrenches
from support.oracle import Oracle
from support.placement import body_poses
from support.random_mechanisms import FAMILIES, well_posed


@pytest.fixture
def legs():
    """The record's mechanism, compiled and in its state."""
    case = five_bar_with_three_legs()
    system = lw.compile(case.mechanism)
    return system, system.assemble(q=case.q, u=case.u)


def oracle_of(system, state):
    """The oracle at the pose that the coordinates of the tree make."""
    mechanism, joints = system.mechanism, list(system.mechanism.joints)
    q = {name: float(value) for name, value in system.by_joint(state.q).items() if np.size(value)}
    return Oracle(mechanism, body_poses(mechanism, q, [joints[link.joint] for link in system.topology.links]))


def check_dynamics(system, state, tau, tolerance=1e-11):
    """Accelerations of all joints against the oracle, and the balance of all bodies."""
    oracle = oracle_of(system, state)
    u = by_joint(system, state.u)
    solution = oracle.solve(u, tau)
    found = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(found, solution.udot) < tolerance
    assert np.abs(oracle.imbalance(solution, u, wrenches(system, state, tau))).max() < tolerance


def test_the_record(legs):
    system, state = legs
    case = five_bar_with_three_legs()
    assert [len(cluster.loops) for cluster in system.topology.clusters] == [2]
    found = by_joint(system, system.accelerations(state))
    assert {name: found[name] for name in case.udot} == pytest.approx(case.udot, rel=1e-12)


def test_the_oracle_agrees_under_loads(legs):
    system, state = legs
    check_dynamics(system, state, {name: 0.7 * k - 2.0 for k, name in enumerate("ABCDEFGH")})


@pytest.mark.parametrize("count", [2, 10])
def test_windows_against_the_oracle(count):
    case = windows(count)
    system = lw.compile(case.mechanism)
    state = system.assemble(q={name: angles[12] for name, angles in case.motion.items()}, u=case.u)
    check_dynamics(system, state, {"A0": 1.0, "B1": -2.0, "C0": 3.0})


# the number of ways to cut, counted by hand: no two cuts in one leg
CUTS = {"three_planar_legs": 27, "four_planar_legs": 108, "three_spatial_legs": 108, "coupled": 19}


@pytest.mark.parametrize("family", CUTS)
def test_the_motion_does_not_depend_on_the_cuts(family):
    scene = well_posed(FAMILIES[family][0], seed=11)
    mechanism = scene.mechanism
    names = list(mechanism.joints)
    loops = len(names) - len(mechanism.bodies)
    for name in names[:3]:
        if mechanism.joints[name].kind.nq:
            mechanism.add_force(lw.SpringDamper(name, stiffness=7.0, damping=0.4, free=0.2))
    tau = random_loads(np.random.default_rng(3), scene)
    expected = scene.oracle.solve(scene.u, tau).udot
    ways = 0
    for cuts in itertools.combinations(names, loops):
        try:
            system = lw.compile(cut_at(mechanism, *cuts))
        except lw.MechanismError as refused:
            assert "cannot be cut" in str(refused)  # noqa: PT017
            continue
        assert {names[joint] for joint in system.topology.cut_joints} == set(cuts)
        found = by_joint(system, system.accelerations(system.assemble(q=scene.q, u=scene.u), tau=tau))
        assert largest_difference(found, expected) < 1e-10, f"cut at {cuts}"
        ways += 1
    assert ways == CUTS[family]


class TestAssembly:
    @pytest.mark.parametrize("angle", [-0.2, 0.1, 0.3])
    def test_two_angles_of_the_record(self, angle):
        """Both independent coordinates are given and stay; the others are found."""
        system = lw.compile(five_bar_with_three_legs().mechanism)
        state = system.assemble(q={"A": angle, "B": -1.4}, u={"A": 2.0, "B": -1.0})
        assert [state["A.q"], state["B.q"]] == [angle, -1.4]
        assert [state["A.u"], state["B.u"]] == pytest.approx([2.0, -1.0], abs=1e-13)
        assert np.abs(system.loop_residual(state)).max() < 1e-12
        assert oracle_of(system, state).gap() < 1e-11

    @pytest.mark.parametrize("seed", range(6))
    def test_rough_guesses_of_the_record(self, seed):
        case = five_bar_with_three_legs()
        rng = np.random.default_rng(seed)
        system = lw.compile(case.mechanism)
        state = system.assemble(q={name: value + rng.uniform(-1.0, 1.0) for name, value in case.q.items()}, u=case.u)
        assert np.abs(system.loop_residual(state)).max() < 1e-12
        check_dynamics(system, state, {"A": 1.0}, tolerance=1e-8)

    @pytest.mark.parametrize("count", [2, 5, 10])
    def test_windows_from_their_first_leg(self, count):
        system = lw.compile(windows(count).mechanism)
        state = system.assemble(q={"A0": 1.1}, u={"A0": -1.0})
        assert state["A0.q"] == 1.1
        assert np.abs(system.loop_residual(state)).max() < 1e-12
        assert oracle_of(system, state).gap() < 1e-11

    def test_without_any_guess(self):
        system = lw.compile(five_bar_with_three_legs().mechanism)
        assert np.abs(system.loop_residual(system.assemble())).max() < 1e-12

    @pytest.mark.parametrize("joint", ["G", "H"])
    def test_a_leg_that_is_too_short_is_named(self, joint):
        case = five_bar_with_three_legs()
        mech = lw.Mechanism("short")
        for body in case.mechanism.bodies.values():
            mech.add_body(body.name, body.mass, body.com, body.inertia)
        for name, given in case.mechanism.joints.items():
            away = lw.Frame((-9.0 if name == joint else given.parent_frame.position[0], 0.0, 0.0))
            frames = {"parent_frame": away, "child_frame": given.child_frame}
            mech.add_joint(name, given.kind, given.parent, given.child, cut=given.cut, **frames)
        with pytest.raises(lw.AssemblyError, match=f"'{joint}'"):
            lw.compile(mech).assemble(q=case.q)


@pytest.mark.parametrize(("moved", "loop", "closed"), [("D", "G", "H"), ("F", "H", "G")])
def test_a_gap_is_reported_at_its_own_loop(legs, moved, loop, closed):
    system, state = legs
    q = state.q + 1e-6 * np.array([name == f"{moved}.q" for name in system.q_names])
    gaps = dict(zip("GH", np.ravel(system.loop_residual(q, state.u)), strict=True))
    assert gaps[loop] == pytest.approx(0.7e-6, rel=0.8)
    assert gaps[closed] < 1e-12
    displaced = system.state(q, state.u)
    assert displaced[f"loop.{loop}.residual"] == gaps[loop]


def platform(rng, ends):
    """A planar platform on one bar for each pair (point on the ground, point on the platform)."""
    builder, normal = Builder(rng, "platform"), np.array([0.0, 0.0, 1.0])
    top = builder.body(np.mean([end for _, end in ends], axis=0))
    for foot, end in ends:
        bar = builder.body((foot + end) / 2)
        builder.joint("revolute", "ground", bar, foot, normal)
        builder.joint("revolute", bar, top, end, normal)
    return builder.build()


def feet(rng, count):
    return [np.array([x, 0.2 * rng.normal(), 0.0]) for x in range(count)]


@pytest.mark.parametrize("count", [3, 5])
def test_redundant_legs(count):
    """Parallel legs of one length: three are one more than the platform needs, and still it moves."""
    rng = np.random.default_rng(count)
    across = np.array([0.4, 0.9, 0.0])
    scene = platform(rng, [(foot, foot + across) for foot in feet(rng, count)])
    assert scene.oracle.motions.shape[1] == 1
    system, state = reached(scene)
    check_dynamics(system, state, random_loads(rng, scene), tolerance=1e-10)


@pytest.mark.parametrize("count", [3, 4])
def test_coupled_loops_without_freedom(count):
    """Legs in general position hold the platform: nothing moves, and the joints carry the weight."""
    rng = np.random.default_rng(10 + count)
    scene = platform(rng, [(foot, foot + rng.uniform([-0.5, 0.5, 0.0], [0.5, 1.5, 0.0])) for foot in feet(rng, count)])
    assert scene.oracle.motions.shape[1] == 0
    system, state = reached(scene)
    assert by_joint(system, system.accelerations(state)) == pytest.approx(dict.fromkeys(scene.q, 0.0), abs=1e-9)
    found = wrenches(system, state, {})
    assert np.abs(scene.oracle.imbalance(scene.oracle.solve(scene.u), scene.u, found)).max() < 1e-9
