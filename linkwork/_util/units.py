"""Units: their exponents of the SI base units, their quantities, and how they are shown."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from linkwork.errors import ExportError

BASE_UNITS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")  # those of FMI, in its order
LOADS = {"rad": "N.m", "m": "N"}  # unit of the force of a coordinate, by the unit of the coordinate
# name: exponents of the base units; none of them needs a factor
_SYMBOLS: dict[str, dict[str, int]] = {
    "m": {"m": 1},
    "kg": {"kg": 1},
    "s": {"s": 1},
    "rad": {"rad": 1},
    "A": {"A": 1},
    "K": {"K": 1},
    "mol": {"mol": 1},
    "cd": {"cd": 1},
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "Hz": {"s": -1},
    "C": {"s": 1, "A": 1},
    "V": {"kg": 1, "m": 2, "s": -3, "A": -1},
    "Ohm": {"kg": 1, "m": 2, "s": -3, "A": -2},
    "H": {"kg": 1, "m": 2, "s": -2, "A": -2},
    "F": {"kg": -1, "m": -2, "s": 4, "A": 2},
}
_TOKEN = re.compile(r"([A-Za-z]+)(-?\d+)?|[./(]|1|\)")
_DEGREES = {"rad": "deg", "rad/s": "deg/s", "rad/s2": "deg/s2"}
_QUANTITIES = {
    "rad": "angle",
    "rad/s": "angular speed",
    "rad/s2": "angular acceleration",
    "m": "length",
    "m/s": "speed",
    "m/s2": "acceleration",
    "N": "force",
    "N.m": "torque",
    "J": "energy",
    "N.s": "impulse",
    "N.m.s": "angular impulse",
}


def base_exponents(unit: str) -> dict[str, int]:
    """Return the exponents of the SI base units in a unit such as ``N.m.s/rad``; every sign ``/`` divides once.

    >>> base_exponents("kg.m2/s2")
    {'kg': 1, 'm': 2, 's': -2}
    >>> base_exponents("N.m/(rad/s)")
    {'kg': 1, 'm': 2, 's': -1, 'rad': -1}
    >>> base_exponents("1")
    {}
    """
    exponents: Counter[str] = Counter()
    outer, sign, end = [1], 1, 0
    while (token := _TOKEN.match(unit, end)) is not None:
        end, text, symbol = token.end(), token[0], token[1]
        if symbol:
            for base, exponent in _SYMBOLS.get(symbol, {}).items():
                exponents[base] += sign * int(token[2] or 1) * exponent
            if symbol not in _SYMBOLS:
                break
        elif text == "/":
            sign = -outer[-1]
        elif text == "(":
            outer.append(sign)
        elif text == ")":
            if len(outer) == 1:
                break
            sign = outer.pop()
    if token is not None or end != len(unit) or end == 0 or len(outer) != 1:
        raise ExportError(f"the unit {unit!r} is not made of {', '.join(_SYMBOLS)} with '.', '/' and exponents")
    return {base: exponent for base, exponent in exponents.items() if exponent}


def unit_text(exponents: Mapping[str, int | Fraction]) -> str:
    """Return the unit of exponents of SI base units, in newtons where mass is divided by time; exponents may be broken.

    >>> unit_text({"kg": 1, "m": 2, "s": -2, "rad": -1}), unit_text({"kg": 1, "s": -1}), unit_text({"kg": 1, "m": 2})
    ('N.m/rad', 'N.s/m', 'kg.m2')
    >>> unit_text({"m": 1, "s": -2}), unit_text({"m": -1, "s": -1}), unit_text({}), unit_text({"m": Fraction(-1, 2)})
    ('m/s2', '1/(m.s)', '1', '1/m(1/2)')
    """
    left = {base: Fraction(exponents.get(base, 0)) for base in ("N", *BASE_UNITS)}
    if left["kg"] * left["s"] < 0:
        left |= {"N": left["kg"], "kg": Fraction(0), "m": left["m"] - left["kg"], "s": left["s"] + 2 * left["kg"]}
    over = [_symbol(base, exponent) for base, exponent in left.items() if exponent > 0]
    under = [_symbol(base, -exponent) for base, exponent in left.items() if exponent < 0]
    divisor = f"({'.'.join(under)})" if len(under) > 1 else "".join(under)
    return (".".join(over) or "1") + (f"/{divisor}" if divisor else "")


def _symbol(base: str, exponent: Fraction) -> str:
    if exponent == 1:
        return base
    return f"{base}{exponent}" if exponent.denominator == 1 else f"{base}({exponent})"


def display_unit(unit: str) -> tuple[str, float] | None:
    """Return name and factor of the unit in which a quantity is shown, or None where the unit itself serves.

    >>> display_unit("rad/s")
    ('deg/s', 57.29577951308232)
    """
    return (_DEGREES[unit], 180.0 / math.pi) if unit in _DEGREES else None


def axis_label(unit: str) -> str:
    """Return the label of a plot's axis: the quantity and its unit.

    >>> axis_label("rad/s2"), axis_label("N.m/rad"), axis_label("")
    ('angular acceleration [rad/s²]', 'value [N·m/rad]', 'value')
    """
    if unit in ("", "1"):
        return "value"
    return f"{_QUANTITIES.get(unit, 'value')} [{unit.replace('2', '²').replace('.', '·')}]"
