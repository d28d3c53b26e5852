"""The fidelity report of an import or export: what became of each element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from linkwork.errors import MechanismError
from linkwork.results.base import ResultBase

Outcome = Literal["taken", "approximated", "left out"]
OUTCOMES: tuple[Outcome, ...] = ("taken", "approximated", "left out")

_ALIKE = 3  # elements of which the same is said that the text of a report lists one by one
_REFUSALS = 10  # lines of an error; the report has them all


class Entry(NamedTuple):
    """What became of one element."""

    element: str  # the element in the words of the file: "joint 'hip' > limit"
    outcome: Outcome  # "taken", "approximated" or "left out"
    # Taken: as what, where that is not obvious. Approximated: how, and by how much. Left out: why, and what it would
    # change.
    text: str = ""

    def __str__(self) -> str:
        return f"{self.element}: {self.outcome}" + (f", {self.text}" if self.text else "")


class Report(ResultBase):
    """What became of each element of a file that was read or written.

    Examples
    --------
    >>> report = Report("arm.urdf", "URDF")
    >>> report.taken("joint 'hip'")
    >>> report.left_out("link 'base' > visual", "shapes have no effect on the motion")
    >>> print(report)
    arm.urdf (URDF): 1 taken, 0 approximated, 1 left out
      left out
        link 'base' > visual: shapes have no effect on the motion
    """

    def __init__(self, path: str, format: str) -> None:
        self.path = path
        self.format = format  # its format: "URDF", "SDF", "MJCF", "USD"
        self.entries: list[Entry] = []  # A list of `Entry`, in the order of the file
        # For each kind of element ("link", "joint", ...), the names in the file and those in the mechanism. A link that
        # is fixed to another one has the name of the body of both.
        self.names: dict[str, dict[str, str]] = {}

    def taken(self, element: str, text: str = "") -> None:
        """Add an element that the mechanism has exactly."""
        self.entries.append(Entry(element, "taken", text))

    def approximated(self, element: str, how: str) -> None:
        """Add an element that the mechanism has nearly: how, and by how much it differs."""
        self.entries.append(Entry(element, "approximated", how))

    def left_out(self, element: str, why: str) -> None:
        """Add an element that the mechanism has not: why, and what it would change."""
        self.entries.append(Entry(element, "left out", why))

    def of(self, outcome: Outcome) -> list[Entry]:
        """Return the entries of one outcome."""
        return [entry for entry in self.entries if entry.outcome == outcome]

    @property
    def renamed(self) -> dict[str, dict[str, str]]:
        """The part of `names` whose names differ."""
        changed = {kind: {old: new for old, new in of.items() if old != new} for kind, of in self.names.items()}
        return {kind: of for kind, of in changed.items() if of}

    def check_strict(self) -> None:
        """Refuse entries other than taken ones."""
        refused = [entry for entry in self.entries if entry.outcome != "taken"]
        if not refused:
            return
        lines = [f"  {entry}" for entry in refused[:_REFUSALS]]
        if len(refused) > _REFUSALS:
            lines.append(f"  and {len(refused) - _REFUSALS} more, which the report lists without strict=True")
        raise MechanismError(f"{self.path}: strict=True, and not everything can be taken:\n" + "\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """Return the report as dictionaries, lists and strings, for JSON."""
        return {
            "path": self.path,
            "format": self.format,
            "counts": {outcome: len(self.of(outcome)) for outcome in OUTCOMES},
            "entries": [entry._asdict() for entry in self.entries],
            "names": self.names,
        }

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def summary(self) -> str:
        """Return the counts, and what became of all elements but those taken."""
        counts = ", ".join(f"{len(self.of(outcome))} {outcome}" for outcome in OUTCOMES)
        lines = [f"{self.path} ({self.format}): {counts}"]
        for outcome in OUTCOMES[1:]:
            alike: dict[str, list[str]] = {}
            for entry in self.of(outcome):
                alike.setdefault(entry.text, []).append(entry.element)
            lines += [f"  {outcome}"] * bool(alike)
            lines += [f"    {label}: {text}" for text, elements in alike.items() for label in _labels(elements)]
        for kind, names in self.renamed.items():
            lines += [f"  names ({kind})", *(f"    {old}: {new}" for old, new in names.items())]
        return "\n".join(lines)

    __str__ = summary

    def __repr__(self) -> str:
        return f"<Report {str(self).splitlines()[0]}>"


def _labels(elements: list[str]) -> list[str]:
    """Return labels of elements of which the same is said: of many, the first and how many others there are."""
    return elements if len(elements) <= _ALIKE else [f"{elements[0]} and {len(elements) - 1} more"]
