"""Messages of an FMU, their receiver and category."""

import ctypes
import math
from xml.etree import ElementTree

import pytest

from support.fmi_calls import DISCARD, ERROR, OK, Instance
from support.linkages import slider_crank

KINDS = pytest.mark.parametrize("kind", ["ME", "CS"])


@KINDS
def test_without_a_logger_and_without_logging(fmu, kind):
    for options in ({"logger": False}, {"logging": False}, {"logger": False, "logging": False}):
        instance = fmu.new(kind, **options)
        assert instance.call("Terminate") == ERROR
        instance.initialize()
        assert instance.try_set([fmu.reference("A.tau")], [math.nan]) == ERROR
        categories = {category for _, category, _ in instance.messages}
        assert categories <= {"logStatusError"}
    bad = Instance(fmu.library, fmu.version, kind, None, "x", logger=False)
    assert bad.handle is None


def test_categories_can_be_chosen(fmu):
    instance = fmu.new("ME")
    names = (ctypes.c_char_p * 1)(b"logEvents")
    instance.must("SetDebugLogging", 1, ctypes.c_size_t(1), names)
    instance.set_up()
    assert "Initialization Mode" in instance.last
    instance.must("SetDebugLogging", 0, ctypes.c_size_t(0), None)
    instance.messages.clear()
    instance.must("ExitInitializationMode")
    assert instance.messages == []
    unknown = (ctypes.c_char_p * 1)(b"logNonsense")
    assert instance.call("SetDebugLogging", 1, ctypes.c_size_t(1), unknown) == ERROR
    assert "logNonsense" in instance.last


def choose(instance: Instance, *names: str) -> int:
    """Turn logging on for some categories."""
    array = (ctypes.c_char_p * len(names))(*(name.encode() for name in names))
    return instance.call("SetDebugLogging", 1, ctypes.c_size_t(len(names)), array)


def test_categories_are_those_of_the_model_description(fmu):
    declared = [one.get("name") for one in ElementTree.fromstring(fmu.xml).find("LogCategories")]
    assert declared == ["logEvents", "logStatusWarning", "logStatusDiscard", "logStatusError", "logAll"]
    instance = fmu.new("ME")
    for name in declared:
        assert choose(instance, name) == OK
    assert choose(instance, "logEvents", "logStatusFatal") == ERROR
    assert choose(instance, "logStatusDiscard") == OK
    instance.messages.clear()
    instance.set_up()
    assert instance.messages == []  # events are not among those chosen


def test_each_line_has_the_category_of_its_status(fmu, fake):
    """An event, what cannot be answered behind the stand-in's wall, and a call that is wrong."""
    instance, behind = fmu.new("ME"), fake.new("ME")
    instance.initialize()
    behind.set([1], [1.5])
    behind.initialize()
    behind.set_states([2.0, 0.0])
    name = "GetDerivatives" if fake.version == "2.0" else "GetContinuousStateDerivatives"
    assert behind.try_array(name, 2)[0] == DISCARD
    assert instance.call("DoStep", *[None] * 7) == ERROR
    said = {(status, category) for status, category, _ in instance.messages + behind.messages}
    assert said == {(OK, "logEvents"), (DISCARD, "logStatusDiscard"), (ERROR, "logStatusError")}


def test_versions(fmu):
    """What importers ask a library before anything else."""
    library = ctypes.CDLL(str(fmu.library))
    answers = {"fmi2GetVersion": b"2.0", "fmi2GetTypesPlatform": b"default", "fmi3GetVersion": b"3.0"}
    for name, answer in answers.items():
        function = getattr(library, name)
        function.restype = ctypes.c_char_p
        assert function() == answer


@KINDS
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_start_values_out_of_reach(make, version, kind):
    """Of a slider-crank: reported once, with the value asked and the one kept; within reach nothing is."""
    slide = make(slider_crank(0.1, 0.3, 0.0, {"A": -0.8}), version)
    for asked, kept in ((5.0, 0.4), (0.35, 0.35)):
        instance = slide.new(kind)
        instance.set([slide.reference("S.q_start")], [asked])
        instance.initialize()
        said = [text for _, category, text in instance.messages if category == "logStatusWarning"]
        (found,) = instance.get([slide.reference("S.q")])
        assert found == pytest.approx(kept, abs=2e-6)
        if asked == kept:
            assert said == []
        else:
            assert sum("q_start of joint 'S'" in text for text in said) == 1
            assert f"5 is asked, and the constraints do not allow it: {found:.9g} is kept" in "".join(said)
