"""Live instances wired together: values carried along connections, algebraic loops, events, snapshots."""

from linkwork.cosim.network.network import Network

__all__ = ["Network"]
