"""Motors by name: by which speeds they turn, their limits, and the input that gives an actuator its force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray, number
from linkwork._util.names import suggest
from linkwork._util.units import LOADS
from linkwork.analysis.pose_functions import driving
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism import Actuator
from linkwork.mechanism.forces import of_kind

if TYPE_CHECKING:
    from linkwork.analysis.configuration_space import ConfigurationSpace

MOST_RATIO = 1e12  # of weights: more would hide which motors drive a degree of freedom
Limit = float | tuple[float, float]
Limits = bool | Limit | Mapping[str, Limit] | None
"""Limits of loads: none, True for those of joints and actuators, one for all motors, or by name of a motor."""


class Motors:
    """Motors of a mechanism, each of which acts along one speed or the rate of an actuator.

    Parameters
    ----------
    space
        Of the model.
    names
        Joints, "A"; single speeds, "U[2]"; actuators. A joint of several speeds is a motor for each.
    """

    def __init__(self, space: ConfigurationSpace, names: Sequence[str]) -> None:
        self._space = space
        self.names: list[str] = []  # one for each motor
        self.units: list[str] = []  # of the motion of each: "rad" or "m"
        rows: list[FloatArray] = []
        speeds: list[tuple[int, int]] = []
        actuators: list[tuple[int, int]] = []
        self._of_model = of_kind(space.model.mechanism.forces, Actuator)
        known = [one.name for one in self._of_model]
        for name in names:
            driving(space, name)  # refuses unknown names
            plain = str(name).removesuffix(".input")
            if plain in known:
                if space.block["actuator_gain"][known.index(plain)] == 0.0:
                    raise MechanismError(f"motors: actuator {plain!r} has gain 0, so that its input makes no force")
                actuators.append((len(self.names), known.index(plain)))
                self._add(plain, self._of_model[known.index(plain)], rows)
            else:
                speeds += self._add_joint(str(name), rows)
        if repeated := {name for name in self.names if self.names.count(name) > 1}:
            raise MechanismError(f"motors: {min(repeated)!r} is named twice: name it once")
        # Rates of the motors by the speeds of all joints, (motors, nu + nu_cut).
        self.rows = np.array(rows).reshape(len(rows), space.model.numbering.nu_all)
        # speeds, actuators: motors that are speeds: their numbers, and those of the speeds; the same of actuators
        self.speeds = np.array(speeds, dtype=int).reshape(-1, 2).T
        self.actuators = np.array(actuators, dtype=int).reshape(-1, 2).T

    def __len__(self) -> int:
        return len(self.names)

    def _add(self, name: str, actuator: Actuator, rows: list[FloatArray]) -> None:
        model = self._space.model
        places = actuator.places(model.mechanism)
        first = sum(len(one.gears) for one in self._of_model[: self._of_model.index(actuator)])
        gears = self._space.block["force_gear"][first : first + len(places)]
        row = np.zeros(model.numbering.nu_all)
        for (joint, element), gear in zip(places, gears, strict=True):
            row[model.numbering.u[joint].start + element] += gear
        rows.append(row)
        self.names.append(name)
        self.units.append(model.mechanism.joints[places[0][0]].kind.motion_units[places[0][1]])

    def _add_joint(self, name: str, rows: list[FloatArray]) -> list[tuple[int, int]]:
        model = self._space.model
        what, _, index = name.partition("[")
        joint = what.removesuffix(".tau").removesuffix(".u")
        kind, span = model.mechanism.joints[joint].kind, model.numbering.u[joint]
        elements = [int(index[:-1]) - 1] if index else range(kind.nu)
        found = []
        for element in elements:
            found.append((len(self.names), span.start + element))
            rows.append(np.eye(model.numbering.nu_all)[span.start + element])
            self.names.append(joint if kind.nu == 1 else f"{joint}[{element + 1}]")
            self.units.append(kind.motion_units[element])
        return found

    # ---- columns ----

    @property
    def load_units(self) -> list[str]:
        """Of each load: "N.m" or "N"."""
        return [LOADS[unit] for unit in self.units]

    @property
    def inputs(self) -> list[str]:
        """The input of the mechanism that drives each motor: "A", "U[2]", "grip.input"."""
        return [f"{name}.input" if k in self.actuators[0] else name for k, name in enumerate(self.names)]

    def column(self, k: int, of_joint: str, of_actuator: str) -> str:
        """Return the name of a variable of a motor, as the model has it: "A.tau", "U.tau[2]", "grip.force"."""
        joint, bracket, index = self.names[k].partition("[")
        return f"{joint}.{of_actuator if k in self.actuators[0] else of_joint}{bracket}{index}"

    # ---- actuators ----

    def input_of(self, force: FloatArray, length: FloatArray, rate: FloatArray) -> FloatArray:
        """Return the inputs (rows, actuators that are motors) that give them forces, at lengths and rates."""
        gain = self._of_actuators("actuator_gain")
        passive = self.passive_force(length, rate)
        found: FloatArray = (force - passive) / gain
        return found

    def passive_force(self, length: FloatArray, rate: FloatArray) -> FloatArray:
        """Return the forces (rows, actuators that are motors) at inputs of zero, without limits."""
        offset, stiffness = self._of_actuators("actuator_offset"), self._of_actuators("actuator_stiffness")
        found: FloatArray = offset - stiffness * length - self._of_actuators("actuator_damping") * rate
        return found

    def _of_actuators(self, field: str) -> FloatArray:
        found: FloatArray = self._space.block[field][self.actuators[1]]
        return found

    # ---- what a user gives for each motor ----

    def weights(self, given: Mapping[str, float] | None) -> FloatArray:
        """Return the weight of each motor's load, 1 by default."""
        weights = np.ones(len(self))
        for k, value in self._by_motor({} if given is None else given, "weights").items():
            weight = number(value, f"weights: the weight of motor {self.names[k]!r}")
            if not weight > 0:
                raise MechanismError(f"weights: the weight of motor {self.names[k]!r} must be positive, not {weight:g}")
            weights[k] = weight
        if weights.max() > MOST_RATIO * weights.min():
            raise MechanismError(f"weights: the largest may be {MOST_RATIO:g} times the least, 1 being the default")
        return weights

    def limits(self, given: Limits, length: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the least and the largest load of each motor, (rows, motors) both.

        Parameters
        ----------
        given
            As a user gives them; not None.
        length, rate
            Of the actuators that are motors, (rows, n).
        """
        lower, upper = self._own_limits(length, rate)
        if isinstance(given, Mapping):
            asked = self._by_motor(given, "max_load")
        else:
            asked = {} if given is True else dict.fromkeys(range(len(self)), given)
        for k, value in asked.items():
            lower[:, k], upper[:, k] = _limit(value, self.names[k])
        return lower, upper

    def _own_limits(self, length: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return those of the joints and actuators themselves, ranges of inputs included."""
        most = np.full((len(length), len(self)), np.inf)
        most[:, self.speeds[0]] = self._space.block["max_load"][self.speeds[1]]
        lower, upper = -most, most
        passive = self.passive_force(length, rate)
        for k, (motor_number, a) in enumerate(self.actuators.T):
            low, high = self._range("force_range", a)
            if self._of_model[a].input_range is not None:
                ends = self._of_actuators("actuator_gain")[k] * np.array(self._range("input_range", a))
                low = np.maximum(low, passive[:, k] + ends.min())
                high = np.minimum(high, passive[:, k] + ends.max())
            lower[:, motor_number], upper[:, motor_number] = low, high
        return lower, upper

    def _range(self, name: str, a: int) -> tuple[float | FloatArray, float | FloatArray]:
        if getattr(self._of_model[a], name) is None:
            return -np.inf, np.inf
        low, high = self._space.block[f"actuator_{name}"][2 * a : 2 * a + 2]
        return float(low), float(high)

    def _by_motor(self, given: Mapping[str, object], what: str) -> dict[int, object]:
        """Return values by the number of a motor; a joint of several motors has that of each."""
        if not isinstance(given, Mapping):
            raise MechanismError(f"{what} must be a dictionary by motor such as {{'A': 2.0}}, not {given!r}")
        found: dict[int, object] = {}
        for name, value in given.items():
            meant = [k for k, one in enumerate(self.names) if name in (one, one.partition("[")[0])]
            if not meant:
                raise MechanismNameError(f"{what}: {name!r} is no motor here: {suggest(str(name), self.names)}")
            for k in meant:
                if k in found:
                    raise MechanismError(f"{what}: motor {self.names[k]!r} has two values, one by {name!r}: give one")
                found[k] = value
        return found


def _limit(value: object, name: str) -> tuple[float, float]:
    """Return the limits of a motor from one number, of both signs, or two."""
    try:
        ends = np.array(np.nan) if isinstance(value, bool) else np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        ends = np.array(np.nan)
    lower, upper = (-ends, ends) if ends.ndim == 0 else ends if ends.shape == (2,) else (np.nan, np.nan)
    if not lower < upper:
        raise MechanismError(
            f"max_load: the limit of motor {name!r} must be a positive number, or lower and upper limit, not {value!r}"
        )
    return float(lower), float(upper)
