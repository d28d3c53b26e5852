"""One simulation: a run of the C core in a block, with what drives it from Python, and its record."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.progress import Progress
from linkwork._util.stack import levels_of_package
from linkwork.core.native import Block
from linkwork.core.native_run import METHODS, MOST_FOLLOWING, NativeRun, RunEvents, RunOptions, RunPhases, RunRows
from linkwork.errors import MechanismError, RowsWarning
from linkwork.mechanism.friction import sticking
from linkwork.model.impacts import Event, impulses_of_each
from linkwork.model.mobility import is_immobile
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.results.time_axis import IntArray
from linkwork.simulation.controller import Controller
from linkwork.simulation.dae.formulation import Formulation
from linkwork.simulation.dae.registry import FormulationRequest
from linkwork.simulation.event_functions import EventFunction
from linkwork.simulation.inputs import Inputs
from linkwork.simulation.law import Law
from linkwork.simulation.outside_integrator import OutsideIntegrator
from linkwork.simulation.result import Result
from linkwork.simulation.segments import Segment, segments_of
from linkwork.simulation.trajectory import Trajectory
from linkwork.solvers import Options, Statistics
from linkwork.solvers.arguments import checked_span, checked_times
from linkwork.solvers.base import Limits
from linkwork.solvers.registry import solver_class
from linkwork.solvers.rotation import SAMPLE_ANGLE
from linkwork.solvers.solution import attach

VIOLATION_SHARE = 0.01  # part of its range by which a motion may be missed before its function is the cause


@dataclass(frozen=True)
class Settings:
    """Solver, limits, and the accuracy of the states, of which the steps get a share."""

    request: FormulationRequest
    options: Options  # of the states
    of_steps: Callable[[], Options]  # those of the solver's steps, which solvers in Python need
    limits: Limits
    # Where the absolute tolerance follows the sizes of the mechanism, those of a run of so many seconds; None: it is
    # that of the options.
    duration: float | None
    gains: FloatArray  # of the feedback on loops, positions and speeds; negative: chosen


@dataclass(frozen=True)
class Driven:
    """What drives a run: inputs by name, a controller with its sample time, and event functions."""

    inputs: Inputs
    controller: tuple[Controller, float] | None
    events: list[EventFunction]


class Run:
    """One simulation: the block in which it computes, its law, and the run of the core."""

    def __init__(
        self,
        system: Model,
        driven: Driven,
        state: State,
        span: tuple[float, float],
        t_eval: ArrayLike | None,
        settings: Settings,
    ) -> None:
        self.system, self._settings = system, settings
        self.t_start, self.t_end = checked_span(*span)
        self._times = None if t_eval is None else checked_times(t_eval, self.t_start, self.t_end)
        self.block: Block = system.block()
        # Its inputs, controller and event functions.
        self.law = Law(system, self.block, driven.inputs, driven.controller, driven.events)
        solver = settings.request.solver
        if not (isinstance(solver, str) and solver in METHODS):
            solver_class(solver)  # is there one?
        self.segments = self._started(state)  # in which the inputs change smoothly
        self.formulation: Formulation | None = settings.request.make(system, self.block, self.law)
        self._outside = self._integrator()
        control = state.step_control
        parts = [(one.end, one.max_step) for one in self.segments]
        # The run of the core; None until it begins.
        self.native = NativeRun(
            self.block,
            self._options(),
            np.concatenate([*system.arguments.states(state, None), self.law.x0]),
            system.arguments.turns(state),
            None if control is None else (float(control[0]), float(control[1]), float(control[2])),
            self.law,
            parts if parts[1:] or np.isfinite(parts[0][1]) else (),
            self._outside,
        )
        if self._outside is not None:
            assert self.native.equations is not None
            self._outside.equations = self.native.equations

    def _started(self, state: State) -> list[Segment]:
        """Bring the block to the start, and the law; return the segments."""
        system, block, law, t = self.system, self.block, self.law, self.t_start
        states = system.arguments.states(state, None)
        system.enter(block, state)
        if not system.sizes.transitions and is_immobile(system, block):
            raise MechanismError(
                f"nothing in mechanism {system.mechanism.name!r} can move: its loops and couplings leave no degree of "
                "freedom, and no motion is prescribed; leave out constraints (`explain` of the system lists the "
                "immobile groups) or take the loads of the structure at rest from `reactions` of its assembled state"
            )
        self._energy_lost = float(block.reals[system.fields["energy_lost"].first])
        law.begin(t, lambda: block.enter(*states, law.inputs.at(t), t))
        block.enter(*states, law.constant, t)
        segments = segments_of(law.known_jumps(), law.sampled(), t, self.t_end)
        law.divide(segments)
        return segments

    def _options(self) -> RunOptions:
        given, limits = self._settings.options, self._settings.limits
        return RunOptions(
            self.t_start,
            self.t_end,
            given.rtol,
            given.atol if self._settings.duration is None else None,
            given.first_step,
            given.max_step,
            limits.steps,
            limits.events,
            self._settings.gains,
            self._times,
            self._settings.request.solver,
        )

    def _integrator(self) -> OutsideIntegrator | None:
        """Return the solver as an integrator from outside; None: it is a method of the core."""
        name = self._settings.request.solver
        if name in METHODS:
            return None
        given, backward = (self.system, self.block, self.law, self.formulation), self.t_end < self.t_start
        return OutsideIntegrator(name, *given, self._settings.of_steps(), self._settings.duration, backward)

    def integrate(self, progress: Progress) -> Result:
        """Run to the end; on an exception what there is is its attribute `result`."""
        native, rates = self.native, self.system.rates_of_runs
        try:
            goes_on, by_kernels = True, rates.serve(self.block, 0)
            with rates.of_run(self.block, self.law.following):
                while goes_on:
                    goes_on = native.advance()
                    by_kernels = rates.serve(self.block, by_kernels)
                    if progress.active:
                        progress.reach(native.t)
            if self._times is None:
                warn_of_rows(native, self.block, self.system.numbering.n_states)
            result = self.result()
            self._check_motions(result)
        except BaseException as error:
            if native.has_begun:
                attach(error, native.t, partial(self.result, error))
            raise
        return result

    def result(self, error: BaseException | None = None) -> Result:
        """Return what there is; where an error has ended the run, its text is the message."""
        record = RunRecord(self.system, self.block, self.native, self.law, self.segments, self._energy_lost)
        statistics = None if self._outside is None else self._outside.statistics
        return record.result(self.native.message if error is None else str(error), statistics)

    def _check_motions(self, result: Result) -> None:
        """Raise an error if a motion given as a function is missed: its value, rate and acceleration do not fit."""
        inputs, n = self.law.inputs, self.system.numbering
        if not inputs.driving or result.t.size < 2:
            return
        given = inputs.over(result.t)
        self.law.enter(float(result.t[-1]), np.concatenate([result.y[-1], result.controller_states[-1]]))
        residuals = self.block["coupling_residual"]
        for span in inputs.driving:
            number = (span.start - n.n_loads) // 3
            allowed = (VIOLATION_SHARE + 10 * self._settings.options.rtol) * float(np.ptp(given[:, span.start]))
            if abs(residuals[number]) > allowed > 0:
                raise MechanismError(
                    f"inputs: the motion of {self.system.coupling_names[number]!r} is not followed, it is off by "
                    f"{abs(residuals[number]):.3g} at t = {result.t[-1]:.6g} s: the rate and the acceleration that its "
                    "function returns must be the derivatives of the value"
                )


SHOWN_ROWS = 100  # at which speeds are looked at


class RunRecord:
    """What the core has recorded of a run so far.

    Parameters
    ----------
    native
        The run of the core, in a block.
    law, segments
        What drives it, and where inputs jump.
    energy_lost
        By events before it, J.
    """

    def __init__(
        self, system: Model, block: Block, native: NativeRun, law: Law, segments: list[Segment], energy_lost: float
    ) -> None:
        self._system, self._block, self._native, self._law = system, block, native, law
        self._segments, self._energy_lost = segments, energy_lost
        self._rows: RunRows = native.rows
        self._phases: RunPhases = native.phases
        self._events: RunEvents = native.events
        self._n = system.numbering.n_states
        states = list(self._phases.discrete) if system.sizes.transitions else []
        self._discrete = [states[k] for k in self._phases.row] if states else []  # of each phase

    def result(self, message: str, of_solver: Statistics | None) -> Result:
        """Return the result, with everything that its columns need; `of_solver`: the costs of a solver in Python."""
        rows, phases = self._rows, self._rows.phase
        return Result(
            self._system,
            rows.t,
            rows.y[:, : self._n],
            inputs=self._inputs(rows.t, rows.y, rows.revolutions, phases),
            gains=self._block.reals[self._system.fields["correction_gain"].span].copy(),
            revolutions=rows.revolutions,
            discrete=[self._discrete[k] for k in phases] if self._discrete else (),
            events=self._all_events(),
            statistics=_statistics(self._native, of_solver),
            message=message,
            events_before=self._phases.events_before[phases],
            nodes=self._nodes(),
            controller_states=rows.y[:, self._n :],
            step_controls=rows.control,
            end_control=self._native.control,
        )

    def _all_events(self) -> Sequence[Event]:
        if not self._events.t.size:
            return []
        functions = [event.name for event in self._law.events]
        return RecordedEvents(self._system, self._events, self._phases, functions, self._energy_lost)

    def _last(self, events: IntArray) -> IntArray:
        """Return the last phases behind so many events; -1: there is none."""
        before = self._phases.events_before
        last = np.searchsorted(before, events, side="right") - 1
        return np.where(np.append(before, -1)[last] == events, last, -1)

    def _nodes(self) -> Trajectory | None:
        """Return the states before and after every event and at the end: times that may be no rows."""
        events, t_end = self._events, self._native.t
        if not events.t.size and self._rows.t.size and self._rows.t[-1] == t_end:
            return None  # the end is a row
        n, last = events.t.size, np.count_nonzero(events.t < t_end)
        counts = np.append((np.arange(2 * n) + 1) // 2, last)  # of events before each
        t = np.append(np.repeat(events.t, 2), t_end)
        y = np.empty((2 * n + 1, events.before.shape[1]))
        y[:-1:2], y[1::2], y[-1] = events.before, events.after, self._native.states
        phases = self._last(counts)
        phases[1::2] = first_phases(self._phases, np.arange(n))
        kept = np.flatnonzero(phases >= 0)
        t, y, counts, phases = t[kept], y[kept], counts[kept], phases[kept]
        return Trajectory(
            t,
            y[:, : self._n],
            self._inputs(t, y, self._turns(t), phases),
            np.zeros((t.size, self._rows.revolutions.shape[1])),
            [self._discrete[k] for k in phases] if self._discrete else (),
            counts,
            y[:, self._n :],
            np.full((t.size, 3), np.nan),
        )

    def _turns(self, t: FloatArray) -> FloatArray:
        """Return the coordinates of the cut joints where they were last counted before times (nt,)."""
        rows = self._rows
        sign = -1.0 if self._segments[-1].end < self._segments[0].begin else 1.0
        if not rows.t.size:
            return np.tile(self._native.revolutions, (t.size, 1))
        found: FloatArray = rows.revolutions[np.minimum(np.searchsorted(sign * rows.t, sign * t), rows.t.size - 1)]
        return found

    def _inputs(self, t: FloatArray, y: FloatArray, revolutions: FloatArray, phases: IntArray) -> FloatArray:
        """Return the inputs (nt, n_inputs) at states (nt, n); functions of the state are asked again."""
        law, block, n = self._law, self._block, self._n
        held = self._phases.inputs[phases]
        if not law.varies:
            return held
        law.enter_part(-1)
        times = _before_jumps(self._segments, t)
        inputs = law.over(times, held)
        if not law.of_state:
            return inputs
        inputs, nq = inputs.copy(), self._system.numbering.nq
        for i in range(len(t)):
            if self._discrete:
                block.put_discrete_state(self._discrete[phases[i]])
            block.count_revolutions(revolutions[i])
            block.enter(y[i, :nq], y[i, nq:n], held[i], t[i])
            inputs[i] = law.again(times[i], y[i, n:])
        return inputs


def first_phases(phases: RunPhases, events: IntArray) -> IntArray:
    """Return the phases that events begin, by their numbers."""
    return np.searchsorted(phases.events_before, events + 1)


class RecordedEvents(Sequence[Event]):
    """The events of a run, made when one is first asked for.

    Parameters
    ----------
    events, phases
        As the core has recorded them.
    functions
        Names of the event functions.
    energy_lost
        By events before the run, J.
    """

    def __init__(
        self, system: Model, events: RunEvents, phases: RunPhases, functions: Sequence[str], energy_lost: float
    ) -> None:
        self._system, self._recorded, self._phases = system, events, phases
        self._functions, self._energy_lost = functions, energy_lost

    def __len__(self) -> int:
        return int(self._recorded.t.size)

    @overload
    def __getitem__(self, index: int) -> Event: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Event]: ...

    def __getitem__(self, index: int | slice) -> Event | Sequence[Event]:
        return self._made[index]

    @cached_property
    def _made(self) -> list[Event]:
        system, events = self._system, self._recorded
        mech, nq, last = system.mechanism, system.numbering.nq, system.numbering.n_states
        names = [*mech.transitions, *(one.name for one in sticking(mech))]
        impulses, lost = self._consequences() if names else (np.empty((len(self), 0, 6)), np.zeros(len(self)))
        found = []
        for k, (t, fired) in enumerate(zip(events.t.tolist(), events.fired.tolist(), strict=True)):
            transitions = tuple(name for name, has in zip(names, fired, strict=False) if has)
            functions = tuple(name for name, has in zip(self._functions, fired[len(names) :], strict=True) if has)
            speeds = events.before[k, nq:last], events.after[k, nq:last]
            fields: tuple[Any, ...] = ({}, 0.0, functions)
            if not functions:
                fields = dict(zip(system.joint_names, impulses[k], strict=True)), float(lost[k])
            found.append(Event(t, transitions, *speeds, *fields))
        return found

    def _consequences(self) -> tuple[FloatArray, FloatArray]:
        """Return impulses (n, joints, 6) and energies lost, J, (n,), as though all were events of transitions."""
        energy = self._system.fields["energy_lost"].first - self._system.fields["joint_closed"].first
        after = first_phases(self._phases, np.arange(len(self)))
        row, discrete = self._phases.row, self._phases.discrete
        losses = np.append(discrete[row, energy], self._energy_lost)
        return impulses_of_each(self._system, discrete[row[after]]), losses[after] - losses[after - 1]


def _before_jumps(segments: list[Segment], t: FloatArray) -> FloatArray:
    """Return the times of rows (nt,); of two rows at a jump of inputs the first one is before it."""
    if len(segments) == 1:
        return t
    times, again = t.copy(), t[1:] == t[:-1]
    near = {after.begin: before.low if after.end < after.begin else before.high for before, after in pairwise(segments)}
    for i in np.flatnonzero(np.append(again, False) & ~np.append(False, again)):
        times[i] = near.get(t[i], t[i])
    return times


def _statistics(native: NativeRun, of_solver: Statistics | None) -> Statistics:
    """Return what the run has cost; `of_solver`: that of a solver in Python."""
    of = native.statistics
    if of_solver is not None:
        return of_solver + Statistics(events=of.events, restarts=of.restarts)
    by_method = {name: of.ode.method_steps[number] for name, number in METHODS.items() if name != "auto"}
    return Statistics(
        of.ode.steps,
        of.ode.rejected,
        of.ode.evaluations,
        of.ode.jacobian_evaluations,
        of.ode.event_evaluations,
        of.events,
        of.restarts,
        of.ode.switches,
        {name: steps for name, steps in by_method.items() if steps} or {native.solver: of.ode.steps},
    )


def warn_of_rows(native: NativeRun, block: Block, n: int) -> None:
    """Warn where there were too many rows for all to follow what turns; n: states [q; u]."""
    if native.row_count <= MOST_FOLLOWING + 1:
        return
    rows = native.rows
    behind = np.linspace(MOST_FOLLOWING, rows.t.size - 1, SHOWN_ROWS).astype(int)
    spacing = np.abs(rows.t[behind] - rows.t[behind - 1])
    speeds = [block.angular_speed(rows.t[k], rows.y[k, :n], 0.0)[0] for k in behind]
    if (spacing * speeds > 2.0 * SAMPLE_ANGLE).any():
        text = (
            f"the rows behind t = {rows.t[MOST_FOLLOWING]:g} s do not follow what turns within a step, since there "
            f"are {MOST_FOLLOWING} before: give the times of the output as t_eval"
        )
        warnings.warn(RowsWarning(text), stacklevel=levels_of_package())
