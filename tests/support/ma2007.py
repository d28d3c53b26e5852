"""Chains of four bars whose joint locks or whose tip is pinned, after Mukherjee and Anderson 2007."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

import linkwork as lw

from .checkout import beside
from .poses import Array

JOINTS = ("j1", "j2", "j3", "j4")


@dataclass
class Chain:
    """A chain with its event, and the solution: `data` about the event, `t` (nt,), angles and rates (nt, 4)."""

    mechanism: lw.Mechanism
    data: dict[str, Any]
    t: Array
    q: Array
    u: Array


def chain(case: str) -> Chain:
    """The case "ma2007_lock_A" or "ma2007_pin_A"."""
    data = json.loads(beside(f"cases/{case}.json").read_text())
    rows = np.loadtxt(beside(f"cases/{case}.csv"), delimiter=",", skiprows=1)
    n = data["n"]
    mech = lw.Mechanism(case, gravity=(0, -data["gravity"], 0))
    parent, at = "ground", 0.0
    for i, name in enumerate(JOINTS):
        length, mass, body = data["link_lengths"][i], data["link_masses"][i], f"link{i + 1}"
        inertia = data["link_inertia_about_com"][i] * np.diag([0, 1, 1])
        mech.add_body(body, mass=mass, com=(length / 2, 0, 0), inertia=inertia)
        mech.add_joint(name, lw.Revolute((0, 0, 1)), parent, body, parent_frame=lw.Frame((at, 0, 0)))
        parent, at = body, length
    mech.start(q=dict(zip(JOINTS, data["q0_relative"], strict=True)), u=dict(zip(JOINTS, data["qd0"], strict=True)))
    when = lw.Time(data["event_time"])
    for joint in data["locked_joints_1based"]:
        mech.add_transition("event", lw.Lock(f"j{joint}"), when=when)
    if data["tip_pinned"]:
        pin = lw.Pin(parent, "ground", lw.Revolute((0, 0, 1)), parent_frame=lw.Frame((at, 0, 0)))
        mech.add_transition("event", pin, when=when)
    return Chain(mech, data, rows[:, 0], rows[:, 1 : n + 1], rows[:, n + 1 :])
