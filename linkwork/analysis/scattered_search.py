"""Searches for poses of rest from scattered starts, and from the neighbourhood of each pose found.

From a random closed pose one search goes down, one up, and one to the nearest pose of rest of any kind. Valleys meet at
saddles: from a pose that is unstable searches go down on both of its slopes, and in mechanisms of one degree of freedom
up on both from a stable one, so that one pose leads to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.analysis.rest_search import ZERO_STIFFNESS, Rest, RestSearch, Seek

SAME = 1e-5  # of the length of the mechanism: poses that differ by less are one
MOST_STEPS = 100  # of one search
ASIDE = 0.03  # of the length of the mechanism: how far searches begin from a pose of rest
FAR = 2.0  # of the range of random poses: rotations that gears couple are not sought farther away
TIPS = 4  # points of a body: its centre of mass first
MOST_SLOPES = 3  # of an unstable pose

Find = Callable[[FloatArray, Seek, int, float], Rest | None]  # from a pose, most steps, radius of the first step


@dataclass
class DistinctRest:
    """A pose of rest, points by which it is compared with others, and by how many searches it was reached."""

    rest: Rest
    points: FloatArray
    hits: int = 1


class ScatteredSearch:
    """Collects the distinct poses of rest that searches lead to."""

    def __init__(self, search: RestSearch, find: Find) -> None:
        self.search, self.space, self._find = search, search.space, find
        self.found: list[DistinctRest] = []

    def start_from(self, q: FloatArray) -> None:
        """Search from a closed pose, and around each new pose of rest."""
        kinds: tuple[Seek, ...] = ("minimum", "any", "maximum")
        new = [one for kind in kinds if (one := self._add(self._find(q, kind, MOST_STEPS, 0.3))) is not None]
        while new:
            rest = new.pop()
            for begin, seek in () if self._is_far(rest) else list(self._slopes(rest)):
                if (one := self._add(self._find(begin, seek, MOST_STEPS, ASIDE))) is not None:
                    new.append(one)

    def random_start(self, rng: np.random.Generator) -> FloatArray | None:
        """Return a random closed pose within the bounds of stops, or None where none was found."""
        for _ in range(20):
            near = self.space.closed(self._random_pose(rng), self.search.task(()))
            if near.found and not any(bound.distance() < 0.0 for bound in self.search.bounds):
                return near.q
        return None

    def _random_pose(self, rng: np.random.Generator) -> FloatArray:
        """Return a random pose in which coordinates that gears couple go together."""
        space, gearing = self.space, self.space.gearing
        pose = space.random_pose(rng)
        if not len(gearing.rows):
            return pose
        step = np.where(gearing.coupled, space.difference(pose, space.start.q), 0.0)
        return space.displaced(pose, gearing.follow(step, rng) - step)

    def _is_far(self, rest: Rest) -> bool:
        """Return whether coordinates that gears couple have gone so far that searches do not go on from there."""
        space, gearing = self.space, self.space.gearing
        gone = np.abs(space.difference(rest.q, space.start.q))
        near = gearing.reach(np.where(space.is_rotation, np.pi, 0.0))
        return bool(np.any((gone > FAR * near) & gearing.coupled & space.is_rotation))

    def _is_same(self, rest: Rest, points: FloatArray, known: DistinctRest) -> bool:
        """Return whether a pose is one that is known.

        After full revolutions of a coordinate that gears couple, what the others have turned by does not count.
        """
        gaps: FloatArray = np.abs(points - known.points).max(axis=1, initial=0.0)
        apart = gaps > SAME * self.space.length
        gearing, space = self.space.gearing, self.space
        if not (apart.any() and gearing.coupled.any()):
            return not apart.any()
        turns = space.difference(rest.q, known.rest.q) / (2 * np.pi)
        whole = np.abs(turns - np.round(turns)) <= SAME
        if not (whole & gearing.coupled & space.is_rotation).any():
            return False
        n = space.model.numbering
        geared = [name for name in n.tree if gearing.coupled[n.u[name]].any()]
        bodies = [space.model.body_numbers[space.model.mechanism.joints[name].child] for name in geared]
        apart.reshape(-1, TIPS)[bodies, 1:] = False
        return not apart.any()

    def _add(self, rest: Rest | None) -> Rest | None:
        """Take note of a pose; return it if it is a new one."""
        if rest is None:
            return None
        points = self._points(rest)
        for one in self.found:
            if self._is_same(rest, points, one):
                one.hits += 1
                if rest.balance.residual < one.rest.balance.residual:
                    one.rest = rest
                return None
        self.found.append(DistinctRest(rest, points))
        return rest

    def _slopes(self, rest: Rest) -> Iterator[tuple[FloatArray, Seek]]:
        """Yield closed poses next to a pose of rest, and which way to search from there."""
        basis, stiffness = self._stiffness(rest)
        values, vectors = np.linalg.eigh(0.5 * (stiffness + stiffness.T))
        zero = self._zero(rest, values)
        for k in range(min(len(values), MOST_SLOPES)):
            if abs(values[k]) <= zero or (values[k] > 0.0 and len(values) > 1):
                continue
            seek: Seek = "minimum" if values[k] < 0.0 else "maximum"
            for sign in (1.0, -1.0):
                aside = self.space.displaced(rest.q, sign * ASIDE * self.space.length * (basis @ vectors[:, k]))
                near = self.space.closed(aside, self.search.task(rest.contacts))
                if near.found and all(bound.distance() > -1e-9 for bound in self.search.bounds):
                    yield near.q, seek

    def _stiffness(self, rest: Rest) -> tuple[FloatArray, FloatArray]:
        basis = rest.balance.tangent.basis
        functions = self.search.functions(rest.contacts)
        return basis, basis.T @ self.search.forces.stiffness(rest.q, rest.balance, functions) @ basis

    def _zero(self, rest: Rest, values: FloatArray) -> float:
        """Return the stiffness that counts as none among others."""
        return ZERO_STIFFNESS * max(float(np.abs(values).max(initial=0.0)), rest.scale / self.space.length)

    def _points(self, rest: Rest) -> FloatArray:
        """Return points of all bodies, by which poses are compared: centres of mass, and tips of axes around them.

        Where something spins freely the centres alone are compared: one pose stands for all that it spins through.
        """
        stiff = np.linalg.svd(self._stiffness(rest)[1], compute_uv=False).astype(np.float64)
        spins = stiff.min(initial=np.inf) <= self._zero(rest, stiff)
        self.space.enter(rest.q)
        block = self.space.block
        centres = block["body_com"].reshape(-1, 3)
        around = np.zeros((TIPS, 3)) if spins else np.vstack([np.zeros(3), self.space.length * np.eye(3)])
        return np.array([block.body_motion(k, centre + tip)[0] for k, centre in enumerate(centres) for tip in around])
