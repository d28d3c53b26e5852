"""FMUs of our own pass all checks."""

import importlib

import pytest

import linkwork as lw
from linkwork.fmu.check import check_fmu
from linkwork.fmu.check.fmu import unpack
from linkwork.fmu.check.instance import running, step

# Loops, impacts, couplings of joints and locks, in versions and forms that between them show all there are.
FORMS = [
    ("four_bar", "2.0", {"states": "minimal"}),
    ("four_bar", "3.0", {"arrays": True, "sources": True}),
    ("bouncing_pendulum", "3.0", {}),
    ("joint_lock", "2.0", {"sources": True}),
    ("geared_arm", "3.0", {"states": "minimal", "arrays": True}),
]


@pytest.fixture(autouse=True)
def tools(needs):
    needs("fmpy")


@pytest.mark.thin(2)
@pytest.mark.parametrize(("name", "version", "form"), FORMS)
def test_an_example_passes(name, version, form, checkout, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(checkout / "examples")
    mechanism = importlib.import_module(name).mechanism()
    report = check_fmu(lw.export_fmu(mechanism, tmp_path / "it.fmu", version, **form), skip=["memory"])
    assert [one.text for one in report.findings()] == []
    ran = {outcome.name for outcome in report.outcomes if outcome.skipped is None}
    assert ran >= {"life", "steps", "step-size", "snapshots", "serialisation", "derivatives", "abilities", "simulation"}
    assert ("elements" in ran) == (version == "3.0")
    assert "crossings" in ran or name != "bouncing_pendulum"


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_an_fmu_knows_the_stop_time_of_its_experiment(latched, version, tmp_path):
    from fmpy.fmi1 import FMICallException

    fmu = unpack(latched[version], tmp_path)
    with running(fmu, "CS") as instance, pytest.raises(FMICallException, match="DoStep"):
        step(instance, 2.0 * fmu.description.experiment["stopTime"])
    assert "after the stop time" in str(instance.messages[-1])


def test_one_that_latches_and_is_opened_by_an_input_passes(latched):
    assert check_fmu(latched["2.0"]).findings() == []
