"""One simulation: segments between time events, from one discrete state to the next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork._util.progress import Progress
from linkwork.core.native import EVENT_RESOLUTION, Block, Stage
from linkwork.errors import MechanismError, SingularityError
from linkwork.mechanism import Command
from linkwork.model.impacts import Event
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.simulation.controller import Controller
from linkwork.simulation.dae.formulation import Formulation, in_unknowns
from linkwork.simulation.dae.registry import SOLVERS, FormulationRequest
from linkwork.simulation.discrete_state import Change, DiscreteState, Start, carry_out
from linkwork.simulation.event_functions import EventFunction
from linkwork.simulation.inputs import Inputs
from linkwork.simulation.law import Law
from linkwork.simulation.recorder import Rows, SimulationRecorder
from linkwork.simulation.segments import Segment, segments_of
from linkwork.solvers import Action, CompiledFunctions, Continue, Options, Problem, Restart, Status, Terminate
from linkwork.solvers.base import Failure, Limits, failure
from linkwork.solvers.driver import ChatteringError, integrate
from linkwork.solvers.problem import FIRST_ERROR, IntArray, StepControl

CHATTERING_COMMANDS = 1000  # changes of commands in succession ...
CHATTERING_PART = 1e-2  # ... within this part of the run


@dataclass(frozen=True)
class Settings:
    """Solver, limits of all segments, and the accuracy of the states, of which steps get a share.

    `duration` is given where the absolute tolerance follows the sizes of the mechanism, those of a run of so many
    seconds; None: it is that of the options.
    """

    solver: str
    options: Options
    limits: Limits
    rtol: float
    atol: float
    duration: float | None = None


@dataclass(frozen=True)
class Driven:
    """What drives a run: inputs by name, a controller with its sample time, and event functions."""

    inputs: Inputs
    controller: tuple[Controller, float] | None
    events: list[EventFunction]


class Run:
    """One simulation: the block in which it computes, its law, and the problem of each segment for the solver.

    Attributes
    ----------
    recorder
        The record of the run.
    law
        Its inputs, controller and event functions.
    formulation
        The differential-algebraic equations; None for the explicit ones.
    """

    def __init__(
        self,
        system: Model,
        driven: Driven,
        state: State,
        recorder: SimulationRecorder,
        request: FormulationRequest,
    ) -> None:
        self.system = system
        self.recorder = recorder
        self.block: Block = system.block()
        self.law = Law(system, self.block, driven.inputs, driven.controller, driven.events)
        self.progress = Progress(False)
        self._segments: list[Segment] = []
        self._segment = 0
        self._n = system.numbering.nq + system.numbering.nu  # states of the mechanism, before those of the law
        recorder.inputs = self._inputs_of_rows
        recorder.own_states = lambda rows: rows[:, self._n :]
        recorder.states = lambda rows: rows[..., : self._n]
        control = state.step_control
        self._step_control = None if control is None else (float(control[0]), float(control[1]), float(control[2]))
        self._start = self._started(state)
        self._ode = self.law.control.ode() if self.law.varies else self.block.ode()
        self._watching = bool(system.loop_names or system.coupling_names or system.sizes.transitions)
        self._on_step = "step" if self._must_count_revolutions() else "check" if self._watching else ""
        self.formulation: Formulation | None = request.make(system, self.block, self.law)
        if self.formulation is not None:
            recorder.states = self.formulation.states
            recorder.own_states = lambda rows: rows[:, :0]

    @property
    def inputs(self) -> Inputs:
        """The inputs as they were given by name."""
        return self.law.inputs

    def _started(self, state: State) -> Start:
        """Bring the block to the start of the run and carry out the transitions that are due there."""
        system, block, t = self.system, self.block, self.recorder.t_start
        states = system.arguments.states(state, None)
        system.enter(block, state)
        block.put("correction_gain", self.recorder.gains, Stage.NONE)
        self.law.begin(t, lambda: block.enter(*states, self.law.inputs.at(t), t))
        block.enter(*states, self.law.constant, t)
        self._segments = segments_of(self.law.known_jumps(), self.law.sampled(), t, self.recorder.t_end)
        self._enter_segment(0)
        block.enter(*states, self.law.constant, t)
        self.recorder.hold(self.law.constant)
        self.recorder.step_values[:] = system.arguments.turns(state)
        y = np.concatenate([*states, self.law.x0])
        if not system.sizes.transitions:
            return Start(t, y, None)
        block.disable_event_limit()  # the solver has one
        self.enter(t, y)
        change = carry_out(system, block, t, y[: self._n], starting=True)
        if change is not None:
            self.recorder.change(change, self.law.x0)
            self._step_control = None
            return Start(t, self._with_own(change.y, y), change.discrete)
        discrete = DiscreteState.of(block)
        self.recorder.discrete(discrete)
        return Start(t, y, discrete)

    def _with_own(self, states: FloatArray, y: FloatArray) -> FloatArray:
        """Return states [q; u] with the law's own of y behind them."""
        return np.concatenate([states, y[self._n :]])

    def _must_count_revolutions(self) -> bool:
        """Whether the revolutions of the cut joints matter.

        They do for springs, couplings and transitions, where loads may read them, and where the spacing of rows exceeds
        the steps.
        """
        stiffness = self.block.reals[self.system.fields["stiffness"].span][self.system.numbering.nu :]
        coupled = {t.joint for coupling in self.system.mechanism.couplings.values() for t in coupling.terms.values()}
        needed = bool(stiffness.any()) or not coupled.isdisjoint(self.system.numbering.cut)
        read = self.recorder.times_given or self.law.sees_states or self.system.sizes.transitions > 0
        return needed or (read and self.system.numbering.nq_cut > 0)

    # ---- segments ----

    def integrate(self, settings: Settings) -> None:
        """Integrate to the end of the run, segment by segment."""
        start, options, control = self._start, self._scaled(settings), self._step_control
        while True:
            until, options = self._next_time(), self._options(settings.options, options)
            problem, limits = self._problem(start, control), settings.limits
            self._watch(start, settings)
            if limits.steps is not None and self.recorder.started:
                left = limits.steps - self.recorder.statistics.steps
                if left <= 0:
                    raise failure(Failure.TOO_MANY_STEPS, settings.solver, start.t, start.y)
                limits = replace(limits, steps=left)
            integrate(problem, until, self.recorder, settings.solver, options, limits)
            reached = self._states(self.recorder.y)
            if self.recorder.status is Status.TERMINATED:
                return
            start = self._next_start(replace(start, t=until, y=reached))
            if until == self.recorder.t_end:
                break
            options = replace(options, first_step=None, atols=self.recorder.atols)
            # After a sample or a jump of inputs, which only change loads, steps continue as they were; after others,
            # the method is kept.
            only_loads = until == self.law.last_sample or until == self._segments[self._segment].begin
            control = self.recorder.step_control
            if control is not None and not only_loads:
                control = (0.0, FIRST_ERROR, control[2])
            self.law.continue_at(until if only_loads and start.y is reached else np.nan)
        if not np.array_equal(start.y, reached):
            self.recorder.last_row(until, self._problem(start).y0)

    def _watch(self, start: Start, settings: Settings) -> None:
        """Begin to compare the residuals of constraints with the tolerances, if they do not drift as they are."""
        if self._watching:
            nq = self.system.numbering.nq
            self.block.enter(start.y[:nq], start.y[nq : self._n], self.law.constant, start.t)  # loads do not matter
            drifts = not self.recorder.gains.all() and self.formulation is None
            self.block.watch_constraints(*((1.0, 1.0) if drifts else (settings.rtol, settings.atol)))

    def _scaled(self, settings: Settings) -> Options:
        """Return the options with absolute tolerances by the sizes of the mechanism at the start."""
        options = settings.options
        if settings.duration is None:
            return options
        try:
            self.enter(self._start.t, self._start.y)
        except Exception:  # the run will raise it, where it has a result
            return options
        atols = self.block.absolute_tolerances(settings.duration, options.atol)
        if self.formulation is not None or settings.solver in SOLVERS:  # one number for all unknowns
            lengths = atols[: self.system.numbering.nq]
            return replace(options, atol=float(lengths[lengths > 0.0].min(initial=options.atol)))
        if (atols == options.atol).all():
            return options
        own = np.full(self.law.x0.size, options.atol)
        return replace(options, atols=np.concatenate([atols, own]))

    def _next_time(self) -> float:
        """Return the end of the run or of a segment of its inputs, or the time of the next time event or sample."""
        until = min(self._segments[self._segment].end, self.law.next_sample)
        return min(until, self.block.next_event_time()) if self.system.sizes.transitions else until

    def _next_start(self, end: Start) -> Start:
        """Take a sample and carry out the transitions that are due at the end of a segment; return the next start."""
        due = False
        if end.t == self._segments[self._segment].end != self.recorder.t_end:
            due = self._pass_jump(end)
        if self.law.next_sample <= end.t < self.recorder.t_end:
            due = self._sample(end) or due
        if not self.system.sizes.transitions or not (due or self.block.next_event_time() <= end.t):
            return end if end.discrete is None else replace(end, discrete=DiscreteState.of(self.block))
        y = self._carry_out(end.t, end.y).y
        return Start(end.t, end.y if y is None else np.asarray(y), DiscreteState.of(self.block))

    def _sample(self, end: Start) -> bool:
        """Let the digital controller take its sample; return whether transitions may be due.

        It may command them, and a jump of loads makes others due: parts that rest on a stop are lifted off.
        """
        before = self._signs(end)
        commands = self.law.sample(end.t)
        self.recorder.hold(self.law.constant)
        after = self._signs(end)
        return commands or bool((before != after).any())

    def _enter_segment(self, number: int) -> None:
        """Ask the functions of time between two of their jumps from now on."""
        self._segment, segment = number, self._segments[number]
        self.law.enter_segment(segment.low, segment.high)

    def _pass_jump(self, end: Start) -> bool:
        """Begin the next segment of the inputs; return whether transitions may be due, as after a sample."""
        if self._indicators == len(self.law.events):  # none that loads could change
            self._enter_segment(self._segment + 1)
            return False
        before = self._signs(end)
        self._enter_segment(self._segment + 1)
        return bool((before != self._signs(end)).any())

    def _options(self, given: Options, options: Options) -> Options:
        """Return options with the largest step of the segment, where it is smaller than the one that was given."""
        largest, max_step = self._segments[self._segment].max_step, given.max_step
        if largest < (np.inf if max_step is None else max_step):
            max_step = largest
        return options if options.max_step == max_step else replace(options, max_step=max_step)

    def _signs(self, at: Start) -> NDArray[np.bool_]:
        """Return which event indicators are positive, but for those of the user, and bring the block there."""
        self.enter(at.t, at.y)
        n = self._indicators - len(self.law.events)
        return self._ode.indicators(at.t, at.y)[:n] > 0.0 if n else np.zeros(0, dtype=bool)

    def _states(self, unknowns: FloatArray) -> FloatArray:
        """Return the states [q; u; x] of the solver's unknowns."""
        return unknowns if self.formulation is None else self.formulation.states(unknowns)

    def _problem(self, start: Start, control: StepControl | None = None) -> Problem:
        """Return the problem of the segment from a start on."""
        if start.discrete is not None:
            start.discrete.enter(self.block)
        watched = self._indicators > 0
        problem = Problem(
            self._ode.derivative,
            start.t,
            start.y,
            jacobian=self.jacobian,
            events=self._ode.indicators if watched else None,
            directions=self._directions,
            on_event=self.on_event if watched else None,
            on_step=self.accepted if self._on_step else None,
            on_progress=self.progress.reach if self.progress.active else None,
            angular_speed=self.angular_speed,
            turn_of_step=self.block.turn_of_step,
            compiled=self._compiled(watched),
            step_control=control,
        )
        return problem if self.formulation is None else in_unknowns(self.formulation, problem)

    def _compiled(self, events: bool) -> CompiledFunctions:
        addresses = self._ode.addresses(events=events, on_step=self._on_step)
        # The indicators of the mechanism are rounded, those of the user need not be.
        resolution = 0.0 if self.law.events else EVENT_RESOLUTION
        return CompiledFunctions(**addresses, event_resolution=resolution, raise_caught=self._raise_caught)

    def _raise_caught(self) -> None:
        """Raise why compiled functions have asked to stop."""
        self.law.control.raise_caught()
        self.block.check_constraints()

    def recent_transitions(self) -> str:
        """Return the transitions of the last events, with gaps and speeds at the state that was reached."""
        if not self.system.sizes.transitions or not self.recorder.events:
            return ""
        self.enter(self.recorder.t, self._states(self.recorder.y))
        return self.block.recent_transitions()

    # ---- functions of the problem ----

    def enter(self, t: float, y: FloatArray) -> FloatArray:
        """Bring the block to a time and states, with the inputs there; return the rates of the law's own states."""
        nq = self.system.numbering.nq
        rates = np.empty(y.size - self._n)
        self.block.enter(y[:nq], y[nq : self._n], self.law.constant, t)
        if self.law.varies:
            self.law.apply(t, y[self._n :], rates)
            self.block.changed()
        return rates

    def angular_speed(self, t: float, y: FloatArray, enough: float) -> tuple[float, float]:
        """Return the largest angular speed for the solver, and a bound of it, rad/s."""
        return self.block.angular_speed(t, y[: self._n], enough)

    def jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """Return the Jacobian for the solver; NaN where it does not exist."""
        if self.law.of_state:
            matrix = self.law.control.jacobian(t, y)
            return np.full((y.size, y.size), np.nan) if matrix is None else matrix
        self.enter(t, y)
        try:
            return self.system.block_jacobian(self.block)
        except (SingularityError, MechanismError):
            return np.full((y.size, y.size), np.nan)

    @property
    def _indicators(self) -> int:
        """Number of event indicators."""
        return int(self.system.sizes.event_indicators) + self.law.n_indicators

    @property
    def _directions(self) -> list[int] | None:
        return [0] * int(self.system.sizes.event_indicators) + self.law.directions if self.law.events else None

    def on_event(self, t: float, y: FloatArray, zero_crossings: IntArray) -> Action:
        """Carry out the transitions that are due and the events of the user."""
        n = len(self.law.events)
        first = zero_crossings.size - n
        action: Action = self._carry_out(t, y) if zero_crossings[:first].any() else Continue()
        crossed = [event for event, crossing in zip(self.law.events, zero_crossings[first:], strict=True) if crossing]
        if not crossed:
            return action
        after = y if isinstance(action, Continue) or action.y is None else np.asarray(action.y)
        self.enter(t, after)
        self._record(t, after, crossed)
        acted = self._act(t, after, crossed)
        if acted and self.system.sizes.transitions:  # what it changed may make others due
            last = self._carry_out(t, after)
            action = last if last.y is not None or isinstance(action, Continue) else action
        elif acted and isinstance(action, Continue):
            action = Restart(None)
        if any(event.terminal for event in crossed):
            return Terminate(None if isinstance(action, Continue) else action.y)
        return action

    def _record(self, t: float, y: FloatArray, crossed: list[EventFunction]) -> None:
        """Record events of the user, at which no state jumps."""
        speeds = y[self.system.numbering.nq : self._n].copy()
        names = tuple(event.name for event in crossed)
        discrete = DiscreteState.of(self.block) if self.system.sizes.transitions else None
        change = Change(Event(t, (), speeds, speeds, {}, 0.0, names), y[: self._n].copy(), discrete)
        self.recorder.change(change, y[self._n :])

    def _act(self, t: float, y: FloatArray, events: list[EventFunction]) -> bool:
        """Call the actions of events; return whether there are any."""
        actions = [event.action for event in events if event.action is not None]
        for action in actions:
            action(t, self.law.state.begin(y[self._n :]))
        return bool(actions)

    def _carry_out(self, t: float, y: FloatArray) -> Restart:
        """Carry out the transitions that are due; the solver restarts from the states after them."""
        after: FloatArray | None = None
        while True:
            self.enter(t, y if after is None else after)
            change = carry_out(self.system, self.block, t, (y if after is None else after)[: self._n])
            if change is None:
                return Restart(after)
            self.recorder.change(change, y[self._n :])
            self.recorder.step_values[:] = self.block.step_accepted()
            after = self._with_own(change.y, y)
            if not self.law.of_state:
                return Restart(after)
            self._check_commands(t)
            # Commands that follow the state may change with it: a lock that its own effect undoes has no end.

    def _check_commands(self, t: float) -> None:
        """Raise an error if commands that follow the state change without end, so fast that the run would not end."""
        changes, span = self.recorder.changes, abs(self.recorder.t_end - self.recorder.t_start)
        if len(changes) < CHATTERING_COMMANDS or t - changes[-CHATTERING_COMMANDS].event.t > CHATTERING_PART * span:
            return
        fired = {name for change in changes[-CHATTERING_COMMANDS:] for name in change.event.transitions}
        if all(isinstance(self.system.mechanism.transitions[name].when, Command) for name in fired):
            raise ChatteringError(
                f"the commands of {quoted(sorted(fired))} are functions of the state and change without end: "
                f"{CHATTERING_COMMANDS} times before t = {t:.9g} s, within {CHATTERING_PART:g} of the run; let them "
                "change back at another state than that at which they change (hysteresis), or sample them"
            )

    def accepted(self, t: float, y: FloatArray) -> None:
        """Compare the constraints with the tolerances; count the revolutions of the cut joints where they matter."""
        if not self._ode.on_step(self._on_step, t, y, self.recorder.step_values):
            self._raise_caught()

    # ---- after the run ----

    def _inputs_of_rows(self, rows: Rows) -> FloatArray:
        """Return the inputs (nt, n_inputs) at the rows; functions of the state are asked again."""
        self.law.enter_segment(-np.inf, np.inf)
        times = self._before_jumps(rows.t)
        inputs = self.law.over(times, rows.held)
        if not self.law.of_state:
            return inputs
        inputs = inputs.copy()
        for i, (t, y, x) in enumerate(zip(rows.t, rows.y, rows.x, strict=True)):
            if rows.discrete:
                rows.discrete[i].enter(self.block)
            self.block.count_revolutions(rows.revolutions[i])
            nq = self.system.numbering.nq
            self.block.enter(y[:nq], y[nq:], rows.held[i], t)
            inputs[i] = self.law.again(times[i], x)
        return inputs

    def _before_jumps(self, t: FloatArray) -> FloatArray:
        """Return the times of rows (nt,); of two rows at a jump of inputs the first one is before it."""
        if len(self._segments) == 1:
            return t
        times, again = t.copy(), t[1:] == t[:-1]
        near = {
            after.begin: before.low if after.end < after.begin else before.high
            for before, after in pairwise(self._segments)
        }
        for i in np.flatnonzero(np.append(again, False) & ~np.append(False, again)):
            times[i] = near.get(t[i], t[i])
        return times
