"""One simulation: the block it computes in, its inputs, what happens to it, and the problem for the solver."""

from __future__ import annotations

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork._util.progress import Progress, ProgressOption
from linkwork.core.native import Block, Stage
from linkwork.errors import LinkworkError, MechanismError, SingularityError
from linkwork.model.base import ASSEMBLY_TOLERANCE
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.simulation.dae.formulation import Formulation
from linkwork.simulation.event_log import EventLog
from linkwork.simulation.inputs import Inputs
from linkwork.simulation.result import Result
from linkwork.solvers import CompiledFunctions, Problem, Solution
from linkwork.solvers.problem import IntArray, Restart

VIOLATION_SHARE = 0.01  # part of its range by which a motion may be missed before its function is to blame
BEYOND = 1e-3  # of a run: how far past its end to look why it ended


class Run:
    """One simulation: the block it computes in, its inputs, and the problem for the solver."""

    def __init__(
        self, system: Model, inputs: Inputs, state: State, t_start: float, gains: FloatArray, *, sparse: bool
    ) -> None:
        self.system = system
        self.block: Block = system.block()
        self.progress = Progress(False)
        self.inputs = inputs
        self.t_start = t_start
        self.gains = gains
        self.y0 = np.concatenate(system.arguments.states(state, None))
        self.turns = [(t_start, system.arguments.turns(state))]
        self.turning = self._must_count_revolutions(sparse)
        system.enter(self.block, state)
        self.block.put("correction_gain", gains, Stage.NONE)
        self.block.enter(*system.arguments.states(state, None), inputs.constant, t_start)
        self.formulation: Formulation | None = None
        self.event_log = EventLog(system, self.block, t_start) if system.sizes.transitions else None
        if self.event_log is not None:
            self.enter(t_start, self.y0)
            self.y0 = self.event_log.start(self.y0)

    def _must_count_revolutions(self, sparse: bool) -> bool:
        """Whether it matters how often cut joints have turned.

        Springs and couplings need to know, and so do rows further apart than steps.
        """
        stiffness = self.block.reals[self.system.fields["stiffness"].span][self.system.numbering.nu :]
        coupled = {t.joint for coupling in self.system.mechanism.couplings.values() for t in coupling.terms.values()}
        needed = bool(stiffness.any()) or not coupled.isdisjoint(self.system.numbering.cut)
        return needed or (sparse and self.system.numbering.nq_cut > 0)

    def enter(self, t: float, y: FloatArray) -> None:
        """Be at a time and states, with the inputs of that time."""
        nq = self.system.numbering.nq
        self.block.enter(y[:nq], y[nq:], self.inputs.at(t), t)

    def derivative(self, t: float, y: FloatArray) -> FloatArray:
        """As the solver wants it: not a number where it does not exist."""
        self.enter(t, y)
        try:
            return np.concatenate([self.block["qdot"], self.block["udot"]])
        except (SingularityError, MechanismError):
            return np.full(y.size, np.nan)

    def fault(self) -> LinkworkError | None:
        """What is wrong at the last state that was tried, if anything."""
        try:
            self.block.evaluate(Stage.DERIVATIVES)
        except LinkworkError as fault:
            return fault
        return None

    def out_of_reach(self, solution: Solution, t_end: float) -> LinkworkError | None:
        """Why the mechanism cannot follow its prescribed motions on from the last state, if so."""
        if not self.system.numbering.motions or not solution.t.size:
            return None
        y, nq, block = solution.y[-1], self.system.numbering.nq, self.system.block()
        ahead = float(solution.t[-1]) + BEYOND * (t_end - self.t_start)
        block.reals[self.system.fields["q_start"].span][:nq] = y[:nq]
        try:
            block.put_motion(ahead, self.inputs.at(ahead)[self.system.numbering.driven])
            block.assemble(ASSEMBLY_TOLERANCE)
        except LinkworkError as fault:
            return fault
        return None

    def motion_violation(self, result: Result, rtol: float) -> LinkworkError | None:
        """What is wrong where a motion given as a function is not followed: its numbers do not fit each other."""
        if not self.inputs.driving or result.t.size < 2:
            return None
        given, n = self.inputs.over(result.t), self.system.numbering
        self.enter(float(result.t[-1]), result.y[-1])
        lacks = self.block["coupling_residual"]
        for span in self.inputs.driving:
            number = (span.start - n.n_loads) // 3
            if abs(lacks[number]) > (VIOLATION_SHARE + 10 * rtol) * float(np.ptp(given[:, span.start])) > 0:
                return MechanismError(
                    f"inputs: the motion of {self.system.coupling_names[number]!r} is not followed, it is off by "
                    f"{abs(lacks[number]):.3g} at t = {result.t[-1]:.6g} s: the rate and the acceleration that its "
                    "function returns must be the derivatives of the value"
                )
        return None

    def jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """As the solver wants it: not a number where it does not exist."""
        self.enter(t, y)
        try:
            return self.system.block_jacobian(self.block)
        except (SingularityError, MechanismError):
            return np.full((y.size, y.size), np.nan)

    def count_revolutions(self, t: float, y: FloatArray) -> None:
        """Follow the cut joints from step to step."""
        self.enter(t, y)
        self.turns.append((t, self.block.step_accepted()))

    def indicators(self, t: float, y: FloatArray) -> FloatArray:
        """Of transitions, and of commands that are functions of time: these change sign as they switch."""
        self.enter(t, y)
        try:
            return np.concatenate([self.block.event_indicators(), self.inputs.switches(t)])
        except (SingularityError, MechanismError):
            return np.full(self.watched, np.nan)

    def on_event(self, t: float, y: FloatArray, crossings: IntArray) -> Restart:
        """Carry out what is due; the solver starts again from there."""
        assert self.event_log is not None
        self.enter(t, y)
        after = self.event_log.handle(t, y)
        if after is not None:
            self.turns.append((t, self.block.step_accepted()))
        return Restart(after)

    def go_to(self, t_end: float, progress: ProgressOption) -> None:
        """Prepare for a run to an end."""
        self.progress = Progress(progress, self.t_start, t_end)
        if t_end < self.t_start:  # what draws loops together forward drives them apart backward
            self.gains = np.zeros(2)
            self.block.put("correction_gain", self.gains, Stage.NONE)

    def problem(self, t: float, y: FloatArray) -> Problem:
        """What the solver is to do from a time on."""
        watched = self.watched > 0
        compiled = None if self.inputs.vary else CompiledFunctions(*self.block.ode_addresses(events=watched))
        return Problem(
            self.derivative,
            t,
            y,
            jacobian=self.jacobian,
            events=self.indicators if watched else None,
            on_event=self.on_event if watched else None,
            on_step=self.count_revolutions if self.turning else None,
            on_progress=self.progress.reach if self.progress.active else None,
            compiled=compiled,
        )

    @property
    def watched(self) -> int:
        """How many indicators tell of events."""
        return int(self.system.sizes.event_indicators) + len(self.inputs.commands)

    def next_time(self, t_end: float) -> float:
        """The end of the run, or the time of the next transition that has one."""
        return t_end if self.event_log is None else min(t_end, self.block.next_event_time())

    def pass_time(self, t: float, y: FloatArray) -> FloatArray:
        """Carry out what is due at a time at which the solver has stopped; return the states from there on."""
        if self.event_log is None or self.block.next_event_time() > t:
            return y
        after = self.on_event(t, y, np.empty(0, dtype=np.int32)).y
        self.event_log.begin_segment()
        return y if after is None else np.asarray(after)

    def last_transitions(self) -> str:
        """Names of those of the last two events."""
        events = self.event_log.events[-2:] if self.event_log is not None else []
        return quoted(dict.fromkeys(name for event in events for name in event.transitions))

    def end_segment(self, rows: int) -> None:
        """A leg of the run had so many rows."""
        if self.event_log is not None:
            self.event_log.end_segment(rows)

    def move_last_row(self) -> None:
        """The last row is that after the last event."""
        if self.event_log is not None:
            self.event_log.move_last_row()

    def result(self, solution: Solution) -> Result:
        """What came of it, or as much as did."""
        return Result(self.system, solution, self.inputs.over(solution.t), self.turns, self.gains, self.event_log)
