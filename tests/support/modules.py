"""The modules of the package as files of the checkout."""

from pathlib import Path

from support.checkout import TOP


def python_files() -> dict[str, Path]:
    """Every module of the package by its dotted name; the solvers are next to it."""
    files = [*(TOP / "linkwork").rglob("*.py"), *(TOP / "solvers").rglob("*.py")]
    names = {}
    for path in files:
        parts = list(path.relative_to(TOP).with_suffix("").parts)
        if parts[0] == "solvers":
            parts.insert(0, "linkwork")
        if parts[-1] == "__init__":
            parts.pop()
        names[".".join(parts)] = path
    return names


MODULES = python_files()
