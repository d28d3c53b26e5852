"""The peers' neutral descriptions as Linkwork mechanisms, so that all libraries get the same numbers.

The descriptions come from the folder of the peers' benchmarks, which is not part of the project.
"""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.mechanism.joints import JointKind

PEERS = "LINKWORK_PEERS"
CHECKOUT = Path(__file__).resolve().parent.parent
AXES = {"X": (1, 0, 0), "Y": (0, 1, 0), "Z": (0, 0, 1)}


class Missing(Exception):
    """A requirement of a benchmark is missing; the text names it in one line."""


def peer(name: str, folder: Path | None = None) -> ModuleType:
    """Import a module of the peers' benchmarks from `folder`, else $LINKWORK_PEERS, else next to the checkout."""
    folder = folder or Path(os.environ.get(PEERS, CHECKOUT.parent / "shared" / "peers"))
    if not (folder / f"{name}.py").exists():
        raise Missing(f"there is no {name}.py in the peers' folder; name that folder by --peers or ${PEERS}")
    sys.path.insert(0, str(folder.resolve()))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


def example(name: str) -> ModuleType:
    """Import a module of the examples, which import each other by their names alone."""
    sys.path.insert(0, str(CHECKOUT / "examples"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.pop(0)


@dataclass(frozen=True)
class Scene:
    """A mechanism in one state: the neutral description and what Linkwork makes of it."""

    name: str
    neutral: dict[str, Any]
    system: lw.Model

    @classmethod
    def of(cls, neutral: dict[str, Any], name: str, pins: str = "revolute", **choices: str) -> Scene:
        """Compile a neutral description; `pins` as in `mechanism`, the choices as in `linkwork.compile`."""
        return cls(name, neutral, lw.compile(mechanism(neutral, pins), **choices))

    @property
    def motion(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q and u of the tree joints, and tau of all joints."""
        cut = np.zeros(self.system.numbering.nu_cut)
        return self.neutral["q"], self.neutral["v"], np.concatenate([self.neutral["tau"], cut])


def mechanism(neutral: dict[str, Any], pins: str = "revolute") -> lw.Mechanism:
    """Return the same mechanism.

    A pin makes two points coincide, as a spherical joint does. In a planar loop it may as well be a revolute about the
    axis of its first body's joint, as one would describe such a loop.
    """
    mech = lw.Mechanism(neutral["name"], gravity=neutral["grav"])
    bodies = {-1: "ground"}
    kinds = [_kind(joint["type"]) for joint in neutral["joints"]]
    for i, joint in enumerate(neutral["joints"]):
        bodies[i] = f"b{i}"
        mech.add_body(bodies[i], mass=joint["m"], com=joint["c"], inertia=joint["I"])
        place = lw.Frame(joint["p"])
        mech.add_joint(f"j{i}", kinds[i], bodies[joint["parent"]], bodies[i], parent_frame=place)
    for k, (a, at_a, b, at_b) in enumerate(neutral["pins"]):
        kind = kinds[a] if pins == "revolute" else lw.Spherical()
        ends = lw.Frame(at_a), lw.Frame(at_b)
        mech.add_joint(f"pin{k}", kind, bodies[a], bodies[b], parent_frame=ends[0], child_frame=ends[1], cut=True)
    return mech


def _kind(letters: str) -> JointKind:
    """The joint about one axis of its frame, or about x and then y."""
    return lw.Universal(AXES["X"], AXES["Y"]) if letters == "U" else lw.Revolute(AXES[letters])


def random_tree(chain: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    """Return the bodies of a chain, each on a body (or the ground) drawn from all before it."""
    rng = np.random.default_rng(seed)
    joints = [dict(joint, parent=int(rng.integers(-1, i))) if i else joint for i, joint in enumerate(chain["joints"])]
    return dict(chain, joints=joints)
