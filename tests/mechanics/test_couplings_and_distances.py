"""Couplings and distances: accelerations, loads and reactions against the oracle, by all methods, and over time."""

import numpy as np
import pytest

import linkwork as lw
from support.coupled_families import GEARED
from support.driving import by_joint, energy_drift, largest_difference, power, random_loads, wrenches
from support.geared import with_gear_loads
from support.loads import dissipation
from support.methods import CLUSTER_METHODS, METHODS, METHODS_OF_DISTANCES, compiled
from support.random_mechanisms import well_posed
from support.spanned import SPANNED
from support.state_neighbours import rate_of_energy

MAKERS = GEARED | SPANNED
# Each mechanism by one method, each method with every few mechanisms.
CASES = [(name, METHODS[k % len(METHODS)]) for k, name in enumerate(GEARED)]
CASES += [(name, METHODS_OF_DISTANCES[k % len(METHODS_OF_DISTANCES)]) for k, name in enumerate(SPANNED)]
IN_CLUSTERS = [(name, CLUSTER_METHODS[k % len(CLUSTER_METHODS)]) for k, name in enumerate(MAKERS)]
pytestmark = pytest.mark.thin(5)

each_case = pytest.mark.parametrize("case", CASES, ids="-".join)
each_in_clusters = pytest.mark.parametrize("case", IN_CLUSTERS, ids="-".join)


def reached(case):
    name, method = case
    scene = well_posed(MAKERS[name], seed=1)
    system = compiled(scene.mechanism, method)
    return scene, system, system.assemble(q=scene.q, u=scene.u)


def values(system, state, tau, names, what):
    return {name: float(system.value(f"{name}.{what}", state, tau=tau)) for name in names}


@each_case
def test_accelerations_loads_and_forces(case):
    scene, system, state = reached(case)
    assert np.abs(system.coupling_residual(state)).max(initial=0.0) < 1e-12
    assert np.abs(system.distance_residual(state)).max(initial=0.0) < 1e-12
    tau = random_loads(np.random.default_rng(0), scene)
    solution = scene.oracle.solve(scene.u, tau)
    found = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(found, solution.udot) < 1e-10
    loads = values(system, state, tau, system.coupling_names, "load")
    forces = values(system, state, tau, system.distance_names, "force")
    assert all(solution.multiplier_determined[name] for name in loads | forces)
    assert largest_difference(loads, solution.gear) < 1e-10
    assert largest_difference(forces, solution.tension) < 1e-10


@each_case
def test_reactions(case):
    """All bodies in balance; joints carry along their coordinates what loads and couplings ask for; the determined."""
    scene, system, state = reached(case)
    tau = random_loads(np.random.default_rng(1), scene)
    oracle, found = scene.oracle, wrenches(system, state, tau)
    solution = oracle.solve(scene.u, tau)
    scale = max(1.0, *(np.abs(w).max() for w in found.values()))
    forces = values(system, state, tau, system.distance_names, "force")
    assert np.abs(oracle.imbalance(solution, scene.u, found, forces)).max() < 1e-11
    loads = with_gear_loads(scene, solution, oracle.loads(scene.u, tau))
    assert largest_difference(oracle.axial(found), loads) < 1e-9 * scale
    expected = oracle.with_loads(solution.reaction, loads)
    for name, projector in solution.determined.items():
        assert projector @ found[name] == pytest.approx(projector @ expected[name], abs=1e-9 * scale), name


@each_case
def test_they_do_no_work(case):
    """The energy changes by the power of loads and dampers alone."""
    scene, system, state = reached(case)
    tau = random_loads(np.random.default_rng(2), scene)
    rate = rate_of_energy(system, state, system.derivatives(state, tau=tau))
    taken = dissipation(scene.mechanism, scene.oracle.bodies, scene.u, scene.oracle.velocities(scene.u))
    assert rate == pytest.approx(power(tau, scene.u) - taken, rel=1e-7, abs=1e-6)


@each_case
def test_feedback_rests_on_the_manifold(case):
    _, system, state = reached(case)
    n = len(state.q)
    derivative = system.derivatives(state)
    assert derivative[n:] == pytest.approx(system.accelerations(state), abs=1e-8, rel=1e-9)
    for place, name in enumerate(system.q_names):
        if system.mechanism.joints[name.partition(".")[0]].kind.quaternion is None:
            assert derivative[place] == pytest.approx(state[name.replace(".q", ".u")], abs=1e-9)


@each_in_clusters
def test_feedback_draws_back(case):
    """Off the manifold the residuals of a cluster fall at one rate."""
    _, system, state = reached(case)
    rng, n, h = np.random.default_rng(5), len(system.q_names), 1e-5
    q = state.q + 1e-6 * rng.normal(size=n)
    turns = state.q.cut

    def residual(q):
        block = system.block()
        block.count_revolutions(turns)
        block.enter(q, state.u, system.arguments.no_inputs)
        return block["coupling_residual"].copy(), block["qdot"].copy()

    lacking, rate = residual(q)
    slope = (residual(q + h * rate)[0] - residual(q - h * rate)[0]) / (2 * h)
    gains = -slope / lacking
    places = [*system.topology.couplings, *system.topology.distances]
    assert gains.min() > 0.09
    for number in range(len(system.topology.clusters)):
        own = [gain for gain, place in zip(gains, places, strict=True) if place.cluster == number]
        assert own == pytest.approx(own[:1] * len(own), rel=1e-2)


@each_in_clusters
def test_jacobian(case):
    """Complex step against central differences of the derivatives."""
    _, system, state = reached(case)
    y = np.concatenate([state.q, state.u])
    n, h = len(state.q), 1e-6
    turns = state.q.cut

    def derivative(y):
        block = system.block()
        block.count_revolutions(turns)
        block.enter(y[:n], y[n:], system.arguments.no_inputs)
        return np.concatenate([block["qdot"], block["udot"]])

    expected = np.array([(derivative(y + h * e) - derivative(y - h * e)) / (2 * h) for e in np.eye(y.size)]).T
    assert np.abs(system.jacobian(state) - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())


@each_case
def test_inverse_dynamics_gives_the_motion_again(case):
    scene, system, state = reached(case)
    tau = random_loads(np.random.default_rng(3), scene)
    wanted = system.accelerations(state, tau=tau)
    again = system.accelerations(state, tau=system.inverse_dynamics(state, wanted))
    assert again == pytest.approx(wanted, abs=1e-8 * np.abs(wanted).max())


OVER_TIME = ["gear_of_three", "cam", "gear_branches", "gear_in_loop", "cam_on_cut_joint", "gear_between_loops"]
OVER_TIME += ["planar_5R with 2", "three_planar_legs with 2", "two couplings of legs"]
OVER_TIME += ["chain to the ground", "chain within", "free body on three", "across a five-bar", "closed chain"]
OVER_TIME += ["moving slider crank", "cam and rod", "outboard trees"]


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", OVER_TIME)
def test_energy_couplings_and_lengths_are_kept_over_time(name):
    scene = well_posed(MAKERS[name], seed=3)
    system = lw.compile(scene.mechanism)
    state = system.assemble(q=scene.q, u=scene.u)
    result = lw.simulate(system, 2.0, state=state, rtol=1e-10, t_eval=np.linspace(0.0, 2.0, 21))
    assert energy_drift(result) < 1e-7
    for held in (*system.coupling_names, *system.distance_names):
        assert np.abs(result[f"{held}.residual"]).max() < 1e-7
