"""Operations that kernels do at a state, as functions of time, states, loads and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core.native import Block, OffsetArray, Stage, offsets_of
from linkwork.core.tapes import Operations, Tapes
from linkwork.errors import MechanismError
from linkwork.model.base import ModelBase, State


@dataclass(frozen=True)
class Recorded:
    """The operations, and the sizes of arguments and results.

    Attributes
    ----------
    operations
        Their given numbers are the arguments one behind the other, and the time once more.
    kept
        Values of the numbers that all states have alike.
    arguments
        Sizes by name: t, x, tau, p.
    results
        Sizes by name: der_x, and variables.
    """

    operations: Operations
    kept: FloatArray
    arguments: dict[str, int]
    results: dict[str, int]


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
    of_parameters = {one: _offsets(model, one) for one in parameters}
    if any(offsets[0] >= model.fields["time"].first for offsets in of_parameters.values()):
        raise MechanismError("parameters: states, inputs and the time are arguments already; give parameters")
    n, loads = model.numbering.n_states, model.numbering.n_loads
    first, rate = model.fields["q"].first, model.fields["qdot"].first
    states = offsets_of(slice(first, first + n))
    computed = {"der_x": offsets_of(slice(rate, rate + n))} if rates else {}
    computed |= of_outputs
    given = {
        "t": offsets_of(model.fields["time"].span),
        "x": states,
        "tau": model.entry_offsets[n : n + loads],
        "p": np.concatenate([np.empty(0, np.uint32), *of_parameters.values()]),
    }
    block = block_at(model, state)
    offsets = np.concatenate([*given.values(), offsets_of(model.fields["motion_time"].span)])
    stage = Stage.OUTPUTS if outputs else Stage.DERIVATIVES
    by = states if by_states else np.empty(0, np.uint32)
    operations = Tapes(offsets, np.concatenate(list(computed.values())), stage, by).record(block, block.reals[offsets])
    width = n if by_states else 1
    return Recorded(
        operations,
        block.reals[operations.kept],
        {one: part.size for one, part in given.items()},
        {one: part.size * width for one, part in computed.items()},
    )


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
