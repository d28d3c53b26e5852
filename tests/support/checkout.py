"""The folder of this checkout, and its neighbours."""

from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
DATA = TOP / "tests" / "data"  # its README.md names the sources


def beside(name: str) -> Path:
    """A file of others in ../shared, which is not copied into the checkout; a skip that names it if it is missing."""
    path = TOP.parent / "shared" / name
    if not path.exists():
        pytest.skip(f"needs {path}")
    return path
