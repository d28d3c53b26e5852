"""States of elements at rest: the values at which their time derivatives are zero in a pose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork.core.native import OffsetArray
from linkwork.errors import EquilibriumError

if TYPE_CHECKING:
    from linkwork.analysis.configuration_space import ConfigurationSpace

MOST_STEPS = 100
SMALL = 1e-13  # of a state and its nominal value: a smaller step is rounding
RANK = 1e-12  # of singular values: what a smaller one belongs to is left open by the derivatives
LEFT = 1e-9  # of a derivative, by that of the largest change: a smaller one is zero


class ElementsAtRest:
    """States of elements that follow a pose so that their derivatives are zero there.

    Where derivatives leave a state open, as those of the pressures of a closed cylinder do, it keeps its value.
    """

    def __init__(self, space: ConfigurationSpace) -> None:
        model, fields = space.model, space.model.fields
        self.names, self._block = model.element_names, space.block
        self._states, self._rates = (_offsets(fields[name].span) for name in ("element_state", "element_rate"))
        self._speeds = _offsets(fields["u"].span)
        self._nominal = space.block.reals[fields["state_nominal"].span].copy()

    def settle(self, u: FloatArray) -> None:
        """Bring the states of the block to rest at its pose and at speeds (nu,).

        Raises
        ------
        EquilibriumError
            If there are no such values.
        """
        if not self.names:
            return
        block, nominal = self._block, self._nominal
        block.put("u", u)
        rates = block["element_rate"].copy()
        for _ in range(MOST_STEPS):
            slope = self._by(self._states) * nominal / nominal[:, None]
            step = -nominal * (np.linalg.pinv(slope, rcond=RANK) @ (rates / nominal))
            before, size = block["element_state"].copy(), float(np.linalg.norm(rates / nominal))
            if (np.abs(step) <= SMALL * (nominal + np.abs(before))).all():
                break
            for part in 0.5 ** np.arange(20):
                block.put("element_state", before + part * step)
                rates = block["element_rate"].copy()
                if np.linalg.norm(rates / nominal) <= size:
                    break
        allowed = LEFT * (np.abs(slope) @ (1.0 + np.abs(block["element_state"]) / nominal) * nominal + nominal)
        moving = [name for name, one, least in zip(self.names, rates, allowed, strict=True) if not abs(one) <= least]
        if moving:
            raise EquilibriumError(
                f"there is no pose of rest: nothing brings the derivative of state {quoted(moving)} to zero; see its "
                "formula, its inputs and its start value"
            )

    def follow(self, load_slopes: FloatArray, rates: FloatArray) -> FloatArray:
        """Return the change (nu, nu) of forces with the pose by the states that follow it.

        Parameters
        ----------
        load_slopes
            Of forces by the states, (nu, n).
        rates
            Of the coordinates by the speeds, (nq, nu).
        """
        nominal = self._nominal
        q = np.arange(self._speeds[0] - len(rates), self._speeds[0], dtype=np.uint32)
        slope = self._by(self._states) * nominal / nominal[:, None]
        by_pose = (self._by(q) @ rates) / nominal[:, None]
        found: FloatArray = load_slopes @ (-nominal[:, None] * (np.linalg.pinv(slope, rcond=RANK) @ by_pose))
        return found

    @property
    def offsets(self) -> OffsetArray:
        """Where the states stand in the block."""
        return self._states

    def _by(self, knowns: OffsetArray) -> FloatArray:
        """Return the derivatives of the rates, (n, knowns)."""
        one = np.ones(1)
        columns = [self._block.directional_derivative(self._rates, knowns[k : k + 1], one) for k in range(len(knowns))]
        return np.array(columns).reshape(len(knowns), -1).T


def _offsets(span: slice) -> OffsetArray:
    return np.arange(span.start, span.stop, dtype=np.uint32)
