"""Springs between points and applied wrenches on random trees and loops, against the oracle."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from support.differences import along
from support.driving import by_joint, largest_difference, power, random_loads, random_wrenches, reached, wrenches
from support.joint_families import ALL_KINDS, JOINT_FAMILIES
from support.loads import applied_wrenches, dissipation, point_springs
from support.random_mechanisms import FAMILIES, random_tree, sprung, well_posed
from support.state_neighbours import rate_of_energy, slopes


def sprung_tree(seed, bodies=9, kinds=ALL_KINDS):
    return sprung(lambda rng: random_tree(rng, bodies, kinds, springs=2), springs=4)(np.random.default_rng(seed))


SPRUNG = [family for family in FAMILIES if family.startswith("sprung")]
SEVERAL = ["RUSR_cut_1", "RUSR_on_free_base", "RCCC_on_three_bodies", "EUC_on_planar_base", "stewart"]
SEVERAL += ["coupled_in_space", "closed_by_free", "spherical_backward", "free_cut"]


@pytest.fixture(params=[*SPRUNG, *SEVERAL, *(f"tree{seed}" for seed in range(8))])
def scene(request):
    """With springs between points and wrenches: loops of hinges and slides, of joints of all kinds, and trees."""
    if request.param.startswith("tree"):
        return sprung_tree(int(request.param[4:]))
    make = FAMILIES[request.param][0] if request.param in SPRUNG else sprung(JOINT_FAMILIES[request.param][0])
    return well_posed(make, 6)


@pytest.fixture
def driven(scene):
    """System, state, loads of the joints, wrenches by name, and the oracle's solution under all of them."""
    system, state = reached(scene)
    rng = np.random.default_rng(0)
    tau, applied = random_loads(rng, scene), random_wrenches(rng, scene)
    assert applied
    return (
        system,
        state,
        tau,
        applied,
        scene.oracle.solve(scene.u, tau, wrenches=applied_wrenches(scene.mechanism, applied)),
    )


def test_accelerations_agree_with_the_oracle(driven):
    system, state, tau, applied, solution = driven
    found = by_joint(system, system.accelerations(state, tau=tau | applied))
    assert largest_difference(found, solution.udot) < 1e-10


def test_reactions_balance_every_body(driven, scene):
    system, state, tau, applied, solution = driven
    found = wrenches(system, state, tau | applied)
    assert np.abs(scene.oracle.imbalance(solution, scene.u, found)).max() < 1e-10


def test_energy_agrees_with_the_oracle(driven, scene):
    system, state, *_ = driven
    assert system.energy(state) == pytest.approx(scene.oracle.energy(scene.u), rel=1e-11, abs=1e-11)


def test_springs_report_what_the_oracle_finds(driven, scene):
    _, state, *_ = driven
    v = scene.oracle.velocities(scene.u)
    found = point_springs(scene.mechanism, scene.oracle.bodies)
    assert len(found) >= 3
    for spring in found:
        expected = spring.length, spring.rate(v), spring.tension(v)
        reported = [state[f"{spring.given.name}.{what}"] for what in ("length", "rate", "force")]
        assert reported == pytest.approx(expected, rel=1e-9, abs=1e-10)


def test_power_is_the_rate_of_energy(driven, scene):
    """Along the motion dE/dt is what loads and wrenches put in, less what the dampers take."""
    system, state, tau, applied, _ = driven
    v = scene.oracle.velocities(scene.u)
    pushed = sum(v.ravel() @ wrench.on(scene.oracle.bodies) for wrench in applied_wrenches(scene.mechanism, applied))
    expected = power(tau, scene.u) + pushed - dissipation(scene.mechanism, scene.oracle.bodies, scene.u, v)
    rate = rate_of_energy(system, state, system.derivatives(state, tau=tau | applied))
    assert rate == pytest.approx(expected, rel=1e-7, abs=1e-6 * (1.0 + np.abs(system.energy(state)).max()))


def test_inverse_dynamics_under_applied_wrenches(driven):
    """The loads found give the target accelerations as long as the same wrenches act, and only then."""
    system, state, tau, applied, _ = driven
    wanted = system.accelerations(state, tau=tau | applied)
    loads = system.by_joint(system.inverse_dynamics(state, wanted, applied=applied))
    given = {name: load for name, load in loads.items() if np.size(load)}
    again = by_joint(system, system.accelerations(state, tau=given | applied))
    assert largest_difference(again, by_joint(system, wanted)) < 1e-8
    without = by_joint(system, system.accelerations(state, tau=given))
    assert largest_difference(without, by_joint(system, wanted)) > 1e-3


def test_jacobian_against_central_differences(driven):
    system, state, tau, applied, _ = driven
    exact = system.jacobian(state, tau=tau | applied)
    off = np.abs(exact - slopes(system, state, tau=tau | applied))
    assert off.max() < 1e-5 * (1.0 + np.abs(exact).max())


@pytest.mark.parametrize("family", SPRUNG)
def test_forces_do_not_weigh(family):
    """The mass matrix knows no forces."""
    scene = well_posed(FAMILIES[family][0], 9)
    system, state = reached(scene)
    with_forces = system.mass_matrix(state)
    scene.mechanism.forces.clear()
    assert np.array_equal(with_forces, lw.compile(scene.mechanism).mass_matrix(state.q, state.u))


@pytest.mark.parametrize("family", SPRUNG)
def test_derivatives_by_parameters_and_inputs(family):
    """Points, stiffness, damping, free length, forces and torques: the complex step against differences."""
    scene = well_posed(FAMILIES[family][0], 4)
    system, state = reached(scene)
    own = [force.name for force in scene.mechanism.forces]
    knowns = [v for v in system.variables if v.kind in ("parameter", "input") and v.name.partition(".")[0] in own]
    assert len(knowns) >= 3 * 9 + 2 * 9
    rows = [v.reference for v in system.variables if v.kind == "derivative" or v.name.startswith("p1.")]
    rows += [v.reference for v in system.variables if v.name.partition(".")[2].startswith(("f[", "t["))]
    unknowns = np.array(rows, dtype=np.uint32)
    block = system.block()
    block.enter(state.q, state.u, np.random.default_rng(0).normal(size=system.numbering.n_inputs))

    def computed():
        block.evaluate(Stage.OUTPUTS)
        return block.reals[unknowns]

    for known in knowns:
        exact = block.directional_derivative(unknowns, np.array([known.reference], np.uint32), np.ones(1))
        difference = along(block, known.reference, computed, h=1e-4)
        assert np.abs(exact - difference).max() < 1e-6 * (1.0 + np.abs(exact).max()), known.name
