"""Systems by the method that solves them."""

from __future__ import annotations

import linkwork as lw
from linkwork.compiler.compile import CompiledMechanism
from linkwork.compiler.numbering import number
from linkwork.compiler.serialise import EMBEDDING, LOOP_BY_LOOP, Methods, serialise
from linkwork.compiler.topology import topology
from linkwork.compiler.topology_variants import Changes

# those with feedback on speeds, and exact derivatives near closed poses as well
CLUSTER_METHODS = {"rcr": LOOP_BY_LOOP, "embedding": EMBEDDING}
METHODS = (*CLUSTER_METHODS, "multipliers", "dca")


def compiled(mechanism: lw.Mechanism, method: str) -> lw.Model:
    if method in ("multipliers", "dca"):
        return lw.compile(mechanism, method)
    tree = topology(mechanism)
    numbering = number(mechanism, tree)
    methods = Methods(clusters=(CLUSTER_METHODS[method],) * len(tree.clusters))
    changes = Changes(mechanism)
    model_bytes = serialise(changes, tree, numbering, methods)
    return lw.Model(CompiledMechanism(mechanism, tree, numbering, model_bytes, changes))
