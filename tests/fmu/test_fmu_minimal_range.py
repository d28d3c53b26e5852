"""Minimal states in Model Exchange at the end of an independent coordinate's range: passing it is an error by name."""

import re

import numpy as np
import pytest

import linkwork as lw
from fmu.test_fmu_minimal import crank_slider, rod_between

PASSED = (
    r"at t = ([0-9.]+) s the independent q of joint '{}' is at the end of its range .*independents=.* states=\"full\""
)
REFUSED = r"here, at t = ([0-9.]+) s, or .* limit of .* from q of joint '{}' first of all; .* states=\"full\""


@pytest.fixture
def run(tmp_path, needs):
    fmpy = needs("fmpy")

    def simulated(mech, version, outputs, kind="ModelExchange", independents=None, **options):
        path = lw.export_fmu(
            mech, tmp_path / "a.fmu", version, outputs, states="minimal", independents=independents, reference=False
        )
        options = {"output_interval": 0.05, "relative_tolerance": 1e-8, **options}
        return fmpy.simulate_fmu(str(path), fmi_type=kind, record_events=False, **options)

    return simulated


def time_named(capfd, text, run, *args, **options):
    fmpy = pytest.importorskip("fmpy")
    with pytest.raises(fmpy.fmi1.FMICallException):
        run(*args, **options)
    log = "".join(capfd.readouterr())
    found = re.search(text, log)
    assert found, log
    return float(found.group(1))


def turn_of(mech, speed, near):
    """Where a speed passes zero, in the motion of all coordinates."""
    t = np.linspace(near - 0.05, near + 0.05, 10001)
    u = lw.simulate(mech, t[-1], t_eval=t, rtol=1e-10)[speed]
    return t[np.flatnonzero(u[1:] * u[:-1] <= 0)[0]]


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("interval", [0.05, 1.0])
def test_the_rod_turns_about_its_line_beyond_the_turn_of_the_rocker(run, capfd, version, interval):
    mech = rod_between(lw.Universal((1, 0, 0), (0, 0, 1)))
    text = PASSED.format("D")
    found = time_named(capfd, text, run, mech, version, ["D.q"], stop_time=1.0, output_interval=interval)
    assert abs(found - turn_of(mech, "D.u", 0.332)) < 1e-4


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_fixed_steps_end_there_too(run, capfd, version):
    """Euler's step ends beyond the range, where there is no pose."""
    mech = rod_between(lw.Universal((1, 0, 0), (0, 0, 1)))
    options = {"stop_time": 1.0, "solver": "Euler", "step_size": 1e-3, "output_interval": 1e-3}
    found = time_named(capfd, REFUSED.format("D"), run, mech, version, ["D.q"], **options)
    assert abs(found - turn_of(mech, "D.u", 0.332)) < 1e-2


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_co_simulation_passes_it(run, version):
    """It integrates all coordinates."""
    mech = rod_between(lw.Universal((1, 0, 0), (0, 0, 1)))
    found = run(mech, version, ["A.q", "D.q"], "CoSimulation", stop_time=1.0)
    exact = lw.simulate(mech, 1.0, t_eval=found["time"], rtol=1e-10)
    for name in ("A.q", "D.q"):
        assert np.abs(found[name] - exact[name]).max() < 1e-6


def thrown(crank: float) -> lw.Mechanism:
    """The block of the crank and slider reaches its end at crank = 0, and passes it."""
    mech = crank_slider()
    mech.gravity = (0.0, 0.0, 0.0)
    mech.start(q={"slide": 1.2, "crank": crank, "elbow": -2 * crank}, u={"slide": 0.4})
    return mech


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_a_slider_passes_its_dead_point(run, capfd, version):
    mech = thrown(-0.9)
    exact = lw.simulate(mech, 3.0, rtol=1e-10)
    passes = np.interp(0.0, exact["crank.q"], exact.t)  # 2 cos(crank) is largest there
    found = time_named(
        capfd, PASSED.format("slide"), run, mech, version, ["slide.q"], independents=["slide"], stop_time=3.0
    )
    assert abs(found - passes) < 1e-4
    remedy = run(mech, version, ["slide.q", "crank.q"], independents=["crank"], stop_time=3.0)
    assert np.abs(remedy["slide.q"] - 2 * np.cos(remedy["crank.q"])).max() < 1e-9
    assert remedy["crank.q"].max() > 0.2


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_a_single_dependent_coordinate_passes_a_vertex(run, capfd, version):
    """a = b^2, where b passes zero."""
    mech = lw.Mechanism("vertex", gravity=(0.0, 0.0, 0.0))
    for name, axis in (("a", (1, 0, 0)), ("b", (0, 1, 0))):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint(name, lw.Prismatic(axis), "ground", name, parent_frame=lw.Frame())
    mech.add_coupling("cam", {"a": 1.0, "b": (0.0, -1.0)})
    mech.start(q={"a": 1.0, "b": -1.0}, u={"b": 1.0})
    options = {"independents": ["a"], "stop_time": 4.0}
    found = time_named(capfd, PASSED.format("a"), run, mech, version, ["a.q"], **options)
    exact = lw.simulate(mech, 4.0, rtol=1e-10)
    assert abs(found - np.interp(0.0, exact["b.q"], exact.t)) < 1e-4


@pytest.mark.parametrize("distance", [0.3, 0.05, 0.01])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-8])
def test_turns_at_rest_next_to_it_are_none(run, distance, tolerance):
    """A spring pulls the crank back to where it was released, `distance` before the end."""
    mech = crank_slider()
    mech.gravity = (0.0, 0.0, 0.0)
    mech.add_force(lw.SpringDamper("crank", stiffness=30.0, free=-0.6))
    mech.start(q={"slide": 2 * np.cos(distance), "crank": -distance, "elbow": 2 * distance}, u={"slide": 0.0})
    found = run(mech, "3.0", ["crank.q"], independents=["slide"], stop_time=6.0, relative_tolerance=tolerance)
    exact = lw.simulate(mech, 6.0, t_eval=found["time"], rtol=1e-11)["crank.q"]
    swings = np.sum(np.diff(np.sign(np.diff(exact))) != 0)
    assert swings >= 4
    assert np.abs(found["crank.q"] - exact).max() < 3e3 * tolerance / distance
