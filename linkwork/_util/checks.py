"""Values as a user gives them: checked, listed in messages, and compared with the known names."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import MechanismError

FloatArray = NDArray[np.float64]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def quoted(names: Iterable[str], most: int = 8) -> str:
    """List names for a message; the middle of a long list is left out.

    >>> quoted(["a", "b"])
    "'a', 'b'"
    """
    listed = [repr(name) for name in names]
    if len(listed) > most:
        listed = [*listed[: most - 1], f"... ({len(listed) - most} more)", listed[-1]]
    return ", ".join(listed)


def suggest(name: object, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest known one, or all of them.

    >>> suggest("cranc", ["crank", "rod"])
    "did you mean 'crank'?"
    """
    known = list(known)
    near = []
    if isinstance(name, str):
        near = [other for other in known if other.lower() == name.lower()]
        near = near or difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known are {quoted(known)}" if known else "there is none yet"


def check_name(name: object, what: str) -> str:
    """Return `name` if it can stand in an FMU variable name; `what` says whose it is ("body", "joint")."""
    if not isinstance(name, str):
        raise MechanismError(f"the name of a {what} must be a string, not {name!r}")
    if not _NAME.fullmatch(name):
        legal = re.sub(r"[^A-Za-z0-9_]", "_", name)
        legal = legal if _NAME.fullmatch(legal) else f"_{legal}"
        raise MechanismError(
            f"{what} {name!r}: a name consists of the letters a to z and A to Z, digits and underscores, "
            f"and does not start with a digit; {legal!r} would do"
        )
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
    if False in np.isfinite(array).ravel().tolist():  # a third of the time of .all() on the few numbers there are
        raise MechanismError(f"{what} must be finite, not {shortened(array.tolist())}")


def number(value: object, what: str) -> float:
    """Return `value` as one finite float."""
    return float(finite(value, (), what))  # type: ignore[arg-type]


def shortened(value: object) -> str:
    """Return a value for a message, at most 120 characters of it."""
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
