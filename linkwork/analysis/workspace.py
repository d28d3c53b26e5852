"""Workspace: the poses that a mechanism reaches from its start, on a grid, and how well motors drive it in each.

The grid is over functions of the pose: coordinates of motors, or components of a point. Each node is a task of inverse
kinematics that begins at the pose of a neighbouring node, so that all poses belong to one assembly mode: the map is the
part of the grid that is connected with the start.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray, names_of, shortened, whole_number
from linkwork._util.checks import length as count_of
from linkwork._util.keywords import checks_keywords
from linkwork._util.named import NamedColumns
from linkwork._util.names import suggest
from linkwork._util.one_thread import on_one_thread
from linkwork._util.progress import Progress, ProgressOption
from linkwork._util.registered import registered
from linkwork._util.text import aligned, tidy
from linkwork.analysis.configuration_space import ConfigurationSpace
from linkwork.analysis.inverse_kinematics import PoseSolver, checked_targets
from linkwork.analysis.limits import Bounds, Limits
from linkwork.analysis.motor_jacobian import Conditioning
from linkwork.analysis.pose_functions import Hold, Stacked, pose_function, stacked, stacked_motors
from linkwork.errors import MechanismError, MechanismNameError, UnreachableError
from linkwork.mechanism import Actuator, Mechanism
from linkwork.mechanism.forces import of_kind
from linkwork.model.compile import model_of
from linkwork.results.base import TableResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

POINTS = 31  # along an axis of the grid
MOST_NODES = 1_000_000
STUCK = "the mechanism cannot move: it has no degree of freedom in its start"
_SEEDS = 64  # nodes near the start that are tried for the first pose


@checks_keywords
@dataclass(frozen=True, eq=False)
class Workspace(TableResult, NamedColumns):
    """The nodes of a grid with the poses that were reached; `workspace[name]` is a column.

    Attributes
    ----------
    name
        Of the mechanism.
    of, over, by
        Names of the mapped functions, of those that the grid is over, and of the motors.
    shape
        Nodes along each axis of the grid.
    reached
        (n,) whether the node was reached, with n the product of `shape`, the last axis fastest.
    columns
        By name (n,): the nodes, the mapped functions, "conditioning" of the motor Jacobian (0 where singular), and
        "motor_conditioning", smallest by largest singular value of motor speeds by motions, which is 0 where the
        mechanism moves with all motors held. NaN where the node was not reached.
    q
        (n, nq), coordinates of the tree joints; NaN where the node was not reached.
    units
        Of the columns by name.
    length
        m, by which angles are weighted.
    """

    name: str
    of: tuple[str, ...]
    over: tuple[str, ...]
    by: tuple[str, ...]
    shape: tuple[int, ...]
    reached: NDArray[np.bool_]
    columns: dict[str, FloatArray]
    q: FloatArray
    units: dict[str, str]
    length: float

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.columns)

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.reached)

    def __getitem__(self, name: str) -> FloatArray:
        if name not in self.columns:
            raise MechanismNameError(f"the workspace has no column {name!r}: {suggest(name, self.columns)}")
        return self.columns[name]

    def grid(self, name: str) -> FloatArray:
        """Return a column in the shape of the grid."""
        return self[name].reshape(self.shape)

    def _table(self) -> dict[str, NDArray[Any]]:
        return {**self.columns, "reached": self.reached}

    def to_dict(self) -> dict[str, Any]:
        """Return the nodes and the extremes of the mapped functions as plain data."""
        extent = {
            name: {"least": float(low), "greatest": float(high), "unit": self.units[name]}
            for name, low, high in self._extent()
        }
        shape = dict(zip(self.over, self.shape, strict=True))
        return {"nodes": shape, "reached": int(self.reached.sum()), "motors": list(self.by), "extent": extent}

    def _extent(self) -> Iterator[tuple[str, float, float]]:
        for name in (*self.of, "conditioning", "motor_conditioning"):
            values = self.columns[name][self.reached]
            yield name, values.min(), values.max()

    @registered
    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot the reached poses over one, two or three mapped functions, coloured by conditioning.

        Parameters
        ----------
        path
            Where to save the picture; by default nowhere.
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        grid = " x ".join(map(str, self.shape))
        head = f"Workspace of {self.name}: {int(self.reached.sum())} of {grid} nodes over {', '.join(self.over)}"
        rows = [(one, tidy(low, ".4g"), tidy(high, ".4g"), self.units[one]) for one, low, high in self._extent()]
        return "\n".join([head, *aligned([("", "least", "greatest", "unit"), *rows], "<>><")])


@checks_keywords
@on_one_thread
def workspace(
    mechanism: Mechanism | ModelBase,
    state: State | None = None,
    *,
    of: str | Sequence[str],
    over: Mapping[str, Sequence[float]] | None = None,
    by: str | Sequence[str] | None = None,
    hold: Hold = None,
    limits: Mapping[str, Bounds] | None = None,
    points: int = POINTS,
    length: float | None = None,
    progress: ProgressOption = None,
) -> Workspace:
    """Return the poses that a mechanism reaches from its start, on a grid, with the conditioning of its motors.

    Parameters
    ----------
    mechanism
        Or a model.
    of
        The mapped functions of the pose, as ``["hand.r[1]", "hand.r[3]"]``.
    over
        The axes of the grid: lower and upper end, and optionally the number of nodes, by function of the pose: motors,
        or components of a point. By default the coordinates of the motors within their limits, a revolution for an
        angle without limits.
    by
        Motors, whose Jacobian is conditioned well or badly; by default all actuators, or without any as many
        coordinates as there are degrees of freedom.
    hold
        Further functions of the pose that keep their values: a name or names, which keep those of the start, or values
        by name, as ``{"hand.Q": (1, 0, 0, 0)}``, None for that of the start.
    state
        The start; by default the assembled start.
    limits
        Lower and upper bound by name, None for no bound; by default those of `Stop` transitions.
    points
        Nodes along an axis, where `over` gives none.
    length
        m, by which angles are weighted; by default a length of the mechanism.
    progress
        True, False, None (on a terminal) or a function.

    Raises
    ------
    MechanismError
        On displacements without limits, and on more than a million nodes.
    UnreachableError
        If no node near the start can be reached.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("arm")
    >>> for name in ("upper", "lower"):
    ...     mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "upper", at=(0, 0, 0))
    >>> mech.add_joint("B", lw.Revolute((0, 0, 1)), "upper", "lower", parent_frame=lw.Frame((1, 0, 0)))
    >>> mech.add_point("tip", "lower", (1, 0, 0))
    >>> mech.start(q={"B": 1.0})
    >>> lw.workspace(mech, of=["tip.r[1]", "tip.r[2]"], over={"A": (0, 1.5, 4), "B": (0.0, 3.0, 7)})
    Workspace of arm: 28 of 4 x 7 nodes over A.q, B.q
                            least  greatest  unit
      tip.r[1]            -0.9193         2  m
      tip.r[2]                  0     1.995  m
      conditioning              0    0.5647  1
      motor_conditioning        1         1  1
    """
    model = model_of(mechanism)
    space = ConfigurationSpace(model, state, length)
    functions, motors = _scalars(space, of), stacked_motors(space, _motors(space, by))
    bounds = Limits.of(space, limits)
    axes = _axes(space, over, motors, bounds, points)
    grid = Stacked(space, [pose_function(space, name) for name in axes])
    targets = _targets(space, axes, hold)
    solver = PoseSolver(space, targets[0], bounds)
    if not solver.dof:
        raise MechanismError(STUCK)
    conditioning = Conditioning(space, functions, motors)
    found = _Map(space, solver, list(axes.values()), targets[1], functions, conditioning)
    found.fill(grid.value(), progress)
    columns: dict[str, FloatArray] = dict(zip(axes, np.array(list(product(*axes.values()))).T, strict=True))
    for k, name in enumerate(functions.names):
        columns[name] = np.where(found.reached, found.values[:, k], columns.get(name, np.nan))
    columns["conditioning"], columns["motor_conditioning"] = found.conditioning.T
    units = dict(zip((*grid.names, *functions.names), (*grid.units, *functions.units), strict=True))
    units |= {"conditioning": "1", "motor_conditioning": "1"}
    shape = tuple(len(axis) for axis in axes.values())
    name = model.mechanism.name
    over_names = tuple(axes)
    return Workspace(
        name, functions.names, over_names, motors.names, shape, found.reached, columns, found.q, units, space.length
    )


class _Map:
    """The nodes of a grid, filled from the start outwards."""

    def __init__(
        self,
        space: ConfigurationSpace,
        solver: PoseSolver,
        axes: Sequence[FloatArray],
        held: Sequence[FloatArray],
        functions: Stacked,
        conditioning: Conditioning,
    ) -> None:
        self._space, self._solver, self._axes, self._held = space, solver, axes, list(held)
        self._functions, self._measure = functions, conditioning
        self.shape = tuple(map(len, axes))
        n = math.prod(self.shape)
        self.reached = np.zeros(n, dtype=bool)
        self.values = np.full((n, functions.size), np.nan)
        self.conditioning = np.full((n, 2), np.nan)
        self.q = np.full((n, space.nq), np.nan)

    def fill(self, at: FloatArray, progress: ProgressOption) -> None:
        """Reach all nodes that are connected with the start, whose functions of the grid have values `at`."""
        waiting = deque([self._first(at)])
        done = 0
        with Progress(progress) as shown:
            while waiting:
                node = waiting.popleft()
                q = self.q[node]
                for neighbour in self._neighbours(node):
                    if not self.reached[neighbour] and self._reach(neighbour, q):
                        waiting.append(neighbour)
                done += 1
                if shown.due:
                    shown.count(done, len(self.reached), "nodes")

    def _first(self, at: FloatArray) -> int:
        """Reach the node next to the start that can be."""
        q = self._space.q
        offsets = [np.abs(axis - x) / max(np.ptp(axis), 1e-300) for axis, x in zip(self._axes, at, strict=True)]
        distance = np.add.outer(offsets[0], 0.0)
        for one in offsets[1:]:
            distance = np.add.outer(distance, one)
        for node in np.argsort(distance.ravel(), kind="stable")[:_SEEDS]:
            if self._reach(int(node), q):
                return int(node)
        raise UnreachableError(
            f"none of the {min(_SEEDS, len(self.reached))} nodes next to the start is reached: let the grid include "
            f"the start, which is at {', '.join(f'{x:.4g}' for x in at)}"
        )

    def _reach(self, node: int, q: FloatArray) -> bool:
        place = np.unravel_index(node, self.shape)
        wanted = [axis[[k]] for axis, k in zip(self._axes, place, strict=True)]
        found = self._solver.newton([*wanted, *self._held], q)
        if not found.found:
            return False
        self.reached[node] = True
        self.q[node] = found.q
        self.values[node] = self._functions.value()
        self.conditioning[node] = self._measure.here()
        return True

    def _neighbours(self, node: int) -> Iterator[int]:
        stride = len(self.reached)
        for size in self.shape:
            stride //= size
            k = node // stride % size
            if k:
                yield node - stride
            if k + 1 < size:
                yield node + stride


def _scalars(space: ConfigurationSpace, of: str | Sequence[str]) -> Stacked:
    functions = stacked(space, of, "of")
    for name in functions.names:
        if name.split("[")[0].endswith(".Q"):
            raise MechanismError(f"of: {name!r} has no value to map: map points, directions and coordinates")
    return functions


def _motors(space: ConfigurationSpace, by: str | Sequence[str] | None) -> str | Sequence[str]:
    """Return the motors that are named, all actuators, or independent speeds."""
    if by is not None:
        return by
    if actuators := [one.name for one in of_kind(space.model.mechanism.forces, Actuator)]:
        return actuators
    return _independent_speeds(space)


def _independent_speeds(space: ConfigurationSpace) -> list[str]:
    """Return as many speeds as degrees of freedom, on which the others depend most smoothly, by name.

    Those of quaternions come last: no coordinate has their rate, by which a grid could be made.
    """
    from scipy.linalg import qr

    basis = space.weights[:, None] * space.tangent().basis
    if not basis.shape[1]:
        raise MechanismError(STUCK)
    for name, at in space.model.numbering.u.items():
        if space.model.mechanism.joints[name].kind.quaternion is not None and at.stop <= space.nu:
            basis[at] *= 1e-3
    chosen = qr(basis.T, mode="r", pivoting=True)[1][: basis.shape[1]]
    return [space.model.u_names[k] for k in sorted(chosen)]


def _axes(
    space: ConfigurationSpace,
    over: Mapping[str, Sequence[float]] | None,
    motors: Stacked,
    limits: Limits | None,
    points: int,
) -> dict[str, FloatArray]:
    """Return the nodes along each axis of the grid by full name of its function."""
    whole_number(points, "points", 2)
    if over is None:
        if turning := [name for part in motors.parts for name in part.names if name.partition("[")[0].endswith(".u")]:
            raise MechanismError(
                f"motor {turning[0]!r} is a speed of a joint that turns by a quaternion: no coordinate has this rate, "
                "by which a grid could be made; give the axes of the grid, as over={'hand.r[1]': (-0.5, 0.5)}"
            )
        over = {name: _range(space, part.units[0], name, limits) for part in motors.parts for name in part.names}
    if not isinstance(over, Mapping) or not over:
        raise MechanismError(f"over must be ranges by name, as {{'A': (0, 1)}}, not {shortened(over)}")
    axes: dict[str, FloatArray] = {}
    for text, given in over.items():
        function = pose_function(space, text)
        if function.size != 1:
            raise MechanismError(f"over: {text!r} has {function.size} values: name one, as {text + '[1]'!r}")
        name = function.names[0]
        if name in axes:
            raise MechanismError(f"over names {name!r} twice")
        if count_of(given) not in (2, 3):
            raise MechanismError(f"over: {text!r} needs a lower and an upper end, not {shortened(given)}")
        lower, upper, *count = given
        if not (_is_number(lower) and _is_number(upper) and lower < upper):
            raise MechanismError(f"over: {text!r} needs a lower end below the upper one, not {shortened(given)}")
        axes[name] = np.linspace(lower, upper, whole_number(count[0] if count else points, f"over: {text!r}: nodes", 2))
    if (nodes := math.prod(map(len, axes.values()))) > MOST_NODES:
        raise MechanismError(
            f"the grid over {', '.join(axes)} has {nodes:.3g} nodes, more than {MOST_NODES}: give fewer points, or "
            "fewer functions in over= and values of the others in hold="
        )
    return axes


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and math.isfinite(value)


def _range(space: ConfigurationSpace, unit: str, name: str, limits: Limits | None) -> tuple[float, float]:
    """Return the bounds of a motor's coordinate."""
    lower, upper = (-np.inf, np.inf) if limits is None else limits.of_name(name)
    if unit == "rad" and not np.isfinite([lower, upper]).any():
        middle = float(pose_function(space, name).value()[0])
        return middle - math.pi, middle + math.pi
    if not np.isfinite([lower, upper]).all():
        raise MechanismError(f"motor {name!r} has no limits: give them, as over={{{name!r}: (0.0, 1.0)}}")
    return lower, upper


def _targets(space: ConfigurationSpace, axes: Mapping[str, FloatArray], hold: Hold) -> tuple[Stacked, list[FloatArray]]:
    """Return the functions of axes and held values, and the latter; the space is at the start."""
    kept: Mapping[str, ArrayLike | None]
    kept = hold if isinstance(hold, Mapping) else dict.fromkeys(names_of(() if hold is None else hold, "hold"))
    held = {name: pose_function(space, name).value() if one is None else one for name, one in kept.items()}
    given: dict[str, ArrayLike] = {name: float(axis[0]) for name, axis in axes.items()} | held
    functions, values, is_path = checked_targets(space, given, "over and hold")
    if is_path:
        raise MechanismError("hold gives one value by name, not a path")
    return functions, [value[0] for value in values[len(axes) :]]
