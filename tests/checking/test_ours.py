"""FMUs of our own pass all checks."""

import importlib

import pytest

import linkwork as lw
from linkwork.checking import check_fmu

VERSIONS = ("2.0", "3.0")

# What the checks find and the library does not yet do right; each is to go from here as soon as it does.
KNOWN = (
    "no directional derivatives of event indicators",
)


@pytest.fixture(autouse=True)
def tools(needs):
    needs("fmpy")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["four_bar", "bouncing_pendulum", "joint_lock", "geared_arm"])
def test_an_example_passes(name, version, checkout, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(checkout / "examples")
    mechanism = importlib.import_module(name).mechanism()
    report = check_fmu(lw.export_fmu(mechanism, tmp_path / "it.fmu", version))
    found = [one.text for one in report.findings() if not any(known in one.text for known in KNOWN)]
    assert found == []
    ran = {outcome.name for outcome in report.outcomes if outcome.skipped is None}
    assert ran >= {"life", "steps", "step-size", "snapshots", "serialisation", "derivatives", "simulation", "memory"}


@pytest.mark.parametrize("version", VERSIONS)
def test_one_that_latches_and_is_opened_by_an_input_passes(version, latched):
    report = check_fmu(latched[version])
    assert [one.text for one in report.findings() if not any(known in one.text for known in KNOWN)] == []
