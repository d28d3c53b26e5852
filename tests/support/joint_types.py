"""Mechanisms with joints of several speeds, the same motions out of hinges and slides, and loops of such joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import linkwork as lw

from .builder import cut_at

Array = NDArray[np.float64]

INERTIA = np.array([[0.05, 0.004, -0.002], [0.004, 0.03, 0.003], [-0.002, 0.003, 0.04]])
X, Y, Z = np.eye(3)


@dataclass(frozen=True)
class Several:
    """A kind of joint, a chain of joints of one speed that lets a child do the same, and one motion of both.

    The axes of the chain are in the axes of the joint's frame; the last of them is fixed in the child.
    """

    kind: lw.JointKind
    chain: tuple[lw.JointKind, ...]
    angles: tuple[float, ...]
    rates: tuple[float, ...]

    @property
    def q(self) -> Array:
        """Coordinates of the joint where the chain's are `angles`."""
        turned = euler_quaternion(self.angles[-3:])
        if isinstance(self.kind, lw.Spherical):
            return turned
        return np.array([*self.angles[:3], *turned] if isinstance(self.kind, lw.Free) else self.angles)

    @property
    def u(self) -> Array:
        """Speeds of the joint where the chain's are `rates`."""
        spin = euler_spin(self.angles[-3:], self.rates[-3:])
        if isinstance(self.kind, lw.Spherical):
            return spin
        if isinstance(self.kind, lw.Free):
            return np.concatenate([spin, rotation(euler_quaternion(self.angles[-3:])).T @ self.rates[:3]])
        return np.array(self.rates)


SLIDES = (lw.Prismatic(X), lw.Prismatic(Y), lw.Prismatic(Z))
TURNS = (lw.Revolute(Z), lw.Revolute(Y), lw.Revolute(X))
SEVERAL = {
    "universal": Several(
        lw.Universal((0, 3, 4), (5, 4, -3)),
        (lw.Revolute((0, 3, 4)), lw.Revolute((5, 4, -3))),
        (0.4, -0.7),
        (2.0, -3.0),
    ),
    "cylindrical": Several(
        lw.Cylindrical((2, -1, 2)), (lw.Revolute((2, -1, 2)), lw.Prismatic((2, -1, 2))), (0.3, 0.2), (3.0, -0.5)
    ),
    "planar": Several(
        lw.Planar((0, 3, 4)),
        (lw.Prismatic(X), lw.Prismatic((0, 4, -3)), lw.Revolute((0, 3, 4))),
        (0.3, -0.2, 0.8),
        (0.5, 0.7, -2.0),
    ),
    "pin_in_slot": Several(
        lw.PinInSlot((0, 3, 4), (5, 4, -3)), (lw.Prismatic((5, 4, -3)), lw.Revolute((0, 3, 4))), (0.3, 0.8), (0.5, -2.0)
    ),
    "spherical": Several(lw.Spherical(), TURNS, (0.5, -0.3, 0.2), (1.0, -2.0, 1.5)),
    "free": Several(lw.Free(), (*SLIDES, *TURNS), (0.2, 0.1, -0.3, 0.5, -0.3, 0.2), (0.5, -0.2, 0.4, 1.0, -2.0, 1.5)),
}


def rotation(quaternion: Array) -> Array:
    w, *v = np.asarray(quaternion) / np.linalg.norm(quaternion)
    x, y, z = v
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * skew + 2 * skew @ skew


def euler_quaternion(angles: tuple[float, ...]) -> Array:
    """Of the turn by three angles about z, then the new y, then the new x."""
    product = np.array([1.0, 0, 0, 0])
    for angle, axis in zip(angles, (Z, Y, X), strict=False):
        w, v, turn = product[0], product[1:], np.sin(angle / 2) * axis
        c = np.cos(angle / 2)
        product = np.concatenate([[w * c - v @ turn], w * turn + c * v + np.cross(v, turn)])
    return product


def euler_spin(angles: tuple[float, ...], rates: tuple[float, ...]) -> Array:
    """Angular velocity in the axes of the turned body: each rate about its axis, turned by the later rotations."""
    spin = np.zeros(3)
    for angle, rate, axis in zip(angles, rates, (Z, Y, X), strict=False):
        about = np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * axis])
        spin = rotation(about).T @ spin + rate * axis
    return spin


PARENT = lw.Frame((0.1, -0.2, 0.3), (0.8, 0, 0.6, 0))
CHILD = lw.Frame((-0.2, 0.1, 0.05), (0.5, 0.5, -0.5, 0.5))


def _carrier(name: str) -> lw.Mechanism:
    """A body that turns about a hinge "A", and another one that is not joined yet."""
    mech = lw.Mechanism(name)
    mech.add_body("carrier", mass=1.5, com=(0.1, 0.05, 0), inertia=2 * INERTIA)
    mech.add_body("body", mass=0.8, com=(0.03, -0.02, 0.05), inertia=INERTIA)
    mech.add_joint("A", lw.Revolute((1, 0, 1)), "ground", "carrier", at=(0, 0, 0))
    mech.start(q={"A": 0.3}, u={"A": 1.2})
    return mech


def on_carrier(name: str, *, backwards: bool = False) -> lw.Mechanism:
    """The body on joint "S" of a kind; backwards, the carrier is the joint's child, and the same motions are left."""
    several = SEVERAL[name]
    mech = _carrier(f"on_{name}")
    if backwards:
        kind = lw.Universal(several.kind.axis2, several.kind.axis1) if name == "universal" else several.kind
        mech.add_joint("S", kind, "body", "carrier", parent_frame=CHILD, child_frame=PARENT)
    else:
        mech.add_joint("S", several.kind, "carrier", "body", parent_frame=PARENT, child_frame=CHILD)
    mech.start(q={"S": several.q}, u={"S": several.u})
    return mech


def on_chain(name: str, mass: float = 1e-9) -> lw.Mechanism:
    """The same body on hinges and slides "S1", "S2", ..., whose bodies have next to no mass."""
    several = SEVERAL[name]
    mech = _carrier(f"on_{name}_chain")
    bodies = ["carrier", *(f"link{i + 1}" for i in range(len(several.chain) - 1)), "body"]
    for body in bodies[1:-1]:
        mech.add_body(body, mass=mass, com=(0, 0, 0), inertia=mass * np.eye(3))
    for i, kind in enumerate(several.chain):
        frames = {"parent_frame": PARENT} if i == 0 else {}
        if i == len(several.chain) - 1:
            frames["child_frame"] = CHILD
        mech.add_joint(f"S{i + 1}", kind, bodies[i], bodies[i + 1], **(frames or {"parent_frame": lw.Frame()}))
        mech.start(q={f"S{i + 1}": several.angles[i]}, u={f"S{i + 1}": several.rates[i]})
    return mech


def tumbling() -> lw.Mechanism:
    """A body that nothing holds and nothing pulls."""
    mech = lw.Mechanism("tumbling", gravity=(0, 0, 0))
    mech.add_body("body", mass=2.0, com=(0.1, -0.2, 0.05), inertia=INERTIA)
    mech.add_joint("F", lw.Free(), "ground", "body", parent_frame=PARENT, child_frame=CHILD)
    mech.start(q={"F": [1, 2, 3, 0.1, -0.7, 0.5, 0.5]}, u={"F": [4.0, 0.3, -0.1, 0.5, 0.2, -0.7]})
    return mech


def spherical_pendulum() -> lw.Mechanism:
    """A body that hangs on a ball at the origin."""
    mech = lw.Mechanism("spherical_pendulum")
    mech.add_body("bob", mass=1.3, com=(0.05, 0.02, -0.4), inertia=INERTIA)
    mech.add_joint("S", lw.Spherical(), "ground", "bob", at=(0, 0, 0))
    mech.start(q={"S": [1, 0.3, -0.2, 0.1]}, u={"S": [1.0, -0.5, 3.0]})
    return mech


def skater(cut: str) -> lw.Mechanism:
    """A rod on a ball "S" carries by a cross "U" a plate that keeps to the floor "P"; joint `cut` closes the loop."""
    mech = lw.Mechanism("skater")
    mech.add_body("rod", mass=1.0, com=(0.3, 0.1, -0.35), inertia=INERTIA, origin=(0, 0, 1))
    mech.add_body("plate", mass=0.5, com=(0.02, 0.01, 0), inertia=INERTIA, origin=(0.6, 0, 0.2))
    mech.add_joint("S", lw.Spherical(), "ground", "rod", at=(0, 0, 1))
    mech.add_joint("U", lw.Universal((0, 1, 0), (4, 0, 3)), "rod", "plate", at=(0.6, 0, 0.2))
    mech.add_joint("P", lw.Planar((0, 0, 1)), "ground", "plate", at=(0.6, 0, 0))
    mech.start(u={"P": [0.0, 1.5, -2.0]})
    return cut_at(mech, cut)


def plunger(cut: str) -> lw.Mechanism:
    """A crank "A" moves by a rod on a ball "S" and a cross "U" a bolt in a bore "C"; joint `cut` closes the loop."""
    mech = lw.Mechanism("plunger")
    mech.add_body("crank", mass=1.0, com=(0, 0.1, 0), inertia=INERTIA)
    mech.add_body("rod", mass=0.6, com=(0.4, -0.1, 0), inertia=INERTIA, origin=(0, 0.2, 0))
    mech.add_body("bolt", mass=0.8, com=(0.05, 0.01, 0), inertia=INERTIA, origin=(0.8, 0, 0.1))
    mech.add_joint("A", lw.Revolute((1, 0, 4)), "ground", "crank", at=(0, 0, 0))
    mech.add_joint("S", lw.Spherical(), "crank", "rod", at=(0, 0.2, 0))
    mech.add_joint("U", lw.Universal((0, 1, 0), (0, 0, 1)), "bolt", "rod", at=(0.8, 0, 0.1))
    mech.add_joint("C", lw.Cylindrical((1, 0, 0)), "ground", "bolt", at=(0.8, 0, 0.1))
    mech.start(u={"A": 4.0})
    return cut_at(mech, cut)


LOOPS = [(skater, cut) for cut in "SUP"] + [(plunger, cut) for cut in "ASUC"]
LOOP_IDS = [f"{make.__name__}-{cut}" for make, cut in LOOPS]
