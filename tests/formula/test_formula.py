"""Formulas: their programs, and texts that are none."""

import math
import random
import time
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.formula import OPERATIONS, Formula, LookupTable
from linkwork.formula.operations import NUMBER
from linkwork.formula.parser import DEEPEST
from linkwork.formula.source import LONGEST
from support.formulas import compile_formula, evaluate

NAMES = {"x": "1", "y": "1", "crank.q": "rad", "left-hip.q[2]": "rad", "length": "m"}


def compiled(text: Any, **parameters: Any) -> Formula:
    return compile_formula(text, NAMES, parameters, what="Force 'spring'")


def names_of(formula: Formula) -> list[str]:
    return [OPERATIONS[number].name for number in formula.instructions[:, 0]]


def test_a_program_is_straight_line_code_with_shared_values() -> None:
    found = compiled("a*x + sin(a*x)*b", b=1.0, a=2.0)
    assert names_of(found) == ["number", "quantity", "multiply", "sin", "number", "multiply", "add"]
    assert found.instructions.dtype == np.int32
    assert found.parameters == ("b", "a")  # as declared
    assert found.instructions.tolist()[0] == [NUMBER["number"], 1, 0, 0]
    for k, (number, *operands) in enumerate(found.instructions.tolist()):
        letters = OPERATIONS[number].operands
        assert all(one < k for one, letter in zip(operands, letters, strict=False) if letter == "v")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("2*3*x", ["number", "quantity", "multiply"]),
        ("x^(1+1)", ["quantity", "square"]),
        ("x^3", ["quantity", "cube"]),
        ("x^-1", ["quantity", "integer_power"]),
        ("x**1", ["quantity"]),
        ("x^0", ["quantity", "integer_power"]),
        ("x^0.5", ["quantity", "number", "power"]),
        ("--x", ["quantity"]),
        ("-(3)", ["number"]),
        ("sin(2)", ["number", "sin"]),  # another library has other last bits
        ("0*x", ["number", "quantity", "multiply"]),  # x may be infinite
        ("x > y", []),
        ("if(x > y, x, y)", ["quantity", "quantity", "less", "select"]),
        ("min(x, y, 2)", ["quantity", "quantity", "min", "number", "min"]),
    ],
)
def test_programs_are_short(text: str, names: list[str]) -> None:
    if not names:
        with pytest.raises(lw.MechanismError, match="a comparison is only the condition"):
            compiled(text)
        return
    found = names_of(compiled(text))
    assert found == names or sorted(found) == sorted(names)


def test_lists_are_in_order_of_first_use() -> None:
    found = compiled("y + 'left-hip'.q[2]*x + crank.q + y")
    assert found.quantities == ("y", "left-hip.q[2]", "x", "crank.q")
    assert found.quantity_units == ("1", "rad", "1", "rad")


def test_zeros_with_different_signs_differ() -> None:
    assert {math.copysign(1.0, one.value) for one in compiled("x*0.0 + y*(-0.0)").numbers} == {1.0, -1.0}


@pytest.mark.parametrize("seed", range(20))
def test_arithmetic_has_the_bits_of_python(seed: int) -> None:
    choose = random.Random(seed)

    def text(depth: int) -> str:
        if depth == 0:
            return choose.choice(["x", "y", repr(choose.uniform(0.1, 3.0)), "7", "1e-3", ".3", "2."])
        x, y = text(depth - 1), text(depth - 1)
        return choose.choice([f"({x} + {y})", f"{x}-{y}", f"{x}*{y}", f"-{x}", f"{x}/({y}*{y} + 1.1)", f"+{x}*-{y}"])

    for _ in range(20):
        written, values = text(4), {"x": choose.uniform(-3, 3), "y": choose.uniform(-3, 3)}
        expected = eval(written, {}, values)
        assert evaluate(compiled(written), values).hex() == expected.hex(), written


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("-x^2", -9.0), ("2^3^2", 512.0), ("2^-x", 0.125), ("-x^-2", -1 / 9), ("2*x^2", 18.0), ("8/4/2", 1.0)),
        *(("1 - 2 - 3", -4.0), ("if(x < 2, 1, 5)", 5.0), ("if(x >= 3, 1, 5)", 1.0), ("if(x > 3, 1, 5)", 5.0)),
        *(("if(x <= 3, 1, 5)", 1.0), ("if((x < 4), 1, 5)", 1.0), ("mod(-1, x)", 2.0), ("sign(0*x)", 0.0)),
        *(("max(1, x, 2)", 3.0), ("2*pi", 2 * math.pi), ("min(1, x)", 1.0), ("x\n+\t1", 4.0), ("if(0, 1, x)", 3.0)),
        *(("abs(-x)", 3.0), ("floor(-x/2)", -2.0), ("1.5e1 + .5E-0", 15.5)),
    ],
)
def test_values(text: str, value: float) -> None:
    assert evaluate(compiled(text), {"x": 3.0}) == value


REFUSED = [  # text, part of the message, marks
    ("", "is empty", None),
    (" \n\t", "is empty", None),
    ("crnk.q", "did you mean 'crank.q'?", "^^^^^^"),
    ("X + y", "did you mean 'x'?", "^"),
    ("sinn(x)", "there is no function 'sinn': did you mean 'sin'", "^^^^"),
    ("x + sin", "sin is a function: give it an argument, sin(...)", "    ^^^"),
    ("sin(x, y)", "sin takes 1 argument, and has 2", "^^^^^^^^^"),
    ("min(x)", "min takes at least 2 arguments, and has 1", "^^^^^^"),
    ("if(x < 1, 2)", "if takes 3 arguments, and has 2", None),
    ("sin()", "')' is unexpected: a value is missing before it", "    ^"),
    ("x(2)", "x is no function; a product is x*(...)", "^"),
    ("2x", "a sign is missing before it; a product is a*x", " ^"),
    ("x y", "a sign is missing before it; a product is a*y", "  ^"),
    ("2(x)", "a sign is missing before it; a product is a*(...)", " ^"),
    ("(x + 1", "the formula ends early: ')' is missing", "      ^"),
    ("x + 1)", "')' is unexpected: '(' is missing before it", "     ^"),
    ("x +", "the formula ends early: a value is missing", "   ^"),
    ("* x", "'*' is unexpected: a value is missing before it", "^"),
    ("x = 3", "a formula is a value and assigns nothing", "  ^"),
    ("x == 3", "numbers are compared by <, <=, > and >=", "  ^^"),
    ("x, y", "',' is unexpected", " ^"),
    ("x < y", "a comparison is only the condition of if(condition, a, b)", "^^^^^"),
    ("(x < y)*2", "a comparison is only the condition of if(condition, a, b)", " ^^^^^"),
    ("if(1 < x < 2, 1, 2)", "comparisons are not chained", "         ^"),
    ("if(x < 1 and y < 2, 1, 2)", "nest if(condition, a, b) instead of and, or, not", "         ^^^"),
    ("x if y else 2", "write if(condition, a, b)", "  ^^"),
    ("x % 2", "write mod(a, b)", "  ^"),
    ("1e400*x", "the number is too large for arithmetic", "^^^^^"),
    ("1e-400*x", "the number is too small for arithmetic", "^^^^^^"),
    ("1e300*1e300", "the number is too large for arithmetic", "^^^^^^^^^^^"),
    ("x/(1 - 1)", "division by zero", "   ^^^^^"),
    ("x^65", "whole exponents are from -64 to 64", "  ^^"),
    ("0x10", "'x10' is unexpected", " ^^^"),
    ("__import__('os')", "there is no function '__import__'", "^^^^^^^^^^"),
    ("x.__class__", "the name 'x.__class__' is unknown", "^^^^^^^^^^^"),
    ("().x", "'.' is no sign of formulas", "  ^"),
    ("lambda: 0", "':' is no sign of formulas", "      ^"),
    ("x; y", "a formula is one value", " ^"),
    ("[x]", "an index follows its name", "^"),
    ("x\0", "is no sign of formulas", " ^"),
    ("x*\u0445", "(CYRILLIC SMALL LETTER HA) is no sign of formulas", "  ^"),
    ("x\u00d72", "(MULTIPLICATION SIGN) is no sign of formulas: write *", " ^"),
    ("x\u22121", "(MINUS SIGN) is no sign of formulas: write -", " ^"),
    ("\uff11 + x", "(FULLWIDTH DIGIT ONE) is no sign of formulas", "^"),
    ("\ud800", "is no sign of formulas", "^"),
    ("left-hip.q[2]", "the name 'left' is unknown", "^^^^"),
]


@pytest.mark.parametrize(("text", "message", "marks"), REFUSED)
def test_texts_that_are_no_formulas_are_refused_with_the_place(text: str, message: str, marks: str | None) -> None:
    with pytest.raises(lw.MechanismError) as refused:
        compiled(text)
    first, *lines = str(refused.value).splitlines()
    assert first.startswith("Force 'spring'")
    assert message in first
    if marks is not None:
        assert lines[1] == f"  {marks}"
    str(refused.value).encode()


def test_an_unknown_name_is_a_name_error() -> None:
    with pytest.raises(lw.UnknownNameError):
        compiled("crank")


@pytest.mark.parametrize("text", [None, 3.0, b"x", ["x"]])
def test_other_objects_are_refused(text: Any) -> None:
    with pytest.raises(lw.MechanismError, match="must be a text such as"):
        compiled(text)


LONG = LONGEST - 10
HOSTILE = {
    "brackets": "(" * LONG,
    "closed brackets": "(" * 4000 + "x" + ")" * 4000,
    "calls": "sin(" * 2400,
    "powers": "x^" * 4990 + "x)",
    "signs": "-" * LONG,
    "minus in exponents": "2^-" * 3300 + "x)",
    "digits": "9" * LONG,
    "exponent": "1e" + "9" * LONG,
    "letters": "q" * LONG,
    "dots": "x." * 4990,
    "quotes": "'" * LONG,
    "indices": "x[1" * 3300,
    "blanks": " " * LONG + "!",
    "many terms": "x + " * 2490 + "!",
    "many zeros": "0*a + " * 1660 + "length + x",
    "products of zeros": "0*a*" * 2490 + "!",
    "exponents of units": "(" * DEEPEST + "length" + ")^64" * DEEPEST,
    "roots": "sqrt(" * DEEPEST + "length" + ")" * DEEPEST,
    "a million characters": "x+" * 500_000 + "x",
    "a million brackets": "(" * 1_000_000,
    "arguments": "min(" + "x," * 4900 + ")",
    "comparisons": "x<" * 4990 + "x",
    "null bytes": "\0" * LONG,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_texts_are_refused_at_once(kind: str) -> None:
    begin = time.process_time()
    with pytest.raises(lw.MechanismError, match=r"Force 'spring'"):
        compile_formula(HOSTILE[kind], NAMES, {"a": 1.0, "b": 1.0}, unit="N", what="Force 'spring'")
    assert time.process_time() - begin < 3.0


def test_the_longest_formula_is_compiled() -> None:
    text = "+".join(["x*y"] * (LONGEST // 4))
    assert len(text) < LONGEST
    assert len(compiled(text).instructions) == LONGEST // 4 + 2
    assert compiled("(" * DEEPEST + "x" + ")" * DEEPEST).quantities == ("x",)


@pytest.mark.parametrize("seed", range(10))
def test_random_texts_are_compiled_or_refused(seed: int) -> None:
    choose = random.Random(seed)
    parts = [
        "x",
        "y",
        "crank.q",
        "(",
        ")",
        ",",
        "+",
        "-",
        "*",
        "/",
        "^",
        "<",
        ">=",
        "if(",
        "sin(",
        "min(",
        "2",
        "0",
        ".5",
        " ",
        "'",
        "pi",
    ]
    for _ in range(300):
        text = "".join(choose.choices(parts, k=choose.randint(1, 12)))
        try:
            compiled(text)
        except lw.MechanismError as refused:
            assert str(refused).startswith("Force 'spring'")  # noqa: PT017


def test_many_parameters_without_a_unit_are_compiled_or_refused_soon() -> None:
    choose = random.Random(1)
    names = [f"p{k}" for k in range(101)]
    terms = "+".join("*".join(choose.sample(names[:100], 3)) for _ in range(800))
    begin = time.process_time()
    with pytest.raises(lw.MechanismError, match=r"more than 100 parameters have no unit"):
        compiled(f"x + {terms}", **dict.fromkeys(names, 1.0))
    used = {name: 1.0 for name in names[:100] if name in terms}
    assert compiled(f"x + {terms}", **used).unit == "1"
    assert time.process_time() - begin < 5.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 1.0, "c": 2.0}, "no formula uses the parameter 'c': leave it out, or use it"),
        ({"k": math.nan}, "parameter 'k' must be finite"),
        ({"k": "3"}, "parameter 'k' must be one number"),
        ({"k": (1.0, "furlong")}, "parameter 'k': the unit 'furlong'"),
        ({"k": 1.0, "x": 2.0}, "the parameter 'x' has a name that means something else: rename it"),
        ({"k": 1.0, "pi": 3.0}, "the parameter 'pi' has a name that means something else: rename it"),
        ({"k": 1.0, "a b": 3.0}, "a parameter cannot have the name 'a b'"),
        ({"k": 1.0, 3: 3.0}, "a parameter cannot have the name 3"),
        ([], "parameters must be a dictionary"),
    ],
)
def test_wrong_parameters_are_refused_by_name(parameters: Any, message: str) -> None:
    with pytest.raises(lw.MechanismError) as refused:
        compile_formula("k*x", NAMES, parameters, what="Force 'spring'")
    assert message in str(refused.value)
    assert str(refused.value).startswith("Force 'spring'")


def test_tables_are_called_and_used() -> None:
    tables = {"gas": LookupTable([0, 1], [2, 4]), "map": LookupTable([0, 1], [[0, 1], [2, 3]], y=[0, 1])}
    found = compile_formula("gas(x) + map(x, y)", NAMES, tables=tables)
    assert found.tables == ("gas", "map")
    assert found.instructions.tolist()[1] == [NUMBER["table"], 0, 0, 0]
    peers = {"gas": lambda x, same: 100.0 * x + same, "map": lambda x, y: 10.0 * x + y}
    assert evaluate(found, {"x": 0.5, "y": 0.25}, tables=peers) == 50.5 + 5.25
    for text, message in [
        ("map(x)", "map takes 2 arguments, and has 1"),
        ("gas + 1", "gas is a table: give it an argument, gas(...)"),
        ("gas(x)", "no formula uses the table 'map'"),
        ("gaz(x)", "did you mean 'gas'?"),
        ("gas(x < y)", "a comparison is only the condition"),
    ]:
        with pytest.raises(lw.MechanismError) as refused:
            compile_formula(text, NAMES, tables=tables)
        assert message in str(refused.value)
