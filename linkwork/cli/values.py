"""Types of arguments on the command line: numbers, NAME=VALUE, files."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from linkwork._util.names import nearest


def named(convert: Callable[[str], Any], form: str, example: str) -> Callable[[str], tuple[str, Any]]:
    """Return the type of an argument NAME=VALUE, whose value `convert` makes of a text; a ValueError refuses it."""

    def take(text: str) -> tuple[str, Any]:
        name, _, value = text.partition("=")
        if name.strip() and value.strip():
            try:
                return name.strip(), convert(value.strip())
            except ValueError:
                pass
        raise argparse.ArgumentTypeError(f"{text!r} is not {form}, such as {example}")

    return take


class AppendNamed(argparse.Action):
    """Collects names and values of an option that may be repeated, by name; one name twice would lose a value."""

    def __call__(self, parser: object, namespace: argparse.Namespace, values: Any, option: object = None) -> None:
        """Add, or refuse."""
        found = dict(getattr(namespace, self.dest) or {})
        for name, value in values if self.nargs else [values]:
            if name in found:
                raise argparse.ArgumentError(self, f"{name!r} is given twice: give it once")
            found[name] = value
        setattr(namespace, self.dest, found)


def _numbers(text: str) -> float | list[float]:
    found = [float(one) for one in text.split(",")]
    return found[0] if len(found) == 1 else found


def _bounds(text: str) -> tuple[float | None, ...]:
    lower, upper = (float(one) if one else None for one in text.split(","))
    return lower, upper


def _nodes(text: str) -> tuple[float, ...]:
    lower, upper, *count = text.split(",")
    return float(lower), float(upper), *map(int, count)


load = named(float, "JOINT=LOAD", "A=0.5")
numbers = named(_numbers, "NAME=VALUES", "hand.r=0.1,0.2,0.3")
bounds = named(_bounds, "NAME=LOWER,UPPER", "A=-1,1")
axis = named(_nodes, "NAME=LOWER,UPPER,N", "A=-1,1,31")
assignment = named(str, "COMPONENT.VARIABLE=VALUE", "plant.A.u_start=2")


def held(text: str) -> tuple[str, float | None]:
    """Take an argument as a coordinate with the value that it keeps, or None: that of the start."""
    return load(text) if "=" in text else (text, None)


def setting(text: str) -> tuple[str, Any]:
    """Take an argument as a name and a value in JSON, or else a text."""
    name, sign, value = text.partition("=")
    if not (name and sign):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE, such as kp=2.5")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def by_comma(text: str) -> list[str]:
    """Take an argument as names between commas."""
    return text.split(",")


def number(text: str) -> float:
    """Take an argument as a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return value


def positive(text: str) -> float:
    """Take an argument as a finite number above zero."""
    value = number(text)
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not above zero")
    return value


def file_argument(suffixes: Sequence[str]) -> Callable[[str], Path]:
    """Return the type of an argument that names a file of one of these formats."""

    def take(text: str) -> Path:
        path = Path(text)
        if path.suffix.lower() not in suffixes:
            near = nearest(path.suffix, suffixes)
            hint = f": did you mean {' or '.join(map(repr, near))}?" if near else ""
            raise argparse.ArgumentTypeError(f"{text!r} does not end in {', '.join(suffixes)}{hint}")
        return path

    return take
