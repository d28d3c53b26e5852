"""Two sets of results, array by array: differences relative to the largest number of each array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Comparison:
    """What two sets of results have in common.

    Attributes
    ----------
    differences
        By name of the array, relative to the largest number in it; infinite where numbers exist in one only.
    identical
        Names of the arrays whose bits are the same.
    refused
        Names of what both refuse with the same text.
    unlike
        By name, what cannot be compared: found in one only, refused by one, other sizes or texts.
    """

    differences: dict[str, float] = field(default_factory=dict)
    identical: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    unlike: dict[str, str] = field(default_factory=dict)

    def differing(self, bound: float) -> list[str]:
        """Names of the arrays that differ by more than a bound, the largest differences first."""
        return [name for name in self.largest() if self.differences[name] > bound]

    def largest(self) -> list[str]:
        """Names of all arrays, the largest differences first."""
        return sorted(self.differences, key=lambda name: -self.differences[name])


def compare(here: Mapping[str, np.ndarray], there: Mapping[str, np.ndarray]) -> Comparison:
    """Compare arrays of the same names, errors by their texts."""
    found = Comparison()
    for name in [*here, *(name for name in there if name not in here)]:
        if name not in here or name not in there:
            found.unlike[name] = "only here" if name in here else "only there"
        elif _is_text(here[name]) or _is_text(there[name]):
            _compare_texts(found, name, here[name], there[name])
        elif here[name].shape != there[name].shape:
            found.unlike[name] = f"shape {here[name].shape} here, {there[name].shape} there"
        else:
            found.differences[name] = difference(here[name], there[name])
            if here[name].tobytes() == there[name].tobytes():
                found.identical.append(name)
    return found


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference of two arrays of one shape, by their largest number; infinite numbers must be the same."""
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return np.inf
    scale = max(np.abs(a[finite]).max(initial=0.0), np.abs(b[finite]).max(initial=0.0))
    return float(np.abs(a[finite] - b[finite]).max(initial=0.0) / scale) if scale else 0.0


def _is_text(array: np.ndarray) -> bool:
    return array.dtype.kind == "U"


def _compare_texts(found: Comparison, name: str, here: np.ndarray, there: np.ndarray) -> None:
    if _is_text(here) and _is_text(there) and str(here) == str(there):
        found.refused.append(name)
        return
    texts = [str(one) if _is_text(one) else "computed" for one in (here, there)]
    found.unlike[name] = f"here: {texts[0]}; there: {texts[1]}"


def report(found: Comparison, bound: float, shown: int = 20) -> str:
    """A table by quantity, then what differs most and what cannot be compared."""
    lines = [f"{'quantity':<18}{'arrays':>8}{'same bits':>11}{'largest':>10}   largest difference"]
    by_quantity: dict[str, list[str]] = {}
    for name in found.largest():
        by_quantity.setdefault(name.rpartition(" | ")[2], []).append(name)
    identical = set(found.identical)
    for quantity, names in sorted(by_quantity.items()):
        same = sum(name in identical for name in names)
        largest = found.differences[names[0]]
        lines.append(
            f"{quantity:<18}{len(names):>8}{same:>11}{largest:>10.1e}   {names[0] if largest else ''}".rstrip()
        )
    total = f"{len(found.differences)} arrays, {len(found.identical)} the same bit for bit"
    lines += ["", f"{total}; {len(found.refused)} refused by both with the same text"]
    beyond = found.differing(bound)
    lines.append(f"{len(beyond)} differ by more than {bound:g}{', of which' if len(beyond) > shown else ''}")
    lines += [f"  {found.differences[name]:.1e}  {name}" for name in beyond[:shown]]
    lines.append(f"{len(found.unlike)} cannot be compared{', of which' if len(found.unlike) > shown else ''}")
    lines += [f"  {name}: {text}" for name, text in list(found.unlike.items())[:shown]]
    return "\n".join(lines)
