"""Skyhook: the cases of signs, the limits, and that the damper never gives energy."""

import numpy as np
import pytest

from linkwork import controllers

LIMITS = {"c_min": 200.0, "c_max": 4000.0, "c_sky": 1500.0}


@pytest.mark.parametrize(
    ("v_body", "v_wheel", "switched", "continuous"),
    [
        (0.5, -0.5, 4000.0, 750.0),  # both rise, the gap grows: the request is 1500 * 0.5 over 1.0
        (-0.5, 0.5, 4000.0, 750.0),
        (0.5, 1.0, 200.0, 200.0),  # the damper would push the body on
        (-0.5, -1.0, 200.0, 200.0),
        (0.5, 0.45, 4000.0, 4000.0),  # more than there is
        (0.1, -2.0, 4000.0, 200.0),  # less than there is
        (0.0, 1.0, 200.0, 200.0),
        (1.0, 1.0, 200.0, 200.0),
        (1.0, 1.0 - 2.0**-53, 4000.0, 4000.0),
    ],
)
def test_coefficients_in_all_cases(run, tmp_path, v_body, v_wheel, switched, continuous):
    slave = run(controllers.skyhook(tmp_path / "s.fmu", **LIMITS)).start()
    slave.set({"v_body": v_body, "v_wheel": v_wheel})
    assert slave["c"] == pytest.approx(continuous, rel=1e-14)
    slave.set({"continuous": False})
    assert slave["c"] == switched
    assert slave["force"] == -slave["force_wheel"] == -switched * (v_body - v_wheel)


def test_within_limits_the_force_is_that_of_a_damper_to_the_sky_and_it_never_gives_energy(run, tmp_path):
    slave = run(controllers.skyhook(tmp_path / "s.fmu", **LIMITS)).start()
    for v_body, v_wheel in np.random.default_rng(2).normal(size=(200, 2)):
        slave.set({"v_body": v_body, "v_wheel": v_wheel})
        c, force = slave.get(["c", "force"])
        assert 200.0 <= c <= 4000.0
        assert force * (v_body - v_wheel) <= 0.0
        if 200.0 < c < 4000.0:
            assert force == pytest.approx(-1500.0 * v_body)


def test_it_calms_a_body_on_a_road_better_than_a_soft_damper(run, tmp_path):
    def heave(c_max):
        slave = run(controllers.skyhook(tmp_path / f"{c_max}.fmu", c_min=200.0, c_max=c_max)).start()
        z = v = most = 0.0
        for k in range(3000):
            t = k * 1e-3
            road, rate = 0.05 * np.sin(8.0 * t), 0.4 * np.cos(8.0 * t)  # near the body's own frequency
            slave.set({"v_body": v, "v_wheel": rate})
            force = slave["force"]
            slave.step(1e-3)
            v += 1e-3 * (force - 20000.0 * (z - road)) / 300.0
            z += 1e-3 * v
            most = max(most, abs(z))
        return most

    assert heave(4000.0) < 0.6 * heave(200.0)
