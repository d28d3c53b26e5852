"""Measured motions: columns by name from results, tables and files, completed to states that keep the loops closed.

Coordinates that are measured give the closed pose nearest by, or, where they are as many as degrees of freedom, the
pose that has them. Speeds and accelerations are those that the loops allow, nearest to the measured ones. What is not
measured is the derivative of a quintic spline.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted, suggest
from linkwork.analysis.load_regressor import Samples
from linkwork.analysis.pose_functions import PoseFunction, joint_rates, motor
from linkwork.errors import AssemblyError, MechanismError, MechanismNameError
from linkwork.mechanism import Actuator
from linkwork.mechanism.forces import of_kind

if TYPE_CHECKING:
    from linkwork.analysis.configuration_space import ConfigurationSpace

DEGREE: Literal[5] = 5  # of splines
ENDS = 3  # rows at each end, where derivatives of splines are poor
_TIMES = ("time", "t")


class Measured(NamedTuple):
    """A motion with the loads that were measured.

    Attributes
    ----------
    t
        (n,), s.
    samples
        Its states and accelerations.
    bases
        (n, nu, dof), the motions that the loops leave.
    motors
        Names of the loads.
    loads
        (n, motors).
    rows
        (n, motors, nu): the loads act on the speeds by rows' load.
    """

    t: FloatArray
    samples: Samples
    bases: FloatArray
    motors: tuple[str, ...]
    loads: FloatArray
    rows: FloatArray


class Columns:
    """Measured columns by name, all finite and of one length."""

    def __init__(self, measurements: Any, names: Sequence[str], arrays: Mapping[str, Sequence[str]]) -> None:
        table = _table(measurements, names)
        times = [name for name in _TIMES if name in table]
        if not times:
            raise MechanismError(f"measurements have no column 'time': they have {quoted(table)}")
        self.t = table.pop(times[0])
        self._values: dict[str, FloatArray] = {}
        for name, values in table.items():
            if name in arrays:
                self._add_array(name, values, arrays[name])
            elif values.ndim == 1:
                self._values[name] = values
            else:
                self._values |= {f"{name}[{k + 1}]": values[:, k] for k in range(values.shape[1])}
        for name, values in [("time", self.t), *self._values.items()]:
            self._check(name, values)

    def _add_array(self, name: str, values: FloatArray, elements: Sequence[str]) -> None:
        if values.shape[1:] != (len(elements),):
            raise MechanismError(f"measurements: {name!r} has shape {values.shape}; it must be (n, {len(elements)})")
        self._values |= dict(zip(elements, values.T, strict=True))

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
    names = [v.name for v in model.variables if v.kind in ("state", "derivative", "output", "input")]
    arrays = {"q": model.q_names, "u": model.u_names, "udot": accelerations, "tau": _tree_loads(space)}
    columns = Columns(measurements, names, arrays)
    chosen = _motors(space, columns, motors, loads)
    positions = _positions(space, columns)
    q, u, udot, derived = _completed(space, columns, positions, smoothing)
    kept = slice(ENDS, len(columns.t) - ENDS) if derived else slice(None)
    inputs = _known_loads(space, columns, chosen)
    states = _closed(space, positions, q[kept], u[kept], udot[kept], chosen)
    samples = Samples(*states[:3], inputs[kept])
    values = np.array([columns[name] for _, name in chosen]).reshape(len(chosen), len(columns.t)).T
    return Measured(columns.t[kept], samples, states[3], tuple(n for _, n in chosen), values[kept], states[4])


# ---- columns ----


def _table(measurements: Any, names: Sequence[str]) -> dict[str, FloatArray]:
    """Return columns as arrays by name."""
    from linkwork.simulation.result import Result

    if isinstance(measurements, Result):
        return {"time": measurements.t} | {n: np.asarray(measurements[n], float) for n in measurements if n in names}
    if isinstance(measurements, str | os.PathLike):
        return _read(Path(measurements))
    if isinstance(measurements, Mapping) or hasattr(measurements, "columns"):
        index: Any = getattr(measurements, "index", None)  # of a table of pandas
        found = {str(index.name): np.asarray(index, float)} if getattr(index, "name", None) in _TIMES else {}
        for name in measurements:
            try:
                found[str(name)] = np.asarray(measurements[name], dtype=float)
            except (TypeError, ValueError):
                if name in names or name in _TIMES:
                    raise MechanismError(f"measurements: {name!r} must be numbers") from None
        return found
    raise MechanismError(
        "measurements must be a Result, a table with columns by name, a path of a CSV file, or a dictionary of arrays, "
        f"not {type(measurements).__name__}"
    )


def _read(path: Path) -> dict[str, FloatArray]:
    """Return the columns of a CSV file; what is no number is NaN."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError as error:
        raise MechanismError(f"measurements: {path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise MechanismError(f"measurements: {path} is no table of text ({error}): give a .csv file") from error
    if len(rows) < 2:
        raise MechanismError(f"measurements: {path} has no rows below its names")
    head, *body = rows
    wrong = [k for k, row in enumerate(body) if len(row) != len(head)]
    if wrong:
        raise MechanismError(
            f"measurements: {path}: row {wrong[0] + 1} has {len(body[wrong[0]])} of {len(head)} columns"
        )
    return {name.strip(): np.array([_number(row[k]) for row in body]) for k, name in enumerate(head)}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


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
    actuators = {f"{a.name}.input" for a in of_kind(space.model.mechanism.forces, Actuator)}
    possible = [name for name in loads if ".tau" in name or name in actuators]
    if motors is None:
        named = [name for name in possible if name in columns and np.any(columns[name])]
    else:
        named = []
        for given in [motors] if isinstance(motors, str) else motors:
            motor(space, given)  # its errors name the nearest
            fitting = [
                n for n in possible if n in (given, f"{given}.tau", f"{given}.input") or n.startswith(f"{given}.tau[")
            ]
            absent = [name for name in fitting if name not in columns]
            if absent:
                raise MechanismNameError(f"measurements have no {absent[0]!r}: {suggest(absent[0], columns)}")
            named += fitting
    gains = dict(zip(_actuator_inputs(space), space.block["actuator_gain"], strict=False))
    found: list[tuple[PoseFunction, str]] = []
    for name in named:
        function = motor(space, name)
        found.append((_Scaled(function, gains[name]) if name in gains else function, name))
    return found


def _actuator_inputs(space: ConfigurationSpace) -> list[str]:
    """Return names of the inputs of actuators in the order of the block."""
    return [f"{a.name}.input" for a in of_kind(space.model.mechanism.forces, Actuator)]


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
    smoothing: float | Mapping[str, float] | None,
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
        u = _spline(columns, q_names, q, 1, smoothing)
        derived = True
    else:
        raise MechanismError(f"measurements need the speeds {quoted(u_names)}: orientations are quaternions")
    present = [[name for name in names if name in columns][:1] for names in a_names]
    if all(present):
        udot = np.array([columns[name] for (name,) in present]).T
    elif derived:
        udot = _spline(columns, q_names, q, 2, smoothing)
    else:
        udot = _spline(columns, u_names, u, 1, smoothing)
        derived = True
    return q, u, udot, derived


def _spline(
    columns: Columns,
    names: Sequence[str],
    values: FloatArray,
    derivative: int,
    smoothing: float | Mapping[str, float] | None,
) -> FloatArray:
    from scipy.interpolate import UnivariateSpline

    t = columns.t
    if len(t) <= max(DEGREE, 2 * ENDS) or not (np.diff(t) > 0).all():
        raise MechanismError(
            f"derivatives by splines need more than {max(DEGREE, 2 * ENDS)} rows, at times that increase"
        )
    found = np.empty_like(values)
    for k, name in enumerate(names):
        of_one = smoothing.get(name, 0.0) if isinstance(smoothing, Mapping) else smoothing or 0.0
        if not of_one >= 0.0:
            raise MechanismError(f"smoothing must be a standard deviation of {name!r}, not {of_one!r}")
        spline = UnivariateSpline(t, values[:, k], k=DEGREE, s=len(t) * of_one**2)
        found[:, k] = spline.derivative(derivative)(t)
    return found


def _closed(
    space: ConfigurationSpace,
    positions: Sequence[PoseFunction],
    q: FloatArray,
    u: FloatArray,
    udot: FloatArray,
    motors: Sequence[tuple[PoseFunction, str]],
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return states and accelerations that the loops allow, the bases of their motions, and the rows of the motors."""
    n, nu = len(q), space.nu
    states, speeds, accelerations = np.empty((n, space.nq)), np.empty((n, nu)), np.empty((n, nu))
    bases, rows = [], np.empty((n, len(motors), nu))
    has_loops = bool(space.jacobian().size)
    near = space.start.q[: space.nq] if positions else None
    weights = space.weights[:, None]
    for k in range(n):
        if positions:
            wanted, start = q[k], near

            def task(wanted: FloatArray = wanted) -> tuple[FloatArray, FloatArray]:
                return space.length * _left(positions, wanted), space.length * _rows(positions)

            assert start is not None
            found = space.closed(start, task)
            if not found.found:
                raise AssemblyError(
                    f"measurements: row {k + 1}: no closed pose near the row before has the measured "
                    "coordinates, or these do not determine it; measure more joints, or at shorter intervals"
                )
            near = found.q
        elif has_loops:
            found = space.closed(q[k])
            if not found.found:
                raise AssemblyError(f"measurements: row {k + 1}: no closed pose is near the measured coordinates")
            near = found.q
        else:
            near = q[k]
            space.enter(near)
        assert near is not None
        states[k] = near
        basis = space.tangent().basis
        by = _rows(positions) @ basis if positions else None
        speeds[k] = basis @ (basis.T @ (weights[:, 0] ** 2 * u[k]) if by is None else np.linalg.solve(by, u[k]))
        space.enter_speeds(speeds[k])
        part = np.array(space.block["acceleration"][:nu])
        if by is None:
            accelerations[k] = part + basis @ (basis.T @ (weights[:, 0] ** 2 * (udot[k] - part)))
        else:
            own = np.concatenate([function.acceleration() for function in positions])
            accelerations[k] = part + basis @ np.linalg.solve(by, udot[k] - own)
        bases.append(basis)
        for j, (function, _) in enumerate(motors):
            rows[k, j] = function.rows()[0]
    if len({basis.shape for basis in bases}) > 1:
        raise MechanismError("the motion passes through a pose in which the mechanism gains a degree of freedom")
    return states, speeds, accelerations, np.array(bases), rows


def _left(positions: Sequence[PoseFunction], wanted: FloatArray) -> FloatArray:
    at, found = 0, []
    for function in positions:
        found.append(-function.difference(wanted[at : at + function.size]))
        at += function.size
    return np.concatenate(found)


def _rows(positions: Sequence[PoseFunction]) -> FloatArray:
    return np.vstack([function.rows() for function in positions])
