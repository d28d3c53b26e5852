"""Rhodopsin in 26 segments: an all-atom frame and reference data of its rigid bodies, from next to the checkout."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from .checkout import beside
from .poses import Array

ATOMS = "cases/rhodopsin_1u19_allatom.csv.gz"
SEGMENTS = "cases/rhodopsin_26_segments.json"


@dataclass
class Rhodopsin:
    """Atoms and segments as `coarse_grain` takes them; nm, ps, u."""

    positions: Array
    velocities: Array
    masses: Array
    segments: Array
    joints: list[tuple[int, int, Array]]
    known: dict[str, Any]

    @property
    def given(self) -> tuple[Any, ...]:
        return self.positions, self.velocities, self.masses, self.segments, self.joints


def rhodopsin() -> Rhodopsin:
    known = json.loads(beside(SEGMENTS).read_text())
    with gzip.open(beside(ATOMS), "rt", encoding="utf-8") as file:
        atoms = list(csv.DictReader(line for line in file if not line.startswith("#")))
    last = [body["last_residue"] for body in known["bodies"]]
    return Rhodopsin(
        positions=np.array([[float(atom[axis]) for axis in ("x", "y", "z")] for atom in atoms]),
        velocities=np.array([[float(atom[axis]) for axis in ("vx", "vy", "vz")] for atom in atoms]),
        masses=np.array([known["element_masses"][atom["element"]] for atom in atoms]),
        segments=np.searchsorted(last, [int(atom["resid"]) for atom in atoms]),
        joints=[(*(k - 1 for k in joint["between"]), np.array(joint["point"])) for joint in known["joints"]],
        known=known,
    )
