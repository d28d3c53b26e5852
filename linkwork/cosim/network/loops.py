"""Algebraic loops: inputs that depend on themselves through direct feedthrough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork.cosim.network.levels import Node
from linkwork.errors import CosimError

if TYPE_CHECKING:
    from linkwork.cosim.network.network import Network

MOST_ITERATIONS = 50
TOLERANCE = 1e-10


class Loop:
    """Inputs u on a loop; what the outputs make of them is g(u), and u = g(u) is sought."""

    def __init__(self, network: Network, inputs: Sequence[Node]) -> None:
        self.network = network
        self.inputs = tuple(inputs)
        self.instances = [network.instances[name] for name in dict.fromkeys(name for name, _ in inputs)]

    def solve(self, time: float) -> int:
        """Solve it; return how many evaluations that took.

        Raises
        ------
        CosimError
            If it does not converge.
        """
        for count in range(1, MOST_ITERATIONS + 1):
            before = self._values()
            for instance in self.instances:
                instance.read(instance.outputs)
            for instance in self.instances:
                self.network.feed(instance, time)
                instance.write(instance.inputs)
            after = self._values()
            if np.all(np.abs(after - before) <= TOLERANCE * (1.0 + np.abs(before))):
                return count
        names = ", ".join(".".join(node) for node in self.inputs)
        raise CosimError(f"the algebraic loop through {names} does not converge at t = {time:.9g} s")

    def _values(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.concatenate([instance.inputs.real for instance in self.instances])
