"""Newton's matrix of a chain of spherical joints, solved without forming all of it: Chou's schemes 3 and 4."""

from __future__ import annotations

from linkwork.core.chain_kernels import ChainKernels, FloatArray


class ChainNewton:
    """A `NewtonOperator` of `linkwork.solvers`.

    Parameters
    ----------
    kernels
        Where it is computed.
    reduced
        Scheme 3: the rotations of the bodies by a dense LU, the rest by substitution; the kernels store that
        (`ChainKernels(bodies, dense=True)`). Otherwise scheme 4: two sweeps along the chain, O(n).
    """

    def __init__(self, kernels: ChainKernels, *, reduced: bool = False) -> None:
        self._prepare = kernels.reduce if reduced else kernels.factor
        self.solve = kernels.solve
        self.rate_times = kernels.rate_times

    def factor(self, t: float, y: FloatArray, ydot: FloatArray, cj: float) -> None:
        """Prepare J at (y, y') and cj, (14 n,) each; LinAlgError where it has no inverse."""
        self._prepare(y, ydot, cj)
