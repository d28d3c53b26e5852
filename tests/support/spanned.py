"""Mechanisms of other families with distances between points of their bodies added."""

from __future__ import annotations

import copy

import numpy as np

from .builder import Builder, Scene
from .gear_families import GEAR_FAMILIES
from .geared import geared, gears_move
from .joint_families import JOINT_FAMILIES, spelled
from .oracle import Oracle
from .poses import Array, random_unit
from .random_mechanisms import FAMILIES, Maker, grow

SHORTEST = 0.2


def world_point(scene: Scene, body: str, point: Array) -> Array:
    """A point given in the frame of a body."""
    pose = scene.poses[body]
    return pose.position + pose.rotation @ point


def spanned(make: Maker, count: int = 1, *, ground: bool | None = None) -> Maker:
    """The scenes of a maker with distances, each of which removes a degree of freedom.

    `ground`: whether one end of each is on the ground, None: at random.
    """

    def span(rng: np.random.Generator) -> Scene:
        scene = make(rng)
        for _ in range(20):
            mechanism = copy.deepcopy(scene.mechanism)
            for k in range(count):
                _add(rng, scene, mechanism, f"d{k + 1}", ground)
            oracle = Oracle(mechanism, scene.poses, scene.q, gears=scene.gears)
            try:
                fits = oracle.motions.shape[1] == scene.oracle.motions.shape[1] - count and oracle.conditioning > 0.02
            except AssertionError:  # nearly singular
                continue
            u = oracle.random_speeds(rng)
            if fits and gears_move(scene.gears, u):
                return Scene(mechanism, scene.poses, scene.q, u, oracle, scene.gears)
        raise AssertionError("nearly singular with whatever distances")

    return span


def _add(rng: np.random.Generator, scene: Scene, mechanism: object, name: str, ground: bool | None) -> None:
    bodies = list(scene.mechanism.bodies)
    while True:
        with_ground = rng.random() < 0.3 if ground is None else ground
        pair = ["ground", str(rng.choice(bodies))] if with_ground else [str(b) for b in rng.choice(bodies, 2, False)]
        points = rng.uniform(-0.5, 0.5, (2, 3))
        if with_ground:
            points[0] += scene.poses[pair[1]].position + 0.5 * random_unit(rng)
        if rng.random() < 0.5:
            pair, points = pair[::-1], points[::-1]
        first, second = (world_point(scene, body, point) for body, point in zip(pair, points, strict=True))
        length = float(np.linalg.norm(second - first))
        if length > SHORTEST:
            mechanism.add_distance(name, bodies=tuple(pair), points=points, length=length)
            return


def chain(letters: str, springs: int = 0) -> Maker:
    """Bodies in a row."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "chain")
        grow(builder, "ground", len(letters), spelled(letters), chain=True, in_order=True)
        for k in range(springs):
            builder.spring(builder.planned[k].name)
        return builder.build()

    return make


def tree(letters: str) -> Maker:
    """Bodies on any of those before."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "tree")
        grow(builder, "ground", len(letters), spelled(letters), in_order=True)
        return builder.build()

    return make


_MADE = FAMILIES | JOINT_FAMILIES

SPANNED: dict[str, Maker] = {
    "chain to the ground": spanned(chain("RRR"), ground=True),
    "chain within": spanned(chain("RURPR"), ground=False),
    "springs in a chain": spanned(chain("RPUR", springs=3)),
    "two to the ground": spanned(chain("RRSR"), 2, ground=True),
    "three in a tree": spanned(tree("RRUPSCE"), 3),
    "tree with a weld": spanned(tree("RFRFPR"), 2),
    "free body on three": spanned(chain("O"), 3, ground=True),
    "free bodies on three": spanned(tree("OORO"), 3),
    "free base": spanned(chain("ORRR"), 2, ground=False),
    "planar and spherical": spanned(tree("ESSE"), 3),
    "across a five-bar": spanned(_MADE["planar_5R"][0]),
    "across an eight-bar": spanned(_MADE["planar_8R"][0], 2),
    "closed chain": spanned(_MADE["closed_chain_12R"][0], 3),
    "moving slider crank": spanned(_MADE["moving_slider_crank"][0], 2),
    "parallel loops": spanned(_MADE["side_by_side"][0], 2),
    "outboard trees": spanned(_MADE["outboard_trees"][0], 2),
    "sprung": spanned(_MADE["sprung_outboard_trees"][0], 2),
    "three planar legs": spanned(_MADE["three_planar_legs"][0], 2),
    "three spatial legs": spanned(_MADE["three_spatial_legs"][0], 3),
    "coupled loops": spanned(_MADE["coupled"][0]),
    "gear and rod": spanned(GEAR_FAMILIES["gear_across_joints"][0], 2),
    "cam and rod": spanned(GEAR_FAMILIES["cam"][0], 1),
    "geared branches and rods": spanned(GEAR_FAMILIES["gear_branches"][0], 2),
    "geared loops and a rod": spanned(GEAR_FAMILIES["gear_between_loops"][0]),
    "geared legs and rods": spanned(geared(_MADE["three_spatial_legs"][0], 3), 2),
}
