"""Which coordinates and speeds determine all others of a mechanism, so that they alone may be its states."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork._util.disjoint_sets import DisjointSets
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
ROUNDING = 1e-15  # of the size of a column: what it has along another one is none
SAME_SIZE = 1.0 - 1e-9  # by which columns differ in rounding alone
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
    rows = _scaled_rows(system, state)
    dof = system.numbering.nu - rows.rank
    _check_pose(system, state, dof)
    if requested is None:
        return _joined(_choose(groups, rows))
    chosen = _requested(system, groups, requested)
    if local and sum(len(group.u) for group in chosen) < dof:
        chosen = _with_idle_spins(system, state, groups, chosen, dof)
    _check_requested(chosen, rows)
    return _joined(chosen)


def _with_idle_spins(
    system: ModelBase, state: State, groups: list[_Group], chosen: list[_Group], dof: int
) -> list[_Group]:
    """With a coordinate for each idle spin, if these are all that is missing."""
    idle = idle_speeds(system, state, partial(admissible_speeds, system, state))[0]
    if sum(len(group.u) for group in chosen) + idle.shape[1] != dof:
        return chosen
    single = [group for group in groups if group not in chosen and len(group.u) == 1]
    spins = _Rows(idle[[group.u[0] for group in single]].T).pivots((), range(len(single)), idle.shape[1])
    return [*chosen, *(single[k] for k in spins)]


def choose_independent_speeds(
    system: ModelBase, state: State, requested: Sequence[str] | None = None
) -> tuple[int, ...]:
    """Choose speeds of the tree joints that determine all others at a state, ascending.

    As `choose_independent_coordinates`, but at this state alone: with the joints that are locked or open there, and in
    a singular pose as many as the constraints leave. Speeds of quaternions are chosen one by one, as "S.u[2]".
    """
    groups = _single_speeds(system)
    rows = _scaled_rows(system, state)
    if requested is None:
        return _joined(_choose(groups, rows)).u
    chosen = _requested(system, groups, requested, "u")
    _check_requested(chosen, rows)
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


class _Rows:
    """Derivatives of constraints by speeds, in blocks that have no row and no column in common.

    Parameters
    ----------
    matrix
        (rows, n).
    """

    def __init__(self, matrix: FloatArray) -> None:
        self.n = matrix.shape[1]
        self._blocks = _blocks(matrix)
        self._block_of = np.full(self.n, -1)  # of each column; -1: it has no entry
        for number, (columns, _) in enumerate(self._blocks):
            self._block_of[columns] = number
        # of the columns asked for last: singular values of each block
        self._chosen = np.zeros(self.n, dtype=bool)
        self._values: list[FloatArray] = [np.zeros(0) for _ in self._blocks]

    @cached_property
    def _all_values(self) -> FloatArray:
        return self._singular_values(np.ones(self.n, dtype=bool))

    @property
    def _largest(self) -> float:
        return float(self._all_values[0]) if self._all_values.size else 0.0

    @cached_property
    def rank(self) -> int:
        """Of all columns; 0 where nothing is larger than rounding."""
        return int(np.sum(self._all_values > RANK_TOLERANCE * self._largest)) if self._largest > RANK_TOLERANCE else 0

    def _singular_values(self, chosen: NDArray[np.bool_]) -> FloatArray:
        """Those of some columns, the largest first; only blocks of which others were asked for last are computed."""
        for block in set(self._block_of[chosen != self._chosen].tolist()) - {-1}:
            columns, part = self._blocks[block]
            own = np.linalg.svd(part[chosen[columns]], compute_uv=False) if chosen[columns].any() else np.zeros(0)
            self._values[block] = np.asarray(own, dtype=np.float64)
        self._chosen = chosen
        return -np.sort(-np.concatenate([np.zeros(0), *self._values]))

    def conditioning(self, columns: Sequence[int], rank: int | None = None) -> float:
        """Return the smallest singular value of columns relative to the largest of all; 0 if they lack a rank.

        The rank is by default that of all columns.
        """
        rank = self.rank if rank is None else rank
        if rank == 0:
            return 1.0
        chosen = np.zeros(self.n, dtype=bool)
        chosen[list(columns)] = True
        values = self._singular_values(chosen)
        return float(values[rank - 1]) / self._largest if values.size >= rank and self._largest > 0.0 else 0.0

    def admissible(self) -> FloatArray:
        """Return a basis of the speeds along which no row changes, (n, n - rank)."""
        least = RANK_TOLERANCE * self._largest if self._largest > RANK_TOLERANCE else np.inf
        found = []
        for columns, part in self._blocks:
            _, values, rows = np.linalg.svd(part.T)
            own = rows[int(np.sum(values > least)) :]
            wide = np.zeros((len(own), self.n))
            wide[:, columns] = own
            found.append(wide)
        free = np.ones(self.n, dtype=bool)
        for columns, _ in self._blocks:
            free[columns] = False
        basis: FloatArray = np.vstack([*found, np.eye(self.n)[free]]).T
        return np.ascontiguousarray(basis)

    def pivots(
        self, first: Sequence[int], columns: Sequence[int], rank: int, rather: Collection[int] = ()
    ) -> list[int]:
        """Return `rank` columns most independent of each other, those `first` before all others, and `rather` some."""
        left = [part.copy() for _, part in self._blocks]
        place = {k: (b, i) for b, (own, _) in enumerate(self._blocks) for i, k in enumerate(own.tolist())}
        sizes = np.zeros(self.n)
        for (own, _), rest in zip(self._blocks, left, strict=True):
            sizes[own] = np.linalg.norm(rest, axis=1)
        least = ROUNDING * sizes
        weights = np.array([1.0 if k in rather else LESS_WANTED for k in range(self.n)])
        unused = np.full(self.n, -np.inf)  # 0: not chosen yet; -inf: no candidate
        unused[list(first or columns)] = 0.0
        found: list[int] = []
        for _ in range(rank):
            if not np.isfinite(unused).any():
                unused[[k for k in columns if k not in found]] = 0.0
            weighted = sizes * weights + unused
            best = int(np.argmax(weighted >= SAME_SIZE * weighted.max()))  # the first of equal ones
            found.append(best)
            unused[best] = -np.inf
            if best in place:
                block, row = place[best]
                own = self._blocks[block][0]
                moved, rest = _subtract_along(left[block], row, least[own])
                sizes[own[moved]] = rest
        return found


def _subtract_along(left: FloatArray, row: int, least: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Make rows orthogonal to one of them, twice for rounding, but those that have at most `least` along it.

    Return which ones, and their sizes then.
    """
    pivot = left[row] / np.linalg.norm(left[row])
    moved = np.flatnonzero(np.abs(left @ pivot) > least)
    rest = left[moved]
    for _ in range(2):
        rest -= (rest @ pivot)[:, None] * pivot
    left[moved] = rest
    return moved, np.linalg.norm(rest, axis=1)


def _blocks(matrix: FloatArray) -> list[tuple[NDArray[np.intp], FloatArray]]:
    """Columns that have rows in common, ascending, and the transpose of these rows."""
    rows, columns = np.nonzero(matrix)
    sets = DisjointSets(range(matrix.shape[1]))
    firsts = columns[np.searchsorted(rows, rows)]  # of each entry the first one in its row
    for one, other in np.unique(np.stack([firsts, columns]), axis=1).T.tolist():
        sets.unite(one, other)
    of_column = np.array([sets.find(k) for k in range(matrix.shape[1])], dtype=int)
    has_entry = np.zeros(matrix.shape[1], dtype=bool)
    has_entry[columns] = True
    first_of_row = np.full(matrix.shape[0], -1)
    first_of_row[rows] = of_column[firsts]
    found = []
    for root in np.unique(of_column[has_entry]):
        own = np.flatnonzero(of_column == root)
        found.append((own, np.ascontiguousarray(matrix[np.ix_(first_of_row == root, own)].T)))
    return found


def _scaled_rows(system: ModelBase, state: State) -> _Rows:
    block = system.block()
    system.enter(block, state)
    return _scaled_rows_at(system, block)


def _scaled_rows_at(system: ModelBase, block: Block) -> _Rows:
    """The constraints' derivative (rows, nu), displacements and rows counted in the size of their cluster."""
    matrix = block.constraint_jacobian()
    joints, largest, lengths = system.joint_names, np.abs(matrix).max(axis=0, initial=0.0), np.ones(matrix.shape[1])
    for cluster in system.topology.clusters:
        names = [joints[system.topology.links[link].joint] for link in cluster.links]
        kinds = [(system.numbering.u[name], system.mechanism.joints[name].kind.motion_units) for name in names]
        angles = [span.start + k for span, units in kinds for k, unit in enumerate(units) if unit == "rad"]
        length = largest[angles].max(initial=0.0)
        lengths[angles] = length if length > NO_LENGTH else 1.0
    return _Rows(matrix / lengths)


def admissible_speeds(system: ModelBase, state: State) -> FloatArray:
    """Return a basis of the speeds that the constraints allow at a state, (nu, dof)."""
    return _scaled_rows(system, state).admissible()


# ---- the choice ----


def _choose(groups: list[_Group], rows: _Rows) -> list[_Group]:
    """Those given first, then what pivoting leaves, a quaternion as a whole."""
    everything = set(range(rows.n))
    dof = rows.n - rows.rank
    chosen: list[_Group] = []

    def rest(more: Sequence[_Group] = ()) -> list[int]:
        return sorted(everything - {k for group in (*chosen, *more) for k in group.u})

    for group in sorted(groups, key=lambda group: group.rank):
        left = dof - sum(len(one.u) for one in chosen)
        if group.rank < np.inf and len(group.u) <= left and rows.conditioning(rest([group])) > GOOD:
            chosen.append(group)
    first: list[int] = []  # columns that are to be dependent
    for group in (one for one in groups if len(one.u) > 1 and one not in chosen):
        left = dof - sum(len(one.u) for one in chosen)
        inside = rows.conditioning([*first, *group.u], len(first) + len(group.u))
        outside = rows.conditioning(rest([group])) if len(group.u) <= left else 0.0
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
    dependent = set(rows.pivots(first, rest(), rows.rank, local))
    kept = set(chosen)
    return [group for group in groups if group in kept or not dependent.intersection(group.u)]


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
    rows, spans = _scaled_rows_at(system, block), system.numbering.u
    dof, regular = rows.n - rows.rank, _regular_dof(system)
    chosen = [_Group(name, (), tuple(range(spans[name].start, spans[name].stop)), np.inf) for name in joints]
    if dof > regular and sum(len(group.u) for group in chosen) == regular:
        raise SingularityError(
            f"the pose is singular: {dof} speeds are independent in it, {regular} in those around; there are no "
            "derivatives of closed loops in it"
        )
    _check_requested(chosen, rows, argument, "choose others")


def _check_requested(
    chosen: list[_Group],
    rows: _Rows,
    argument: str = "independents",
    remedy: str = f"choose others, or {_REMEDY}",
) -> None:
    count, dof = sum(len(group.u) for group in chosen), rows.n - rows.rank
    if count != dof:
        degrees = "1 degree of freedom" if dof == 1 else f"{dof} degrees of freedom"
        if not chosen:
            raise NotAsManyError(f"{argument}: the mechanism has {degrees}; name as many speeds")
        raise NotAsManyError(
            f"{argument}: the mechanism has {degrees}, but "
            f"{quoted([g.name for g in chosen])} {'has' if len(chosen) == 1 else 'have'} {count} "
            f"speed{'s' * (count != 1)}; name as many"
        )
    columns = set(range(rows.n)) - {k for group in chosen for k in group.u}
    if rows.conditioning(sorted(columns)) < RANK_TOLERANCE:
        raise SingularityError(
            f"{argument}: {quoted([g.name for g in chosen])} do not determine the others in this pose; {remedy}"
        )
