"""Computed torque: against virtual work, Lagrange's equation of a pendulum and energy; and its loop in time."""

import importlib
import math

import numpy as np
import pytest

import linkwork as lw
from linkwork import controllers
from linkwork.errors import FmuError


@pytest.fixture
def five_bar(checkout, monkeypatch):
    monkeypatch.syspath_prepend(checkout / "examples")
    return importlib.import_module("five_bar").mechanism


def pendulum() -> lw.Mechanism:
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=2.0, com=(0, 0, -0.6), inertia=lw.inertia.rod(2.0, 1.2, axis="z"))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("A", stiffness=3.0, damping=0.2))
    return mech


def test_a_pendulum_gets_the_torque_of_its_equation(run, tmp_path):
    slave = run(controllers.computed_torque(tmp_path / "c.fmu", pendulum(), ["A"], kp=30.0, kd=7.0))
    q, u, qd, ud, ad = 0.7, -1.1, 0.9, 0.4, 2.5
    slave.start({"A.q": q, "A.u": u, "A.q_d": qd, "A.u_d": ud, "A.a_d": ad})
    wished = ad + 7.0 * (ud - u) + 30.0 * (qd - q)
    inertia, arm = 2.0 * 1.2**2 / 3, 0.6
    expected = inertia * wished + 2.0 * 9.81 * arm * math.sin(q) + 3.0 * q + 0.2 * u
    assert slave["A.tau"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("legs", ["lr", "lrm"])
def test_the_loads_do_the_work_of_the_tree_loads_and_give_the_accelerations(run, tmp_path, five_bar, legs):
    # Inverse dynamics gives loads in all tree joints; along every motion both do the same work.
    mech = five_bar(legs)
    motors = [leg.upper() for leg in legs]
    slave = run(controllers.computed_torque(tmp_path / "c.fmu", mech, motors))
    system = lw.compile(mech)
    state = system.assemble(q={"L": 2.0, "R": 1.1}, u={"L": 0.8, "R": -0.5})
    random = np.random.default_rng(1)
    wished = system.accelerations(state, tau={motor: random.normal() for motor in motors})
    measured = {f"{m}.{part}": float(state[f"{m}.{part}"]) for m in motors for part in "qu"}
    named = system.by_joint(wished)
    desired = {f"{m}.{part}_d": measured[f"{m}.{part}"] for m in motors for part in "qu"}
    slave.start(measured | desired | {f"{m}.a_d": float(named[m]) for m in motors})
    tau = {m: slave[f"{m}.tau"] for m in motors}
    assert system.accelerations(state, tau=tau) == pytest.approx(wished, abs=1e-8)
    loads = system.inverse_dynamics(state, wished)
    trials = [{"L": 1.0, "R": 0.0}, {"L": 0.0, "R": 1.0}]
    motions = [system.assemble(q={"L": 2.0, "R": 1.1}, u=trial) for trial in trials]
    rates = np.array([[float(motion[f"{m}.u"]) for m in motors] for motion in motions])
    work = np.array([float(np.dot(loads, motion.u)) for motion in motions])
    found = np.array([tau[m] for m in motors])
    assert rates @ found == pytest.approx(work, abs=1e-8)
    assert found == pytest.approx(np.linalg.lstsq(rates, work)[0], abs=1e-8)  # of least norm


def test_the_power_of_the_loads_is_the_rate_of_the_energy(run, tmp_path, five_bar):
    # d(kinetic + potential)/dt = tau'u - the dampers' power, the energy differenced along the motion
    mech = five_bar()
    slave = run(controllers.computed_torque(tmp_path / "c.fmu", mech, ["L", "R"]))
    system, a, h = lw.compile(mech), {"L": 3.0, "R": -2.0}, 1e-4
    q, u = {"L": 2.1, "R": 1.0}, {"L": 0.9, "R": 0.4}

    def energy(t: float) -> float:
        at = {m: q[m] + u[m] * t + a[m] * t * t / 2 for m in "LR"}
        return sum(system.energy(system.assemble(q=at, u={m: u[m] + a[m] * t for m in "LR"})))

    slave.start({f"{m}.{part}{d}": val[m] for part, val in (("q", q), ("u", u)) for m in "LR" for d in ("", "_d")})
    slave.set({f"{m}.a_d": a[m] for m in "LR"})
    power = sum((slave[f"{m}.tau"] - 0.1 * u[m]) * u[m] for m in "LR")
    assert power == pytest.approx((energy(h) - energy(-h)) / (2 * h), rel=1e-6)


def test_a_plant_beside_it_follows_the_motion_wished(run, tmp_path, five_bar):
    mech = five_bar()
    control = run(controllers.computed_torque(tmp_path / "c.fmu", mech, ["L", "R"], kp=400.0, kd=40.0)).start()
    plant = run(lw.export_fmu(mech, tmp_path / "plant.fmu", "2.0")).start()
    h, begin, states = 0.002, plant.get(["L.q", "R.q"]), ["L.q", "L.u", "R.q", "R.u"]
    for k in range(400):
        t = k * h
        for joint, q in zip("LR", begin, strict=True):
            desired = (q + 0.2 * (1 - math.cos(4 * t)), 0.8 * math.sin(4 * t), 3.2 * math.cos(4 * t))
            control.set({f"{joint}.{part}_d": value for part, value in zip("qua", desired, strict=True)})
        control.set(dict(zip(states, plant.get(states), strict=True)))
        loads = dict(zip(("L.tau", "R.tau"), control.get(["L.tau", "R.tau"]), strict=True))
        control.step(h)
        plant.step(h, loads)
    errors = [plant[f"{j}.q"] - q - 0.2 * (1 - math.cos(4 * plant.time)) for j, q in zip("LR", begin, strict=True)]
    assert np.abs(errors).max() < 1e-3  # of a motion of 0.4 rad, by loads that are held over 2 ms


@pytest.mark.parametrize("legs", ["lr", "lrm"])
def test_what_was_computed_before_leaves_no_trace(run, tmp_path, five_bar, legs):
    # The same state and inputs give the same bits, in an instance that has moved about and in a new one.
    motors = [leg.upper() for leg in legs]
    fmu = controllers.computed_torque(tmp_path / "c.fmu", five_bar(legs), motors)
    used, new = run(fmu).start(), run(fmu).start()
    begin = used.get([f"{motor}.q" for motor in motors])
    random = np.random.default_rng(5)
    for _ in range(20):
        near = {f"{m}.q": q + 0.1 * random.normal() for m, q in zip("LR", begin[:2], strict=True)}
        used.set(near | {f"{m}.u": random.normal() for m in "LR"})
        assert np.isfinite(used.get([f"{m}.tau" for m in motors])).all()
    same = {f"{m}.q": q + 0.05 for m, q in zip("LR", begin[:2], strict=True)} | {"L.u": 0.3, "R.u": -0.2}
    for slave in (used, new):
        slave.set(same)
    assert used.get([f"{m}.tau" for m in motors]) == new.get([f"{m}.tau" for m in motors])


def test_units_follow_the_joint(run, tmp_path):
    mech = lw.Mechanism("slide")
    mech.add_body("cart", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.box(1.0, size=(1, 1, 1)))
    mech.add_joint("x", lw.Prismatic(axis=(1, 0, 0)), "ground", "cart", at=(0, 0, 0))
    slave = run(controllers.computed_torque(tmp_path / "c.fmu", mech, ["x"]))
    units = [slave.variables[f"x.{part}"].unit for part in ("q", "u", "q_d", "u_d", "a_d", "tau")]
    assert units == ["m", "m/s", "m", "m/s", "m/s2", "N"]


@pytest.mark.parametrize(
    ("actuated", "text"),
    [
        (["L"], "2 degrees of freedom, of which the drives L determine 1"),
        (["L", "S"], "no joint 'S'"),
        ("LR", "name the joints"),
        ([], "name the joints"),
    ],
)
def test_drives_that_do_not_do_are_refused(tmp_path, five_bar, actuated, text):
    with pytest.raises(FmuError, match=text):
        controllers.computed_torque(tmp_path / "c.fmu", five_bar(), actuated)
