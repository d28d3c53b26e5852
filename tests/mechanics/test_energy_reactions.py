"""Power and energy, and the wrenches that the joints carry."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.driving import by_joint, power, random_loads, reached, wrenches
from support.loads import dissipation
from support.methods import METHODS
from support.random_mechanisms import FAMILIES, random_tree, well_posed

pytestmark = pytest.mark.thin(2)


@pytest.fixture(params=[(family, seed) for family in FAMILIES for seed in (20, 21)], ids=lambda p: f"{p[0]}-{p[1]}")
def scene(request):
    family, seed = request.param
    return well_posed(FAMILIES[family][0], seed)


def test_power_is_the_rate_of_energy(scene):
    """Loads times speeds, less what the dampers take, is dE/dt along the motion: springs store, they do not take."""
    system, state = reached(scene)
    tau = random_loads(np.random.default_rng(0), scene)
    rate = _rate_of_energy(system, state, system.derivatives(state, tau=tau))
    oracle = scene.oracle
    taken = dissipation(scene.mechanism, oracle.bodies, scene.u, oracle.velocities(scene.u))
    assert rate == pytest.approx(power(tau, scene.u) - taken, rel=1e-7, abs=1e-6)


def _rate_of_energy(system, state, derivative, h=1e-3):
    """Central difference of sixth order along the motion."""
    n = len(state.q)

    def total(step):
        return sum(system.energy(state.q + step * h * derivative[:n], state.u + step * h * derivative[n:]))

    weights = {1: 45, 2: -9, 3: 1}
    return sum(w * (total(k) - total(-k)) for k, w in weights.items()) / (60 * h)


def test_reactions_balance_every_body(scene):
    """Newton's and Euler's equations of each body; true of every choice that redundant joints leave."""
    system, state = reached(scene)
    tau = random_loads(np.random.default_rng(1), scene)
    found = wrenches(system, state, tau)
    solution = scene.oracle.solve(scene.u, tau)
    assert np.abs(scene.oracle.imbalance(solution, scene.u, found)).max() < 1e-11


def test_reactions_do_the_work_of_the_loads_only(scene):
    """Along its coordinate a joint passes on the driving load, the spring and the damper, nothing else."""
    system, state = reached(scene)
    tau = random_loads(np.random.default_rng(2), scene)
    loads = scene.oracle.loads(scene.u, tau)
    found = wrenches(system, state, tau)
    scale = max(1.0, *(np.abs(w).max() for w in found.values()))
    assert scene.oracle.axial(found) == pytest.approx(loads, abs=1e-9 * scale)


def test_reactions_where_they_are_determined(scene):
    system, state = reached(scene)
    tau = random_loads(np.random.default_rng(3), scene)
    found = wrenches(system, state, tau)
    solution = scene.oracle.solve(scene.u, tau)
    expected = scene.oracle.with_loads(solution.reaction, scene.oracle.loads(scene.u, tau))
    scale = max(1.0, *(np.abs(w).max() for w in expected.values()))
    for name, projector in solution.determined.items():
        assert projector @ found[name] == pytest.approx(projector @ expected[name], abs=1e-9 * scale), name


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cut", ["C", "D"])
def test_the_wrench_of_a_cut_joint_has_least_norm(cut, method):
    """Nothing determines how a planar four-bar shares loads out of its plane: its cut joint carries none."""
    case = four_bar(cut)
    system = lw.compile(case.mechanism, method)
    state = system.assemble(q=case.q, u=case.u)
    assert state[f"{cut}.f"][1] == pytest.approx(0.0, abs=1e-12)
    assert state[f"{cut}.t"] == pytest.approx(np.zeros(3), abs=1e-12)
    assert np.abs(state[f"{cut}.f"]).max() > 1.0


def test_weight_of_a_standing_tower():
    """Signs by hand: the joint holds its child up."""
    mech = lw.Mechanism("tower", gravity=(0, 0, -10))
    mech.add_body("base", mass=3.0, com=(0, 0, 0.5), inertia=np.eye(3))
    mech.add_body("top", mass=2.0, com=(0.25, 0, 0.5), inertia=np.eye(3), origin=(0, 0, 1))
    mech.add_joint("foot", lw.Fixed(), "ground", "base", at=(0, 0, 0))
    mech.add_joint("lift", lw.Prismatic(axis=(0, 0, 1)), "base", "top", at=(0, 0, 1))
    system = lw.compile(mech)
    state = system.assemble()
    found = wrenches(system, state, {"lift": 20.0})
    assert by_joint(system, system.accelerations(state, tau={"lift": 20.0})) == pytest.approx({"lift": 0.0}, abs=1e-12)
    assert found["lift"] == pytest.approx([0, -5, 0, 0, 0, 20], abs=1e-12)  # the weight stands 0.25 aside
    assert found["foot"] == pytest.approx([0, -5, 0, 0, 0, 50], abs=1e-12)


@pytest.mark.parametrize(("bodies", "chain", "seed"), [(5, True, 0), (6, False, 1), (8, False, 2), (10, False, 3)])
def test_energy_is_conserved_by_random_trees(bodies, chain, seed):
    scene = random_tree(np.random.default_rng(seed), bodies, ("revolute",), chain=chain)
    mech = scene.mechanism
    mech.start(q=scene.q, u=scene.u)
    system = lw.compile(mech)
    result = lw.simulate(system, 10.0, rtol=1e-11, t_eval=np.linspace(0.0, 10.0, 41))
    total = result["energy.kinetic"] + result["energy.potential"]
    scale = max(np.abs(result["energy.kinetic"]).max(), np.abs(result["energy.potential"]).max())
    assert np.abs(total - total[0]).max() < 1e-9 * scale


@pytest.mark.parametrize("family", ["planar_5R", "spatial_7R", "moving_planar_4R", "three_planar_legs", "coupled"])
def test_energy_is_conserved_by_loops(family):
    scene = well_posed(FAMILIES[family][0], seed=5)
    scene.mechanism.start(q=scene.q, u=scene.u)
    result = lw.simulate(scene.mechanism, 3.0, rtol=1e-10, t_eval=np.linspace(0.0, 3.0, 31))
    total = result["energy.kinetic"] + result["energy.potential"]
    scale = max(np.abs(result["energy.kinetic"]).max(), np.abs(result["energy.potential"]).max())
    assert np.abs(total - total[0]).max() < 1e-7 * scale
