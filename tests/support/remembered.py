"""What many tests compute again from the same content, remembered by that content within a process.

FMPy's check of variable names takes milliseconds a name: it is done once for names of one form. An export simulates
the mechanism five times, for the step of the default experiment and the reference run, and draws an icon: nine tenths
of its time.
"""

import copy
import functools
import re
import sys
import threading
from collections.abc import Callable, Hashable
from typing import Any

import pytest

from linkwork.fmu.export import fmu, reference_run, terminals

BALANCED = re.compile(r"([^'\\]|'[\w!#$%&()*+,\-./:;<>=?@[\]^{}|~ ]+')*", re.ASCII)
WORDS = re.compile(r"'[^']+'|^(der)(?=\()|[a-zA-Z_][a-zA-Z_0-9]*|[0-9]+")
CHECK = "_validate_variable_names"
RASTER = "linkwork.draw.raster"
MOST = 64  # results of one function that are kept


def remembering(patch: pytest.MonkeyPatch) -> None:
    """Let exports take simulations and icons, and FMPy legal names, from before."""
    remember_names(patch)
    for module, name, key in (
        (fmu, "default_step", of_system),
        (reference_run, "_simulated", of_system),
        (terminals, "icon_pixels", of_picture),
    ):
        patch.setattr(module, name, remembered(getattr(module, name), key))


def remembered(function: Callable[..., Any], key: Callable[..., Hashable]) -> Callable[..., Any]:
    """The function, with its latest results by the key of its arguments."""
    known: dict[Hashable, Any] = {}

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        place = key(*arguments)
        if place not in known:
            found = function(*arguments)
            while len(known) >= MOST:
                known.pop(next(iter(known)), None)
            known[place] = found
        return known[place]

    return call


def of_system(system: Any, *others: Any) -> Hashable:
    """A system by its numbers and its names; arrays by their bytes."""
    given = tuple(one.tobytes() if hasattr(one, "tobytes") else one for one in others)
    return system.model_bytes, tuple(system.columns), given


def of_picture(*arguments: Hashable) -> Hashable:
    """A picture, and whether there is what draws it: some tests take that away."""
    return arguments, sys.modules.get(RASTER, ...) is None


def form(name: str) -> str:
    """A name with which it is legal or not: the grammar knows one class of letters and one of digits.

    >>> form("der(left_arm.q[12])"), form("'x y'.c"), form("a-b"), form("'it's'")
    ('der(a.a[0])', "'a'.a", 'a-a', "'it's'")
    """
    if not BALANCED.fullmatch(name):
        return name
    return WORDS.sub(lambda word: "'a'" if word[0][0] == "'" else "0" if word[0].isdigit() else word[1] or "a", name)


def remember_names(patch: pytest.MonkeyPatch) -> None:
    """Let FMPy parse only names that it has not found legal before."""
    try:
        from fmpy import validation
    except ImportError:
        return
    check, legal = getattr(validation, CHECK), set[tuple[str, str]]()
    one_at_a_time = threading.Lock()  # CPython 3.11 evaluates literals in one thread at a time only

    def check_new(description: Any) -> list[str]:
        convention, new = description.variableNamingConvention, copy.copy(description)
        new.modelVariables = [v for v in description.modelVariables if (convention, form(v.name)) not in legal]
        with one_at_a_time:
            problems = check(new)
        if not problems:
            legal.update((convention, form(v.name)) for v in new.modelVariables)
        return list(problems)

    patch.setattr(validation, CHECK, check_new)
