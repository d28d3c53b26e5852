"""Solvers in Python within a run in C: those of SciPy and SUNDIALS, for states or unknowns of a formulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core.native import Block
from linkwork.core.native_run import Equations, Reached, RowsToFill
from linkwork.errors import MechanismError, SingularityError
from linkwork.model.model import Model
from linkwork.simulation.dae.formulation import Formulation, in_unknowns
from linkwork.simulation.dae.registry import SOLVERS
from linkwork.simulation.law import Law
from linkwork.solvers import Options, Problem, Solver, Statistics
from linkwork.solvers.output import Output
from linkwork.solvers.problem import IntArray
from linkwork.solvers.registry import create


class OutsideIntegrator:
    """A solver by name, made again for each segment of a run."""

    equations: Equations  # of the run; set when there is one

    def __init__(
        self,
        name: str,
        # system, block, law: of the run
        system: Model,
        block: Block,
        law: Law,
        formulation: Formulation | None,  # its equations in other unknowns; None: those of the states
        options: Options,  # for the steps
        # Where the absolute tolerances follow the sizes of the mechanism, those of a run of so many seconds; None: it
        # is that of the options.
        duration: float | None,
        backward: bool,
    ) -> None:
        self.name = name
        self.keeps_constraints = formulation is not None
        self._system, self._block, self._law = system, block, law
        self._formulation, self._options, self._duration = formulation, options, duration
        self._max_step, self._backward = options.max_step, backward
        self._n = system.numbering.n_states  # states of the mechanism, before those of the law
        self._past = Statistics()  # of the segments before
        self._solver: Solver
        self._output: Output | None = None
        self._crossings: IntArray | None = None
        self._begun = False
        self._reached = 0.0, np.empty(0)

    @property
    def statistics(self) -> Statistics:
        """Costs so far."""
        total = self._past + self._solver.statistics if self._begun else self._past
        return replace(total, methods={self.name: total.steps})

    def start(self, t: float, y: FloatArray | None, t_end: float, max_step: float | None) -> None:
        """Begin a segment at states y (n,) or, after an event within one, begin again."""
        within = self._begun and t_end == self._solver.t_end and t == self._solver.t != t_end
        if y is not None:
            self._reached = t, y
        if y is None:
            self._solver.start(t, self._solver.y.copy())
        elif within:
            self._solver.start(t, y if self._formulation is None else self._formulation.unknowns(t, y))
        else:
            self._begin_segment(t, y, t_end, max_step)

    def _begin_segment(self, t: float, y: FloatArray, t_end: float, max_step: float | None) -> None:
        if not self._begun:
            self._scale(t, y)
        elif self._options.first_step is not None:
            self._options = replace(self._options, first_step=None)
        options = self._options if max_step == self._max_step else replace(self._options, max_step=max_step)
        solver = create(self.name, self._problem(t, y), t_end, options)
        self._past, self._output = self.statistics, None
        self._solver, self._begun = solver, True
        solver.start(solver.problem.t0, solver.problem.y0.copy())

    def _scale(self, t: float, y: FloatArray) -> None:
        """Take absolute tolerances by the sizes of the mechanism at the start."""
        if self._duration is None:
            return
        try:
            self._law.enter(t, y)
        except Exception:  # the run will raise it, where it has a result
            return
        options = self._options
        atols = self._block.absolute_tolerances(self._duration, options.atol)
        if self._formulation is not None or self.name in SOLVERS:  # one number for all unknowns
            lengths = atols[: self._system.numbering.nq]
            self._options = replace(options, atol=float(lengths[lengths > 0.0].min(initial=options.atol)))
        elif (atols != options.atol).any():
            own = np.full(self._law.x0.size, options.atol)
            self._options = replace(options, atols=np.concatenate([atols, own]))

    def _problem(self, t: float, y: FloatArray) -> Problem:
        equations, block, n = self.equations, self._block, self._n
        problem = Problem(
            equations.derivative,
            t,
            y,
            jacobian=self._jacobian,
            events=equations.indicators if equations.n_events else None,
            on_step=equations.accepted if equations.has_on_step else None,
            angular_speed=lambda t, y, enough: block.angular_speed(t, y[:n], enough),
            turn_of_step=block.turn_of_step,
        )
        return problem if self._formulation is None else in_unknowns(self._formulation, problem)

    def _jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """Return the derivative (n, n) of the rates by y; not a number where there is none."""
        if self._law.of_state:
            return self.equations.jacobian(t, y)
        self._law.enter(t, y)
        try:
            return self._system.block_jacobian(self._block)
        except (SingularityError, MechanismError):
            return np.full((y.size, y.size), np.nan)

    def advance(self, tries: int, rows: RowsToFill) -> None:
        """Take some steps."""
        output = self._output
        if output is None or not output.times_given:
            values = self.equations.step_values
            output = self._output = Output(self._solver.problem.n, rows.times, self._backward, values)
            output.following = rows.follows
        before = output.count
        try:
            self._crossings = None
            self._crossings = self._solver.run(output, tries)
        finally:
            made = slice(before, output.count)
            if before < output.count:
                rows.put(output.t[made], output.step_values[made], self._states(output.y[made]))
            self._reached = self._solver.t, self._states(self._solver.y)

    def _states(self, unknowns: FloatArray) -> FloatArray:
        return unknowns if self._formulation is None else self._formulation.states(unknowns)

    @property
    def reached(self) -> Reached:
        """Where it is."""
        statistics = self.statistics
        return Reached(*self._reached, self._crossings, statistics.steps + (statistics.rejected or 0))
