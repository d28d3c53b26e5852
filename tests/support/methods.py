"""Systems by the method that solves their clusters."""

from __future__ import annotations

import linkwork as lw
from linkwork.compiler.numbering import number
from linkwork.compiler.serialise import EAR_BY_EAR, EMBEDDING, Methods, serialise
from linkwork.compiler.topology import topology

METHODS = {"rcr": EAR_BY_EAR, "embedding": EMBEDDING}


def compiled(mechanism: lw.Mechanism, method: str) -> lw.System:
    tree = topology(mechanism)
    numbering = number(mechanism, tree)
    methods = Methods(clusters=(METHODS[method],) * len(tree.clusters))
    return lw.System(mechanism, tree, numbering, serialise(mechanism, tree, numbering, methods))
