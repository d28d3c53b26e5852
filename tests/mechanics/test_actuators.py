"""Actuators on random trees and loops, against the oracle with the loads that they are defined to make."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from support.actuators import actuated, actuators, force_of, on_speeds, random_inputs, state_of, with_actuators
from support.differences import along
from support.driving import by_joint, largest_difference, power, random_loads, reached, wrenches
from support.joint_families import ALL_KINDS, JOINT_FAMILIES
from support.loads import dissipation
from support.random_mechanisms import FAMILIES, random_tree, well_posed
from support.state_neighbours import rate_of_energy, slopes

LOOPS = [
    *("RUSR_cut_1", "RCCC_on_three_bodies", "coupled_in_space", "closed_by_free", "spherical_backward", "free_cut"),
    *("stewart", "EUC_on_planar_base"),
]
PLANAR = ["side_by_side", "slider_crank", "coupled"]
METHODS = [
    *(("rcr",), ("embedding",), ("dca",)),
    *(("multipliers", reference) for reference in ("joint", "centroid", "origin")),
]


def scene_of(name):
    if name.startswith("tree"):
        rng = np.random.default_rng(int(name[4:]))
        return actuated(lambda rng: random_tree(rng, 7, ALL_KINDS, springs=2))(rng)
    return well_posed(actuated((FAMILIES if name in PLANAR else JOINT_FAMILIES)[name][0]), 5)


@pytest.fixture(params=[*PLANAR, *LOOPS, *(f"tree{seed}" for seed in range(4))])
def scene(request):
    return scene_of(request.param)


def driven(scene, *method):
    """System, state, loads, inputs, and the oracle's solution under all loads."""
    system, state = reached(scene, *method)
    rng = np.random.default_rng(0)
    tau, inputs = random_loads(rng, scene), random_inputs(rng, scene.mechanism)
    loads = with_actuators(scene.mechanism, scene.q, scene.u, tau, inputs)
    return system, state, tau, inputs, scene.oracle.solve(scene.u, loads)


@pytest.mark.thin(6, kept=2)
@pytest.mark.parametrize("method", METHODS, ids="-".join)
@pytest.mark.parametrize("name", [*PLANAR, *LOOPS])
def test_accelerations_and_reactions_by_all_methods(name, method):
    scene = scene_of(name)
    system, state, tau, inputs, solution = driven(scene, *method)
    found = by_joint(system, system.accelerations(state, tau=tau | inputs))
    assert largest_difference(found, solution.udot) < 1e-9
    everything = wrenches(system, state, tau | inputs)
    assert np.abs(scene.oracle.imbalance(solution, scene.u, everything)).max() < 1e-9


def test_accelerations(scene):
    system, state, tau, inputs, solution = driven(scene)
    found = by_joint(system, system.accelerations(state, tau=tau | inputs))
    assert largest_difference(found, solution.udot) < 1e-9
    without = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(without, solution.udot) > 1e-6


def test_lengths_rates_and_forces(scene):
    system, state, _, inputs, _ = driven(scene)
    block = system.block()
    block.enter(state.q, state.u, system.arguments.with_motions(state, system.arguments.loads(inputs)))
    block.evaluate(Stage.OUTPUTS)
    values = {v.name: block.reals[v.reference] for v in system.variables if v.kind == "output"}
    for one in actuators(scene.mechanism):
        length, rate = state_of(scene.mechanism, one, scene.q, scene.u)
        force = force_of(one, length, rate, inputs[f"{one.name}.input"])
        assert (f"{one.name}.length" in values) == one.has_length(scene.mechanism)
        assert values.get(f"{one.name}.length", 0.0) == pytest.approx(length, abs=1e-9)
        assert [values[f"{one.name}.{what}"] for what in ("rate", "force")] == pytest.approx([rate, force], abs=1e-8)


def test_power_is_the_rate_of_energy(scene):
    """dE/dt is force times rate of the actuators and what the loads put in, less what dampers take."""
    system, state, tau, inputs, _ = driven(scene)
    v = scene.oracle.velocities(scene.u)
    expected = power(tau, scene.u) - dissipation(scene.mechanism, scene.oracle.bodies, scene.u, v)
    for one in actuators(scene.mechanism):
        length, rate = state_of(scene.mechanism, one, scene.q, scene.u)
        expected += rate * force_of(one, length, rate, inputs[f"{one.name}.input"])
    rate = rate_of_energy(system, state, system.derivatives(state, tau=tau | inputs))
    assert rate == pytest.approx(expected, rel=1e-6, abs=1e-5 * (1.0 + np.abs(system.energy(state)).max()))


def test_inverse_dynamics_beside_actuators(scene):
    """The loads found give the accelerations wanted as long as the same inputs act."""
    system, state, tau, inputs, _ = driven(scene)
    wanted = system.accelerations(state, tau=tau | inputs)
    loads = system.by_joint(system.inverse_dynamics(state, wanted, applied=inputs))
    given = {name: load for name, load in loads.items() if np.size(load)}
    again = by_joint(system, system.accelerations(state, tau=given | inputs))
    assert largest_difference(again, by_joint(system, wanted)) < 1e-7


def test_jacobian_against_central_differences(scene):
    system, state, tau, inputs, _ = driven(scene)
    exact = system.jacobian(state, tau=tau | inputs)
    off = np.abs(exact - slopes(system, state, tau=tau | inputs))
    assert off.max() < 1e-5 * (1.0 + np.abs(exact).max())


def test_derivatives_by_parameters_and_inputs(scene):
    """Gains, gears, ranges and inputs: the complex step against differences, and every dependency is declared."""
    system, state, *_ = driven(scene)
    own = [one.name for one in actuators(scene.mechanism)]
    knowns = [v for v in system.variables if v.kind in ("parameter", "input") and v.name.partition(".")[0] in own]
    unknowns = [v for v in system.variables if v.kind in ("derivative", "output")]
    rows = np.array([v.reference for v in unknowns], dtype=np.uint32)
    block = system.block()
    block.enter(state.q, state.u, np.random.default_rng(0).normal(size=system.numbering.n_inputs))

    def computed():
        block.evaluate(Stage.OUTPUTS)
        return block.reals[rows]

    for known in knowns:
        exact = block.directional_derivative(rows, np.array([known.reference], np.uint32), np.ones(1))
        difference = along(block, known.reference, computed, h=1e-4)
        assert np.abs(exact - difference).max() < 1e-6 * (1.0 + np.abs(exact).max()), known.name
        if known.kind == "input":
            declared = np.array([v.depends is None or known.name in v.depends for v in unknowns])
            assert not exact[~declared].any()


def test_dependencies_on_states(scene):
    """A variable that does not name a state does not change with it."""
    system, state, tau, inputs, _ = driven(scene)
    block = system.block()
    block.enter(state.q, state.u, system.arguments.with_motions(state, system.arguments.loads(tau | inputs)))
    block.evaluate(Stage.OUTPUTS)
    own = [one.name for one in actuators(scene.mechanism)]
    unknowns = [v for v in system.variables if v.kind == "derivative" or v.name.partition(".")[0] in own]
    unknowns = [v for v in unknowns if v.kind in ("derivative", "output")]
    rows = np.array([v.reference for v in unknowns], dtype=np.uint32)
    for known in (v for v in system.variables if v.kind == "state"):
        exact = block.directional_derivative(rows, np.array([known.reference], np.uint32), np.ones(1))
        declared = np.array([v.depends is None or known.name in v.depends for v in unknowns])
        assert np.abs(exact[~declared]).max(initial=0.0) < 1e-12


@pytest.mark.parametrize("name", ["RUSR_cut_1", "spherical_backward", "coupled", "tree1"])
def test_the_augmented_equations_move_alike(name):
    """By GGL, which applies the loads of cut joints to the bodies."""
    scene = scene_of(name)
    inputs = {name: 0.3 * value for name, value in random_inputs(np.random.default_rng(3), scene.mechanism).items()}
    system, state = reached(scene)
    runs = [
        lw.simulate(system, 0.2, state=state, inputs=inputs, rtol=1e-9, atol=1e-11, t_eval=[0.0, 0.1, 0.2], **more)
        for more in ({}, {"formulation": "ggl", "solver": "ida"})
    ]
    for variable in (*system.q_names, *system.u_names):
        assert runs[0][variable] == pytest.approx(runs[1][variable], abs=1e-6)


def test_many_actuators_on_one_joint_add_up():
    """With a spring in the same joint, and a spring that is added after."""
    mech = lw.Mechanism("pendulum", gravity=(0, 0, 0))
    mech.add_body("rod", mass=3.0, com=(0, 0, 0), inertia=np.eye(3) * 2.0)
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.Actuator("one", {"A": 2.0}, gain=3.0))
    mech.add_force(lw.SpringDamper("A", stiffness=5.0, damping=0.5, free=0.1))
    mech.add_force(lw.Actuator("two", {"A": -1.0}, offset=0.7, damping=0.2))
    model = lw.compile(mech)
    found = model.accelerations([0.4], [0.3], tau={"A": 0.9, "one.input": 0.25, "two.input": -1.5})
    two = -1.5 + 0.7 - 0.2 * -0.3
    expected = (0.9 + 2.0 * 3.0 * 0.25 - two - 5.0 * 0.3 - 0.5 * 0.3) / 2.0
    assert found == pytest.approx([expected], rel=1e-14)
    gears = on_speeds(mech, mech.forces[0], {"A": 0.0})
    assert gears["A"].tolist() == [2.0]
    assert model.energy([0.4], [0.0])[1] == pytest.approx(0.5 * 5.0 * 0.3**2)
