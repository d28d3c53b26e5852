"""The topology that the compiler gives a mechanism."""

from __future__ import annotations

from linkwork.core.plan import Topology
from linkwork.mechanism import Mechanism
from linkwork.model.compiled import compile_mechanism


def topology(mech: Mechanism) -> Topology:
    """Return it; nothing is warned of."""
    return compile_mechanism(mech).topology
