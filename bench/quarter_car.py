"""The multilink suspension of a quarter car: five bodies on a fixed chassis, three loops, one degree of freedom."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from bench.mechanisms import Missing
from linkwork.mechanism.joints import JointKind

SPEED = {"ground_upper_arm": 1.0}  # rad/s, of the one degree of freedom


def mechanism(cases: Path) -> lw.Mechanism:
    """Build it from the hard points in the folder of published cases, without its spring."""
    path = cases / "quarter_car_multilink.json"
    if not path.exists():
        raise Missing(f"there is no {path.name} in a folder `cases` next to the peers'")
    case = json.loads(path.read_text(encoding="utf-8"))
    mech = lw.Mechanism("quarter_car")
    for name, body in case["bodies"].items():
        inertia = np.array(body["inertia"]) if "inertia" in body else np.diag(body.get("inertia_diag", (0, 0, 0)))
        if "inertia_axial" in body:
            inertia = _slender(body, _direction(case, name))
        mech.add_body(_short(name), mass=body["mass"], com=body["com"], inertia=inertia)
    for joint in case["joints"]:
        first, second = map(_short, joint["bodies"])
        cut = joint["type"] == "spherical_cut"
        mech.add_joint(f"{first}_{second}", _kind(joint), first, second, at=joint["point"], cut=cut)
    return mech


def _kind(joint: dict[str, Any]) -> JointKind:
    point = np.array(joint["point"])
    if joint["type"] == "revolute":
        return lw.Revolute(np.array(joint["second_point_on_axis"]) - point)
    if joint["type"] == "universal":
        return lw.Universal(joint["axis_on_chassis"], joint["axis_on_link"])
    return lw.Spherical()


def _short(name: str) -> str:
    return {"chassis": "ground", "upright_with_spindle": "upright"}.get(name, name)


def _direction(case: dict[str, Any], name: str) -> np.ndarray:
    """Unit vector along a link, between its joints."""
    ends = [np.array(joint["point"]) for joint in case["joints"] if name in joint["bodies"]]
    along = ends[1] - ends[0]
    return np.asarray(along / np.linalg.norm(along))


def _slender(body: dict[str, Any], along: np.ndarray) -> np.ndarray:
    across = np.eye(3) - np.outer(along, along)
    inertia: np.ndarray = body["inertia_transverse"] * across + body["inertia_axial"] * np.outer(along, along)
    return inertia
