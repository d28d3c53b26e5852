"""FMPy's check of variable names, which takes milliseconds a name, made once a name."""

import copy
import threading
from typing import Any

import pytest

CHECK = "_validate_variable_names"


def remembering_names(patch: pytest.MonkeyPatch) -> None:
    """Let FMPy parse only names that it has not found legal before."""
    try:
        from fmpy import validation
    except ImportError:
        return
    check, legal = getattr(validation, CHECK), set[tuple[str, str]]()
    one_at_a_time = threading.Lock()  # CPython 3.11 evaluates literals in one thread at a time only

    def check_new(description: Any) -> list[str]:
        convention, new = description.variableNamingConvention, copy.copy(description)
        new.modelVariables = [v for v in description.modelVariables if (convention, v.name) not in legal]
        with one_at_a_time:
            problems = check(new)
        if not problems:
            legal.update((convention, v.name) for v in new.modelVariables)
        return list(problems)

    patch.setattr(validation, CHECK, check_new)
