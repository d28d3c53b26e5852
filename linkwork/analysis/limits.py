"""Limits of functions of the pose: bounds of stops, and those that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray, length, shortened
from linkwork.analysis.pose_functions import PoseFunction, pose_function
from linkwork.errors import MechanismError
from linkwork.mechanism import Stop

if TYPE_CHECKING:
    from linkwork.analysis.configuration_space import ConfigurationSpace

Bounds = Sequence[float | None]


class Limits:
    """Lower and upper bounds of functions of the pose.

    Parameters
    ----------
    space
        Whose present pose counts.
    bounds
        Lower and upper bound by function, infinite where there is none.
    """

    def __init__(self, space: ConfigurationSpace, bounds: Mapping[str, tuple[float, float]]) -> None:
        self._space = space
        self.names = tuple(bounds)
        self.lower, self.upper = np.array(list(bounds.values()), dtype=np.float64).reshape(-1, 2).T
        n = space.model.numbering
        places = {
            f"{name}.q{end}": (n.q[name].start + k, n.u[name].start + k)
            for name in n.tree
            if (kind := space.model.mechanism.joints[name].kind).quaternion is None
            for k, end in enumerate([""] if kind.nq == 1 else [f"[{k + 1}]" for k in range(kind.nq)])
        }
        self._tree = [k for k, name in enumerate(bounds) if name in places]
        self._others = [k for k in range(len(bounds)) if k not in self._tree]
        self._functions: list[PoseFunction] = [pose_function(space, self.names[k]) for k in self._others]
        at = np.array([places[self.names[k]] for k in self._tree], dtype=int).reshape(-1, 2)
        self._q = at[:, 0]
        self._rows = np.zeros((len(bounds), space.nu))
        self._rows[self._tree, at[:, 1]] = 1.0
        self._weighted: FloatArray | None = None
        weighted = [space.weights[u] for u in at[:, 1]]
        self._weights = np.ones(len(bounds))
        self._weights[self._tree] = weighted
        for k, function in zip(self._others, self._functions, strict=True):
            self._weights[k] = 1.0 if function.units[0] == "m" else space.length

        # An angle of a joint that closes a loop is known but for full revolutions: it is counted next to its bounds.
        closing = [k for k in self._others if self.names[k].split(".q")[0] in n.cut]
        angles = [self._functions[self._others.index(k)].units[0] == "rad" for k in closing]
        middle = 0.5 * (self.lower + self.upper)
        self._turning = [k for k, is_angle in zip(closing, angles, strict=True) if is_angle and np.isfinite(middle[k])]
        self._middle = middle[self._turning]

    @classmethod
    def of(cls, space: ConfigurationSpace, given: Mapping[str, Bounds] | None) -> Limits | None:
        """Return the bounds of stops, those that are given in their place, or None if there are none."""
        bounds = stop_bounds(space) | {
            name: bound for text, pair in (given or {}).items() for name, bound in [_checked(space, text, pair)]
        }
        bounds = {name: pair for name, pair in bounds.items() if np.isfinite(pair).any()}
        return cls(space, bounds) if bounds else None

    def of_name(self, name: str) -> tuple[float, float]:
        """Return the bounds of a function by full name, as "A.q"; infinite ones where there are none."""
        if name not in self.names:
            return -np.inf, np.inf
        k = self.names.index(name)
        return float(self.lower[k]), float(self.upper[k])

    def values(self) -> FloatArray:
        """Return the values (n,) at the present pose."""
        found = np.empty(len(self.names))
        found[self._tree] = self._space.coordinates(self._q)
        for k, function in zip(self._others, self._functions, strict=True):
            found[k] = function.value()[0]
        if self._turning:
            found[self._turning] += 2.0 * np.pi * np.round((self._middle - found[self._turning]) / (2.0 * np.pi))
        return found

    def rows(self) -> FloatArray:
        """Return (n, nu) at the present pose."""
        for k, function in zip(self._others, self._functions, strict=True):
            self._rows[k] = function.rows()[0]
        return self._rows

    def weighted_rows(self) -> FloatArray:
        """Return (n, nu) at the present pose, by weighted speeds."""
        if self._others or self._weighted is None:
            self._weighted = self.rows() / self._space.weights
        return self._weighted

    def excess(self, values: FloatArray | None = None) -> float:
        """Return by how much values, by default those of the present pose, are beyond a bound; 0 within all.

        In m, angles times the length.
        """
        value = self.values() if values is None else values
        beyond = np.maximum(self.lower - value, value - self.upper) * self._weights
        return max(float(beyond.max()), 0.0)

    def room(self) -> FloatArray:
        """Return the distances (k,) from the finite bounds, lower ones first."""
        value = self.values()
        found = np.concatenate([value - self.lower, self.upper - value])
        finite: FloatArray = found[np.isfinite(found)]
        return finite

    def room_rows(self) -> FloatArray:
        """Return their rows (k, nu)."""
        rows = self.rows()
        return np.vstack([rows[np.isfinite(self.lower)], -rows[np.isfinite(self.upper)]])

    def clipped(self, q: FloatArray) -> FloatArray:
        """Return coordinates within the bounds of tree joints."""
        moved = q.copy()
        moved[self._q] = np.clip(q[self._q], self.lower[self._tree], self.upper[self._tree])
        return moved


def stop_bounds(space: ConfigurationSpace) -> dict[str, tuple[float, float]]:
    """Return the bounds of the stops of a mechanism by coordinate, as "A.q" or "U.q[2]"."""
    mech = space.model.mechanism
    found: dict[str, tuple[float, float]] = {}
    for transition in mech.transitions.values():
        stop = transition.action
        if not isinstance(stop, Stop):
            continue
        several = mech.joints[stop.joint].kind.nq > 1
        name = f"{stop.joint}.q[{stop.element + 1}]" if several else f"{stop.joint}.q"
        least, most = found.get(name, (-np.inf, np.inf))
        lower, upper = (-np.inf if stop.lower is None else stop.lower), (np.inf if stop.upper is None else stop.upper)
        found[name] = max(least, lower), min(most, upper)
    return found


def _checked(space: ConfigurationSpace, name: str, given: Bounds) -> tuple[str, tuple[float, float]]:
    """Return the full name of a function and its bounds."""
    function = pose_function(space, name)
    if function.size != 1 or function.names[0].split("[")[0].endswith(".Q"):
        raise MechanismError(f"limits: {name!r} has several values: name one, as {name + '[1]'!r}")
    pair = (-np.inf, np.inf) if given is None else given
    if length(pair) != 2:
        raise MechanismError(f"limits: {name!r} needs a lower and an upper bound, not {shortened(given)}")
    try:
        lower, upper = (
            endless if bound is None else float(bound) for bound, endless in zip(pair, (-np.inf, np.inf), strict=True)
        )
    except (TypeError, ValueError):
        lower = upper = np.nan
    if not lower <= upper or lower == np.inf or upper == -np.inf:
        raise MechanismError(f"limits: {name!r} needs a lower bound below the upper one, not {shortened(given)}")
    return function.names[0], (lower, upper)
