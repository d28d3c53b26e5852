"""Planar four-bars: one whose every coordinate becomes singular in turn, and a row of them on each other."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .cases import Case, Plane
from .pinned_chain import PinnedChain
from .poses import Array

ROCKER_LENGTHS, ROCKER_BASE = (1.0, 0.9, 0.8), 1.5


def double_rocker(cut: str = "D") -> Case:
    """No bar on the ground and no coupler can do a full revolution; released at rest, gravity along -y."""
    masses, gravity = (1.0, 1.0, 1.0), np.array([0.0, -9.81])
    plane = Plane("double_rocker", "z", (*gravity, 0.0))
    names = ("left", "coupler", "right")
    for name, mass, length in zip(names, masses, ROCKER_LENGTHS, strict=True):
        plane.bar(name, mass, length)
    plane.pin("A", "ground", "left", 0.0, cut=cut == "A")
    plane.pin("B", "left", "coupler", ROCKER_LENGTHS[0], cut=cut == "B")
    plane.pin("C", "coupler", "right", ROCKER_LENGTHS[1], cut=cut == "C")
    plane.pin("D", "ground", "right", ROCKER_BASE, ROCKER_LENGTHS[2], cut=cut == "D")
    angles = np.array([1.0, *_two_bars(1.0, *ROCKER_LENGTHS, ROCKER_BASE)])
    t = np.linspace(0.0, 3.0, 61)
    chain = PinnedChain(masses, ROCKER_LENGTHS, (ROCKER_BASE, 0.0), gravity)
    motion = dict(zip("ABCD", _joints(chain.motion(angles, np.zeros(3), t)), strict=True))
    q = {name: column[0] for name, column in motion.items()}
    return Case(plane.mech, q, dict.fromkeys(q, 0.0), t=t, motion=motion)


def _two_bars(crank: float, first: float, second: float, third: float, base: float) -> tuple[float, float]:
    """Angles to the world of the second and third bar that close the loop, the knee above."""
    to_end = np.array([base, 0.0]) - first * np.array([np.cos(crank), np.sin(crank)])
    reach = np.hypot(*to_end)
    coupler = np.arctan2(to_end[1], to_end[0]) + np.arccos((second**2 + reach**2 - third**2) / (2 * second * reach))
    rest = to_end - second * np.array([np.cos(coupler), np.sin(coupler)])
    return coupler, np.arctan2(rest[1], rest[0])


def _joints(angles: Array) -> list[Array]:
    """Coordinates of A, B, C, D from angles to the world."""
    first, second, third = angles
    return [first, second - first, third - second, third]


def series_of_four_bars(count: int) -> Case:
    """Each four-bar is mounted on the coupler of the one before; joints A0, B0, C0, D0, A1.. with D as the cuts."""
    plane = Plane("series_of_four_bars", "z", (0.0, -9.81, 0.0))
    crank, coupler, rocker, base = 0.4, 0.9, 0.8, 1.0
    q, carrier, start = {}, "ground", 0.0
    for k in range(count):
        for name, length in (("crank", crank), ("coupler", coupler), ("rocker", rocker)):
            plane.bar(f"{name}{k}", length, length, axial=2e-4)
        plane.pin(f"A{k}", carrier, f"crank{k}", start)
        plane.pin(f"B{k}", f"crank{k}", f"coupler{k}", crank)
        plane.pin(f"C{k}", f"coupler{k}", f"rocker{k}", coupler)
        plane.pin(f"D{k}", carrier, f"rocker{k}", start + base, rocker, cut=True)
        angle = 0.9 + 0.3 * np.cos(k)
        angles = np.array([angle, *_two_bars(angle, crank, coupler, rocker, base)])
        q |= dict(zip((f"{name}{k}" for name in "ABCD"), _joints(angles), strict=True))
        carrier, start = f"coupler{k}", -0.05
    u = {f"A{k}": 1.0 - 0.2 * (k % 3) for k in range(count)}
    return Case(plane.mech, q, u)


def total_energy(result: lw.Result) -> Array:
    return result["energy.kinetic"] + result["energy.potential"]
