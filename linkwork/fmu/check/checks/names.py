"""Names and value references of variables."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, error
from linkwork.fmu.description import Variable

# The grammar of structured names: identifiers or quoted names with indices, joined by dots, or der(...) of such.
_QUOTED = r"""'(?:[^'\\"\x00-\x1f]|\\['"?\\abfnrtv])+'"""
_PART = rf"(?:[A-Za-z_][A-Za-z0-9_]*|{_QUOTED})(?:\[\d+(?:,\d+)*\])?"
_IDENTIFIER = rf"{_PART}(?:\.{_PART})*"
_STRUCTURED = re.compile(rf"(?:{_IDENTIFIER}|der\({_IDENTIFIER}(?:,\d+)?\))")
_FLAT = re.compile(r"[^\r\n\t]+")


@check("names", "variable names are there once and follow the naming convention declared")
def names(fmu: Fmu) -> Iterator[Finding]:
    """Look at each name, aliases included."""
    structured = fmu.root.get("variableNamingConvention", "flat") == "structured"
    allowed, convention = (_STRUCTURED, "structured") if structured else (_FLAT, "flat")
    all_of = [name for one in fmu.description.variables for name in (one.name, *(alias.name for alias in one.aliases))]
    for name, times in Counter(all_of).items():
        if times > 1:
            yield error(f"{times} variables are named {name!r}; names must differ")
        if not allowed.fullmatch(name):
            remedy = (
                "write it as a.b[1], or declare the convention 'flat'"
                if structured
                else "leave out line breaks and tabs"
            )
            yield error(f"the name {name!r} is against the convention {convention!r}; {remedy}")


@check("references", "value references are numbers; aliases share unit and kind, and one of them at most can be set")
def references(fmu: Fmu) -> Iterator[Finding]:
    """Look at variables that share a value reference."""
    groups: dict[tuple[str, int], list[Variable]] = defaultdict(list)
    fmi2 = fmu.description.fmi2
    for one in fmu.description.variables:
        if one.reference is None or not 0 <= one.reference < 1 << 32:
            yield error(
                f"{one.name} has the value reference {one.given.get('valueReference')!r}; give a number below 2^32"
            )
        else:
            base = ("Integer" if one.type == "Enumeration" else one.type) if fmi2 else ""
            groups[base, one.reference].append(one)
    for (_, reference), group in groups.items():
        if len(group) > 1:
            yield from _aliases(group) if fmi2 else _doubles(reference, group)


def _doubles(reference: int, group: list[Variable]) -> Iterator[Finding]:
    said = ", ".join(one.name for one in group)
    yield error(f"{said} share the value reference {reference}; in FMI 3.0 write aliases as elements Alias")


def _aliases(group: list[Variable]) -> Iterator[Finding]:
    said = ", ".join(one.name for one in group)
    if len({one.unit for one in group}) > 1:
        yield error(f"the aliases {said} have different units; give each the same")
    settable = [one.name for one in group if one.causality in ("input", "parameter", "structuralParameter")]
    if len(settable) > 1:
        yield error(f"the aliases {', '.join(settable)} can all be set; let one be input or parameter")
    started = [one.name for one in group if one.start is not None and one.variability != "constant"]
    if len(started) > 1:
        yield error(f"the aliases {', '.join(started)} all have a start value; leave it to one")
    if len({one.variability == "constant" for one in group}) > 1:
        yield error(f"of the aliases {said} some are constant and some are not; make them alike")
