"""Random changes of random mechanisms: speeds that are held, pins, and impulses on bodies, all at once.

A pin is drawn in the pose: its two frames coincide there. Changes that leave a nearly singular pose, in which no
reference is accurate, or that contradict each other, are drawn again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

import linkwork as lw

from .builder import KINDS, NUMBER_OF_AXES, Scene, random_values
from .impulse_oracle import Held, ImpulseOracle, Jump, Pin
from .joint_families import ALL_KINDS, JOINT_FAMILIES
from .placement import vector
from .poses import Array, Pose, random_rotation, random_unit, unit
from .random_mechanisms import FAMILIES, random_tree, well_posed
from .random_plans import Case, cases

GROUND = "ground"


@dataclass(frozen=True)
class Plan:
    """The changes, in numbers modulo the counts; constrained speeds come back `restitution` times."""

    held: tuple[int, ...] = ()
    pins: tuple[tuple[int, int, str], ...] = ()  # two bodies and a kind
    restitution: float = 0.0
    applied: bool = False
    afloat: bool = False  # joints on the ground are left alone, and no pin comes to it
    seed: int = 0


@dataclass(repr=False)
class Change:
    """One change of a scene, before which its bodies move by `before`, (n, 6) [angular; linear of the com]."""

    scene: Scene
    plan: Plan
    held: list[Held]
    pins: list[Pin]
    before: Array
    applied: Array  # (n, 6) [about the com; of force]
    mechanism: lw.Mechanism | None = None  # the scene's with its drives, at the scene's size
    rates: dict[str, float] = field(default_factory=dict)  # of the drives

    def __post_init__(self) -> None:
        given = self.mechanism or self.scene.mechanism
        options = {"held": self.held, "pins": self.pins, "rates": self.rates}
        self.oracle = ImpulseOracle(given, self.scene.poses, self.scene.q, **options)
        self.expected: Jump = self.oracle.jump(self.before, self.applied)

    def __repr__(self) -> str:
        return f"{self.plan!r} of {self.scene.mechanism!r}"

    @property
    def loses_energy(self) -> bool:
        """Whether nothing in it can add energy."""
        return not self.plan.applied and not self.rates

    @property
    def floats(self) -> bool:
        """Whether nothing bars its motion against the ground."""
        joints = [*self.scene.mechanism.joints.values(), *self.pins]
        grounded = [joint for joint in joints if GROUND in (joint.parent, joint.child)]
        held = {h.joint for h in self.held}
        apart = all(GROUND not in distance.bodies for distance in self.scene.mechanism.distances.values())
        return apart and all(j.kind.type_name == "free" and j.name not in held for j in grounded)


def realised(
    plan: Plan, scene: Scene, mechanism: lw.Mechanism | None = None, rates: dict[str, float] | None = None
) -> Change | None:
    """A change as planned; None where no geometry of its pins is far from singular."""
    rng = np.random.default_rng(plan.seed)
    v = scene.oracle.velocities(scene.u)
    names = [*([] if plan.afloat else [GROUND]), *scene.mechanism.bodies]
    planned = plan.pins if names[1:] else ()
    for _ in range(4):
        pins = [_pin(rng, scene, f"pin{k + 1}", names, *given) for k, given in enumerate(planned)]
        applied = rng.normal(size=v.shape) * plan.applied
        try:
            change = Change(scene, plan, held(plan, scene), pins, v, applied, mechanism, rates or {})
        except AssertionError as refused:
            if not any(word in str(refused) for word in ("singular", "contradict")):
                raise
            continue
        if change.oracle.conditioning > 1e-3:
            return change
    return None


def held(plan: Plan, scene: Scene) -> list[Held]:
    joints = scene.mechanism.joints
    able = [name for name in scene.u if not (plan.afloat and GROUND in (joints[name].parent, joints[name].child))]
    speeds = [(name, k, float(value)) for name in able for k, value in enumerate(vector(scene.u[name]))]
    numbers = dict.fromkeys(number % len(speeds) for number in plan.held) if speeds else ()
    return [Held(name, k, -plan.restitution * value) for name, k, value in (speeds[number] for number in numbers)]


def _pin(
    rng: np.random.Generator, scene: Scene, name: str, names: list[str], first: int, second: int, kind: str
) -> Pin:
    parent, child = names[first % len(names)], names[second % len(names)]
    if parent == child:
        parent, child = names[0], names[1 + second % (len(names) - 1)]
    ends = [scene.poses[parent].position, scene.poses[child].position]
    where = Pose(random_rotation(rng), rng.uniform(0.2, 0.8) * (ends[1] - ends[0]) + ends[0] + rng.normal(0, 0.2, 3))
    frames = [scene.poses[body].inverse().then(where) for body in (parent, child)]
    given = [lw.Frame(frame.position, frame.rotation) for frame in frames]
    return Pin(name, random_kind(rng, kind), parent, child, *given)


def random_kind(rng: np.random.Generator, kind: str) -> Any:
    """A kind of joint with random axes."""
    axis = random_unit(rng)
    axes = [axis, unit(np.cross(axis, random_unit(rng)))][: NUMBER_OF_AXES.get(kind, 1)]
    return getattr(lw, KINDS[kind])(*axes, *random_values(rng, kind))


# -- by seeds

LOOPS = ("planar_5R", "spatial_6R_2P", "closed_chain_12R", "outboard_trees", "loop_on_loop", "side_by_side")
LOOPS += ("three_planar_legs", "three_spatial_legs", "coupled", "fixed_in_loop", "moving_slider_crank")


def random_scene(seed: int) -> Scene:
    """Chains and trees of all kinds of joints, some of them afloat, and loops of all families in turn."""
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        return random_tree(rng, int(rng.integers(1, 8)), ALL_KINDS, chain=bool(rng.random() < 0.5))
    if seed % 3 == 1:
        return afloat(rng, int(rng.integers(2, 8)))
    families = {name: FAMILIES[name] for name in LOOPS} | JOINT_FAMILIES
    return well_posed(list(families.values())[seed // 3 % len(families)][0], seed)


def afloat(rng: np.random.Generator, bodies: int) -> Scene:
    """A tree whose only joint on the ground is free."""
    while True:
        scene = random_tree(rng, bodies, ALL_KINDS)
        grounded = [j for j in scene.mechanism.joints.values() if GROUND in (j.parent, j.child)]
        if all(joint.kind.type_name == "free" for joint in grounded):
            return scene


def random_change(seed: int, scene: Scene | None = None, **given: Any) -> Change:
    """Of `random_scene(seed)` unless a scene is given; `given` replaces the drawn values of the `Plan`."""
    scene = scene or random_scene(seed)
    rng = np.random.default_rng([seed, 1])
    while True:
        drawn = {
            "held": tuple(map(int, rng.integers(0, 40, rng.integers(0, 4)))),
            "pins": tuple(_drawn_pin(rng) for _ in range(rng.integers(0, 3))),
            "restitution": float(rng.choice([0.0, 0.0, 0.4, 1.0])),
            "applied": bool(rng.random() < 0.3),
            "afloat": seed % 3 == 1 and bool(rng.random() < 0.8),
            "seed": int(rng.integers(2**32)),
        }
        change = realised(Plan(**drawn | given), scene)
        if change is not None:
            return change


def _drawn_pin(rng: np.random.Generator) -> tuple[int, int, str]:
    return int(rng.integers(0, 40)), int(rng.integers(0, 40)), str(rng.choice(ALL_KINDS))


# -- by hypothesis

_NUMBER = st.integers(0, 40)


def plans(kinds: Sequence[str] = ALL_KINDS) -> st.SearchStrategy[Plan]:
    return st.builds(
        Plan,
        held=st.lists(_NUMBER, max_size=3).map(tuple),
        pins=st.lists(st.tuples(_NUMBER, _NUMBER, st.sampled_from(kinds)), max_size=2).map(tuple),
        restitution=st.sampled_from([0.0, 0.0, 0.5, 1.0]),
        applied=st.booleans(),
        afloat=st.booleans(),
        seed=st.integers(0, 2**32 - 1),
    )


@st.composite
def changed_cases(draw: st.DrawFn, **options: Any) -> tuple[Case, Change]:
    """Cases of `random_plans.cases`, and a change of each at the size of its scene."""
    case = draw(cases(**options))
    rates = {
        drive: float(u)
        for joint, drives in case.driven.drives.items()
        for drive, u in zip(drives, vector(case.scene.u[joint]), strict=True)
    }
    try:
        change = realised(draw(plans()), case.scene, case.driven.mechanism, rates)
    except AssertionError as refused:
        if "nearly singular" not in str(refused):
            raise
        change = None
    if change is None:
        reject()
    return case, change
