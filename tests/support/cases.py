"""Mechanisms with published or independently agreed solutions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import linkwork as lw

from .checkout import DATA
from .poses import Array

T = TypeVar("T", float, Array)


@dataclass
class Case:
    """A mechanism with one state, by joint name, and its accelerations or its motion as far as they are known."""

    mechanism: lw.Mechanism
    q: dict[str, float]
    u: dict[str, float]
    udot: dict[str, float] = field(default_factory=dict)
    t: Array = field(default_factory=lambda: np.zeros(0))
    motion: dict[str, Array] = field(default_factory=dict)  # coordinate of each joint over t


class Plane:
    """Bars along x of their own frames, joined by revolutes about one common axis."""

    def __init__(self, name: str, axis: str, gravity: tuple[float, float, float]) -> None:
        self.mech = lw.Mechanism(name, gravity=gravity)
        self.axis = {"y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}[axis]

    def bar(self, name: str, mass: float, length: float, aside: float = 0.0, axial: float = 0.0) -> None:
        """Slender bar; `aside` moves its centre of mass out of the plane, `axial` is its moment about x."""
        across = mass * length**2 / 12 + axial / 2
        com = (length / 2, 0.0, aside)
        self.mech.add_body(name, mass=mass, com=com, inertia=np.diag([axial, across, across]))

    def pin(self, name: str, parent: str, child: str, x: float, at_child: float = 0.0, *, cut: bool = False) -> None:
        """Revolute `x` along the parent and `at_child` along the child."""
        parent_frame, child_frame = (lw.Frame((value, 0.0, 0.0)) for value in (x, at_child))
        kind = lw.Revolute(axis=self.axis)
        self.mech.add_joint(name, kind, parent, child, parent_frame=parent_frame, child_frame=child_frame, cut=cut)


def four_bar(cut: str = "D") -> Case:
    """Four-bar with a coupler whose mass stands out of the plane; joint `cut` closes the loop."""
    plane = Plane("four_bar_of_record", "y", (0.0, 0.0, -9.81))
    plane.bar("crank", 1.0, 0.4, axial=2e-4)
    plane.bar("coupler", 2.0, 1.0, aside=0.05, axial=4e-4)
    plane.bar("rocker", 1.5, 0.8, axial=3e-4)
    plane.pin("A", "ground", "crank", 0.0)
    plane.pin("B", "crank", "coupler", 0.4)
    plane.pin("C", "coupler", "rocker", 1.0, cut=cut == "C")
    plane.pin("D", "ground", "rocker", 1.1, 0.8, cut=cut == "D")
    return Case(
        plane.mech,
        q={"A": -0.7, "B": 0.12845650479425672, "C": 2.2011285897274973, "D": 1.629585094521754},
        u={"A": -3.0, "B": 4.0779521198919895, "C": -1.315817598106032, "D": -0.23786547821404305},
        udot={"A": 32.35505658224285, "B": -47.83874454575084, "C": 10.767789538176025, "D": -4.715898425331961},
    )


def five_bar_with_three_legs() -> Case:
    """Two loops that share a leg: coupled, with two degrees of freedom."""
    plane = Plane("three_legs", "y", (0.0, 0.0, -9.81))
    bars = [(1.0, 0.7), (0.8, 0.75), (0.9, 0.75), (1.1, 0.7), (1.0, 0.75), (1.2, 0.7)]
    for i, (mass, length) in enumerate(bars):
        plane.bar(f"b{i}", mass, length, aside=0.03, axial=2e-4 * mass)
    plane.pin("A", "ground", "b0", 0.0)
    plane.pin("B", "b0", "b1", 0.7)
    plane.pin("C", "b1", "b2", 0.75)
    plane.pin("D", "b2", "b3", 0.75)
    plane.pin("E", "b1", "b4", 0.75)
    plane.pin("F", "b4", "b5", 0.75)
    plane.pin("G", "ground", "b3", 0.7, 0.7, cut=True)
    plane.pin("H", "ground", "b5", 1.4, 0.7, cut=True)
    names = "ABCDEF"
    q = (-0.22265759254278208, -1.4586566810080035, 3.9953275917705713)
    q += (-1.7940754903854224, 1.9573438465182524, 1.1825439654021774)
    u = (0.8, -1.1, 0.5692538235433191, -0.9842338513880174, -0.5012414602159313, 0.8929750766048654)
    udot = (16.10367203651774, -20.467233807701675, 10.301568632590145)
    udot += (-19.584108183592704, -11.66548204725147, 18.35726048098132)
    values = [dict(zip(names, row, strict=True)) for row in (q, u, udot)]
    return Case(plane.mech, *values)


def fourbar_planar() -> Case:
    """The planar crank-rocker of record, as 3-D revolutes; `motion` follows from the absolute angles of the file."""
    data = json.loads((DATA / "fourbar_planar.json").read_text())
    table = np.genfromtxt(DATA / "fourbar_planar.csv", delimiter=",", names=True)
    plane = Plane("fourbar_planar", "z", (0.0, -data["g"], 0.0))
    names = ("crank", "coupler", "rocker")
    for name, mass, length in zip(names, data["link_masses"], data["link_lengths"], strict=True):
        plane.bar(name, mass, length)
    crank, coupler, rocker = data["link_lengths"]
    plane.pin("A", "ground", "crank", 0.0)
    plane.pin("B", "crank", "coupler", crank)
    plane.pin("C", "coupler", "rocker", coupler)
    plane.pin("D", "ground", "rocker", data["last_tip_pinned_at"][0], rocker, cut=True)
    return Case(
        plane.mech,
        q=_relative(data["initial_theta"]),
        u=_relative(data["initial_thetadot"]),
        t=table["t"],
        motion=_relative([table[f"theta{i}"] for i in (1, 2, 3)]),
    )


def _relative(absolute: Sequence[T]) -> dict[str, T]:
    """Joint coordinates of three links from their angles to the world."""
    first, second, third = absolute
    return {"A": first, "B": second - first, "C": third - second}


def pendulum() -> Case:
    """IFToMM A01: a point mass on a massless rod, released at the height of its pivot; exact by elliptic functions."""
    gravity, length = 9.81, 1.0
    mech = lw.Mechanism("iftomm_A01", gravity=(0.0, -gravity, 0.0))
    mech.add_body("mass", mass=1.0, com=(length, 0.0, 0.0), inertia=np.zeros((3, 3)))
    mech.add_joint("A", lw.Revolute(axis=(0.0, 0.0, 1.0)), "ground", "mass", parent_frame=lw.Frame())
    t = np.linspace(0.0, 10.0, 101)
    modulus = np.sin(np.pi / 4)  # of half the amplitude
    sine = ellipj(np.sqrt(gravity / length) * t + ellipk(modulus**2), modulus**2)[0]
    from_hanging = -2.0 * np.arcsin(modulus * sine)
    return Case(mech, q={"A": -np.pi}, u={"A": 0.0}, t=t, motion={"A": from_hanging - np.pi / 2})


def chain_before_the_lock() -> Case:
    """Mukherjee & Anderson (2007), 5.1: four rods fall until 0.71768 s; `motion` holds the start and the end only."""
    plane = Plane("ma2007_chain", "z", (0.0, -9.81, 0.0))
    start = np.pi / 3
    for i in range(4):
        plane.bar(f"b{i}", 0.00786, 1.0)
        plane.pin("ABCD"[i], f"b{i - 1}" if i else "ground", f"b{i}", 1.0 if i else 0.0)
    end = (-0.7040401002129097, 4.440273013354099, -1.069236199860308, 1.4916839260962824)
    motion = {name: np.array([start, value]) for name, value in zip("ABCD", end, strict=True)}
    q, u = dict.fromkeys("ABCD", start), dict.fromkeys("ABCD", 0.0)
    return Case(plane.mech, q, u, t=np.array([0.0, 0.71768]), motion=motion)


def windows(count: int) -> Case:
    """IFToMM A02: four-bars in a row, neighbours share a leg, until just before all bars come into line.

    The angle of the legs from the vertical obeys ((N + 1) / 3 + N) theta'' = ((N + 1) / 2 + N) g sin theta.
    """
    plane = Plane("iftomm_A02", "z", (0.0, -9.81, 0.0))
    for i in range(count + 1):
        plane.bar(f"leg{i}", 1.0, 1.0)
        plane.pin(f"A{i}", "ground", f"leg{i}", float(i))
    for i in range(count):
        plane.bar(f"top{i}", 1.0, 1.0)
        plane.pin(f"B{i}", f"leg{i}", f"top{i}", 1.0)
        plane.pin(f"C{i}", f"top{i}", f"leg{i + 1}", 1.0, 1.0, cut=True)
    rate2 = 9.81 * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    t = np.linspace(0.0, 0.675, 28)
    reduced = solve_ivp(
        lambda _, y: [y[1], rate2 * np.sin(y[0])], (0.0, t[-1]), [0.0, 1.0], "DOP853", t, rtol=1e-13, atol=1e-13
    )
    theta, half = reduced.y[0], np.pi / 2
    motion, u = {}, {}
    for name in plane.mech.joints:
        sign = -1.0 if name.startswith("B") else 1.0
        motion[name], u[name] = sign * (half - theta), -sign
    return Case(plane.mech, {name: angles[0] for name, angles in motion.items()}, u, t=t, motion=motion)


def single_window() -> Case:
    """The IFToMM four-bar with one window: a square of bars that passes through poses where all of them are in line.

    On the parallelogram branch the angle of the legs from the vertical obeys (2/3 + 1) theta'' = 2 g sin theta.
    """
    plane = Plane("one_window", "z", (0.0, -9.81, 0.0))
    for name in ("left", "top", "right"):
        plane.bar(name, 1.0, 1.0)
    plane.pin("A", "ground", "left", 0.0)
    plane.pin("B", "left", "top", 1.0)
    plane.pin("C", "top", "right", 1.0)
    mech = plane.mech
    frames = {"parent_frame": lw.Frame((1.0, 0.0, 0.0)), "child_frame": lw.Frame((1.0, 0.0, 0.0))}
    mech.add_joint("D", lw.Revolute(axis=(0.0, 0.0, 1.0)), "ground", "right", cut=True, **frames)
    half = np.pi / 2
    t = np.linspace(0.0, 3.0, 31)
    reduced = solve_ivp(
        lambda _, y: [y[1], 1.2 * 9.81 * np.sin(y[0])], (0.0, 3.0), [0.0, 1.0], "DOP853", t, rtol=1e-13, atol=1e-13
    )
    theta = reduced.y[0]
    motion = {"A": half - theta, "B": theta - half, "C": -half - theta}
    return Case(mech, q={"A": half, "B": -half, "C": -half}, u={"A": -1.0, "B": 1.0, "C": -1.0}, t=t, motion=motion)
