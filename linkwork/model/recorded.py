"""Operations that kernels do at a state, as functions of time, states, accelerations, loads and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import suggest
from linkwork.core.native import Block, OffsetArray, Stage, offsets_of
from linkwork.core.tapes import Kernels, Operations, Tapes
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.model.base import ModelBase, State

_OF_POSES, _OF_VELOCITIES = ("r", "Q", "e", "length", "angle"), ("v", "w", "rate")  # variables of one part


@dataclass(frozen=True)
class Recorded:
    """The operations, and the sizes of arguments and results.

    Attributes
    ----------
    operations
        Of given numbers.
    places
        Of each given number: the argument, and its place there.
    kept
        Values of the numbers that all states have alike.
    arguments
        Sizes by name: of t, x, udot, tau and p those that there are.
    results
        Sizes by name: der_x, tau, and variables.
    """

    operations: Operations
    places: tuple[tuple[str, int], ...]
    kept: FloatArray
    arguments: dict[str, int]
    results: dict[str, int]


class _Given(NamedTuple):
    """Offsets of numbers of an argument from a place on; the numbers before are no part of any operation."""

    offsets: OffsetArray
    first: int = 0


def record(
    model: ModelBase,
    state: State | None = None,
    outputs: Sequence[str] = (),
    parameters: Sequence[str] = (),
    *,
    rates: bool = True,
    by_states: bool = False,
) -> Recorded:
    """Record a model at a state, by default the assembled start.

    Parameters
    ----------
    model
        Of the mechanism. Transitions are as at the state.
    state
        The state.
    outputs
        Names of variables that are computed.
    parameters
        Names of those that are arguments; the values of others are kept.
    rates
        Whether the derivatives of the states are computed.
    by_states
        Whether the results are differentiated by the states, row by row.

    Raises
    ------
    MechanismError
        Where no tape holds the kernels, as of frictions that stick.
    """
    of_outputs = {one: _offsets(model, one) for one in outputs}
    n, loads = model.numbering.n_states, model.numbering.n_loads
    rate, states = model.fields["qdot"].first, _states(model)
    computed = {"der_x": offsets_of(slice(rate, rate + n))} if rates else {}
    given = {
        "t": _time(model),
        "x": _Given(states),
        "tau": _Given(model.entry_offsets[n : n + loads]),
        "p": _parameters(model, parameters),
    }
    stage = Stage.OUTPUTS if outputs else Stage.DERIVATIVES
    return _recorded(
        model, block_at(model, state), given, computed | of_outputs, stage, by=states if by_states else None
    )


def record_inverse_dynamics(
    model: ModelBase,
    state: State | None = None,
    parameters: Sequence[str] = (),
    speeds: Sequence[int] | None = None,
) -> Recorded:
    """Record the loads of speeds of the tree for given accelerations of the same speeds.

    They are recorded without forward dynamics, at the accelerations that the state has without loads. Arguments are
    udot, and tau where it has more than loads of joints, which have no effect.

    Parameters
    ----------
    model, state, parameters
        As of `record`.
    speeds
        Numbers of independent speeds, which determine all others and alone have loads. By default all, with loads of
        least norm, as `Model.inverse_dynamics` computes them.

    Raises
    ------
    MechanismError
        Where no tape holds the kernels, as of frictions that stick.
    """
    block, n = block_at(model, state), model.numbering
    block.evaluate(Stage.ACCELERATIONS)
    chosen = slice(None) if speeds is None else list(speeds)
    firsts = (model.fields[one].first for one in ("acceleration", "tau"))
    accelerations, loads = (offsets_of(slice(first, first + n.nu))[chosen] for first in firsts)
    given = {"t": _time(model), "x": _Given(_states(model)), "udot": _Given(accelerations)}
    if n.n_loads > n.nu_all:
        given["tau"] = _Given(model.entry_offsets[n.n_states + n.nu_all : n.n_states + n.n_loads], n.nu_all)
    given["p"] = _parameters(model, parameters)
    return _recorded(model, block, given, {"tau": loads}, Stage.ACCELERATIONS, Kernels.INVERSE_DYNAMICS)


def record_kinematics(
    model: ModelBase,
    state: State | None,
    variables: Sequence[str],
    parameters: Sequence[str] = (),
    *,
    by_speeds: bool = False,
) -> Recorded:
    """Record variables of `kinematic_variables`, without dynamics, or their derivatives by the speeds of the tree."""
    given = {"x": _Given(_states(model)), "p": _parameters(model, parameters)}
    computed = {one: _offsets(model, one) for one in variables}
    first = model.fields["u"].first
    by = offsets_of(slice(first, first + model.numbering.nu)) if by_speeds else None
    return _recorded(model, block_at(model, state), given, computed, Stage.OUTPUTS, Kernels.POSES, by)


def kinematic_variables(model: ModelBase, parts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the variables of bodies, points of interest and measures: those of poses, and those of velocities.

    Raises
    ------
    MechanismError
        If there is no such part.
    """
    mechanism = model.mechanism
    known = [*mechanism.bodies, *mechanism.points, *mechanism.measures]
    found: tuple[list[str], list[str]] = [], []
    for part in parts:
        if part not in known:
            raise MechanismNameError(f"there is no body, point or measure {part!r}: {suggest(part, known)}")
        for variables, names in zip(found, (_OF_POSES, _OF_VELOCITIES), strict=True):
            variables += (f"{part}.{one}" for one in names if f"{part}.{one}" in model.columns)
    return found


def _recorded(
    model: ModelBase,
    block: Block,
    given: Mapping[str, _Given],
    computed: Mapping[str, OffsetArray],
    stage: Stage,
    kernels: Kernels = Kernels.STAGES,
    by: OffsetArray | None = None,
) -> Recorded:
    places = [(name, one.first + i) for name, one in given.items() for i in range(one.offsets.size)]
    offsets = [one.offsets for one in given.values()]
    if "t" in given:  # motions have a time of their own
        offsets.append(offsets_of(model.fields["motion_time"].span))
        places += [("t", 0)] * offsets[-1].size
    all_offsets = np.concatenate(offsets)
    by = np.empty(0, np.uint32) if by is None else by
    tapes = Tapes(all_offsets, np.concatenate(list(computed.values())), stage, by, kernels)
    operations = tapes.record(block, block.reals[all_offsets])
    return Recorded(
        operations,
        tuple(places),
        block.reals[operations.kept],
        {name: one.first + one.offsets.size for name, one in given.items()},
        {name: part.size * (by.size or 1) for name, part in computed.items()},
    )


def _time(model: ModelBase) -> _Given:
    return _Given(offsets_of(model.fields["time"].span))


def _states(model: ModelBase) -> OffsetArray:
    first = model.fields["q"].first
    return offsets_of(slice(first, first + model.numbering.n_states))


def _parameters(model: ModelBase, names: Sequence[str]) -> _Given:
    found = [_offsets(model, one) for one in names]
    if any(offsets[0] >= model.fields["time"].first for offsets in found):
        raise MechanismError("parameters: states, inputs and the time are arguments already; give parameters")
    return _Given(np.concatenate([np.empty(0, np.uint32), *found]))


def _offsets(model: ModelBase, name: str) -> OffsetArray:
    column = model.column(name)
    return offsets_of(slice(column.first, column.first + column.count))


def block_at(model: ModelBase, state: State | None) -> Block:
    """Return a block at a state; without one, at the assembled start."""
    given = model.assemble() if state is None else state
    block = model.block()
    if model.sizes.transitions:
        block.put_discrete_state(given.discrete_state)
    block.count_revolutions(model.arguments.turns(given))
    q, speeds = model.arguments.states(given, None)
    block.enter(q, speeds, model.arguments.with_motions(given, model.arguments.no_loads), given.time)
    return block


def names_in_c(variables: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Return names of letters, digits and underscores, all different: where two would be alike, the later is numbered.

    >>> names_in_c(["rod.r[1]", "a-b.q", "a_b.q"], taken=["size"])
    ['rod_r_1', 'a_b_q', 'a_b_q_2']
    """
    found, used = list[str](), {one.lower() for one in taken}
    for variable in variables:
        first, number = legal_in_c(variable), 2
        name = first
        while name.lower() in used:
            name, number = f"{first}_{number}", number + 1
        used.add(name.lower())
        found.append(name)
    return found


def legal_in_c(variable: str) -> str:
    """Return a name of the letters, digits and underscores of a variable.

    >>> legal_in_c("rod.r[1]")
    'rod_r_1'
    """
    legal = "".join(one if one.isascii() and one.isalnum() else "_" for one in variable)
    while "__" in legal:
        legal = legal.replace("__", "_")
    legal = legal.strip("_")
    return f"_{legal}" if legal[:1].isdigit() else legal
