"""Attributes of USD prims as checked numbers, and which of those that a file states were read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.formats.report import Report


class Attributes:
    """Reads attributes by name, and remembers which."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._asked: dict[str, set[str]] = {}

    def error(self, prim: Any, text: str) -> MechanismError:
        """Return an error that names the file and the prim."""
        return MechanismError(f"{self._path}: prim {prim.GetPath()}: {text}")

    def get(self, prim: Any, name: str) -> Any:
        """Return a value that is authored, by the schema, or None."""
        self._asked.setdefault(str(prim.GetPath()), set()).add(name)
        attribute = prim.GetAttribute(name)
        return attribute.Get() if attribute else None

    def authored(self, prim: Any, name: str) -> Any:
        """Return a value that the file states, or None."""
        value = self.get(prim, name)
        return value if value is not None and prim.GetAttribute(name).HasAuthoredValue() else None

    def number(self, prim: Any, name: str, default: float, finite: bool = True) -> float:
        """Return a number, finite or not NaN."""
        value = self.get(prim, name)
        if value is None:
            return default
        if not isinstance(value, int | float) or math.isnan(value) or (finite and math.isinf(value)):
            raise self.error(prim, f"{name} must be a {'finite ' * finite}number, not {value!r}")
        return float(value)

    def vector(self, prim: Any, name: str, default: Any = (0.0, 0.0, 0.0), finite: bool = True) -> FloatArray:
        """Return three numbers."""
        value = self.get(prim, name)
        try:
            found = np.array(default if value is None else value, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.array(math.nan)
        if found.shape != (3,) or np.isnan(found).any() or (finite and not np.isfinite(found).all()):
            raise self.error(prim, f"{name} must be three {'finite ' * finite}numbers, not {value!r}")
        return found

    def flag(self, prim: Any, name: str, default: bool) -> bool:
        """Return a truth value."""
        value = self.get(prim, name)
        return default if value is None else bool(value)

    def token(self, prim: Any, name: str, default: str) -> str:
        """Return a word."""
        value = self.get(prim, name)
        return default if value is None else str(value)

    def target(self, prim: Any, name: str) -> Any:
        """Return the path to which a relationship points, or None; two are refused."""
        self._asked.setdefault(str(prim.GetPath()), set()).add(name)
        relationship = prim.GetRelationship(name)
        targets = relationship.GetTargets() if relationship else []
        if len(targets) > 1:
            raise self.error(prim, f"{name} names {len(targets)} prims: leave one")
        return targets[0] if targets else None

    def skip(self, prim: Any, *starts: str) -> None:
        """Take properties whose names begin so as read."""
        asked = self._asked.setdefault(str(prim.GetPath()), set())
        asked.update(name for name in prim.GetAuthoredPropertyNames() if name.startswith(starts))

    def report_unread(self, prim: Any, label: str, report: Report) -> None:
        """Count what a file states of a prim and nobody asked for."""
        asked = self._asked.get(str(prim.GetPath()), set())
        for name in prim.GetAuthoredPropertyNames():
            if name not in asked:
                report.left_out(f"{label} > {name}", "Linkwork does not know it")

    def was_read(self, prim: Any, names: list[str]) -> bool:
        """Return whether one of these properties was asked for."""
        return not self._asked.get(str(prim.GetPath()), set()).isdisjoint(names)
