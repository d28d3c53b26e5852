"""The stabilised equations of index 1 of any mechanism, in the coordinates of its spanning tree.

With the constraints Phi(q, t) = 0 of all loops, couplings, distances, locks and prescribed motions, J = dPhi/dq in the
speeds of the tree, and the integrals of multipliers as states, y = (q, u, Lambda, Mu), lambda = Lambda', mu = Mu':

    q' - N(q) (u - J^T mu) = 0,  M u' + h - J^T lambda = 0,  Phi - s Mu' = 0,  J u + Phi_t + s Lambda' = 0

(Gear, Leimkuhler and Gupta 1985). States x of elements stand behind u, with x' - f(q, u, x, t) = 0.

Residuals are in metres, multipliers are forces. The relaxation s is 0 for rows
that are independent of each other, which hold exactly, and 1 for those that are zero (locks that are open) or follow
from others (a planar loop of hinges in space): these get no multiplier instead. The kinds are determined where a run
starts or starts again. Rows that are independent in one pose need not be so in another: where those chosen have become
far worse than others would be, the solver starts again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork.core.native import RANK_TOLERANCE, Block
from linkwork.errors import MechanismError, SingularityError
from linkwork.model.model import Model
from linkwork.simulation.dae.formulation import Formulation
from linkwork.simulation.law import Law
from linkwork.solvers import Implicit

BoolArray = NDArray[np.bool_]

# Rows are chosen again where their conditioning is less than this part of that of the best choice.
WORSE = 0.1
CHECK_INTERVAL = 4  # steps
INCREMENT = 2.0**-26  # of a state, or of one, for differences
CLOSED = 1e-14  # m, m/s; smaller residuals are rounding
# A row replaces a chosen one that has a larger coefficient in it: the fewer small pivots, the better conditioned.
LARGEST_COEFFICIENT = 2.0


class GGL(Formulation):
    """A mechanism as differential-algebraic equations F(t, y, y') = 0 of index 1, for `Implicit`.

    Attributes
    ----------
    n, rows
        Number of states, those of the mechanism and 2 rows, and of constraints; the same whatever is open or unlocked.
    relaxation
        s of the rows of velocities, then of positions, (2 rows,).
    """

    def __init__(
        self,
        system: Model,  # the compiled mechanism
        # Where it is computed: its parameters, discrete state and inputs count; states and time are overwritten.
        block: Block,
        law: Law | None = None,  # asked before every evaluation where inputs vary; otherwise the block's own hold
    ) -> None:
        self.system = system
        self.block = block
        self.rows = block.model.constraint_rows
        self._nq, self._nu = system.numbering.nq, system.numbering.nu
        self._motion = slice(self._nq + self._nu)  # states of the motion, before those of elements
        self._states = system.numbering.n_states
        self._elements = slice(self._motion.stop, self._states)
        self.n = self._states + 2 * self.rows
        self._of_core = np.delete(np.arange(self.n), self._elements)  # unknowns that the core's equations have
        self.relaxation: FloatArray = np.ones(2 * self.rows)
        self._law = law if law is not None and law.varies else None
        self._loop_rows = self.rows - block.model.sizes.couplings
        self._unchecked = 0  # steps since the conditioning of the rows was computed
        self.implicit = Implicit(self.residual, self.jacobian, algebraic=self.algebraic, renew=self.renew)

    @property
    def algebraic(self) -> BoolArray:
        """Which states are integrals of multipliers, (n,): their errors do not matter to the motion."""
        return np.arange(self.n) >= self._states

    def residual(self, t: float, y: FloatArray, ydot: FloatArray) -> FloatArray:
        """Return F (n,); not a number where it does not exist."""
        self._ask(t, y)
        try:
            return self._residual(t, y, ydot)
        except (MechanismError, SingularityError):
            return np.full(self.n, np.nan)

    def _residual(self, t: float, y: FloatArray, ydot: FloatArray) -> FloatArray:
        """Return F (n,) with the inputs that the block has."""
        if self._elements.start == self._elements.stop:
            return self.block.dae_residual(t, y, ydot, self.relaxation)
        self.block.put("element_state", y[self._elements])
        found = np.empty(self.n)
        found[self._of_core] = self.block.dae_residual(t, y[self._of_core], ydot[self._of_core], self.relaxation)
        found[self._elements] = ydot[self._elements] - self.block["element_rate"]
        return found

    def jacobian(self, t: float, y: FloatArray, ydot: FloatArray, cj: float) -> FloatArray:
        """Return dF/dy + cj dF/dy' (n, n), exact to rounding."""
        self._ask(t, y)
        self._unchecked = CHECK_INTERVAL  # the step has changed
        matrix = self._matrix(t, y, ydot, cj)
        if self._law is not None and self._law.of_state:
            self._add_law(t, y, ydot, matrix)
        return matrix

    def _matrix(self, t: float, y: FloatArray, ydot: FloatArray, cj: float) -> FloatArray:
        """Return the same with the inputs that the block has."""
        if self._elements.start == self._elements.stop:
            return self.block.dae_jacobian(t, y, ydot, self.relaxation, cj)
        self._residual(t, y, ydot)  # brings the block there
        block, fields, core = self.block, self.system.fields, self._of_core
        point, none, one = (t, y[core], ydot[core], self.relaxation), np.zeros(core.size), np.ones(1)
        matrix = np.zeros((self.n, self.n))
        matrix[np.ix_(core, core)] = block.dae_jacobian(*point, cj)
        rates = np.arange(fields["element_rate"].first, fields["element_rate"].span.stop, dtype=np.uint32)
        knowns = np.arange(fields["q"].first, fields["q"].first + self._states, dtype=np.uint32)
        for k in range(self._states):
            matrix[self._elements, k] = -block.directional_derivative(rates, knowns[k : k + 1], one)
        for k in range(self._elements.start, self._elements.stop):
            matrix[core, k] = block.dae_derivative(*point, (none, none), int(knowns[k]))
            matrix[k, k] += cj
        return matrix

    def _add_law(self, t: float, y: FloatArray, ydot: FloatArray, matrix: FloatArray) -> None:
        """Add the change of the residual by the loads as they follow the states, from differences."""
        here = self._residual(t, y, ydot)
        for k in range(self._states):
            moved = y.copy()
            moved[k] += INCREMENT * max(1.0, abs(y[k]))
            self._ask(t, moved)
            matrix[:, k] += (self._residual(t, y, ydot) - here) / (moved[k] - y[k])
        self._ask(t, y)

    def renew(self, t: float, y: FloatArray, failed: bool) -> FloatArray | None:
        """Return a state to start again from with other rows if those have become much better, or after a failure."""
        self._unchecked += 1
        if not failed and self._unchecked < CHECK_INTERVAL:
            return None
        self._unchecked = 0
        states = y[: self._states]
        self._enter(t, states)
        return self.unknowns(t, self._projected(t, states)) if failed or self._rows_are_outdated() else None

    def _rows_are_outdated(self) -> bool:
        matrix = self.block.constraint_jacobian()
        chosen, best = self.relaxation[: self.rows] == 0, self._choose_rows(matrix)[: self.rows] == 0
        if best.sum() < chosen.sum():
            return False
        return _conditioning(matrix[chosen]) < WORSE * _conditioning(matrix[best])

    def _choose_rows(self, matrix: FloatArray) -> FloatArray:
        """Return the relaxation (2 rows,) at the block's pose, with constraint Jacobian (rows, nu)."""
        relaxation = self.block.dae_rows()
        for rows in (relaxation[: self.rows], relaxation[self.rows :]):
            _exchange_rows(matrix, rows, self._loop_rows)
        return relaxation

    def _projected(self, t: float, states: FloatArray) -> FloatArray:
        """Return the nearest states that satisfy all rows, also those that are not followed."""
        q, u, elements = states[: self._nq].copy(), states[self._nq : self._motion.stop].copy(), states[self._elements]
        for _ in range(2):
            violation, _ = self.constraint_residuals(t, np.concatenate([q, u, elements]))
            if np.abs(violation).max(initial=0.0) > CLOSED:
                self.block.put("u", -_least_norm(self.block.constraint_jacobian(), violation))
                q += self.block["qdot"]
        _, violation = self.constraint_residuals(t, np.concatenate([q, u, elements]))
        if np.abs(violation).max(initial=0.0) > CLOSED:
            u -= _least_norm(self.block.constraint_jacobian(), violation)
        return np.concatenate([q, u, elements])

    def start(self, t: float, states: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return y and y' (n,) that fit the states (n_states,), and choose which rows hold from there on.

        Raises
        ------
        SingularityError
            Where the accelerations are not unique.
        """
        self._enter(t, states)
        accelerations = self.block["acceleration"][: self._nu].copy()
        matrix = self.block.constraint_jacobian()
        self.relaxation = self._choose_rows(matrix)
        y, ydot = np.zeros((2, self.n))
        y[: states.size] = states
        ydot[self._nq : self._motion.stop] = accelerations
        ydot[self._elements] = self.block["element_rate"]
        residual = self._residual(t, y, ydot)
        ydot[: self._nq] = -residual[: self._nq]
        kept = self.relaxation[: self.rows] == 0
        multipliers = ydot[states.size : states.size + self.rows]
        multipliers[kept] = np.linalg.lstsq(matrix[kept].T, residual[self._nq : self._motion.stop], rcond=None)[0]
        return y, ydot

    def _refuse_branches(self) -> None:
        """Refuse a pose in which rows follow from others, unlike in the poses near it."""
        lost = np.flatnonzero(self.block["loop_conditioning"] == 0.0)
        if lost.size:
            raise SingularityError(
                f"the loop closed by joint {self.system.loop_names[lost[0]]!r} is in a singular pose, which "
                "formulation='ggl' cannot leave; start off this pose (1e-3 rad are enough), or use formulation='ode'"
            )

    def unknowns(self, t: float, states: FloatArray) -> FloatArray:
        """Return y (n,) at states."""
        return np.pad(states, (0, 2 * self.rows))

    def rates(self, t: float, y: FloatArray) -> FloatArray:
        """Return y' (n,) that fits y; rows are chosen again. Not a number where accelerations are not unique.

        Raises
        ------
        SingularityError
            Where accelerations are unique only because speeds determine the branch out of a singular pose.
        """
        self._ask(t, y)  # an input that is no number is refused, not shunned
        try:
            ydot = self.start(t, y[: self._states])[1]
        except (SingularityError, MechanismError):
            return np.full(self.n, np.nan)
        self._refuse_branches()
        return ydot

    def states(self, y: FloatArray) -> FloatArray:
        """Return the states (..., n_states) of rows y (..., n)."""
        return y[..., : self._states]

    def constraint_residuals(self, t: float, states: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Phi (rows,), m, and J u + Phi_t (rows,), m/s, at states [q; u]."""
        self._enter(t, states)
        return self.block.constraints()

    def _ask(self, t: float, y: FloatArray) -> None:
        """Write the inputs that the law has at a time and y (n,), or [q; u]."""
        if self._law is not None:
            self._law.enter(t, y[: self._states])

    def _enter(self, t: float, states: FloatArray) -> None:
        block = self.block
        block.put("q", states[: self._nq])
        block.put("u", states[self._nq : self._motion.stop])
        block.put("element_state", states[self._elements])
        block.put("time", t)
        self._ask(t, states)


def _exchange_rows(matrix: FloatArray, relaxation: FloatArray, loop_rows: int) -> None:
    """Exchange chosen rows of loops for others that contain a multiple of them, until no multiple is large."""
    for _ in range(relaxation.size):
        chosen = np.flatnonzero(relaxation == 0)
        if not chosen.size or not loop_rows:
            return
        coefficients = np.abs(np.linalg.lstsq(matrix[chosen].T, matrix[:loop_rows].T, rcond=None)[0])
        coefficients[chosen >= loop_rows] = 0.0
        replaced, row = np.unravel_index(np.argmax(coefficients), coefficients.shape)
        if coefficients[replaced, row] <= LARGEST_COEFFICIENT:
            return
        relaxation[chosen[replaced]], relaxation[row] = 1.0, 0.0


def _conditioning(rows: FloatArray) -> float:
    """Return the smallest singular value over the largest; 1 for no rows."""
    if not rows.size:
        return 1.0
    values = np.linalg.svd(rows, compute_uv=False)
    return float(values[-1] / values[0])


def _least_norm(matrix: FloatArray, values: FloatArray) -> FloatArray:
    solution: FloatArray = np.asarray(np.linalg.lstsq(matrix, values, rcond=RANK_TOLERANCE)[0], dtype=np.float64)
    return solution


def formulate(system: Model, block: Block, law: Law) -> GGL:
    """Return the equations of a run, which are computed in its block."""
    if law.x0.size:
        raise MechanismError("a controller with continuous states takes formulation='ode'")
    return GGL(system, block, law)
