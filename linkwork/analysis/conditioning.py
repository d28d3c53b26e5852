"""Conditioning of poses with a coordinate held: how far they are from dead points and branch points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray

if TYPE_CHECKING:
    from linkwork.analysis.continuation import Curve
    from linkwork.analysis.pose_functions import PoseFunction

AT_ONCE = 256  # poses whose singular values are found together


def conditioning(curve: Curve, function: PoseFunction, poses: FloatArray) -> FloatArray:
    """Return (poses,): the smallest singular value over the largest of the constraints, held and swept rows, weighed.

    Parameters
    ----------
    curve
        The constraints and functions of the pose that are held.
    function
        The swept one.
    poses
        Coordinates of each, (poses, nq).
    """
    found = np.empty(len(poses))
    for first in range(0, len(poses), AT_ONCE):
        rows = [_rows(curve, function, q) for q in poses[first : first + AT_ONCE]]
        values = np.linalg.svd(np.array(rows), compute_uv=False)
        found[first : first + AT_ONCE] = values[:, -1] / values[:, 0]
    return found


def _rows(curve: Curve, function: PoseFunction, q: FloatArray) -> FloatArray:
    curve.space.enter(q)
    swept = curve.metres(function)[:, None] * function.rows() / curve.space.weights
    return np.vstack([curve.equations()[1], swept])
