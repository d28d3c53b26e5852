"""Accuracy at all sizes: default absolute tolerances follow the lengths and times of the mechanism."""

import numpy as np
import pytest

import linkwork as lw
from support.builder import scaled
from support.random_mechanisms import FAMILIES
from support.sizes import SCALES, heavier, sized

AMPLITUDES = [1e3, 1.0, 0.03, 1e-3, 1e-6, 1e-9, 1e-12]
LOOPS = ["slider_crank", "planar_4R", "spatial_6R_2P", "moving_slider_crank", "coupled"]


def oscillator(amplitude: float, mass: float = 1.0, rate: float = 10.0, at: float = 0.0) -> lw.Mechanism:
    """A mass on a spring: q = at + amplitude cos(rate t)."""
    mech = lw.Mechanism("oscillator", gravity=(0, 0, 0))
    mech.add_body("block", mass=mass, com=(0, 0, 0), inertia=mass * np.eye(3))
    mech.add_joint("P", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("P", stiffness=mass * rate**2, free=at))
    mech.start(q={"P": at + amplitude})
    return mech


@pytest.mark.parametrize("amplitude", AMPLITUDES)
@pytest.mark.parametrize("solver", ["auto", "rodas5p", "DOP853", "LSODA"])
def test_a_slide_has_the_accuracy_asked_for_whatever_its_amplitude(amplitude: float, solver: str) -> None:
    t = np.linspace(0.0, 3.0, 31)
    for rtol in (1e-5, 1e-8):
        found = lw.simulate(oscillator(amplitude), 3.0, rtol=rtol, t_eval=t, solver=solver)
        assert np.abs(found["P.q"] - amplitude * np.cos(10 * t)).max() < 3 * rtol * amplitude
        assert np.abs(found["P.u"] + 10 * amplitude * np.sin(10 * t)).max() < 30 * rtol * amplitude


@pytest.mark.parametrize("rate", [1e-6, 1e-3, 1e3, 1e6])
def test_slow_and_fast_motions_have_it_too(rate: float) -> None:
    t = np.linspace(0.0, 30.0 / rate, 31)
    found = lw.simulate(oscillator(1e-6, 1e-9, rate), t[-1], t_eval=t)
    assert np.abs(found["P.q"] - 1e-6 * np.cos(rate * t)).max() < 3e-14
    assert found.statistics.steps < 800


def test_a_motion_from_the_origin_grows_into_its_scale() -> None:
    """Nothing tells its size at the start."""
    mech = oscillator(0.0)
    mech.start(u={"P": 1e-5})
    t = np.linspace(0.0, 3.0, 31)
    for options in ({}, {"controller": lambda t, state: {}, "sample_time": 0.01}):
        found = lw.simulate(mech, 3.0, t_eval=t, **options)
        assert np.abs(found["P.q"] - 1e-6 * np.sin(10 * t)).max() < 3e-14


@pytest.mark.parametrize("family", LOOPS)
def test_loops_have_the_same_accuracy_at_all_sizes(family: str) -> None:
    """Lengths and gravity times a factor, masses times another: the angles move the same."""
    scene = FAMILIES[family][0](np.random.default_rng(5))
    t = np.linspace(0.0, 0.3, 7)

    def error(length: float, mass: float) -> tuple[float, int]:
        model = lw.compile(heavier(scaled(scene.mechanism, length), mass))
        q, u = (sized(scene.mechanism, values, length) for values in (scene.q, scene.u))
        state = model.assemble(q=q, u=u)
        found = lw.simulate(model, t[-1], state=state, t_eval=t)
        exact = lw.simulate(model, t[-1], state=state, t_eval=t, solver="DOP853", rtol=1e-12)
        nq = model.numbering.nq
        sizes = [length if found.units[name] == "m" else 1.0 for name in model.q_names]
        return float((np.abs(found.y - exact.y)[:, :nq] / sizes).max()), found.statistics.steps

    usual, steps = error(1.0, 1.0)
    for scale in SCALES:
        found, needed = error(*scale)
        assert found < max(3 * usual, 1e-9) < 1e-7
        assert needed < 1.2 * steps + 5


def test_a_tolerance_of_the_users_own_is_kept() -> None:
    t = np.linspace(0.0, 3.0, 31)
    coarse = lw.simulate(oscillator(1e-6), 3.0, atol=1e-8, t_eval=t)
    assert np.abs(coarse["P.q"] - 1e-6 * np.cos(10 * t)).max() > 1e-11
    assert coarse.statistics.steps < lw.simulate(oscillator(1e-6), 3.0, t_eval=t).statistics.steps / 2


def test_mechanisms_of_a_metre_have_the_tolerance_itself() -> None:
    scene = FAMILIES["spatial_6R_2P"][0](np.random.default_rng(5))
    model = lw.compile(scene.mechanism)
    state = model.assemble(q=scene.q, u=scene.u)
    found = lw.simulate(model, 0.3, state=state)
    assert np.array_equal(found.y, lw.simulate(model, 0.3, state=state, atol=1e-8).y)
