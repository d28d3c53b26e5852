"""Running a mechanism in time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, finite
from linkwork._util.keywords import checks_keywords
from linkwork._util.progress import Progress, ProgressOption
from linkwork.core.native import ASSEMBLY_TOLERANCE, AUTOMATIC_GAIN
from linkwork.core.native_run import STEP_SHARE
from linkwork.errors import MechanismError
from linkwork.mechanism import Mechanism
from linkwork.model.changed_starts import warn_of_changed_starts
from linkwork.model.compile import compile
from linkwork.model.model import Model
from linkwork.model.state import State, check_state
from linkwork.simulation.controller import ControlFunction, Controller, as_controller
from linkwork.simulation.dae.registry import EXPLICIT, FormulationRequest, solver_of
from linkwork.simulation.event_functions import EventFunction, as_event_functions
from linkwork.simulation.inputs import Inputs, InputValue
from linkwork.simulation.result import MadeBy, Result
from linkwork.simulation.run import Driven, Run, Settings
from linkwork.simulation.running_state import RunningState
from linkwork.solvers import Options
from linkwork.solvers.base import Limits
from linkwork.solvers.thresholds import MAX_EVENTS, MAX_STEPS, SMALLEST_RTOL

SHORTEST_SAMPLE = 1e-12  # of the largest time
# The steps of backward differences are several times as many, and their errors have one sign for longer.
BACKWARD_DIFFERENCES = ("BDF", "LSODA", "ida")
BACKWARD_SHARE = 0.003
BACKWARD_TIGHTEST = 1e-11  # below it, rounding disturbs Newton's method where a mechanism rests


@checks_keywords
def simulate(
    mechanism: Mechanism | Model,
    t_end: float,
    state: State | None = None,
    *,
    t_start: float | None = None,
    inputs: Mapping[str, InputValue] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    controller: Controller | ControlFunction | None = None,
    sample_time: float | None = None,
    events: Iterable[EventFunction | Callable[[float, RunningState], float]] | None = None,
    solver: str = "auto",
    formulation: str = "ode",
    scheme: int | None = None,
    rtol: float = 1e-8,
    atol: float | None = None,
    t_eval: ArrayLike | None = None,
    max_step: float | None = None,
    first_step: float | None = None,
    max_steps: int | None = MAX_STEPS,
    max_events: int | None = MAX_EVENTS,
    loop_gain: ArrayLike | None = None,
    progress: ProgressOption = None,
) -> Result:
    """Simulate a mechanism from its start values.

    Parameters
    ----------
    mechanism
        A description, or a system compiled before.
    t_end, t_start
        s; `t_start` is by default the time of `state`, or else 0. A run may go backward; the feedback that keeps loops
        closed is off then, and they drift by the error allowed.
    state
        Where to start; by default the system is assembled from the start values of the description.
    inputs
        Driving loads by joint name, N m or N, applied wrenches as "push.F" and actuators as "grip.input": numbers,
        tables over time, functions f(t) of time, or functions f(t, state) of time and `RunningState`; arrays where the
        input has several elements, one of which is also known as "S[2]" or "push.F[1]". By default they are zero.
        Additions to a prescribed motion, by name of its drive: a function of time that returns value, rate and
        acceleration (the latter are not found by differences, and they must fit), a table of values, or a constant
        value. Of transitions: "latch.command", true or false or a function that is, and "kick.impulse.f",
        "kick.impulse.t".

        A table is a pair (t, values), linear between its rows and held outside of them; a pandas Series over time; or a
        `Table`, which interpolates in other ways. Steps end at its knots, however short its changes are.

        Functions are called at 2000 equal intervals of the run before it, those of the state with the state at the
        start. Jumps and kinks in time are met exactly, and steps are limited near other short changes. Pulses that last
        a five-hundredth of the run or longer are found. Shorter ones, and those of functions of the state that are not
        there at the start, may lie between two steps: give a table, or `max_step` as long as the pulse.
    parameters
        Values of parameters and start values by name, as of `Model.with_parameters`. A `state` that is given is taken
        over: where its loops do not close with these values, it is assembled again from its coordinates and speeds.
    controller
        What gives several inputs at once: a function (t, state) that returns a dictionary as `inputs` is one, or a
        `Controller`, which may have states of its own. What it leaves out is as `inputs` has it.
    sample_time
        s: the controller is a digital one, called at the start and at its multiples from there, at which steps of the
        solver end exactly; its outputs are held in between. By default that of the `Controller`; 0: it is asked at
        every instant.
    events
        Functions (t, state) to a number: where one changes its sign, an event is recorded. See `EventFunction` for
        events of one direction, that end the run, or at which something is done.
    solver
        "auto", the default: "dopri5" until stability limits its steps, then "rodas5p" while that costs less;
        `statistics` of the result has the steps of each. Compiled ones: "dopri5", explicit, "dop853", explicit of
        order 8 for tight tolerances, or "rodas5p", for stiff mechanisms. SciPy's, in SciPy's spelling: "DOP853",
        "RK45", "RK23", "LSODA", "Radau", "BDF". "ida" of SUNDIALS (extra `dae`, or the package scikit-sundae). For
        "ggl" and "chou", "auto" is "ida".
    formulation
        "ode": the explicit equations, solved by the method chosen in `compile`. With solver "ida" also "ggl", the
        stabilised differential-algebraic equations of any mechanism, with Lagrange multipliers; and "chou", those of a
        chain of bodies on spherical joints in absolute coordinates and Euler parameters, after Chou.
    scheme
        How the Newton matrix of "chou" is made and solved: 1 differences of the full system, 2 the full system, 3 the
        reduced system, 4 (default) in time and memory that grow linearly with the bodies.
    rtol
        Relative tolerance of the states y, of which the target accuracy is atol + rtol |y|. Each step of the solver
        gets a tenth of it, those of "BDF", "LSODA" and "ida" 0.003 of it (at least 1e-11, at most a tenth). What the
        motion itself amplifies comes on top.
    atol
        Absolute tolerance of the states. By default it is `rtol` for mechanisms of about a metre, and follows the
        lengths and times of smaller and slower ones.
    t_eval
        Times of the output, (nt,), s, within the run but for rounding; by default every step, and times between where
        something turns further than a twelfth of a turn in a step, and at quarters of the long steps of "dop853". At an
        event there are rows before and after it; of times that are given, the one at which a transition has its time
        is after it.
    max_step
        Largest step of the solver, s; by default no limit.
    first_step
        First step of the solver, s; by default it is chosen.
    max_steps
        Limit of the number of steps; None: no limit.
    max_events
        Limit of the number of events within one second of simulated time; None: no limit. Stops that bounce without
        end reach it.
    loop_gain
        Feedback on errors of loops and couplings, 1/s: one number, or one for positions and one for speeds; zero lets
        them drift. By default as fast as the loops move. Runs backward go without, and so do "ggl" and "chou", which
        keep all constraints by themselves: a gain other than zero is an error there.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.

    Returns
    -------
    Result
        Columns by name, such as ``result["A.q"]``.

    Raises
    ------
    MechanismError
        On a description or an input that is wrong, and where nothing can move.
    AssemblyError
        If the loops cannot be closed at the start.
    SolverValueError
        On a wrong `rtol`, `atol`, `t_eval` or limit of steps; a `SolverTypeError` if it is of a wrong type.
    SolverError
        If the run cannot continue; its attribute `result` holds the partial result.
    Exception
        Whatever a function that was given raises, unchanged; its attribute `result` likewise.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> result = lw.simulate(mech, t_end=1.0, t_eval=[0.0, 0.5, 1.0])
    >>> result["A.q"].shape
    (3,)
    """
    begin = perf_counter()
    options = Options(rtol, rtol if atol is None else atol, max_step, first_step)
    solver = solver_of(formulation, solver)
    request = FormulationRequest(formulation, solver, {} if scheme is None else {"scheme": scheme})
    system = mechanism if isinstance(mechanism, Model) else compile(mechanism)
    if state is not None:
        check_state(state)
    if parameters:
        system = system.with_parameters(parameters)
        state = None if state is None else system.adopt(state)
    given = Inputs({} if inputs is None else inputs, system.numbering, system.arguments.no_inputs)
    controlled = as_controller(controller, sample_time)
    end = _time(t_end, "t_end")
    start = _time(t_start, "t_start") if t_start is not None else state.time if state is not None else 0.0
    given.check_run(start, end)
    if state is None:
        state = _assembled(system, given, start)
    elif system.numbering.motions and state.time != start:
        raise MechanismError(
            f"the state is of t = {state.time:g} s, where prescribed motions are not what they are at the start of the "
            f"run, t = {start:g} s: take it from assemble(time={start:g})"
        )
    _check_run(system, state, start, end)
    _check_samples(controlled, start, end)
    duration = max(abs(end), end - start) if atol is None else None
    gains = _gains(loop_gain, formulation, start, end)
    limits = Limits(max_steps, max_events)
    settings = Settings(request, options, partial(_of_steps, solver, options), limits, duration, gains)
    if start != state.time or first_step is not None:
        state = replace(state, step_control=None)
    driven = Driven(given, controlled, as_event_functions(events))
    run = Run(system, driven, state, (start, end), t_eval, settings)
    with Progress(progress, start, end) as shown:
        result = run.integrate(shown)
    result.made_by = MadeBy(solver, rtol, perf_counter() - begin)
    return result


def _check_run(system: Model, state: State, start: float, end: float) -> None:
    """Refuse a state of another system, and what cannot run."""
    system.arguments.states(state, None)  # refuses those of another system
    if system.sizes.transitions and end < start:
        raise MechanismError("a mechanism with transitions runs forward only: what happened cannot be undone")


def _check_samples(controller: tuple[Controller, float] | None, start: float, end: float) -> None:
    """Refuse a digital controller whose samples cannot be met."""
    period = controller[1] if controller is not None else 0.0
    if period and end < start:
        raise MechanismError("a digital controller runs forward only: its samples follow each other in time")
    shortest = SHORTEST_SAMPLE * max(abs(start), abs(end))
    if 0.0 < period < shortest:
        raise MechanismError(
            f"sample_time = {period:g} s is too short for times of {end:g} s; give at least {shortest:.2g} s"
        )


def _time(value: object, what: str) -> float:
    """A time as a number; the solver refuses one that is not finite."""
    if not isinstance(value, int | float | np.number):
        raise MechanismError(f"{what} must be a number, s, not {value!r}")
    return float(value)


def _gains(given: ArrayLike | None, formulation: str, start: float, end: float) -> FloatArray:
    """Gains on positions and on speeds; below zero: chosen by the mechanics."""
    if given is None:
        return np.full(2, AUTOMATIC_GAIN)
    gains = finite(given, np.shape(given) and (2,), "loop_gain")
    if (gains < 0).any():
        raise MechanismError(f"loop_gain must not be negative, not {given!r}: leave it out to have it chosen")
    if gains.any() and (formulation != EXPLICIT or end < start):
        where = (
            f"formulation {formulation!r} keeps all constraints without it"
            if end >= start
            else "runs backward have none"
        )
        raise MechanismError(f"loop_gain has no effect: {where}; leave it out")
    return np.broadcast_to(gains, 2)


def _assembled(system: Model, inputs: Inputs, start: float) -> State:
    if not system.numbering.motions:
        return system.assemble()
    block = system.block()
    block.put_motion(start, inputs.at(start)[system.numbering.driven])
    block.assemble(ASSEMBLY_TOLERANCE)
    state = system.assembled_state_of(block)
    warn_of_changed_starts(state.model, state.changed_start_values)
    return state


def _of_steps(solver: str, asked: Options) -> Options:
    """The options of the solver's steps: their shares of the tolerances, as far as double precision allows."""
    rtol = max(_of_step(solver, asked.rtol), SMALLEST_RTOL)
    return replace(asked, rtol=rtol, atol=_of_step(solver, asked.atol) or asked.atol)


def _of_step(solver: str, wanted: float) -> float:
    share = wanted * STEP_SHARE
    if solver not in BACKWARD_DIFFERENCES:
        return share
    return max(wanted * BACKWARD_SHARE, min(share, BACKWARD_TIGHTEST))
