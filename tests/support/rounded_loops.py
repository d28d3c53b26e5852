"""Overconstrained loops with arbitrary frames, exact and with the digits of their frames rounded.

Bodies get arbitrary frames, the whole mechanism an arbitrary orientation; joints get a point and an axis in a closed
pose, so that no number is round before it is rounded.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

import linkwork as lw
from linkwork._util.rotations import matrix_of, quaternions_of

from .builder import random_inertia
from .poses import Array, random_rotation

Z = (0.0, 0.0, 1.0)  # the axis of a joint in its frame


def significant(values: Array, digits: int) -> Array:
    """Numbers with so many significant digits."""
    flat = np.ravel(np.asarray(values, float))
    return np.array([float(f"{x:.{digits - 1}e}") for x in flat]).reshape(np.shape(values))


def rounded(mech: lw.Mechanism, digits: int) -> lw.Mechanism:
    """The mechanism with points and unit quaternions of all joint frames so rounded."""
    twin = mech.copy()

    def frame(given: lw.Frame) -> lw.Frame:
        turn = significant(quaternions_of(given.rotation[None])[0], digits)
        return lw.Frame(significant(given.position, digits), turn / np.linalg.norm(turn))

    for name, joint in mech.joints.items():
        ends = {"parent_frame": frame(joint.parent_frame), "child_frame": frame(joint.child_frame)}
        twin.joints[name] = dataclasses.replace(joint, **ends)
    return twin


class Assembler:
    """Adds bodies and joints to a mechanism in its closed pose."""

    def __init__(self, name: str, rng: np.random.Generator) -> None:
        self.rng, self.mech = rng, lw.Mechanism(name)
        self.world = random_rotation(rng), rng.uniform(-0.3, 0.3, 3)
        self.pose = {"ground": (np.eye(3), np.zeros(3))}

    def bodies(self, *names: str) -> None:
        for name in names:
            self.pose[name] = random_rotation(self.rng), self.rng.uniform(-0.5, 0.5, 3)
            mass = self.rng.uniform(0.5, 2.0)
            com = self.rng.uniform(-0.2, 0.2, 3)
            self.mech.add_body(name, mass=mass, com=com, inertia=random_inertia(self.rng, mass))

    def joint(
        self,
        name: str,
        parent: str,
        child: str,
        point: Array,
        axis: Array,
        kind: lw.JointKind | None = None,
        second: Array | tuple[float, float, float] = (0.3, 0.5, 0.7),
    ) -> None:
        """A joint whose frame has z along `axis` and x along `second`, or across both where that is no axis of it."""
        z = self.world[0] @ np.asarray(axis, float) / np.linalg.norm(axis)
        at = self.world[0] @ np.asarray(point, float) + self.world[1]
        x = np.cross(z, (0.3, 0.5, 0.7)) if kind is None or kind.type_name != "universal" else self.world[0] @ second
        x /= np.linalg.norm(x)
        axes = np.column_stack([x, np.cross(z, x), z])
        ends = [lw.Frame(R.T @ (at - r), R.T @ axes) for R, r in (self.pose[parent], self.pose[child])]
        kind = lw.Revolute(Z) if kind is None else kind
        self.mech.add_joint(name, kind, parent, child, parent_frame=ends[0], child_frame=ends[1])


CHAIN = tuple(zip("ABCD", (("ground", "a"), ("a", "b"), ("b", "c"), ("ground", "c")), strict=True))


def planar(rng: np.random.Generator) -> lw.Mechanism:
    """A four-bar, one of its joints of a kind that leaves the loop redundant."""
    make = Assembler("planar", rng)
    make.bodies("a", "b", "c")
    corners = np.array([(0, 0, 0), (0.1, 0.4, 0), (0.9, 0.7, 0), (1.0, 0, 0)]) + rng.uniform(-0.1, 0.1, (4, 3))
    kinds: dict[str, lw.JointKind] = [{}, {"C": lw.Spherical()}, {"D": lw.Cylindrical(Z)}][rng.integers(3)]
    for (name, ends), point in zip(CHAIN, corners, strict=True):
        make.joint(name, *ends, point, Z, kinds.get(name))
    make.mech.start(q={"A": 0.2}, u={"A": -2.0})
    return make.mech


def slider(rng: np.random.Generator) -> lw.Mechanism:
    """A crank that drives a slide across its axis."""
    make = Assembler("slider", rng)
    make.bodies("a", "b", "c")
    for (name, ends), point in zip(CHAIN[:3], ((0, 0, 0.1), (0.1, 0.4, 0.2), (1.0, 0.1, -0.1)), strict=True):
        make.joint(name, *ends, point, Z)
    make.joint("D", "ground", "c", (1.2, 0.1, 0.3), (1, rng.uniform(-0.3, 0.3), 0), lw.Prismatic(Z))
    make.mech.start(q={"A": 0.2}, u={"A": -2.0})
    return make.mech


def spherical(rng: np.random.Generator) -> lw.Mechanism:
    """A four-bar whose axes pass one point."""
    make = Assembler("spherical", rng)
    make.bodies("a", "b", "c")
    axes = np.array([(0, 0, 1), (0.3, 0, 1), (0.5, 0.8, 1), (0, 1.1, 1)]) + rng.uniform(-0.1, 0.1, (4, 3))
    for (name, ends), axis in zip(CHAIN, axes, strict=True):
        make.joint(name, *ends, axis * rng.uniform(0.2, 1.0), axis)
    make.mech.start(q={"A": 0.1}, u={"A": -2.0})
    return make.mech


def panel(rng: np.random.Generator) -> lw.Mechanism:
    """A panel on two or three hinges, with a handle."""
    make = Assembler("panel", rng)
    make.bodies("panel", "handle")
    for k in range(rng.integers(2, 4)):
        make.joint(f"hinge{k}", "ground", "panel", (0, 0, 0.7 * k + 0.1), Z)
    make.joint("handle", "panel", "handle", (0.5, 0.1, 0.3), (0, 1, 0))
    make.mech.start(q={"hinge0": 0.2}, u={"hinge0": -2.0, "handle": 1.0})
    return make.mech


def sarrus(rng: np.random.Generator) -> lw.Mechanism:
    """A platform on two planar legs, which lift it along the line in both their planes."""
    make = Assembler("sarrus", rng)
    make.bodies("platform", "a1", "a2", "b1", "b2")
    for leg, angle in (("a", 0.0), ("b", rng.uniform(0.6, 2.4))):
        turn = matrix_of(np.array([np.cos(angle / 2), 0, 0, np.sin(angle / 2)]))
        ends = (("ground", f"{leg}1"), (f"{leg}1", f"{leg}2"), (f"{leg}2", "platform"))
        for k, point in enumerate(((0.3, 0, 0), (0.7, 0.1, 0.5), (0.3, -0.1, 1.0))):
            make.joint(f"{leg}{k}", *ends[k], turn @ point, turn @ (0, 1, 0))
    make.mech.start(q={"a0": 0.1}, u={"a0": -2.0})
    return make.mech


def ladder(rng: np.random.Generator) -> lw.Mechanism:
    """Planar loops one on top of the other."""
    make = Assembler("ladder", rng)
    below, feet = ("ground", "ground"), np.array([(0.0, 0, 0), (1.0, 0, 0)])
    for k in range(rng.integers(2, 4)):
        sides, top = (f"l{k}", f"r{k}"), f"t{k}"
        make.bodies(*sides, top)
        for s in range(2):
            make.joint(f"{sides[s]}_foot", below[s], sides[s], feet[s] + (0, 0, rng.uniform(-0.2, 0.2)), Z)
        feet = feet + np.array([(-0.3, 0.5 + 0.1 * rng.random(), 0), (0.1, 0.6, 0)])
        for s in range(2):
            make.joint(f"{sides[s]}_head", sides[s], top, feet[s] + (0, 0, rng.uniform(-0.2, 0.2)), Z)
        below, feet = (top, top), feet + np.array([(0.1, 0.1, 0), (-0.1, 0.1, 0)])
    make.mech.start(q={"l0_foot": 0.1}, u={"l0_foot": -2.0, "l1_foot": 1.0})
    return make.mech


def bennett(rng: np.random.Generator) -> lw.Mechanism:
    """Four axes that are neither parallel nor concurrent: it moves as lengths and twists of links fit."""
    make = Assembler("bennett", rng)
    make.bodies("a", "b", "c")
    twists, first = (0.6, 1.1), rng.uniform(0.7, 1.5)
    lengths = 0.5, 0.5 * np.sin(twists[1]) / np.sin(twists[0])
    ratio = np.sin(sum(twists) / 2) / np.sin((twists[1] - twists[0]) / 2)
    second = 2 * np.arctan2(ratio, np.tan(first / 2))
    at = lw.Frame()
    for (name, ends), angle, k in zip(CHAIN, (first, second, -first, -second), (0, 1, 0, 1), strict=True):
        at = at @ lw.Frame.from_euler(angle, "z") @ lw.Frame.from_euler(twists[k], "x", (lengths[k], 0, 0))
        make.joint(name, *ends, at.position, at.rotation[:, 2])
    make.mech.start(q={"A": 0.1}, u={"A": -2.0})
    return make.mech


def swing(rng: np.random.Generator) -> lw.Mechanism:
    """Parallelograms in a row, on cross joints whose first axes are one line, about which all of them turn."""
    make = Assembler("swing", rng)
    make.bodies("a0", "a1", "a2", "t0", "t1")
    Z_X = np.array([0.0, 0, 1]), np.array([1.0, 0, 0])
    for k in range(3):
        foot = np.array([0.2 + 0.5 * k, 0, 0])
        make.joint(f"foot{k}", "ground", f"a{k}", foot, (1, 0, 0), lw.Universal(*Z_X), second=(0, 1, 0))
    for k in range(2):
        left, right = ((0.3 + 0.5 * (k + s), 0, -0.9) for s in range(2))
        make.joint(f"near{k}", f"a{k}", f"t{k}", left, (0, 1, 0))
        make.joint(f"far{k}", f"t{k}", f"a{k + 1}", right, (0, 1, 0))
    make.mech.start(q={"foot0": (0.2, 0.1)}, u={"foot0": (-2.0, 1.0)})
    return make.mech


def ball_on_crank(rng: np.random.Generator) -> lw.Mechanism:
    """A four-bar with a ball in place of its first hinge on the coupler, which carries an arm."""
    make = Assembler("ball_on_crank", rng)
    make.bodies("a", "b", "c", "arm")
    corners = np.array([(0, 0, 0), (0.1, 0.4, 0), (0.9, 0.7, 0), (1.0, 0, 0)]) + rng.uniform(-0.1, 0.1, (4, 3))
    for (name, ends), point in zip(CHAIN, corners, strict=True):
        make.joint(name, *ends, point, Z, lw.Spherical() if name == "B" else None)
    make.joint("T", "b", "arm", np.array([0.5, 0.6, 0.1]), rng.normal(size=3))
    make.mech.start(q={"A": 0.2}, u={"A": -2.0, "T": 1.0})
    return make.mech


def cranks(rng: np.random.Generator) -> lw.Mechanism:
    """Cranks of one length on a coupler: each two make a loop that moves by itself, all of them move together."""
    make = Assembler("cranks", rng)
    make.bodies("coupler", "c0", "c1", "c2", "c3")
    for k in range(4):
        foot = np.array([0.4 * k, 0, 0]) + rng.uniform(-0.1, 0.1, 3)
        make.joint(f"A{k}", "ground", f"c{k}", foot, Z)
        make.joint(f"B{k}", f"c{k}", "coupler", foot + np.array([0.1, 0.35, 0]), Z)
    make.mech.start(q={"A0": 0.3, "A1": 0.3, "A2": 0.3, "A3": 0.3, "B0": -0.3}, u={"A0": 1.5})
    return make.mech


def hinged_twice(rng: np.random.Generator) -> lw.Mechanism:
    """A four-bar with two joints on each of three lines, one of them free to slide."""
    make = Assembler("hinged_twice", rng)
    make.bodies("a", "b", "c")
    corners = np.array([(0, 0, 0), (0.1, 0.4, 0), (0.9, 0.7, 0), (1.0, 0, 0)]) + rng.uniform(-0.1, 0.1, (4, 3))
    for (name, ends), point in zip(CHAIN, corners, strict=True):
        make.joint(name, *ends, point, Z)
        if name != "A":
            make.joint(f"{name}2", *ends, point + np.array([0, 0, 0.3]), Z, lw.Cylindrical(Z) if name == "B" else None)
    make.mech.start(q={"A": 0.2}, u={"A": -2.0})
    return make.mech


def scissors(rng: np.random.Generator) -> lw.Mechanism:
    """Crossed pairs of bars one on top of the other, on a slide: branches of its motion cross where it is folded."""
    make = Assembler("scissors", rng)
    at = {(k, side): np.array([0.6 * side, 0.4 * k, 0]) for k in range(4) for side in range(2)}
    make.bodies(*(f"{side}{k}" for k in range(3) for side in "pq"), "slide")
    make.joint("G", "ground", "p0", at[0, 0], Z)
    for k in range(3):
        make.joint(f"M{k}", f"p{k}", f"q{k}", (at[k, 0] + at[k + 1, 1]) / 2 + (0, 0, rng.uniform(-0.1, 0.1)), Z)
        if k < 2:
            make.joint(f"L{k}", f"q{k}", f"p{k + 1}", at[k + 1, 0], Z)
            make.joint(f"R{k}", f"p{k}", f"q{k + 1}", at[k + 1, 1], Z)
    make.joint("F", "q0", "slide", at[0, 1], Z)
    make.joint("S", "ground", "slide", at[0, 1] + (0, 0, 0.1), (1, 0, 0), lw.Prismatic(Z))
    make.mech.start(q={"G": 0.1}, u={"G": 0.5})
    return make.mech


def three_legs(rng: np.random.Generator) -> lw.Mechanism:
    """A platform that only translates, as each leg has two hinges of one direction and a parallelogram between them."""
    make = Assembler("three_legs", rng)
    make.bodies("platform")
    for leg, angle in (("a", 0.0), ("b", 2.1), ("c", 4.2)):
        make.bodies(*(f"{leg}{part}" for part in ("arm", "top", "left", "right", "foot")))
        along, across = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
        knee, ankle = 0.6 * along - (0, 0, 0.1), 0.15 * along - (0, 0, 0.7)
        make.joint(f"{leg}A", "ground", f"{leg}arm", 0.3 * along, across)
        make.joint(f"{leg}K", f"{leg}arm", f"{leg}top", knee, across)
        for side, sign in (("left", -1), ("right", 1)):
            for end, point, body in (("k", knee, "top"), ("p", ankle, "foot")):
                normal = np.cross(across, ankle - knee)
                make.joint(f"{leg}{side}{end}", f"{leg}{side}", f"{leg}{body}", point + 0.08 * sign * across, normal)
        make.joint(f"{leg}B", f"{leg}foot", "platform", ankle, across)
    make.mech.start(q={"aA": 0.05, "bA": -0.03, "cA": 0.0}, u={"aA": 0.5, "bA": -0.3})
    return make.mech


ROUNDED_LOOPS: dict[str, Callable[[np.random.Generator], lw.Mechanism]] = {
    make.__name__: make for make in (planar, slider, spherical, panel, sarrus, ladder)
}
