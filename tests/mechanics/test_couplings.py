"""Gears, racks and cams: accelerations, loads and reactions against the oracle, and motion over time."""

import numpy as np
import pytest

import linkwork as lw
from support.driving import by_joint, largest_difference, power, random_loads, wrenches
from support.gear_families import GEAR_FAMILIES
from support.geared import geared, with_gear_loads
from support.joint_families import JOINT_FAMILIES
from support.methods import CLUSTER_METHODS, METHODS, compiled
from support.random_mechanisms import FAMILIES, well_posed
from support.records import record

MADE = FAMILIES | JOINT_FAMILIES
MAKERS = {name: make for name, (make, _) in GEAR_FAMILIES.items()}
MAKERS |= {
    f"{name} with {terms}": geared(MADE[name][0], terms, degree=degree)
    for name, terms, degree in (
        *(("planar_5R", 2, 1), ("closed_chain_12R", 3, 2), ("planar_8R", 2, 4), ("moving_spatial_7R", 2, 1)),
        *(("three_planar_legs", 2, 1), ("three_spatial_legs", 3, 1), ("coupled", 2, 2), ("side_by_side", 2, 1)),
        *(("loop_on_loop", 2, 1), ("stewart", 2, 1), ("tripod_RUU", 2, 1), ("delta_US", 2, 3)),
    )
}
MAKERS["three couplings of 12R"] = geared(MADE["closed_chain_12R"][0], 2, couplings=3)
MAKERS["two couplings of legs"] = geared(MADE["four_planar_legs"][0], 3, couplings=2, degree=2)


@pytest.fixture(scope="module", params=MAKERS)
def scene(request):
    return well_posed(MAKERS[request.param], seed=1)


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


def reached(scene, method):
    system = compiled(scene.mechanism, method)
    return system, system.assemble(q=scene.q, u=scene.u)


@pytest.mark.thin(16, kept=4)
def test_accelerations_and_loads(scene, method):
    system, state = reached(scene, method)
    assert np.abs(system.coupling_residual(state)).max() < 1e-12
    tau = random_loads(np.random.default_rng(0), scene)
    solution = scene.oracle.solve(scene.u, tau)
    found = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(found, solution.udot) < 1e-10
    loads = {name: float(system.value(f"{name}.load", state, tau=tau)) for name in system.coupling_names}
    assert all(solution.multiplier_determined[name] for name in loads)
    assert largest_difference(loads, solution.gear) < 1e-10


@pytest.mark.thin(16, kept=4)
def test_reactions(scene, method):
    """All bodies in balance; joints carry along their coordinates what loads and couplings ask for; the determined."""
    system, state = reached(scene, method)
    tau = random_loads(np.random.default_rng(1), scene)
    oracle, found = scene.oracle, wrenches(system, state, tau)
    solution = oracle.solve(scene.u, tau)
    scale = max(1.0, *(np.abs(w).max() for w in found.values()))
    assert np.abs(oracle.imbalance(solution, scene.u, found)).max() < 1e-11
    loads = with_gear_loads(scene, solution, oracle.loads(scene.u, tau))
    assert largest_difference(oracle.axial(found), loads) < 1e-9 * scale
    expected = oracle.with_loads(solution.reaction, loads)
    for name, projector in solution.determined.items():
        assert projector @ found[name] == pytest.approx(projector @ expected[name], abs=1e-9 * scale), name


@pytest.mark.thin(16, kept=4)
def test_couplings_do_no_work(scene, method):
    """The energy changes by the power of loads and dampers alone."""
    system, state = reached(scene, method)
    tau = random_loads(np.random.default_rng(2), scene)
    derivative, n = system.derivatives(state, tau=tau), len(state.q)

    def total(step):
        return sum(system.energy(state.q + step * derivative[:n], state.u + step * derivative[n:]))

    h, weights = 1e-3, {1: 45, 2: -9, 3: 1}
    rate = sum(w * (total(k * h) - total(-k * h)) for k, w in weights.items()) / (60 * h)
    taken = sum(np.dot(np.multiply(f.damping, scene.u[f.joint]), scene.u[f.joint]) for f in scene.mechanism.forces)
    assert rate == pytest.approx(power(tau, scene.u) - taken, rel=1e-7, abs=1e-6)


@pytest.mark.thin(16, kept=4)
def test_feedback_rests_on_the_manifold(scene, method):
    system, state = reached(scene, method)
    n = len(state.q)
    derivative = system.derivatives(state)
    assert derivative[n:] == pytest.approx(system.accelerations(state), abs=1e-8, rel=1e-9)
    for place, name in enumerate(system.q_names):
        if system.mechanism.joints[name.partition(".")[0]].kind.quaternion is None:
            assert derivative[place] == pytest.approx(state[name.replace(".q", ".u")], abs=1e-9)


@pytest.mark.thin(16, kept=4)
@pytest.mark.parametrize("method", CLUSTER_METHODS)
def test_feedback_draws_back(scene, method):
    """Off the manifold the residuals of a cluster fall at one rate."""
    system, state = reached(scene, method)
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
    assert gains.min() > 0.09
    for number in range(len(system.topology.clusters)):
        own = [gain for gain, place in zip(gains, system.topology.couplings, strict=True) if place.cluster == number]
        assert own == pytest.approx(own[:1] * len(own), rel=1e-2)


@pytest.mark.thin(16, kept=4)
@pytest.mark.parametrize("method", CLUSTER_METHODS)
def test_jacobian(scene, method):
    """Complex step against central differences of the derivatives."""
    system, state = reached(scene, method)
    y = np.concatenate([state.q, state.u])
    n, h = len(state.q), 1e-6
    turns = state.q.cut

    def derivative(y):
        block = system.block()
        block.count_revolutions(turns)
        block.enter(y[:n], y[n:], system.arguments.no_inputs)
        return np.concatenate([block["qdot"], block["udot"]])

    expected = np.array([(derivative(y + h * e) - derivative(y - h * e)) / (2 * h) for e in np.eye(y.size)]).T
    found = system.jacobian(state)
    assert np.abs(found - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())


@pytest.mark.thin(16, kept=4)
def test_inverse_dynamics_gives_the_motion_again(scene, method):
    system, state = reached(scene, method)
    tau = random_loads(np.random.default_rng(3), scene)
    wanted = system.accelerations(state, tau=tau)
    again = system.accelerations(state, tau=system.inverse_dynamics(state, wanted))
    assert again == pytest.approx(wanted, abs=1e-8 * np.abs(wanted).max())


@pytest.mark.parametrize("method", METHODS)
def test_geared_link_of_record(method):
    case = record("geared_link")
    for name, gear in case.gears.items():
        case.mechanism.add_coupling(name, gear.terms, gear.offset)
    system = compiled(case.mechanism, method)
    found = by_joint(system, system.accelerations(system.assemble(q=case.q, u=case.u), tau=case.tau))
    assert found == pytest.approx(case.udot, rel=1e-13)


OVER_TIME = ["gear_of_three", "cam", "gear_branches", "gear_in_loop", "cam_on_cut_joint", "gear_between_loops"]
OVER_TIME += ["planar_5R with 2", "three_planar_legs with 2", "two couplings of legs"]


@pytest.mark.parametrize("name", OVER_TIME)
def test_energy_and_couplings_are_kept_over_time(name):
    scene = well_posed(MAKERS[name], seed=3)
    system = lw.compile(scene.mechanism)
    state = system.assemble(q=scene.q, u=scene.u)
    result = lw.simulate(system, 3.0, state=state, rtol=1e-10, t_eval=np.linspace(0.0, 3.0, 31))
    total = result["energy.kinetic"] + result["energy.potential"]
    scale = max(np.abs(result["energy.kinetic"]).max(), np.abs(result["energy.potential"]).max())
    assert np.abs(total - total[0]).max() < 1e-7 * scale
    for coupling in system.coupling_names:
        assert np.abs(result[f"{coupling}.residual"]).max() < 1e-7


@pytest.mark.parametrize("name", ["gear_of_neighbours", "cam", "gear_in_loop", "cam_on_cut_joint"])
def test_motion_off_the_manifold_returns_to_it(name):
    """Gains are at least one by the length of the run, in which errors decrease to a part e^-1; without, they stay."""
    scene = well_posed(MAKERS[name], seed=4)
    system = lw.compile(scene.mechanism)
    state = system.assemble(q=scene.q, u=scene.u)
    rng = np.random.default_rng(0)
    off = lw.State(
        system,
        state.q + 1e-4 * rng.normal(size=state.q.size),
        state.u + 1e-4 * rng.normal(size=state.u.size),
        state.time,
        state.motion,
    )
    for gain, least, most in ((None, 0.0, np.exp(-1.0)), (0.0, 0.9, 1.1)):
        result = lw.simulate(system, 20.0, state=off, rtol=1e-9, t_eval=[0.0, 20.0], loop_gain=gain)
        first, last = np.abs(result["g1.residual"])
        assert first > 1e-6
        assert least * first <= last < most * first


def shafts(ratio=4.0, **offset):
    """A motor and an arm on axes of their own, and a gear between them."""
    mech = lw.Mechanism("shafts", gravity=(0, 0, 0))
    for name, moment in (("rotor", 2.0), ("arm", 5.0)):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=moment * np.eye(3))
    mech.add_joint("motor", lw.Revolute((0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
    mech.add_joint("hinge", lw.Revolute((0, 0, 1)), "ground", "arm", at=(0, 0, 0))
    mech.add_coupling("gear", {"motor": 1.0, "hinge": -ratio}, **offset)
    return mech


def test_two_shafts_in_gear():
    """Inertias add with the square of the ratio; the load that the gear passes on, by Newton."""
    system = lw.compile(shafts())
    state = system.assemble(q={"hinge": 2.0}, u={"hinge": 1.0})
    assert (state["motor.q"], state["motor.u"]) == pytest.approx((8.0, 4.0), rel=1e-14)
    arm = 4.0 * 3.0 / (5.0 + 16.0 * 2.0)
    found = by_joint(system, system.accelerations(state, tau={"motor": 3.0}))
    assert found == pytest.approx({"motor": 4.0 * arm, "hinge": arm}, rel=1e-13)
    assert system.value("gear.load", state, tau={"motor": 3.0}) == pytest.approx(2.0 * 4.0 * arm - 3.0, rel=1e-12)


def test_a_reflected_inertia_sets_the_time():
    """A spring on the slow shaft swings with the inertia of both."""
    mech = shafts(ratio=10.0)
    mech.add_force(lw.SpringDamper("hinge", stiffness=820.0))
    mech.start(q={"hinge": 0.1})
    period = 2 * np.pi * np.sqrt((5.0 + 100.0 * 2.0) / 820.0)
    result = lw.simulate(mech, period, rtol=1e-10, t_eval=[0.0, period / 4, period / 2, period])
    assert result["hinge.q"] == pytest.approx([0.1, 0.0, -0.1, 0.1], abs=1e-8)
    assert result["motor.q"] == pytest.approx([1.0, 0.0, -1.0, 1.0], abs=1e-7)


def test_parameters_take_effect():
    """The ratio, the powers and the offset are parameters of the core."""
    system = lw.compile(shafts())
    block = system.block()
    place = {variable.name: variable.reference for variable in system.variables}
    block.reals[place["gear.hinge.coefficient[1]"]] = -2.0
    block.reals[place["gear.hinge.coefficient[3]"]] = -1.0
    block.reals[place["gear.offset"]] = 0.5
    block.reals[place["hinge.q_start"]] = 1.5
    block.put("q_priority", np.array([0.0, 1.0]))
    block.assemble(1e-8)
    assert block["q"] == pytest.approx([0.5 + 2.0 * 1.5 + 1.5**3, 1.5], rel=1e-14)


@pytest.mark.parametrize("method", [*((m,) for m in METHODS), ("multipliers", "centroid"), ("multipliers", "origin")])
@pytest.mark.parametrize("ratios", [(1e9,), (-1e9,), (1e-9,), (3e6,), (1e12,), (1e3, 1e3), (30.0, 1e4)])
def test_a_load_behind_gears_of_large_ratio(ratios, method):
    """The torque on the last shaft turns the inertia of all, each times its ratio squared."""
    mech, total = lw.Mechanism("train"), np.cumprod([1.0, *ratios[::-1]])[::-1]
    inertia = 0.1 + 0.05 * np.arange(total.size)
    for k, J in enumerate(inertia):
        mech.add_body(f"s{k}", mass=1.0, com=(0, 0, 0), inertia=J * np.eye(3), origin=(k, 2, 0))
        mech.add_joint(f"G{k}", lw.Revolute("z"), "ground", f"s{k}", at=(k, 2, 0))
        if k:
            mech.add_coupling(f"K{k}", {f"G{k - 1}": 1.0, f"G{k}": -ratios[k - 1]})
    system = lw.compile(mech, *method)
    found = system.accelerations(system.assemble(), tau={f"G{total.size - 1}": 1.0})
    assert found == pytest.approx(total / (inertia @ total**2), rel=1e-12, abs=0.0)


@pytest.mark.parametrize("reference", ["joint", "centroid", "origin"])
@pytest.mark.parametrize("torque", [0.0, 1e-9, 5.0])
def test_large_ratios_beside_what_moves_or_rests(torque, reference):
    """Two shafts with a gear, and an upright parallelogram: legs cancel the weight of its bar too."""
    mech = lw.Mechanism("train", gravity=(0, -9.81, 0))
    for k in range(2):
        mech.add_body(f"s{k}", mass=1.0, com=(0, 0, 0), inertia=0.1 * np.eye(3), origin=(k, 2, 0))
        mech.add_joint(f"G{k}", lw.Revolute("z"), "ground", f"s{k}", at=(k, 2, 0))
        mech.add_body(f"leg{k}", mass=1.0, com=(0, 0.5, 0), inertia=lw.inertia.rod(1, 1.0, axis="y"), origin=(k, 0, 0))
        mech.add_joint(f"A{k}", lw.Revolute("z"), "ground", f"leg{k}", at=(k, 0, 0))
    mech.add_body("bar", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1, 1.0), origin=(0, 1, 0))
    mech.add_joint("B", lw.Revolute("z"), "leg0", "bar", at=(0, 1, 0))
    mech.add_joint("C", lw.Revolute("z"), "bar", "leg1", at=(1, 1, 0))
    mech.add_coupling("K", {"G0": 1.0, "G1": -1e9})
    system = lw.compile(mech, "multipliers", reference)
    found = dict(
        zip(system.u_names, system.accelerations(system.assemble(), tau={"G1": 1.0, "A0": torque}), strict=True)
    )
    assert found["G1.u"] == pytest.approx(1.0 / (0.1 + 0.1e18), rel=1e-12, abs=0.0)
    assert found["G0.u"] == pytest.approx(1e9 / (0.1 + 0.1e18), rel=1e-12, abs=0.0)
    assert found["A0.u"] == pytest.approx(torque / (2 / 3 + 1.0), rel=1e-9, abs=1e-13)
