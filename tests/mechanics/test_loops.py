"""Loops against the dense solution of support.oracle, and the identities that hold for every mechanism."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from support import rings
from support.builder import cut_at, scaled
from support.cases import four_bar
from support.driving import by_joint, largest_difference, random_loads, reached, tree_only, wrenches
from support.random_mechanisms import FAMILIES, single, tower_of_four_bars, well_posed

SEEDS = range(2)
COUPLED = ["four_planar_legs", "three_spatial_legs", "coupled"]
pytestmark = pytest.mark.thin(4)


@pytest.fixture(params=[(family, seed) for family in FAMILIES for seed in SEEDS], ids=lambda p: f"{p[0]}-{p[1]}")
def scene(request):
    family, seed = request.param
    return well_posed(FAMILIES[family][0], seed)


def test_accelerations_of_all_joints(scene):
    """Those of the joints that close the loops included."""
    system, state = reached(scene)
    tau = random_loads(np.random.default_rng(0), scene)
    found = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(found, scene.oracle.solve(scene.u, tau).udot) < 1e-11


def test_state_is_kept_by_assembly(scene):
    """A closed pose and an admissible motion, given in full, are taken as they are."""
    system, state = reached(scene)
    assert tree_only(system, by_joint(system, state.q)) == pytest.approx(tree_only(system, scene.q), abs=1e-12)
    assert tree_only(system, by_joint(system, state.u)) == pytest.approx(tree_only(system, scene.u), abs=1e-11)
    assert np.abs(system.loop_residual(state)).max() < 1e-12


def test_cut_joints_report_their_coordinates(scene):
    _, state = reached(scene)
    for name in scene.q:
        turns = (state[f"{name}.q"] - scene.q[name]) / (2 * np.pi)
        if scene.mechanism.joints[name].kind.type_name == "revolute":
            turns -= np.round(turns)
        assert turns == pytest.approx(0.0, abs=1e-12)
        assert state[f"{name}.u"] == pytest.approx(scene.u[name], abs=1e-10)


def test_derivatives_of_an_exact_state_are_its_motion(scene):
    """What pulls a state back to closed loops must vanish where they are closed."""
    system, state = reached(scene)
    n = len(state.q)
    found = system.derivatives(state)
    expected = by_joint(system, system.accelerations(state))
    assert found[:n] == pytest.approx(state.u, abs=1e-11)
    scale = max(1.0, *map(abs, expected.values()))
    assert by_joint(system, found[n:]) == pytest.approx(tree_only(system, expected), abs=1e-10 * scale)


def test_energy(scene):
    system, state = reached(scene)
    assert system.energy(state) == pytest.approx(scene.oracle.energy(scene.u), rel=1e-11, abs=1e-11)


def test_inverse_dynamics_drives_the_same_motion(scene):
    """With loops many loads drive one motion: those found must drive it again."""
    system, state = reached(scene)
    tau = random_loads(np.random.default_rng(2), scene)
    wanted = system.accelerations(state, tau=tau)
    loads = system.inverse_dynamics(state, wanted)
    again = by_joint(system, system.accelerations(state, tau=loads))
    assert largest_difference(again, by_joint(system, wanted)) < 1e-9


def test_jacobian_against_central_differences(scene):
    """The complex step must go through every branch of the real code."""
    system, state = reached(scene)
    n = len(state.q)
    y = np.r_[state.q, state.u]

    def slope(direction, h=1e-6):
        forward, backward = (y + step * direction for step in (h, -h))
        return (system.derivatives(forward[:n], forward[n:]) - system.derivatives(backward[:n], backward[n:])) / (2 * h)

    expected = np.column_stack([slope(direction) for direction in np.eye(2 * n)])
    assert system.jacobian(state) == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


CUTS = {
    "planar_4R": (rings.planar, 4),
    "slider_crank": (rings.slider_crank, 4),
    "spatial_6R_1P": (lambda rng: rings.spatial(rng, 7, 1), 7),
    "spherical_4R": (rings.spherical, 4),
    "bennett_4R": (rings.bennett, 4),
    "sarrus_6R": (rings.sarrus, 6),
    "closed_chain_9R": (lambda rng: rings.spatial(rng, 9), 9),
}


@pytest.mark.parametrize("ring", CUTS)
def test_the_motion_does_not_depend_on_the_cut(ring):
    make, joints = CUTS[ring]
    scene = well_posed(single(make, springs=True), seed=11)
    tau = random_loads(np.random.default_rng(3), scene)
    expected = scene.oracle.solve(scene.u, tau).udot
    for name in scene.q:
        system = lw.compile(cut_at(scene.mechanism, name))
        assert [system.mechanism.joints[name].cut, len(system.topology.loops)] == [True, 1]
        assert system.topology.loops[0].joint == list(system.mechanism.joints).index(name)
        state = system.assemble(q=scene.q, u=scene.u)
        found = by_joint(system, system.accelerations(state, tau=tau))
        assert largest_difference(found, expected) < 1e-11, f"cut at {name}"
    assert len(scene.q) == joints


@pytest.mark.parametrize("cut", ["D", "C"])
def test_four_bar_of_record(cut):
    case = four_bar(cut)
    system = lw.compile(case.mechanism)
    state = system.assemble(q=case.q, u=case.u)
    found = by_joint(system, system.accelerations(state))
    assert found == pytest.approx(case.udot, rel=1e-12)
    assert system.energy(state) == pytest.approx((0.780399589499966, 18.327225750202), rel=1e-12)


@pytest.mark.parametrize(
    "family", ["planar_4R", "slider_crank_cut_slider", "spatial_7R", "moving_planar_4R", "loop_on_loop", *COUPLED]
)
def test_displaced_states_come_back(family):
    """States a little off the closed pose are pulled back, by the feedback in the derivatives."""
    scene = well_posed(FAMILIES[family][0], seed=3)
    system, state = reached(scene)
    rng = np.random.default_rng(3)
    n = len(state.q)
    y = np.r_[state.q, state.u] + 1e-6 * rng.normal(size=2 * n)
    before = np.abs(system.loop_residual(y[:n], y[n:])).max()
    solution = solve_ivp(
        lambda _, y: system.derivatives(y[:n], y[n:]), (0.0, 2.0), y, method="DOP853", rtol=1e-10, atol=1e-11
    )
    assert solution.success
    after = np.abs(system.loop_residual(solution.y[:n, -1], solution.y[n:, -1])).max()
    assert before > 1e-8
    assert after < 0.3 * before


SINGLE = ["planar_5R", "spatial_7R", "spherical_4R", "bennett_4R", "closed_chain_12R"]


@pytest.mark.parametrize("family", [*SINGLE, "three_planar_legs", "four_planar_legs", "three_spatial_legs"])
def test_inadmissible_speeds_are_projected(family):
    """In a closed pose qdot is the admissible motion nearest to u, whatever joint is cut and whatever the masses."""
    scene = well_posed(FAMILIES[family][0], seed=7)
    system, state = reached(scene)
    joints = [name.removesuffix(".u") for name in system.u_names]
    motions = [scene.oracle.joint_speeds(column) for column in scene.oracle.motions.T]
    basis, _ = np.linalg.qr(np.array([[motion[name] for motion in motions] for name in joints]))
    u = np.random.default_rng(7).normal(size=len(joints))
    found = system.derivatives(state.q, u)[: len(joints)]
    assert found == pytest.approx(basis @ (basis.T @ u), abs=1e-10)


@pytest.mark.parametrize("size", [1e-3, 1e3])
@pytest.mark.parametrize(
    "family", ["planar_5R", "spatial_7R", "spherical_4R", "bennett_4R", "outboard_trees", *COUPLED]
)
def test_no_size_is_special(family, size):
    """Lengths and gravity times `size`: angles accelerate alike, so no threshold may be a length."""
    scene = well_posed(FAMILIES[family][0], seed=6)
    expected = scene.oracle.solve(scene.u).udot
    kinds = {name: joint.kind.type_name for name, joint in scene.mechanism.joints.items()}
    system = lw.compile(scaled(scene.mechanism, size))
    lengths = {name: size if kinds[name] == "prismatic" else 1.0 for name in scene.q}
    q, u = ({name: value * lengths[name] for name, value in given.items()} for given in (scene.q, scene.u))
    found = by_joint(system, system.accelerations(system.assemble(q=q, u=u)))
    assert largest_difference({name: found[name] / lengths[name] for name in found}, expected) < 1e-10


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
