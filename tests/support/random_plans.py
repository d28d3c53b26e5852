"""Random mechanisms of every sort, drawn by hypothesis: supports of bodies, joints and loads.

A `Plan` gives the topology, in whole numbers and names that shrink well; a seed gives it its geometry. Bodies are put
in the world first and joints between them after, so that loops are closed whatever they are made of. Poses that are
nearly singular are no use against a reference; the plan then gets another geometry, and is rejected after a few.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

import linkwork as lw

from . import rings
from .builder import Builder, Scene
from .driven import TIME, Driven, driven, movable
from .driving import by_joint, random_loads, random_wrenches
from .enlarged import Size
from .joint_families import ALL_KINDS, FREEDOMS
from .loads import applied_wrenches
from .oracle import Oracle, Solution
from .placement import vector
from .poses import Array, Pose, random_rotation, random_unit, turn, unit
from .random_mechanisms import add_ring

MOST_BODIES, MOST_LOOPS = 12, 4
# of links that stay in parallel planes: a hinge across them, a slide in them, and joints that allow more than needed
FLAT = ("revolute", "revolute", "prismatic", "pin_in_slot", "cylindrical", "universal", "planar", "spherical", "fixed")
ONE_CENTRE = ("revolute", "spherical", "universal")
ON_ONE_AXIS = ("revolute", "prismatic", "cylindrical", "planar", "screw", "spherical", "free")


@dataclass(frozen=True)
class Piece:
    """Bodies and joints on the body of number `on`: a branch, a ring back to it, or a leg to the body `to`."""

    form: str
    kinds: tuple[str, ...]
    on: int = 0
    to: int = 0
    stretch: float = 1.0  # of a ring, relative to the others

    @property
    def bodies(self) -> int:
        return len(self.kinds) - (self.form != "branch")

    @property
    def loops(self) -> int:
        return int(self.form != "branch")


@dataclass(frozen=True)
class Plan:
    """Numbers of bodies, joints and coordinates count in the order of making, modulo their number."""

    pieces: tuple[Piece, ...]
    gears: tuple[tuple[tuple[int, ...], int], ...] = ()  # coordinates and degree of each
    drives: tuple[int, ...] = ()  # joints
    springs: tuple[int, ...] = ()  # joints
    cords: tuple[tuple[int, int], ...] = ()  # two bodies of each
    wrenches: tuple[int, ...] = ()  # bodies
    size: float = 1.0
    hard_points: bool = False
    seed: int = 0


# -- plans

_NUMBER = st.integers(0, 40)


def _kinds(kinds: Sequence[str], least: int, most: int) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(kinds), min_size=least, max_size=most).map(tuple)


def _mobile(kinds: tuple[str, ...], more: tuple[str, ...], freedoms: int) -> tuple[str, ...]:
    """As many of `more` are added as a loop in space needs to move."""
    missing = itertools.accumulate((FREEDOMS[kind] for kind in more), initial=sum(FREEDOMS[k] for k in kinds))
    return kinds + more[: sum(has < freedoms for has in itertools.islice(missing, len(more)))]


_MORE = _kinds(ALL_KINDS[:-1], 6, 6)
_FORMS: dict[str, st.SearchStrategy[tuple[str, ...]]] = {
    "branch": _kinds(ALL_KINDS, 1, 3),
    "mixed": st.builds(_mobile, _kinds(ALL_KINDS, 2, 5), _MORE, st.sampled_from([7, 7, 8, 9, 5])),
    "flat": _kinds(FLAT, 3, 6),
    "leg": st.builds(_mobile, _kinds(ALL_KINDS, 1, 3), _MORE, st.sampled_from([6, 7, 5, 8])),
    "flat_leg": _kinds(FLAT, 1, 4),
    "centred": _kinds(ONE_CENTRE, 3, 5),
    "one_axis": _kinds(ON_ONE_AXIS, 2, 2),
    "bennett": st.just(4 * ("revolute",)),
    "sarrus": st.just(6 * ("revolute",)),
}
_FOLDED = {"folded": st.just(4 * ("revolute",))}
_STRETCH = st.sampled_from([1.0, 0.2, 3.0])


@st.composite
def _pieces(draw: st.DrawFn, folded: bool) -> tuple[Piece, ...]:
    forms = _FORMS | (_FOLDED if folded else {})
    names = st.sampled_from([*forms, "flat", "mixed", "leg", "flat_leg"])
    pieces: list[Piece] = []
    for form in draw(st.lists(names, min_size=1, max_size=5)):
        piece = Piece(form, draw(forms[form]), draw(_NUMBER), draw(_NUMBER), draw(_STRETCH))
        bodies, loops = (sum(getattr(p, what) for p in (*pieces, piece)) for what in ("bodies", "loops"))
        needs_two = form.endswith("leg") and not pieces
        if bodies <= MOST_BODIES and loops <= MOST_LOOPS and not needs_two:
            pieces.append(piece)
    return tuple(pieces) or (Piece("branch", ("revolute",)),)


def _few(each: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.just(()) | st.lists(each, max_size=most).map(tuple)


_GEARS = st.tuples(st.lists(_NUMBER, min_size=1, max_size=3).map(tuple), st.integers(1, 4))
_SIZE = st.just(1.0) | st.sampled_from([0.01, 0.1, 10.0, 100.0]) | st.floats(0.01, 100.0)


def plans(*, gears: int = 2, drives: int = 2, folded: bool = False) -> st.SearchStrategy[Plan]:
    """Of up to so many couplings and driven joints; `folded` parallelograms among their loops are in singular poses."""
    return st.builds(
        Plan,
        pieces=_pieces(folded),
        gears=_few(_GEARS, gears),
        drives=_few(_NUMBER, drives),
        springs=_few(_NUMBER, 3),
        cords=_few(st.tuples(_NUMBER, _NUMBER), 2),
        wrenches=_few(_NUMBER, 2),
        size=_SIZE,
        hard_points=st.sampled_from([False, False, False, True]),
        seed=st.integers(0, 2**32 - 1),
    )


# -- their geometry


class _Site:
    """Where the pieces of a plan are put up."""

    def __init__(self, plan: Plan, rng: np.random.Generator) -> None:
        self.rng = rng
        self.builder = Builder(rng, "random_plan", hard_points=plan.hard_points)
        self.normals: dict[str, list[Array]] = {"ground": []}  # of the planes in which a body is a link

    def body(self, number: int) -> str:
        names = list(self.builder.poses)
        return names[number % len(names)]

    def put(self, piece: Piece) -> None:
        if piece.form == "branch":
            self._branch(piece)
        elif piece.form.endswith("leg"):
            self._leg(piece)
        else:
            self._ring(piece)

    def _branch(self, piece: Piece) -> None:
        carrier = self.body(piece.on)
        point = self.builder.poses[carrier].position
        for kind in piece.kinds:
            point = point + self.rng.uniform(0.1, 0.5) * random_unit(self.rng)
            child = self.builder.body(point + self.rng.uniform(-0.2, 0.2, 3))
            self.builder.joint(kind, carrier, child, point, random_unit(self.rng))
            carrier = child

    def _ring(self, piece: Piece) -> None:
        base = self.body(piece.on)
        ring = _RINGS[piece.form](self.rng, *piece.kinds)
        pose = Pose(random_rotation(self.rng), self.builder.poses[base].position)
        there = [
            (kind, pose.position + pose.rotation @ point * piece.stretch, np.asarray(axis) @ pose.rotation.T)
            for kind, point, axis in ring
        ]
        bodies, _ = add_ring(self.builder, base, there)
        if piece.form == "flat":
            for body in (base, *bodies):
                self.normals.setdefault(body, []).append(pose.rotation @ rings.Z)

    def _leg(self, piece: Piece) -> None:
        first, last = self.body(piece.on), self.body(piece.to)
        if first == last:
            first, last = self.body(0), self.body(len(self.builder.poses) - 1)
        ends = [self.builder.poses[body].position for body in (first, last)]
        shared = [n for n in self.normals.get(first, []) for m in self.normals.get(last, []) if n is m]
        normal = shared[0] if shared and piece.form == "flat_leg" else None
        count, carrier = len(piece.kinds), first
        points = [ends[0] + (ends[1] - ends[0]) * (k + 0.5) / count for k in range(count)]
        points = [point + self.rng.uniform(-0.5, 0.5, 3) for point in points]
        for k, kind in enumerate(piece.kinds):
            child = last if k == count - 1 else self.builder.body((points[k] + points[k + 1]) / 2)
            axis = random_unit(self.rng) if normal is None else _in_plane(self.rng, kind, normal)
            self.builder.joint(kind, carrier, child, points[k], axis)
            if normal is not None:
                self.normals.setdefault(child, []).append(normal)
            carrier = child


def _in_plane(rng: np.random.Generator, kind: str, normal: Array) -> Array:
    """Axes with which a joint lets its bodies move in planes across `normal`."""
    aside = turn(normal, rng.uniform(-3, 3)) @ unit(np.cross(normal, rings.X + 0.1 * rings.Y))
    signed = rng.choice([-1.0, 1.0]) * normal
    both = np.array([signed, aside])
    return {"prismatic": aside, "universal": both, "pin_in_slot": both}.get(kind, signed)


def _flat(rng: np.random.Generator, *kinds: str) -> rings.Ring:
    corners = rings.planar(rng, len(kinds))
    return [(kind, point, _in_plane(rng, kind, rings.Z)) for kind, (_, point, _) in zip(kinds, corners, strict=True)]


def _folded(rng: np.random.Generator, *_: str) -> rings.Ring:
    """A parallelogram with all its bars in line, where its motion branches."""
    one, other = rng.uniform(0.3, 1.0, 2)
    return [("revolute", x * rings.X, rings.Z) for x in (0.0, one, one + other, other)]


_RINGS: dict[str, Callable[..., rings.Ring]] = {
    "mixed": rings.mixed,
    "flat": _flat,
    "centred": rings.centred,
    "one_axis": rings.held_twice,
    "folded": _folded,
    "bennett": lambda rng, *_: rings.bennett(rng),
    "sarrus": lambda rng, *_: rings.sarrus(rng),
}


def put_up(plan: Plan, rng: np.random.Generator) -> Scene:
    """Without the drives, at the plan's own size."""
    site = _Site(plan, rng)
    for piece in plan.pieces:
        site.put(piece)
    builder = site.builder
    moving = [joint.name for joint in builder.planned if FREEDOMS[joint.kind]]
    geared = [c for joint in builder.planned for c in _coordinates(joint.name, joint.kind)]
    for numbers, degree in plan.gears if geared else ():
        builder.gear(*dict.fromkeys(geared[k % len(geared)] for k in numbers), degree=degree)
    for name in dict.fromkeys(moving[k % len(moving)] for k in plan.springs if moving):
        builder.spring(name)
    for first, second in plan.cords:
        if site.body(first) != site.body(second):
            builder.point_spring(site.body(first), site.body(second))
    names = list(builder.coms)
    scene = builder.build()
    for k, number in enumerate(plan.wrenches):
        scene.mechanism.add_force(lw.Wrench(names[number % len(names)], rng.uniform(-0.5, 0.5, 3), name=f"w{k + 1}"))
    return scene


def _coordinates(joint: str, kind: str) -> list[str]:
    """Those that can be coupled."""
    count = 0 if kind in ("spherical", "free") else FREEDOMS[kind]
    return [joint] if count == 1 else [f"{joint}[{k + 1}]" for k in range(count)]


# -- what the tests use


@dataclass(repr=False)
class Case:
    """A mechanism at its size, its state and loads; the oracle and its solution are at the size of the scene."""

    plan: Plan
    scene: Scene
    driven: Driven
    loads: dict[str, Any]
    to_size: Size = field(init=False)
    from_size: Size = field(init=False)
    mechanism: lw.Mechanism = field(init=False)

    def __post_init__(self) -> None:
        self.to_size, self.from_size = (Size(self.scene, s) for s in (self.plan.size, 1.0 / self.plan.size))
        self.mechanism = self.to_size.mechanism(self.driven.mechanism)
        self.q, self.u = self.to_size.coordinates(self.scene.q), self.to_size.speeds(self.scene.u)
        self.tau = self.to_size.loads(self.loads)

    def __repr__(self) -> str:
        """All that is needed to draw it again, by `worked_out`."""
        return f"worked_out({self.plan!r})"

    @property
    def oracle(self) -> Oracle:
        return self.driven.oracle

    @cached_property
    def solution(self) -> Solution:
        applied = applied_wrenches(self.scene.mechanism, self.loads)
        return self.oracle.solve(self.scene.u, self.joint_loads, wrenches=applied, given=self.driven.given)

    @property
    def joint_loads(self) -> dict[str, Any]:
        return {name: load for name, load in self.loads.items() if "." not in name}

    @cached_property
    def wrenches(self) -> dict[str, Array]:
        """Of each joint on its child, with all that acts along its speeds."""
        loads = self.oracle.geared(self.oracle.loads(self.scene.u, self.joint_loads), self.solution)
        driving = {name: vector(loads[name]) + vector(load) for name, load in self.solution.drive.items()}
        return self.oracle.with_loads(self.solution.reaction, loads | driving)

    def reached(self, mechanism: lw.Mechanism | None = None, *method: str) -> tuple[lw.Model, lw.State]:
        """In the closed pose; by another `mechanism` with other requests for cut joints."""
        system = lw.compile(mechanism or self.mechanism, *method)
        return system, system.assemble(q=self.q, u=self.u, time=TIME)

    def accelerations(self, system: lw.Model, state: lw.State) -> dict[str, Any]:
        """Of all joints, at the size of the scene, as all that follows."""
        return self.from_size.speeds(by_joint(system, system.accelerations(state, tau=self.tau)))

    def reactions(self, system: lw.Model, state: lw.State) -> dict[str, Array]:
        return self.from_size.wrenches(dict(system.by_joint(system.reactions(state, tau=self.tau))))


@st.composite
def cases(draw: st.DrawFn, *, least: float = 0.02, **options: Any) -> Case:
    """Mechanisms of `plans` in poses whose constraints are conditioned no worse than `least`."""
    case = worked_out(draw(plans(**options)), least)
    if case is None:
        reject()
    return case


def worked_out(plan: Plan, least: float = 0.02, attempts: int = 6) -> Case | None:
    """The first geometry of a plan that is far from singular."""
    rng = np.random.default_rng(plan.seed)
    for _ in range(attempts):
        try:
            scene = put_up(plan, rng)
            able = movable(scene)
            names = list(dict.fromkeys(able[k % len(able)] for k in plan.drives if able))
            made = driven(scene, rng, names)
            case = Case(plan, scene, made, random_loads(rng, scene) | random_wrenches(rng, scene))
            if _is_regular(case, least):
                return case
        except AssertionError as refused:
            if "singular" not in str(refused):
                raise
    return None


def _is_regular(case: Case, least: float) -> bool:
    """Whether couplings and drives are possible and independent, and couplings let their joints move."""
    joints = Oracle(case.scene.mechanism, case.scene.poses, case.scene.q)
    rows = sum(len(vector(value)) for value in case.driven.given.values()) + len(case.scene.gears)
    if min(joints.conditioning, case.oracle.conditioning) < least or case.oracle.rank != joints.rank + rows:
        return False
    return all(
        any(abs(vector(case.scene.u[joint])[element]) > 1e-9 for joint, element in gear.coordinates.values())
        for gear in case.scene.gears.values()
    )


def ways_to_cut(mechanism: lw.Mechanism, rng: np.random.Generator, most: int) -> list[tuple[str, ...]]:
    """The joints outside random spanning trees, each set once."""
    found: dict[tuple[str, ...], None] = {}
    names = list(mechanism.joints)
    for _ in range(4 * most):
        order = [names[k] for k in rng.permutation(len(names))]
        found[_outside_tree(mechanism, order)] = None
    return list(found)[:most]


def _outside_tree(mechanism: lw.Mechanism, order: Sequence[str]) -> tuple[str, ...]:
    group = {name: name for name in ("ground", *mechanism.bodies)}
    outside = []
    for name in order:
        joint = mechanism.joints[name]
        ends = group[joint.parent], group[joint.child]
        if ends[0] == ends[1]:
            outside.append(name)
        group = {body: ends[0] if of == ends[1] else of for body, of in group.items()}
    return tuple(sorted(outside))
