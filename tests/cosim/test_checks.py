"""A system against its FMUs: every error is found, and all of them at once."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwork.cosim import Connection, System
from linkwork.cosim.system.checks import check_system, converted
from linkwork.cosim.system.units import Unit, conversion
from linkwork.errors import CosimError
from support.described_fmus import variable, write_fmu

read_model = pytest.importorskip("linkwork.cosim.fmu.model").read_model
pytest.importorskip("fmpy")

GEAR = (
    '<SimpleType name="Gear"><Enumeration><Item name="low" value="1"/><Item name="high" value="4"/></Enumeration>'
    '</SimpleType><SimpleType name="Share"><Real min="0" max="1"/></SimpleType>'
)
PARTS = [
    variable("y", "output", unit="rad"),
    variable("length.y", "output", unit="m"),
    variable("count", "output", "Integer"),
    variable("on", "output", "Boolean"),
    variable("text", "output", "String"),
    variable("state", "local", start="0"),
    variable("derived", "local"),
    variable("x", "input", start="0", unit="deg"),
    variable("x2", "input", start="0"),
    variable("n", "input", "Integer", start="0"),
    variable("flag", "input", "Boolean", start="false"),
    variable("word", "input", "String", start=""),
    variable("gear", "input", "Enumeration", declaredType="Gear", start="1"),
    variable("k", "parameter", start="1", min="0", max="10"),
    variable("share", "parameter", start="0.5", declaredType="Share"),
    variable("whole", "parameter", "Integer", start="1", max="9"),
    variable("yes", "parameter", "Boolean", start="false"),
]


@pytest.fixture(scope="module")
def fmu(tmp_path_factory) -> Path:
    return write_fmu(tmp_path_factory.mktemp("fmu") / "all.fmu", PARTS, types=GEAR)


@pytest.fixture
def system(fmu: Path) -> System:
    system = System("pair")
    system.add("a", fmu)
    system.add("b", fmu)
    return system


def check(system: System, **more: object) -> list[str]:
    return check_system(system, {name: read_model(one.fmu) for name, one in system.components.items()}, **more)


def errors(system: System, **more: object) -> list[str]:
    with pytest.raises(CosimError) as caught:
        check(system, **more)
    head = "the system 'pair' does not fit its FMUs:"
    first, *lines = str(caught.value).split("\n")
    assert first.startswith(head)
    assert bool(lines) == (first == head)  # a single error stands in the same line
    return [line.removeprefix("- ") for line in lines] or [first.removeprefix(f"{head} ")]


def error(system: System, **more: object) -> str:
    (one,) = errors(system, **more)
    return one


def test_a_good_system_gives_notices_only(system: System) -> None:
    system.connect("a.y", "b.x")
    system.connect("a.count", "b.x2", factor=0.5)  # whole numbers may connect to reals
    system.connect("a.count", "b.gear")
    system.connect("a.count", "b.n", factor=2, offset=-1)
    system.connect("a.on", "b.flag")
    system.connect("a.text", "b.word")
    system.components["a"].parameters.update(x=1.0, k=10, whole=3.0, yes=1, gear=4, state=2, word="w")
    assert check(system) == ["inputs of 'a' held at their start values: x2, n, flag"]
    assert check(system, external=["a.x2", "a.n", "a.flag"]) == []


def test_values_of_a_run_are_no_inputs_that_were_forgotten(system: System) -> None:
    system.connect("a.y", "b.x")
    system.components["b"].parameters.update({"x2": 0.0, "n": 1})
    given = {"a.x": 1.0, "a.x2": 0.0, "a.n": 2, "a.flag": True, "a.word": "w", "a.gear": 4, "b.flag": True}
    assert check(system, values=given) == ["inputs of 'b' held at their start values: word, gear"]


def test_a_notice_names_three_inputs_at_most(system: System) -> None:
    system.connect("a.y", "b.x")
    held = "inputs of {} held at their start values: "
    assert check(system) == [
        held.format("'a'") + "x, x2, n and 3 more",
        held.format("'b'") + "x2, n, flag and 2 more",
    ]


def test_an_fmu_by_itself_holds_its_inputs_without_a_notice(fmu: Path) -> None:
    system = System("alone")
    system.add("a", fmu)
    assert check(system) == []
    assert check(system, external=["a.x", "a.x2", "a.n"]) == [
        "inputs of 'a' held at their start values: flag, word, gear"
    ]


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("a.z", "b.x", "there is no variable 'z' in the FMU all.fmu"),
        ("a.lenght.y", "b.x", "did you mean 'length.y'? (instance 'a')"),
        ("a.y", "b.xx", "did you mean 'x'"),
        ("a.x", "b.x", "'a.x' is of causality input and gives nothing; choose an output"),
        ("a.y", "b.k", "'b.k' is of causality parameter, and only inputs can be set; set it as a parameter"),
        ("a.y", "b.derived", "'b.derived' is of causality local, and only inputs can be set; choose an input"),
        ("a.y", "b.n", "a Real cannot be connected to a Integer"),
        ("a.on", "b.n", "a Boolean cannot be connected to a Integer"),
        ("a.count", "b.flag", "a Integer cannot be connected to a Boolean"),
        ("a.on", "b.x2", "a Boolean cannot be connected to a Real"),
        ("a.text", "b.x", "a String cannot be connected to a Real"),
        ("a.count", "b.word", "a Integer cannot be connected to a String"),
        ("a.length.y", "b.x", "the units of 'length.y' of instance 'a' (all.fmu) and 'x' of instance 'b' (all.fmu)"),
        ("a.length.y", "b.x", "'m' (m) is not 'deg' (rad)"),
    ],
)
def test_connections_that_do_not_fit(system: System, source: str, target: str, said: str) -> None:
    system.connect(source, target)
    line = error(system)
    assert line.startswith(f"{source} -> {target}: ")
    assert said in line


def test_units_left_alone_are_no_error(system: System) -> None:
    system.connect("a.length.y", "b.x", convert_units=False)
    check(system)


@pytest.mark.parametrize(("target", "source"), [("b.n", "a.count"), ("b.flag", "a.on"), ("b.word", "a.text")])
def test_transformations_only_of_what_stays_of_its_type(system: System, source: str, target: str) -> None:
    system.connect(source, target, factor=0.5)
    assert "cannot be 0.5 times another one plus 0; use whole numbers" in error(system)


def test_an_input_fed_twice_by_hand(system: System) -> None:
    system.connections += [Connection("a.y", "b.x"), Connection("a.y", "b.x")]
    assert error(system) == "'b.x' has 2 connections; an input takes one"


def test_a_component_that_went_away(system: System) -> None:
    system.connect("a.y", "b.x")
    del system.components["b"]
    assert "there is no component 'b'" in error(system)


def test_connections_to_the_outside(system: System) -> None:
    system.external_inputs = [Connection("wind", "a.y")]
    system.external_outputs = [Connection("a.x", "height"), Connection("a.zz", "height")]
    assert [line.split(":")[0] for line in errors(system)] == ["wind -> a.y", "a.x -> height", "a.zz -> height"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("kk", 1.0, "parameters of 'a': there is no variable 'kk' in the FMU all.fmu; did you mean 'k'?"),
        ("k", "abc", "FMU all.fmu (instance 'a'): 'k' is of type Real; it cannot be 'abc'; give a number"),
        ("k", True, "'k' is of type Real"),
        ("k", float("nan"), "'k' is of type Real"),
        ("k", 10.5, "'k' lies within 0 ... 10; it cannot be 10.5"),
        ("k", "10.5", "'k' lies within 0 ... 10; it cannot be '10.5'"),
        ("k", (1.0, 2.0), "'k' has one number, not 2: it cannot be (1.0, 2.0)"),
        ("share", -0.1, "'share' lies within 0 ... 1"),
        ("whole", 1.5, "'whole' is of type Integer; it cannot be 1.5; give a whole number in its range"),
        ("whole", "1.5", "'whole' is of type Integer"),
        ("whole", 2**31, "'whole' is of type Integer"),
        ("whole", 2**80, "'whole' is of type Integer"),
        ("whole", True, "'whole' is of type Integer"),
        ("whole", 10, "'whole' lies within -inf ... 9"),
        ("yes", 2, "give True or False"),
        ("yes", "maybe", "give True or False"),
        ("word", 3, "give a text"),
        ("gear", 2, "give one of 1 (low), 4 (high)"),
        ("derived", 1.0, "'derived' cannot be set, the FMU computes it (local, continuous)"),
        ("y", 1.0, "'y' cannot be set, the FMU computes it (output, continuous)"),
    ],
)
def test_values_that_do_not_fit(system: System, name: str, value: object, said: str) -> None:
    system.components["a"].parameters[name] = value
    assert said in error(system)
    del system.components["a"].parameters[name]
    system.parameter_sets["worst"] = {f"a.{name}": value}
    assert error(system).startswith("parameter set 'worst': ")
    del system.parameter_sets["worst"]
    if name != "kk":
        assert said in error(system, values={f"a.{name}": value})


@pytest.mark.parametrize("value", [3, 3.0, "3", "3.0", np.float32(3), np.int64(3)])
def test_numbers_may_be_given_as_text_and_as_those_of_numpy(system: System, value: object) -> None:
    system.components["a"].parameters.update(k=value, whole=value, x=value)
    assert check(system)
    system.components["a"].parameters = {"yes": "true" if value == "3" else np.True_}
    assert check(system)


def test_all_errors_are_told_at_once(system: System) -> None:
    system.connect("a.z", "b.x")
    system.connect("a.length.y", "b.n")
    system.components["a"].parameters.update(k=11, kk=1)
    system.parameter_sets["s"] = {"c.k": 1.0}
    system.components["b"].required = ("flag", "nothing")
    found = errors(system)
    assert len(found) == 7
    for said in (
        "'z'",
        "cannot be connected to",
        "within 0 ... 10",
        "'kk'",
        "no component 'c'",
        "'b.flag' is required",
        "'nothing'",
    ):
        assert any(said in line for line in found), said


def test_required_inputs_need_something_that_feeds_them(system: System) -> None:
    system.components["b"].required = ("x",)
    assert error(system) == "the input 'b.x' is required and not connected; connect it or give it as an input"
    assert check(system, external=["b.x"])
    system.external_inputs = [Connection("wind", "b.x")]
    assert "required" in error(system)
    assert check(system, external=["wind"])
    system.external_inputs = []
    system.connect("a.y", "b.x")
    assert check(system)


def test_inputs_without_a_start_value_must_be_fed(tmp_path: Path) -> None:
    system = System("pair")
    system.add("a", write_fmu(tmp_path / "bare.fmu", [variable("x", "input"), variable("y", "output")]))
    assert "the input 'a.x' has no start value in bare.fmu and is not connected" in error(system)
    system.components["a"].parameters["x"] = 1.0
    assert check(system) == []


def test_fmus_that_may_be_there_only_once_and_those_that_need_their_tool(tmp_path: Path) -> None:
    abilities = {"canBeInstantiatedOnlyOncePerProcess": "true", "needsExecutionTool": "true"}
    fmu = write_fmu(tmp_path / "lone.fmu", [variable("y", "output")], **abilities)
    system = System("pair")
    system.add("a", fmu)
    assert check(system) == ["the FMU lone.fmu of 'a' needs the tool that exported it"]
    system.add("b", fmu)
    assert error(system) == "the FMU lone.fmu can be instantiated only once in a process, and a, b are of it"


def test_many_inputs_at_their_start_values_are_one_line(tmp_path: Path) -> None:
    system = System("pair")
    parts = [variable(f"x{i}", "input", start="0") for i in range(20)]
    system.add("a", write_fmu(tmp_path / "many.fmu", parts))
    (line,) = check(system, external=["a.x0"])
    assert line.endswith("x1, x2, x3 and 16 more")


def test_sizes_of_arrays_must_agree(mass) -> None:
    system = System("pair")
    system.add("a", mass("3.0", arrays=True), parameters={"gravity": (0.0, 0.0, -1.0)})
    system.connect("a.block.r", "a.A.tau", convert_units=False)
    assert "'a.block.r' has 3 numbers and 'a.A.tau' one number; sizes must agree" in error(system)
    system.connections.clear()
    check(system)
    system.components["a"].parameters["gravity"] = (0.0, -1.0)
    assert "has 3 numbers, not 2" in error(system)


FINITE = st.floats(-1e3, 1e3)
FACTORS = st.floats(0.01, 100.0)
LENGTH = (0, 1, 0, 0, 0, 0, 0, 0)


@given(FACTORS, FINITE, FACTORS, FINITE, FINITE, FINITE, FINITE)
def test_the_whole_map_converts_first_and_transforms_then(a, b, c, d, factor, offset, value) -> None:
    source, target = Unit("s", LENGTH, a, b), Unit("t", LENGTH, c, d)
    scale, shift = conversion(source, target)
    total = converted(Connection("a.y", "b.x", factor, offset), source, target)
    expected = factor * (scale * value + shift) + offset
    assert np.isclose(total[0] * value + total[1], expected, rtol=1e-9, atol=1e-9 * (1 + abs(factor * shift)))
    assert converted(Connection("a.y", "b.x", factor, offset, convert_units=False), source, target) == (factor, offset)
