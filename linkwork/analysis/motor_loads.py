"""The loads of motors over a motion: columns in time, extremes, energies, and the envelope of load and speed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.integrate import trapezoid
from scipy.interpolate import make_interp_spline

from linkwork._util.checks import FloatArray
from linkwork._util.registered import registered
from linkwork._util.text import aligned
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.results.files import Column
from linkwork.results.in_time import StoredColumns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwork.analysis.motions import MotionRows
    from linkwork.analysis.motors import Motors
    from linkwork.model.base import ModelBase
    from linkwork.results.time_axis import Places

NEARLY_SINGULAR = 1e-3  # conditioning below which `repr` names the time


@dataclass(frozen=True, eq=False)
class LoadRows:
    """Numbers of each row of a motion."""

    # loads, speeds: of the motors, (rows, motors)
    loads: FloatArray
    speeds: FloatArray
    inputs: FloatArray  # by which the motors are driven, (rows, motors): loads of joints, inputs of actuators
    # (rows,): 1 / (|A| |A^-1|) of the motors' rows along the motions that the constraints leave, in the Frobenius norm;
    # 1 or 0 with one degree of freedom.
    conditioning: FloatArray

    def at(self, places: Places) -> LoadRows:
        """Return the numbers at places between rows, on lines."""
        return LoadRows(*(_between(getattr(self, name), places) for name in self.__dataclass_fields__))

    def first(self, count: int) -> LoadRows:
        """Return the first rows."""
        return LoadRows(*(getattr(self, name)[:count] for name in self.__dataclass_fields__))

    def followed(self, other: LoadRows) -> LoadRows:
        """Return both, one after the other."""
        names = self.__dataclass_fields__
        return LoadRows(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))


class MotorLoads(StoredColumns):
    """Loads of motors that give a mechanism a motion.

    Columns by name: ``loads["A.tau"]`` is the load of a joint, ``loads["A.u"]`` its speed, ``loads["A.power"]`` their
    product; for an actuator ``"grip.force"``, ``"grip.rate"``, ``"grip.power"`` and ``"grip.input"``, the input that
    gives it the force. ``"power"`` is the sum over the motors, ``"conditioning"`` how well the motors drive all degrees
    of freedom compared with each other, from 1/dof down to 0 in a pose where they do not. With one degree of freedom
    it is 1, and 0 only in the pose itself: the loads show how near that is. Between rows, values are interpolated
    linearly.

    Attributes
    ----------
    model
        The compiled mechanism.
    t
        Times, (rows,), s.
    motors
        Their names.
    loads, speeds, power
        (rows, motors): N m and rad/s, or N and m/s; W.
    q, u, udot
        The motion of the tree joints, (rows, nq), (rows, nu) and (rows, nu).
    """

    _error = MechanismError
    _name_error = MechanismNameError

    def __init__(self, model: ModelBase, motors: Motors, motion: MotionRows, rows: LoadRows) -> None:
        self.model, self.name = model, model.mechanism.name
        self.t = motion.t
        self.motors = list(motors.names)
        self._of, self._motion, self._rows = motors, motion, rows
        self._columns, self._units = self._name_columns()

    @property
    def loads(self) -> FloatArray:
        """Loads of the motors, (rows, motors), N m or N."""
        return self._rows.loads

    @property
    def speeds(self) -> FloatArray:
        """Speeds of the motors, (rows, motors), rad/s or m/s."""
        return self._rows.speeds

    @property
    def power(self) -> FloatArray:
        """Power that each motor gives, (rows, motors), W."""
        return self.loads * self.speeds

    @property
    def q(self) -> FloatArray:
        """Coordinates of the tree joints, (rows, nq)."""
        return self._motion.q

    @property
    def u(self) -> FloatArray:
        """Speeds of the tree joints, (rows, nu)."""
        return self._motion.u

    @property
    def udot(self) -> FloatArray:
        """Accelerations of the tree joints, (rows, nu)."""
        return self._motion.udot

    # ---- extremes ----

    @property
    def peak(self) -> dict[str, float]:
        """Largest absolute load of each motor."""
        return self._by_motor(np.abs(self.loads).max(axis=0, initial=0.0))

    @property
    def rms(self) -> dict[str, float]:
        """Root of the mean square load of each motor over time, by the trapezoidal rule."""
        span = float(np.ptp(self.t)) if len(self) else 0.0
        squares = trapezoid(self.loads**2, self.t, axis=0) / span if span else (self.loads**2).sum(axis=0)
        return self._by_motor(np.sqrt(squares))

    @property
    def peak_speed(self) -> dict[str, float]:
        """Largest absolute speed of each motor."""
        return self._by_motor(np.abs(self.speeds).max(axis=0, initial=0.0))

    @property
    def peak_power(self) -> dict[str, float]:
        """Largest absolute power of each motor, W."""
        return self._by_motor(np.abs(self.power).max(axis=0, initial=0.0))

    @property
    def energy(self) -> dict[str, float]:
        """Work that each motor does, J, by the trapezoidal rule: less where it is driven."""
        return self._by_motor(trapezoid(self.power, self.t, axis=0))

    @property
    def energy_given(self) -> dict[str, float]:
        """Work of each motor while its power is positive, J: what it needs where it recovers nothing."""
        return self._by_motor(trapezoid(np.maximum(self.power, 0.0), self.t, axis=0))

    def _by_motor(self, values: FloatArray) -> dict[str, float]:
        return dict(zip(self.motors, map(float, values), strict=True))

    # ---- use ----

    def inputs(self) -> dict[str, Callable[[float], float]]:
        """Return the inputs by which the motors give these loads, as `simulate` takes them.

        Returns
        -------
        dict
            By name, "A" or "grip.input", a cubic spline through the rows.
        """
        if len(self) < 2:
            raise MechanismError("inputs over time need two rows at least: give more times")
        splines = [make_interp_spline(self.t, column, k=min(3, len(self) - 1)) for column in self._rows.inputs.T]
        return dict(zip(self._of.inputs, map(_function_of_time, splines), strict=True))

    def check(self) -> FloatArray:
        """Return by how much the accelerations that the loads give differ from those of the motion.

        Forward dynamics gives them, limits of joints and actuators included: where a load exceeds one, the motion is
        not as wished.

        Returns
        -------
        ndarray
            (rows,), the largest difference of an acceleration of the tree joints, rad/s2 and m/s2 alike, relative to
            the largest one of all joints and rows of the motion; as it is where the motion has no accelerations.

        Raises
        ------
        SingularityError
            Where the accelerations are not unique.
        """
        motion, block, nu = self._motion, self.model.block(), self.model.numbering.nu
        scale = float(np.abs(self.udot).max(initial=0.0)) or 1.0
        names = self._of.inputs
        places = [self.model.numbering.inputs[name].start for name in names]
        found = np.empty(len(self))
        for i in range(len(self)):
            inputs = motion.inputs[i].copy()
            inputs[places] = self._rows.inputs[i]
            if motion.discrete:
                block.put_discrete_state(motion.discrete[i])
            if motion.turns is not None:
                block.count_revolutions(motion.turns[i])
            block.enter(motion.q[i], motion.u[i], inputs, float(self.t[i]))
            found[i] = np.abs(block["acceleration"][:nu] - motion.udot[i]).max(initial=0.0) / scale
            if motion.turns is None:
                block.step_accepted()
        return found

    # ---- columns ----

    def _name_columns(self) -> tuple[dict[str, Column], dict[str, str]]:
        columns: dict[str, Column] = {}
        units: dict[str, str] = {}
        of = self._of
        for k, name in enumerate(self.motors):
            each = [
                (of.column(k, "tau", "force"), self.loads[:, k], of.load_units[k]),
                (of.column(k, "u", "rate"), self.speeds[:, k], f"{of.units[k]}/s"),
                (f"{name}.power", self.power[:, k], "W"),
            ]
            if k in of.actuators[0]:
                each.append((f"{name}.input", self._rows.inputs[:, k], "1"))
            for column, values, unit in each:
                columns[column], units[column] = values, unit
        columns["power"], units["power"] = self.power.sum(axis=1), "W"
        columns["conditioning"], units["conditioning"] = self._rows.conditioning, "1"
        return columns, units

    @property
    def _event_times(self) -> list[float]:
        return []

    @property
    def _plotted(self) -> list[str]:
        return [*(self._of.column(k, "tau", "force") for k in range(len(self.motors))), "power"]

    def about(self) -> dict[str, Any]:
        """Return everything but the columns as plain data: the name, and the extremes of each motor."""
        table = {"peak": self.peak, "rms": self.rms, "peak_speed": self.peak_speed, "energy": self.energy}
        return {"name": self.name, "motors": table}

    def _take(self, places: Places) -> Self:
        motion = self._motion
        arrays: dict[str, Any] = {
            name: _between(getattr(motion, name), places) for name in ("q", "u", "udot", "inputs")
        }
        turns = None if motion.turns is None else _between(motion.turns, places)
        discrete = [motion.discrete[i] for i in places.rows] if len(motion.discrete) else []
        taken = replace(motion, t=places.times, turns=turns, discrete=discrete, **arrays)
        return type(self)(self.model, self._of, taken, self._rows.at(places))

    def _followed(self, other: Self) -> Self:
        if other.motors != self.motors:
            raise MechanismError("join takes loads of the same motors")
        repeated = int(len(self) > 0 and len(other) > 0 and bool((self.loads[-1] == other.loads[0]).all()))
        rest = other._take(_rows_from(other.t, repeated))
        mine, more = self._motion, rest._motion
        arrays: dict[str, Any] = {
            k: np.concatenate([getattr(mine, k), getattr(more, k)]) for k in ("t", "q", "u", "udot", "inputs")
        }
        turns = None if mine.turns is None or more.turns is None else np.concatenate([mine.turns, more.turns])
        joined = replace(mine, turns=turns, discrete=[*mine.discrete, *more.discrete], **arrays)
        return type(self)(self.model, self._of, joined, self._rows.followed(rest._rows))

    def _page_part(self, request: Any) -> Any:
        raise MechanismError(
            "loads have no scene: make a page of a simulation, simulate(..., inputs=loads.inputs()).page()"
        )

    # ---- to look at ----

    @registered
    def plot_envelope(
        self, path: str | os.PathLike[str] | None = None, *, limits: Mapping[str, float] | None = None
    ) -> Figure:
        """Plot load over speed of each motor, a panel each: what a motor must be able to do.

        The dashed line is the root mean square of the load, which heats the motor; crosses mark the largest load and
        the largest speed.

        Parameters
        ----------
        path
            Where to save the picture, if anywhere: .png, .svg or .pdf.
        limits
            By motor, a load that is drawn as its limit.
        """
        raise NotImplementedError

    @property
    def _remarks(self) -> str:
        worst = self._rows.conditioning
        if len(self) and worst.min() < NEARLY_SINGULAR:
            return f"; the motors nearly fail to drive all degrees of freedom at t = {self.t[worst.argmin()]:.6g} s"
        return ""

    def summary(self) -> str:
        """Return the extremes of each motor, and how well the motors drive all degrees of freedom."""
        worst = int(np.argmin(self["conditioning"]))
        least = ("conditioning", f"at least {self['conditioning'][worst]:.3g}, at t = {self.t[worst]:.6g} s")
        head = f"{self.name}: {len(self)} rows, {self.t[0]:g} to {self.t[-1]:g} s"
        return "\n".join([head, *self._extremes(), *aligned([least])])

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *self._extremes()])

    def _extremes(self) -> list[str]:
        header = ("motor", "peak", "rms", "unit", "peak speed", "unit", "peak power [W]", "energy [J]")
        of = self._of
        rows = [
            (
                name,
                *(f"{values[name]:.6g}" for values in (self.peak, self.rms)),
                of.load_units[k],
                f"{self.peak_speed[name]:.6g}",
                f"{of.units[k]}/s",
                *(f"{values[name]:.6g}" for values in (self.peak_power, self.energy)),
            )
            for k, name in enumerate(self.motors)
        ]
        return aligned([header, *rows])


def _function_of_time(spline: Callable[[float], FloatArray]) -> Callable[[float], float]:
    return lambda t: float(spline(t))


def _between(values: FloatArray, places: Places) -> FloatArray:
    following = values[np.minimum(places.rows + 1, len(values) - 1)]
    weights = places.weights.reshape(-1, *[1] * (values.ndim - 1))
    here = values[places.rows]
    found: FloatArray = np.where(weights > 0.0, here + weights * (following - here), here)
    return found


def _rows_from(t: FloatArray, first: int) -> Places:
    from linkwork.results.time_axis import Places

    return Places(np.arange(first, len(t)), np.zeros(len(t) - first), t[first:])
