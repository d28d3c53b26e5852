"""Forward dynamics of many states at once: tapes of recorded kernels, and the kernels where none counts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork.core._core import ffi, lib
from linkwork.core.compiled_tapes import Compilation
from linkwork.core.native import Block, NativeModel, OffsetArray, Stage, doubles, error_of, offsets_of, text_at
from linkwork.errors import LinkworkError

_ROWS_AT_ONCE = 1 << 16  # between which an interruption is heard
_NONE: OffsetArray = np.empty(0, np.uint32)
# A tape is compiled when running it has taken about half as long as compiling does: after so many states, and so many
# operations of numbers.
_STATES_BEFORE, _OPERATIONS_BEFORE = 400_000, 100_000_000
_MOST_COMPILED = 50_000  # distinct steps; compilers take more than ten seconds for them
# Of one state at a time: evaluations by kernels before the first recording, which take as long as a compiler, and so
# many times fewer before each other one; recordings.
_EVALUATIONS_BEFORE, _SOONER, _MOST_OF_ONE = 100_000, 10, int(lib.LW_MOST_COMPILED_RATES)
_MOST_OF_JACOBIANS = 30_000, 10_000  # steps in an FMU, of derivatives of rates and of outputs
_FEWEST_SERVED = 20  # one state in so many, by a tape of derivatives in an FMU
_MOST_IN_C = 16  # of an FMU, which grows by 10 to 15 kB for each one


class Kernels(IntEnum):
    """Kernels that tapes hold: up to a stage; poses and velocities alone, which are outputs; inverse dynamics."""

    STAGES = lib.LW_TAPE_STAGES
    POSES = lib.LW_TAPE_POSES
    INVERSE_DYNAMICS = lib.LW_TAPE_INVERSE_DYNAMICS


class StepMethod(IntEnum):
    """How rows move in steps of fixed size."""

    RK4 = lib.LW_STEP_RK4
    SEMI = lib.LW_STEP_SEMI
    ROSENBROCK = lib.LW_STEP_ROSENBROCK


class Stopped(IntEnum):
    """Why a row has stopped: numbers that its tapes, or the second ones, do not have; a matrix that is singular."""

    NO_RATES = lib.LW_NO_RATES
    NO_SECOND = lib.LW_NO_SECOND
    SINGULAR_STEP = lib.LW_SINGULAR_STEP


class Tape(NamedTuple):
    """Operations that kernels did at one state, recorded; they count for all states for which its guards hold.

    Attributes
    ----------
    operations
        Of numbers, all that is left when zeros, ones and repetitions are folded.
    guards
        Comparisons that decided which operations these are.
    states
        How many states it has computed.
    compiled
        Whether it runs as machine code.
    distinct
        Operations and guards where equal parts of the tape count once, as in machine code: those of equal clusters.
    """

    operations: int
    guards: int
    states: int
    compiled: bool
    distinct: int


class Operations(NamedTuple):
    """A tape as data.

    Attributes
    ----------
    steps
        (n, 6): the operation, the register that it writes, registers of operands.
    registers
        How many there are; the first ones hold the inputs, then the constants, then the kept numbers.
    inputs
        Which of the given numbers these are.
    constants
        Numbers.
    kept
        Offsets of numbers in the block that all states have alike.
    results
        Registers of the computed numbers.
    """

    steps: NDArray[np.int32]
    registers: int
    inputs: NDArray[np.int32]
    constants: FloatArray
    kept: NDArray[np.int32]
    results: NDArray[np.int32]


class Operation(NamedTuple):
    """An operation of tapes.

    Attributes
    ----------
    name
        Of it, such as "add".
    operands
        How many it has.
    formula
        Of operands a, b, c and d, as in C: "a + b". Functions are those of libm, and ROOT(a), ABSOLUTE(a) and
        CHOSEN(which, yes, no).
    is_guard
        Whether it is a comparison that must hold.
    """

    name: str
    operands: int
    formula: str
    is_guard: bool


def operations_of_tapes() -> dict[int, Operation]:
    """Return all operations by their code in the steps of tapes."""
    found, of, code = dict[int, Operation](), ffi.new("lw_tape_formula *"), 2  # constants and inputs are no steps
    while lib.lw_tape_formula_of(code, of):
        found[code] = Operation(text_at(of.name), of.operands, text_at(of.formula), bool(of.is_guard))
        code += 1
    return found


def _check(status: int, block: Block) -> None:
    if status:
        raise error_of(status, text_at(lib.lw_state_message(block.handle)))


class Tapes:
    """Computes the same numbers of a block at many states. One thread at a time may use it.

    Parameters
    ----------
    given
        Offsets of numbers that differ from state to state: states, inputs and times.
    computed
        Offsets of numbers that are asked for.
    stage
        Up to which that is computed.
    by
        Offsets among the given ones: derivatives by these are computed in place of the numbers, row by row.
    kernels
        Which of them tapes hold.
    compiles
        Whether those that are used much are compiled, which pays where they are used again.
    """

    def __init__(
        self,
        given: OffsetArray,
        computed: OffsetArray,
        stage: Stage,
        by: OffsetArray = _NONE,
        kernels: Kernels = Kernels.STAGES,
        *,
        compiles: bool = True,
    ) -> None:
        self._compiles = compiles
        self._width = computed.size * (by.size or 1)
        handle = ffi.new("lw_tapes **")
        lists = (part for one in (given, computed, by) for part in (ffi.from_buffer("uint32_t[]", one), one.size))
        if lib.lw_tapes_create(*lists, int(stage), int(kernels), handle):
            raise MemoryError("the C core could not allocate memory")
        self._handle = ffi.gc(handle[0], lib.lw_tapes_free)
        self._compilations: dict[int, Compilation] = {}  # by number of the tape
        self._compiled: set[int] = set()  # of which the function is in use, or refused

    @property
    def recorded(self) -> tuple[Tape, ...]:
        """The tapes, in the order in which they are tried."""
        count = lib.lw_tapes_info(self._handle, ffi.NULL, 0)
        info = ffi.new("lw_tape_info[]", count)
        lib.lw_tapes_info(self._handle, info, count)
        return tuple(Tape(one.operations, one.guards, one.states, bool(one.compiled), one.distinct) for one in info)

    @property
    def by_kernels(self) -> int:
        """How many states the kernels have computed."""
        return int(lib.lw_tapes_by_kernels(self._handle))

    @property
    def refusal(self) -> str:
        """Why the last recording made no tape; empty: it made one, or there was none."""
        return text_at(lib.lw_tapes_refusal(self._handle))

    def record(self, block: Block, given: FloatArray) -> Operations:
        """Record the state of a row of given numbers, and return its tape.

        Raises
        ------
        MechanismError
            Where there is no tape of it, with the reason.
        """
        row = np.ascontiguousarray(given)
        _check(lib.lw_record_tape(block.handle, self._handle, doubles(row)), block)
        data = ffi.new("lw_tape_data *")
        if lib.lw_tape_read(self._handle, len(self.recorded) - 1, data):
            raise MemoryError("the C core could not allocate memory")

        def copied(address: Any, kind: str, count: int) -> Any:
            if not count:
                return np.empty(0, kind)
            return np.frombuffer(ffi.buffer(address, count * np.dtype(kind).itemsize), kind).copy()

        return Operations(
            copied(data.step, "i4", 6 * data.steps).reshape(-1, 6),
            data.registers,
            copied(data.input, "i4", data.inputs),
            copied(data.constant, "f8", data.constants),
            copied(data.kept, "i4", data.n_kept),
            copied(data.result, "i4", data.results),
        )

    def number_at(self, block: Block, given: FloatArray) -> int | None:
        """Return the number of the first tape that counts for a row of given numbers; None: none does."""
        block.evaluate(Stage.CONSTANTS)  # with which tapes are compared
        row = np.ascontiguousarray(given)
        found = lib.lw_tape_at(block.handle, self._handle, doubles(row))
        return None if found < 0 else int(found)

    @property
    def not_compiled(self) -> str:
        """Why a tape that was to be compiled is not; empty: there is none such."""
        reasons = [one.reason for one in self._compilations.values() if one.is_done and one.reason]
        other = [k for k in self._compiled if not self.recorded[k].compiled]
        return "; ".join(dict.fromkeys(reasons)) or ("compiled tapes gave other numbers" if other else "")

    def compile(self) -> None:
        """Compile all tapes at once, in place of when it pays; if that fails `not_compiled` has the reason."""
        for number in range(len(self.recorded)):
            self._compilation(number).wait()
        self._use_compiled()

    def _compilation(self, number: int) -> Compilation:
        if number not in self._compilations:
            self._compilations[number] = Compilation(ffi.string(lib.lw_tape_source(self._handle, number)))
        return self._compilations[number]

    def _use_compiled(self) -> None:
        """Let tapes that are used much be compiled, and run those that are."""
        for number, tape in enumerate(self.recorded):
            if number in self._compiled:
                continue
            much = self._compiles and tape.states > _STATES_BEFORE + _OPERATIONS_BEFORE / max(tape.operations, 1)
            if number not in self._compilations and (not much or tape.distinct > _MOST_COMPILED):
                continue
            compilation = self._compilation(number)
            if compilation.is_done and compilation.address:
                function = ffi.cast("lw_compiled_tape *", compilation.address)
                lib.lw_tape_compiled(self._handle, number, function)
                self._compiled.add(number)

    def evaluate(
        self,
        block: Block,
        given: FloatArray,
        errors: dict[int, LinkworkError] | None = None,
        computed: FloatArray | None = None,
    ) -> FloatArray:
        """Return the computed numbers (rows, n) of rows of given ones; all others are as in the block.

        Parameters
        ----------
        block
            Its states, inputs and given parameters change.
        given
            (rows, n).
        errors
            Where a row has no numbers these are NaN, and the error stands here by row. By default the first one is
            raised.
        computed
            Into which they are written; by default a new array.
        """
        given = np.ascontiguousarray(given)
        computed = np.empty((len(given), self._width)) if computed is None else computed
        failed = np.zeros(len(given), np.int8)
        for first in range(0, len(given), _ROWS_AT_ONCE):
            rows, into = (one[first : first + _ROWS_AT_ONCE] for one in (given, computed))
            marks = ffi.from_buffer("int8_t[]", failed[first : first + _ROWS_AT_ONCE], require_writable=True)
            addresses = doubles(rows), len(rows), doubles(into), marks
            _check(lib.lw_evaluate_states(block.handle, self._handle, *addresses), block)
        for row in np.flatnonzero(failed).tolist():
            try:
                _check(
                    lib.lw_evaluate_row(block.handle, self._handle, doubles(given[row]), doubles(computed[row])), block
                )
            except LinkworkError as error:
                if errors is None:
                    raise
                errors[row] = error
                computed[row] = np.nan
        self._use_compiled()
        return computed

    def choose_by_row(self, block: Block, given: FloatArray) -> None:
        """From here on let numbers of a row, derivatives too, depend on that row alone.

        Parameters
        ----------
        block
            As of `evaluate`.
        given
            (rows, n), the same for all tapes of these numbers. Where tapes are long, or the first row has none, there
            are those of these rows alone, and the kernels compute all other rows.
        """
        lib.lw_choose_by_row(block.handle, self._handle, doubles(np.ascontiguousarray(given)), len(given))

    def move(
        self,
        block: Block,
        given: FloatArray,
        moves: OffsetArray,
        times: OffsetArray,
        step: float,
        count: int,
        method: StepMethod = StepMethod.RK4,
        second: Tapes | None = None,
        stages: FloatArray | None = None,
    ) -> NDArray[np.int8]:
        """Move rows of given numbers by steps of fixed size, and return where and why they stopped; 0: they did not.

        Parameters
        ----------
        block
            As of `evaluate`.
        given
            (rows, n), contiguous; they are changed. A row that fails is left as at the evaluation that failed.
        moves
            By computed number, the column of the given one whose derivative it is.
        times
            Columns of times.
        step
            s.
        count
            Of the steps.
        method
            Of the steps.
        second
            Tapes of the same given numbers. Of the semi-implicit method: of those that move by the new values of the
            others. Of Rosenbrock's: of the derivatives by all given numbers that move, and by times.
        stages
            (rows, count, 4, n), into which the given numbers of all evaluations of "rk4" are written.

        Returns
        -------
        ndarray
            (rows,), of `Stopped`.
        """
        stopped = np.zeros(len(given), np.int8)
        addresses = ffi.from_buffer("uint32_t[]", moves), ffi.from_buffer("uint32_t[]", times)
        of_second = ffi.NULL if second is None else second._handle
        kept = ffi.NULL if stages is None else doubles(stages)
        steps = ffi.new("lw_steps *", [int(method), *addresses, times.size, step, count, of_second, kept])
        marks = ffi.from_buffer("int8_t[]", stopped, require_writable=True)
        _check(lib.lw_move_states(block.handle, self._handle, doubles(given), len(given), steps, marks), block)
        for tapes in (self, second):
            if tapes is not None:
                tapes._use_compiled()
        return stopped

    def use_for_run(self, block: Block) -> None:
        """Let a block adopt them for its Jacobians, from the beginning of a run; no other one may have them."""
        lib.lw_use_jacobians(block.handle, self._handle)

    def end_run(self, block: Block) -> None:
        """Let the block have none any more."""
        lib.lw_use_jacobians(block.handle, ffi.NULL)

    @property
    def adopted(self) -> int:
        """How many the run has adopted that used them last."""
        return int(lib.lw_jacobians_adopted(self._handle))

    def rates_of(self, number: int) -> Rates:
        """Return a tape as a function of one state, which is compiled in the background."""
        source = ffi.string(lib.lw_rates_source(self._handle, number))
        return Rates(Compilation(source), self._handle, number)

    def __repr__(self) -> str:
        return f"Tapes(recorded={self.recorded!r}, by_kernels={self.by_kernels}, refusal={self.refusal!r})"


class Rates:
    """A tape that is compiled for one state of a block."""

    def __init__(self, compilation: Compilation, tapes: Any, number: int) -> None:
        self._compilation, self._tapes, self._number = compilation, tapes, number
        self._function: Any = None
        self._pays: bool | None = None

    @property
    def function(self) -> Any:
        """The function for the core, once it is compiled; None: it is not, or not yet."""
        if self._function is None and self._compilation.is_done and self._compilation.address:
            run = ffi.cast("lw_rates_function *", self._compilation.address)
            self._function = lib.lw_rates_compiled(self._tapes, self._number, run)
        return self._function

    def pays(self, block: Block) -> bool:
        """Whether it is compiled, and takes less time than the kernels; measured once, where the block is now."""
        if self._pays is None and self.function is not None:
            self._pays = bool(lib.lw_rates_pay(block.handle, self.function))
            block.changed()
        return bool(self._pays)

    @property
    def has_failed(self) -> bool:
        """Whether there is no function and will be none."""
        return self._compilation.is_done and not self._compilation.address

    def wait(self) -> str:
        """Wait for the compiler; return why there is no function, or nothing."""
        self._compilation.wait()
        return self._compilation.reason


def _listed(function: Any, model: NativeModel) -> OffsetArray:
    found = np.empty(function(model.handle, ffi.NULL), np.uint32)
    function(model.handle, ffi.from_buffer("uint32_t[]", found))
    return found


def _tapes_of_rates(model: NativeModel) -> tuple[OffsetArray, Tapes]:
    """Return the given numbers of rates, and tapes of them."""
    given = _listed(lib.lw_rates_given, model)
    return given, Tapes(given, _listed(lib.lw_rates_computed, model), Stage.DERIVATIVES)


def _rates_of(model: NativeModel) -> OffsetArray:
    first = model.fields["qdot"].first
    return offsets_of(slice(first, first + model.sizes.states))


class TapesOfMotion:
    """Tapes of states along a motion, and how many states each of them serves.

    Attributes
    ----------
    refusal
        Why the last state that has no tape has none; empty: all of them have.
    """

    def __init__(self, given: OffsetArray, tapes: Tapes) -> None:
        self._given, self._tapes = given, tapes
        self._served: list[int] = []  # states, by tape
        self.refusal = ""

    def __len__(self) -> int:
        return len(self._served)

    @property
    def fewest_steps(self) -> int:
        """Distinct ones of the shortest tape; 0: there is none."""
        return min((one.distinct for one in self._tapes.recorded), default=0)

    def record(self, block: Block) -> bool:
        """Record the state of a block, unless a tape serves it; return whether one does now."""
        given = block.reals[self._given]
        number = self._tapes.number_at(block, given)
        if number is None:
            try:
                self._tapes.record(block, given)
            except LinkworkError as error:
                self.refusal = str(error)
                return False
            self._served.append(0)
            number = -1
        self._served[number] += 1
        return True

    def chosen(self, most_steps: int, at_least: int = 0, fewest_served: float = 0.0) -> Any:
        """Return those that serve most as `lw_chosen_tapes`.

        Parameters
        ----------
        most_steps
            Distinct ones of all together.
        at_least
            So many tapes, however long.
        fewest_served
            Of all states, by each tape.
        """
        recorded, taken, steps = self._tapes.recorded, list[int](), 0
        fewest = fewest_served * sum(self._served)
        for number in sorted(range(len(self)), key=lambda number: -self._served[number])[:_MOST_IN_C]:
            length = recorded[number].distinct
            if len(taken) < at_least or (steps + length <= most_steps and self._served[number] >= fewest):
                taken.append(number)
                steps += length
        numbers = ffi.new("int32_t[]", taken)
        chosen = ffi.new("lw_chosen_tapes *", [self._tapes._handle, numbers, len(taken)])
        return ffi.gc(chosen, lambda _, numbers=numbers: None)  # which keeps the numbers


class RatesInC:
    """Tapes of the rates of a model and of Jacobians along a motion, as a file in C for the library of an FMU.

    Parameters
    ----------
    model
        Of the FMU.
    inputs, outputs
        Offsets of its inputs, and of outputs, that are real numbers.

    Attributes
    ----------
    rates
        Tapes of the rates of the states.
    jacobians
        Tapes of the derivatives of rates and of outputs by states, time and inputs.
    """

    MOST_STEPS = _MOST_OF_JACOBIANS

    def __init__(self, model: NativeModel, inputs: OffsetArray, outputs: OffsetArray) -> None:
        self._model = model
        given, tapes = _tapes_of_rates(model)
        self.rates = TapesOfMotion(given, tapes)
        states = offsets_of(slice(model.fields["q"].first, model.fields["q"].first + model.sizes.states))
        time = np.array([model.fields["time"].first], np.uint32)
        columns = np.concatenate([time, inputs, states])
        kinds = {lib.LW_JACOBIANS_OF_RATES: (_rates_of(model), Stage.DERIVATIVES)}
        kinds[lib.LW_JACOBIANS_OF_OUTPUTS] = outputs, Stage.OUTPUTS
        made = (Tapes(given, *kinds[kind], columns) for kind in range(lib.LW_JACOBIAN_KINDS))
        self.jacobians = tuple(TapesOfMotion(given, one) for one in made)

    def source(self) -> bytes:
        """Return the file: of the tapes that serve most, as many as a compiler soon compiles."""
        rates = self.rates.chosen(_MOST_COMPILED, at_least=1)
        fewest, limits = 1 / _FEWEST_SERVED, zip(self.jacobians, self.MOST_STEPS, strict=True)
        jacobians = [one.chosen(most, fewest_served=fewest) for one, most in limits]
        listed = ffi.new("lw_chosen_tapes[]", [one[0] for one in jacobians])
        text: bytes = ffi.string(lib.lw_rates_library_source(self._model.handle, rates[0], listed))
        return text


class RatesOfRuns:
    """Compiled tapes that give the rates of one state at a time to the runs of a model, and of its twins.

    Where the kernels have given many, they are recorded at the state of a run; the tape is compiled while the run
    continues, and serves this one and later ones. Any thread may use it.

    Attributes
    ----------
    tapes
        Of the rates.
    jacobians
        Of their Jacobians, by states, time and inputs that follow the states, each for one run at a time.
    """

    def __init__(self, model: NativeModel) -> None:
        self._given, self.tapes = _tapes_of_rates(model)
        self.jacobians: list[Tapes] = []
        self._columns = _listed(lib.lw_jacobian_columns, model)
        self._rates = _rates_of(model)
        self._idle: dict[bytes, list[Tapes]] = {}  # of no run now, by the inputs
        self._found: list[Rates] = []
        self._since = 0  # evaluations by kernels since the last recording
        self._attempts = 0
        self._lock = threading.Lock()

    def serve(self, block: Block, before: int) -> int:
        """Let a block use the functions that there are, and record its state where they do not serve.

        Parameters
        ----------
        block
            Of a run, where it is now.
        before
            How often the kernels had given rates to it when this was called last, or 0.

        Returns
        -------
        int
            How often they have now.
        """
        by_kernels = block.rates_by_kernels
        if not self._lock.acquire(blocking=False):  # another run is served, or was when this process was forked
            return before
        try:
            self._since += by_kernels - before
            before_next = _EVALUATIONS_BEFORE // (_SOONER if self._attempts else 1)
            if self._since >= before_next and self._attempts < _MOST_OF_ONE:
                self.record(block)
            functions = [rates.function for rates in self._found if rates.pays(block)]
        finally:
            self._lock.release()
        block.use_rates(functions, self)
        return by_kernels

    @contextmanager
    def of_run(self, block: Block, following: OffsetArray = _NONE) -> Iterator[None]:
        """Let a block have tapes of Jacobians while it runs, which it adopts in time.

        Parameters
        ----------
        block
            Of the run.
        following
            Offsets of inputs that follow the states by a law.
        """
        idle = self._idle.setdefault(following.tobytes(), [])
        try:
            tapes = idle.pop()
        except IndexError:
            columns = np.concatenate([self._columns, following])
            tapes = Tapes(self._given, self._rates, Stage.DERIVATIVES, columns)
            self.jacobians.append(tapes)
        tapes.use_for_run(block)
        try:
            yield
        finally:
            tapes.end_run(block)
            idle.append(tapes)

    def record(self, block: Block) -> None:
        """Record a state that no tape serves, and begin to compile the tape; the block stays where it is."""
        if any(rates.has_failed for rates in self._found):
            self._attempts = _MOST_OF_ONE
            return
        given = np.empty(self._given.size)
        lib.lw_rates_missed(block.handle, doubles(given))
        if self.tapes.number_at(block, given) is not None:  # its function waits, or is not compiled yet
            self._since -= _EVALUATIONS_BEFORE // 20
            return
        self._since = 0
        present = block.reals[self._given]
        self._attempts += 1
        with suppress(LinkworkError):  # the kernels do it
            self.tapes.record(block, given)
            if self.tapes.recorded[-1].distinct <= _MOST_COMPILED:
                self._found.append(self.tapes.rates_of(len(self.tapes.recorded) - 1))
        block.reals[self._given] = present
        block.changed()

    def wait(self) -> str:
        """Wait for the compiler; return why a tape is not compiled, or nothing."""
        return "; ".join(filter(None, (one.wait() for one in self._found)))
