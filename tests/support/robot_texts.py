"""Broken robot files: mutations of a text, for fuzzing readers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

_VALUES = (
    "",
    "nan",
    "inf",
    "-1",
    "0",
    "1e999",
    "world",
    "::",
    "a::b",
    "__model__",
    "0 0 0",
    "true",
    "1e-300",
    "../x",
    "é",
)


def mutations(text: str, count: int, seed: int) -> Iterator[str]:
    """Yield `count` texts: with bytes changed, values replaced, elements removed, repeated or exchanged."""
    rng = random.Random(seed)
    for _ in range(count):
        broken = text
        for _ in range(rng.choice((1, 1, 2, 3))):
            broken = rng.choice((_byte, _value, _value, _lines, _lines))(broken, rng)
        yield broken


def _byte(text: str, rng: random.Random) -> str:
    k = rng.randrange(len(text))
    return text[:k] + rng.choice("<>\"'= x0\x07&{}[](),") + text[k + rng.randrange(2) :]


def _value(text: str, rng: random.Random) -> str:
    """Replace a number or a name."""
    found = list(re.finditer(r"[-\w.]+", text))
    one = rng.choice(found)
    other = rng.choice(found).group() if rng.random() < 0.5 else rng.choice(_VALUES)
    return text[: one.start()] + other + text[one.end() :]


def _lines(text: str, rng: random.Random) -> str:
    lines = text.splitlines()
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(3)
    if what == 0:
        del lines[i]
    elif what == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)
