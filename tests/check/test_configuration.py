"""Structural parameters and clocks of FMUs that are checked."""

import re

import pytest

import linkwork as lw
from linkwork import check_fmu
from support.sized_fmus import sized
from support.small import pendulum

CLOCK = 'causality="input" intervalVariability="constant" intervalDecimal="0.1"'


pytestmark = pytest.mark.usefixtures("fmpy_and_gcc")


def texts(report, name: str, level: str) -> list[str]:
    return [one.text for one in report[name].findings if one.level == level]


def test_an_fmu_that_can_be_configured_passes(tmp_path):
    report = check_fmu(sized(tmp_path / "sized.fmu", "ME", "CS"), skip=["memory"])
    assert report.passed, report
    assert report["configuration"].verdict() == "passed"
    assert report["clocks"].skipped == "no clocks"


@pytest.mark.parametrize(
    ("kind", "defect", "text"),
    [
        ("CS", "NO_CONFIGURATION", "EnterConfigurationMode failed .*it has no Configuration Mode"),
        ("CS", "KEEPS_SIZE", "number of values is not that of the arrays"),
        ("ME", "KEEPS_SIZE", "number of values is not that of the arrays"),
        ("ME", "KEEPS_STATES", "with other sizes the library has 2 continuous states, and the variables 3"),
    ],
)
def test_defects(kind, defect, text, tmp_path):
    report = check_fmu(sized(tmp_path / "sized.fmu", kind, defects=(defect,)), only=["configuration"])
    (found,) = texts(report, "configuration", "error")
    assert re.search(text, found), found


def test_ours_with_dae_mode(tmp_path):
    path = lw.export_fmu(pendulum(), tmp_path / "a.fmu", "3.0", dae=True, reference=False)
    report = check_fmu(path, only=["configuration"])
    assert report["configuration"].verdict() == "passed"
    path = lw.export_fmu(pendulum(), tmp_path / "b.fmu", "3.0", reference=False)
    assert check_fmu(path, only=["configuration"])["configuration"].skipped == "no structural parameters"


def test_clocks_are_left_out(tmp_path):
    """What belongs to them cannot be read while they do not tick."""
    events = 'hasEventMode="true"'
    report = check_fmu(sized(tmp_path / "a.fmu", "ME", "CS", abilities=events, clock=CLOCK), skip=["memory", "schema"])
    assert report.passed, report
    assert texts(report, "clocks", "note") == [
        "tick: the checks activate no clocks, and leave out what belongs to them"
    ]
    report = check_fmu(sized(tmp_path / "b.fmu", "CS", clock=CLOCK), only=["clocks"])
    assert "declare hasEventMode" in texts(report, "clocks", "warning")[0]


def test_scheduled_execution(tmp_path):
    report = check_fmu(sized(tmp_path / "a.fmu", "SE", clock=CLOCK), skip=["memory"])
    assert report.passed, report
    assert "Scheduled Execution is not run" in texts(report, "clocks", "note")[0]
