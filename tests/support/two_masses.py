"""Two masses on springs, each an FMU, coupled by a spring between them: each feels the other's position as a force."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork.cosim import Result, System, run
from linkwork.cosim.masters import Master

MASSES = (1.0, 2.0)


@dataclass
class TwoMasses:
    """The FMUs, and the motion in closed form."""

    folder: Path
    versions: tuple[str, str] = ("2.0", "2.0")
    stiffness: tuple[float, float] = (10.0, 8.0)
    damping: tuple[float, float] = (0.0, 0.0)
    coupling: float = 5.0
    speeds: tuple[float, float] = (0.0, 0.0)  # at the start
    models: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows = zip(("left", "right"), MASSES, self.stiffness, self.damping, (1.0, 0.0), self.versions, strict=True)
        self.fmus = [self._export(*row) for row in rows]
        k, c, d = self.stiffness, self.coupling, self.damping
        self.matrix = np.zeros((4, 4))
        self.matrix[:2, 2:] = np.eye(2)
        self.matrix[2] = np.array([-(k[0] + c), c, -d[0], 0.0]) / MASSES[0]
        self.matrix[3] = np.array([c, -(k[1] + c), 0.0, -d[1]]) / MASSES[1]

    def _export(self, name: str, mass: float, stiffness: float, damping: float, start: float, version: str) -> Path:
        mech = lw.Mechanism(name, gravity=(0, 0, 0))
        mech.add_body("b", mass=mass, com=(0, 0, 0), inertia=lw.inertia.sphere(mass, 0.1))
        mech.add_joint("x", lw.Prismatic(axis=(1, 0, 0)), "ground", "b", at=(0, 0, 0))
        mech.add_force(lw.SpringDamper("x", stiffness=stiffness + self.coupling, damping=damping))
        mech.start(q={"x": start})
        return lw.export_fmu(mech, self.folder / f"{name}.fmu", fmi=version, outputs=["x.q", "x.u"])

    def system(self) -> System:
        system = System("two masses")
        for name, fmu, speed in zip(("left", "right"), self.fmus, self.speeds, strict=True):
            system.add(name, fmu, parameters={"x.u_start": speed})
        system.connect("left.x.q", "right.x.tau", factor=self.coupling, convert_units=False)
        system.connect("right.x.q", "left.x.tau", factor=self.coupling, convert_units=False)
        return system

    def run(self, stop: float, master: Master) -> Result:
        return run(self.system(), stop, master=master, tolerance=1e-10, models=self.models)

    def exact(self, t: np.ndarray) -> np.ndarray:
        """Both positions at times, (nt, 2), by the exponential of the matrix."""
        values, vectors = np.linalg.eig(self.matrix)
        parts = vectors * np.linalg.solve(vectors, np.array([1.0, 0.0, *self.speeds], complex))
        return (np.exp(np.outer(t, values)) @ parts.T).real[:, :2]

    def errors(self, result: Result) -> np.ndarray:
        """The larger error of both positions at each communication point, (nt,)."""
        found = np.column_stack([result["left.x.q"], result["right.x.q"]])
        return np.abs(found - self.exact(result.t)).max(axis=1)

    def error(self, result: Result) -> float:
        """The largest error of both positions at all communication points."""
        return float(self.errors(result).max())
