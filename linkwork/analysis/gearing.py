"""Gears and racks in searches for poses: coordinates that go far because others go a little, and rotors.

A coupling sum a_k q_k = const of a gear with ratio 1000 turns a rotor by 1000 rad while an arm turns by 1 rad. Searches
take this into account: how far a coordinate may go follows from those that it is coupled with, random poses satisfy the
couplings, and a rotor, whose rotation moves no mass and no point of a force, may turn by any angle in one step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork.mechanism import GROUND, Joint, Mechanism

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase

ON_AXIS = 1e-12  # of the size of the mechanism: distance of a centre of mass from its axis
INDEPENDENT = 1e-12  # of the largest singular value: couplings whose coefficients differ by less are one


class Gearing:
    """The linear couplings between coordinates of tree joints.

    Parameters
    ----------
    model
        The compiled mechanism.
    size
        Of the mechanism, m.
    """

    def __init__(self, model: ModelBase, size: float) -> None:
        nu = model.numbering.nu
        rows = []
        for one in model.mechanism.couplings.values():
            terms = list(one.terms.values())
            is_linear = all(not any(term.coefficients[1:]) for term in terms)
            if len(terms) > 1 and is_linear and all(term.joint in model.numbering.tree for term in terms):
                row = np.zeros(nu)
                for term in terms:
                    row[model.numbering.u[term.joint].start + term.element] += term.coefficients[0]
                rows.append(row)
        self.rows = np.array(rows).reshape(len(rows), nu)  # coefficients of the couplings, (couplings, nu)
        self.coupled: NDArray[np.bool_] = np.asarray(self.rows.any(axis=0))  # (nu,) whether a coordinate is in one
        # (nu,) whether a rotation moves one body alone, whose centre of mass is on the axis, on which no force acts and
        # which has no points of interest.
        self.is_rotor = np.zeros(nu, dtype=bool)
        for name in model.numbering.tree:
            self.is_rotor[model.numbering.u[name]] = _is_rotor(model.mechanism, model.mechanism.joints[name], size)

    def ratios(self, weights: FloatArray) -> FloatArray:
        """Return (nu,): by how much more rotors turn than what they are coupled with moves, weighed; at least 1.

        Weighed alike, the rotor of a gear would hold the arm that it moves fast, in least steps and by the tolerance of
        ranks.
        """
        ratios = np.ones(len(weights))
        which = self.is_rotor & self.coupled
        if which.any():
            rows = self.rows / weights
            solved = np.linalg.pinv(rows[:, which], rcond=INDEPENDENT) @ rows[:, ~which]
            ratios[which] = np.maximum(1.0, np.linalg.norm(solved, axis=1))
        return ratios

    def reach(self, limits: FloatArray) -> FloatArray:
        """Return how far coordinates (nu,) go while one that they are coupled with goes as far as its limit."""
        reach = limits.copy()
        for _ in range(len(self.rows)):
            before = reach.copy()
            for row in np.abs(self.rows):
                which = np.flatnonzero(row)
                reach[which] = np.maximum(reach[which], np.max(row[which] * reach[which], initial=0.0) / row[which])
            if (reach == before).all():
                break
        return reach

    def follow(self, step: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return a displacement (nu,) in which random ones of the coupled coordinates lead, and the others follow."""
        step, rows = step.copy(), self.rows.copy()
        followers: list[int] = []
        for k in rng.permutation(np.flatnonzero(self.coupled)):
            free = np.arange(len(followers), len(rows))
            if not len(free):
                break
            pivot = free[np.argmax(np.abs(rows[free, k]))]
            if abs(rows[pivot, k]) <= 1e-12 * np.abs(rows[pivot]).max():
                continue
            rows[[len(followers), pivot]] = rows[[pivot, len(followers)]]
            lead = rows[len(followers)] / rows[len(followers), k]
            rows -= np.outer(rows[:, k], lead)
            rows[len(followers)] = lead
            followers.append(int(k))
        step[followers] = 0.0
        step[followers] = -(rows[: len(followers)] @ step)
        return step


def _is_rotor(mech: Mechanism, joint: Joint, size: float) -> bool:
    body, frame = (joint.child, joint.child_frame) if joint.child != GROUND else (joint.parent, joint.parent_frame)
    others = [one for one in mech.joints.values() if one is not joint and body in (one.parent, one.child)]
    if joint.kind.type_name != "revolute" or others:
        return False
    parts = [*mech.forces, *mech.distances.values(), *mech.points.values()]
    parts += [one.action for one in mech.transitions.values()]
    ends = ("body", "bodies", "parent", "child")
    if any(body in np.atleast_1d(getattr(part, end, None) or "") for part in parts for end in ends):
        return False
    axis = frame.rotation @ joint.kind.canonical_axes[:, 2]
    offset = np.asarray(mech.bodies[body].com) - frame.position
    return bool(np.linalg.norm(np.cross(offset, axis)) <= ON_AXIS * size)
