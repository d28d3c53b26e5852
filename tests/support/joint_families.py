"""Random mechanisms with joints of all kinds: the families of `random_mechanisms`, continued.

`JOINT_FAMILIES` holds every kind of joint as tree joint, as tree joint whose child is nearer to the ground and as the
joint that closes the loop, the linkages of the textbooks, redundant loops, nested and coupled ones and manipulators.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from . import rings
from .builder import Builder, Scene
from .poses import random_unit, unit
from .random_mechanisms import Maker, add_ring, grow, single
from .rings import X

ALL_KINDS = ("revolute", "prismatic", "universal", "cylindrical", "planar", "screw", "pin_in_slot")
ALL_KINDS += ("spherical", "free", "fixed")
FREEDOMS = {"fixed": 0, "revolute": 1, "prismatic": 1, "universal": 2, "cylindrical": 2, "planar": 3}
FREEDOMS |= {"spherical": 3, "free": 6, "screw": 1, "pin_in_slot": 2, "curved_slide": 1, "curved_slot": 2}
_BY_LETTER = {"F": "fixed", "R": "revolute", "P": "prismatic", "U": "universal", "C": "cylindrical", "E": "planar"}
_BY_LETTER |= {"S": "spherical", "O": "free", "H": "screw", "T": "pin_in_slot"}
_BY_LETTER |= {"D": "curved_slide", "G": "curved_slot"}


def spelled(letters: str) -> list[str]:
    """Kinds of joints from their usual letters.

    E is a planar joint, H a screw (helical), T a pin in a slot, D a slide along a circle, G a pin in a circular slot,
    O a free one, F a fixed one.
    """
    return [_BY_LETTER[letter] for letter in letters]


def freedom(letters: str) -> int:
    """Degrees of freedom of one loop in general position."""
    return sum(FREEDOMS[kind] for kind in spelled(letters)) - 6


def loop(letters: str, cut: int | None = None, ring: rings.Ring = rings.mixed, springs: bool = False) -> Maker:
    """One loop on the ground."""
    return single(lambda rng: ring(rng, *spelled(letters)), cut, springs)


def in_role(letter: str, role: str) -> Maker:
    """A loop that holds one joint of a kind as `tree`, `backward` (tree joint, child inward) or `cut` joint."""
    letters = "RR" + letter + "R" * max(0, 5 - FREEDOMS[_BY_LETTER[letter]])

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, f"{_BY_LETTER[letter]}_{role}", reverse=0.5 if role == "cut" else 0.0)
        ring = rings.placed(rings.mixed(rng, *spelled(letters)), rng)
        _, joints = add_ring(builder, "ground", ring, backward=(2,) if role == "backward" else ())
        return builder.build(cut=(joints[2 if role == "cut" else -1],))

    return make


def on_free_base(letters: str, base: str = "O") -> Maker:
    """A loop on the last of some bodies in a row, with a second loop and a tree on its middle body."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "free_base")
        grow(builder, "ground", len(base), spelled(base), chain=True, in_order=True)
        carrier = f"b{len(base)}"
        for _ in range(2):
            shift = builder.poses[carrier].position
            moved = [(k, p + shift, axis) for k, p, axis in rings.mixed(rng, *spelled(letters))]
            bodies, _ = add_ring(builder, carrier, moved)
            carrier = bodies[len(bodies) // 2]
        grow(builder, carrier, 3, ALL_KINDS)
        builder.point_spring("b1", carrier)
        return builder.build()

    return make


def platform(*legs: str, springs: bool = False) -> Maker:
    """A platform on legs, each spelled from the ground upward; slides are along their legs."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "platform")
        top = builder.body(rings.Z)
        for leg in legs:
            foot, end = rng.uniform(-0.8, 0.8, 3), rng.uniform(-0.5, 0.5, 3) + rings.Z
            points = [foot + (end - foot) * k / (len(leg) - 1) for k in range(len(leg))]
            points[1:-1] = [point + rng.uniform(-0.2, 0.2, 3) for point in points[1:-1]]
            carrier = "ground"
            for k, kind in enumerate(spelled(leg)):
                child = top if k == len(leg) - 1 else builder.body((points[k] + points[k + 1]) / 2)
                axis = unit(end - foot) if kind == "prismatic" else random_unit(rng)
                name = builder.joint(kind, carrier, child, points[k], axis)
                if springs and kind in ("prismatic", "universal"):
                    builder.spring(name)
                carrier = child
        return builder.build()

    return make


def delta(rod: str) -> Maker:
    """Three driven arms, each with a parallelogram of two rods to the platform; `rod` spells the ends of a rod."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "delta")
        shift = rng.uniform([-0.1, -0.1, -0.9], [0.1, 0.1, -0.7])
        top = builder.body(shift)
        for k in range(3):
            angle = 2 * np.pi * k / 3 + 0.1
            outward, aside = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([-np.sin(angle), np.cos(angle), 0])
            hip, wrist = 0.4 * outward, shift + 0.15 * outward
            knee = hip + 0.4 * unit(outward + rng.uniform(-0.6, 0.2) * rings.Z)
            arm = builder.body((hip + knee) / 2)
            builder.joint("revolute", "ground", arm, hip, aside)
            for offset in (-0.1 * aside, 0.1 * aside):
                link = builder.body((knee + wrist) / 2)
                for kind, carrier, point in zip(spelled(rod), (arm, top), (knee, wrist), strict=True):
                    builder.joint(kind, carrier, link, point + offset, random_unit(rng))
        return builder.build()

    return make


def ladder(rungs: int, foot: str, near: str, far: str, deep: bool = False) -> Maker:
    """Parallel legs on the ground, joined by rungs; axes are X on the ground and one normal to X elsewhere."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "ladder")
        normal = unit(np.cross(rng.normal(size=3), X))
        down = np.cross(normal, X) + rng.uniform(-0.5, 0.5) * X
        feet = [0.5 * k * X for k in range(rungs + 1)]
        legs = [builder.body(point + down / 2) for point in feet]
        axes = np.array([X, normal])
        at_feet = [builder.joint(foot, "ground", leg, p, axes) for leg, p in zip(legs, feet, strict=True)]
        at_tips = []
        for k in range(rungs):
            tips = [point + down for point in feet[k : k + 2]]
            rung = builder.body((tips[0] + tips[1]) / 2)
            builder.joint(near, legs[k], rung, tips[0], normal)
            at_tips.append(builder.joint(far, rung, legs[k + 1], tips[1], normal))
        return builder.build(cut=tuple(at_feet[1:] if deep else at_tips))

    return make


def coupled_in_space(rng: np.random.Generator) -> Scene:
    """A spatial loop on a free base; a leg joins its coupler to its crank and so couples a second loop to it."""
    builder = Builder(rng, "coupled_in_space")
    grow(builder, "ground", 2, ("free", "revolute"), chain=True, in_order=True)
    shift = builder.poses["b2"].position
    ring = [(kind, p + shift, axis) for kind, p, axis in rings.mixed(rng, *spelled("RUSC"))]
    bodies, joints = add_ring(builder, "b2", ring)
    carrier, points = bodies[1], [shift + rng.uniform(-0.6, 0.6, 3) for _ in range(3)]
    for kind, point, child in zip(spelled("UPS"), points, (None, None, bodies[0]), strict=True):
        body = child or builder.body(point)
        builder.joint(kind, carrier, body, point, random_unit(rng))
        carrier = body
    grow(builder, bodies[1], 2, ALL_KINDS)
    builder.spring(joints[1])
    builder.point_spring(bodies[0], bodies[2])
    return builder.build()


def anchored(rng: np.random.Generator) -> Scene:
    """Bodies on nothing but springs and free joints, and a loop that a free joint closes: it bars no motion at all."""
    builder = Builder(rng, "anchored")
    bodies, joints = add_ring(builder, "ground", rings.mixed(rng, *spelled("RSOU")))
    grow(builder, "ground", 2, ("free",))
    builder.point_spring("ground", bodies[1])
    builder.point_spring(f"b{len(builder.coms)}", bodies[0])
    builder.spring(joints[2])
    return builder.build(cut=(joints[2],))


def tangled(bodies: int, loops: int) -> Maker:
    """A random tree, and joints between any two of its bodies; those bar little, so that much can move."""

    def make(rng: np.random.Generator) -> Scene:
        builder = Builder(rng, "tangled", reverse=0.5)
        grow(builder, "ground", bodies, ALL_KINDS)
        for _ in range(loops):
            first, second = (str(name) for name in rng.choice(["ground", *builder.coms], 2, replace=False))
            middle = (builder.poses[first].position + builder.poses[second].position) / 2
            kind = str(rng.choice(["cylindrical", "universal", "planar", "spherical", "free"]))
            builder.joint(kind, first, second, middle, random_unit(rng))
        return builder.build()

    return make


def mixed_hard_points(rng: np.random.Generator) -> Scene:
    """Joints given by points and axes in the world; all coordinates are zero, the quaternions one."""
    builder = Builder(rng, "hard_points", hard_points=True)
    bodies, _ = add_ring(builder, "ground", rings.placed(rings.mixed(rng, *spelled("RUSCR")), rng))
    grow(builder, bodies[0], 4, ALL_KINDS[1:9])
    return builder.build()


_FLAT = partial(loop, ring=rings.flat)
_CENTRED = partial(loop, ring=rings.centred)
_HELD = partial(loop, ring=rings.held_twice)

# name: (maker, degrees of freedom; None where the random draw decides)
JOINT_FAMILIES: dict[str, tuple[Maker, int | None]] = {
    f"{_BY_LETTER[letter]}_{role}": (in_role(letter, role), 2 if letter == "O" else 1)
    for letter in "UCESOHTDG"
    for role in ("tree", "backward", "cut")
}
JOINT_FAMILIES |= {name: (loop(name), freedom(name)) for name in ("RSSR", "RUSR", "RCCC", "CCCC", "RSCR", "RRSRR")}
JOINT_FAMILIES |= {
    name: (loop(name), freedom(name)) for name in ("RSSP", "PUCS", "RES", "EUC", "SSS", "UPUUPU", "UUUU")
}
JOINT_FAMILIES |= {f"{n}_cut_{c}": (loop(n, c, springs=True), freedom(n)) for n, c in (("RSSR", 2), ("RUSR", 1))}
JOINT_FAMILIES |= {f"{n}_cut_{c}": (loop(n, c, springs=True), freedom(n)) for n, c in (("PUCS", 2), ("EUC", 0))}
JOINT_FAMILIES |= {name: (loop(name), freedom(name)) for name in ("HSSR", "RTSR", "HTSR", "HHHHHHH")}
JOINT_FAMILIES |= {f"{n}_cut_{c}": (loop(n, c, springs=True), freedom(n)) for n, c in (("HSSR", 0), ("RTSR", 1))}
JOINT_FAMILIES |= {
    "RRRC_flat": (_FLAT("RRRC"), 1),
    "RRCS_flat": (_FLAT("RRCS"), 1),
    "RURS_flat": (_FLAT("RURS", 1), 1),
    "RRRU_flat": (_FLAT("RRRU"), 1),
    "RRER_flat": (_FLAT("RRER", 2), 3),
    "RRS_centred": (_CENTRED("RRS"), 2),
    "RRRU_centred": (_CENTRED("RRRU", 3), 2),
    "RS_on_one_axis": (_HELD("RS"), 1),
    "SS_on_one_axis": (_HELD("SS"), 1),
    "CC_on_one_axis": (_HELD("CC"), 2),
    "EE_on_one_normal": (_HELD("EE"), 3),
    "OO": (_HELD("OO"), 6),
    "OC": (_HELD("OC", 0), 2),
    "RUSR_on_free_base": (on_free_base("RUSR"), None),
    "RCCC_on_three_bodies": (on_free_base("RCCC", "OSU"), None),
    "EUC_on_planar_base": (on_free_base("EUC", "ER"), None),
    "stewart": (platform(*6 * ["UPS"], springs=True), 6),
    "stewart_SPS": (platform(*6 * ["SPS"]), 12),
    "tripod_PRS": (platform("PRS", "PRS", "PRS"), 3),
    "tripod_RUU": (platform("RUU", "RUU", "RUU"), 3),
    "legs_UPU": (platform("UPU", "UPU", "UPU"), 3),
    "legs_RSS": (platform(*6 * ["RSS"]), 12),
    "legs_mixed": (platform("UPS", "RUS", "CS", "PES", "SO"), None),
    "delta_SS": (delta("SS"), 9),
    "delta_US": (delta("US"), 3),
    "ladder_hooke": (ladder(4, "universal", "revolute", "revolute"), 2),
    "ladder_hooke_deep": (ladder(4, "universal", "revolute", "revolute", deep=True), 2),
    "ladder_spherical": (ladder(3, "universal", "spherical", "spherical"), 8),
    "ladder_spherical_deep": (ladder(3, "universal", "spherical", "spherical", deep=True), 8),
    "ladder_mixed": (ladder(3, "spherical", "universal", "cylindrical"), None),
    "coupled_in_space": (coupled_in_space, None),
    "closed_by_free": (anchored, None),
    "tangled_2": (tangled(9, 2), None),
    "tangled_4": (tangled(14, 4), None),
    "mixed_hard_points": (mixed_hard_points, None),
}
