"""Whether IDA can be had at all."""

from __future__ import annotations

import pytest

from linkwork.errors import SolverError
from linkwork.solvers.ida.backend_choice import find_backend


def _there() -> bool:
    try:
        find_backend()
    except SolverError:
        return False
    return True


needs_ida = pytest.mark.skipif(not _there(), reason="no backend of IDA is installed")
