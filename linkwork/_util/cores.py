"""The processor's cores that this process may use."""

from __future__ import annotations

import os


def cores() -> int:
    """Return their number."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on this platform
        return os.cpu_count() or 1
