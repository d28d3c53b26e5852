"""Newton's matrix of a chain of spherical joints, solved without forming all of it: Chou's schemes 3 and 4."""

from __future__ import annotations

from linkwork.formulations.chain_kernels import ChainKernels, FloatArray


class SweptNewton:
    """Scheme 4: two sweeps along the chain, O(n). A `NewtonOperator` of `linkwork.solvers`."""

    def __init__(self, kernels: ChainKernels) -> None:
        self.kernels = kernels
        self.solve = self.kernels.solve
        self.rate_times = self.kernels.rate_times

    def factor(self, t: float, y: FloatArray, ydot: FloatArray, cj: float) -> None:
        """Prepare J at (y, y') and cj, (14 n,) each; LinAlgError where it has no inverse."""
        self.kernels.factor(y, ydot, cj)


class ReducedNewton:
    """Scheme 3: the three turns of each body by a dense LU, the rest by substitution. Another `NewtonOperator`.

    Its kernels have room for the reduced matrix: `ChainKernels(bodies, dense=True)`.
    """

    def __init__(self, kernels: ChainKernels) -> None:
        self.kernels = kernels
        self.solve = self.kernels.solve
        self.rate_times = self.kernels.rate_times

    def factor(self, t: float, y: FloatArray, ydot: FloatArray, cj: float) -> None:
        """Prepare J at (y, y') and cj, (14 n,) each; LinAlgError where it has no inverse."""
        self.kernels.reduce(y, ydot, cj)
