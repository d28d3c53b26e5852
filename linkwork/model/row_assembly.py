"""Assembly of single rows of a batch, and derivatives through it, with the loops closed again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import suggest
from linkwork.core.native import ASSEMBLY_TOLERANCE, Block, OffsetArray
from linkwork.errors import AssemblyError, LinkworkError, MechanismError, MechanismNameError, SingularityError
from linkwork.model.batch_rows import BatchRows
from linkwork.model.changed_starts import changed_starts, describe_changed_starts
from linkwork.model.independent_coordinates import NotAsManyError, check_independent_joints

_STARTS = (("q", "q"), ("u", "u"), ("element_state", "state"))  # fields of states, and those of their start values


class RowAssembly:
    """Closes the loops of one row after the other, in a block of its own.

    Parameters
    ----------
    batch
        Of the rows.
    kept
        Tree joints whose coordinates and speeds stay as they are.
    others
        Joints of which the first ones stay as they are the longest; all others follow.
    argument
        The one that names the kept joints, for errors.
    """

    def __init__(self, batch: BatchRows, kept: Sequence[str], others: Iterable[str], argument: str) -> None:
        self.batch, self._kept = batch, kept
        self.block = batch._workers.new_block()
        model, numbering = batch.model, batch.model.numbering
        order = [*kept, *others]
        for joint in kept:
            if joint not in numbering.q or numbering.q[joint].stop > model.sizes.nq:
                tree = [name for name, span in numbering.q.items() if span.stop <= model.sizes.nq]
                raise MechanismNameError(f"{argument}: there is no tree joint {joint!r}: {suggest(joint, tree)}")
        self._part = {name: self.block.reals[model.fields[f"{start}_start"].span] for name, start in _STARTS}
        for name, spans in (("q", numbering.q), ("u", numbering.u)):
            priority = self.block.reals[model.fields[f"{name}_priority"].span]
            tree = batch.columns[name].shape[1]
            for joint, span in spans.items():
                place = order.index(joint) + 1.0 if joint in order else 0.0
                priority[span] = place / (place + 1.0) if span.stop <= tree else 0.0
            self._part[name][tree:] = getattr(batch._state, name).cut

    def close(self, row: int, tolerance: float) -> Block:
        """Return the block with a row, whose loops are closed.

        Raises
        ------
        AssemblyError
            If they do not close, or not with the kept joints as they are.
        """
        batch, block, model = self.batch, self.block, self.batch.model
        for name, values in batch.parameters.items():
            block.set(batch._offsets_of(name), values[row])
        for name, part in self._part.items():
            given = batch.columns["elements" if name == "element_state" else name][row]
            part[: given.size] = given
        if batch._discrete is not None:
            block.put_discrete_state(batch._discrete[row])
        block.enter_inputs(batch.columns["inputs"][row], float(batch.columns["time"][row]))
        block.assemble(tolerance)
        changed = [one for one in changed_starts(model, block) if one.name.rsplit(".", 1)[0] in self._kept]
        if changed:
            lost = tuple(one._replace(is_guess=False) for one in changed)
            raise AssemblyError(describe_changed_starts(model, lost))
        return block


def closed_derivatives(
    batch: BatchRows, unknowns: OffsetArray, by: Sequence[str], closed: Sequence[str]
) -> tuple[FloatArray, dict[int, LinkworkError]]:
    """Return derivatives of numbers of the block (rows, n, m), and by row why it has none, which is NaN.

    Loops are closed again: all joints follow those that are named.

    Parameters
    ----------
    batch
        Of the rows.
    unknowns
        Offsets of n numbers.
    by
        Names of m numbers in all: coordinates and speeds of the joints that are named, states of elements, inputs and
        parameters.
    closed
        Tree joints, as many speeds as there are degrees of freedom.

    Raises
    ------
    MechanismError
        On other names, and if the joints have more speeds or fewer.
    """
    rows = RowAssembly(batch, closed, (), "closed")
    places = {name: _known(batch, name, closed) for name in by}
    named = [name for name, own in places.items() for _ in own]
    knowns = np.concatenate(list(places.values()))
    found, errors = np.full((len(batch), unknowns.size, knowns.size), np.nan), dict[int, LinkworkError]()
    one = np.ones(1)
    for row in range(len(batch)):
        try:
            block = rows.close(row, ASSEMBLY_TOLERANCE)
            check_independent_joints(batch.model, block, closed, "closed")
            for k, name in enumerate(named):
                try:
                    found[row, :, k] = block.assembled_derivative(unknowns, knowns[k : k + 1], one)
                except SingularityError as error:
                    error.args = (f"by {name!r}: {error}",)
                    raise
        except NotAsManyError:
            raise
        except LinkworkError as error:
            found[row] = np.nan
            errors[row] = error
    return found, errors


def _known(batch: BatchRows, name: str, closed: Sequence[str]) -> OffsetArray:
    """Return where the start values stand from which states follow, or inputs and parameters."""
    model, offsets = batch.model, batch._offsets_of(name)
    if batch._column(name) is None:
        return offsets
    for field, start in _STARTS:
        span = model.fields[field].span
        if not span.start <= offsets[0] < span.stop:
            continue
        joint = name.rsplit(".", 1)[0]
        if field != "element_state" and joint not in closed:
            raise MechanismError(
                f"by: {name!r} follows when loops are closed again; name joint {joint!r} among those of closed, or "
                "leave closed out"
            )
        moved: OffsetArray = offsets - span.start + model.fields[f"{start}_start"].first
        return moved
    return offsets
