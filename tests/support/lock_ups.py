"""Linkages driven through the ends of their ranges, and these ends by position analysis: circles that intersect.

Planar linkages are in the xz-plane and turn about -y, so that angles count from x towards z. `output(crank)` is the
driven angle or displacement on the branch of the start, and the drive moves it to its largest value and beyond.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

import linkwork as lw

HINGE = lw.Revolute((0, -1, 0))


@dataclass
class Linkage:
    """A linkage, the joint to be driven, and its coordinate as a function of the crank's angle."""

    mechanism: lw.Mechanism
    driven: str
    output: Callable[[float], float]
    crank: float  # at the start
    span: tuple[float, float]  # of the crank, in which the output is largest

    @property
    def limit(self) -> float:
        found = minimize_scalar(lambda angle: -self.output(angle), bounds=self.span, options={"xatol": 1e-10})
        return -float(found.fun)

    def driven_at(self, speed: float) -> lw.Mechanism:
        """Prescribe the motion from the start on, at constant speed."""
        mech = self.mechanism.copy()
        mech.prescribe(self.driven, lw.Motion((self.output(self.crank), speed)))
        mech.start(q={"A": self.crank})
        return mech


def meet(one, r1, other, r2, side):
    """The point at distances r1 and r2 from two points, to the left (+1) or right (-1) of the way between them."""
    along = np.subtract(other, one)
    distance = np.hypot(*along)
    along /= distance
    a = (distance**2 + r1**2 - r2**2) / (2 * distance)
    return one + a * along + side * np.sqrt(r1**2 - a**2) * np.array([-along[1], along[0]])


def turned(angle, length):
    return length * np.array([np.cos(angle), np.sin(angle)])


def angle_of(vector):
    return float(np.arctan2(vector[1], vector[0]))


def rod(mech, name, length):
    mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.cylinder(1.0, 0.01, length, axis="x"))


def pin(mech, name, parent, at, child, at_child=(0.0, 0.0)):
    frames = [lw.Frame((x, 0, z)) for x, z in (at, at_child)]
    mech.add_joint(name, HINGE, parent, child, parent_frame=frames[0], child_frame=frames[1])


def four_bar(crank=0.4, coupler=1.0, rocker=0.8, base=1.1, start=0.7):
    """A crank-rocker, driven at its rocker: it locks where crank and coupler line up."""
    mech = lw.Mechanism("four_bar")
    for name, length in (("crank", crank), ("coupler", coupler), ("rocker", rocker)):
        rod(mech, name, length)
    pin(mech, "A", "ground", (0, 0), "crank")
    pin(mech, "B", "crank", (crank, 0), "coupler")
    pin(mech, "C", "coupler", (coupler, 0), "rocker", (rocker, 0))
    pin(mech, "D", "ground", (base, 0), "rocker")

    def output(angle):
        return angle_of(meet(turned(angle, crank), coupler, (base, 0), rocker, 1) - (base, 0))

    guess(mech, B=-0.4, D=output(start))
    return Linkage(mech, "D", output, start, (np.pi, 1.95 * np.pi))


def slider_crank(crank=0.3, length=0.8, offset=0.1):
    """Driven at its slider, which comes to sqrt((crank + rod)^2 - offset^2) at most."""
    mech = lw.Mechanism("slider_crank")
    rod(mech, "crank", crank)
    rod(mech, "rod", length)
    mech.add_body("slider", mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    pin(mech, "A", "ground", (0, 0), "crank")
    pin(mech, "B", "crank", (crank, 0), "rod")
    pin(mech, "C", "rod", (length, 0), "slider")
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "slider", parent_frame=lw.Frame((0, 0, offset)))

    def output(angle):
        x, z = turned(angle, crank)
        return float(x + np.sqrt(length**2 - (offset - z) ** 2))

    guess(mech, B=-1.2, S=output(1.0))
    return Linkage(mech, "S", output, 1.0, (-0.5, 0.9))


def watt(start=0.7):
    """A second four-bar behind the rocker of the first; its output turns back where the first one's rocker does."""
    chain = four_bar(start=start)
    mech, arm, link, out, base = chain.mechanism, 0.5, 0.9, 0.7, 2.0
    mech.name = "watt"
    rod(mech, "link", link)
    rod(mech, "out", out)
    pin(mech, "E", "rocker", (0.3, 0.4), "link")
    pin(mech, "F", "link", (link, 0), "out", (out, 0))
    pin(mech, "G", "ground", (base, 0), "out")

    def output(angle):
        point = np.array([1.1, 0]) + turned(chain.output(angle) + np.arctan2(0.4, 0.3), arm)
        return angle_of(meet(point, link, (base, 0), out, 1) - (base, 0))

    guess(mech, D=chain.output(start), G=output(start))
    return Linkage(mech, "G", output, start, (np.pi, 1.95 * np.pi))


def stephenson(start=0.7):
    """A dyad on a point of the coupler; the output turns back in between."""
    chain = four_bar(start=start)
    mech, link, out, base = chain.mechanism, 1.2, 0.9, (1.9, 0.3)
    mech.name = "stephenson"
    rod(mech, "link", link)
    rod(mech, "out", out)
    pin(mech, "E", "coupler", (0.5, 0.3), "link")
    pin(mech, "F", "link", (link, 0), "out", (out, 0))
    pin(mech, "G", "ground", base, "out")

    def output(angle):
        b = turned(angle, 0.4)
        along = (meet(b, 1.0, (1.1, 0), 0.8, 1) - b) / 1.0
        point = b + 0.5 * along + 0.3 * np.array([-along[1], along[0]])
        return angle_of(meet(point, link, base, out, 1) - base)

    guess(mech, D=chain.output(start), G=output(start))
    return Linkage(mech, "G", output, start, (0.0, 2 * np.pi))


def spatial(start=0.5):
    """A crank about z, a rod between a ball joint and a cross joint, and a rocker about x: |rocker end - crank end|."""
    crank, length, rocker, base = 0.2, 0.95, 0.5, np.array([0.5, 0.6, 0.0])
    mech = lw.Mechanism("spatial")
    for name, size in (("crank", crank), ("rod", length)):
        rod(mech, name, size)
    mech.add_body("rocker", mass=1.0, com=(0, 0, rocker / 2), inertia=lw.inertia.cylinder(1.0, 0.01, rocker))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("B", lw.Spherical(), "crank", "rod", parent_frame=lw.Frame((crank, 0, 0)))
    mech.add_joint(
        *("C", lw.Universal((0, 1, 0), (0, 0, 1)), "rocker", "rod"),
        parent_frame=lw.Frame((0, 0, rocker)),
        child_frame=lw.Frame((length, 0, 0)),
    )
    mech.add_joint("D", lw.Revolute((1, 0, 0)), "ground", "rocker", parent_frame=lw.Frame(base))

    def output(angle):
        """The end at base + rocker (0, -sin, cos) is at the rod's length from the crank's end."""
        gap = base - crank * np.array([np.cos(angle), np.sin(angle), 0])
        c = (length**2 - gap @ gap - rocker**2) / (2 * rocker)
        return float(np.arctan2(-gap[1], gap[2]) + np.arccos(c / np.hypot(gap[1], gap[2])))

    guess(mech, D=output(start))
    return Linkage(mech, "D", output, start, (0.0, 2 * np.pi))


def guess(mech, **q):
    mech.start(q=q)


LINKAGES = {f.__name__: f for f in (four_bar, slider_crank, watt, stephenson, spatial)}
