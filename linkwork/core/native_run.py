"""Runs of the C core, and what they call back in Python: the one module that knows `lw_run` and its table of calls."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork.core._core import ffi, lib
from linkwork.core.native import Block, NotHereError, doubles, error_of, raise_status, text_at
from linkwork.errors import SolverError

METHODS: dict[str, int] = {
    "auto": lib.LW_ODE_AUTO,
    "dopri5": lib.LW_ODE_DOPRI5,
    "dop853": lib.LW_ODE_DOP853,
    "rodas5p": lib.LW_ODE_RODAS5P,
}
MOST_FOLLOWING: int = lib.LW_RUN_MOST_FOLLOWING
STEP_SHARE: float = lib.STEP_SHARE  # of the accuracy asked for
NO_STATES: FloatArray = np.empty(0)

IntArray: TypeAlias = NDArray[np.int32]
StepControl: TypeAlias = tuple[float, float, float]  # as `lw_ode_step_control`


class RunLaw(Protocol):
    """What drives a run from Python: inputs that vary, samples, and event functions."""

    x0: FloatArray  # continuous states at the start, (n,)
    varies: bool  # `apply` is asked at every instant
    # of_state, sees_states: inputs follow the states; functions are given states
    of_state: bool
    sees_states: bool
    commands: list[int]  # where commands that vary stand, of which each has an event indicator
    directions: list[int]  # of the event functions, whose indicators lie behind: +1, -1 or 0 for both
    sample_time: float  # s; 0: no samples are taken

    @abstractmethod
    def apply(self, t: float, x: FloatArray, xdot: FloatArray) -> None:
        """Write inputs into the block, which has the time and the states, and the rates of x."""

    @abstractmethod
    def indicators(self, t: float, x: FloatArray) -> Sequence[float]:
        """Return the event indicators, with the inputs of the law."""

    @abstractmethod
    def act(self, t: float, x: FloatArray, crossed: list[int]) -> tuple[bool, bool]:
        """Act where functions have crossed zero; return whether anything is changed, and whether the run ends."""

    @abstractmethod
    def sample(self, t: float) -> bool:
        """Take a sample at the block's state into `constant`; return whether it has commands."""

    @property
    @abstractmethod
    def constant(self) -> FloatArray:
        """All inputs that hold until the next sample."""

    @abstractmethod
    def enter_part(self, part: int) -> None:
        """Be asked within a part of the run from now on; -1: at any time."""


class Reached(NamedTuple):
    """Where an integrator is: time, states (n,), zero crossings (None: no event) and steps tried since the start."""

    t: float
    y: FloatArray
    crossings: IntArray | None
    attempts: int


class RowsToFill(NamedTuple):
    """Rows that an integrator fills."""

    times: FloatArray | None  # given times in this segment that have no row yet, (nt,); None: rows are where steps end
    follows: bool  # there are rows within steps too, where something turns far
    # Writes times (nt,), step values (nt, nq_cut) and states (nt, n) of the next rows.
    put: Callable[[FloatArray, FloatArray, FloatArray], None]


class RunIntegrator(Protocol):
    """An integrator in Python, which takes part in a run."""

    name: str
    keeps_constraints: bool

    @abstractmethod
    def start(self, t: float, y: FloatArray | None, t_end: float, max_step: float | None) -> None:
        """Begin a segment at states y (n,); None: begin again after an event where it is."""

    @abstractmethod
    def advance(self, tries: int, rows: RowsToFill) -> None:
        """Take some steps."""

    @property
    @abstractmethod
    def reached(self) -> Reached:
        """Where it is."""


@dataclass(frozen=True)
class RunOptions:
    """Options of a run, as of `lw_run_options`; None: no limit, or left to the core."""

    t_start: float
    t_end: float
    rtol: float
    atol: float | None
    first_step: float | None
    max_step: float | None
    max_steps: int | None
    max_events: int | None
    gains: FloatArray
    times: FloatArray | None
    solver: str


class Equations:
    """The run as an ODE in y = [q; u; x], for integrators in Python."""

    def __init__(self, run: NativeRun, handle: Any, block: Block) -> None:
        self._run, self._block = run, block
        self._of = lib.lw_run_get_equations(handle)
        self.n_events = int(self._of.n_events)
        self.has_on_step = self._of.on_step != ffi.NULL
        self.step_values = _view(self._of.step_values, block.model.sizes.nq_cut)

    def derivative(self, t: float, y: FloatArray) -> FloatArray:
        """Return the derivative (n,) at states (n,); not a number where it does not exist."""
        return self._call(self._of.derivative, t, y, y.size)

    def indicators(self, t: float, y: FloatArray) -> FloatArray:
        """Return the event indicators (n_events,) at states (n,); not a number where they do not exist."""
        return self._call(self._of.events, t, y, self.n_events)

    def accepted(self, t: float, y: FloatArray) -> None:
        """Take an accepted step: compare the constraints with the tolerances, count revolutions."""
        given = np.ascontiguousarray(y, dtype=np.float64)
        if self._of.on_step(self._of.context, t, doubles(given), self._of.step_values):
            self._run.raise_caught()
            self._block.check_constraints()

    def jacobian(self, t: float, y: FloatArray) -> FloatArray:
        """Return the derivative (n, n) of the rates by y; not a number where there is none."""
        matrix, by_time = np.empty((y.size, y.size)), np.empty(y.size)
        given = np.ascontiguousarray(y, dtype=np.float64)
        status = self._of.jacobian(self._of.context, t, doubles(given), doubles(matrix), doubles(by_time))
        if status:
            self._run.raise_caught()
            matrix[:] = np.nan
        return matrix

    def _call(self, function: Any, t: float, y: FloatArray, size: int) -> FloatArray:
        given, found = np.ascontiguousarray(y, dtype=np.float64), np.empty(size)
        if function(self._of.context, t, doubles(given), doubles(found)):
            self._run.raise_caught()
            found[:] = np.nan
        return found


class RunRows(NamedTuple):
    """Times (nt,), states (nt, n), revolutions (nt, nq_cut), numbers of the phases, step controls (nt, 3)."""

    t: FloatArray
    y: FloatArray
    revolutions: FloatArray
    phase: NDArray[np.intp]
    control: FloatArray


class RunPhases(NamedTuple):
    """Inputs, rows of the discrete states and numbers of events, of the phases between these; the discrete states."""

    inputs: FloatArray
    row: NDArray[np.intp]
    events_before: NDArray[np.intp]
    discrete: FloatArray  # that differ from the one before (rows, n_discrete); without transitions there are no numbers


class RunEvents(NamedTuple):
    """Times (n,), flags of transitions and functions that have fired, states before and after (n, states)."""

    t: FloatArray
    fired: NDArray[np.bool_]
    before: FloatArray
    after: FloatArray


class NativeRun:
    """A run in a block, which is at its start."""

    def __init__(
        self,
        block: Block,  # in which it computes
        options: RunOptions,
        # y, revolutions: states [q; u; x] and coordinates of the cut joints
        y: FloatArray,
        revolutions: FloatArray,
        control: StepControl | None,  # what the step size control remembered there; None: the method restarts
        law: RunLaw,
        # Ends and largest steps of parts of the run, in which the law is asked one by one; none: there is one.
        parts: Sequence[tuple[float, float]] = (),
        integrator: RunIntegrator | None = None,
    ) -> None:
        self._law, self._integrator, self.solver = law, integrator, options.solver
        self._raised: BaseException | None = None
        self._not_here: NotHereError | None = None
        self._sampled: FloatArray | None = None  # inputs of C, into which samples go
        self._n, self._n_x, self._block = y.size, law.x0.size, block
        self._until = np.inf if options.t_end >= options.t_start else -np.inf
        self._kept = self._calls(parts)
        start = self._start(options.t_start, y, revolutions, control)
        inputs, handle, message = law.constant.copy(), ffi.new("lw_run **"), ffi.new("char[2400]")
        self._kept += (given := self._options(options, block.handle),)
        arguments = block.model.handle, given, doubles(inputs), start
        status = lib.lw_run_create(*arguments, handle, message, len(message))
        if status:
            self.raise_caught()
            raise_status(status, text_at(message))
        self._handle = ffi.gc(handle[0], lib.lw_run_free)
        self.equations = None if integrator is None else Equations(self, self._handle, block)

    def _start(self, t: float, y: FloatArray, revolutions: FloatArray, control: StepControl | None) -> Any:
        numbers = [y, revolutions, self._block.discrete_state]
        self._kept += (*numbers, controls := ffi.NULL if control is None else ffi.new("lw_ode_step_control *", control))
        return ffi.new("lw_run_point *", (t, *(doubles(one) for one in numbers), controls))

    def _options(self, o: RunOptions, state: Any) -> Any:
        given = {
            "t_end": o.t_end,
            "rtol": o.rtol,
            "atol": o.atol or 0.0,
            "first_step": o.first_step or 0.0,
            "max_step": o.max_step or 0.0,
            "gain": o.gains.tolist(),
            "max_steps": -1 if o.max_steps is None else o.max_steps,
            "max_events": -1 if o.max_events is None else o.max_events,
            "method": METHODS.get(o.solver, 0),
            "calls": self._kept[0],
            "state": state,
        }
        if o.times is not None:
            given |= {"n_times": o.times.size, "times": doubles(o.times)}
        return ffi.new("lw_run_options *", given)

    def _calls(self, parts: Sequence[tuple[float, float]]) -> tuple[Any, ...]:
        """Return the table, NULL where nothing is to be called back, and what it refers to."""
        law, integrator = self._law, self._integrator
        calls: dict[str, Any] = {}
        kept: list[Any] = []
        if law.varies:
            kept += [directions := ffi.new("int32_t[]", law.directions)]
            counts = {"n": self._n_x, "n_commands": len(law.commands), "n_functions": len(law.directions)}
            calls |= counts | {"law": lib.lw_py_run_law, "of_state": law.of_state, "directions": directions}
            calls |= {"events": lib.lw_py_run_events, "on_event": lib.lw_py_run_on_event}
        if law.sees_states:
            calls |= {"sees_states": 1}
        if law.sample_time:
            calls |= {"sample_time": law.sample_time, "sample": lib.lw_py_run_sample}
        if parts:
            kept += [listed := ffi.new("lw_run_part[]", list(parts))]
            calls |= {"n_parts": len(parts), "parts": listed, "enter_part": lib.lw_py_run_enter_part}
        if integrator is not None:
            kept += [name := ffi.new("char[]", integrator.name.encode())]
            calls |= {"integrator": name, "keeps_constraints": integrator.keeps_constraints}
            calls |= {"start": lib.lw_py_run_start, "advance": lib.lw_py_run_advance}
        if not calls:
            return (ffi.NULL,)
        context = ffi.new_handle(self)  # C keeps only a pointer to it
        return ffi.new("lw_run_calls *", calls | {"context": context}), context, *kept

    # ---- in time ----

    def advance(self) -> bool:
        """Take some steps; return whether there are more.

        Raises
        ------
        LinkworkError
            Where the run cannot continue; the cause is the error of the mechanics, if one is known.
        Exception
            An exception of Python, unchanged.
        """
        outcome = lib.lw_run_advance(self._handle, self._until, 0)
        if outcome in (lib.LW_RUN_FAILED, lib.LW_RUN_STOPPED):
            self._raise_failure(outcome)
        return bool(outcome == lib.LW_RUN_GOES_ON)

    def _raise_failure(self, outcome: int) -> NoReturn:
        text = text_at(lib.lw_run_message(self._handle))
        error: BaseException | None = self._raised or self._not_here
        if outcome == lib.LW_RUN_FAILED or error is None:
            error = error_of(lib.lw_run_status(self._handle), text)
        elif text:
            error.args = (f"{error}{text}",)
        found = ffi.new("char **")
        status = lib.lw_run_cause(self._handle, found)
        if status:
            raise error from error_of(status, text_at(found[0]))
        raise error

    def raise_caught(self) -> None:
        """Raise the exception of Python that waits until C has returned."""
        if self._raised is not None or self._not_here is not None:
            raised, self._raised, self._not_here = self._raised or self._not_here, None, None
            raise raised  # type: ignore[misc]

    @property
    def t(self) -> float:
        """Time that is reached, s."""
        return float(lib.lw_run_reached(self._handle).t)

    # ---- what there is ----

    @property
    def has_begun(self) -> bool:
        """Whether there may be rows."""
        return bool(self.statistics.segments > 0)

    @property
    def message(self) -> str:
        """How the run ended."""
        return text_at(lib.lw_run_message(self._handle))

    @property
    def statistics(self) -> Any:
        """An `lw_run_statistics`."""
        return lib.lw_run_get_statistics(self._handle)

    @property
    def states(self) -> FloatArray:
        """States (n,) that are reached, after the last event."""
        return _array(lib.lw_run_reached(self._handle).y, self._n)

    @property
    def revolutions(self) -> FloatArray:
        """Coordinates of the cut joints where they were last counted, (nq_cut,)."""
        return _array(lib.lw_run_reached(self._handle).revolutions, self._block.model.sizes.nq_cut)

    @property
    def control(self) -> StepControl | None:
        """What the step size control remembers."""
        control = lib.lw_run_reached(self._handle).control
        return None if control == ffi.NULL else (control.next_step, control.previous_error, control.choice)

    @property
    def row_count(self) -> int:
        """Number of rows so far."""
        return int(lib.lw_run_get_rows(self._handle).count)

    @property
    def rows(self) -> RunRows:
        """All rows so far."""
        of, cuts = lib.lw_run_get_rows(self._handle), self._block.model.sizes.nq_cut
        n = of.count
        arrays = _array(of.t, n), _array(of.y, n, self._n), _array(of.revolutions, n, cuts)
        return RunRows(*arrays, _array(of.phase, n).astype(np.intp), _array(of.control, n, 3))

    @property
    def phases(self) -> RunPhases:
        """All phases so far."""
        of, model = lib.lw_run_get_phases(self._handle), self._block.model
        n, inputs = of.count, model.inputs.stop - model.inputs.start
        discrete = model.discrete_state.stop - model.discrete_state.start if model.sizes.transitions else 0
        row, before = (_array(one, n).astype(np.intp) for one in (of.row, of.events_before))
        states = int(row[-1]) + 1 if n else 0
        return RunPhases(_array(of.inputs, n, inputs), row, before, _array(of.discrete, states, discrete))

    @property
    def events(self) -> RunEvents:
        """All events so far."""
        of = lib.lw_run_get_events(self._handle)
        functions = len(self._law.directions) if self._law.varies else 0
        n, kinds = of.count, self._block.model.sizes.transitions + functions
        fired = _array(of.fired, n, kinds) != 0.0
        return RunEvents(_array(of.t, n), fired, _array(of.before, n, self._n), _array(of.after, n, self._n))

    # ---- called back ----

    def serve(self, call: Callable[[], int | None], not_here: int = -1) -> int:
        """Answer a call of C; an exception waits here until C has returned."""
        try:
            return call() or 0
        except NotHereError as error:
            self._not_here = error
            return not_here
        except SolverError as error:
            self._raised = error
            return int(lib.LW_RUN_FAILURE)
        except BaseException as error:
            self._raised = error
            return -1

    def states_at(self, x: Any) -> FloatArray:
        """Return the law's states (n,) at an address, as an array that shares that memory."""
        return _view(x, self._n_x) if self._n_x else NO_STATES

    @property
    def law(self) -> RunLaw:
        """What drives the run."""
        return self._law

    def sample(self, t: float, inputs: Any) -> int:
        """Take a sample into all inputs, whose address stays; return whether it has commands."""
        law = self._law
        commands = law.sample(t)
        if self._sampled is None:
            self._sampled = _view(inputs, law.constant.size)
        self._sampled[:] = law.constant
        return int(commands)

    def fill(self, rows: Any, reach: Any, tries: int) -> None:
        """Let the integrator take steps, and take over what it has reached, however that ends."""
        integrator, n = self._integrator, self._n
        assert integrator is not None

        def put(t: FloatArray, values: FloatArray, y: FloatArray) -> None:
            first, count = rows.count, len(t)
            _view(rows.t, rows.capacity)[first : first + count] = t
            _view(rows.y, rows.capacity * n).reshape(rows.capacity, n)[first : first + count] = y
            cuts = values.shape[1]
            _view(rows.step_values, rows.capacity * cuts).reshape(rows.capacity, cuts)[first : first + count] = values
            if rows.step_control != ffi.NULL:
                _view(rows.step_control, 3 * rows.capacity)[3 * first : 3 * (first + count)] = np.nan
            rows.count += count

        if rows == ffi.NULL:
            given = RowsToFill(NO_STATES, False, put)
        else:
            given = RowsToFill(_view(rows.t, rows.capacity) if rows.times_given else None, bool(rows.follow), put)
        try:
            integrator.advance(tries, given)
        finally:
            t, y, crossings, attempts = integrator.reached
            reach.t, reach.attempts = t, attempts
            _view(reach.y, n)[:] = y
            if crossings is not None:
                reach.crossings[0 : crossings.size] = crossings.tolist()

    def start(self, t: float, y: Any, t_end: float, max_step: float) -> None:
        """Let the integrator start."""
        assert self._integrator is not None
        states = None if y == ffi.NULL else _array(y, self._n)
        self._integrator.start(t, states, t_end, max_step or None)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def lw_py_run_law(context: Any, t: float, x: Any, xdot: Any) -> int:
    """Serve C's call of a law."""
    run: NativeRun = ffi.from_handle(context)
    return run.serve(lambda: run.law.apply(t, run.states_at(x), run.states_at(xdot)), 1)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def lw_py_run_events(context: Any, t: float, x: Any, indicators: Any) -> int:
    """Serve C's call of the event indicators of a law."""
    run: NativeRun = ffi.from_handle(context)

    def write() -> None:
        for k, value in enumerate(run.law.indicators(t, run.states_at(x))):
            indicators[k] = value

    return run.serve(write, 1)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def lw_py_run_on_event(context: Any, t: float, x: Any, crossed: Any) -> int:
    """Serve C's call at an event of functions."""
    run: NativeRun = ffi.from_handle(context)

    def act() -> int:
        which = [k for k in range(len(run.law.directions)) if crossed[k]]
        acted, ends = run.law.act(t, run.states_at(x), which)
        return int(acted * lib.LW_RUN_RESTART | ends * lib.LW_RUN_TERMINATE)

    return run.serve(act)


@ffi.def_extern()  # type: ignore[untyped-decorator]
def lw_py_run_sample(context: Any, t: float, inputs: Any) -> int:
    """Serve C's call for a sample."""
    run: NativeRun = ffi.from_handle(context)
    return run.serve(lambda: run.sample(t, inputs))


@ffi.def_extern()  # type: ignore[untyped-decorator]
def lw_py_run_enter_part(context: Any, part: int) -> int:
    """Serve C's call where another part of the run begins."""
    run: NativeRun = ffi.from_handle(context)
    return run.serve(lambda: run.law.enter_part(part))


@ffi.def_extern()  # type: ignore[untyped-decorator]
def lw_py_run_start(context: Any, t: float, y: Any, until: float, max_step: float) -> int:
    """Serve C's call where an integrator starts."""
    run: NativeRun = ffi.from_handle(context)
    return run.serve(lambda: run.start(t, y, until, max_step))


@ffi.def_extern()  # type: ignore[untyped-decorator]
def lw_py_run_advance(context: Any, tries: int, rows: Any, reach: Any) -> int:
    """Serve C's call for steps of an integrator."""
    run: NativeRun = ffi.from_handle(context)
    return run.serve(lambda: run.fill(rows, reach, tries))


def _view(address: Any, n: int) -> FloatArray:
    """Return n doubles as an array that shares their memory."""
    return np.frombuffer(ffi.buffer(address, 8 * n), dtype=np.float64) if n else NO_STATES


def _array(address: Any, *shape: int) -> FloatArray:
    """Copy doubles."""
    size = prod(shape)
    return _view(address, size).reshape(shape).copy() if size else np.empty(shape)
