"""One simulation: a run of the C core in a block, with what drives it from Python."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.progress import Progress
from linkwork.core.native import Block
from linkwork.core.native_run import METHODS, NativeRun, RunOptions
from linkwork.errors import MechanismError
from linkwork.model.mobility import is_immobile
from linkwork.model.model import Model
from linkwork.model.state import State
from linkwork.simulation.controller import Controller
from linkwork.simulation.dae.formulation import Formulation
from linkwork.simulation.dae.registry import FormulationRequest
from linkwork.simulation.event_functions import EventFunction
from linkwork.simulation.inputs import Inputs
from linkwork.simulation.law import Law
from linkwork.simulation.outside_integrator import OutsideIntegrator
from linkwork.simulation.result import Result
from linkwork.simulation.run_record import RunRecord, warn_of_rows
from linkwork.simulation.segments import Segment, segments_of
from linkwork.solvers import Options
from linkwork.solvers.base import Limits
from linkwork.solvers.recorder import attach, checked_span, checked_times
from linkwork.solvers.registry import solver_class

VIOLATION_SHARE = 0.01  # part of its range by which a motion may be missed before its function is the cause


@dataclass(frozen=True)
class Settings:
    """Solver, limits, and the accuracy of the states, of which the steps get a share.

    Attributes
    ----------
    options
        Of the states, and of the solver's steps.
    duration
        Where the absolute tolerance follows the sizes of the mechanism, those of a run of so many seconds; None: it is
        that of the options.
    gains
        Of the feedback on loops, positions and speeds; negative: chosen.
    """

    request: FormulationRequest
    options: Options
    of_steps: Options
    limits: Limits
    duration: float | None
    gains: FloatArray


@dataclass(frozen=True)
class Driven:
    """What drives a run: inputs by name, a controller with its sample time, and event functions."""

    inputs: Inputs
    controller: tuple[Controller, float] | None
    events: list[EventFunction]


class Run:
    """One simulation: the block in which it computes, its law, and the run of the core.

    Attributes
    ----------
    law
        Its inputs, controller and event functions.
    segments
        In which the inputs change smoothly.
    native
        The run of the core; None until it begins.
    """

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
        self.law = Law(system, self.block, driven.inputs, driven.controller, driven.events)
        solver_class(settings.request.solver)  # is there one?
        self.segments = self._started(state)
        self.formulation: Formulation | None = settings.request.make(system, self.block, self.law)
        self._outside = self._integrator()
        control = state.step_control
        parts = [(one.end, one.max_step) for one in self.segments]
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
        return OutsideIntegrator(name, *given, self._settings.of_steps, self._settings.duration, backward)

    def integrate(self, progress: Progress) -> Result:
        """Run to the end; on an exception what there is is its attribute `result`."""
        native = self.native
        try:
            goes_on = True
            while goes_on:
                goes_on = native.advance()
                if progress.active:
                    progress.reach(native.t)
            if self._times is None:
                warn_of_rows(native, self.block, self.system.numbering.nq + self.system.numbering.nu)
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
