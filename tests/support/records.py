"""Mechanisms whose accelerations several formulations once agreed on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import linkwork as lw

from .joint_shapes import shape_of
from .placement import Values, plain, vector
from .published import facts
from .rows import Gear


@dataclass
class Record:
    """The joints that closed loops are named L0, L1..; all others J0, J1.. are the tree, and have values here."""

    mechanism: lw.Mechanism
    gears: dict[str, Gear]
    q: Values
    u: Values
    tau: Values
    udot: Values
    energy: tuple[float, float] | None


def record(name: str) -> Record:
    data = facts("mechanisms_of_record")[name]
    _repeat(data)
    mechanism = lw.Mechanism(name, gravity=data["mech"]["gravity"])
    for i, body in enumerate(data["mech"]["bodies"]):
        mechanism.add_body(f"b{i}", body["mass"], body["com"], body["inertia"])
    for letter, kept in (("J", "tree"), ("L", "loops")):
        for i, joint in enumerate(data["mech"][kept]):
            _add(mechanism, f"{letter}{i}", joint)
    given = data["mech"].get("gears", [])
    gears = {f"g{i}": Gear({f"J{k}": factor for k, _, factor in g}) for i, g in enumerate(given)}
    values = {key: _by_joint(mechanism, key, data.get(key) or []) for key in ("q", "u", "tau", "udot")}
    energy = (data["kinetic"], data["potential"]) if "kinetic" in data else None
    return Record(mechanism, gears, energy=energy, **values)


def _repeat(data: dict[str, Any]) -> None:
    """A ladder is given by its first leg and one cell of two bodies, which come again, each a step further along."""
    cells, mech = data.pop("cells", 1), data["mech"]
    rung, leg = mech["tree"][-2:]
    for k in range(1, cells):
        mech["bodies"] += mech["bodies"][1:3]
        mech["tree"] += [joint | {"a": joint["a"] + 2 * k, "b": joint["b"] + 2 * k} for joint in (rung, leg)]
        foot = mech["loops"][0]
        mech["loops"].append(foot | {"b": foot["b"] + 2 * k, "pa": [(k + 1) * x for x in foot["pa"]]})
    for key in ("q", "u", "udot"):
        data[key] += data[key][2:4] * (cells - 1)


def _add(mechanism: lw.Mechanism, name: str, joint: dict[str, Any]) -> None:
    axes = {"revolute": [[0, 0, 1]], "prismatic": [[0, 0, 1]], "universal": [[1, 0, 0], [0, 1, 0]]}
    classes = {"revolute": "Revolute", "prismatic": "Prismatic", "universal": "Universal"}
    classes |= {"spherical": "Spherical", "free6": "Free"}
    kind = getattr(lw, classes[joint["type"]])(*axes.get(joint["type"], []))
    ends = ["ground" if joint[end] < 0 else f"b{joint[end]}" for end in "ab"]
    frames = [lw.Frame(joint[f"p{end}"], np.array(joint[f"R{end}"])) for end in "ab"]
    cut = name.startswith("L")
    mechanism.add_joint(name, kind, *ends, parent_frame=frames[0], child_frame=frames[1], cut=cut)


def _by_joint(mechanism: lw.Mechanism, key: str, values: list[float]) -> dict[str, Any]:
    """The flat array of a record, joint by joint."""
    result, rest = {}, vector(values)
    for name, joint in mechanism.joints.items():
        if name.startswith("J") and len(rest):
            shape = shape_of(joint.kind)
            count = shape.nq if key == "q" else shape.nu
            result[name], rest = plain(rest[:count]), rest[count:]
    return result
