"""Systems by the method that solves them."""

from __future__ import annotations

import linkwork as lw

# those with feedback on speeds, and exact derivatives near closed poses as well
CLUSTER_METHODS = ("rcr", "embedding")
METHODS = (*CLUSTER_METHODS, "multipliers", "dca")


def compiled(mechanism: lw.Mechanism, method: str) -> lw.Model:
    return lw.compile(mechanism, method)
