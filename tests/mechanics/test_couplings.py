"""Gears, racks and cams over time and in closed form; at one instant test_couplings_and_distances.py has them."""

import numpy as np
import pytest

import linkwork as lw
from support.coupled_families import GEARED
from support.driving import by_joint
from support.methods import METHODS, compiled
from support.random_mechanisms import well_posed
from support.records import record


@pytest.mark.parametrize("method", METHODS)
def test_geared_link_of_record(method):
    case = record("geared_link")
    for name, gear in case.gears.items():
        case.mechanism.add_coupling(name, gear.terms, gear.offset)
    system = compiled(case.mechanism, method)
    found = by_joint(system, system.accelerations(system.assemble(q=case.q, u=case.u), tau=case.tau))
    assert found == pytest.approx(case.udot, rel=1e-13)


@pytest.mark.parametrize("name", ["gear_of_neighbours", "cam", "gear_in_loop", "cam_on_cut_joint"])
def test_motion_off_the_manifold_returns_to_it(name):
    """Gains are at least one by the length of the run, in which errors decrease to a part e^-1; without, they stay."""
    scene = well_posed(GEARED[name], seed=4)
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
