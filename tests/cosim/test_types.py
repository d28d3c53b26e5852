"""Values of all types go between FMUs of both versions, unchanged to the last bit."""

import numpy as np
import pytest

from linkwork.cosim import Jacobi, System, run
from linkwork.cosim.network.build import put
from linkwork.cosim.recording.result import Result
from linkwork.cosim.recording.sink_choice import open_sink
from linkwork.errors import CosimError
from support.foreign import INTEGERS, TYPES, TYPES2, foreign

STEP = Jacobi(0.25)
EXTREME = {"Float64": (0.1, -1e300), "Float32": (0.5, -(2.0**100)), "Boolean": (True, False), "String": ("Ωß", "")}
for _name in INTEGERS:
    _bits = int(_name.lstrip("UInt"))
    EXTREME[_name] = (0, 2**_bits - 2) if _name.startswith("U") else (-(2 ** (_bits - 1)), 2 ** (_bits - 1) - 2)


@pytest.fixture
def fmu(tmp_path, needs, needs_program):
    needs("fmpy")
    needs_program("gcc")
    return lambda version: foreign(tmp_path / f"foreign {version[0]} ü.fmu", version)


def after(kind: str, value: object) -> object:
    """What an FMU makes of a value."""
    if kind == "Boolean":
        return not value
    return f"{value}!" if kind == "String" else value + 1


@pytest.mark.parametrize("kind", TYPES)
def test_a_chain_of_each_type_of_fmi_3(kind, fmu):
    for value in EXTREME[kind]:
        system = System("chain")
        three = tuple(value for _ in range(3))
        system.add("one", fmu("3.0"), parameters={f"{kind}_in": value, f"{kind}s_in": three})
        system.add("two", fmu("3.0"))
        system.connect(f"one.{kind}_out", f"two.{kind}_in")
        system.connect(f"one.{kind}s_out", f"two.{kind}s_in")
        result = run(system, 0.5, master=STEP, columns=f"*.{kind}*")
        one = after(kind, value)
        assert result[f"one.{kind}_out"][-1] == one
        assert result[f"two.{kind}_in"].tolist() == [one] * 3
        for k in (1, 2, 3):
            assert result[f"two.{kind}s_in[{k}]"][-1] == one
        if kind not in INTEGERS or value < 0 or value == 0:  # else it wraps in the FMU
            assert result[f"two.{kind}_out"][-1] == pytest.approx(after(kind, one))


def test_unsigned_numbers_of_64_bits_stay_what_they_are(fmu, tmp_path):
    most = 2**64 - 1
    system = System("wide")
    system.add("one", fmu("3.0"), parameters={"UInt64_in": most - 1})
    system.add("two", fmu("3.0"))
    system.connect("one.UInt64_out", "two.Float64_in")
    inputs = {"two.UInt64_in": lambda t: 2**63 + 4}
    result = run(system, 0.5, master=STEP, columns="*64_*", inputs=inputs)
    assert result["one.UInt64_out"].dtype == np.uint64
    assert result["one.UInt64_out"].tolist() == [most] * 3
    assert result["two.UInt64_out"].tolist() == [2**63 + 5] * 3
    assert result["two.Float64_in"].tolist() == [2.0**64] * 3
    for name in ("wide.csv", "wide.parquet"):
        run(system, 0.5, master=STEP, columns="*64_*", inputs=inputs, sink=open_sink(tmp_path / name))
        assert Result.read(tmp_path / name)["one.UInt64_out"].tolist() == [most] * 3


@pytest.mark.parametrize(("source", "target", "value"), [("UInt64", "Int64", 2**63), ("Int8", "UInt64", -2)])
def test_numbers_without_a_like_at_the_other_end_are_refused(source, target, value, fmu):
    system = System("mixed")
    system.add("one", fmu("3.0"), parameters={f"{source}_in": value})
    system.add("two", fmu("3.0"))
    system.connect(f"one.{source}_out", f"two.{target}_in")
    with pytest.raises(CosimError, match=r"that 'one' gives is negative or above 2\^63 - 1"):
        run(system, 0.5, master=STEP)


@pytest.mark.parametrize("kind", TYPES)
def test_start_values_of_arrays_are_those_of_the_model_description(kind, fmu):
    system = System("alone")
    system.add("one", fmu("3.0"))
    system.add("two", fmu("3.0"))
    system.connect(f"one.{kind}s_out", f"two.{kind}s_in")
    start = {"Boolean": False, "String": "é"}.get(kind, 3)
    result = run(system, 0.5, master=STEP)
    assert result[f"two.{kind}s_in[3]"][0] == after(kind, start)


@pytest.mark.parametrize("kind", TYPES2)
def test_between_the_versions(kind, fmu):
    other = {"Real": "Float64", "Integer": "Int32"}.get(kind, kind)
    value = EXTREME[other][0]
    system = System("both")
    system.add("two", fmu("2.0"), parameters={f"{kind}_in": value})
    system.add("three", fmu("3.0"))
    system.add("last", fmu("2.0"))
    system.connect(f"two.{kind}_out", f"three.{other}_in")
    system.connect(f"three.{other}_out", f"last.{kind}_in")
    result = run(system, 0.5, master=STEP)
    assert result[f"last.{kind}_out"][-1] == after(kind, after(kind, after(kind, value)))


def test_whole_numbers_feed_reals_and_wider_ones_feed_narrower_ones_where_they_fit(fmu):
    system = System("mixed")
    system.add("one", fmu("3.0"), parameters={"Int32_in": 126})
    system.add("two", fmu("3.0"))
    system.connect("one.Int32_out", "two.Float64_in", factor=0.5)
    system.connect("one.Int32_out", "two.Int8_in")
    result = run(system, 0.5, master=STEP)
    assert result["two.Float64_out"][-1] == 64.5
    assert result["two.Int8_in"][-1] == 127
    system.components["one"].parameters["Int32_in"] = 127
    with pytest.raises(
        CosimError, match=r"foreign 3 ü.fmu \(instance 'two'\): .*128 does not fit into 'Int8_in', which"
    ):
        run(system, 0.5, master=STEP)


def test_enumerations_are_checked(fmu):
    for version in ("2.0", "3.0"):
        system = System("levels")
        system.add("one", fmu(version), parameters={"level": 5})
        assert run(system, 0.5, master=STEP, columns="one.level")["one.level"][-1] == 5
        system.components["one"].parameters["level"] = 2
        with pytest.raises(CosimError, match=r"'one'\): 'level' .* cannot be 2; give one of 1 \(low\), 5 \(high\)"):
            run(system, 0.5)


@pytest.mark.parametrize("value", [np.float64(2.5), 2.5, np.float32(2.5)])
def test_values_of_numpy_are_values(value, fmu):
    system = System("alone")
    system.add("one", fmu("3.0"))
    parameters = {"one.x0": value, "one.Float64s_in": [1, 2, 3], "one.Int64s_in": np.arange(3)}
    result = run(system, 0.5, master=STEP, parameters=parameters, columns=["one.y", "one.*s_out"])
    assert result["one.y"][0] == 2.5
    assert [result[f"one.Float64s_out[{k}]"][0] for k in (1, 2, 3)] == [2, 3, 4]
    assert [result[f"one.Int64s_out[{k}]"][0] for k in (1, 2, 3)] == [1, 2, 3]


def test_external_inputs_of_all_kinds(fmu):
    system = System("fed")
    system.add("one", fmu("3.0"))
    inputs = {
        "one.u": lambda t: 2.0 * t,
        "one.Int16_in": ([0.0, 0.5], [1, -7]),
        "one.Boolean_in": True,
        "one.String_in": lambda t: f"t = {t}",
        "one.Float64s_in": lambda t: [t, 2 * t, 3 * t],
    }
    result = run(system, 1.0, master=STEP, inputs=inputs)
    assert result["one.z"].tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert result["one.Int16_out"].tolist() == [2, 2, -6, -6, -6]
    assert result["one.Boolean_out"].tolist() == [False] * 5
    assert result["one.String_out"].tolist() == [f"t = {t}!" for t in (0.0, 0.25, 0.5, 0.75, 1.0)]
    assert result["one.Float64s_out[3]"].tolist() == [1.0, 1.75, 2.5, 3.25, 4.0]
    # Held inputs: the sum of 2 t h at the begins of the steps.
    assert result["one.y"][-1] == pytest.approx(2 * 0.25 * (0.25 + 0.5 + 0.75))


def test_units_with_offsets(tmp_path, needs_program):
    needs_program("gcc")
    system = System("warmth")
    system.add("one", foreign(tmp_path / "one.fmu"), parameters={"x0": 20.0})  # y in degC
    for name, unit in (("kelvin", "K"), ("fahrenheit", "degF")):
        system.add(name, foreign(tmp_path / f"{name}.fmu", units={"u": unit}))
        system.connect("one.y", f"{name}.u")
    result = run(system, 0.5, master=STEP)
    assert result["kelvin.u"][-1] == pytest.approx(293.15, rel=1e-15)
    assert result["fahrenheit.u"][-1] == pytest.approx(68.0, rel=1e-14)
    assert result.units["fahrenheit.u"] == "degF"


def test_start_values_keep_their_64_bits(fmu):
    from linkwork.cosim.fmu.instance import Instance
    from linkwork.cosim.fmu.model import read_model

    model = read_model(fmu("3.0"))
    instance = Instance("one", model)
    for name, text, bits in (("Int64_in", str(2**63 - 1), 2**63 - 1), ("UInt64_in", str(2**64 - 1), -1)):
        ports = instance.ports([model.variable(name)])
        put(ports, model.variable(name), text)
        ports.to_buffers()
        assert ports.whole.tolist() == [bits]
        assert int(ports.all[0].numbers[0]) == int(text)
