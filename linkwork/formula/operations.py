"""The operations of formulas: one table, which the core repeats in the same order.

A formula is straight-line code: instruction i writes value i. It has four numbers: the operation and a, b, c, which are
earlier values, places in the lists of the formula, or an exponent.
"""

from __future__ import annotations

from typing import NamedTuple


class Operation(NamedTuple):
    """One operation of formulas.

    Attributes
    ----------
    name
        Its name here and in the core.
    operands
        What a, b and c are: "v" an earlier value, "n" a number, "q" a quantity, "t" a table of the formula, each by its
        place in the list; "i" an integer itself. Others are 0. A table of one argument has it in a and b.
    units
        Units of the values and of the result: equal letters are equal units, "1" is a number, "rad" an angle; "own" is
        the unit of the number, quantity or table, "a^b" the power by the exponent.
    called
        Whether formulas call it by its name.
    """

    name: str
    operands: str
    units: str
    called: bool = False


OPERATIONS: tuple[Operation, ...] = (
    Operation("number", "n", "-> own"),
    Operation("quantity", "q", "-> own"),
    Operation("add", "vv", "a a -> a"),
    Operation("subtract", "vv", "a a -> a"),
    Operation("multiply", "vv", "a b -> a.b"),
    Operation("divide", "vv", "a b -> a/b"),
    Operation("minus", "v", "a -> a"),
    Operation("square", "v", "a -> a2"),
    Operation("cube", "v", "a -> a3"),
    Operation("power", "vv", "a 1 -> a^b"),
    Operation("integer_power", "vi", "a -> a^b"),
    Operation("sqrt", "v", "a -> a(1/2)", called=True),
    Operation("exp", "v", "1 -> 1", called=True),
    Operation("log", "v", "1 -> 1", called=True),
    Operation("sin", "v", "rad -> 1", called=True),
    Operation("cos", "v", "rad -> 1", called=True),
    Operation("tan", "v", "rad -> 1", called=True),
    Operation("asin", "v", "1 -> rad", called=True),
    Operation("acos", "v", "1 -> rad", called=True),
    Operation("atan", "v", "1 -> rad", called=True),
    Operation("sinh", "v", "1 -> 1", called=True),
    Operation("cosh", "v", "1 -> 1", called=True),
    Operation("tanh", "v", "1 -> 1", called=True),
    Operation("abs", "v", "a -> a", called=True),
    Operation("sign", "v", "a -> 1", called=True),
    Operation("atan2", "vv", "a a -> rad", called=True),
    Operation("min", "vv", "a a -> a", called=True),
    Operation("max", "vv", "a a -> a", called=True),
    Operation("mod", "vv", "a a -> a", called=True),
    Operation("less", "vv", "a a -> 1"),
    Operation("less_equal", "vv", "a a -> 1"),
    Operation("select", "vvv", "1 a a -> a"),
    Operation("floor", "v", "1 -> 1", called=True),
    Operation("table", "vvt", "-> own"),
)

NUMBER: dict[str, int] = {one.name: k for k, one in enumerate(OPERATIONS)}  # of an operation, by its name
FUNCTIONS: dict[str, Operation] = {one.name: one for one in OPERATIONS if one.called}
COMPARISONS = frozenset({NUMBER["less"], NUMBER["less_equal"]})
KINKED = frozenset({"abs", "sign", "min", "max", "mod", "less", "less_equal", "floor", "table"})  # have kinks or jumps
LARGEST_EXPONENT = 64  # of whole powers
