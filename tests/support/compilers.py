"""C compilers that tests put in place of that of the machine."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path


def wrong_compiler(folder: Path, product: str = r"\1 + \2") -> str:
    """Return the command of a compiler that computes the first products of a tape, x1 * x2, otherwise."""
    script = folder / "wrong.py"
    script.write_text(
        textwrap.dedent(rf"""
        import pathlib, re, subprocess, sys
        for path in map(pathlib.Path, sys.argv[1:]):
            if path.name == "tape.c":
                path.write_text(re.sub(r"(x\d+) \* (x\d+)", r"{product}", path.read_text(), count=3))
        sys.exit(subprocess.run(["cc", *sys.argv[1:]]).returncode)
        """)
    )
    return f"{sys.executable} {script}"
