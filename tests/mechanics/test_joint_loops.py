"""Loops of joints of all kinds against the dense solution of support.oracle, and the identities of every mechanism.

Accelerations by each method are in test_methods.py.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from support import rings
from support.builder import cut_at, scaled
from support.cases import four_bar
from support.driving import (
    by_joint,
    coordinate_difference,
    energy_drift,
    largest_difference,
    lengths,
    names_of,
    power,
    random_loads,
    rates,
    reached,
    tree_joints,
    tree_only,
    wrenches,
)
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.loads import dissipation
from support.oracle import Oracle
from support.placement import body_poses
from support.random_mechanisms import FAMILIES as HINGE_FAMILIES
from support.random_mechanisms import single, tower_of_four_bars, well_posed
from support.state_neighbours import rate_of_energy, slopes

FAMILIES = HINGE_FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES
COUPLED = ["four_planar_legs", "three_spatial_legs", "coupled"]
pytestmark = pytest.mark.thin(12)


@pytest.fixture(params=FAMILIES)
def scene(request):
    return well_posed(FAMILIES[request.param][0], 0)


def test_state_is_kept_by_assembly(scene):
    """A closed pose and an admissible motion, given in full, are taken as they are."""
    system, state = reached(scene)
    q, u = (tree_only(system, by_joint(system, values)) for values in (state.q, state.u))
    assert coordinate_difference(scene.mechanism, q, tree_only(system, scene.q)) < 1e-12
    assert largest_difference(u, tree_only(system, scene.u)) < 1e-11
    assert np.abs(system.loop_residual(state)).max(initial=0.0) < 1e-12


def test_cut_joints_report_their_coordinates(scene):
    _, state = reached(scene)
    found = {name: state[f"{name}.q"] for name in scene.q}
    assert coordinate_difference(scene.mechanism, found, scene.q) < 1e-12
    assert largest_difference({name: state[f"{name}.u"] for name in scene.u}, scene.u) < 1e-10


def test_derivatives_of_an_exact_state_are_its_motion(scene):
    """What pulls a state back to closed loops must vanish where they are closed."""
    system, state = reached(scene)
    n = len(state.q)
    found = system.derivatives(state)
    assert largest_difference(by_joint(system, found[:n]), tree_only(system, rates(scene, scene.u))) < 1e-10
    expected = tree_only(system, scene.oracle.solve(scene.u).udot)
    assert largest_difference(by_joint(system, found[n:]), expected) < 1e-9


def test_energy(scene):
    system, state = reached(scene)
    assert system.energy(state) == pytest.approx(scene.oracle.energy(scene.u), rel=1e-11, abs=1e-11)


def test_inverse_dynamics_drives_the_same_motion(scene):
    """With loops many loads drive one motion: those found must drive it again."""
    system, state = reached(scene)
    wanted = system.accelerations(state, tau=random_loads(np.random.default_rng(2), scene))
    again = system.accelerations(state, tau=system.inverse_dynamics(state, wanted))
    assert largest_difference(by_joint(system, again), by_joint(system, wanted)) < 1e-9


def test_jacobian_against_central_differences(scene):
    system, state = reached(scene)
    expected = slopes(system, state)
    assert system.jacobian(state) == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


class TestReactions:
    def test_they_balance_every_body(self, scene):
        system, state = reached(scene)
        tau = random_loads(np.random.default_rng(3), scene)
        found = wrenches(system, state, tau)
        solution = scene.oracle.solve(scene.u, tau)
        assert np.abs(scene.oracle.imbalance(solution, scene.u, found)).max() < 1e-10

    def test_they_do_the_work_of_the_loads_only(self, scene):
        """Along its speeds a joint passes on its driving load, spring, damper and couplings, nothing else."""
        system, state = reached(scene)
        tau = random_loads(np.random.default_rng(4), scene)
        found = wrenches(system, state, tau)
        loads = scene.oracle.geared(scene.oracle.loads(scene.u, tau), scene.oracle.solve(scene.u, tau))
        axial = scene.oracle.axial(found)
        scale = max(1.0, *(np.abs(w).max() for w in found.values()))
        assert max(np.abs(np.subtract(axial[name], loads[name])).max() for name in loads) < 1e-9 * scale

    def test_where_they_are_determined(self, scene):
        system, state = reached(scene)
        tau = random_loads(np.random.default_rng(5), scene)
        found = wrenches(system, state, tau)
        solution = scene.oracle.solve(scene.u, tau)
        loads = scene.oracle.geared(scene.oracle.loads(scene.u, tau), solution)
        expected = scene.oracle.with_loads(solution.reaction, loads)
        scale = max(1.0, *(np.abs(w).max() for w in expected.values()))
        for name, projector in solution.determined.items():
            assert projector @ found[name] == pytest.approx(projector @ expected[name], abs=1e-9 * scale), name


def test_power_is_the_rate_of_energy(scene):
    """Loads times speeds, less what the dampers take, is dE/dt along the motion, to sixth order."""
    system, state = reached(scene)
    tau = random_loads(np.random.default_rng(6), scene)
    rate = rate_of_energy(system, state, system.derivatives(state, tau=tau))
    taken = dissipation(scene.mechanism, scene.oracle.bodies, scene.u, scene.oracle.velocities(scene.u))
    assert rate == pytest.approx(power(tau, scene.u) - taken, rel=1e-6, abs=1e-5)


CUTS = ["planar_4R_springs", "slider_crank", "spatial_6R_1P", "spherical_4R", "bennett_4R", "sarrus_6R"]
CUTS += ["RSSR", "RUSR", "RCCC", "EUC", "PUCS", "RRCS_flat", "RRRU_centred", "tripod_PRS", "ladder_mixed"]


@pytest.mark.parametrize("family", CUTS)
def test_the_motion_does_not_depend_on_the_cuts(family):
    scene = well_posed(FAMILIES[family][0], seed=11)
    tau = random_loads(np.random.default_rng(7), scene)
    expected = scene.oracle.solve(scene.u, tau).udot
    loops = len(scene.mechanism.joints) - len(scene.mechanism.bodies)
    ways = 0
    for name in scene.mechanism.joints:
        system = lw.compile(cut_at(scene.mechanism, name))
        assert len(system.topology.cut_joints) == loops
        found = by_joint(system, system.accelerations(system.assemble(q=scene.q, u=scene.u), tau=tau))
        assert largest_difference(found, expected) < 1e-10, f"cut at {name}"
        ways += 1
    assert ways == len(scene.mechanism.joints)


TURNING = [
    "planar_5R",
    "spatial_7R",
    "spherical_4R",
    "bennett_4R",
    "closed_chain_12R",
    "three_planar_legs",
    *COUPLED[:2],
]
TURNING += [
    "RSSR",
    "RUSR",
    "UUUU",
    "SSS",
    "RRSRR",
    "universal_cut",
    "spherical_backward",
    "ladder_hooke",
    "RRS_centred",
]


@pytest.mark.parametrize("family", TURNING)
def test_inadmissible_speeds_are_projected(family):
    """In a closed pose the motion is the admissible one nearest to u, whatever joint is cut and whatever the masses."""
    scene = well_posed(FAMILIES[family][0], seed=7)
    system, state = reached(scene)
    joints = names_of(system.u_names)
    motions = [scene.oracle.joint_speeds(column) for column in scene.oracle.motions.T]
    columns = [np.concatenate([np.atleast_1d(motion[name]) for name in joints]) for motion in motions]
    basis, _ = np.linalg.qr(np.column_stack(columns))
    u = np.random.default_rng(7).normal(size=len(state.u))
    found = by_joint(system, system.derivatives(state.q, u)[: len(state.q)])
    assert largest_difference(found, rates(scene, by_joint(system, basis @ (basis.T @ u)))) < 1e-10


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_no_size_is_special(size):
    """Lengths and gravity times `size`: angles accelerate alike, so no threshold may be a length."""
    for family in (
        *("planar_5R", "spatial_7R", "spherical_4R", "bennett_4R", "outboard_trees", *COUPLED),
        "RSSR",
        "RCCC",
        "EUC",
        "PUCS",
        "free_cut",
        "planar_cut",
        "RRCS_flat",
        "stewart_SPS",
        "delta_US",
        "ladder_mixed",
    ):
        scene = well_posed(FAMILIES[family][0], seed=6)
        expected = scene.oracle.solve(scene.u).udot
        of_q, of_u = lengths(scene, size)
        system = lw.compile(scaled(scene.mechanism, size))
        q, u = {n: v * of_q[n] for n, v in scene.q.items()}, {n: v * of_u[n] for n, v in scene.u.items()}
        found = by_joint(system, system.accelerations(system.assemble(q=q, u=u)))
        found = {n: v / of_u[n] if np.ndim(v) else v / float(of_u[n][0]) for n, v in found.items()}
        assert largest_difference(found, expected) < 1e-10, family


DISPLACED = ["planar_4R", "slider_crank_cut_slider", "spatial_7R", "moving_planar_4R", "loop_on_loop", *COUPLED]
DISPLACED += ["RSSR", "RUSR", "RCCC", "EUC", "planar_cut", "RRCS_flat", "tripod_RUU", "ladder_hooke"]
DISPLACED += ["rack", "cam", "gear_of_elements", "screw_in_loop", "screw_as_cut_joint", "gear_between_loops"]


@pytest.mark.parametrize("family", DISPLACED)
def test_displaced_states_come_back(family):
    """States a little off the closed pose are pulled back, by the feedback in the derivatives."""
    scene = well_posed(FAMILIES[family][0], seed=3)
    system, state = reached(scene)
    n, y = len(state.q), np.r_[state.q, state.u]
    y += 1e-6 * np.random.default_rng(3).normal(size=len(y))
    solution = solve_ivp(
        lambda _, y: system.derivatives(y[:n], y[n:]), (0.0, 2.0), y, method="DOP853", rtol=1e-10, atol=1e-11
    )
    assert solution.success
    before, after = (gap(system, scene, values[:n]) for values in (y, solution.y[:, -1]))
    assert before > 1e-7
    assert after < 0.5 * before


def gap(system, scene, q):
    """What joints and couplings bar and the coordinates of the tree have, by the oracle."""
    values = tree_only(system, by_joint(system, q))
    poses = body_poses(system.mechanism, values, tree_joints(system))
    return Oracle(system.mechanism, poses, values, gears=scene.gears).gap()


@pytest.mark.thin(4)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", ["delta_SS", "delta_US"])
def test_past_singular_poses(family, seed):
    """Robots of parallelograms that fall freely pass poses in which their motion branches."""
    scene = well_posed(JOINT_FAMILIES[family][0], seed)
    scene.mechanism.start(q=scene.q, u=scene.u)
    result = lw.simulate(scene.mechanism, 5.0, rtol=1e-9, t_eval=np.linspace(0.0, 5.0, 51))
    total = result["energy.kinetic"] + result["energy.potential"]
    assert np.abs(total - total[0]).max() < 1e-4 * result["energy.kinetic"].max()


@pytest.mark.parametrize(
    "family",
    [
        *("planar_5R", "spatial_7R", "moving_planar_4R", "three_planar_legs", "coupled"),
        *("RSSR", "CCCC", "EUC", "RUSR_on_free_base", "stewart_SPS", "delta_US", "ladder_spherical"),
    ],
)
def test_energy_is_conserved(family):
    scene = well_posed(FAMILIES[family][0], seed=3)
    scene.mechanism.forces.clear()
    scene.mechanism.start(q=scene.q, u=scene.u)
    result = lw.simulate(scene.mechanism, 1.0, rtol=1e-10, t_eval=np.linspace(0.0, 1.0, 11))
    assert energy_drift(result) < 1e-7


@pytest.mark.parametrize("cut", ["D", "C"])
def test_four_bar_of_record(cut):
    case = four_bar(cut)
    system = lw.compile(case.mechanism)
    state = system.assemble(q=case.q, u=case.u)
    found = by_joint(system, system.accelerations(state))
    assert found == pytest.approx(case.udot, rel=1e-12)
    assert system.energy(state) == pytest.approx((0.780399589499966, 18.327225750202), rel=1e-12)


def test_loop_without_freedom():
    """A triangle of bars is a structure: nothing moves, and its joints carry the weight."""
    rng = np.random.default_rng(8)
    scene = single(lambda rng: rings.planar(rng, 3))(rng)
    system, state = reached(scene)
    assert by_joint(system, system.accelerations(state)) == pytest.approx(dict.fromkeys(scene.q, 0.0), abs=1e-9)
    found = wrenches(system, state, {})
    assert np.abs(scene.oracle.imbalance(scene.oracle.solve(scene.u), scene.u, found)).max() < 1e-9


def test_many_loops_in_a_row():
    """Twelve four-bars, each on the coupler of the one before."""
    scene = well_posed(tower_of_four_bars(12), seed=9, least=0.004)
    system, state = reached(scene)
    tau = random_loads(np.random.default_rng(9), scene)
    found = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(found, scene.oracle.solve(scene.u, tau).udot) < 1e-11


@pytest.mark.parametrize("count", [1, 3, 4])
def test_batches(count):
    """Leading dimensions are a batch; four is the number of joints, which must not be taken for one row a joint."""
    case = four_bar()
    system = lw.compile(case.mechanism)
    states = [system.assemble(q={"A": 0.2 * k}, u={"A": 1.0 + k}) for k in range(count)]
    q, u = np.array([state.q for state in states]), np.array([state.u for state in states])
    tau = {"A": np.arange(float(count))}
    together = system.accelerations(q, u, tau=tau)
    named = system.by_joint(together)
    assert set(named) == set("ABCD")
    for k, state in enumerate(states):
        alone = system.accelerations(state, tau={"A": float(k)})
        assert np.array_equal(together[k], alone)
        assert {name: values[k] for name, values in named.items()} == by_joint(system, alone)
    assert system.reactions(q, u).shape == (count, 4, 6)
    assert system.jacobian(q, u).shape == (count, 6, 6)
    assert system.energy(q, u).kinetic.shape == (count,)
