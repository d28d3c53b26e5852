"""Reflected inertia in all methods: against MuJoCo's armature, dense equations of all bodies, and closed forms."""

import dataclasses

import numpy as np
import pytest

import linkwork as lw
from support.augmented import augmented
from support.driving import by_joint, largest_difference, power, random_loads, reached, tree_only, wrenches
from support.gear_families import GEAR_FAMILIES
from support.impulses import gap_of_jump
from support.joint_families import ALL_KINDS, JOINT_FAMILIES
from support.loads import dissipation
from support.methods import METHODS, compiled
from support.mujoco_tree import MujocoTree
from support.random_changes import Plan, random_scene, realised
from support.random_mechanisms import FAMILIES, random_tree, well_posed
from support.rotors import with_rotors
from support.small import PENDULUM_INERTIA, pendulum
from support.spanned import SPANNED
from support.state_neighbours import slopes

LOOPS = {name: make for name, (make, *_) in (FAMILIES | JOINT_FAMILIES).items()}
LOOPS |= {name: make for name, (make, *_) in GEAR_FAMILIES.items()} | SPANNED


@pytest.fixture(params=LOOPS)
def scene(request):
    return with_rotors(well_posed(LOOPS[request.param], seed=0))


@pytest.mark.thin(48, kept=4)
@pytest.mark.parametrize("method", METHODS)
def test_accelerations_of_loops(scene, method):
    system = compiled(scene.mechanism, method)
    state = system.assemble(q=scene.q, u=scene.u)
    tau = random_loads(np.random.default_rng(0), scene)
    found = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(found, scene.oracle.solve(scene.u, tau).udot) < 1e-10


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(6))
def test_accelerations_of_trees(seed, method):
    scene = with_rotors(random_tree(np.random.default_rng(seed), 8, ALL_KINDS, springs=2), seed)
    system = compiled(scene.mechanism, method)
    state = system.assemble(q=scene.q, u=scene.u)
    tau = random_loads(np.random.default_rng(1), scene)
    found = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(found, scene.oracle.solve(scene.u, tau).udot) < 1e-11


@pytest.mark.thin(12, kept=2)
def test_reactions_and_energy(scene):
    """A rotor keeps a part of the load: what its joint transmits is the rest."""
    system, state = reached(scene)
    tau = random_loads(np.random.default_rng(2), scene)
    solution = scene.oracle.solve(scene.u, tau)
    loads = scene.oracle.geared(scene.oracle.loads(scene.u, tau), solution)
    expected = scene.oracle.with_loads(solution.reaction, scene.oracle.transmitted(loads, solution.udot))
    found = wrenches(system, state, tau)
    scale = max(1.0, *(np.abs(w).max() for w in expected.values()))
    for name, projector in solution.determined.items():
        assert projector @ found[name] == pytest.approx(projector @ expected[name], abs=1e-9 * scale), name
    assert system.energy(state) == pytest.approx(scene.oracle.energy(scene.u), rel=1e-10)


@pytest.mark.thin(12, kept=2)
def test_inverse_dynamics_gives_loads_of_the_same_power(scene):
    """In every motion that the loops allow; and where there are none, the loads themselves."""
    system, state = reached(scene)
    tau = tree_only(system, random_loads(np.random.default_rng(3), scene))
    udot = system.accelerations(state, tau=tau)
    found = by_joint(system, system.inverse_dynamics(state, udot=udot[: system.sizes.nu]))
    for k in range(2):
        speeds = scene.oracle.random_speeds(np.random.default_rng(k))
        power = [sum(float(np.dot(load, speeds[name])) for name, load in loads.items()) for loads in (found, tau)]
        assert power[0] == pytest.approx(power[1], abs=1e-9 * (1.0 + abs(power[1])))


@pytest.mark.thin(12, kept=2)
def test_equations_with_multipliers(scene):
    """Accelerations of the dense solution balance the residual of GGL."""
    system, state = reached(scene)
    tau = random_loads(np.random.default_rng(4), scene)
    at = augmented(system, state, {name: load for name, load in tau.items() if np.size(load)})
    y, ydot = at.start()
    ydot[at.nq : at.states.size] = at.speeds(scene.oracle.solve(scene.u, tau).udot)
    scale = 1.0 + np.abs(ydot).max()
    assert np.abs(at.ggl.residual(0.0, y, ydot)).max(initial=0.0) < 1e-9 * scale


def test_nothing_is_drawn_in_vain():
    """Cut joints with rotors are among the loops, of all types, and joints of the tree whose child is inboard."""
    kinds, reversed_links = set(), 0
    for make in LOOPS.values():
        system, _ = reached(with_rotors(well_posed(make, seed=0)))
        joints = system.mechanism.joints
        kinds |= {joints[name].kind.type_name for name in system.numbering.cut if any(joints[name].reflected_inertia)}
        links = system.topology.links
        reversed_links += sum(link.reversed for link in links)
    assert kinds >= set(ALL_KINDS) - {"fixed"}
    assert reversed_links > 10


# ---- derivatives, energy


SOME = ["tree", "planar_4R_springs", "slider_crank_cut_slider", "moving_spatial_7R", "coupled", "RSSR", "spherical_cut"]


def some(name, seed=4):
    if name == "tree":
        return with_rotors(random_tree(np.random.default_rng(seed), 6, ALL_KINDS, springs=2), seed)
    return with_rotors(well_posed(LOOPS[name], seed), seed)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SOME)
def test_derivatives_are_exact(name, method):
    scene = some(name)
    system = compiled(scene.mechanism, method)
    state = system.assemble(q=scene.q, u=scene.u)
    expected = slopes(system, state, 1e-4)
    assert system.jacobian(state) == pytest.approx(expected, abs=1e-6 * (1.0 + np.abs(expected).max()))


@pytest.mark.parametrize("name", SOME)
def test_the_mass_matrix_is_that_of_the_kinetic_energy(name):
    """Of speeds that the loops allow, cut joints with their rotors included."""
    scene = some(name)
    system, state = reached(scene)
    matrix = system.mass_matrix(state)
    assert matrix == pytest.approx(matrix.T, abs=1e-12 * np.abs(matrix).max())
    assert state.u @ matrix @ state.u / 2 == pytest.approx(scene.oracle.energy(scene.u)[0], rel=1e-11)


@pytest.mark.parametrize("name", SOME)
def test_power_is_the_rate_of_energy(name):
    """Also where loads saturate: the power is that of the loads that act."""
    scene = some(name)
    tau = random_loads(np.random.default_rng(5), scene)
    limits = {name: 0.6 * np.max(np.abs(load)) for name, load in tau.items() if np.size(load)}
    for joint, limit in limits.items():
        given = scene.mechanism.joints[joint]
        scene.mechanism.joints[joint] = dataclasses.replace(given, max_load=np.full(given.kind.nu, limit))
    acting = {name: np.clip(load, -limits[name], limits[name]) for name, load in tau.items() if np.size(load)}
    system, state = reached(scene)
    rate, n, h = system.derivatives(state, tau=tau), len(state.q), 1e-3
    energies = [sum(system.energy(state.q + s * rate[:n], state.u + s * rate[n:])) for s in h * STEPS_OF_SIXTH_ORDER]
    oracle = scene.oracle
    lost = dissipation(scene.mechanism, oracle.bodies, scene.u, oracle.velocities(scene.u))
    expected = power(acting, scene.u) - lost
    assert WEIGHTS_OF_SIXTH_ORDER @ energies / (60 * h) == pytest.approx(expected, rel=1e-6, abs=1e-6)


STEPS_OF_SIXTH_ORDER = np.array([-3, -2, -1, 1, 2, 3])
WEIGHTS_OF_SIXTH_ORDER = np.array([-1, 9, -45, 45, -9, 1])


@pytest.mark.parametrize("name", ["planar_5R", "RSSR", "coupled"])
def test_energy_is_conserved_and_ggl_moves_alike(name):
    scene = with_rotors(well_posed(LOOPS[name], 5), 5)
    scene.mechanism.gravity = (0, 0, -9.81)
    scene.mechanism.start(q=scene.q, u=scene.u)
    times = np.linspace(0.0, 1.0, 11)
    result = lw.simulate(scene.mechanism, 1.0, rtol=1e-10, t_eval=times)
    total = result["energy.kinetic"] + result["energy.potential"]
    damped = any(np.any(getattr(force, "damping", 0.0)) for force in scene.mechanism.forces)
    assert damped or np.abs(total - total[0]).max() < 1e-7 * np.abs(result["energy.kinetic"]).max()
    ggl = lw.simulate(scene.mechanism, 1.0, formulation="ggl", solver="ida", rtol=1e-8, t_eval=times)
    for column in (name for name in result.names if name.endswith(".q")):
        assert ggl[column] == pytest.approx(result[column], abs=1e-5)


# ---- impulses


@pytest.mark.thin(8)
@pytest.mark.parametrize("seed", range(40))
def test_jumps(seed):
    """Locks, stops, pins and impulses on bodies at once, against the dense solution."""
    rng = np.random.default_rng([seed, 5])
    scene = with_rotors(random_scene(seed), seed)
    pins = tuple((int(rng.integers(0, 40)), int(rng.integers(0, 40)), "revolute") for _ in range(seed % 2))
    held = tuple(int(number) for number in rng.integers(0, 40, seed % 4))
    change = realised(Plan(held, pins, float(rng.choice([0.0, 0.4])), bool(seed % 3), seed=seed), scene)
    if change is not None:
        gaps = gap_of_jump(change)
        assert max(gaps.values()) < 1e-11, gaps


def test_a_stop_takes_the_energy_of_the_rotor_too():
    mech = pendulum(gravity=0.0)
    inertia, e, u = PENDULUM_INERTIA + 0.7, 0.4, 2.0
    mech.joints["A"] = dataclasses.replace(mech.joints["A"], reflected_inertia=np.array([0.7]))
    mech.add_transition("stop", lw.Stop("A", upper=0.5, restitution=e))
    mech.start(u={"A": u})
    result = lw.simulate(mech, 0.5, rtol=1e-9)
    assert result["A.u"][-1] == pytest.approx(-e * u, rel=1e-12)
    assert result["energy.lost"][-1] == pytest.approx((1 - e**2) * inertia * u**2 / 2, rel=1e-12)


# ---- peers and closed forms


def test_a_geared_rotor_as_a_body():
    """On the ground the limit is exact: a coupling to a rotor of inertia I with the ratio n is J = I n^2."""
    rotor, n = 2e-4, 30.0
    geared, reflected = pendulum(), pendulum()
    sphere = np.eye(3) * rotor
    geared.add_body("rotor", mass=0.1, com=(0, 0, 0), inertia=sphere)
    geared.add_joint("motor", lw.Revolute((0, 1, 0)), "ground", "rotor", at=(0, 0, 0))
    geared.add_coupling("gear", {"motor": 1.0, "A": -n})
    given = reflected.joints["A"]
    reflected.joints["A"] = dataclasses.replace(given, reflected_inertia=np.array([rotor * n**2]))
    found = [
        by_joint(system, system.accelerations(system.assemble(q={"A": 0.4}, u={"A": 1.5}), tau={"A": 2.0}))["A"]
        for system in map(lw.compile, (geared, reflected))
    ]
    expected = (2.0 + 9.81 * 0.5 * np.cos(0.4)) / (PENDULUM_INERTIA + rotor * n**2)
    assert found == pytest.approx([expected, expected], rel=1e-12)


@pytest.mark.parametrize("method", ["rcr", "multipliers", "dca"])
@pytest.mark.parametrize("seed", range(4))
def test_trees_agree_with_mujoco(seed, method):
    """Hinges, slides, balls and a free body, whose speeds MuJoCo takes along world axes: it starts at rest."""
    rng = np.random.default_rng(seed)
    peer = MujocoTree(rng, ["free", "hinge", "ball", "slide", "hinge", "ball", "slide", "hinge"])
    mech = peer.mechanism()
    system = lw.compile(mech, method)
    state = system.assemble(q=peer.q, u=peer.u)
    found = by_joint(system, system.accelerations(state, tau=peer.tau))
    assert largest_difference(found, peer.accelerations()) < 1e-11
    assert system.energy(state)[0] == pytest.approx(peer.kinetic_energy(), rel=1e-12)
