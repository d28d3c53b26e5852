"""Checks of values that a user gives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.part_names import RULE, is_legal, legible_name, objection
from linkwork.errors import MechanismError

FloatArray = NDArray[np.float64]


def check_name(name: object, what: str) -> str:
    """Return `name` if a part may have it; `what` is the kind of entity ("body", "joint")."""
    if not isinstance(name, str):
        raise MechanismError(f"the name of a {what} must be a string, not {name!r}")
    if not is_legal(name):
        raise MechanismError(f"{what} {name!r}: {objection(name)}; {RULE}; {legible_name(name)!r} would do")
    return name


def length(value: object) -> int:
    """Return how many items a value has; 0 if it is none that has items."""
    try:
        return len(value)  # type: ignore[arg-type]
    except TypeError:
        return 0


def numbers(value: ArrayLike, shape: tuple[int, ...], what: str) -> FloatArray:
    """Return a read-only copy of `value` as floats of the given shape; they may still be NaN or infinite."""
    try:
        array = np.asarray(value)
    except ValueError:  # ragged
        array = np.asarray(None)
    if array.dtype.kind not in "fiu" or array.shape != shape:
        size = " x ".join(map(str, shape))
        wanted = f"{size} numbers" if math.prod(shape) > 1 else "one number"
        raise MechanismError(f"{what} must be {wanted}, not {shortened(value)}")
    if array is value or array.dtype != np.float64 or not array.flags.owndata:  # a list gives an array of its own
        array = np.array(array, dtype=float)
    array.setflags(write=False)
    return array


def finite(value: ArrayLike, shape: tuple[int, ...], what: str) -> FloatArray:
    """Return a read-only copy of `value` as finite floats of the given shape."""
    array = numbers(value, shape, what)
    check_finite(array, what)
    return array


def check_finite(array: FloatArray, what: str) -> None:
    """Refuse NaN and infinity."""
    quick = sum(array.ravel().tolist())  # which may overflow; a fifth of the time of numpy on the few numbers there are
    if not (math.isfinite(quick) or np.isfinite(array).all()):
        raise MechanismError(f"{what} must be finite, not {shortened(array.tolist())}")


def real_array(value: object) -> FloatArray:
    """Return `value` as an array of floats; TypeError or ValueError where it has none, complex numbers included."""
    array = np.asarray(value)
    if array.dtype.kind == "c" or value is None:
        raise TypeError("numbers must be real")
    return np.asarray(array, dtype=float)


def number(value: object, what: str) -> float:
    """Return `value` as one finite float."""
    if type(value) is float and math.isfinite(value):  # as nearly always; arrays take twenty times as long
        return value
    return float(finite(value, (), what))  # type: ignore[arg-type]


def positive(value: object, what: str, remark: str = "") -> float:
    """Return `value` as one finite float above zero; the error ends in a remark."""
    found = number(value, what)
    if not found > 0.0:
        raise MechanismError(f"{what} must be positive, not {found:g}{remark}")
    return found


def whole_number(value: object, what: str, least: int = 0) -> int:
    """Return `value` as an integer that is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise MechanismError(f"{what} must be a whole number of at least {least}, not {value!r}")
    return int(value)


def shortened(value: object) -> str:
    """Return a value for a message, at most 120 characters of it."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def refuse_repeated(names: Sequence[str], what: str) -> None:
    """Refuse a name that is given twice; `what` is the argument."""
    if twice := [name for k, name in enumerate(names) if name in names[:k]]:
        raise MechanismError(f"{what}: {twice[0]!r} is named twice: name it once")


def names_of(names: object, what: str) -> list[str]:
    """Return names that are given as one or several; `what` is the argument.

    >>> names_of("A", "motors"), names_of(["A", "B"], "motors")
    (['A'], ['A', 'B'])
    """
    listed = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    found = [name for name in listed if isinstance(name, str)]
    if len(found) < len(listed):
        raise MechanismError(f"{what} must be a name or names such as ['A', 'B'], not {shortened(names)}")
    return found
