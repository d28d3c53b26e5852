"""A closed pose within the bounds of stops, where assembly alone ends beyond them.

Assembly changes a start guess as little as loops need and knows no bounds. Here the sum of squares of all constraint
violations and, with a small weight, of the distance from the assembled pose is least within the bounds of tree joints
(trust region reflective, SciPy). Violations of the bounds of cut joints are terms of the sum. Assembly then closes the
pose to rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork.core.native import OUTSIDE_TOLERANCE, Stage
from linkwork.errors import AssemblyError
from linkwork.mechanism import Stop
from linkwork.model.trial_pose import TrialPose

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

_MARGIN = 1e-6  # by which the pose is inside, so that a start at rest touches no stop
_WEIGHTS = (1e-2, 1e-4, 1e-7)  # of the distance, one after the other


def start_within_stops(model: ModelBase) -> dict[str, FloatArray] | None:
    """Return start values of the tree joints, by name, from which assembly ends within the bounds of all stops.

    Returns
    -------
    dict
        Coordinates (nq,) by joint; empty if the assembled start is within the bounds; None if no such pose was found.

    Raises
    ------
    AssemblyError
        If the loops cannot be closed.
    """
    lower, upper = _bounds(model)
    assembled = _all_of(model.assemble())
    if not _beyond(assembled, lower, upper).any():
        return {}
    pose = _Search(model, lower, upper)
    q = np.clip(assembled[: pose.size], pose.lower, pose.upper)
    for weight in _WEIGHTS:
        q = pose.nearest(q, weight)
        start = {
            name: q[span].copy()
            for name, span in model.numbering.q.items()
            if span.stop <= pose.size and span.stop > span.start
        }
        try:
            found = _all_of(model._closed_state(start))
        except AssemblyError:
            continue
        if not _beyond(found, lower, upper).any():
            return {name: found[span].copy() for name, span in model.numbering.q.items() if name in start}
    return None


class _Search:
    """Poses within bounds, and what they miss."""

    def __init__(self, model: ModelBase, lower: FloatArray, upper: FloatArray) -> None:
        self._trial = TrialPose(model, model.block())
        self.size = self._trial.size
        margin = np.minimum(_MARGIN, (upper - lower) / 4)
        lower, upper = lower + margin, upper - margin
        self.lower, self.upper = lower[: self.size], upper[: self.size]
        self._cut = lower[self.size :], upper[self.size :]
        self._cut_is_bounded = bool(np.isfinite([*self._cut]).any())

    def nearest(self, q: FloatArray, weight: float) -> FloatArray:
        """Return the pose whose violations, and weighted distance from `q`, are least."""
        from scipy.optimize import least_squares

        def residual(x: FloatArray) -> FloatArray:
            return np.concatenate([self._trial.violation(x), weight * (x - q), self._beyond_of_cut_joints()])

        inside = np.clip(q, self.lower, self.upper)
        found = least_squares(residual, inside, bounds=(self.lower, self.upper), xtol=1e-14, ftol=1e-14, gtol=1e-14)
        return self._trial.normalised(np.asarray(found.x))

    def _beyond_of_cut_joints(self) -> FloatArray:
        if not self._cut_is_bounded:
            return np.zeros(0)
        block, (lower, upper) = self._trial.block, self._cut
        block.evaluate(Stage.OUTPUTS)
        q = block["q_cut"]
        beyond: FloatArray = np.maximum(lower - q, 0.0) + np.maximum(q - upper, 0.0)
        return beyond


def _all_of(state: State) -> FloatArray:
    """Return the coordinates of tree and cut joints."""
    return np.concatenate([state.q, state.q.cut if state.q.cut is not None else ()])


def _bounds(model: ModelBase) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of all coordinates, those of cut joints too; infinite without a stop."""
    size = max((span.stop for span in model.numbering.q.values()), default=0)
    lower, upper = np.full(size, -np.inf), np.full(size, np.inf)
    for transition in model.mechanism.transitions.values():
        stop = transition.action
        if not isinstance(stop, Stop):
            continue
        at = model.numbering.q[stop.joint].start + stop.element
        least, most = _range_of(stop)
        lower[at], upper[at] = max(lower[at], least), min(upper[at], most)
    return lower, upper


def stops_beyond(model: ModelBase) -> dict[str, float]:
    """Return the stops beyond which the assembled start is, by name, and by how much, rad or m."""
    q = _all_of(model.assemble())
    found = {}
    for name, transition in model.mechanism.transitions.items():
        if isinstance(stop := transition.action, Stop):
            at = model.numbering.q[stop.joint].start + stop.element
            value, lower, upper = np.array([[q[at]], *([bound] for bound in _range_of(stop))])
            if _beyond(value, lower, upper).any():
                found[name] = float(max(lower[0] - value[0], value[0] - upper[0]))
    return found


def _range_of(stop: Stop) -> tuple[float, float]:
    return -np.inf if stop.lower is None else stop.lower, np.inf if stop.upper is None else stop.upper


def _beyond(q: FloatArray, lower: FloatArray, upper: FloatArray) -> NDArray[np.bool_]:
    """Return which coordinates are beyond their bounds by more than rounding."""
    below = q < lower - OUTSIDE_TOLERANCE * (1.0 + np.abs(np.where(np.isfinite(lower), lower, 0.0)))
    above = q > upper + OUTSIDE_TOLERANCE * (1.0 + np.abs(np.where(np.isfinite(upper), upper, 0.0)))
    return below | above
