"""What constraints on velocities leave, by singular values: redundant rows are harmless."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from .poses import Array


class Constrained:
    """Bodies whose velocities (6 n,) satisfy `constraints` (rows, 6 n)."""

    constraints: Array

    @cached_property
    def _svd(self) -> tuple[Array, Array, Array]:
        count, size = self.constraints.shape
        return np.linalg.svd(self.constraints) if count else (np.zeros((0, 0)), np.zeros(0), np.eye(size))

    @cached_property
    def rank(self) -> int:
        return clear_rank(self._svd[1])

    @property
    def conditioning(self) -> float:
        """Smallest over largest singular value of the constraints; 0 would be a singular pose."""
        s = self._svd[1]
        return float(s[self.rank - 1] / s[0]) if self.rank else 1.0

    @property
    def motions(self) -> Array:
        """Admissible motions (6 n, degrees of freedom), orthonormal."""
        return self._svd[2][self.rank :].T


def clear_rank(s: Array) -> int:
    """Rank by the gap among singular values; a state without a clear gap is no use as a reference."""
    rank = int((s > 1e-9 * s.max(initial=0.0)).sum())
    assert rank == 0 or s[rank - 1] > 1e-4 * s[0], f"nearly singular pose: {s[rank - 1] / s[0]:.1e}"
    return rank
