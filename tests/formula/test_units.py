"""Units of formulas: inferred, checked, and the same by scaling the base units."""

import random
import re
from itertools import product

import pytest

import linkwork as lw
from linkwork._util.units import BASE_UNITS, base_exponents, unit_text
from linkwork.formula import Formula, LookupTable, Source, compile_formulas
from support.formulas import compile_formula, evaluate

NAMES = {"q": "rad", "u": "rad/s", "length": "m", "rate": "m/s", "time": "s", "p": None}


def compiled(text: str, unit: str | None = None, **parameters: object) -> Formula:
    return compile_formula(text, NAMES, parameters, unit=unit, what="Force 'spring'")


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("k*q", "N.m", {"k": "N.m/rad"}),
        ("k*q + c*q^3 - d*u", "N.m", {"k": "N.m/rad", "c": "N.m/rad3", "d": "N.m.s/rad"}),
        ("k*(length - free) + d*rate", "N", {"k": "N/m", "free": "m", "d": "N.s/m"}),
        ("a*sin(w*time + phase)", "N.m", {"a": "N.m", "w": "rad/s", "phase": "rad"}),
        ("a*exp(-time/tau)", "N", {"a": "N", "tau": "s"}),
        ("if(q > free, k*(q - free)^1.5, 0)", "N.m", {"free": "rad", "k": "N.m/rad(3/2)"}),
        ("max(0, min(top, k*length))", "N", {"top": "N", "k": "N/m"}),
        ("a*b*q", "N.m", {"a": "N.m/rad", "b": "1"}),
        ("b*q + 0*a", "N.m", {"b": "N.m/rad", "a": "1"}),
        ("c*sqrt(length)", "N", {"c": "N/m(1/2)"}),
        ("c*length^(1/3)*length^(2/3)", "N", {"c": "N/m"}),
        ("top*tanh(u/u0)", "N.m", {"top": "N.m", "u0": "rad/s"}),
        ("a*abs(u/u0)^n", "N.m", {"a": "N.m", "u0": "rad/s", "n": "1"}),
        ("a*atan2(length, x)", "N.m", {"a": "N.m/rad", "x": "m"}),
        ("mod(q, period)/period*a", "N.m", {"period": "rad", "a": "N.m"}),
        ("m*rate^2/length", "N", {"m": "kg"}),
        ("a*sign(rate)", "N", {"a": "N"}),
        ("j*u*u", "N.m", {"j": "kg.m2/rad2"}),
    ],
)
def test_open_units_follow(text: str, unit: str, expected: dict[str, str]) -> None:
    found = compiled(text, unit, **dict.fromkeys(sorted(expected), 1.0))
    assert {one.name: one.unit for one in found.numbers if one.name} == expected
    assert found.unit == unit


def test_units_that_are_stated_stay_and_the_result_may_be_open() -> None:
    found = compiled("k*q", k=(2.0, "J/rad"))
    assert found.numbers[0].unit == "J/rad"
    assert found.unit == "N.m"


def test_an_open_input_gets_its_unit() -> None:
    assert compiled("p*a", "N", a=(1.0, "m2")).quantity_units == ("N/m2",)


def test_a_parameter_of_several_formulas_has_one_unit() -> None:
    sources = [Source("k*x"), Source("k*length", "N")]
    found = compile_formulas(sources, NAMES, {"k": 1.0, "x": (1.0, "m2")})
    assert [one.unit for one in found] == ["N.m", "N"]
    with pytest.raises(lw.MechanismError, match=r"second: the result has the unit N\.m"):
        compile_formulas([Source("k", "N"), Source("k*length", "N", "second")], NAMES, {"k": 1.0})


def test_tables_have_units() -> None:
    table = LookupTable([0.0, 1.0], [0.0, 1.0], argument_units=["m"])
    found = compile_formula("a*gas(length)", NAMES, {"a": (1.0, "m2")}, {"gas": table}, unit="N")
    assert found.table_units == (("N/m2", "m"),)
    with pytest.raises(lw.MechanismError, match=r"table gas takes an argument in m: 'q' has rad"):
        compile_formula("gas(q)", NAMES, tables={"gas": table})
    open_table = LookupTable([0.0, 1.0], [0.0, 1.0])
    assert compile_formula("gas(q)", NAMES, tables={"gas": open_table}, unit="N").table_units == (("N", "rad"),)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("q + length", "a sum needs one unit: 'q' has rad and 'length' has m", "^   ^^^^^^"),
        ("time - rate", "a difference needs one unit: 'time' has s and 'rate' has m/s", "^^^^   ^^^^"),
        ("length - 0.3", "'0.3' has 1; numbers in formulas have no unit: make a number with a unit a parameter", None),
        ("min(q, rate)", "min needs one unit: 'q' has rad and 'rate' has m/s", "    ^  ^^^^"),
        ("if(q < u, 1, 2)", "a comparison needs one unit: 'q' has rad and 'u' has rad/s", "   ^   ^"),
        ("if(length, 1, 2)", "if(condition, a, b) takes a number: 'length' has m", "   ^^^^^^"),
        ("if(q < 1, q, u)", "if(condition, a, b) needs one unit: 'q' has rad and 'u' has rad/s", "          ^  ^"),
        ("q*sin(length*2)", "sin takes an angle, rad: 'length*2' has m", "      ^^^^^^^^"),
        ("exp(rate)", "exp takes a number: 'rate' has m/s", "    ^^^^"),
        ("2^length", "an exponent takes a number: 'length' has m", "  ^^^^^^"),
        ("length^q", "an exponent that is no written number needs a base without unit: 'length' has m", "^^^^^^"),
        ("atan2(length, q)", "atan2 needs one unit: 'length' has m and 'q' has rad", None),
        ("rate", "the result has the unit m/s, and N.m is needed", "^^^^"),
    ],
)
def test_wrong_units_are_refused_with_the_place(text: str, message: str, place: str | None) -> None:
    with pytest.raises(lw.MechanismError) as refused:
        compiled(text, "N.m")
    assert message in str(refused.value).splitlines()[0]
    assert str(refused.value).splitlines()[1] == f"  {text}"
    if place is not None:
        assert str(refused.value).splitlines()[2] == f"  {place}"


def test_a_unit_that_is_none_is_refused() -> None:
    with pytest.raises(lw.MechanismError, match=r"Force 'spring': parameter 'k': the unit 'mm' .* SI units"):
        compiled("k*q", k=(1.0, "mm"))


def test_units_as_texts_are_read_back() -> None:
    for exponents in product((-3, -1, 0, 1, 2), repeat=4):
        unit = {base: n for base, n in zip(("kg", "m", "s", "rad"), exponents, strict=True) if n}
        assert base_exponents(unit_text(unit)) == unit
    assert base_exponents(unit_text(dict.fromkeys(BASE_UNITS, 1))) == dict.fromkeys(BASE_UNITS, 1)


def random_consistent(choose: random.Random) -> tuple[str, list[str]]:
    """A formula whose terms have parameters of their own, and their names."""
    names: list[str] = []

    def parameter() -> str:
        names.append(f"k{len(names)}")
        return names[-1]

    def value(depth: int) -> str:
        if depth == 0:
            return choose.choice(["q", "length", "rate", "time", "p", "u"])
        x, y = value(depth - 1), value(depth - 1)
        return choose.choice(
            [
                *(
                    f"({parameter()}*{x} + {y})",
                    f"({x} - {parameter()}*{y}^2)",
                    f"{x}*{y}",
                    f"{x}/(1 + ({y}/{parameter()})^2)",
                ),
                *(
                    f"min({x}, {parameter()}*{y})",
                    f"if({x} < {parameter()}, {y}, 0)",
                    f"abs({x})^1.5",
                    f"sqrt(abs({y}))",
                ),
                *(f"{parameter()}*tanh({x}/{parameter()})*{y}", f"{y}*sin({parameter()}*{x})", f"sign({x})*{y}"),
            ]
        )

    text = value(3)
    return text, [name for name in names if name in text]


@pytest.mark.parametrize("seed", range(40))
def test_values_scale_as_their_units(seed: int) -> None:
    """In other base units of length, mass and time the numbers change by the units found, and the result likewise."""
    choose = random.Random(seed)
    text, names = random_consistent(choose)
    used = {name for name in names if f"{name}*" in text or f"{name})" in text or f"{name}," in text}
    formula = compiled(text, **{name: choose.uniform(0.5, 2.0) for name in names if name in used})
    sizes = {"m": 3.0, "kg": 0.7, "s": 1.9}
    values = {name: choose.uniform(-2.0, 2.0) for name in NAMES}
    values |= {one.name: one.value for one in formula.numbers if one.name}
    units = dict(zip(formula.quantities, formula.quantity_units, strict=True))
    units |= {one.name: one.unit for one in formula.numbers if one.name}
    scaled = {name: values[name] * size_of(unit, sizes) for name, unit in units.items()}
    here, there = evaluate(formula, values), evaluate(formula, scaled)
    assert there == pytest.approx(here * size_of(formula.unit, sizes), rel=1e-9)


def size_of(unit: str, sizes: dict[str, float]) -> float:
    """The factor of a number in a unit, when base units have other sizes; exponents may be broken."""
    found, sign = 1.0, 1
    for token in re.finditer(r"([A-Za-z]+)(\d+|\(\d+/\d+\))?|/", unit):
        if token[0] == "/":
            sign = -1
            continue
        over, _, under = (token[2] or "1").strip("()").partition("/")
        bases = {"kg": 1, "m": 1, "s": -2} if token[1] == "N" else {token[1]: 1}
        for base, exponent in bases.items():
            found *= sizes.get(base, 1.0) ** (sign * exponent * int(over) / int(under or 1))
    return found
