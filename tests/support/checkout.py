"""Where this checkout is, and what stands beside it."""

from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]


def beside(name: str) -> Path:
    """A file of the published cases and notes in ../shared, which are read there; a skip that names it if missing."""
    path = TOP.parent / "shared" / name
    if not path.exists():
        pytest.skip(f"needs {path}")
    return path
