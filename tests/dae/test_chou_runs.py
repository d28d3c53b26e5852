"""Chou's equations by IDA through `simulate`, against explicit equations in joint coordinates by another solver."""

import importlib

import numpy as np
import pytest

import linkwork as lw
from support.chains import hung, random_state, row_of_rods
from support.checkout import TOP
from support.dae_backends import needs_ida

pytestmark = needs_ida
SCHEMES = (1, 2, 3, 4)
PAPER = {1: 2e-6, 2: 5e-6, 3: 5e-6, 5: 2e-5, 10: 5e-5}  # bodies, and errors of their attitudes, rad
TIMES = np.linspace(0.0, 1.0, 101)


@pytest.fixture(scope="module")
def pendulum():
    """The example, and its reference for a number of bodies."""
    pytest.importorskip("matplotlib")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(TOP / "examples")
        return importlib.import_module("n_body_pendulum")


@pytest.fixture(scope="module")
def reference(pendulum):
    known = {}

    def of(n):
        if n not in known:
            system = lw.compile(pendulum.mechanism(n))
            known[n] = system, lw.simulate(system, 1.0, solver="DOP853", rtol=1e-12, t_eval=TIMES)
        return known[n]

    return of


def by_ida(mechanism, t_end, scheme=4, **options):
    return lw.simulate(mechanism, t_end, solver="ida", formulation="chou", scheme=scheme, **options)


def energy(result):
    return result["energy.kinetic"] + result["energy.potential"]


@pytest.mark.thin(4)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("n", PAPER)
def test_the_run_of_the_paper(pendulum, reference, n, scheme):
    system, exact = reference(n)
    result = by_ida(system, 1.0, scheme, rtol=1e-7, t_eval=TIMES)
    error = pendulum.turned(pendulum.orientations(result), pendulum.orientations(exact))
    assert np.array_equal(result.t, TIMES)
    assert error < PAPER[n]
    assert np.ptp(exact.y, axis=0).max() > 1.0


@pytest.mark.parametrize("scheme", [2, 3, 4])
def test_errors_fall_in_proportion_with_the_tolerance(pendulum, reference, scheme):
    system, exact = reference(3)
    tolerances = 10.0 ** np.arange(-5, -10, -1)
    right = pendulum.orientations(exact)
    runs = [by_ida(system, 1.0, scheme, rtol=rtol, t_eval=TIMES) for rtol in tolerances]
    errors = [pendulum.turned(pendulum.orientations(run), right) for run in runs]
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.7 < slope < 1.3
    assert errors[-1] < errors[0] / 3**4


@pytest.mark.slow
def test_schemes_3_and_4_go_the_same_way(reference):
    """They solve the same equations to rounding, so even their steps agree."""
    system, exact = reference(3)
    reduced, swept = (by_ida(system, 1.0, scheme, rtol=1e-7) for scheme in (3, 4))
    assert reduced.statistics.steps == swept.statistics.steps
    assert reduced.y[-1] == pytest.approx(swept.y[-1], abs=1e-9)
    assert np.abs(swept.y[-1] - exact.y[-1]).max() > 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_random_chains(seed):
    """Joint frames anywhere, some joints declared inwards; coordinates and speeds of the joints."""
    rng = np.random.default_rng(seed)
    system = hung(rng, 3 + seed, reverse=True)
    state = start(system, *random_state(rng, system))
    times = np.linspace(0.0, 0.5, 6)
    exact = lw.simulate(system, 0.5, state=state, solver="DOP853", rtol=1e-12, t_eval=times)
    result = by_ida(system, 0.5, state=state, rtol=1e-9, t_eval=times)
    assert result.y == pytest.approx(exact.y, abs=1e-4 * np.abs(exact.y).max())
    assert result["energy.kinetic"] == pytest.approx(exact["energy.kinetic"], rel=1e-4)


def start(system, q, u, time=0.0):
    """At coordinates and speeds of all joints."""
    n = system.numbering
    joints = system.mechanism.joints
    given = ({name: values[spans[name]] for name in joints} for values, spans in ((q, n.q), (u, n.u)))
    return system.assemble(*given, time=time)


def test_a_long_chain_falls():
    """Two hundred bodies, released from the level; only the first ones feel the support so soon."""
    system = lw.compile(row_of_rods(200))
    times = np.linspace(0.0, 0.1, 5)
    result = by_ida(system, 0.1, rtol=1e-7, t_eval=times)
    exact = lw.simulate(system, 0.1, solver="DOP853", rtol=1e-10, t_eval=times)
    assert result.y == pytest.approx(exact.y, abs=1e-5)
    assert result["energy.kinetic"][-1] > 10.0
    assert np.ptp(energy(result)) < 1e-6 * result["energy.kinetic"][-1]
    assert np.ptp(result["rod200.r"][:, 2]) == pytest.approx(9.81 * 0.1**2 / 2, rel=1e-3)


def test_columns_are_those_of_the_explicit_run(reference):
    system, exact = reference(3)
    result = by_ida(system, 1.0, rtol=1e-9, t_eval=TIMES)
    assert result.names == exact.names
    assert not result.events
    reactions = [f"{joint}.{what}" for joint in system.mechanism.joints for what in "ft"]
    for name in [*exact.names, *reactions]:
        size = max(1.0, np.abs(exact[name]).max())
        assert result[name] == pytest.approx(exact[name], abs=1e-4 * size), name


def test_a_run_continues_where_another_was(reference):
    system, exact = reference(2)
    half = 50
    q, u = np.split(exact.y[half], [8])
    state = start(system, q, u, time=TIMES[half])
    rest = by_ida(system, 1.0, state=state, rtol=1e-9, t_eval=TIMES[half:])
    assert rest.t[0] == TIMES[half]
    assert rest.y == pytest.approx(exact.y[half:], abs=1e-5)


def test_the_start_time_may_be_any(reference):
    system, exact = reference(2)
    later = by_ida(system, 6.0, t_start=5.0, rtol=1e-9, t_eval=5.0 + TIMES)
    assert later.t[0] == 5.0
    assert later.y == pytest.approx(exact.y, abs=1e-5)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_backward_runs_end_where_forward_runs_began(reference, scheme):
    system, exact = reference(2)
    q, u = np.split(exact.y[-1], [8])
    back = by_ida(system, 0.0, scheme, state=start(system, q, u, time=1.0), rtol=1e-9, t_eval=TIMES[::-1])
    assert back.t[-1] == 0.0
    assert back.y == pytest.approx(exact.y[::-1], abs=1e-5)


def test_every_step_makes_a_row(reference):
    system, exact = reference(2)
    result = by_ida(system, 1.0, rtol=1e-8)
    assert result.t.size == result.statistics.steps + 1
    assert (np.diff(result.t) > 0).all()
    assert result.t[-1] == 1.0
    assert result.y[-1] == pytest.approx(exact.y[-1], abs=1e-5)
    assert np.ptp(energy(result)) < 1e-5
