"""What functions that a user gives want to be called with."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def required_arguments(function: Callable[..., Any]) -> int:
    """Return how many positional arguments a function must be given, at least one; one if it has no signature.

    >>> required_arguments(lambda t, state: 0.0), required_arguments(lambda t, gain=2.0: 0.0), required_arguments(max)
    (2, 1, 1)
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some compiled functions
        return 1
    return max(1, sum(one.kind in POSITIONAL and one.default is one.empty for one in parameters))
