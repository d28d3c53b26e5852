"""The table of causality and variability in FMI 2.0 and 3.0, with the values that `initial` may have."""

from __future__ import annotations

_A, _B, _C = ("exact",), ("calculated", "approx"), ("calculated", "exact", "approx")

# (variability, causality): the values of `initial`, its default first; () where it must not be given.
ALLOWED: dict[tuple[str, str], tuple[str, ...]] = {
    ("fixed", "structuralParameter"): _A,
    ("tunable", "structuralParameter"): _A,
    ("fixed", "parameter"): _A,
    ("tunable", "parameter"): _A,
    ("fixed", "calculatedParameter"): _B,
    ("tunable", "calculatedParameter"): _B,
    ("discrete", "input"): _A,
    ("continuous", "input"): _A,
    ("constant", "output"): _A,
    ("discrete", "output"): _C,
    ("continuous", "output"): _C,
    ("constant", "local"): _A,
    ("fixed", "local"): _B,
    ("tunable", "local"): _B,
    ("discrete", "local"): _C,
    ("continuous", "local"): _C,
    ("continuous", "independent"): (),
}

DEFAULT_INITIAL = {pair: initials[0] for pair, initials in ALLOWED.items() if initials}
