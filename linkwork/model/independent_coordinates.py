"""Which coordinates and speeds determine all others of a mechanism, so that they alone may be its states."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted, suggest
from linkwork._util.part_names import suffixes
from linkwork.core.native import RANK_TOLERANCE
from linkwork.errors import MechanismError, MechanismNameError, SingularityError
from linkwork.mechanism import Lock, Pin, Release, Stop, Unlock
from linkwork.model.idle_spins import idle_speeds
from linkwork.model.mobility import degrees_of_freedom, free_speeds

if TYPE_CHECKING:
    from linkwork.core.native import Block
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

GOOD = 0.02  # a choice with a smaller one is taken only if it was asked for
LESS_WANTED = 0.1  # by so much the size of a coordinate counts less than that of a local one, to stay independent
NO_LENGTH = 1e-9  # m; a lever arm that is rounding

_REMEDY = 'use states="full"'


@dataclass(frozen=True)
class IndependentCoordinates:
    """Independent states."""

    # q, u: their positions among the coordinates and among the speeds of the tree joints, ascending
    q: tuple[int, ...]
    u: tuple[int, ...]
    # Those of the speeds `u` along which local coordinates are counted, from the pose of the choice: of joints with a
    # quaternion, whose coordinates are then not among `q`.
    local: tuple[int, ...] = ()
    idle: tuple[str, ...] = ()  # idle spins that are left out, in words: ``("rod about its line",)``

    def names(self, system: ModelBase) -> list[str]:
        """Return their names, coordinates first: ``["A.q", "A.u"]``, local ones as ``"S.dq[1]"``."""
        local = [local_name(system, i) for i in self.local]
        return [system.q_names[i] for i in self.q] + local + [system.u_names[i] for i in self.u]


def local_name(system: ModelBase, speed: int) -> str:
    """Return the name of the local coordinate along a speed: "S.dq[1]" of "S.u[1]"."""
    return system.u_names[speed].replace(".u", ".dq", 1)


@dataclass(frozen=True)
class _Group:
    """Coordinates that are independent only together: one with its speed, or all of a joint with a quaternion."""

    name: str
    q: tuple[int, ...]
    u: tuple[int, ...]
    rank: float  # of the start value that was given: the lowest first; infinite: none was


def choose_independent_coordinates(
    # Of any number of loops, couplings and distances; transitions may not change its degrees of freedom.
    system: ModelBase,
    state: State | None = None,  # A regular pose, around which the choice is to be good; by default the assembled start
    # Names of coordinates instead, as many as degrees of freedom: ``["A"]`` of a joint, ``["P[2]"]`` or ``["P.q[2]"]``
    # of one of several.
    requested: Sequence[str] | None = None,
    *,
    # Whether joints with a quaternion have local coordinates, one along each speed, so that some of them may be
    # independent and others not: ``["S"]`` for three of them, ``["S[1]"]`` or ``["S.dq[1]"]`` for one.
    local: bool = False,
) -> IndependentCoordinates:
    """Choose coordinates that determine all others, with their speeds.

    Coordinates whose start values were given come first, in the order given, as long as the others depend on them
    smoothly; then those on which they depend most smoothly.

    Raises
    ------
    MechanismError
        On a name or number that is wrong, and on transitions that lock, unlock, pin, release or stop.
    SingularityError
        If the pose is singular, or the requested coordinates do not determine the others.
    """
    _check_transitions(system)
    state = system.assemble() if state is None else state
    groups = _groups(system, local)
    matrix = _scaled_jacobian(system, state)
    rank = _rank(matrix)
    dof = system.numbering.nu - rank
    _check_pose(system, state, dof)
    if requested is None:
        return _joined(_choose(groups, matrix, rank))
    chosen = _requested(system, groups, requested)
    if local and sum(len(group.u) for group in chosen) < dof:
        chosen = _with_idle_spins(system, state, groups, chosen, dof)
    _check_requested(system, chosen, matrix, dof)
    return _joined(chosen)


def _with_idle_spins(
    system: ModelBase, state: State, groups: list[_Group], chosen: list[_Group], dof: int
) -> list[_Group]:
    """With a coordinate for each idle spin, if these are all that is missing."""
    idle = idle_speeds(system, state, admissible_speeds(system, state))[0]
    if sum(len(group.u) for group in chosen) + idle.shape[1] != dof:
        return chosen
    single = [group for group in groups if group not in chosen and len(group.u) == 1]
    spins = _pivots(idle[[group.u[0] for group in single]].T, (), range(len(single)), idle.shape[1])
    return [*chosen, *(single[k] for k in spins)]


def choose_independent_speeds(
    system: ModelBase, state: State, requested: Sequence[str] | None = None
) -> tuple[int, ...]:
    """Choose speeds of the tree joints that determine all others at a state, ascending.

    As `choose_independent_coordinates`, but at this state alone: with the joints that are locked or open there, and in
    a singular pose as many as the constraints leave. Speeds of quaternions are chosen one by one, as "S.u[2]".
    """
    groups = _single_speeds(system)
    matrix = _scaled_jacobian(system, state)
    rank = _rank(matrix)
    if requested is None:
        return _joined(_choose(groups, matrix, rank)).u
    chosen = _requested(system, groups, requested, "u")
    _check_requested(system, chosen, matrix, system.numbering.nu - rank)
    return _joined(chosen).u


def _check_transitions(system: ModelBase) -> None:
    for name, transition in system.mechanism.transitions.items():
        if isinstance(transition.action, Lock | Unlock | Pin | Release | Stop):
            raise MechanismError(
                f"transition {name!r} changes the degrees of freedom, and so which states are independent; {_REMEDY}"
            )


def _check_pose(system: ModelBase, state: State, dof: int) -> None:
    """A singular pose has more degrees of freedom than those around it."""
    regular = min(degrees_of_freedom(system, state), _regular_dof(system))
    if dof > regular:
        raise SingularityError(
            f"the pose is singular: {dof} speeds are independent in it, {regular} in those around; choose "
            f"independent coordinates in another pose, or {_REMEDY}"
        )


def _regular_dof(system: ModelBase) -> int:
    return free_speeds(system) + sum(cluster.dof for cluster in system.expected)


def _groups(system: ModelBase, local: bool) -> list[_Group]:
    numbering = system.numbering
    held = system.block()["q_priority"]
    groups = []
    for joint in numbering.tree:
        q, u = (tuple(range(s.start, s.stop)) for s in (numbering.q[joint], numbering.u[joint]))
        pairs = [(q, u)] if len(q) != len(u) else [((i,), (k,)) for i, k in zip(q, u, strict=True)]
        if local and len(q) != len(u):
            groups += [_Group(joint + end, (), (k,), np.inf) for end, k in zip(suffixes(len(u)), u, strict=True)]
            continue
        ends = [""] if len(pairs) == 1 else suffixes(len(pairs))
        for end, (own_q, own_u) in zip(ends, pairs, strict=True):
            ranks = [float(held[i]) for i in own_q if held[i] > 0]
            groups.append(_Group(joint + end, own_q, own_u, min(ranks, default=np.inf)))
    return [group for group in groups if group.u]


def _single_speeds(system: ModelBase) -> list[_Group]:
    """Each speed by itself, ranked by the start value of its coordinate if that was given."""
    numbering, held = system.numbering, system.block()["q_priority"]
    groups = []
    for joint in numbering.tree:
        q, u = numbering.q[joint], numbering.u[joint]
        count = u.stop - u.start
        ranks = held[q] if q.stop - q.start == count else np.zeros(count)
        for end, k, rank in zip(suffixes(count), range(u.start, u.stop), ranks, strict=True):
            groups.append(_Group(joint + end, (), (k,), float(rank) if rank > 0 else np.inf))
    return groups


def _joined(groups: Sequence[_Group]) -> IndependentCoordinates:
    q = tuple(sorted(i for group in groups for i in group.q))
    u = tuple(sorted(i for group in groups for i in group.u))
    return IndependentCoordinates(q, u, tuple(sorted(i for group in groups if not group.q for i in group.u)))


# ---- rank ----


def _scaled_jacobian(system: ModelBase, state: State) -> FloatArray:
    block = system.block()
    system.enter(block, state)
    return _scaled_jacobian_at(system, block)


def _scaled_jacobian_at(system: ModelBase, block: Block) -> FloatArray:
    """The constraints' derivative (rows, nu), displacements and rows counted in the size of their cluster."""
    matrix = block.constraint_jacobian()
    joints = system.joint_names
    for cluster in system.topology.clusters:
        names = [joints[system.topology.links[link].joint] for link in cluster.links]
        kinds = [(system.numbering.u[name], system.mechanism.joints[name].kind.motion_units) for name in names]
        units = {k: unit for span, own in kinds for k, unit in zip(range(span.start, span.stop), own, strict=True)}
        columns = np.array(list(units), dtype=int)
        angles = np.array([unit == "rad" for unit in units.values()], dtype=bool)
        length = np.abs(matrix[:, columns[angles]]).max(initial=0.0)
        matrix[:, columns[angles]] /= length if length > NO_LENGTH else 1.0
    return matrix


def admissible_speeds(system: ModelBase, state: State) -> FloatArray:
    """Return a basis of the speeds that the constraints allow at a state, (nu, dof)."""
    matrix = _scaled_jacobian(system, state)
    if 0 in matrix.shape:
        return np.eye(matrix.shape[1])
    _, values, rows = np.linalg.svd(matrix)
    rank = int(np.sum(values > RANK_TOLERANCE * values[0])) if values[0] > RANK_TOLERANCE else 0
    basis: FloatArray = rows[rank:].T
    return basis


def _singular_values(matrix: FloatArray, columns: Sequence[int]) -> FloatArray:
    return np.asarray(np.linalg.svd(matrix[:, list(columns)], compute_uv=False), dtype=np.float64)


def _rank(matrix: FloatArray) -> int:
    if 0 in matrix.shape:
        return 0
    values = _singular_values(matrix, range(matrix.shape[1]))
    return int(np.sum(values > RANK_TOLERANCE * values[0])) if values[0] > RANK_TOLERANCE else 0


def _conditioning(matrix: FloatArray, dependent: Sequence[int], rank: int) -> float:
    """The smallest singular value of columns relative to the largest of all, if they have the full rank."""
    if rank == 0:
        return 1.0
    if min(len(dependent), matrix.shape[0]) < rank:
        return 0.0
    largest = float(_singular_values(matrix, range(matrix.shape[1]))[0])
    return float(_singular_values(matrix, dependent)[rank - 1]) / largest if largest > 0.0 else 0.0


# ---- the choice ----


def _choose(groups: list[_Group], matrix: FloatArray, rank: int) -> list[_Group]:
    """Those given first, then what pivoting leaves, a quaternion as a whole."""
    everything = set(range(matrix.shape[1]))
    dof = len(everything) - rank
    chosen: list[_Group] = []

    def rest(more: Sequence[_Group] = ()) -> list[int]:
        return sorted(everything - {k for group in (*chosen, *more) for k in group.u})

    for group in sorted(groups, key=lambda group: group.rank):
        left = dof - sum(len(one.u) for one in chosen)
        if group.rank < np.inf and len(group.u) <= left and _conditioning(matrix, rest([group]), rank) > GOOD:
            chosen.append(group)
    first: list[int] = []  # columns that are to be dependent
    for group in (one for one in groups if len(one.u) > 1 and one not in chosen):
        left = dof - sum(len(one.u) for one in chosen)
        inside = _conditioning(matrix, [*first, *group.u], len(first) + len(group.u))
        outside = _conditioning(matrix, rest([group]), rank) if len(group.u) <= left else 0.0
        if max(inside, outside) < RANK_TOLERANCE:
            raise MechanismError(
                f"the coordinates of joint {group.name!r} turn by a quaternion, and some of its speeds are independent "
                f"while others are not: {_REMEDY}, or take fewer axes in its place, as a Universal at one end of a rod"
            )
        if outside > inside:
            chosen.append(group)
        else:
            first += group.u
    local = {k for group in groups if not group.q and group.rank == np.inf for k in group.u}
    dependent = set(_pivots(matrix, first, rest(), rank, local))
    return [group for group in groups if group in chosen or not dependent.intersection(group.u)]


def _pivots(
    matrix: FloatArray, first: Sequence[int], columns: Sequence[int], rank: int, rather: Collection[int] = ()
) -> list[int]:
    """`rank` columns that are most independent of each other, those `first` before all others, and `rather` some."""
    left = matrix.copy()
    found: list[int] = []
    for _ in range(rank):
        candidates = [k for k in (first or columns) if k not in found] or [k for k in columns if k not in found]
        weights = np.where([k in rather for k in candidates], 1.0, LESS_WANTED)
        sizes = np.linalg.norm(left[:, candidates], axis=0) * weights
        best = candidates[int(np.argmax(sizes))]
        found.append(best)
        pivot = left[:, best] / np.linalg.norm(left[:, best])
        for _ in range(2):
            left -= np.outer(pivot, pivot @ left)
    return found


# ---- what the user wants ----


def _requested(system: ModelBase, groups: list[_Group], requested: Sequence[str], letter: str = "q") -> list[_Group]:
    """The groups that names stand for, with or without `letter` for the kind of number."""
    if isinstance(requested, str):
        requested = [requested]
    known: dict[str, list[_Group]] = {}
    for group in groups:
        joint, bracket, element = group.name.partition("[")
        letters = (letter,) if group.q or letter == "u" else (letter, "dq")
        own = {f"{joint}.{one}{end}" for one in letters for end in ("", f"{bracket}{element}")}
        for name in {group.name, joint, *own}:
            known.setdefault(name, []).append(group)
    chosen: list[_Group] = []
    for name in requested:
        joint = re.split(r"[.\[]", str(name))[0]
        if joint in system.numbering.cut:
            raise MechanismError(
                f"independents: joint {joint!r} closes a loop, and its coordinates are no states; name others, or cut "
                "another joint of the loop with cut=True"
            )
        if name not in known:
            what = "coordinate" if letter == "q" else "speed"
            raise MechanismNameError(f"independents: there is no {what} {name!r}: {suggest(name, known)}")
        chosen += [group for group in known[name] if group not in chosen]
    return chosen


class NotAsManyError(MechanismError):
    """Speeds that are to be independent are not as many as degrees of freedom."""


def check_independent_joints(system: ModelBase, block: Block, joints: Sequence[str], argument: str) -> None:
    """Refuse joints whose coordinates and speeds do not determine all others at the states of a block.

    Parameters
    ----------
    system
        Of the block.
    block
        Its loops are closed.
    joints
        Names of tree joints.
    argument
        The one that has them, for errors.

    Raises
    ------
    NotAsManyError
        If they have more or fewer speeds than there are degrees of freedom.
    SingularityError
        If the pose is singular, or the joints do not determine the others in it.
    """
    matrix, spans = _scaled_jacobian_at(system, block), system.numbering.u
    dof, regular = system.numbering.nu - _rank(matrix), _regular_dof(system)
    chosen = [_Group(name, (), tuple(range(spans[name].start, spans[name].stop)), np.inf) for name in joints]
    if dof > regular and sum(len(group.u) for group in chosen) == regular:
        raise SingularityError(
            f"the pose is singular: {dof} speeds are independent in it, {regular} in those around; there are no "
            "derivatives of closed loops in it"
        )
    _check_requested(system, chosen, matrix, dof, argument, "choose others")


def _check_requested(
    system: ModelBase,
    chosen: list[_Group],
    matrix: FloatArray,
    dof: int,
    argument: str = "independents",
    remedy: str = f"choose others, or {_REMEDY}",
) -> None:
    count = sum(len(group.u) for group in chosen)
    if count != dof:
        degrees = "1 degree of freedom" if dof == 1 else f"{dof} degrees of freedom"
        if not chosen:
            raise NotAsManyError(f"{argument}: the mechanism has {degrees}; name as many speeds")
        raise NotAsManyError(
            f"{argument}: the mechanism has {degrees}, but "
            f"{quoted([g.name for g in chosen])} {'has' if len(chosen) == 1 else 'have'} {count} "
            f"speed{'s' * (count != 1)}; name as many"
        )
    columns = set(range(matrix.shape[1])) - {k for group in chosen for k in group.u}
    if _conditioning(matrix, sorted(columns), matrix.shape[1] - dof) < RANK_TOLERANCE:
        raise SingularityError(
            f"{argument}: {quoted([g.name for g in chosen])} do not determine the others in this pose; {remedy}"
        )
