"""Errors of users are reported before anything runs: the element, its place, and a remedy."""

import math

import pytest

from linkwork.cosim import GaussSeidel, Jacobi, System, run
from linkwork.errors import CosimError
from support.foreign import foreign, rewritten

STEP = 0.25


@pytest.fixture(scope="module")
def fmus(tmp_path_factory, needs, needs_program):
    needs("fmpy")
    needs_program("gcc")
    folder = tmp_path_factory.mktemp("fmus")
    return [foreign(folder / f"{name}.fmu", version) for name, version in (("left", "2.0"), ("right", "3.0"))]


@pytest.fixture
def pair(fmus) -> System:
    system = System("pair")
    system.add("one", fmus[0])
    system.add("two", fmus[1])
    return system


CONNECTIONS = [
    ("one.yy", "two.u", r"'yy' in the FMU left.fmu; did you mean 'y'\? \(instance 'one'\)"),
    ("one.z", "two.Float6_in", r"'Float6_in' in the FMU right.fmu; did you mean 'Float64_in'"),
    ("one.z", "two.y", "'two.y' is of causality output, and only inputs can be set; choose an input"),
    ("one.z", "two.g", "'two.g' is of causality parameter, and only inputs can be set; set it as a parameter"),
    ("one.u", "two.Float64_in", "'one.u' is of causality input and gives nothing; choose an output"),
    ("one.z", "two.Int8_in", "a Real cannot be connected to a Int8; put an FMU between"),
    ("one.String_out", "two.u", "a String cannot be connected to a Float64"),
    ("one.Boolean_out", "two.Int8_in", "a Boolean cannot be connected to a Int8"),
    ("one.z", "two.Float64s_in", "has one number and 'two.Float64s_in' 3 numbers"),
    ("one.y", "two.u", r"'one' \(left.fmu\) .*'two' \(right.fmu\) do not fit: 'degC' \(K\) is not 'V'"),
]


@pytest.mark.parametrize(("source", "target", "text"), CONNECTIONS)
def test_connections(source, target, text, pair):
    pair.connect(source, target)
    with pytest.raises(CosimError, match=text):
        run(pair, 1.0, master=Jacobi(STEP))


def test_all_that_is_wrong_is_told_at_once(pair):
    for source, target, _ in CONNECTIONS[:2]:
        pair.connect(source, target)
    pair.components["one"].parameters["xo"] = 1.0
    with pytest.raises(CosimError) as caught:
        run(pair, 1.0)
    assert [line[:2] for line in str(caught.value).splitlines()[1:]] == ["- "] * 3


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("onne.y", "no component 'onne' .*did you mean 'one'"),
        ("one", "'one' names no variable; write component.variable"),
    ],
)
def test_references(reference, text, pair):
    with pytest.raises(CosimError, match=text):
        pair.connect(reference, "two.u")
    with pytest.raises(CosimError, match=text):
        run(pair, 1.0, parameters={reference: 1.0})
    with pytest.raises(CosimError, match=text):
        run(pair, 1.0, inputs={reference: 1.0})


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("xx", 1.0, "no variable 'xx' in the FMU left.fmu; did you mean 'x'"),
        ("x0", "abc", "'x0' is of type Real; it cannot be 'abc'; give a number"),
        ("x0", math.nan, "it cannot be nan"),
        ("x0", 5000.0, r"'x0' lies within -1000 ... 1000; it cannot be 5000.0"),
        ("x0", (1.0, 2.0), "'x0' has one number, not 2"),
        ("x0", None, "'one.x0' cannot be None; give a number"),
        ("x0", {1: 2}, "'one.x0' cannot be {1: 2}; give a number"),
        ("Integer_in", 2.5, "of type Integer; it cannot be 2.5; give a whole number"),
        ("Integer_in", 2**40, "of type Integer; it cannot be"),
        ("Boolean_in", 3, "of type Boolean; it cannot be 3; give True or False"),
        ("String_in", 1.0, "of type String; it cannot be 1.0; give a text"),
        ("level", 3, r"it cannot be 3; give one of 1 \(low\), 5 \(high\)"),
        ("y", 1.0, r"'y' cannot be set, the FMU computes it .*; set a parameter or input"),
    ],
)
def test_values(name, value, text, pair):
    with pytest.raises(CosimError, match=text):
        run(pair, 1.0, parameters={f"one.{name}": value})
    pair.components["one"].parameters[name] = value
    with pytest.raises(CosimError, match=text):
        run(pair, 1.0)


def test_an_fmu_that_cannot_be_configured(pair, fmus, tmp_path):
    old = 'valueReference="8" causality="parameter" variability="tunable"'
    path = rewritten(fmus[1], tmp_path / "shape.fmu", old, old.replace("parameter", "structuralParameter"))
    pair.add("three", path, parameters={"every": 1.0})
    text = (
        r"shape.fmu \(instance 'three'\): .*EnterConfigurationMode returned error.*values of its structural parameters"
    )
    with pytest.raises(CosimError, match=text):
        run(pair, 1.0)


def test_parameter_sets(pair):
    pair.add_parameter_set("wet", {"one.g": 0.5})
    with pytest.raises(CosimError, match=r"no parameter set 'wett'; did you mean 'wet'\?"):
        run(pair, 1.0, parameter_sets="wett")


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("one.uu", 1.0, "external input 'one.uu': there is no variable 'uu' in the FMU left.fmu; did you mean 'u'"),
        ("one.y", 1.0, r"'one.y' \(FMU left.fmu\) is of causality output, not an input; choose"),
        ("one.g", 1.0, "causality parameter, not an input; give it in parameters"),
        ("two.u", 1.0, r"'two.u' \(FMU right.fmu\) is connected to 'one.z' already; remove"),
        ("one.u", ([0, 1], [1]), "must be a number, a function of time, or"),
        ("one.u", ([1, 0], [1, 2]), "times must rise"),
        ("one.u", ([0, 1], [0, math.nan]), "all must be finite"),
    ],
)
def test_inputs(name, given, text, pair):
    pair.connect("one.z", "two.u")
    with pytest.raises(CosimError, match=text):
        run(pair, 1.0, master=Jacobi(STEP), inputs={name: given})


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("one.yy", "'one.yy' in the system 'pair'; did you mean 'one.y'"), ("tow.*", "did you mean 'two"), ("", "''")],
)
def test_patterns_of_what_is_recorded(pattern, text, pair):
    with pytest.raises(CosimError, match=f"there is no variable .*{text}"):
        run(pair, 1.0, columns=["one.y", pattern])


def test_required_inputs(pair):
    pair.add("three", pair.components["one"].fmu, required=["u"])
    with pytest.raises(CosimError, match=r"the input 'three.u' is required and not connected; connect it or give"):
        run(pair, 1.0)
    assert run(pair, 1.0, master=Jacobi(STEP), inputs={"three.u": 1.0})["three.y"][-1] == 1.0


@pytest.mark.parametrize("step", [0, -1, math.nan, math.inf])
def test_steps(step):
    for master in (Jacobi, GaussSeidel):
        with pytest.raises(CosimError, match=f"the communication step must be a positive time, not {step} s"):
            master(step)


@pytest.mark.parametrize(("start", "stop"), [(0, -1), (1, 1), (0, math.nan), (0, math.inf), ("a", 1), (None, "b")])
def test_times(start, stop, pair):
    with pytest.raises(CosimError, match="a run goes from t_start to a later t_end, not from"):
        run(pair, stop, t_start=start)


@pytest.mark.parametrize("tolerance", [0.0, -1.0, math.nan, "fine"])
def test_tolerances(tolerance, pair):
    with pytest.raises(CosimError, match=r"the tolerance must be a positive number, such as 1e-6"):
        run(pair, 1.0, tolerance=tolerance)


def test_other_things_than_a_system_and_a_master(pair, fmus):
    with pytest.raises(CosimError, match=r"a run takes a System, not .*left.fmu.*; System.load reads one"):
        run(fmus[0], 1.0)
    for master in (0.1, Jacobi, "jacobi"):
        with pytest.raises(CosimError, match="the master must be one such as"):
            run(pair, 1.0, master=master)
    with pytest.raises(CosimError, match="no component 'too' in the order of Gauss-Seidel; did you mean 'two'"):
        run(pair, 1.0, master=GaussSeidel(STEP, order=["too"]))
