"""Redundant constraints: what a closure constrains although all others constrain it already.

Each cut joint constrains the twist of its child relative to its parent along wrenches w (6,) in world axes about its
child's joint frame; couplings, motions, locks and distances are one row each. Closures are taken in order: combinations
of the rows of one that depend on the rows before are redundant, and loads along them are what the equations of motion
leave open. So

    degrees of freedom = speeds of the tree - equations + redundant ones
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import quoted
from linkwork._util.one_thread import on_one_thread
from linkwork.analysis.configuration_space import SMALLEST, ConfigurationSpace
from linkwork.analysis.pose_functions import ClosingFrames
from linkwork.core.native import RANK_TOLERANCE
from linkwork.mechanism import Mechanism
from linkwork.model.compile import model_of
from linkwork.results.base import ResultBase

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State


@checks_keywords
@on_one_thread
def redundant_constraints(mechanism: Mechanism | ModelBase, state: State | None = None) -> RedundantConstraints:
    """Return the constraints that are redundant in a pose, with the closures and joints to which they belong.

    Parameters
    ----------
    mechanism
        Or a model.
    state
        The pose; by default the assembled start.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("parallelogram")
    >>> hinge = lw.Revolute((0, 1, 0))
    >>> for name, origin in (("left", (0, 0, 0)), ("right", (1, 0, 0))):
    ...     mech.add_body(name, 1.0, (0, 0, 0.25), lw.inertia.rod(1.0, 0.5, axis="z"), origin=origin)
    ...     mech.add_joint(f"{name}_low", hinge, "ground", name, at=origin)
    >>> mech.add_body("top", 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0), origin=(0, 0, 0.5))
    >>> mech.add_joint("left_high", hinge, "left", "top", at=(0, 0, 0.5))
    >>> mech.add_joint("right_high", hinge, "right", "top", at=(1, 0, 0.5), cut=True)
    >>> lw.redundant_constraints(mech)
    RedundantConstraints: 1 degree of freedom = 3 speeds - 5 equations + 3 redundant
      joint 'right_high': torque about (1, 0, 0), in left_low, left_high, right_low, right_high
      joint 'right_high': torque about (0, 0, 1), in left_low, left_high, right_low, right_high
      joint 'right_high': force along (0, 1, 0), in left_low, left_high, right_low, right_high
    """
    model = model_of(mechanism)
    return find_redundant_constraints(model, state)


@dataclass(frozen=True, eq=False)
class RedundantConstraint:
    """A direction that a closure constrains although others do."""

    # closure, kind: its name; "joint" of a cut joint, "coupling", "motion", "lock" or "distance"
    closure: str
    kind: str
    # (6,) [torque; force] of a joint on its child, world axes, about the child's joint frame; zero of other kinds.
    wrench: FloatArray
    others: tuple[str, ...]  # names of the closures before it on which it depends
    # Names of the joints of the loops that all these close; of couplings those that they couple.
    joints: tuple[str, ...]

    def __str__(self) -> str:
        what = f"{self.kind} {self.closure!r}"
        if np.any(self.wrench):
            parts = (("torque about", self.wrench[:3]), ("force along", self.wrench[3:]))
            what += ": " + " with ".join(f"{word} {_vector(v)}" for word, v in parts if np.any(v))
        depends = f", given by {quoted(self.others)}" if self.others else ""
        return f"{what}{depends}, in {', '.join(self.joints)}" if self.joints else f"{what}{depends}"


@checks_keywords
@dataclass(frozen=True, eq=False)
class RedundantConstraints(ResultBase):
    """Why a mechanism has its degrees of freedom: speeds, equations, and those of them that are redundant.

    Attributes
    ----------
    speeds, equations
        Numbers of the speeds of the tree joints and of the equations that close its loops and couple its joints.
    redundant
        Each a `RedundantConstraint`.
    """

    speeds: int
    equations: int
    redundant: tuple[RedundantConstraint, ...]

    @property
    def dof(self) -> int:
        """Degrees of freedom in this pose."""
        return self.speeds - self.equations + len(self.redundant)

    def __len__(self) -> int:
        return len(self.redundant)

    def __iter__(self) -> Iterator[RedundantConstraint]:
        return iter(self.redundant)

    def __getitem__(self, k: int) -> RedundantConstraint:
        return self.redundant[k]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts and the redundant constraints as plain data."""
        counts = {"dof": self.dof, "speeds": self.speeds, "equations": self.equations}
        return counts | {"redundant": [{**asdict(one), "wrench": one.wrench.tolist()} for one in self.redundant]}

    def __repr__(self) -> str:
        sum_of = f"{self.speeds} speeds - {self.equations} equations + {len(self)} redundant"
        return "\n".join(
            [
                f"RedundantConstraints: {self.dof} degree{'s' * (self.dof != 1)} of freedom = {sum_of}",
                *(f"  {one}" for one in self.redundant),
            ]
        )


def find_redundant_constraints(model: ModelBase, state: State | None = None) -> RedundantConstraints:
    """Return the constraints that are redundant in a pose, by default the assembled start."""
    space = ConfigurationSpace(model, state)
    before = np.zeros((0, space.nu))  # independent rows so far
    owners: list[str] = []  # the closure of each
    found: list[RedundantConstraint] = []
    closures = list(_closures(space))
    joints = {one.name: one.joints for one in closures}
    scale = max((float(np.abs(one.rows).max(initial=0.0)) for one in closures), default=0.0)
    scale = max(scale, SMALLEST)
    for one in closures:
        basis = np.linalg.qr(before.T)[0]
        left, values, _ = np.linalg.svd(one.rows - (one.rows @ basis) @ basis.T)
        rank = int(np.sum(values > RANK_TOLERANCE * scale))
        for combination in _reduced(left[:, rank:].T, one.wrenches):
            parts = np.linalg.lstsq(before.T, combination @ one.rows, rcond=None)[0]
            used = {owner for owner, part in zip(owners, parts, strict=True) if abs(part) > 1e-6}
            others = tuple(other.name for other in closures if other.name in used)
            around = dict.fromkeys(name for closure in (*others, one.name) for name in joints[closure])
            wrench = combination @ one.wrenches
            wrench[np.abs(wrench) < 1e-9 * np.abs(wrench).max(initial=0.0)] = 0.0
            found.append(RedundantConstraint(one.name, one.kind, wrench, others, tuple(around)))
        before = np.vstack([before, left[:, :rank].T @ one.rows])
        owners += [one.name] * rank
    return RedundantConstraints(space.nu, sum(len(one.rows) for one in closures), tuple(found))


@dataclass(frozen=True, eq=False)
class _Closure:
    name: str
    kind: str
    rows: FloatArray  # (k, nu) by weighted speeds, m
    wrenches: FloatArray  # (k, 6) [torque; force] along which its rows constrain, zero of those that are no joints
    joints: tuple[str, ...]


def _closures(space: ConfigurationSpace) -> Iterator[_Closure]:
    """Return the closures that hold in the state of the space, in the order of the rows of the constraints."""
    model, mech, rows = space.model, space.model.mechanism, space.jacobian() / space.weights
    joints, first = list(mech.joints.values()), 0
    closed = space.block["joint_closed"]  # of those that may open
    for loop in model.topology.loops:
        joint = joints[loop.joint]
        first += 6 - joint.kind.nu
        if loop.joint in model.removable_joints and not closed[loop.joint]:
            continue
        frames = ClosingFrames(space, joint)
        wrenches = frames.constrained() * np.repeat([space.length, 1.0], 3)
        around = [joints[model.topology.links[link].joint].name for link in model.topology.around(loop)]
        relative = wrenches @ frames.relative_twist() / space.weights
        yield _Closure(joint.name, "joint", relative, wrenches, (*around, joint.name))
    n = model.block().model.sizes
    couplings = list(mech.couplings.values())
    for k in range(n.couplings - n.distances):
        row, nothing = rows[[first + k]], np.zeros((1, 6))
        terms = model.topology.couplings[k].terms
        names = tuple(dict.fromkeys(joints[term[0]].name for term in terms))
        if k < len(couplings):
            kind = "coupling" if couplings[k].motion is None else "motion"
            yield _Closure(couplings[k].name, kind, row, nothing, names)
        elif np.any(row):
            yield _Closure(names[0], "lock", row, nothing, names)
    for k, name in enumerate(mech.distances, start=n.couplings - n.distances):
        yield _Closure(name, "distance", rows[[first + k]], np.zeros((1, 6)), ())


def _reduced(combinations: FloatArray, wrenches: FloatArray) -> FloatArray:
    """Return the same span of combinations (k, rows), each with as few directions of wrenches as possible."""
    if not np.any(wrenches):
        return combinations
    coordinates = np.linalg.pinv(wrenches)
    rows = combinations @ wrenches
    done = 0
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        pivot = done + int(np.argmax(np.abs(rows[done:, column])))
        if abs(rows[pivot, column]) < 1e-7:
            continue
        rows[[done, pivot]] = rows[[pivot, done]]
        rows[done] /= rows[done, column]
        others = np.arange(len(rows)) != done
        rows[others] -= np.outer(rows[others, column], rows[done])
        done += 1
    reduced: FloatArray = rows @ coordinates
    return reduced


def _vector(v: FloatArray) -> str:
    unit = v / np.linalg.norm(v)
    return f"({', '.join(f'{x + 0.0:.4g}' for x in np.where(np.abs(unit) < 1e-9, 0.0, unit))})"
