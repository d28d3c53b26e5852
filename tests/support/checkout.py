"""Where this checkout is."""

from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
