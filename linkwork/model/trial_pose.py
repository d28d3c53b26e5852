"""The violation of all constraints as a function of the tree's coordinates, for searches that assembly does not do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray

if TYPE_CHECKING:
    from linkwork.core.native import Block
    from linkwork.model.named_model import NamedModel


class TrialPose:
    """Poses to try in a block."""

    def __init__(self, model: NamedModel, block: Block) -> None:
        self.block = block  # holds the pose tried last
        self.size = block.reals[block.model.fields["q"].span].size  # number of the tree's coordinates
        self._quaternions = [
            slice(span.start + kind.quaternion.start, span.start + kind.quaternion.stop)
            for name, span in model.numbering.q.items()
            if (kind := model.mechanism.joints[name].kind).quaternion is not None and span.stop <= self.size
        ]

    def violation(self, q: FloatArray) -> FloatArray:
        """Return Phi (rows,), m, at coordinates (size,) of which quaternions may have any length."""
        self.block.put("q", self.normalised(q))
        return self.block.constraints()[0]

    def normalised(self, q: FloatArray) -> FloatArray:
        """Return coordinates with unit quaternions."""
        q = q.copy()
        for span in self._quaternions:
            q[span] /= np.linalg.norm(q[span]) or 1.0
        return q
