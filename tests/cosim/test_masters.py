"""Masters of a fixed step: their order on an oscillator of two FMUs, measured by its closed form."""

import functools
from copy import copy

import numpy as np
import pytest

from linkwork.cosim import GaussSeidel, Jacobi, System, run
from linkwork.cosim.masters.fixed_step import FixedStepRun
from linkwork.errors import CosimError
from support.foreign import MODE, foreign
from support.tables import numbers, rows_of
from support.two_masses import TwoMasses

PAIRS = [("2.0", "2.0"), ("3.0", "3.0"), ("2.0", "3.0")]
CLOCK = {"mode": MODE["events"], "every": 0.3}
KINDS = {"Jacobi": Jacobi, "Gauss-Seidel": GaussSeidel}
PAGE = "docs/cosim_masters.md"


@pytest.fixture(scope="module", params=PAIRS, ids="-".join)
def masses(request, tmp_path_factory, needs):
    needs("fmpy")
    return TwoMasses(tmp_path_factory.mktemp("masses"), request.param)


@pytest.mark.thin(8, kept=2)
@pytest.mark.parametrize("master", [Jacobi, GaussSeidel])
@pytest.mark.parametrize("extrapolation", [0, 1, 2])
def test_order(masses, master, extrapolation):
    """Order 1, 2, 3, whether an FMU takes derivatives of its inputs (FMI 2.0) or constants (FMI 3.0)."""
    order = extrapolation + 1
    errors = [masses.error(masses.run(1.0, master(step, extrapolation))) for step in (0.02, 0.01, 0.005)]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.25)
    assert errors[2] < 3 * 0.005**order * 5


@pytest.mark.thin(8, kept=2)
@pytest.mark.parametrize("master", [Jacobi, GaussSeidel])
@pytest.mark.parametrize("extrapolation", [0, 1, 2])
def test_order_where_inputs_start_with_a_rate(masses, master, extrapolation):
    """The first step, which knows no rates yet, costs none of the order."""
    order = extrapolation + 1
    moving = copy(masses)
    moving.speeds = (1.5, -1.0)
    results = [moving.run(1.0, master(step, extrapolation)) for step in (0.02, 0.01, 0.005)]
    errors = [moving.error(result) for result in results]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.15)
    assert results[-1].statistics.rollbacks == (extrapolation == 2)
    assert results[-1].statistics.steps == 200


@pytest.mark.thin(2)
@pytest.mark.parametrize("master", [Jacobi, GaussSeidel])
def test_order_after_events(masses, master, tmp_path, needs_program):
    """Where one FMU has an event, all forget the past."""
    needs_program("gcc")
    can = 'hasEventMode="true" canGetAndSetFMUState="true" canHandleVariableCommunicationStepSize="true"'
    system = masses.system()
    system.add("clock", foreign(tmp_path / "clock.fmu", "3.0", abilities=can), parameters=CLOCK)
    steps = (0.02, 0.01, 0.005)
    results = [run(system, 1.0, master=master(h, 2), tolerance=1e-10, models=masses.models) for h in steps]
    assert [t for t, _ in results[-1].events] == pytest.approx([0.3, 0.6, 0.9])
    errors = [masses.error(result) for result in results]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(3, abs=0.25)


@pytest.fixture(scope="module")
def documented(tmp_path_factory, needs):
    """`documented("3.0")`: both masses as FMUs of that version."""
    needs("fmpy")
    return functools.cache(lambda version: TwoMasses(tmp_path_factory.mktemp("masses"), (version, version)))


@pytest.mark.thin(8)
@pytest.mark.parametrize("row", rows_of(PAGE, "| FMI | master | extrapolation |"), ids=lambda row: "-".join(row[:3]))
def test_errors_of_the_document(documented, row):
    masses, (version, master, extrapolation, *cells) = documented(row[0]), row
    assert masses.versions == (version, version)
    results = [masses.run(2.0, KINDS[master](step, int(extrapolation))) for step in (0.02, 0.01, 0.005)]
    errors = [masses.errors(result)[-1] for result in results]
    *expected, order = numbers(cells)
    assert errors == pytest.approx(expected, rel=0.06)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.02)


@pytest.mark.thin(8)
@pytest.mark.parametrize("row", rows_of(PAGE, "| FMI | master | first step |"), ids=lambda row: "-".join(row[:3]))
def test_errors_of_the_document_from_a_start_in_motion(documented, row, monkeypatch):
    if row[2] == "held":
        monkeypatch.setattr(FixedStepRun, "_twice", FixedStepRun._once)
    moving = copy(documented(row[0]))
    moving.speeds = (1.5, -1.0)
    errors = [moving.error(moving.run(2.0, KINDS[row[1]](step, 2))) for step in (0.02, 0.01, 0.005)]
    *expected, order = numbers(row[3:])
    assert errors == pytest.approx(expected, rel=0.06)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.02)


def test_communication_points(masses):
    """They are those of the grid, also where the step does not divide the run, and not summed up."""
    result = masses.run(1.0, Jacobi(0.03))
    np.testing.assert_allclose(result.t, [*(0.03 * np.arange(34)), 1.0], rtol=0, atol=1e-15)
    assert result.statistics.steps == 34


def test_gauss_seidel_takes_its_order(masses):
    """The one that goes first decides the error; unnamed ones follow."""
    own = masses.run(1.0, GaussSeidel(0.05))
    same = masses.run(1.0, GaussSeidel(0.05, order=["left"]))
    other = masses.run(1.0, GaussSeidel(0.05, order=["right"]))
    np.testing.assert_array_equal(own["left.x.q"], same["left.x.q"])
    assert abs(own["left.x.q"][-1] - other["left.x.q"][-1]) > 1e-4


def test_external_inputs_are_extrapolated(masses):
    """A force that grows as t moves the mass on a spring as sin does, exactly where extrapolation is linear."""
    system = System("one")
    system.add("m", masses.fmus[1], parameters={"x.q_start": 0.0})
    result = run(system, 1.0, master=Jacobi(0.1, 1), inputs={"m.x.tau": lambda t: t}, tolerance=1e-12)
    k = masses.stiffness[1] + masses.coupling
    own = np.sqrt(k / 2.0)
    exact = (result.t - np.sin(own * result.t) / own) / k
    first = np.abs(result["m.x.q"] - exact).max()
    assert first < 1.5e-3  # the first step has nothing to extrapolate from
    half = run(system, 1.0, master=Jacobi(0.05, 1), inputs={"m.x.tau": lambda t: t}, tolerance=1e-12)
    assert abs(half["m.x.q"][-1] - exact[-1]) < 0.3 * first


@pytest.mark.parametrize(
    "options", [{"step": 0.0}, {"step": -1.0}, {"step": np.inf}, {"step": 1.0, "extrapolation": 3}]
)
def test_options_are_checked(options):
    with pytest.raises(CosimError, match="must be"):
        Jacobi(**options)


def test_unknown_component_in_order(masses):
    with pytest.raises(CosimError, match=r"no component 'lef'.*'left'"):
        masses.run(1.0, GaussSeidel(0.1, order=["lef"]))
