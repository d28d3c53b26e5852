"""Each dynamic check finds the FMU that misbehaves in its way, and leaves alone the one that does not."""

import re
import sys

import pytest

from linkwork.fmu.check import check_fmu
from linkwork.fmu.check.registry import all_checks
from support.oscillator import oscillator

VERSIONS = ("2.0", "3.0")
DYNAMIC = [name for name, one in all_checks().items() if one.dynamic]

# Defect, the check that finds it, how grave, and its text; in which versions: both where calls differ.
DEFECTS = [
    ("ANY_TOKEN", "token", "error", "wrong token is accepted", ("3.0",)),
    ("NO_RESET", "life", "error", "after a reset y begin otherwise", ("2.0",)),
    ("CRASH_ON_FREE", "life", "error", r"crashed with SIGABRT in fmi\dFreeInstance", ("3.0",)),
    ("NO_SUCH_FUNCTION", "life", "error", r"has no function fmi\dReset", ("2.0",)),
    ("NO_SUCH_FUNCTION", "exports", "error", r"lacks 1 functions: fmi\dReset; export them", ("2.0",)),
    ("GLOBAL", "independence", "error", "a second instance changes what the first one does", ("2.0",)),
    ("TAKES_NAN", "nan", "note", "takes NaN for u without a word", ("2.0",)),
    ("NAN_SPREADS", "nan", "error", "after NaN in one instance others begin otherwise", ("3.0",)),
    ("TRUNCATED", "steps", "error", "steps are cut to a grid", VERSIONS),
    ("TRUNCATED", "steps", "error", "reports lastSuccessfulTime .* without an early return", ("3.0",)),
    ("TRUNCATED", "steps", "error", "go to the very end", ("3.0",)),
    ("EARLY", "steps", "error", "returns early, which the model description does not declare", ("3.0",)),
    ("CRASH", "steps", "error", r"crashed with SIGSEGV in fmi\dDoStep", ("3.0",)),
    ("EXITS=7", "steps", "error", "ended the process with exit code 7", ("2.0",)),
    ("EXITS=0", "steps", "error", "ended the process with exit code 0", ("2.0",)),
    ("FAILS", "steps", "error", r"fmi\dDoStep failed with status 3", ("3.0",)),
    ("HANG", "steps", "error", r"hangs in fmi\dDoStep: no answer within 3 s", ("3.0",)),
    ("EULER", "step-size", "warning", "y differs by .* between steps of 0.01 and half of it", ("2.0",)),
    ("DROPS_INPUTS", "inputs", "error", "the input u was set to 0.25 and reads 0.0", ("3.0",)),
    ("FORGETS", "snapshots", "error", "CS: after a saved state is restored y run otherwise", VERSIONS),
    ("FORGETS", "snapshots", "error", "ME: after a saved state is restored", VERSIONS),
    ("WRITES_HALF", "serialisation", "error", "CS: from a state that was written out y run otherwise", ("3.0",)),
    ("ANY_SIZE", "serialisation", "error", r"(\d+) of the \d+ bytes of a state are accepted", ("3.0",)),
    (
        "WRONG_DERIVATIVE",
        "derivatives",
        "error",
        r"der\(v\) with respect to x is given as -4.004; .* give -4\b",
        VERSIONS,
    ),
    ("WRONG_ADJOINT", "adjoint", "error", "adjoint and directional ones differ", ("3.0",)),
    ("HIDDEN_DEPENDENCY", "dependencies", "error", "y moves with u, which its dependencies leave out", ("2.0",)),
    ("MOVES_WITH_TIME", "dependencies", "error", "y moves with time, which its dependencies leave out", VERSIONS),
    ("WRONG_BY_PARAMETER", "derivatives", "error", r"to k is given as 0; .* give -0\.9", VERSIONS),
    ("WARM_START", "history", "error", r"the derivative of v .* after an evaluation", VERSIONS),
    ("REFUSES_REST", "history", "error", r"a state at .* is refused after an evaluation .* not in a new", VERSIONS),
    ("ENDLESS", "events", "error", "discrete states request another update for ever", VERSIONS),
    ("ZERO_NOMINAL", "events", "error", "nominal value of v is 0.0", ("2.0",)),
    ("WRONG_COUNT", "events", "error", "the library has 3 event indicators, ModelStructure 1", ("3.0",)),
    ("JUMPS", "events", "error", "a second event at the start, without a cause, moves the states", ("2.0",)),
    ("ALWAYS_CHANGED", "events", "warning", "reports that values of states changed, which did not", VERSIONS),
    ("FIRES_TWICE", "crossings", "error", "event indicator 1 crosses zero, v move once more", VERSIONS),
    ("FIRES_TWICE", "crossings", "error", "v, but reports that values of states did not change", ("2.0",)),
    ("FIRES_TWICE", "crossings", "error", "moves the state v, which has no reinit", ("3.0",)),
    ("WRONG_ELEMENTS", "elements", "error", r"of der\(x\) and its entry in ModelStructure differ in k, v", ("3.0",)),
    ("FAR_ELEMENTS", "elements", "error", "names the elements 1 and 2 of [vx]; they count from 1", ("3.0",)),
    ("NO_ELEMENTS", "elements", "error", "fmi3GetNumberOfVariableDependencies failed", ("3.0",)),
    ("NO_RATES", "abilities", "error", r"declares maxOutputDerivativeOrder, but fmi\dGet.*Derivatives fail", VERSIONS),
    ("WRONG_RATES", "abilities", "error", r"the rate of y is given as 0; differences give -0\.\d+", VERSIONS),
    ("DECLARES_2 FIRST_RATES_ONLY", "abilities", "error", "Order, but order 2 of 2 cannot be read", VERSIONS),
    ("DECLARES_2 SAME_RATES", "abilities", "error", r"the derivative of order 2 of y is given as -0\.", ("2.0",)),
    (
        "SWAPPED",
        "rates",
        "error",
        r"the derivative der\(x\) is .* in the vector and .* by its value reference 3",
        VERSIONS,
    ),
    ("SWAPPED NO_MODEL_EXCHANGE", "rates", "warning", r"der\(x\), declared as the derivative of x, is -3", VERSIONS),
    ("EULER", "abilities", "note", "constant inputs results depend on the step too", ("2.0",)),
    ("EULER TINY NOMINAL", "step-size", "warning", "y differs by", ("2.0",)),
    ("NO_INTERPOLATION", "abilities", "error", "declares canInterpolateInputs, but fmi2SetRealInputDeriv", ("2.0",)),
    ("IGNORES_RATES", "abilities", "error", "after a step with inputs on a line y is", ("2.0",)),
    ("NEVER_TELLS", "abilities", "error", "providesIntermediateUpdate, but nothing was called", ("3.0",)),
    ("TELLS_LATE", "abilities", "error", "called at times outside of the step, 1 to 1", ("3.0",)),
    ("IGNORES_RETURN", "abilities", "error", "asked to end at 0.25, continued to 0.5", ("3.0",)),
    ("NO_EVENT_MODE", "abilities", "error", "declares hasEventMode, but fmi3EnterEventMode failed", ("3.0",)),
    ("NAN_OUTPUT", "simulation", "error", "CS: y is not finite from t = 0.5", ("3.0",)),
    ("NAN_OUTPUT", "reference-run", "warning", "CS: in the run .* y is nan at t = 0.[56] and deviates", ("3.0",)),
    ("LEAK", "memory", "note", "each instance leaves 6\\d kB behind", ("2.0",)),
]
CASES = [(version, *case[:-1]) for case in DEFECTS for version in case[-1]]


@pytest.fixture(autouse=True)
def tools(needs, needs_program):
    needs("fmpy")
    needs_program("gcc")
    if sys.platform != "linux":
        pytest.skip("needs Linux, for whose folder the FMU is built")


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_is_found_in_a_sound_fmu(version, tmp_path):
    report = check_fmu(oscillator(tmp_path, version))
    assert report.findings() == []
    assert report.passed
    absent = {outcome.name for outcome in report.outcomes if outcome.skipped}
    absent -= {"configuration", "clocks"}  # of test_configuration.py
    assert absent == {"icons", "sources"} | ({"adjoint", "elements"} if version == "2.0" else set())


@pytest.mark.thin(12)
@pytest.mark.parametrize(("version", "defect", "check", "level", "text"), CASES)
def test_a_defect_is_found(version, defect, check, level, text, tmp_path):
    report = check_fmu(
        oscillator(tmp_path, version, *defect.split()), only=[check], time_limit=3 if defect == "HANG" else 60
    )
    said = [one.text for one in report[check].findings if one.level == level]
    assert any(re.search(text, one) for one in said), report
    assert report.passed == (level != "error")


def test_two_true_rates_are_no_finding(tmp_path):
    assert check_fmu(oscillator(tmp_path, "3.0", "DECLARES_2"), only=["abilities", "rates"]).findings() == []


@pytest.mark.parametrize("version", VERSIONS)
def test_steps_are_multiples_of_a_fixed_one(version, tmp_path):
    """The FMU refuses all others; half of the fixed step would be one."""
    report = check_fmu(oscillator(tmp_path, version, "FIXED"), skip=["memory", "simulation"])
    assert report.findings() == []
    absent = {outcome.name for outcome in report.outcomes if outcome.skipped}
    assert {"steps", "step-size"} <= absent
    assert not {"abilities", "inputs", "snapshots", "reference-run"} & absent


@pytest.mark.parametrize("version", VERSIONS)
def test_an_fmu_may_end_the_simulation(version, tmp_path):
    """By terminateSimulation, or by a discarded step that it explains: a note, and the run is followed no further."""
    checks = ["steps", "step-size", "inputs", "snapshots", "abilities", "rates"]
    report = check_fmu(oscillator(tmp_path, version, "ENDS"), only=checks)
    assert report.passed, report
    assert any("ends the simulation at t = 0.0" in one.text for one in report.findings())


def test_small_differences_of_small_values_are_no_finding(tmp_path):
    """Next to a nominal value of 1 they are rounding; with a nominal value of their size they are not."""
    assert check_fmu(oscillator(tmp_path, "3.0", "EULER", "TINY"), only=["step-size"]).findings() == []


def test_a_hang_costs_one_time_limit(tmp_path):
    """The other checks go on; those that would hang as well are given up soon."""
    report = check_fmu(oscillator(tmp_path, "3.0", "HANG"), time_limit=10)
    hung = [one.name for one in report.outcomes if any("hangs" in found.text for found in one.findings)]
    given_up = [one.name for one in report.outcomes if "given up after 0.5 s" in (one.skipped or "")]
    assert len(hung) == 1
    assert {"step-size", "inputs", "snapshots"} & set(given_up)
    assert report["derivatives"].findings == report["rates"].findings == []


def test_every_dynamic_check_is_seen_to_find_something():
    assert {check for _, check, *_ in DEFECTS} | {"configuration"} >= set(DYNAMIC)


def test_after_a_crash_the_other_checks_go_on(tmp_path):
    report = check_fmu(
        oscillator(tmp_path, "3.0", "CRASH"), only=["token", "steps", "snapshots", "derivatives", "events"]
    )
    assert [one.name for one in report.outcomes] == ["archive", "token", "steps", "snapshots", "derivatives", "events"]
    crashed = {one.name for one in report.outcomes if one.findings}
    assert crashed == {"steps", "snapshots"}  # what calls doStep
    assert not report.passed


def test_a_library_that_does_not_load_is_told_once(tmp_path):
    report = check_fmu(oscillator(tmp_path, "3.0", "NO_SUCH_FUNCTION"), only=["life", "steps", "events", "simulation"])
    assert [len(one.findings) for one in report.outcomes] == [0, 1, 0, 0, 0]
    assert {one.skipped for one in report.outcomes[2:]} == {"the library cannot be loaded"}


def test_what_was_found_before_a_crash_is_kept(tmp_path):
    report = check_fmu(oscillator(tmp_path, "2.0", "CRASH", "WRONG_DERIVATIVE", "ZERO_NOMINAL"), skip=["memory"])
    found = {one.name for one in report.outcomes if one.findings}
    assert {"steps", "derivatives", "events", "simulation"} <= found
