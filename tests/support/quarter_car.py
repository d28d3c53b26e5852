"""The multilink suspension of the published cases: five bodies, ten joint coordinates, one degree of freedom."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw

from .poses import quaternion_matrix, unit
from .published import Columns, Published, facts, moving_point, table

WHEEL = np.array([0.0, 0.95, 0.0])
_NAMES = {"upright": "upright_with_spindle"}


def quarter_car_multilink() -> Published:
    given, columns = facts("quarter_car_multilink"), table("quarter_car_multilink")
    mech = lw.Mechanism("quarter_car_multilink", gravity=(0, 0, -9.81))
    for name, body in given["bodies"].items():
        mech.add_body(_short(name), mass=body["mass"], com=body["com"], inertia=_inertia(given, body))
    for k, joint in enumerate(given["joints"]):
        parent, child = map(_short, joint["bodies"])
        cut = joint["type"].endswith("_cut")
        mech.add_joint(f"J{k}", _kind(joint), parent, child, at=joint["point"], cut=cut)
    spring = given["spring_damper"]
    points = spring["chassis_point"], spring["trailing_link_point"]
    constants = {"stiffness": spring["stiffness"], "damping": spring["damping"], "free": spring["free_length"]}
    mech.add_force(lw.SpringDamper(bodies=("ground", "trailing_link"), points=points, **constants))
    t = columns.pop("t")
    com = np.array(given["bodies"]["upright_with_spindle"]["com"])

    def observe(result: Any) -> Columns:
        wheel = moving_point(result, "upright", WHEEL)
        stretched = moving_point(result, "trailing_link", np.array(points[1])) - points[0]
        turning = result["upright.w"]
        arms = np.array([quaternion_matrix(quaternion) @ com for quaternion in result["upright.Q"]])
        velocity = result["upright.v"] + np.cross(turning, arms)
        observed = {f"wheel_{axis}": wheel[:, k] for k, axis in enumerate("xyz")}
        observed |= {"spring_length": np.linalg.norm(stretched, axis=1)}
        observed |= {name: velocity[:, k] for k, name in enumerate(("upright_com_vx", "vy", "vz"))}
        return observed | {name: turning[:, k] for k, name in enumerate(("upright_wx", "wy", "wz"))}

    return Published(mech, {}, {}, t, columns, observe)


def _short(name: str) -> str:
    return {"chassis": "ground", "upright_with_spindle": "upright"}.get(name, name)


def _inertia(given: dict[str, Any], body: dict[str, Any]) -> Any:
    """About the centre of mass in the axes of the design position."""
    if "inertia_transverse" in body:  # the tie rod: its last joints give its direction
        ends = [np.array(joint["point"]) for joint in given["joints"] if "tie_rod" in joint["bodies"]]
        line = np.outer(unit(ends[1] - ends[0]), unit(ends[1] - ends[0]))
        return body["inertia_transverse"] * (np.eye(3) - line) + body["inertia_axial"] * line
    return body["inertia"] if "inertia" in body else np.diag(body["inertia_diag"])


def _kind(joint: dict[str, Any]) -> lw.JointKind:
    if joint["type"] == "revolute":
        return lw.Revolute(np.subtract(joint["second_point_on_axis"], joint["point"]))
    if joint["type"] == "universal":
        return lw.Universal(joint["axis_on_chassis"], joint["axis_on_link"])
    return lw.Spherical()
