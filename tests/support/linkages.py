"""Planar linkages with closed forms: circles intersected in complex numbers that carry two derivatives.

Each form takes the crank's angle and returns all joint coordinates by name, as `Jet`s by the crank's angle.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import linkwork as lw

Z = (0, 0, 1)


@dataclass(frozen=True)
class Jet:
    """A complex number with its first and second derivative by a real parameter."""

    value: complex
    first: complex = 0.0
    second: complex = 0.0

    def __add__(self, other: Jet | complex) -> Jet:
        o = jet(other)
        return Jet(self.value + o.value, self.first + o.first, self.second + o.second)

    def __mul__(self, other: Jet | complex) -> Jet:
        o = jet(other)
        second = self.second * o.value + 2 * self.first * o.first + self.value * o.second
        return Jet(self.value * o.value, self.first * o.value + self.value * o.first, second)

    def __sub__(self, other: Jet | complex) -> Jet:
        return self + jet(other) * -1.0

    def __truediv__(self, other: Jet) -> Jet:
        value = 1 / other.value
        return self * other.through(value, -(value**2), 2 * value**3)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: complex) -> Jet:
        return jet(other) - self

    def through(self, value: complex, slope: complex, bend: complex) -> Jet:
        """A function of it with this value, derivative and second derivative."""
        return Jet(value, slope * self.first, slope * self.second + bend * self.first**2)

    @property
    def square(self) -> Jet:
        """The square of its absolute value."""
        return self * Jet(*(np.conj(part) for part in (self.value, self.first, self.second)))


def jet(value: Jet | complex) -> Jet:
    return value if isinstance(value, Jet) else Jet(value)


def sqrt(x: Jet) -> Jet:
    root = cmath.sqrt(x.value)
    return x.through(root, 0.5 / root, -0.25 / root**3)


def expj(x: Jet) -> Jet:
    """exp(i x)"""
    value = cmath.exp(1j * x.value)
    return x.through(value, 1j * value, -value)


def arg(z: Jet) -> Jet:
    """The angle of a complex number: the imaginary part of its logarithm."""
    log = z.through(cmath.log(z.value), 1 / z.value, -1 / z.value**2)
    return Jet(log.value.imag, log.first.imag, log.second.imag)


Form = Callable[[float], dict[str, Jet]]


def bar(mech: lw.Mechanism, name: str, length: float) -> None:
    """A body along its x axis."""
    mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length))


def four_bar(crank: float, coupler: float, rocker: float, base: float, q: Mapping[str, float]) -> lw.Mechanism:
    """Crank A-B, coupler B-C, rocker C-D in the plane x-y."""
    mech, hinge = lw.Mechanism("four_bar"), lw.Revolute(Z)
    for name, length in (("crank", crank), ("coupler", coupler), ("rocker", rocker)):
        bar(mech, name, length)
    mech.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((crank, 0, 0)))
    mech.add_joint("C", hinge, "coupler", "rocker", parent_frame=lw.Frame((coupler, 0, 0)))
    foot, tip = lw.Frame((base, 0, 0)), lw.Frame((rocker, 0, 0))
    mech.add_joint("D", hinge, "ground", "rocker", parent_frame=foot, child_frame=tip)
    mech.start(q=q)
    return mech


def slider_crank(crank: float, rod: float, offset: float, q: Mapping[str, float]) -> lw.Mechanism:
    """Crank A-B, rod B-C, piston on a slide S along x at y = offset."""
    mech, hinge = lw.Mechanism("slider_crank"), lw.Revolute(Z)
    bar(mech, "crank", crank)
    bar(mech, "rod", rod)
    mech.add_body("piston", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.05))
    mech.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "crank", "rod", parent_frame=lw.Frame((crank, 0, 0)))
    mech.add_joint("C", hinge, "rod", "piston", parent_frame=lw.Frame((rod, 0, 0)))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "piston", parent_frame=lw.Frame((0, offset, 0)))
    mech.start(q=q)
    return mech


def radial_engine(crank: float, rod: float, pistons: int) -> lw.Mechanism:
    """Pistons on slides S0, S1, ... around the crank A; their rods share its pin."""
    mech, hinge = lw.Mechanism("radial_engine"), lw.Revolute(Z)
    bar(mech, "crank", crank)
    mech.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame())
    for k in range(pistons):
        turned = 2 * math.pi * k / pistons
        bar(mech, f"rod{k}", rod)
        mech.add_body(f"piston{k}", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.05))
        mech.add_joint(f"B{k}", hinge, "crank", f"rod{k}", parent_frame=lw.Frame((crank, 0, 0)))
        mech.add_joint(f"C{k}", hinge, f"rod{k}", f"piston{k}", parent_frame=lw.Frame((rod, 0, 0)))
        slide = lw.Prismatic((math.cos(turned), math.sin(turned), 0))
        mech.add_joint(f"S{k}", slide, "ground", f"piston{k}", parent_frame=lw.Frame())
        mech.start(q={f"B{k}": turned, f"S{k}": rod})
    return mech


SIX_BAR = {"crank": 0.3, "coupler": 0.8, "rocker": 0.7, "base": 0.9, "point": (0.5, 0.4), "foot": (0.1, 1.4)}


def six_bar(link: float, output: float, q: Mapping[str, float]) -> lw.Mechanism:
    """Stephenson III: a dyad P-Q-E from a point P of the coupler of a crank-rocker to the ground."""
    d = SIX_BAR
    mech, hinge = four_bar(d["crank"], d["coupler"], d["rocker"], d["base"], {}), lw.Revolute(Z)
    mech.name = "stephenson"
    bar(mech, "link", link)
    bar(mech, "output", output)
    mech.add_joint("P", hinge, "coupler", "link", parent_frame=lw.Frame((*d["point"], 0)))
    mech.add_joint("Q", hinge, "link", "output", parent_frame=lw.Frame((link, 0, 0)))
    foot, tip = lw.Frame((*d["foot"], 0)), lw.Frame((output, 0, 0))
    mech.add_joint("E", hinge, "ground", "output", parent_frame=foot, child_frame=tip)
    mech.start(q=q)
    return mech


# ---- closed forms: points are complex numbers ----


def dyad(first: Jet, second: Jet, to_first: float, to_second: float, sign: int) -> Jet:
    """The point at given distances from two others; sign: left (1) or right (-1) of the line between them."""
    line = second - first
    along = (line.square + (to_first**2 - to_second**2)) / (2 * line.square)
    return first + line * (along + sign * 1j * sqrt(jet(to_first**2) / line.square - along * along))


def four_bar_form(crank: float, coupler: float, rocker: float, base: float, sign: int) -> Form:
    def form(angle: float) -> dict[str, Jet]:
        x = Jet(angle, 1.0)
        b, foot = crank * expj(x), jet(base)
        c = dyad(b, foot, coupler, rocker, sign)
        of_coupler, of_rocker = arg(c - b), arg(foot - c)
        return {"A": x, "B": of_coupler - x, "C": of_rocker - of_coupler, "D": of_rocker}

    return form


def slider_crank_form(crank: float, rod: float, offset: float) -> Form:
    def form(angle: float) -> dict[str, Jet]:
        x = Jet(angle, 1.0)
        b = crank * expj(x)
        rise = offset + 0.5j * (b - b.square / b)  # the conjugate is |b|^2 / b
        run = sqrt(rod**2 - rise * rise)
        of_rod = arg(run + 1j * rise)
        return {"A": x, "B": of_rod - x, "C": -1.0 * of_rod, "S": 0.5 * (b + b.square / b) + run}

    return form


def six_bar_form(link: float, output: float, signs: tuple[int, int] = (1, 1)) -> Form:
    four = four_bar_form(*(SIX_BAR[name] for name in ("crank", "coupler", "rocker", "base")), signs[0])

    def form(angle: float) -> dict[str, Jet]:
        found = four(angle)
        of_coupler = found["B"] + found["A"]
        p = SIX_BAR["crank"] * expj(found["A"]) + complex(*SIX_BAR["point"]) * expj(of_coupler)
        foot = jet(complex(*SIX_BAR["foot"]))
        q = dyad(p, foot, link, output, signs[1])
        of_link, of_output = arg(q - p), arg(foot - q)
        return found | {"P": of_link - of_coupler, "Q": of_output - of_link, "E": of_output}

    return form


def dyad_reach(angle: float, sign: int = 1) -> float:
    """Distance of the coupler's point P from the foot E of the six-bar."""
    found = six_bar_form(9.0, 9.0, (sign, 1))(angle)
    p = SIX_BAR["crank"] * expj(found["A"]) + complex(*SIX_BAR["point"]) * expj(found["A"] + found["B"])
    return abs(p.value - complex(*SIX_BAR["foot"]))


def start_of(form: Form, angle: float, joints: str) -> dict[str, float]:
    """Start values of joints at an angle of the crank."""
    return {name: float(form(angle)[name].value.real) for name in joints}


def differences_from(form: Form, result: lw.KinematicResult, joints: Sequence[str]) -> np.ndarray:
    """(rows, 3): largest differences of coordinates, modulo a revolution, speeds and accelerations from a form.

    The latter two are relative to the largest speed and acceleration of the row where that is above one.
    """
    found = np.empty((len(result), 3))
    for k, angle in enumerate(result["A.q"]):
        exact = form(float(angle))
        values = np.array([[exact[n].value, exact[n].first, exact[n].second] for n in joints]).real
        left = np.array([[result[f"{n}.{letter}"][k] for letter in "qua"] for n in joints]) - values
        angles = [n != "S" for n in joints]
        left[angles, 0] = np.angle(np.exp(1j * left[angles, 0]))
        found[k] = np.abs(left).max(axis=0) / [1.0, *np.maximum(1.0, np.abs(values[:, 1:]).max(axis=0))]
    return found
