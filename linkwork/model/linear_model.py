"""Linear models of a mechanism around a state, by exact derivatives.

Joints with a quaternion have local coordinates: displacements along their speeds, from a pose. In the axes of the
child, with R = R0 exp(theta) and p = p0 + R0 rho, the speeds w and v and their displacements obey to first order

    d theta/dt = w + theta x w / 2,   d rho/dt = v + theta x v

Idle spins, which affect nothing else and cannot be seen, are left out.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray, names_of, number
from linkwork._util.names import quoted
from linkwork._util.stack import levels_of_package
from linkwork.core.native import Block, Minimal, OffsetArray, Stage
from linkwork.errors import KinkWarning, MechanismError
from linkwork.mechanism.friction import sticking
from linkwork.mechanism.quantities import Kind
from linkwork.model.arguments import Loads, one
from linkwork.model.idle_spins import SpinningBody, idle_speeds
from linkwork.model.independent_coordinates import (
    IndependentCoordinates,
    admissible_speeds,
    choose_independent_coordinates,
    local_name,
)
from linkwork.variables.schema import Variable, matching

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State


States = Literal["minimal", "full"]

NEARBY = 1e-7  # of 1 and a state: how far derivatives are compared
FEWER = 4  # times: so many fewer directions than columns take less time
KINK = 1e-4  # of 1 and the largest derivative: a jump

_COMPUTED: tuple[Kind, ...] = ("state", "derivative", "output")


@dataclass(frozen=True, eq=False)
class LinearModel:
    """xdot = xdot0 + A (x - x0) + B (u - u0),  y = y0 + C (x - x0) + D (u - u0).

    Attributes
    ----------
    A, B, C, D
        (n, n), (n, m), (p, n) and (p, m).
    states, inputs, outputs
        Names of x, u and y. Of joints with a quaternion, "S.dq[1]" is the displacement along the speed "S.u[1]" from
        the operating point: the rotation vector in the axes of the child, m for displacements of a free joint.
    x, u, y, xdot
        The operating point; in an equilibrium xdot is zero.
    independents
        Which coordinates and speeds the states are; None: all of them. Its `idle` names the spins that are left out.
    units
        Of states, inputs and outputs by name.
    """

    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    x: FloatArray
    u: FloatArray
    y: FloatArray
    xdot: FloatArray
    independents: IndependentCoordinates | None = field(default=None, repr=False)
    units: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Of A, 1/s, sorted by frequency."""
        values = np.linalg.eigvals(self.A).astype(np.complex128)
        return values[np.lexsort((values.imag, values.real, np.abs(values)))]

    def to_scipy(self) -> Any:
        """Return the matrices as a `scipy.signal.StateSpace`, for deviations from the operating point."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)

    def __repr__(self) -> str:
        head = f"LinearModel: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        rows = [("state", "x", "xdot"), *_rows(self.states, self.x, self.xdot)]
        rows += [("input", "u", ""), *_rows(self.inputs, self.u)]
        rows += [("output", "y", ""), *_rows(self.outputs, self.y)]
        width = max(len(name) for name, _, _ in rows)
        return "\n".join([head, *(f"  {name:{width}} {value:>12} {rate:>12}".rstrip() for name, value, rate in rows)])


def _rows(names: Sequence[str], *values: ArrayLike) -> list[tuple[str, str, str]]:
    columns = [[f"{value:.6g}" for value in np.asarray(numbers)] for numbers in values]
    columns += [[""] * len(names)] * (2 - len(columns))
    return list(zip(names, *columns, strict=True))


def linear_model(
    system: ModelBase,
    state: State | None = None,
    *,
    states: States = "minimal",
    independents: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    tau: Loads = None,
    time: float | None = None,
) -> LinearModel:
    """Return the linear model of a compiled mechanism; options as of `linkwork.linearize`."""
    if states not in ("minimal", "full"):
        raise MechanismError(f'states must be "minimal" or "full", not {states!r}')
    if states == "full" and independents is not None:
        raise MechanismError('independents are chosen among all states: leave them out with states="full"')
    state = system.assemble(time=0.0 if time is None else time) if state is None else state
    block = _at(system, state, tau, time)
    if states == "full":
        return _model(system, block, None, block, inputs, outputs)
    state = replace(state, discrete_state=block.discrete_state)  # with the frictions that stick under these loads
    chosen = choose_independent_coordinates(system, state, independents, local=True)
    minimal = Minimal(block, chosen.q, chosen.u)
    minimal.put(minimal.get())  # the others to rounding, at the time given
    model = _model(system, block, chosen, minimal, inputs, outputs)
    if block.model.sizes.kinks or (outputs is not None and system.mechanism.outputs):
        _warn_of_kinks(model, [_nearby(system, block, chosen, minimal, sign, inputs, outputs) for sign in (1.0, -1.0)])
    return without_idle_spins(system, state, model, minimal, inputs, outputs)


def _nearby(
    system: ModelBase,
    block: Block,
    chosen: IndependentCoordinates,
    minimal: Minimal,
    sign: float,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
) -> LinearModel:
    """Return the linear model of a state nearby, in a direction along which all states change."""
    x = minimal.get()
    minimal.put(x + sign * NEARBY * (1.0 + np.abs(x)) * np.cos(np.arange(1.0, 1.0 + len(x))))
    try:
        return _model(system, block, chosen, minimal, inputs, outputs)
    finally:
        minimal.put(x)


def _warn_of_kinks(model: LinearModel, nearby: Sequence[LinearModel]) -> None:
    """Warn where derivatives jump within a small change of the states."""
    here, above, below = (np.block([[one.A, one.B], [one.C, one.D]]) for one in (model, *nearby))
    jumps = np.abs(above - below) > KINK * (1.0 + np.abs(here).max(initial=0.0))
    if not jumps.any():
        return
    rows = [f"der({name})" for name in model.states] + list(model.outputs)
    columns = [*model.states, *model.inputs]
    found = [f"{rows[i]} by {columns[k]}" for i, k in np.argwhere(jumps)]
    warnings.warn(
        KinkWarning(
            f"derivatives jump at this state, where a formula or table has a kink: {quoted(found)}; "
            "the linear model has those of one branch: linearize at a state close to the kink for the other"
        ),
        stacklevel=levels_of_package(),
    )


def _at(system: ModelBase, state: State, tau: Loads, time: float | None) -> Block:
    """Return a block at the operating point."""
    block = system.block()
    system.enter(block, state)
    q, u = system.arguments.states(state, None)
    loads = one(system.arguments.with_motions(state, system.arguments.loads(tau)), "tau")
    block.enter(q, u, loads, state.time if time is None else number(time, "time"))
    if sticking(system.mechanism):
        block.keep_frictions()
    return block


def _model(
    system: ModelBase,
    block: Block,
    chosen: IndependentCoordinates | None,
    source: Block | Minimal,  # of the derivatives
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
) -> LinearModel:
    by_name = {variable.name: variable for variable in system.variables}
    local = () if chosen is None else chosen.local
    places = LocalCoordinates(system, block, local)
    names = [*system.q_names, *system.u_names] if chosen is None else chosen.names(system)
    names += system.element_names
    before = 0 if chosen is None else len(chosen.q)
    own = names[:before] + names[before + len(local) :] if local else names
    x = [by_name[name] for name in own]
    xdot = [by_name[f"der({name})"] for name in own]
    u = _chosen(system, inputs, ("input",), "inputs")
    y = [] if outputs is None else _chosen(system, outputs, _COMPUTED, "outputs")
    block.evaluate(Stage.OUTPUTS)
    x0, u0, y0, xdot0 = (block.reals[_offsets(v)] for v in (x, u, y, xdot))
    x0, xdot0 = np.insert(x0, before, places.values), np.insert(xdot0, before, places.rates)
    rows = np.concatenate([_offsets([*xdot, *y]), places.offsets])
    directions = None if places.seeds else _directions(system, [*xdot, *y], [*x, *u])
    if directions is None:
        matrix = source.jacobian(rows, _offsets([*x, *u]))
    else:
        matrix = _compressed(source, rows, _offsets([*x, *u]), *directions)
    if places.seeds:
        along = np.array([source.directional_derivative(rows, *seed) for seed in places.seeds]).T
        matrix = np.hstack([matrix[:, :before], along, matrix[:, before:]])
    n, own_rows = len(names), len(x) + len(y)
    of_local = places.rows(matrix[own_rows:])
    matrix = np.vstack([matrix[:before], of_local, matrix[before:own_rows]])
    if outputs is None:
        matrix, y0 = np.vstack([matrix, np.eye(n, matrix.shape[1])]), x0
    blocks = matrix[:n, :n], matrix[:n, n:], matrix[n:, :n], matrix[n:, n:]
    A, B, C, D = map(np.ascontiguousarray, blocks)
    units = {variable.name: variable.unit for variable in (*x, *u, *y)} | places.units
    shown = tuple(names) if outputs is None else _names(y)
    return LinearModel(A, B, C, D, tuple(names), _names(u), shown, x0, u0, y0, xdot0, chosen, units)


def _directions(
    system: ModelBase, rows: Sequence[Variable], columns: Sequence[Variable]
) -> tuple[NDArray[np.bool_], NDArray[np.intp]] | None:
    """Combine columns on which no row depends together, where that is much less work than column by column.

    Returns
    -------
    pattern, direction
        (rows, columns): whether a row depends on a column; (columns,): the number of the direction of each.
    """
    joints, links = system.joint_names, system.topology.links
    own = {name: name.partition(".")[0] for name in (*system.q_names, *system.u_names)}
    # states of a cluster follow from each other
    cluster = {joints[links[i].joint]: str(k) for k, c in enumerate(system.topology.clusters) for i in c.links}
    key = {name: cluster.get(joint, name) for name, joint in own.items()}
    keys = [key.get(column.name, column.name) for column in columns]
    places: dict[str, list[int]] = {}
    for k, name in enumerate(keys):
        places.setdefault(name, []).append(k)
    pattern = np.zeros((len(rows), len(columns)), dtype=bool)
    for i, row in enumerate(rows):
        if row.depends is None:
            return None
        pattern[i, [k for name in {key.get(name, name) for name in row.depends} for k in places.get(name, ())]] = True
    direction, taken = np.zeros(len(columns), dtype=int), np.zeros((0, len(rows)), dtype=bool)
    for k in range(len(columns)):
        free = np.flatnonzero(~taken[:, pattern[:, k]].any(axis=1))
        if not free.size:
            taken = np.vstack([taken, np.zeros((1, len(rows)), dtype=bool)])
        direction[k] = free[0] if free.size else len(taken) - 1
        taken[direction[k]] |= pattern[:, k]
    return (pattern, direction) if len(taken) * FEWER <= len(columns) else None


def _compressed(
    source: Block | Minimal,
    rows: OffsetArray,
    columns: OffsetArray,
    pattern: NDArray[np.bool_],
    direction: NDArray[np.intp],
) -> FloatArray:
    """Return the derivatives of rows by columns from those along directions of `_directions`."""
    matrix = np.zeros(pattern.shape)
    for turn in range(int(direction.max(initial=-1)) + 1):
        together = np.flatnonzero(direction == turn)
        found = source.directional_derivative(rows, columns[together], np.ones(together.size))
        matrix[:, together] = np.where(pattern[:, together], found[:, None], 0.0)
    return matrix


def _chosen(system: ModelBase, names: Sequence[str] | None, kinds: tuple[Kind, ...], what: str) -> list[Variable]:
    """Return variables that may be differentiated, in the order named; None: all of them."""
    if names is None:
        return [v for v in system.variables if v.kind in kinds and _is_smooth(v)]
    if isinstance(names, Mapping):
        raise MechanismError(
            f"{what} must be names, not values by name: give {what}={list(names)}, and loads at the operating point as "
            "tau={'A': 0.1}"
        )
    found: dict[str, Variable] = {}
    for name in names_of(names, what):
        fitting = matching(system.variables, name, kinds, what)
        smooth = {v.name: v for v in fitting if _is_smooth(v)}
        if not smooth:
            raise MechanismError(
                f"{what}: {fitting[0].name!r} changes at events only, so that there is no derivative: leave it out"
            )
        if smooth.keys() <= found.keys():
            raise MechanismError(f"{what}: {name!r} is named twice: name it once")
        found |= smooth
    return list(found.values())


def _is_smooth(variable: Variable) -> bool:
    return variable.type == "real" and not variable.discrete


def _names(variables: Sequence[Variable]) -> tuple[str, ...]:
    return tuple(variable.name for variable in variables)


def _offsets(variables: Sequence[Variable]) -> OffsetArray:
    return np.array([variable.reference for variable in variables], dtype=np.uint32)


class LocalCoordinates:
    """Local coordinates along speeds, at the state of a block.

    Parameters
    ----------
    speeds
        Positions among the speeds of the tree joints, ascending.
    """

    def __init__(self, system: ModelBase, block: Block, speeds: Sequence[int]) -> None:
        numbering = system.numbering
        reference = {variable.name: variable.reference for variable in system.variables}
        at_q = [reference[name] for name in system.q_names] if speeds else []
        at_u = [reference[name] for name in system.u_names] if speeds else []
        self._joints = [
            (name, numbering.q[name], numbering.u[name], [k for k in speeds if k in _range(numbering.u[name])])
            for name in numbering.tree
        ]
        self._joints = [one for one in self._joints if one[3]]
        self.q, self.u = np.array(block["q"]), np.array(block["u"])
        # values, rates: of the coordinates, (n,) each: zeros, and the speeds
        self.values, self.rates = np.zeros(len(speeds)), self.u[list(speeds)]
        kinds = {name: system.mechanism.joints[name].kind for name, *_ in self._joints}
        self.units: dict[str, str] = {}  # by name
        # Of each coordinate: offsets of the joint's coordinates, and how they change with it.
        self.seeds: list[tuple[OffsetArray, FloatArray]] = []
        taken: list[int] = []
        for name, q, u, own in self._joints:
            where = np.array(at_q[q], dtype=np.uint32)
            columns = self._columns(q)
            for k in own:
                self.units[local_name(system, k)] = kinds[name].motion_units[k - u.start]
                self.seeds.append((where, np.ascontiguousarray(columns[:, k - u.start])))
            taken += [*at_q[q], *at_u[u]]
        # Variables whose derivatives `rows` takes: coordinates and speeds of the joints.
        self.offsets = np.array(taken, dtype=np.uint32)

    def rows(self, derivatives: FloatArray) -> FloatArray:
        """Return how the rates of the local coordinates change, from how coordinates and speeds do, (offsets, m)."""
        found, first = [], 0
        for _, q, u, own in self._joints:
            n, m = q.stop - q.start, u.stop - u.start
            dq, du = derivatives[first : first + n], derivatives[first + n : first + n + m]
            first += n + m
            theta = 2.0 * _left(self.q[q.stop - 4 : q.stop])[:, 1:].T @ dq[-4:]
            change = du + np.vstack(
                [
                    (0.5 if k == 0 else 1.0) * np.cross(theta, self.u[u.start + k : u.start + k + 3], axisa=0, axisc=0)
                    for k in range(0, m, 3)
                ]
            )
            found.append(change[[k - u.start for k in own]])
        return np.vstack(found) if found else np.zeros((0, derivatives.shape[1]))

    def _columns(self, q: slice) -> FloatArray:
        """How the coordinates of a joint, a position and a quaternion or the latter alone, change with its speeds."""
        Q = self.q[q.stop - 4 : q.stop]
        turn = 0.5 * _left(Q)[:, 1:]
        if q.stop - q.start == 4:
            return turn
        columns = np.zeros((7, 6))
        columns[3:, :3], columns[:3, 3:] = turn, _rotation(Q)
        return columns


def _range(s: slice) -> range:
    return range(s.start, s.stop)


def _left(Q: FloatArray) -> FloatArray:
    """Matrix of the product with a quaternion from the left."""
    w, x, y, z = Q / np.linalg.norm(Q)
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


def _rotation(Q: FloatArray) -> FloatArray:
    w, v = Q[0] / np.linalg.norm(Q), Q[1:] / np.linalg.norm(Q)
    across = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    rotation: FloatArray = np.eye(3) + 2.0 * w * across + 2.0 * across @ across
    return rotation


LOADED = 1e-9  # rad/s2 by an input of one: more is no rounding
_REMEDY = "{} has no inertia about its line; leave the load out, or give the body an inertia about the line"
TOLERANCE = 1e-7  # of what idle spins may change, by the largest number of the same matrix


def without_idle_spins(
    system: ModelBase,
    state: State,
    model: LinearModel,
    source: Block | Minimal,  # of derivatives at the state
    # inputs, outputs: as they were asked for
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
) -> LinearModel:
    """Return the linear model of all but the idle spins, or the same where outputs show these.

    With V the directions of the idle spins in x, A V lies in the span of V and C V is zero: x - V V_I^-1 x_I, where I
    are as many of the states, obeys equations of its own.

    Raises
    ------
    MechanismError
        Where an input or a damper loads a spin that has no inertia.

    Notes
    -----
    A spin of which anything takes notice is not idle, and stays (`_without_noticed`).
    """
    chosen = model.independents
    assert chosen is not None
    idle, bodies = idle_speeds(system, state, partial(admissible_speeds, system, state))
    if not idle.shape[1]:
        return model
    block = system.block()
    system.enter(block, state)
    thick = [body for body in bodies if body.has_inertia]
    thin = [body for body in bodies if not body.has_inertia]
    if thin:
        _refuse_dampers(system, state, idle, thin)
        model = _without_loads(system, state, model, source, thin, inputs)
    if thick:
        idle = _without_noticed(system, state, model, idle, thick, inputs)
        if not idle.shape[1]:
            return model
        bodies = [one for one in bodies if np.abs(_turn(system, block, one) @ idle).max() > TOLERANCE]
    speed_of = _speeds_of_coordinates(system)
    order = [*(speed_of[i] for i in chosen.q), *chosen.local]
    V = np.zeros((len(model.states), 2 * idle.shape[1]))
    V[: len(order), : idle.shape[1]] = idle[order]
    V[len(order) : len(order) + len(chosen.u), idle.shape[1] :] = idle[list(chosen.u)]
    shown = outputs is not None and np.abs(model.C @ V).max(initial=0.0) > TOLERANCE * np.abs(model.C).max(initial=1.0)
    out = _pivots(V[: 2 * len(order)])
    left = [i for i in range(len(V)) if i not in out]
    G = np.linalg.solve(V[out].T, V[left].T).T
    moved = model.A @ V
    remains = moved[left] - G @ moved[out]
    if shown or np.abs(remains).max(initial=0.0) > TOLERANCE * max(1.0, np.abs(model.A).max(initial=0.0)):
        return model
    C, D, y, names = model.C[:, left], model.D, model.y, model.outputs
    if outputs is None:
        C, D = np.eye(len(left)), model.D[left]
        y, names = model.x[left] - G @ model.x[out], tuple(model.states[i] for i in left)
    return replace(
        model,
        A=np.ascontiguousarray(model.A[np.ix_(left, left)] - G @ model.A[np.ix_(out, left)]),
        B=model.B[left] - G @ model.B[out],
        C=np.ascontiguousarray(C),
        D=D,
        states=tuple(model.states[i] for i in left),
        outputs=names,
        x=model.x[left] - G @ model.x[out],
        y=y,
        xdot=model.xdot[left] - G @ model.xdot[out],
        independents=replace(chosen, idle=tuple(map(str, bodies))),
    )


def _without_noticed(
    system: ModelBase,
    state: State,
    model: LinearModel,
    idle: FloatArray,
    bodies: Sequence[SpinningBody],
    inputs: Sequence[str] | None,
) -> FloatArray:
    """Return a basis of the spins of which nothing takes notice, (nu, k).

    Notice is taken by forces in the joints that turn, also where they are constant; by what reads their coordinates and
    speeds: formulas, triggers of transitions, outputs; by forces between bodies that change with the spin; and by
    inputs that turn it. Of the inputs that nobody named, loads of joints with several speeds do not count: no motor
    drives a ball.
    """
    block = _at(system, state, None, None)
    reference = {variable.name: variable.reference for variable in system.variables}
    rates = np.array([reference[f"der({name})"] for name in system.u_names], dtype=np.uint32)
    shown = np.array([reference[name] for name in system.mechanism.outputs], dtype=np.uint32)
    rows_of = np.concatenate([rates, shown])
    noticed = [_motion_in(system, block, joint, idle) for joint in _joints_in_use(system)]
    counted = [name for name in model.inputs if inputs is not None or not _is_of_several_speeds(system, name)]
    loads = block.jacobian(rates, np.array([reference[name] for name in counted], dtype=np.uint32))
    by_spin = [*_changes_by_speeds(system, block, idle, rows_of)]
    by_spin += _changes_by_poses(system, state, block, idle, rows_of)
    changes = np.array(by_spin).T
    small = TOLERANCE * max(1.0, float(np.abs(model.A).max(initial=0.0)))
    k = idle.shape[1]
    noticed += [changes[len(rates) :, :k], changes[len(rates) :, k:]]
    struck = [getattr(each.action, "body", None) for each in system.mechanism.transitions.values()]
    at_rest = np.array([*_changes_by_speeds(system, block, idle, rows_of), *by_spin[idle.shape[1] :]])[
        :, : len(rates)
    ].T
    for spinning in bodies:
        turn = _turn(system, block, spinning)
        of_spins = turn @ (at_rest if spinning.direction is None else changes[: len(rates)])
        rounding = TOLERANCE * float((np.abs(turn) @ np.abs(loads)).max(initial=0.0))
        is_loaded = np.abs(turn @ loads).max(initial=0.0) > max(rounding, LOADED)
        if is_loaded or spinning.body in struck or np.abs(of_spins).max(initial=0.0) > small:
            noticed += [turn @ idle, of_spins[:, :k], of_spins[:, k:]]
    rows = np.vstack(noticed)
    rows = rows[np.abs(rows).max(axis=1) > small]
    if not len(rows):
        return idle
    _, sizes, right = np.linalg.svd(rows / np.linalg.norm(rows, axis=1)[:, None])
    return np.ascontiguousarray(idle @ right[int(np.sum(sizes > TOLERANCE)) :].T)


def _motion_in(system: ModelBase, block: Block, joint: str, speeds: FloatArray) -> FloatArray:
    """Speeds of a tree joint, or how the bodies of a cut one turn on each other, in columns of speeds of the tree."""
    if joint in system.numbering.tree:
        return speeds[system.numbering.u[joint]]
    ends = [system.mechanism.joints[joint].parent, system.mechanism.joints[joint].child]
    parent, child = (
        block.body_jacobian(system.body_numbers[one], np.zeros(3))[:3] if one in system.body_numbers else 0.0
        for one in ends
    )
    turned: FloatArray = np.asarray(child - parent) @ speeds
    return turned


def _is_of_several_speeds(system: ModelBase, name: str) -> bool:
    joint = system.mechanism.joints.get(name.partition(".")[0])
    return joint is not None and joint.kind.nu > 1


def _turn(system: ModelBase, block: Block, one: SpinningBody) -> FloatArray:
    """How a body turns about its line, or about all, by the speeds of the tree."""
    turn = block.body_jacobian(system.body_numbers[one.body], np.zeros(3))[:3]
    return turn if one.direction is None else one.direction[None] @ turn


def _changes_by_speeds(system: ModelBase, block: Block, idle: FloatArray, rows: OffsetArray) -> list[FloatArray]:
    reference = {variable.name: variable.reference for variable in system.variables}
    speeds = np.array([reference[name] for name in system.u_names], dtype=np.uint32)
    return [block.directional_derivative(rows, speeds, np.ascontiguousarray(spin)) for spin in idle.T]


def _changes_by_poses(
    system: ModelBase, state: State, block: Block, idle: FloatArray, rows: OffsetArray
) -> list[FloatArray]:
    """At rest, where the block stays: there accelerations about lines of their own depend on angles by loads alone."""
    reference = {variable.name: variable.reference for variable in system.variables}
    loads = one(system.arguments.with_motions(state, system.arguments.loads(None)), "tau")
    block.enter(state.q, np.zeros_like(state.u), loads, state.time)
    of_speed = {u: q for q, u in _speeds_of_coordinates(system).items()}
    others = [u for u in range(system.numbering.nu) if u not in of_speed]
    local = LocalCoordinates(system, block, others)
    seeds = {u: (np.array([reference[system.q_names[q]]], dtype=np.uint32), np.ones(1)) for u, q in of_speed.items()}
    seeds |= dict(zip(others, local.seeds, strict=True))
    by_speed = np.array([block.directional_derivative(rows, *seeds[u]) for u in range(system.numbering.nu)])
    return list(idle.T @ by_speed)


def _joints_in_use(system: ModelBase) -> list[str]:
    """Joints in which forces and transitions act, and those that formulas, triggers and outputs read."""
    mech, used = system.mechanism, dict.fromkeys([""])
    for force in mech.forces:
        used |= dict.fromkeys(force.joint_names)
        used |= dict.fromkeys(one.part for one in force.readings(mech) if one.part in mech.joints)
    for output in mech.outputs.values():
        used |= dict.fromkeys(re.split(r"[.\[]", name)[0] for name in output.read(mech))
    for transition in mech.transitions.values():
        quantity = getattr(transition.when, "quantity", "")
        used |= dict.fromkeys([*re.split(r"[.\[]", quantity)[:1], str(getattr(transition.action, "joint", ""))])
    return [name for name in used if name in mech.joints and mech.joints[name].kind.nu]


def _speeds_of_coordinates(system: ModelBase) -> dict[int, int]:
    numbering = system.numbering
    pairs: dict[int, int] = {}
    for name in numbering.tree:
        q, u = numbering.q[name], numbering.u[name]
        if q.stop - q.start == u.stop - u.start:
            pairs |= dict(zip(range(q.start, q.stop), range(u.start, u.stop), strict=True))
    return pairs


def _pivots(V: FloatArray) -> list[int]:
    """As many rows as columns, the most independent ones; of the same coordinates and speeds."""
    half = V.shape[1] // 2
    first = len(V) // 2
    left, found = V[first:, half:].copy(), []
    for _ in range(half):
        best = int(np.argmax(np.linalg.norm(left, axis=1)))
        found.append(best)
        row = left[best] / np.linalg.norm(left[best])
        left -= np.outer(left @ row, row)
    return sorted([*found, *(first + k for k in found)])


def _refuse_dampers(system: ModelBase, state: State, idle: FloatArray, bodies: Sequence[SpinningBody]) -> None:
    """At rest, where accelerations along spins depend on their speeds by dampers alone."""
    block = system.block()
    system.enter(block, state)
    no_loads = one(system.arguments.with_motions(state, system.arguments.loads(None)), "tau")
    block.enter(state.q, np.zeros_like(state.u), no_loads, state.time)
    reference = {variable.name: variable.reference for variable in system.variables}
    speeds = np.array([reference[name] for name in system.u_names], dtype=np.uint32)
    rates = np.array([reference[f"der({name})"] for name in system.u_names], dtype=np.uint32)
    changes = [block.directional_derivative(rates, speeds, np.ascontiguousarray(spin)) for spin in idle.T]
    if np.abs(idle.T @ np.transpose(changes)).max(initial=0.0) > TOLERANCE:
        raise MechanismError(f"a damper acts on an idle spin: {_REMEDY.format(_listed(bodies))}")


def _without_loads(
    system: ModelBase,
    state: State,
    model: LinearModel,
    source: Block | Minimal,
    bodies: Sequence[SpinningBody],
    inputs: Sequence[str] | None,
) -> LinearModel:
    """Refuse inputs that load spins without inertia; those that were not asked for are left out."""
    reference = {variable.name: variable.reference for variable in system.variables}
    rows = np.array([reference[f"der({name})"] for name in system.u_names], dtype=np.uint32)
    block = system.block()
    system.enter(block, state)
    turn = np.vstack([_turn(system, block, one) for one in bodies])
    changes = turn @ source.jacobian(rows, np.array([reference[name] for name in model.inputs], dtype=np.uint32))
    sizes = np.abs(changes).max(axis=0, initial=0.0)
    loaded = [(name, float(size)) for name, size in zip(model.inputs, sizes, strict=True) if size > 0.0]
    most = max((size for _, size in loaded), default=0.0)
    loads = [name for name, size in loaded if size > TOLERANCE * most and size > LOADED]
    if loads and inputs is not None:
        raise MechanismError(f"input {loads[0]!r} acts on an idle spin: {_REMEDY.format(_listed(bodies))}")
    kept = [i for i, name in enumerate(model.inputs) if name not in loads]
    return replace(
        model, B=model.B[:, kept], D=model.D[:, kept], u=model.u[kept], inputs=tuple(model.inputs[i] for i in kept)
    )


def _listed(bodies: Sequence[SpinningBody]) -> str:
    return quoted([one.body for one in bodies])
