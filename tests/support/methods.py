"""Systems by the method that solves them."""

from __future__ import annotations

import linkwork as lw

# those with feedback on speeds, and exact derivatives near closed poses as well
CLUSTER_METHODS = ("rcr", "embedding")
METHODS = (*CLUSTER_METHODS, "multipliers", "dca")
ABOUT = ("joint", "centroid", "origin")  # reference points of multipliers
METHODS_OF_DISTANCES = (*CLUSTER_METHODS, *ABOUT)


def compiled(mechanism: lw.Mechanism, method: str) -> lw.Model:
    return lw.compile(mechanism, "multipliers", method) if method in ABOUT else lw.compile(mechanism, method)
