"""Measured motions: columns by name from results, tables and files, completed to states that keep the loops closed.

Coordinates that are measured give the closed pose nearest by, or, where they are as many as degrees of freedom, the
pose that has them. Speeds and accelerations are those that the loops allow, nearest to the measured ones. What is not
measured is the derivative of a quintic spline.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray, names_of, number, real_array
from linkwork._util.names import quoted, suggest
from linkwork.analysis.load_regressor import Samples
from linkwork.analysis.motors import Motors
from linkwork.analysis.pose_functions import PoseFunction, friction_rates, joint_rates, motor
from linkwork.analysis.tables import TIMES, read_csv
from linkwork.errors import AssemblyError, MechanismError, MechanismNameError
from linkwork.mechanism import Actuator, Friction
from linkwork.mechanism.forces import of_kind

if TYPE_CHECKING:
    from linkwork.analysis.configuration_space import ConfigurationSpace

DEGREE: Literal[5] = 5  # of splines
LARGEST = 1e150  # of a standard deviation, which is squared
DETERMINED = 1e-4  # of measured coordinates by motions, in metres both: about 1e-5 at a dead point, as poses are known
AT_REST = 1e-2  # of the largest speed of a joint: below, its dry friction may stick, or have either sign
ENDS = 3  # rows at each end, where derivatives of splines are poor


class Measured(NamedTuple):
    """A motion with the loads that were measured."""

    t: FloatArray  # (n,), s
    samples: Samples  # its states and accelerations
    bases: FloatArray  # (n, nu, dof), the motions that the loops leave
    motors: tuple[str, ...]  # names of the loads
    loads: FloatArray  # (n, motors)
    rows: FloatArray  # (n, motors, nu): the loads act on the speeds by rows' load
    frictions: tuple[str, ...]  # names of the dry frictions
    friction_rows: FloatArray  # (n, frictions, nu), by which they act
    at_rest: NDArray[np.bool_]  # (n, frictions), where they may stick


def rows_of(data: Measured, chosen: NDArray[np.bool_]) -> Measured:
    """Return those rows of a motion that are chosen (n,)."""
    of_each = ("t", "bases", "loads", "rows", "friction_rows", "at_rest")
    samples = Samples(*(one[chosen] for one in data.samples))
    return data._replace(samples=samples, **{name: getattr(data, name)[chosen] for name in of_each})


class Columns:
    """Measured columns by name, all finite and of one length.

    A name with a dot, or of an array (n, k), must be one of the mechanism; all others are records of something else.
    """

    def __init__(
        self,
        measurements: Any,  # as a user gives them
        names: Collection[str],  # of the variables of the mechanism
        arrays: Mapping[str, Sequence[str]],  # names of the columns of each array over the tree joints
    ) -> None:
        table = _table(measurements, names, arrays)
        times = [name for name in TIMES if name in table]
        if not times:
            raise MechanismError(f"measurements have no column 'time': they have {quoted(table) or 'none'}")
        self.t = table.pop(times[0])
        self._values: dict[str, FloatArray] = {}
        for name, values in table.items():
            if name in arrays:
                self._add_array(name, values, arrays[name])
            elif values.ndim == 2:
                self._add(name, {f"{name}[{k + 1}]": values[:, k] for k in range(values.shape[1])})
            elif values.ndim == 1:
                self._add(name, {name: values})
            else:
                raise MechanismError(f"measurements: {name!r} has shape {values.shape}; it must be (n,) or (n, k)")
        for name, values in table.items():
            which = (
                "with a dot in its name" if "." in name else "of several numbers in a row" if values.ndim > 1 else ""
            )
            if which and not {name, f"{name}[1]"}.intersection(names) and name not in arrays:
                raise MechanismNameError(
                    f"measurements: {name!r} is no variable of the mechanism, as a column {which} must be: "
                    f"{suggest(name, [*names, *arrays])}"
                )
        if self.t.ndim != 1:
            raise MechanismError(f"measurements: {times[0]!r} has shape {self.t.shape}; it must be (n,)")
        if not len(self.t):
            raise MechanismError("measurements have no rows")
        for name, values in [(times[0], self.t), *self._values.items()]:
            self._check(name, values)

    def _add_array(self, name: str, values: FloatArray, elements: Sequence[str]) -> None:
        if values.shape[1:] != (len(elements),):
            raise MechanismError(f"measurements: {name!r} has shape {values.shape}; it must be (n, {len(elements)})")
        self._add(name, dict(zip(elements, values.T, strict=True)))

    def _add(self, name: str, columns: Mapping[str, FloatArray]) -> None:
        for one in columns:
            if one in self._values:
                raise MechanismError(f"measurements: {one!r} is given twice, by {name!r} too: leave one out")
        self._values |= columns

    def _check(self, name: str, values: FloatArray) -> None:
        if len(values) != len(self.t):
            raise MechanismError(f"measurements: {name!r} has {len(values)} rows, the time {len(self.t)}")
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            rows = ", ".join(str(k + 1) for k in bad[:5]) + (", ..." if bad.size > 5 else "")
            raise MechanismError(
                f"measurements: {name!r} is not finite in {bad.size} of {len(values)} rows ({rows}): leave them out"
            )

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def __getitem__(self, name: str) -> FloatArray:
        return self._values[name]

    def __iter__(self) -> Any:
        return iter(self._values)


def measured(
    space: ConfigurationSpace,
    measurements: Any,
    motors: Sequence[str] | None,
    smoothing: float | Mapping[str, float] | None,
) -> Measured:
    """Return a measured motion of a mechanism, its loops closed."""
    model = space.model
    accelerations = [f"der({name})" for name in model.u_names]
    loads = [v.name for v in model.variables if v.kind == "input" and not v.discrete]
    known = dict.fromkeys(v.name for v in model.variables if v.kind not in ("parameter", "start"))
    arrays = {"q": model.q_names, "u": model.u_names, "udot": accelerations, "tau": _tree_loads(space)}
    columns = Columns(measurements, known, arrays)
    deviations = _deviations(smoothing, columns)
    chosen = _motors(space, columns, motors, loads)
    positions = _positions(space, columns)
    q, u, udot, derived = _completed(space, columns, positions, deviations)
    kept = slice(ENDS, len(columns.t) - ENDS) if derived else slice(None)
    inputs = _known_loads(space, columns, chosen)
    frictions = of_kind(model.mechanism.forces, Friction)
    rates = [(friction_rates(space, friction), friction.name) for friction in frictions]
    states = _closed(space, positions, columns.t, kept, q, u, udot, [*chosen, *rates])
    samples = Samples(*states[:3], inputs[kept])
    values = np.array([columns[name] for _, name in chosen]).reshape(len(chosen), len(columns.t)).T
    loaded = tuple(name for _, name in chosen)
    acting = _acting(space, loaded, values[kept], samples)
    rows, friction_rows = np.split(states[4], [len(chosen)], axis=1)
    speeds = np.abs(np.einsum("nfu,nu->nf", friction_rows, samples.u))
    at_rest = speeds <= AT_REST * speeds.max(axis=0)
    names = tuple(friction.name for friction in frictions)
    return Measured(columns.t[kept], samples, states[3], loaded, acting, rows, names, friction_rows, at_rest)


# ---- columns ----


def _table(measurements: Any, names: Collection[str], arrays: Collection[str]) -> dict[str, FloatArray]:
    """Return columns as arrays by name."""
    from linkwork.simulation.result import Result

    if isinstance(measurements, Result):
        return {"time": measurements.t} | {n: np.asarray(measurements[n], float) for n in measurements if n in names}
    if isinstance(measurements, str | os.PathLike):
        return read_csv(measurements)
    if isinstance(measurements, Mapping) or hasattr(measurements, "columns"):
        index: Any = getattr(measurements, "index", None)  # of a table of pandas
        found = {str(index.name): np.asarray(index, float)} if getattr(index, "name", None) in TIMES else {}
        for name in measurements:
            try:
                found[str(name)] = real_array(measurements[name])
            except (TypeError, ValueError):
                if "." in str(name) or name in (*arrays, *TIMES):
                    raise MechanismError(f"measurements: {name!r} must be numbers") from None
        return found
    raise MechanismError(
        "measurements must be a Result, a table with columns by name, a path of a CSV file, or a dictionary of arrays, "
        f"not {type(measurements).__name__}"
    )


def _deviations(smoothing: float | Mapping[str, float] | None, columns: Columns) -> Mapping[str, float]:
    """Return the standard deviations of columns by name, checked whether splines are needed or not."""
    if smoothing is None:
        return {}
    if not isinstance(smoothing, Mapping):
        smoothing = dict.fromkeys(columns, smoothing)
    for name, deviation in smoothing.items():
        if name not in columns:
            raise MechanismNameError(f"smoothing: measurements have no {name!r}: {suggest(name, columns)}")
        if not 0.0 <= number(deviation, f"smoothing of {name!r}") < LARGEST:
            raise MechanismError(f"smoothing must be a standard deviation of {name!r}, not {deviation!r}")
    return smoothing


def _tree_loads(space: ConfigurationSpace) -> list[str]:
    """Return the names of the loads of the tree's speeds."""
    return [_renamed(name, "tau") for name in space.model.u_names]


def _renamed(speed: str, letter: str) -> str:
    """Return the name of another quantity of the same speed: "A.u" -> "A.tau", "S.u[2]" -> "S.tau[2]"."""
    joint, _, rest = speed.rpartition(".u")
    return f"{joint}.{letter}{rest}"


def _motors(
    space: ConfigurationSpace, columns: Columns, motors: Sequence[str] | None, loads: Sequence[str]
) -> list[tuple[PoseFunction, str]]:
    """Return the loads that were measured, with the functions along which they act."""
    actuators = [f"{a.name}.input" for a in of_kind(space.model.mechanism.forces, Actuator)]
    gains = dict(zip(actuators, space.block["actuator_gain"], strict=False))
    possible = [name for name in loads if ".tau" in name or name in gains]
    if motors is None:
        named = [name for name in possible if name in columns and np.any(columns[name])]
    else:
        named = []
        for given in names_of(motors, "motors"):
            motor(space, given)  # its errors name the nearest
            what, bracket, index = given.partition("[")
            load = f"{what.removesuffix('.tau').removesuffix('.u')}.tau{bracket}{index}"
            fitting = [n for n in possible if n in (given, load, f"{given}.input") or n.startswith(f"{load}[")]
            for name in fitting:
                if name not in columns:
                    raise MechanismNameError(f"measurements have no {name!r}: {suggest(name, columns)}")
                if name in named:
                    raise MechanismError(f"motors: {name!r} is named twice: name it once")
            named += fitting
    found: list[tuple[PoseFunction, str]] = []
    for name in named:
        function = motor(space, name)
        found.append((_Scaled(function, gains[name]) if name in gains else function, name))
    return found


class _Scaled(PoseFunction):
    """A multiple of a function: the rows of an actuator whose input has a gain."""

    def __init__(self, function: PoseFunction, factor: float) -> None:
        super().__init__(function.space, function.names, function.units)
        self._function, self._factor = function, factor

    def value(self) -> FloatArray:
        """Return its values."""
        return self._factor * self._function.value()

    def rows(self) -> FloatArray:
        """Return its rows."""
        return self._factor * self._function.rows()

    def acceleration(self) -> FloatArray:
        """Return its second rate."""
        return self._factor * self._function.acceleration()


def _known_loads(space: ConfigurationSpace, columns: Columns, chosen: Sequence[tuple[PoseFunction, str]]) -> FloatArray:
    """Return all inputs (n, n_inputs): applied wrenches as measured, all else at rest."""
    model, motors = space.model, {name for _, name in chosen}
    span = slice(model.fields["tau"].first, model.fields["impulse"].span.stop)
    rest = np.tile(model.arguments.no_inputs, (len(columns.t), 1))
    for variable in model.variables:
        name = variable.name
        is_load = variable.kind == "input" and not variable.discrete and ".tau" not in name
        if is_load and name in columns and name not in motors:
            rest[:, variable.reference - span.start] = columns[name]
    return rest


def _acting(space: ConfigurationSpace, names: Sequence[str], values: FloatArray, samples: Samples) -> FloatArray:
    """Return what acts of loads and inputs (n, motors): limits of joints and ranges of actuators cut off the rest.

    An input is that which, without ranges, adds as much to the force of the actuator at an input of zero.
    """
    motors = Motors(space, names)
    numbers, actuators = motors.actuators
    length, rate = np.zeros((2, len(values), len(numbers)))
    for k, (q, u) in enumerate(zip(samples.q, samples.u, strict=True) if len(numbers) else ()):
        space.enter(q)
        space.enter_speeds(u)
        length[k], rate[k] = space.block["actuator_length"][actuators], space.block["actuator_rate"][actuators]
    lower, upper = motors.limits(True, length, rate)
    acting = values.copy()
    plain = motors.speeds[0]
    acting[:, plain] = np.clip(values[:, plain], lower[:, plain], upper[:, plain])
    passive, gain = motors.passive_force(length, rate), space.block["actuator_gain"][actuators]
    ends = lower[:, numbers], upper[:, numbers]
    force, idle = np.clip(passive + gain * values[:, numbers], *ends), np.clip(passive, *ends)
    is_free = (force == passive + gain * values[:, numbers]) & (idle == passive)
    acting[:, numbers] = np.where(is_free, values[:, numbers], (force - idle) / gain)
    return acting


# ---- states ----


def _positions(space: ConfigurationSpace, columns: Columns) -> list[PoseFunction]:
    """Return the functions of the measured coordinates; none: all coordinates of the tree are measured."""
    model = space.model
    if all(name in columns for name in model.q_names):
        return []
    found = []
    for joint in model.mechanism.joints.values():
        names = (
            [f"{joint.name}.q"] if joint.kind.nq == 1 else [f"{joint.name}.q[{k + 1}]" for k in range(joint.kind.nq)]
        )
        if joint.kind.nq and joint.kind.quaternion is None and all(name in columns for name in names):
            found.append(joint_rates(space, joint.name))
    dof, count = space.tangent().dof, sum(function.size for function in found)
    if count != dof:
        absent = [name for name in model.q_names if name not in columns]
        raise MechanismError(
            f"measurements have {count} coordinates of joints and the mechanism has {dof} degrees of freedom: give as "
            f"many as those, or all of the tree joints; there is no {quoted(absent)}"
        )
    return found


def _completed(
    space: ConfigurationSpace,
    columns: Columns,
    positions: Sequence[PoseFunction],
    deviations: Mapping[str, float],
) -> tuple[FloatArray, FloatArray, FloatArray, bool]:
    """Return coordinates, speeds and accelerations of the tree or of the functions, and whether splines were used."""
    model = space.model
    if positions:
        q_names = [name for function in positions for name in function.names]
        u_names = [name.replace(".q", ".u") for name in q_names]
        a_names = [[name.replace(".q", ".a")] for name in q_names]
    else:
        q_names, u_names = model.q_names, model.u_names
        a_names = [[_renamed(name, "a"), f"der({name})"] for name in u_names]
    q = np.array([columns[name] for name in q_names]).T
    derived = False
    if all(name in columns for name in u_names):
        u = np.array([columns[name] for name in u_names]).T
    elif len(q_names) == len(u_names):
        u = _spline(columns, q_names, q, 1, deviations)
        derived = True
    else:
        raise MechanismError(f"measurements need the speeds {quoted(u_names)}: orientations are quaternions")
    present = [[name for name in names if name in columns][:1] for names in a_names]
    if all(present):
        udot = np.array([columns[name] for (name,) in present]).T
    elif derived:
        udot = _spline(columns, q_names, q, 2, deviations)
    else:
        udot = _spline(columns, u_names, u, 1, deviations)
        derived = True
    return q, u, udot, derived


def _spline(
    columns: Columns,
    names: Sequence[str],
    values: FloatArray,
    derivative: int,
    deviations: Mapping[str, float],
) -> FloatArray:
    from scipy.interpolate import UnivariateSpline

    t = columns.t
    if len(t) <= max(DEGREE, 2 * ENDS) or not (np.diff(t) > 0).all():
        raise MechanismError(
            f"derivatives by splines need more than {max(DEGREE, 2 * ENDS)} rows, at times that increase"
        )
    found = np.empty_like(values)
    for k, name in enumerate(names):
        spline = UnivariateSpline(t, values[:, k], k=DEGREE, s=len(t) * deviations.get(name, 0.0) ** 2)
        found[:, k] = spline.derivative(derivative)(t)
    return found


def _closed(
    space: ConfigurationSpace,
    positions: Sequence[PoseFunction],
    t: FloatArray,
    kept: slice,
    q: FloatArray,
    u: FloatArray,
    udot: FloatArray,
    acting: Sequence[tuple[PoseFunction, str]],
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return states and accelerations that the loops allow, the bases of their motions, and the rows of what acts."""
    first, nu = kept.start or 0, space.nu
    q, u, udot, times = q[kept], u[kept], udot[kept], t[kept]
    n = len(q)
    states, speeds, accelerations = np.empty((n, space.nq)), np.empty((n, nu)), np.empty((n, nu))
    bases, rows = [], np.empty((n, len(acting), nu))
    has_loops = bool(space.jacobian().size)
    near = space.start.q[: space.nq]
    for k in range(n):
        row = f"measurements: row {first + k + 1}, t = {times[k]:.6g} s:"
        if positions:
            near = _pose_of(space, positions, q[k], near, row)
        elif has_loops:
            found = space.closed(q[k])
            if not found.found:
                raise AssemblyError(f"{row} no closed pose is near the measured coordinates")
            near = found.q
        else:
            near = q[k]
            space.enter(near)
        states[k] = near
        basis = space.tangent().basis
        # Motions by measured rates: by functions as many as motions, else the nearest to those of all joints.
        inverse = _inverse(space, positions, basis, row) if positions else basis.T * space.weights**2
        speeds[k] = basis @ (inverse @ u[k])
        space.enter_speeds(speeds[k])
        part = np.array(space.block["acceleration"][:nu])
        own = np.concatenate([function.acceleration() for function in positions]) if positions else part
        accelerations[k] = part + basis @ (inverse @ (udot[k] - own))
        bases.append(basis)
        for j, (function, _) in enumerate(acting):
            rows[k, j] = function.rows()[0]
    if len({basis.shape for basis in bases}) > 1:
        raise MechanismError("the motion passes through a pose in which the mechanism gains a degree of freedom")
    return states, speeds, accelerations, np.array(bases), rows


def _pose_of(
    space: ConfigurationSpace, positions: Sequence[PoseFunction], values: FloatArray, near: FloatArray, row: str
) -> FloatArray:
    """Return the closed pose (nq,) near another in which functions have measured values, and enter it."""

    def task() -> tuple[FloatArray, FloatArray]:
        return space.length * _left(positions, values), space.length * _rows(positions)

    found = space.closed(near, task)
    if not found.found:
        raise AssemblyError(
            f"{row} no closed pose near the row before has the measured coordinates, or these do not determine it; "
            "measure more joints, or at shorter intervals"
        )
    return found.q


def _inverse(space: ConfigurationSpace, positions: Sequence[PoseFunction], basis: FloatArray, row: str) -> FloatArray:
    """Return how motions along a basis follow from rates of functions, (dof, dof)."""
    by = _rows(positions) @ basis
    units = [unit for function in positions for unit in function.units]
    in_metres = np.array([1.0 if unit == "m" else space.length for unit in units])[:, None] * by
    if by.shape[0] != by.shape[1] or not np.linalg.svd(in_metres, compute_uv=False)[-1] > DETERMINED:
        raise AssemblyError(
            f"{row} the measured coordinates do not determine the motion in this pose, which is singular for them: "
            "leave these rows out, or measure all tree joints"
        )
    inverse: FloatArray = np.linalg.inv(by).astype(np.float64, copy=False)
    return inverse


def _left(positions: Sequence[PoseFunction], wanted: FloatArray) -> FloatArray:
    at, found = 0, []
    for function in positions:
        found.append(-function.difference(wanted[at : at + function.size]))
        at += function.size
    return np.concatenate(found)


def _rows(positions: Sequence[PoseFunction]) -> FloatArray:
    return np.vstack([function.rows() for function in positions])
