"""Built-in forces against closed forms: deflections, frequencies, energies, limit speeds, lift-off."""

import numpy as np
import pytest
from scipy.optimize import brentq

import linkwork as lw

G = 9.81
M = 3.0


def slide(*forces, mass: float = M, gravity: float = -G, **start) -> lw.Mechanism:
    """A mass on a vertical slide "z"."""
    mech = lw.Mechanism("slide", gravity=(0, 0, gravity))
    mech.add_body("mass", mass=mass, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("z", lw.Prismatic("z"), "ground", "mass", at=(0, 0, 0))
    for force in forces:
        mech.add_force(force)
    mech.start(**{key: {"z": value} for key, value in start.items()})
    return mech


def rotor(*forces, inertia: float = 2.0, **start) -> lw.Mechanism:
    """A rotor on a hinge "A", with its inertia about that; its centre of mass is off the axis."""
    mech = lw.Mechanism("rotor", gravity=(0, 0, 0))
    mech.add_body("wheel", mass=1.0, com=(0.1, 0, 0), inertia=(inertia - 0.01) * np.eye(3))
    mech.add_joint("A", lw.Revolute("z"), "ground", "wheel", at=(0, 0, 0))
    for force in forces:
        mech.add_force(force)
    mech.start(**{key: {"A": value} for key, value in start.items()})
    return mech


def frequencies(mech, **given) -> np.ndarray:
    """Natural frequencies about the start, rad/s."""
    return np.unique(np.round(np.abs(np.linalg.eigvals(lw.linearize(mech, **given).A).imag), 12))


def at_rest(mech, **given) -> lw.Mechanism:
    """The mechanism with its equilibrium as start."""
    found = lw.equilibrium(mech, **given)
    mech.start(q={name: float(found[f"{name}.q"]) for name in mech.joints})
    return mech


def force_at(mech, q: float, u: float, output: str, **inputs) -> float:
    return float(lw.compile(mech).value(output, [q], [u], tau=inputs))


# ---- bump stop, backlash, tyre ----


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_a_mass_on_a_bump_stop(exponent):
    """Deflection (m g / k)^(1/n), stiffness n k s^(n - 1)."""
    k = 4e4
    mech = at_rest(slide(lw.BumpStop("z", lower=-0.2, upper=0.3, stiffness=k, exponent=exponent), q=-0.25))
    s = (M * G / k) ** (1 / exponent)
    assert mech.start_q["z"][0] == pytest.approx(-0.2 - s, abs=1e-12)
    assert frequencies(mech)[-1] == pytest.approx(np.sqrt(exponent * k * s ** (exponent - 1) / M), rel=1e-9)


def test_a_bump_stop_gives_back_its_energy_without_damping():
    """m v^2/2 + m g z + k s^(n+1)/(n+1) is constant over several bounces."""
    k, n = 5e4, 1.5
    result = lw.simulate(slide(lw.BumpStop("z", lower=-0.1, stiffness=k, exponent=n)), 1.5, rtol=1e-12, atol=1e-14)
    depth = np.maximum(0.0, -0.1 - result["z.q"])
    energy = M * result["z.u"] ** 2 / 2 + M * G * result["z.q"] + k * depth ** (n + 1) / (n + 1)
    assert depth.max() > 0.01
    assert np.abs(energy).max() < 1e-9 * M * G * 0.1


def test_damping_of_a_bump_stop_acts_in_compression_alone():
    stop = lw.BumpStop("z", lower=-0.1, upper=0.1, stiffness=1e4, damping=50.0, damping_depth=0.02, name="stop")
    mech = slide(stop)
    for q, u, expected in (
        (-0.11, 0.0, 100.0),
        (-0.11, -2.0, 100.0 + 0.5 * 50 * 2),
        (-0.13, -2.0, 300.0 + 50 * 2),
        (-0.11, 90.0, 100.0),
        (-0.1, -5.0, 0.0),
        (0.0, -5.0, 0.0),
        (0.13, 2.0, -400.0),
        (0.13, -99.0, -300.0),
    ):
        assert force_at(mech, q, u, "stop.force") == pytest.approx(expected, rel=1e-12), (q, u)


def test_a_strap_between_points_pulls():
    """A mass that hangs on a strap of length 0.5 m stretches it by m g / k."""
    strap = lw.BumpStop(
        bodies=("ground", "mass"), points=((0, 0, 0), (0, 0, 0)), upper=0.5, stiffness=2e3, name="strap"
    )
    mech = at_rest(slide(strap, q=-0.52))
    assert mech.start_q["z"][0] == pytest.approx(-0.5 - M * G / 2e3, abs=1e-12)
    assert lw.compile(mech).assemble()["strap.force"] == pytest.approx(M * G, rel=1e-9)


def test_backlash_of_a_gear():
    """The flank carries the moment where the play is used up, and the wheel is free within."""
    mech = lw.Mechanism("gears", gravity=(0, 0, 0))
    for body, joint, inertia in (("pinion", "P", 0.1), ("wheel", "W", 4.0)):
        mech.add_body(body, mass=1.0, com=(0, 0, 0), inertia=inertia * np.eye(3))
        mech.add_joint(joint, lw.Revolute("z"), "ground", body, at=(0, 0, 0))
    k = 3e3
    mech.add_force(lw.Backlash({"P": 1.0, "W": 5.0}, backlash=0.02, stiffness=k, damping=7.0, name="mesh"))
    model = lw.compile(mech)
    assert np.array_equal(model.accelerations([0.009, 0.0], [3.0, 0.0]), [0.0, 0.0])
    for p, u, load in ((0.012, 0.0, -k * 0.002), (0.012, 2.0, -k * 0.002 - 14.0), (-0.013, 1.0, k * 0.003)):
        assert model.accelerations([p, 0.0], [u, 0.0]) == pytest.approx([load / 0.1, 5 * load / 4.0], rel=1e-12)


def test_a_tyre_on_a_joint_stands_and_lifts_off():
    """Deflection m g / k below the road; a force that never pulls."""
    k, d, radius = 2e5, 300.0, 0.31
    mech = slide(lw.Tyre("z", height=0.05, radius=radius, stiffness=k, damping=d, name="tyre"), q=0.26)
    road = 0.02
    for q, u, h, v, expected in (
        (radius - 0.05 - M * G / k, 0.0, 0.0, 0.0, M * G),
        (radius - 0.05 + road - 0.01, 0.0, road, 0.0, k * 0.01),
        (radius - 0.06, -1.0, 0.0, 0.5, k * 0.01 + d * 1.5),
        (radius - 0.06, 20.0, 0.0, 0.0, 0.0),
        (radius, 0.0, 0.0, 0.0, 0.0),
    ):
        inputs = {"tyre.road": h, "tyre.road_rate": v}
        assert force_at(mech, q, u, "tyre.force", **inputs) == pytest.approx(expected, rel=1e-10, abs=1e-9), (
            q,
            u,
            h,
            v,
        )
    assert at_rest(mech).start_q["z"][0] == pytest.approx(radius - 0.05 - M * G / k, abs=1e-12)


def test_a_tyre_flies_as_a_stone_above_the_road():
    """A hop: parabola in the air, harmonic motion on the ground, by closed form."""
    k, radius, u0 = 2e4, 0.3, 2.0
    ends = {"bodies": ("ground", "mass"), "points": ((0, 0, 0), (0, 0, 0))}
    mech = slide(lw.Tyre(**ends, radius=radius, stiffness=k, name="tyre"), q=radius, u=u0)
    flight = 2 * u0 / G
    w, sag = np.sqrt(k / M), M * G / k
    t = np.concatenate([np.linspace(0.01, flight, 20), flight + np.linspace(0.001, 0.02, 10)])
    result = lw.simulate(mech, float(t[-1]), t_eval=t, rtol=1e-12, atol=1e-14)
    air, s = t <= flight, np.maximum(t - flight, 0.0)
    on_ground = radius - sag + sag * np.cos(w * s) - u0 / w * np.sin(w * s)
    expected = np.where(air, radius + u0 * t - G * t**2 / 2, on_ground)
    assert np.abs(result["z.q"] - expected).max() < 1e-9
    assert result["tyre.force"].max() <= 0.0
    assert np.abs(result["tyre.force"][air][:-1]).max() == 0.0


# ---- springs, dampers, gas, torsion bar ----


def test_a_progressive_spring():
    c1, c3 = 300.0, 4e4
    mech = at_rest(slide(lw.NonlinearSpring("z", coefficients=(c1, 0.0, c3), free=0.1)))
    x = brentq(lambda x: c1 * x + c3 * x**3 + M * G, -1.0, 0.0, xtol=1e-15)
    assert mech.start_q["z"][0] == pytest.approx(0.1 + x, abs=1e-12)
    assert frequencies(mech)[-1] == pytest.approx(np.sqrt((c1 + 3 * c3 * x**2) / M), rel=1e-9)


def test_a_spring_by_table_between_points_has_the_slope_of_its_segment():
    table = lw.LookupTable([-0.3, -0.1, 0.0, 0.2], [-80.0, -20.0, 0.0, 10.0])
    ends = {"bodies": ("ground", "mass"), "points": ((0, 0, -1.0), (0, 0, 0))}
    mech = at_rest(slide(lw.NonlinearSpring(**ends, table=table, free=1.0), q=-0.15))
    assert mech.start_q["z"][0] == pytest.approx(-0.1 - (M * G - 20.0) / 300.0, abs=1e-12)
    assert frequencies(mech)[-1] == pytest.approx(np.sqrt(300.0 / M), rel=1e-9)


@pytest.mark.parametrize("gravity", [-G, G])
def test_limit_speed_of_a_damper(gravity):
    """u = m g / c (1 - exp(-c t / m)), with the rate of the direction."""
    damper = lw.NonlinearDamper("z", compression=6.0, rebound=20.0)
    t = np.linspace(0.1, 5.0, 20)
    c = 6.0 if gravity < 0 else 20.0
    result = lw.simulate(slide(damper, gravity=gravity), 5.0, t_eval=t, rtol=1e-12, atol=1e-14)
    assert result["z.u"] == pytest.approx(M * gravity / c * (1 - np.exp(-c * t / M)), rel=1e-9)


def test_a_gas_spring_carries_a_mass():
    """p A - ambient A = m g, and a frequency by n p A^2 / V."""
    area, p0, v0, n, ambient = 2e-3, 3e5, 4e-4, 1.3, 1e5
    gas = lw.GasPressure("z", area=area, pressure=p0, volume=v0, exponent=n, ambient=ambient)
    mech = at_rest(slide(gas))
    p = ambient + M * G / area
    volume = v0 * (p0 / p) ** (1 / n)
    assert mech.start_q["z"][0] == pytest.approx((volume - v0) / area, abs=1e-11)
    assert frequencies(mech)[-1] == pytest.approx(np.sqrt(n * p * area**2 / volume / M), rel=1e-9)


def test_work_of_a_gas():
    """Kinetic energy is the integral of p dV."""
    area, p0, v0, n = 2e-3, 3e5, 4e-4, 1.4
    mech = slide(lw.GasPressure("z", area=area, pressure=p0, volume=v0, exponent=n), gravity=0.0)
    result = lw.simulate(mech, 0.05, rtol=1e-12, atol=1e-14)
    volume = v0 + area * result["z.q"]
    work = p0 * v0 / (n - 1) * (1 - (v0 / volume) ** (n - 1))
    assert volume[-1] > 2 * v0
    assert M * result["z.u"] ** 2 / 2 == pytest.approx(work, rel=1e-9, abs=1e-9)


def test_a_torsion_bar_of_steel():
    """w = sqrt(G J / (L I)); an anti-roll bar has no torque where both sides move together."""
    shear, length, outer, inner, inertia = 79e9, 1.2, 0.02, 0.012, 2.0
    k = shear * np.pi * (outer**4 - inner**4) / 32 / length
    bar = {"shear_modulus": shear, "active_length": length, "diameter": outer, "inner_diameter": inner}
    assert frequencies(rotor(lw.TorsionBar("A", **bar), inertia=inertia))[-1] == pytest.approx(np.sqrt(k / inertia))
    mech = rotor()
    mech.add_body("other", mass=1.0, com=(0, 0, 0), inertia=np.eye(3), origin=(1, 0, 0))
    mech.add_joint("B", lw.Revolute("z"), "ground", "other", at=(1, 0, 0))
    mech.add_force(lw.TorsionBar({"A": 1.0, "B": -1.0}, **bar, name="roll"))
    model = lw.compile(mech)
    assert np.array_equal(model.accelerations([0.3, 0.3], [0.0, 0.0]), [0.0, 0.0])
    assert model.accelerations([0.3, -0.1], [0.0, 0.0]) == pytest.approx([-0.4 * k / 2.0, 0.4 * k], rel=1e-12)


# ---- motor, detent, freewheel, compensation, thrust ----


@pytest.mark.parametrize("command", [1.0, 0.4, -0.7, 3.0])
def test_a_motor_runs_up(command):
    """u = c w0 (1 - exp(-t/T)) with T = I w0 / stall torque, of the rotor behind a gear of 4."""
    stall, no_load, gear, inertia = 1.5, 200.0, 4.0, 2.0
    mech = rotor(lw.MotorCharacteristic({"A": gear}, stall_torque=stall, no_load_speed=no_load), inertia=inertia)
    t = np.linspace(0.5, 40.0, 20)
    c, T = np.clip(command, -1, 1), inertia * no_load / stall / gear**2
    result = lw.simulate(mech, 40.0, inputs={"motor.command": command}, t_eval=t, rtol=1e-12, atol=1e-13)
    assert result["A.u"] == pytest.approx(c * no_load / gear * (1 - np.exp(-t / T)), rel=1e-9)


def test_a_motor_by_table_reaches_the_speed_of_its_load():
    """Torque 12 (1 - u/100) of a table against a brake of 0.1 u, in both directions."""
    table = lw.LookupTable([0.0, 100.0], [12.0, 0.0])
    for command in (0.5, -0.5):
        mech = rotor(
            lw.MotorCharacteristic("A", table=table, name="motor"),
            lw.NonlinearDamper("A", compression=0.1, rebound=0.1),
        )
        result = lw.simulate(mech, 800.0, inputs={"motor.command": command}, t_eval=[800.0], rtol=1e-12, atol=1e-12)
        assert result["A.u"][-1] == pytest.approx(np.sign(command) * 6.0 / (0.06 + 0.1), rel=1e-9)


def test_a_detent():
    """Its stiffness, and the speed that takes it just over the barrier, by energy."""
    peak, pitch, inertia = 0.8, 0.3, 2.0
    mech = rotor(lw.Detent("A", peak=peak, pitch=pitch, offset=0.1), inertia=inertia, q=0.1 + 2 * pitch)
    assert frequencies(mech)[-1] == pytest.approx(np.sqrt(2 * np.pi * peak / pitch / inertia), rel=1e-9)
    barrier = peak * pitch / np.pi
    for share, passes in ((0.999, False), (1.001, True)):
        mech.start(q={"A": 0.1}, u={"A": np.sqrt(2 * share * barrier / inertia)})
        result = lw.simulate(mech, 6.0, rtol=1e-11)
        assert (result["A.q"].max() > 0.1 + pitch) == passes
        energy = inertia * result["A.u"] ** 2 / 2 - peak * pitch / 2 / np.pi * np.cos(
            2 * np.pi * (result["A.q"] - 0.1) / pitch
        )
        assert np.abs(energy - energy[0]).max() < 1e-9


def test_a_freewheel_creeps_and_slips():
    """Free forwards; backwards at load / damping, and beyond the capacity with the rest of the load."""
    mech = rotor(lw.Freewheel("A", damping=500.0, capacity=8.0, name="clutch"), u=3.0)
    assert lw.simulate(mech, 2.0)["A.u"][-1] == 3.0
    mech.start(u={"A": 0.0})
    creep = lw.simulate(mech, 3.0, inputs={"A.tau": -5.0}, solver="rodas5p", t_eval=[3.0], rtol=1e-11, atol=1e-14)
    assert creep["A.u"][-1] == pytest.approx(-5.0 / 500.0, rel=1e-9)
    assert creep["clutch.force"][-1] == pytest.approx(5.0, rel=1e-9)
    slip = lw.simulate(mech, 3.0, inputs={"A.tau": -10.0}, t_eval=[2.0, 3.0], rtol=1e-11)
    assert np.diff(slip["A.u"]) == pytest.approx([-2.0 / 2.0], rel=1e-9)


def test_weight_compensation():
    for fraction in (0.0, 0.3, 1.0, 1.2):
        mech = slide(lw.GravityCompensation("mass", fraction=fraction))
        assert lw.compile(mech).accelerations([0.0], [0.0])[0] == pytest.approx(-G * (1 - fraction), abs=1e-14)


def test_thrust_turns_with_its_body():
    """A thrust across an arm gives the torque F l in every pose, within its limits."""
    mech = lw.Mechanism("arm", gravity=(0, 0, 0))
    mech.add_body("arm", mass=1.0, com=(0, 0, 0), inertia=2.0 * np.eye(3))
    mech.add_joint("A", lw.Revolute("z"), "ground", "arm", at=(0, 0, 0))
    mech.add_force(lw.Thrust("arm", axis=(0, 3.0, 0), point=(0.5, 0, 0), limits=(0, 8), name="jet"))
    model = lw.compile(mech)
    for given, force in ((4.0, 4.0), (10.0, 8.0), (-3.0, 0.0)):
        for q in (0.0, 1.0, 4.0):
            found = model.accelerations([q], [0.0], tau={"jet.thrust": given})
            assert found == pytest.approx([force * 0.5 / 2.0], rel=1e-13)
    assert model.value("jet.force", [1.0], [0.0], tau={"jet.thrust": 4.0}) == pytest.approx(
        [-4 * np.sin(1.0), 4 * np.cos(1.0), 0.0], abs=1e-14
    )


# ---- a suspension ----


def quarter_car() -> lw.Mechanism:
    """Body, wheel, progressive spring between points, bump stop, damper and tyre."""
    mech = lw.Mechanism("quarter car")
    for body, joint, mass, height in (("wheel", "w", 45.0, 0.3), ("chassis", "c", 380.0, 0.8)):
        mech.add_body(body, mass=mass, com=(0, 0, 0), inertia=np.eye(3), origin=(0, 0, height))
        mech.add_joint(joint, lw.Prismatic("z"), "ground", body, at=(0, 0, height))
    strut = {"bodies": ("wheel", "chassis"), "points": ((0, 0, 0), (0, 0, 0))}
    mech.add_force(lw.NonlinearSpring(**strut, coefficients=(2.0e4, 0.0, 8.0e5), free=0.62, name="spring"))
    mech.add_force(lw.BumpStop(**strut, lower=0.5, upper=0.7, stiffness=3e6, exponent=2.0, name="stop"))
    mech.add_force(lw.NonlinearDamper(**strut, compression=900.0, rebound=2600.0, name="damper"))
    mech.add_force(lw.Tyre("w", height=0.3, radius=0.32, stiffness=2.1e5, name="tyre"))
    return mech


@pytest.mark.parametrize("load", [0.0, 350.0], ids=["empty", "on the bump stop"])
def test_ride_height_and_frequencies_of_a_suspension(load):
    mech = quarter_car()
    mass = 380.0 + load
    data = mech.to_dict()
    data["bodies"][1]["mass"] = mass
    mech = at_rest(lw.Mechanism.from_dict(data))

    def strut(length):
        x, depth = 0.62 - length, max(0.0, 0.5 - length)
        return 2.0e4 * x + 8.0e5 * x**3 + 3e6 * depth**2

    length = brentq(lambda length: strut(length) - mass * G, 0.3, 0.62, xtol=1e-15)
    wheel = 0.32 - (mass + 45.0) * G / 2.1e5
    assert (length < 0.5) == (load > 0)
    assert mech.start_q["w"][0] == pytest.approx(wheel - 0.3, abs=1e-11)
    assert mech.start_q["c"][0] == pytest.approx(wheel + length - 0.8, abs=1e-11)
    k = 2.0e4 + 2.4e6 * (0.62 - length) ** 2 + 6e6 * max(0.0, 0.5 - length)
    stiffness = np.array([[k + 2.1e5, -k], [-k, k]])
    squares = np.sort(np.linalg.eigvals(np.diag([1 / 45.0, 1 / mass]) @ stiffness))
    undamped = lw.compile(mech).with_parameters({"damper.compression": 0.0, "damper.rebound": 0.0})
    found = np.sort(np.abs(np.linalg.eigvals(lw.linearize(undamped).A).imag))[1::2]
    assert found == pytest.approx(np.sqrt(squares), rel=1e-9)
