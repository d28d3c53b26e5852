"""PID against closed forms and its own difference equations written out; limits, anti-windup, sampling."""

import math

import numpy as np
import pytest

from linkwork import controllers
from linkwork.errors import FmuError


def test_proportional_control_of_an_integrator_decays_as_powers(run, tmp_path):
    # x' = u, u = kp (1 - x) held over h: x_k = 1 - (1 - kp h)^k
    kp, h = 3.0, 0.05
    slave = run(controllers.pid(tmp_path / "p.fmu", kp=kp)).start({"setpoint": 1.0})
    x = 0.0
    for k in range(60):
        assert x == pytest.approx(1.0 - (1.0 - kp * h) ** k, abs=1e-14)
        slave.set({"measurement": x})
        u = slave["u"]
        slave.step(h)
        x += h * u


def test_integral_control_of_a_lag_follows_the_closed_form_of_its_sampled_loop(run, tmp_path):
    # x' = (u - x)/T held over h, u = ki sum of h e: eigenvalues and powers of the loop's matrix
    T, ki, h, n = 0.5, 1.5, 0.02, 200
    a = math.exp(-h / T)
    loop = np.array([[a, 1 - a, 0], [-h * ki, 1, h * ki], [0, 0, 1]])  # of x, integral, set point
    slave = run(controllers.pid(tmp_path / "i.fmu", kp=0.0, ki=ki)).start({"setpoint": 1.0})
    x = 0.0
    for k in range(n):
        slave.set({"measurement": x})
        u = slave["u"]
        expected = np.linalg.matrix_power(loop, k) @ [0, 0, 1]
        assert [x, u] == pytest.approx(expected[:2], abs=1e-13)
        slave.step(h)
        x = a * x + (1 - a) * u


def test_fine_samples_converge_to_the_response_of_the_continuous_loop(run, tmp_path):
    # x' = u, PI with kp = 2, ki = 1 double pole at -1: x(t) = 1 - exp(-t) + t exp(-t), of set point 1
    fmu, errors = controllers.pid(tmp_path / "pi.fmu", kp=2.0, ki=1.0), []
    for n in (100, 200):
        slave, x, h = run(fmu).start({"setpoint": 1.0}), 0.0, 2.0 / n
        for _ in range(n):
            slave.set({"measurement": x})
            u = slave["u"]
            slave.step(h)
            x += h * u
        errors.append(abs(x - (1 - math.exp(-2) + 2 * math.exp(-2))))
    assert errors[1] < 0.01
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)  # first order


def test_the_derivative_is_that_of_a_filtered_ramp(run, tmp_path):
    # Tf r' + r = y' by backward differences, y = t: r_k = 1 - (Tf/(Tf + h))^k, and in the end just 1
    kd, Tf, h = 0.7, 0.1, 0.02
    slave = run(controllers.pid(tmp_path / "d.fmu", kp=0.0, kd=kd, filter_time=Tf)).start()
    for k in range(200):
        slave.set({"measurement": k * h})
        assert slave["u"] == pytest.approx(-kd * (1.0 - (Tf / (Tf + h)) ** k), abs=1e-13)
        slave.step(h)


def test_the_derivative_does_not_kick_at_the_start_or_by_the_set_point(run, tmp_path):
    fmu = controllers.pid(tmp_path / "d.fmu", kp=0.0, kd=1.0)
    slave = run(fmu).start({"measurement": 5.0})
    assert slave["u"] == 0.0
    slave.step(0.01)
    slave.set({"setpoint": 3.0})
    assert slave["u"] == 0.0
    weighted = run(fmu).start({"derivative_weight": 1.0})
    weighted.step(0.01)
    weighted.set({"setpoint": 3.0})
    assert weighted["u"] == pytest.approx(3.0 / (0.01 + 0.01))


def overshoot(slave) -> float:
    """Of an integrator that a limited PI drives from 0 to 10."""
    x = most = 0.0
    for _ in range(600):
        slave.set({"measurement": x})
        u = slave["u"]
        assert abs(u) <= 1.0
        slave.step(0.05)
        x += 0.05 * u
        most = max(most, x - 10.0)
    return most


@pytest.mark.parametrize("anti_windup", [{}, {"tracking_time": 0.5}])
def test_anti_windup_takes_the_overshoot_of_a_limited_loop(run, tmp_path, anti_windup):
    fmu = controllers.pid(tmp_path / "pi.fmu", kp=1.0, ki=0.5, u_min=-1.0, u_max=1.0)
    # What winds up: a tracking time so long that nothing is tracked.
    wound_up = overshoot(run(fmu).start({"setpoint": 10.0, "tracking_time": 1e9}))
    assert wound_up > 5.0
    assert overshoot(run(fmu).start({"setpoint": 10.0, **anti_windup})) < 0.3 * wound_up


def test_clamping_stops_the_integral_at_the_limit_and_not_away_from_it(run, tmp_path):
    slave = run(controllers.pid(tmp_path / "i.fmu", kp=0.0, ki=1.0, u_max=1.0)).start({"setpoint": 1.0})
    for _ in range(50):
        slave.step(0.1)
    assert slave["u"] == 1.0
    slave.set({"setpoint": -1.0})
    slave.step(0.1)
    slave.step(0.1)
    assert slave["u"] == pytest.approx(0.9, abs=0.11)  # left at once, not after 4 s


def test_a_sample_time_holds_the_output_between_samples(run, tmp_path):
    slave = run(controllers.pid(tmp_path / "p.fmu", kp=2.0, ki=1.0, sample_time=0.1)).start()
    seen = []
    for k in range(12):
        slave.set({"setpoint": float(k)})
        seen.append(slave["u"])
        slave.step(0.025)
    # Samples at steps 0, 4 and 8, of set points 0, 4 and 8; the integral of 0, and of 4 over 0.1 s
    assert seen == pytest.approx([0.0] * 4 + [8.0] * 4 + [16.4] * 4)


def test_a_step_over_several_samples_takes_each_of_them(run, tmp_path):
    fmu = controllers.pid(tmp_path / "i.fmu", kp=0.0, ki=1.0, sample_time=0.1)
    long, short = (run(fmu).start({"setpoint": 1.0}) for _ in range(2))
    long.step(1.05)
    for _ in range(21):
        short.step(0.05)
    assert long["u"] == short["u"] == pytest.approx(1.0)  # of the sample at 1.0 s


def test_feed_forward_and_the_start_of_the_integral_are_added(run, tmp_path):
    slave = run(controllers.pid(tmp_path / "p.fmu", kp=2.0, integral_start=0.5))
    slave.enter({"setpoint": 1.0, "feedforward": 10.0})
    assert slave["u"] == 12.5
    slave.set({"integral_start": 1.5})
    assert slave["u"] == 13.5
    slave.fmu.exitInitializationMode()
    slave.step(0.1)
    assert slave["u"] == 13.5


def test_units_are_those_given(run, tmp_path):
    slave = run(controllers.pid(tmp_path / "p.fmu", measurement_unit="rad", output_unit="N.m"))
    units = {name: slave.variables[name].unit for name in ("setpoint", "measurement", "u", "u_max", "sample_time")}
    assert units == {"setpoint": "rad", "measurement": "rad", "u": "N.m", "u_max": "N.m", "sample_time": "s"}
    found = {unit.name: unit.baseUnit for unit in slave.description.unitDefinitions}
    assert (found["N.m"].kg, found["N.m"].m, found["N.m"].s, found["rad"].rad) == (1, 2, -2, 1)


@pytest.mark.parametrize("wrong", [{"u_min": 2.0, "u_max": 1.0}, {"filter_time": -1.0}, {"sample_time": -1.0}])
def test_parameters_without_sense_are_refused_at_initialisation(run, tmp_path, wrong, capfd):
    slave = run(controllers.pid(tmp_path / "p.fmu"))
    slave.enter(wrong)
    with pytest.raises(Exception, match="fmi2ExitInitializationMode"):
        slave.fmu.exitInitializationMode()
    assert next(iter(wrong)) in capfd.readouterr().err


def test_an_unknown_parameter_or_unit_is_refused(tmp_path):
    with pytest.raises(FmuError, match="no setting 'kpp'; did you mean 'kp'"):
        controllers.pid(tmp_path / "p.fmu", kpp=1.0)
    with pytest.raises(FmuError, match="furlong"):
        controllers.pid(tmp_path / "p.fmu", output_unit="furlong")
