"""Random mechanisms with couplings: gears in trees, between branches, in loops and at the joints that close them."""

from __future__ import annotations

import numpy as np

from . import rings
from .builder import Builder, Scene
from .joint_families import ALL_KINDS, spelled
from .poses import random_unit
from .random_mechanisms import Maker, add_ring, grow


def geared_chain(letters: str, *geared: int | str, degree: int = 1) -> Maker:
    """Bodies in a row; the joints of the given numbers are coupled, "2[1]" for one coordinate of joint 2."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "geared_chain")
        grow(builder, "ground", len(letters), spelled(letters), chain=True, in_order=True)
        builder.gear(*(coordinate([j.name for j in builder.planned], k) for k in geared), degree=degree)
        return builder.build()

    return make


def coordinate(joints: list[str], which: int | str) -> str:
    number, *element = str(which).split("[")
    return "[".join([joints[int(number)], *element])


def geared_branches(rng: np.random.Generator) -> Scene:
    """A differential: three branches on one moving body, and a second pair of gears further out."""
    builder = Builder(rng, "differential")
    base = builder.body(random_unit(rng))
    builder.joint("free", "ground", base, random_unit(rng), random_unit(rng))
    tips, joints = [], []
    for kind in spelled("RRP"):
        point = builder.poses[base].position + random_unit(rng) / 2
        tips.append(builder.body(point))
        joints.append(builder.joint(kind, base, tips[-1], point, random_unit(rng)))
    grow(builder, tips[0], 2, ("revolute",), chain=True)
    builder.gear(*joints)
    builder.gear(*(planned.name for planned in builder.planned[-2:]))
    grow(builder, tips[1], 2, ALL_KINDS)
    return builder.build()


def geared_loop(letters: str, *geared: int | str, cut: int = -1, degree: int = 1) -> Maker:
    """One loop, two of whose joints are coupled; where `cut` is one of them the coupling holds a cut joint."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "geared_loop")
        _, joints = add_ring(builder, "ground", rings.placed(rings.mixed(rng, *spelled(letters)), rng))
        builder.gear(*(coordinate(joints, k) for k in geared), degree=degree)
        return builder.build(cut=(joints[cut],))

    return make


def loops_geared_together(rng: np.random.Generator) -> Scene:
    """Two planar loops on one moving body that share nothing but a gear between their cranks."""
    builder = Builder(rng, "geared_loops")
    base = builder.body(random_unit(rng))
    builder.joint("universal", "ground", base, random_unit(rng), random_unit(rng))
    cranks = []
    for _ in range(2):
        shift = builder.poses[base].position
        ring = [(k, p + shift, axis) for k, p, axis in rings.placed(rings.planar(rng), rng)]
        cranks.append(add_ring(builder, base, ring)[1][0])
    builder.gear(*cranks, degree=2)
    return builder.build()


# name: (maker, degrees of freedom; None where the random draw decides)
GEAR_FAMILIES: dict[str, tuple[Maker, int | None]] = {
    "gear_of_neighbours": (geared_chain("RR", 0, 1), 1),
    "gear_across_joints": (geared_chain("RSRPR", 0, 4), 6),
    "rack": (geared_chain("RPU", 0, 1), 3),
    "gear_of_three": (geared_chain("RRRS", 0, 1, 2), 5),
    "cam": (geared_chain("RCP", 0, 2, degree=3), 3),
    "screw": (geared_chain("RC", "1[1]", "1[2]"), 2),
    "gear_of_elements": (geared_chain("UREC", "0[2]", 1, "2[3]", "3[1]", degree=2), 7),
    "rolling": (geared_chain("EU", "0[1]", "0[3]"), 4),
    "gear_branches": (geared_branches, None),
    "gear_in_loop": (geared_loop("RRRRRRRR", 1, 4), 1),
    "gear_on_cut_joint": (geared_loop("RSURR", 0, 3, cut=3), 1),
    "cam_on_cut_joint": (geared_loop("RSURP", 4, 0, cut=4, degree=2), 1),
    "screw_in_loop": (geared_loop("RCSRR", "1[1]", "1[2]"), 1),
    "screw_as_cut_joint": (geared_loop("RCSRR", "1[1]", "1[2]", cut=1), 1),
    "gear_between_loops": (loops_geared_together, 3),
}
