"""The checks by name. A check is a function in a module named below, decorated with name and reason; that is all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from linkwork._util.names import suggest
from linkwork.errors import FmuNameError
from linkwork.fmu.check.report import Finding

if TYPE_CHECKING:
    from linkwork.fmu.check.fmu import Fmu

Body = Callable[["Fmu"], Iterable[Finding]]

_MODULES = (
    *("archive", "header", "names", "values", "units", "combinations", "structure", "platforms"),
    *("configuration", "life_cycle", "steps", "snapshots", "rates", "derivatives", "dependencies", "history"),
    *("capabilities", "events", "runs", "reference", "memory"),
)


@dataclass(frozen=True)
class Check:
    """A check: its name, in one line what it is for, and what yields its findings."""

    name: str
    reason: str
    body: Body
    dynamic: bool  # it calls the FMU's library, so it runs in a process of its own
    needs_fmpy: bool
    essential: bool  # without it nothing else can be read


_CHECKS: dict[str, Check] = {}


def check(
    name: str, reason: str, *, dynamic: bool = False, needs_fmpy: bool = False, essential: bool = False
) -> Callable[[Body], Body]:
    """Enter the function below as a check."""

    def enter(body: Body) -> Body:
        assert name not in _CHECKS, name
        _CHECKS[name] = Check(name, reason, body, dynamic, needs_fmpy or dynamic, essential)
        return body

    return enter


def all_checks() -> dict[str, Check]:
    """Return all checks by name, in the order in which they run."""
    for module in _MODULES:
        import_module(f"linkwork.fmu.check.checks.{module}")
    return dict(_CHECKS)


def choose(only: Iterable[str] | None, skip: Iterable[str] | None) -> list[Check]:
    """Return the requested checks; those without which nothing can be read run always."""
    known = all_checks()
    chosen, left = ((None if names is None else set(_known(names, known))) for names in (only, skip))
    return [one for one in known.values() if one.essential or _requested(one.name, chosen, left)]


def _requested(name: str, chosen: set[str] | None, left: set[str] | None) -> bool:
    return (chosen is None or name in chosen) and name not in (left or ())


def _known(names: Iterable[str], known: dict[str, Check]) -> Iterator[str]:
    for name in names:
        if name not in known:
            hint = f"{suggest(name, known)}; 'linkwork check --list' prints all"
            raise FmuNameError(f"there is no check {name!r}: {hint}")
        yield name
