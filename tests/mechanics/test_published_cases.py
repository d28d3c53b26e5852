"""Published mechanisms against their reference motions, as far as the digits of the files go."""

import numpy as np
import pytest

import linkwork as lw
from support.builder import cut_at
from support.closed_bars import double_rocker, series_of_four_bars, total_energy
from support.driving import by_joint, largest_difference
from support.oracle import Oracle
from support.placement import body_poses
from support.published import andrews_squeezer, iftomm_pendulum, iftomm_windows, ladder, msl_four_bar
from support.quarter_car import quarter_car_multilink
from support.records import record

solvers = pytest.mark.parametrize("solver", ["dopri5", "DOP853"])


def check(case, within, **options):
    result = case.run(**options)
    errors = case.errors(result)
    assert max(errors.values()) < within, errors
    return result


RECORDS = ["rusr", "ladder3", "ladder50", "moving_fourbar_trees", "stephenson_triad", "geared_link"]


@pytest.mark.parametrize("name", RECORDS)
def test_accelerations_of_record(name):
    case = record(name)
    for gear, coupling in case.gears.items():
        case.mechanism.add_coupling(gear, coupling.terms, offset=coupling.offset)
    system = lw.compile(case.mechanism)
    state = system.assemble(q=case.q, u=case.u)
    found = by_joint(system, system.accelerations(state, tau=case.tau))
    assert largest_difference({name: found[name] for name in case.udot}, case.udot) < 1e-12
    if case.energy:
        assert system.energy(state) == pytest.approx(case.energy, rel=1e-12)


@pytest.mark.parametrize("deep", [False, True], ids=["wide", "deep"])
@pytest.mark.parametrize("rungs", [1, 2, 6])
def test_ladder(rungs, deep):
    result = check(ladder(rungs, deep), 1e-11, rtol=1e-12)
    total = total_energy(result)
    assert np.abs(total - total[0]).max() < 1e-10


@solvers
def test_multilink_suspension(solver):
    check(quarter_car_multilink(), 1e-11, solver=solver, rtol=1e-12)


@solvers
def test_spatial_four_bar_of_the_modelica_library(solver):
    check(msl_four_bar(), 2e-10, solver=solver, rtol=1e-12)


@solvers
def test_andrews_squeezer(solver):
    """The end is known to 3e-12 in angles and 1e-9 in rates; accelerations are up to 6e5."""
    case = andrews_squeezer()
    errors = case.errors(case.run(solver=solver, rtol=1e-12))
    allowed = {"q": 3e-12, "u": 1e-9, "a": 2e-6}
    for name, error in errors.items():
        assert error < allowed[name[-1]], errors


@solvers
def test_iftomm_pendulum(solver):
    check(iftomm_pendulum(), 1e-10, solver=solver, rtol=1e-12)


@solvers
@pytest.mark.parametrize("count", [2, 40])
def test_iftomm_windows(count, solver):
    """Through poses in which all bars are in line, where each window adds a degree of freedom."""
    result = check(iftomm_windows(count), 1e-7, solver=solver, rtol=1e-10)
    total = total_energy(result)
    assert np.abs(total - total[0]).max() < 1e-6


@pytest.mark.thin(2)
@pytest.mark.parametrize("cut", "ABCD")
def test_double_rocker(cut):
    """Every one of its coordinates passes a dead centre: none could be the independent one throughout."""
    case = double_rocker()
    case.mechanism = cut_at(case.mechanism, cut)
    case.mechanism.start(q=case.q, u=case.u)
    result = lw.simulate(case.mechanism, case.t[-1], t_eval=case.t, rtol=1e-11)
    for name, expected in case.motion.items():
        assert result[f"{name}.q"] == pytest.approx(expected, abs=1e-7), name


@pytest.mark.parametrize("count", [1, 3, 10])
def test_four_bars_in_series(count):
    case = series_of_four_bars(count)
    system = lw.compile(case.mechanism)
    state = system.assemble(q=case.q, u=case.u)
    tree = [name for name in case.q if not name.startswith("D")]
    oracle = Oracle(case.mechanism, body_poses(case.mechanism, case.q, tree))
    assert oracle.gap() < 1e-13
    assert largest_difference(by_joint(system, system.accelerations(state)), oracle.solve(case.u).udot) < 1e-10
    result = lw.simulate(system, 1.0, state=state, rtol=1e-9, t_eval=np.linspace(0.0, 1.0, 11))
    total = total_energy(result)
    assert np.abs(total - total[0]).max() < 1e-7 * np.abs(result["energy.kinetic"]).max()
