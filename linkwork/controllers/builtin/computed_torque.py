"""Computed torque: the drives' loads for the accelerations that a* = a_d + kd (u_d - u) + kp (q_d - q) asks of them.

The pose is closed from the measured coordinates, from the last one on. Accelerations a are affine in the drives' loads,
a = b + M tau, so that tau follows from as many forward dynamics as there are drives, and one: loops, springs, dampers
and gravity included. With more drives than degrees of freedom these are the least loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork._util.keywords import checks_keywords
from linkwork.controllers.built_in import built_in
from linkwork.controllers.controller import Controller
from linkwork.errors import FmuError, FmuNameError

if TYPE_CHECKING:
    from linkwork.mechanism import Mechanism
    from linkwork.model.model import Model
    from linkwork.model.state import State

FloatArray = NDArray[np.float64]


class ComputedTorque(Controller):
    """It runs Linkwork inside the FMU, on the mechanism that the FMU carries."""

    unsaved = ("system", "joints", "probes", "block", "at_first")

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        from linkwork.mechanism import Mechanism
        from linkwork.model.compile import compile

        self.system = compile(Mechanism.from_dict(self.setting("mechanism")))
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
        self.pose = self.found = _pose(start)
        self.probes = _probes(self.joints)
        self.block = self.system.block()  # of all position assemblies: each begins at first, so that it is no state
        self.at_first = self.block.reals.copy()

    def outputs(self, t: float) -> None:
        """The drives' loads."""
        wished = [
            self[f"{j}.a_d"]
            + self.kd * (self[f"{j}.u_d"] - self[f"{j}.u"])
            + self.kp * (self[f"{j}.q_d"] - self[f"{j}.q"])
            for j in self.joints
        ]
        state = self._state(t)
        self.found = _pose(state)
        free, matrix = _affine(self.system, state, self.probes, t)
        loads = np.linalg.lstsq(matrix, np.array(wished) - free, rcond=1e-10)[0]
        for joint, load in zip(self.joints, loads, strict=True):
            self[f"{joint}.tau"] = float(load)

    def update(self, t: float, dt: float) -> None:
        """The pose found for the outputs is the one from which the next is closed."""
        self.pose = self.found

    def _state(self, t: float) -> Any:
        from linkwork.core.native import ASSEMBLY_TOLERANCE, Stage

        q = {joint: self[f"{joint}.q"] for joint in self.joints}
        u = {joint: self[f"{joint}.u"] for joint in self.joints}
        self.block.reals[:] = self.at_first
        self.system.set_starts(self.block, q | {j: v for j, v in self.pose.items() if j not in q}, u)
        self.block.put("time", t, Stage.NONE)
        self.block.put_motion(t, self.system.arguments.motions(None))
        self.block.assemble(ASSEMBLY_TOLERANCE)
        return self.system.state_of(self.block)


def _probes(joints: Sequence[str]) -> dict[str, FloatArray]:
    """Return loads by joint, (drives + 1,) each: none at all, then one of each drive."""
    loads = np.eye(len(joints) + 1, len(joints), k=-1)
    return {joint: loads[:, k] for k, joint in enumerate(joints)}


def _affine(system: Model, state: State, probes: dict[str, FloatArray], t: float) -> tuple[FloatArray, FloatArray]:
    """Return b (drives,) and M (drives, drives) of the drives' accelerations b + M tau."""
    found = system.by_joint(system.accelerations(state, tau=probes, time=t))
    answers = np.array([found[joint] for joint in probes])
    return answers[:, 0], answers[:, 1:] - answers[:, :1]


def _pose(state: Any) -> dict[str, Any]:
    """Coordinates by joint, of the cut joints as well."""
    by_joint = state.model.by_joint(state.q)
    return {joint: np.asarray(value).tolist() for joint, value in by_joint.items()}


@built_in(ComputedTorque)
@checks_keywords
def computed_torque(
    mechanism: Mechanism,
    actuated: Sequence[str],
    *,
    kp: float = 100.0,
    kd: float = 20.0,
    sample_time: float = 0.0,
) -> dict[str, Any]:
    """Write computed-torque control of a mechanism as an FMU.

    Parameters
    ----------
    mechanism
        What the controller takes the plant for; the FMU carries it as JSON.
    actuated
        Joints of one coordinate that have drives, as many as the mechanism has degrees of freedom, or more.
    kp, kd
        1/s2 and 1/s: the errors e obey e'' + kd e' + kp e = 0.
    sample_time
        s; 0: each communication step is a sample.

    Raises
    ------
    FmuError
        If the drives do not determine the motion.
    """
    _refuse(mechanism, actuated)
    settings = {"mechanism": mechanism.to_dict(), "actuated": list(actuated)}
    return settings | {"kp": kp, "kd": kd, "sample_time": sample_time}


def _refuse(mechanism: Mechanism, actuated: Sequence[str]) -> None:
    from linkwork._util.names import suggest
    from linkwork.model.compile import compile
    from linkwork.model.mobility import degrees_of_freedom

    if isinstance(actuated, str) or not actuated:
        raise FmuError(f"computed_torque: name the joints that have drives, as in ['L', 'R'], not {actuated!r}")
    for joint in actuated:
        if joint not in mechanism.joints:
            raise FmuNameError(f"computed_torque: there is no joint {joint!r}; {suggest(joint, mechanism.joints)}")
        if mechanism.joints[joint].kind.type_name not in ("revolute", "prismatic"):
            raise FmuError(
                f"computed_torque: joint {joint!r} has several coordinates; drive revolute or prismatic ones"
            )
    system = compile(mechanism)
    state = system.assemble()
    moved = np.linalg.svd(_affine(system, state, _probes(actuated), 0.0)[1], compute_uv=False)
    determined, freedoms = int((moved > 1e-9 * moved[0]).sum()), degrees_of_freedom(system, state)
    if determined < freedoms:
        raise FmuError(
            f"computed_torque: the mechanism has {freedoms} degrees of freedom, of which "
            f"the drives {', '.join(actuated)} determine {determined}: name more joints"
        )
