"""Random mechanisms: chains, trees and single loops of every sort the package is to handle.

`FAMILIES` names the loop families; each makes a `Scene` from a random generator. Poses that are nearly singular are
drawn again, since there no reference is accurate.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

import numpy as np

import linkwork as lw

from . import rings
from .builder import Builder, Scene
from .poses import random_unit
from .rings import Ring

Maker = Callable[[np.random.Generator], Scene]


def random_tree(
    rng: np.random.Generator,
    bodies: int,
    kinds: tuple[str, ...] = ("revolute", "revolute", "prismatic", "fixed"),
    *,
    chain: bool = False,
    springs: int = 0,
    reverse: float = 0.4,
) -> Scene:
    """A tree of random joints on the ground; with `chain`, one without branches."""
    builder = Builder(rng, "tree", reverse=reverse)
    grow(builder, "ground", bodies, kinds, chain)
    moving = [joint.name for joint in builder.planned if joint.kind != "fixed"]
    for name in rng.choice(moving, min(springs, len(moving)), replace=False):
        builder.spring(str(name))
    return builder.build()


def grow(
    builder: Builder, base: str, bodies: int, kinds: Sequence[str], chain: bool = False, in_order: bool = False
) -> None:
    """Bodies on `base`, each joined to any body before or, with `chain`, to the last; kinds are drawn or `in_order`."""
    rng = builder.rng
    tips = [(base, builder.poses[base].position)]
    for k in range(bodies):
        parent, start = tips[-1] if chain else tips[rng.integers(len(tips))]
        point = start + rng.uniform(0.1, 0.5) * random_unit(rng)
        child = builder.body(point + rng.uniform(-0.2, 0.2, 3))
        kind = kinds[k] if in_order else str(rng.choice(kinds))
        builder.joint(kind, parent, child, point, random_unit(rng))
        tips.append((child, point))


def add_ring(builder: Builder, base: str, ring: Ring, backward: Collection[int] = ()) -> tuple[list[str], list[str]]:
    """Bodies and joints of one loop that begins and ends at `base`; returns both lists of names in loop order.

    Joints `backward` certainly have their parent later in the loop.
    """
    bodies: list[str] = []
    joints: list[str] = []
    points = [point for _, point, _ in ring]
    for k, (kind, point, axis) in enumerate(ring):
        last = k == len(ring) - 1
        child = base if last else builder.body((point + points[k + 1]) / 2)
        parent = bodies[-1] if bodies else base
        joints.append(builder.joint(kind, parent, child, point, axis, reverse=True if k in backward else None))
        if not last:
            bodies.append(child)
    return bodies, joints


def well_posed(make: Maker, seed: int, least: float = 0.02) -> Scene:
    """The first scene of a seed whose pose is far from singular; long mechanisms need a smaller `least`."""
    return copy.deepcopy(_well_posed(make, seed, least))  # drawing takes longer, and tests change what they get


@lru_cache(512)
def _well_posed(make: Maker, seed: int, least: float) -> Scene:
    rng = np.random.default_rng(seed)
    for _ in range(200):
        try:
            scene = make(rng)
        except AssertionError as refused:
            if "nearly singular" not in str(refused):
                raise
            continue
        if scene.oracle.conditioning > least:
            return scene
    raise RuntimeError("no pose of this family is far from singular")


def single(ring: Callable[[np.random.Generator], Ring], cut: int | None = None, springs: bool = False) -> Maker:
    """One loop on the ground; `cut` requests the joint that closes it."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "loop")
        _, joints = add_ring(builder, "ground", rings.placed(ring(rng), rng))
        if springs:
            builder.spring(joints[0])
            builder.spring(joints[cut or -1])
        return builder.build(cut=() if cut is None else (joints[cut],))

    return make


def hard_points(ring: Callable[[np.random.Generator], Ring]) -> Maker:
    """Joints given by their points in the world, at the reference pose; all coordinates are zero there."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "hard_points", hard_points=True)
        bodies, _ = add_ring(builder, "ground", rings.placed(ring(rng), rng))
        grow(builder, bodies[0], 2, ("revolute", "prismatic", "fixed"))
        return builder.build()

    return make


def moving_base(ring: Callable[[np.random.Generator], Ring]) -> Maker:
    """A chain from the ground carries the body on which the loop stands."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "moving_base")
        grow(builder, "ground", 3, ("revolute", "prismatic"), chain=True)
        base = f"b{len(builder.coms)}"
        shift = builder.poses[base].position
        moved = [(kind, point + shift, axis) for kind, point, axis in rings.placed(ring(rng), rng)]
        _, joints = add_ring(builder, base, moved)
        return builder.build(cut=(joints[int(rng.integers(len(joints)))],))

    return make


def outboard_trees(rng: np.random.Generator) -> Scene:
    """Trees on several bodies of a loop, one of them long enough to matter."""
    builder = Builder(rng, "outboard")
    bodies, _ = add_ring(builder, "ground", rings.placed(rings.planar(rng, 5), rng))
    for body in bodies:
        grow(builder, body, int(rng.integers(0, 4)), ("revolute", "prismatic", "fixed"))
    grow(builder, "ground", 2, ("revolute",))
    return builder.build()


def loop_on_loop(rng: np.random.Generator) -> Scene:
    """A spatial loop on the coupler of a four-bar, with a tree at its far end and a second four-bar on that."""
    builder = Builder(rng, "loop_on_loop")
    first, _ = add_ring(builder, "ground", rings.placed(rings.planar(rng, 4), rng))
    second, _ = add_ring(builder, first[1], rings.placed(rings.spatial(rng, 7), rng))
    grow(builder, second[3], 2, ("revolute",), chain=True)
    tip = f"b{len(builder.coms)}"
    add_ring(builder, tip, rings.placed(rings.planar(rng, 4), rng))
    return builder.build()


def tower_of_four_bars(storeys: int) -> Maker:
    """Each four-bar is mounted on the coupler of the one before."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "tower")
        base = "ground"
        for _ in range(storeys):
            shift = builder.poses[base].position
            ring = [(kind, point + shift, axis) for kind, point, axis in rings.placed(rings.planar(rng), rng)]
            base = add_ring(builder, base, ring)[0][1]
        return builder.build()

    return make


def loops_side_by_side(rng: np.random.Generator) -> Scene:
    """Three loops that share the ground, two of them on one moving body: no joint in common."""
    builder = Builder(rng, "side_by_side")
    bodies, _ = add_ring(builder, "ground", rings.placed(rings.slider_crank(rng), rng))
    add_ring(builder, bodies[0], rings.placed(rings.spherical(rng), rng))
    add_ring(builder, bodies[0], rings.placed(rings.planar(rng), rng))
    return builder.build()


def legs(count: int, planar: bool) -> Maker:
    """A platform on legs of three revolutes in a plane, or of six in space: every two legs close a loop."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "legs")
        normal = random_unit(rng)
        flat = np.eye(3) - np.outer(normal, normal) if planar else np.eye(3)
        platform = builder.body(np.zeros(3))
        for _ in range(count):
            points = [flat @ rng.uniform(-1.0, 1.0, 3) for _ in range(3 if planar else 6)]
            carrier = "ground"
            for k, point in enumerate(points):
                child = platform if k == len(points) - 1 else builder.body((point + points[k + 1]) / 2)
                builder.joint("revolute", carrier, child, point, normal if planar else random_unit(rng))
                carrier = child
        return builder.build()

    return make


def coupled_on_coupled(rng: np.random.Generator) -> Scene:
    """A four-bar whose coupler drives a dyad back to the crank, all on a moving base, with a tree on the dyad."""
    builder = Builder(rng, "coupled")
    grow(builder, "ground", 2, ("revolute", "prismatic"), chain=True)
    base = f"b{len(builder.coms)}"
    shift, normal = builder.poses[base].position, random_unit(rng)
    flat = np.eye(3) - np.outer(normal, normal)
    ring = [("revolute", flat @ rng.uniform(-1.0, 1.0, 3) + shift, normal) for _ in range(5)]
    bodies, _ = add_ring(builder, base, ring)
    points = [flat @ rng.uniform(-1.0, 1.0, 3) + shift for _ in range(3)]
    first, second = builder.body(points[0]), builder.body(points[1])
    builder.joint("revolute", bodies[1], first, points[0], normal)
    builder.joint("revolute", first, second, points[1], normal)
    builder.joint("revolute", second, bodies[0], points[2], normal)
    grow(builder, first, 2, ("revolute", "fixed"))
    return builder.build()


def sprung(make: Maker, springs: int = 3, wrenches: int = 2) -> Maker:
    """The same with springs between points of random bodies, the ground among them, and wrenches on others."""

    def made(rng: np.random.Generator) -> Scene:
        scene = make(rng)
        bodies = list(scene.mechanism.bodies)
        for k in range(springs):
            first, second = rng.choice(["ground", *bodies], 2, replace=False)
            points, given = rng.uniform(-0.6, 0.6, (2, 3)), rng.uniform(0.2, 2.0, 3)
            values = dict(zip(("stiffness", "damping", "free"), given, strict=True))
            spring = lw.SpringDamper(bodies=(str(first), str(second)), points=points, **values, name=f"p{k + 1}")
            scene.mechanism.add_force(spring)
        for k in range(wrenches):
            scene.mechanism.add_force(lw.Wrench(str(rng.choice(bodies)), rng.uniform(-0.5, 0.5, 3), name=f"w{k + 1}"))
        return scene

    return made


def loop_with_fixed_joint(rng: np.random.Generator) -> Scene:
    """One link of a five-bar is two bodies that a Fixed joint holds together."""
    builder = Builder(rng, "fixed_in_loop")
    ring = rings.planar(rng, 5)
    ring.insert(2, ("fixed", (ring[1][1] + ring[2][1]) / 2, random_unit(rng)))
    add_ring(builder, "ground", rings.placed(ring, rng))
    return builder.build()


def loop_closed_by_fixed_joint(rng: np.random.Generator) -> Scene:
    """The requested cut is the Fixed joint itself: closing it bars all six motions."""
    builder = Builder(rng, "closed_by_fixed")
    ring = rings.spatial(rng, 7)
    ring.insert(3, ("fixed", (ring[2][1] + ring[3][1]) / 2, random_unit(rng)))
    _, joints = add_ring(builder, "ground", rings.placed(ring, rng))
    return builder.build(cut=(joints[3],))


# name: (maker, degrees of freedom; None where the random draw decides)
FAMILIES: dict[str, tuple[Maker, int | None]] = {
    "planar_4R": (single(rings.planar), 1),
    "planar_4R_springs": (single(rings.planar, cut=2, springs=True), 1),
    "planar_5R": (single(lambda rng: rings.planar(rng, 5)), 2),
    "planar_4R_cut_inside": (single(rings.planar, cut=1), 1),
    "slider_crank": (single(rings.slider_crank), 1),
    "slider_crank_cut_slider": (single(rings.slider_crank, cut=3, springs=True), 1),
    "double_slider": (single(rings.planar_with_two_sliders), 1),
    "spatial_7R": (single(rings.spatial), 1),
    "spatial_7R_springs": (single(rings.spatial, cut=4, springs=True), 1),
    "spatial_6R_1P": (single(lambda rng: rings.spatial(rng, 7, 1)), 1),
    "spatial_6R_2P": (single(lambda rng: rings.spatial(rng, 8, 2)), 2),
    "spherical_4R": (single(rings.spherical), 1),
    "spherical_5R_cut_inside": (single(lambda rng: rings.spherical(rng, 5), cut=2), 2),
    "bennett_4R": (single(rings.bennett), 1),
    "sarrus_6R": (single(rings.sarrus), 1),
    "door_2R": (single(rings.door), 1),
    "rails_2P": (single(rings.rails), 1),
    "closed_chain_8R": (single(lambda rng: rings.spatial(rng, 8), cut=3), 2),
    "closed_chain_12R": (single(lambda rng: rings.spatial(rng, 12)), 6),
    "planar_8R": (single(lambda rng: rings.planar(rng, 8)), 5),
    "moving_planar_4R": (moving_base(rings.planar), 4),
    "moving_spatial_7R": (moving_base(rings.spatial), 4),
    "moving_slider_crank": (moving_base(rings.slider_crank), 4),
    "hard_points_4R": (hard_points(rings.planar), None),
    "hard_points_6R_1P": (hard_points(lambda rng: rings.spatial(rng, 7, 1)), None),
    "outboard_trees": (outboard_trees, None),
    "loop_on_loop": (loop_on_loop, 5),
    "side_by_side": (loops_side_by_side, 3),
    "three_planar_legs": (legs(3, planar=True), 3),
    "four_planar_legs": (legs(4, planar=True), 3),
    "three_spatial_legs": (legs(3, planar=False), 6),
    "coupled": (coupled_on_coupled, None),
    "fixed_in_loop": (loop_with_fixed_joint, 2),
    "closed_by_fixed": (loop_closed_by_fixed_joint, 1),
    "sprung_planar_5R": (sprung(single(lambda rng: rings.planar(rng, 5))), 2),
    "sprung_moving_slider_crank": (sprung(moving_base(rings.slider_crank)), 4),
    "sprung_outboard_trees": (sprung(outboard_trees, springs=5), None),
    "sprung_coupled": (sprung(coupled_on_coupled), None),
}

# a few of each sort, by name
TREES_AND_LOOPS = ["tree1", "tree2", "tree3", "planar_4R_springs", "slider_crank_cut_slider", "side_by_side"]
TREES_AND_LOOPS += ["loop_on_loop", "moving_slider_crank", "outboard_trees", "closed_by_fixed", "spatial_7R"]
TREES_AND_LOOPS += ["three_planar_legs", "three_spatial_legs", "coupled"]
TREES_AND_LOOPS += ["sprung_outboard_trees", "sprung_moving_slider_crank"]


def tree_or_loop(name: str) -> Scene:
    """One scene by its name: `tree` with a seed, or a family."""
    if name.startswith("tree"):
        return random_tree(np.random.default_rng(int(name[4:])), 6, springs=2)
    return well_posed(FAMILIES[name][0], 0)
