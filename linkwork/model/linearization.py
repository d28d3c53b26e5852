"""The linear model of a mechanism around a state, by exact derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from linkwork._util.checks import FloatArray, names_of, number
from linkwork.core.native import Block, Minimal, OffsetArray, Stage
from linkwork.errors import MechanismError
from linkwork.mechanism.quantities import Kind
from linkwork.model.arguments import Loads, one
from linkwork.model.idle_states import without_idle_spins
from linkwork.model.independent_coordinates import IndependentCoordinates, choose_independent_coordinates
from linkwork.model.linear_model import LinearModel
from linkwork.model.local_coordinates import LocalCoordinates
from linkwork.variables.schema import Variable, matching

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

States = Literal["minimal", "full"]

_Derivative = Callable[[OffsetArray, OffsetArray, FloatArray], FloatArray]
_COMPUTED: tuple[Kind, ...] = ("state", "derivative", "output")


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
        return _model(system, block, None, block.directional_derivative, inputs, outputs)
    chosen = choose_independent_coordinates(system, state, independents, local=True)
    minimal = Minimal(block, chosen.q, chosen.u)
    minimal.put(minimal.get())  # the others to rounding, at the time given
    model = _model(system, block, chosen, minimal.directional_derivative, inputs, outputs)
    return without_idle_spins(system, state, model, minimal.directional_derivative, inputs, outputs)


def _at(system: ModelBase, state: State, tau: Loads, time: float | None) -> Block:
    """Return a block at the operating point."""
    block = system.block()
    system.enter(block, state)
    q, u = system.arguments.states(state, None)
    loads = one(system.arguments.with_motions(state, system.arguments.loads(tau)), "tau")
    block.enter(q, u, loads, state.time if time is None else number(time, "time"))
    return block


def _model(
    system: ModelBase,
    block: Block,
    chosen: IndependentCoordinates | None,
    derivative: _Derivative,
    inputs: Sequence[str] | None,
    outputs: Sequence[str] | None,
) -> LinearModel:
    by_name = {variable.name: variable for variable in system.variables}
    local = () if chosen is None else chosen.local
    places = LocalCoordinates(system, block, local)
    names = [*system.q_names, *system.u_names] if chosen is None else chosen.names(system)
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
    seeds = [(_offsets([one]), np.ones(1)) for one in (*x, *u)]
    seeds[before:before] = places.seeds
    matrix = np.array([derivative(rows, knowns, seed) for knowns, seed in seeds]).T
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
