"""One simulation: segments between time events, from one discrete state to the next."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.progress import Progress
from linkwork.core.native import EVENT_RESOLUTION, Block, Stage
from linkwork.errors import MechanismError, SingularityError
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.simulation.dae.formulation import Formulation, in_unknowns
from linkwork.simulation.dae.registry import FormulationRequest
from linkwork.simulation.discrete_state import DiscreteState, Start, carry_out
from linkwork.simulation.inputs import Inputs
from linkwork.simulation.recorder import SimulationRecorder
from linkwork.solvers import CompiledFunctions, Options, Problem
from linkwork.solvers.base import Limits
from linkwork.solvers.driver import integrate
from linkwork.solvers.problem import IntArray, Restart


@dataclass(frozen=True)
class Settings:
    """Solver, accuracy and limits of all segments."""

    solver: str
    options: Options
    limits: Limits


class Run:
    """One simulation: the block in which it computes, its inputs, and the problem of each segment for the solver.

    Attributes
    ----------
    recorder
        The record of the run.
    formulation
        The differential-algebraic equations; None for the explicit ones.
    """

    def __init__(
        self,
        system: Model,
        inputs: Inputs,
        state: State,
        recorder: SimulationRecorder,
        request: FormulationRequest,
    ) -> None:
        self.system = system
        self.inputs = inputs
        self.recorder = recorder
        self.block: Block = system.block()
        self.progress = Progress(False)
        self._start = self._started(state)
        self._counting = self._must_count_revolutions()
        self.formulation: Formulation | None = request.make(system, self.block, inputs)
        if self.formulation is not None:
            recorder.states = self.formulation.states

    def _started(self, state: State) -> Start:
        """Bring the block to the start of the run and carry out the transitions that are due there."""
        system, block, t = self.system, self.block, self.recorder.t_start
        states = system.arguments.states(state, None)
        system.enter(block, state)
        block.put("correction_gain", self.recorder.gains, Stage.NONE)
        block.enter(*states, self.inputs.constant, t)
        self.recorder.step_values[:] = system.arguments.turns(state)
        y = np.concatenate(states)
        if not system.sizes.transitions:
            return Start(t, y, None)
        block.disable_event_limit()  # the solver has one
        self.enter(t, y)
        change = carry_out(system, block, t, y, starting=True)
        if change is not None:
            self.recorder.change(change)
            return Start(t, change.y, change.discrete)
        discrete = DiscreteState.of(block)
        self.recorder.discrete(discrete)
        return Start(t, y, discrete)

    def _must_count_revolutions(self) -> bool:
        """Whether the revolutions of the cut joints matter.

        They do for springs and couplings, and where the spacing of rows exceeds the steps.
        """
        stiffness = self.block.reals[self.system.fields["stiffness"].span][self.system.numbering.nu :]
        coupled = {t.joint for coupling in self.system.mechanism.couplings.values() for t in coupling.terms.values()}
        needed = bool(stiffness.any()) or not coupled.isdisjoint(self.system.numbering.cut)
        return needed or (self.recorder.times_given and self.system.numbering.nq_cut > 0)

    # ---- segments ----

    def integrate(self, settings: Settings) -> None:
        """Integrate to the end of the run, segment by segment."""
        start, options = self._start, settings.options
        while True:
            until = self._next_time()
            problem, limits = self._problem(start), settings.limits
            if limits.steps is not None and self.recorder.started:
                limits = replace(limits, steps=max(1, limits.steps - self.recorder.statistics.steps))
            integrate(problem, until, self.recorder, settings.solver, options, limits)
            reached = self._states(self.recorder.y)
            start = self._next_start(replace(start, t=until, y=reached))
            if until == self.recorder.t_end:
                break
            options = replace(options, first_step=None)
        if not np.array_equal(start.y, reached):
            self.recorder.last_row(until, self._problem(start).y0)

    def _next_time(self) -> float:
        """Return the end of the run, or the time of the next time event."""
        end = self.recorder.t_end
        return min(end, self.block.next_event_time()) if self.system.sizes.transitions else end

    def _next_start(self, end: Start) -> Start:
        """Carry out the transitions that are due at the end of a segment; return the start of the next one."""
        if not self.system.sizes.transitions or self.block.next_event_time() > end.t:
            return end if end.discrete is None else replace(end, discrete=DiscreteState.of(self.block))
        y = self.on_event(end.t, end.y, np.empty(0, dtype=np.int32)).y
        return Start(end.t, end.y if y is None else np.asarray(y), DiscreteState.of(self.block))

    def _states(self, unknowns: FloatArray) -> FloatArray:
        return unknowns if self.formulation is None else self.formulation.states(unknowns)

    def _problem(self, start: Start) -> Problem:
        """Return the problem of the segment from a start on."""
        if start.discrete is not None:
            start.discrete.enter(self.block)
        watched = self._indicators > 0
        compiled = None if self.inputs.vary else self._compiled(watched)
        problem = Problem(
            self.derivative,
            start.t,
            start.y,
            jacobian=self.jacobian,
            events=self.indicators if watched else None,
            on_event=self.on_event if watched else None,
            on_step=self.count_revolutions if self._counting else None,
            on_progress=self.progress.reach if self.progress.active else None,
            compiled=compiled,
        )
        return problem if self.formulation is None else in_unknowns(self.formulation, problem)

    def _compiled(self, events: bool) -> CompiledFunctions:
        functions = self.block.ode_addresses(events=events, on_step=self._counting)
        return CompiledFunctions(**functions, event_resolution=EVENT_RESOLUTION)

    def recent_transitions(self) -> str:
        """Return the transitions of the last events, with gaps and speeds at the state that was reached."""
        if not self.system.sizes.transitions or not self.recorder.events:
            return ""
        self.enter(self.recorder.t, self._states(self.recorder.y))
        return self.block.recent_transitions()

    # ---- functions of the problem ----

    def enter(self, t: float, y: FloatArray) -> None:
        """Bring the block to a time and states, with the inputs at that time."""
        nq = self.system.numbering.nq
        self.block.enter(y[:nq], y[nq:], self.inputs.at(t), t)

    def derivative(self, t: float, y: FloatArray) -> FloatArray:
        """Return the derivative for the solver; NaN where it does not exist."""
        self.enter(t, y)
        try:
            return np.concatenate([self.block["qdot"], self.block["udot"]])
        except (SingularityError, MechanismError):
            return np.full(y.size, np.nan)

    def jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """Return the Jacobian for the solver; NaN where it does not exist."""
        self.enter(t, y)
        try:
            return self.system.block_jacobian(self.block)
        except (SingularityError, MechanismError):
            return np.full((y.size, y.size), np.nan)

    def indicators(self, t: float, y: FloatArray) -> FloatArray:
        """Return the event indicators: of transitions, and of commands that are functions of time."""
        self.enter(t, y)
        try:
            return np.concatenate([self.block.event_indicators(), self.inputs.switches(t)])
        except (SingularityError, MechanismError):
            return np.full(self._indicators, np.nan)

    @property
    def _indicators(self) -> int:
        """Number of event indicators."""
        return int(self.system.sizes.event_indicators) + len(self.inputs.commands)

    def on_event(self, t: float, y: FloatArray, zero_crossings: IntArray) -> Restart:
        """Carry out the transitions that are due; the solver restarts from the states after them."""
        self.enter(t, y)
        change = carry_out(self.system, self.block, t, y)
        if change is None:
            return Restart(None)
        self.recorder.change(change)
        self.recorder.step_values[:] = self.block.step_accepted()
        return Restart(change.y)

    def count_revolutions(self, t: float, y: FloatArray) -> None:
        """Track the cut joints from step to step."""
        self.enter(t, y)
        self.recorder.step_values[:] = self.block.step_accepted()
