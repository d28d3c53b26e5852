"""Computed torque: the drives' loads for the accelerations that a* = a_d + kd (u_d - u) + kp (q_d - q) asks of them.

The pose is closed from the measured coordinates, from the last one on. Accelerations a are affine in the drives' loads,
a = b + M tau, so that tau follows from as many forward dynamics as there are drives, and one: loops, springs, dampers
and gravity included. With more drives than freedoms these are the least loads.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.controllers import Controller
from linkwork.errors import FmuError

if TYPE_CHECKING:
    from linkwork.description import Mechanism

FloatArray = NDArray[np.float64]


class ComputedTorque(Controller):
    """It runs Linkwork inside the FMU, on the mechanism that the FMU carries."""

    unsaved = ("system", "joints", "probes")

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        import linkwork as lw

        text = (Path(self.resources) / "mechanism.json").read_text(encoding="utf-8")
        mechanism = lw.Mechanism.from_dict(json.loads(text))
        self.system = lw.compile(mechanism)
        self.joints: list[str] = self.setting("actuated")
        start = self.system.assemble()
        for joint in self.joints:
            place, rate, load = (self.system.column(f"{joint}.{part}").unit for part in ("q", "u", "tau"))
            self.add_input(f"{joint}.q", float(start[f"{joint}.q"]), place, "measured coordinate")
            self.add_input(f"{joint}.u", 0.0, rate, "measured speed")
            self.add_input(f"{joint}.q_d", float(start[f"{joint}.q"]), place, "desired coordinate")
            self.add_input(f"{joint}.u_d", 0.0, rate, "desired speed")
            self.add_input(f"{joint}.a_d", 0.0, f"{rate}2", "desired acceleration")
            self.add_output(f"{joint}.tau", load, "load of the drive")
        self.add_parameter("kp", 100.0, "1/s2", "gain on the error of the coordinates")
        self.add_parameter("kd", 20.0, "1/s", "gain on the error of the speeds")
        self.add_sample_time()
        self.pose = _pose(start)
        n = len(self.joints)
        loads = np.vstack([np.zeros(n), np.eye(n)])
        self.probes = {joint: loads[:, k] for k, joint in enumerate(self.joints)}

    def outputs(self, t: float) -> None:
        """The drives' loads."""
        wished = [
            self[f"{j}.a_d"]
            + self.kd * (self[f"{j}.u_d"] - self[f"{j}.u"])
            + self.kp * (self[f"{j}.q_d"] - self[f"{j}.q"])
            for j in self.joints
        ]
        found = self.system.by_joint(self.system.accelerations(self._state(t), tau=self.probes, time=t))
        answers = np.array([found[joint] for joint in self.joints])
        free, matrix = answers[:, 0], answers[:, 1:] - answers[:, :1]
        loads = np.linalg.lstsq(matrix, np.array(wished) - free, rcond=1e-10)[0]
        for joint, load in zip(self.joints, loads, strict=True):
            self[f"{joint}.tau"] = float(load)

    def update(self, t: float, dt: float) -> None:
        """The pose from which the next one is closed."""
        self.pose = _pose(self._state(t))

    def _state(self, t: float) -> Any:
        q = {joint: self[f"{joint}.q"] for joint in self.joints}
        u = {joint: self[f"{joint}.u"] for joint in self.joints}
        return self.system.assemble(q | {j: v for j, v in self.pose.items() if j not in q}, u, time=t)


def _pose(state: Any) -> dict[str, Any]:
    """Coordinates by joint, of the cut joints as well."""
    by_joint = state.system.by_joint(state.q)
    return {joint: np.asarray(value).tolist() for joint, value in by_joint.items()}


def computed_torque(
    mechanism: Mechanism,
    actuated: Sequence[str],
    path: str | Path,
    *,
    kp: float = 100.0,
    kd: float = 20.0,
    sample_time: float = 0.0,
) -> Path:
    """Write computed-torque control of a mechanism as an FMU.

    Parameters
    ----------
    mechanism
        What the controller takes the plant for; the FMU carries it as JSON.
    actuated
        Joints of one coordinate that have drives, as many as the mechanism has freedoms, or more.
    path
        Of the FMU.
    kp, kd
        1/s2 and 1/s: the errors e obey e'' + kd e' + kp e = 0.
    sample_time
        s; 0: each communication step is a sample.

    Raises
    ------
    FmuError
        If a joint is unknown or has several coordinates, or the drives do not determine the motion.
    """
    from linkwork.controllers import package

    _refuse(mechanism, actuated)
    settings = {"actuated": list(actuated), "kp": kp, "kd": kd, "sample_time": sample_time}
    return package(__file__, path, settings=settings, data={"mechanism.json": json.dumps(mechanism.to_dict()).encode()})


def _refuse(mechanism: Mechanism, actuated: Sequence[str]) -> None:
    import linkwork as lw
    from linkwork.description.checks import suggest

    for joint in actuated:
        if joint not in mechanism.joints:
            raise FmuError(f"computed_torque: there is no joint {joint!r}; {suggest(joint, mechanism.joints)}")
        if mechanism.joints[joint].kind.type_name not in ("revolute", "prismatic"):
            raise FmuError(f"computed_torque: joint {joint!r} has no single coordinate; drive revolute or prismatic ones")
    system = lw.compile(mechanism)
    state = system.assemble()
    n = len(actuated)
    loads = np.vstack([np.zeros(n), np.eye(n)])
    answers = system.accelerations(state, tau={joint: loads[:, k] for k, joint in enumerate(actuated)})
    # What the drives move, and what may move at all.
    moved = int(np.linalg.matrix_rank(np.asarray(answers)[1:] - np.asarray(answers)[0], tol=1e-9)) if n else 0
    named = system.by_joint(answers)
    seen = np.array([named[joint] for joint in actuated]) if n else np.zeros((0, 1))
    told = int(np.linalg.matrix_rank(seen[:, 1:] - seen[:, :1], tol=1e-9)) if n else 0
    freedoms = lw.freedoms.degrees_of_freedom(system, state)
    if min(moved, told) < freedoms:
        raise FmuError(
            f"computed_torque: the mechanism has {freedoms} degrees of freedom, of which "
            f"the drives {', '.join(actuated) or '(none)'} determine {min(moved, told)}: name more joints"
        )
