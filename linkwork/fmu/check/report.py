"""Results of checks: findings, the outcome of each check, and the report of all."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from linkwork._util.named import NamedValues
from linkwork.results.base import ResultBase

LEVELS = ("error", "warning", "note")


@dataclass(frozen=True)
class Finding:
    """One thing found: how grave it is, and a text that names the thing and the remedy."""

    level: str
    text: str


def error(text: str) -> Finding:
    """Return a violation of the standard or of a declaration of the FMU."""
    return Finding("error", text)


def warning(text: str) -> Finding:
    """Return a finding that is allowed and still harmful."""
    return Finding("warning", text)


def note(text: str) -> Finding:
    """Return a finding for information."""
    return Finding("note", text)


class NotApplicable(Exception):
    """Raised by a check that does not apply; the text has the reason."""


@dataclass
class Outcome:
    """The outcome of one check; `skipped` is the reason why it did not apply."""

    name: str
    findings: list[Finding] = field(default_factory=list)
    skipped: str | None = None

    def verdict(self) -> str:
        """Return it in a few words."""
        if self.skipped is not None and not self.findings:
            return f"not applicable: {self.skipped}"
        counts = [(level, sum(finding.level == level for finding in self.findings)) for level in LEVELS]
        parts = [f"{count} {level}{'s' * (count > 1)}" for level, count in counts if count]
        return ", ".join(parts) or "passed"


@dataclass
class Report(ResultBase, NamedValues[str]):
    """The outcome of all checks by name, in their order; `str(report)` is the table, the findings and the verdict."""

    path: str
    version: str | None = None
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Names of the checks that were run."""
        return [outcome.name for outcome in self.outcomes]

    def __getitem__(self, name: str) -> Outcome:
        for outcome in self.outcomes:
            if outcome.name == name:
                return outcome
        raise KeyError(f"no check {name!r} was run")

    def findings(self, *levels: str) -> list[Finding]:
        """Return the findings of some levels, by default of all."""
        chosen = levels or LEVELS
        return [one for outcome in self.outcomes for one in outcome.findings if one.level in chosen]

    @property
    def passed(self) -> bool:
        """Whether there is no error."""
        return not self.findings("error")

    @property
    def verdict(self) -> str:
        """The one line that matters."""
        counts = [f"{(n := len(self.findings(level)))} {level}{'s' * (n != 1)}" for level in LEVELS]
        return f"{'PASSED' if self.passed else 'FAILED'}: {self.path}: {', '.join(counts)}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "path": self.path,
            "fmi": self.version,
            "passed": self.passed,
            "checks": [
                {
                    "name": one.name,
                    "skipped": one.skipped,
                    "findings": [asdict(finding) for finding in one.findings],
                }
                for one in self.outcomes
            ],
        }

    def summary(self) -> str:
        """Return the table, the findings and the verdict."""
        width = max((len(one.name) for one in self.outcomes), default=0)
        lines = [f"{one.name:<{width}}  {one.verdict()}" for one in self.outcomes]
        for level in LEVELS:
            for one in self.outcomes:
                texts = [finding.text for finding in one.findings if finding.level == level]
                lines += [f"{level}: {one.name}: {text}" for text in texts]
        return "\n".join([*lines, self.verdict])

    __str__ = summary
