"""Rods between balls, and point masses on balls, in random mechanisms, and the same in maximal coordinates.

`thickness` is the inertia about a rod's line over mass times length squared. Body frames are turned at random, so that
no axis of a rod is an axis of its frame.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import linkwork as lw

from .maximal import Array, Maximal, across
from .moving import moving
from .poses import random_rotation


@dataclass
class Scene:
    """A mechanism by hard points."""

    rng: np.random.Generator
    thickness: float
    mech: lw.Mechanism = field(default_factory=lambda: lw.Mechanism("rods"))
    joints: list[tuple[str, str, str, Array, Array]] = field(default_factory=list)  # type, ends, point, axis
    lines: list[tuple[str, Array]] = field(default_factory=list)  # idle spins: body, direction in it
    points: list[str] = field(default_factory=list)  # bodies that turn idly about all lines

    def body(self, name: str, at: Array) -> None:
        R, turn = random_rotation(self.rng), random_rotation(self.rng)
        a, b, c = self.rng.uniform(0.01, 0.02, 3)
        inertia = turn @ np.diag([a + b, b + c, c + a]) @ turn.T
        com, mass = 0.05 * self.rng.normal(size=3), float(self.rng.uniform(0.5, 2))
        self.mech.add_body(name, mass=mass, com=com, inertia=0.5 * (inertia + inertia.T), origin=tuple(at), rotation=R)

    def rod(self, name: str, p: Array, q: Array, idle: bool = True) -> None:
        R, length, mass = random_rotation(self.rng), float(np.linalg.norm(q - p)), float(self.rng.uniform(0.2, 1))
        d = R.T @ (q - p) / length
        across_it = mass * length**2 / 12 * (np.eye(3) - np.outer(d, d))
        inertia = across_it + self.thickness * mass * length**2 * np.outer(d, d)
        self.mech.add_body(
            name, mass=mass, com=d * length / 2, inertia=0.5 * (inertia + inertia.T), origin=tuple(p), rotation=R
        )
        if idle:
            self.lines.append((name, d))

    def joint(self, name: str, kind: str, one: str, other: str, at: Array, axis: Array | None = None) -> None:
        axis = np.array([0.0, 0.0, 1.0]) if axis is None else np.asarray(axis, dtype=float)
        types = {"S": lw.Spherical(), "X": lw.Fixed(), "F": lw.Free()}
        made = types.get(kind) or {"R": lw.Revolute, "P": lw.Prismatic, "C": lw.Cylindrical}[kind](axis)
        ends = (one, other) if self.rng.random() < 0.5 or one == "ground" else (other, one)
        self.mech.add_joint(name, made, *ends, at=tuple(at))
        self.joints.append((kind, *ends, np.asarray(at, dtype=float), axis))

    def maximal(self, model: lw.Model, state: lw.State) -> Maximal:
        """The same in a state."""
        bodies = self.mech.bodies
        system = Maximal(
            {n: moving(model, state, n, b.mass, np.array(b.com), b.inertia) for n, b in bodies.items()},
            np.array(self.mech.gravity),
        )

        def place(name: str) -> tuple[str | None, Array, Array]:
            if name == "ground":
                return None, np.zeros(3), np.eye(3)
            return name, np.array(bodies[name].origin), np.array(bodies[name].rotation)

        for kind, one, other, at, axis in self.joints:
            (a, pa, Ra), (b, pb, Rb) = place(one), place(other)
            at_a, at_b, da, db = Ra.T @ (at - pa), Rb.T @ (at - pb), Ra.T @ axis, Rb.T @ axis
            if kind in "SRX":
                system.coincide(a, at_a, b, at_b)
            if kind in "RC":
                system.parallel(a, da, b, db)
            if kind in "PX":
                system.aligned(a, Ra.T, b, Rb.T)
            if kind in "PC":
                system.rows += [system.gap(a, at_a, b, at_b, e, a) for e in across(da)]
        return system

    def leave_spins(self, system: Maximal) -> None:
        """Add a row d.alpha = 0 for each idle spin."""
        for name, d in self.lines:
            system.rows.append(system.spin(None, name, system.bodies[name].R @ d))
        for name in self.points:
            system.rows += [system.spin(None, name, e) for e in np.eye(3)]


def direction(scene: Scene) -> Array:
    return scene.rng.normal(size=3)


def crank_and_rocker(scene: Scene, second: str = "R", base: str = "ground") -> None:
    """A rod from a crank to a rocker or to a slider, on the ground or on a free body."""
    p = 0.2 * direction(scene)
    q = p + 0.4 * direction(scene) + [0.5, 0, 0]
    if base != "ground":
        scene.body(base, np.array([0, 0, -0.1]))
        scene.joint("F", "F", "ground", base, np.array([0, 0, -0.1]))
    scene.body("crank", 0.5 * p)
    scene.joint("A", "R", base, "crank", np.zeros(3), direction(scene))
    scene.body("rocker", q)
    scene.joint("D", second, base, "rocker", q + 0.3 * direction(scene), direction(scene))
    scene.rod("rod", p, q)
    scene.joint("B", "S", "crank", "rod", p)
    scene.joint("C", "S", "rod", "rocker", q)
    scene.mech.start(u={"A": scene.rng.uniform(2, 6)})


def suspension(scene: Scene) -> None:
    """Five rods carry an upright."""
    hub = np.array([0, 0.6, 0.0])
    scene.body("upright", hub)
    for k in range(5):
        p, q = 0.15 * direction(scene), hub + 0.12 * direction(scene)
        scene.rod(f"rod{k}", p, q)
        scene.joint(f"I{k}", "S", "ground", f"rod{k}", p)
        scene.joint(f"O{k}", "S", f"rod{k}", "upright", q)
    scene.mech.start(u={"I0": direction(scene)})


def ladder(scene: Scene) -> None:
    """Three arms, and rods from one to the next."""
    for k in range(3):
        scene.body(f"arm{k}", np.array([0.5 * k, 0, 0.1]))
        scene.joint(f"A{k}", "R", "ground", f"arm{k}", np.array([0.5 * k, 0, 0]), np.array([0, 1, 0.1 * k]))
    for k in range(2):
        p = np.array([0.5 * k, 0.02, 0.3])
        q = p + [0.5, 0.08, 0] + 0.02 * direction(scene)
        scene.rod(f"rod{k}", p, q)
        scene.joint(f"B{k}", "S", f"arm{k}", f"rod{k}", p)
        scene.joint(f"C{k}", "S", f"rod{k}", f"arm{k + 1}", q)
    scene.mech.start(u={"A0": 2.0})


def strut(scene: Scene) -> None:
    """Two rods that slide along each other between balls, with one spin or two."""
    p = 0.1 * direction(scene)
    q = p + [0.1, 0.2, 0.8] + 0.1 * direction(scene)
    scene.body("arm", 0.6 * q)
    scene.joint("A", "R", "ground", "arm", np.array([0, 0.6, 0.2]), np.array([1, 0.2, 0]))
    scene.rod("lower", p, p + 0.6 * (q - p))
    scene.rod("upper", q, p + 0.4 * (q - p))
    scene.joint("S1", "S", "ground", "lower", p)
    scene.joint("S2", "S", "upper", "arm", q)
    scene.joint("T", "PC"[scene.rng.integers(2)], "lower", "upper", p + 0.4 * (q - p), q - p)
    scene.mech.start(u={"A": 1.5})


def weight_on_a_rod(scene: Scene) -> None:
    """An open chain whose last rod has a point mass at its tip."""
    p, q = np.array([0.1, 0, 0.1]), np.array([0.6, 0.2, 0.3])
    scene.body("arm", np.zeros(3))
    scene.joint("A", "R", "ground", "arm", np.zeros(3), direction(scene))
    scene.rod("rod", p, q)
    scene.joint("B", "S", "arm", "rod", p)
    scene.mech.add_body("weight", mass=0.3, com=(0, 0, 0), inertia=0.003 * scene.thickness * np.eye(3), origin=tuple(q))
    scene.joint("X", "X", "rod", "weight", q)
    scene.mech.start(u={"A": 3.0, "B": direction(scene)})


def point_mass(scene: Scene) -> None:
    """On a ball, at its centre: it turns idly about all lines."""
    at = np.array([0.3, 0.1, 0.0])
    scene.body("arm", 0.5 * at)
    scene.joint("A", "S", "ground", "arm", np.zeros(3))
    scene.mech.add_body("weight", mass=0.7, com=(0, 0, 0), inertia=0.03 * scene.thickness * np.eye(3), origin=tuple(at))
    scene.joint("B", "S", "arm", "weight", at)
    scene.points.append("weight")
    scene.mech.start(u={"A": direction(scene), "B": direction(scene)})


SCENES: dict[str, Callable[[Scene], None]] = {
    "RSSR": crank_and_rocker,
    "RSSP": lambda scene: crank_and_rocker(scene, "P"),
    "free base": lambda scene: crank_and_rocker(scene, "R", "base"),
    "suspension": suspension,
    "ladder": ladder,
    "strut": strut,
    "weight on a rod": weight_on_a_rod,
    "point mass": point_mass,
}


def scene(kind: str, seed: int, thickness: float = 0.0) -> Scene:
    made = Scene(np.random.default_rng(seed), thickness)
    SCENES[kind](made)
    return made
