"""Small faults of C that compile: a sign, a factor, an index, a condition, a step left out."""

from __future__ import annotations

import re
from collections.abc import Iterator

# What it is called, what it replaces, and by what.
OPERATORS: list[tuple[str, str, str]] = [
    ("sign", r" \+= ", " -= "),
    ("sign", r" -= ", " += "),
    ("sign", r" \+ (?!\d|[A-Z])", " - "),
    ("sign", r" - (?!\d|[A-Z])", " + "),
    ("sign", r"(= |return |\()-(?=[a-z(])", r"\1"),
    ("factor", r"\b0\.5 \* ", "0.25 * "),
    ("factor", r"\b2\.0 \* ", "3.0 * "),
    ("factor", r"(?<=[a-z)\]]) \* [a-z][\w.>\-]*(\[\w+\])?(?=[;,)])", ""),
    ("index", r"\[0\]", "[1]"),
    ("index", r"\[1\]", "[2]"),
    ("index", r"\[2\]", "[0]"),
    ("condition", r" < ", " >= "),
    ("condition", r" > ", " <= "),
    ("condition", r" <= ", " < "),
    ("condition", r" >= ", " > "),
    ("condition", r" == ", " != "),
    ("condition", r" && ", " || "),
    ("condition", r"if \(!", "if ("),
    ("step", r"^ +[a-z_]\w*\([^;]*\);$", ""),
]
# Loops, lines that only reserve memory or point into it, and lines that are no statements.
_LEFT_OUT = re.compile(r'\bfor \(|\bfree\(|\w \*\w+ = |^\s*(#|//|\*|/\*|})|"|tatic_assert|^\w')


def faults_of_c(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the faults of a file of C, each by its operator, a line and the line that takes its place."""
    return ((name, line, new) for line in text.split("\n") for name, new in _of_line(line))


def _of_line(line: str) -> Iterator[tuple[str, str]]:
    """Yield the faults of a line of C, each by its operator and the line that it makes.

    >>> list(_of_line("    f[0] += m * g;"))
    [('sign', '    f[0] -= m * g;'), ('factor', '    f[0] += m;'), ('index', '    f[1] += m * g;')]
    >>> list(_of_line("  for (i = 0; i < n; i++) // none where a loop ends"))
    []
    """
    code = line.partition("//")[0].rstrip()
    if _LEFT_OUT.search(code):
        return
    for name, old, new in OPERATORS:
        for found in re.finditer(old, code):
            changed = code[: found.start()] + found.expand(new) + code[found.end() :]
            yield name, changed + line[len(code) :]
