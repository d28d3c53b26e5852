"""The adaptive master: errors and tolerances, steps and those of a fixed step, its messages on failure."""

import numpy as np
import pytest

from linkwork.cosim import Adaptive, GaussSeidel, Jacobi, System, run
from linkwork.errors import CosimError
from support.python_fmus import python_fmu
from support.tables import numbers, rows_of
from support.two_masses import TwoMasses

FIXED = {"jacobi": Jacobi, "gauss-seidel": GaussSeidel}
CASES = {
    "oscillating": ({}, 4.0),
    "FMI 3.0": ({"versions": ("3.0", "2.0")}, 4.0),
    "damped": ({"damping": (1.0, 1.0)}, 4.0),
    "stiff coupling": ({"coupling": 200.0}, 2.0),
    "stiffer coupling": ({"coupling": 500.0}, 4.0),
    "fast, then slow": ({"stiffness": (1000.0, 1.0), "damping": (20.0, 0.2)}, 10.0),
}


OF_THE_DOCUMENT = {  # by the first word of a row
    "as": "oscillating",
    "damped,": "damped",
    "coupling": "stiffer coupling",
    "one": "fast, then slow",
}


@pytest.fixture(scope="module")
def case(tmp_path_factory, needs):
    needs("fmpy")
    made = {}

    def make(name):
        if name not in made:
            made[name] = TwoMasses(tmp_path_factory.mktemp("masses"), **CASES[name][0]), CASES[name][1]
        return made[name]

    return make


def work(result):
    """Steps of all instances, those for the estimate and those rejected included."""
    return 1.5 * result.statistics.steps + 3 * result.statistics.rejected


def fixed_steps(masses, stop, master, extrapolation, error):
    """How many steps the master of a fixed step takes for an error, by its order between two runs."""
    few, many = 800, 1600
    errors = [masses.error(masses.run(stop, master(stop / n, extrapolation))) for n in (few, many)]
    return many * (errors[1] / error) ** (1 / np.log2(errors[0] / errors[1]))


@pytest.mark.thin(9, kept=3)
@pytest.mark.parametrize("inner", FIXED)
@pytest.mark.parametrize("name", [name for name in CASES if name != "stiffer coupling"])
def test_error_meets_the_tolerance_at_fewer_steps(case, name, inner):
    """For each tolerance the error is below it and not far, and a fixed step for it takes more steps in all."""
    masses, stop = case(name)
    for tolerance in (1e-3, 1e-5):
        result = masses.run(stop, Adaptive(tolerance, inner=inner))
        error = masses.error(result)
        assert 0.03 * tolerance < error < 2 * tolerance
        assert work(result) < fixed_steps(masses, stop, FIXED[inner], 1, error)


@pytest.mark.slow
@pytest.mark.parametrize(
    "row", rows_of("docs/cosim_masters.md", "| system | inner | rtol |"), ids=lambda row: "-".join(row[:3])
)
def test_steps_of_the_document(case, row):
    masses, stop = case(OF_THE_DOCUMENT[row[0].split()[0]])
    tolerance, error, steps, in_all, fixed = numbers(row[2:])
    result = masses.run(stop, Adaptive(tolerance, inner=row[1].lower()))
    assert masses.error(result) == pytest.approx(error, rel=0.06)
    assert (result.statistics.steps, work(result)) == (steps, in_all)
    assert fixed_steps(masses, stop, FIXED[row[1].lower()], 1, masses.error(result)) == pytest.approx(fixed, rel=0.01)


@pytest.mark.parametrize("extrapolation", [1, 2])
def test_tight_tolerance(case, extrapolation):
    masses, stop = case("oscillating")
    result = masses.run(stop, Adaptive(1e-7, extrapolation=extrapolation))
    assert 1e-8 < masses.error(result) < 2e-7


def test_errors_of_inputs(case):
    """The cheap estimate: no step is made twice, and errors are in proportion to the tolerance."""
    masses, stop = case("oscillating")
    runs = [masses.run(stop, Adaptive(tolerance, estimate="inputs")) for tolerance in (1e-3, 1e-5)]
    assert [masses.error(one) for one in runs] == pytest.approx([4.2e-4, 3.9e-6], rel=0.02)
    assert [one.statistics.steps for one in runs] == [411, 4123]
    assert runs[0].statistics.rollbacks == runs[0].statistics.rejected


def test_steps_follow_the_motion(case):
    """While the light mass rings steps are short; they grow once it has come to rest."""
    masses, stop = case("fast, then slow")
    result = masses.run(stop, Adaptive(1e-4))
    steps = np.diff(result.t)
    early = np.median(steps[(result.t[1:] > 0.1) & (result.t[1:] < 0.3)])
    late = np.median(steps[result.t[1:] > 5.0])
    assert late > 5 * early


def test_bounds_of_the_step(case):
    masses, stop = case("damped")
    result = masses.run(stop, Adaptive(1e-2, max_step=0.02, first_step=0.001))
    assert np.diff(result.t).max() <= 0.02 * (1 + 1e-9)
    assert result.t[1] == pytest.approx(0.001)


def test_smallest_step_names_the_signal(case):
    masses, stop = case("oscillating")
    with pytest.raises(CosimError, match=r"'(left|right)\.x\.q' over the smallest step.*min_step.*rtol") as caught:
        masses.run(stop, Adaptive(1e-9, min_step=0.05, first_step=0.05))
    assert caught.value.result.aborted


def test_signals_that_jump(tmp_path, case, needs):
    """A relay: doubling steps over its jump, as both of its tries see it; the errors of inputs name it."""
    needs("pythonfmu")
    variables = {"x": ("Real", "input", 0.0), "f": ("Real", "output", 0.0)}
    relay = python_fmu(tmp_path, "Relay", variables, "self.f = -1.0 if self.x < 0.5 else 0.0")
    system = System("relay")
    system.add("mass", case("oscillating")[0].fmus[0])
    system.add("relay", relay)
    system.connect("mass.x.q", "relay.x", convert_units=False)
    system.connect("relay.f", "mass.x.tau", convert_units=False)
    fine = run(system, 0.6, master=Jacobi(1e-4), tolerance=1e-10)
    result = run(system, 0.6, master=Adaptive(1e-5), tolerance=1e-10)
    assert result["mass.x.q"][-1] == pytest.approx(fine["mass.x.q"][-1], abs=1e-3)
    with pytest.raises(CosimError, match=r"'relay\.f' over the smallest step"):
        run(system, 0.6, master=Adaptive(1e-5, estimate="inputs"), tolerance=1e-10)


def test_without_states_it_is_of_a_fixed_step(tmp_path, needs):
    """An FMU that cannot be restored: a notice names it, and the run continues with the first step."""
    needs("pythonfmu")
    variables = {"u": ("Real", "input", 0.0), "y": ("Real", "output", 1.0)}
    decay = "self.y += step * (self.u - self.y)"
    fmu = python_fmu(tmp_path, "Forgetful", variables, decay, states=False)
    system = System("one")
    system.add("a", fmu)
    result = run(system, 1.0, master=Adaptive(1e-4, first_step=0.1, max_step=0.5))
    np.testing.assert_allclose(result["a.y"], 0.9 ** np.arange(11))
    assert any("fixed at 0.1 s: 'a' (FMU Forgetful.fmu) cannot save states" in one for one in result.notices)


@pytest.mark.parametrize(
    "options",
    [
        {"rtol": 0.0},
        {"rtol": 1e-3, "min_step": -1.0},
        {"rtol": 1e-3, "inner": "newton"},
        {"rtol": 1e-3, "order": ["left"]},
        {"rtol": 1e-3, "estimate": "none"},
        {"rtol": 1e-3, "extrapolation": 4},
    ],
)
def test_options_are_checked(options):
    with pytest.raises(CosimError, match="must be"):
        Adaptive(**options)
