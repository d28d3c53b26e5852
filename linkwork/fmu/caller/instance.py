"""The contract of an instance of an FMU: the same calls for each version and interface, through FMPy's classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, MutableSequence, Sequence
from ctypes import byref, c_double, c_int, c_size_t, c_uint32, c_uint64
from typing import Any, ClassVar, NamedTuple

from linkwork.fmu.caller.library import Library

WARNING, DISCARD, FATAL = 1, 2, 4
#: Arguments of a call that reads or writes values: FMI type, value references, their number, buffer, number of values.
ValueCall = tuple[str, Any, int, Any, int]
_UNFREED: list[object] = []  # of FMUs that may not be called any more, but may have threads that call back


class Outcome(NamedTuple):
    """The outcome of a step.

    `reached` is the time reached; `event`: the FMU requests Event Mode there; `terminate`: it requests the end of the
    simulation; `discarded`: it could not complete the step, and a shorter one may succeed; `early`: it ended the step
    before the time requested.
    """

    reached: float
    event: bool = False
    terminate: bool = False
    discarded: bool = False
    early: bool = False


class Update(NamedTuple):
    """Result of an update of discrete states.

    Whether another is needed, whether continuous states have changed, and the time of the next event if known.
    """

    needed: bool
    terminate: bool
    changed: bool
    next_event: float | None


def check(status: int, function: str, kind: str = "") -> None:
    """Raise FMPy's error if a call failed; FMPy's own calls do so, those made directly do not."""
    if status > WARNING:
        from fmpy.fmi1 import FMICallException

        raise FMICallException(function + kind, status)


class FmuInstance(ABC):
    """An instance of an FMU.

    A failed call raises an error of FMPy; a call that the version or the interface does not have raises an
    `AttributeError`.

    Attributes
    ----------
    name
        Its own name.
    messages
        What it logs from status `least` on.
    traced
        Whether all calls pass through FMPy's methods: slower, and the Python traceback of a crash names the function.
        A discarded step is then an error.
    fmpy
        FMPy's object, None before `load` and after `free`.
    component
        The instance in the library, as a pointer.
    reported_time
        The time that the FMU reported as reached by the last step [s].
    refuses_values
        Whether the standard forbids to set values now: after a discarded step of FMI 2.0.
    """

    PREFIX: ClassVar[str]  # of the functions
    STATE: ClassVar[str]  # how functions name the state of an FMU
    FLOAT64: ClassVar[str]
    TYPES: ClassVar[tuple[str, ...]]  # by which values are read and written

    def __init__(self, name: str, messages: MutableSequence[str], *, least: int = 1, traced: bool = False) -> None:
        self.name = name
        self.messages, self.least, self.traced = messages, least, traced
        self.fmpy: Any = None
        self.component: Any = None
        self.reported_time = 0.0
        self.refuses_values = False
        self._renews = False
        self._getters: dict[str, Any] = {}
        self._setters: dict[str, Any] = {}
        self._do_step: Any = None
        self._get_state: Any = None
        self._set_state: Any = None
        self._free_state: Any = None

    # ---- life

    def load(self, library: Library) -> None:
        """Load the library of its FMU.

        Raises
        ------
        NotLoaded
            If the library cannot be loaded or does not export a function.
        """
        self.fmpy = library.load(self.name)

    def instantiate(self, **options: Any) -> None:
        """Make the instance, also again after `release`; `options` are those of FMI 3.0 in Co-Simulation."""
        self._instantiate(options)
        self.component = self.fmpy.component
        functions = self.fmpy if self.traced else self.fmpy.dll  # which have their types from FMPy
        prefix = self.PREFIX
        self._getters = {kind: getattr(functions, f"{prefix}Get{kind}") for kind in self.TYPES}
        self._setters = {kind: getattr(functions, f"{prefix}Set{kind}") for kind in self.TYPES}
        self._do_step = getattr(functions, f"{prefix}DoStep", None)
        self._get_state, self._set_state, self._free_state = (
            getattr(functions, f"{prefix}{verb}{self.STATE}") for verb in ("Get", "Set", "Free")
        )

    @abstractmethod
    def _instantiate(self, options: dict[str, Any]) -> None: ...

    def enter_configuration_mode(self) -> None:
        """Enter Configuration Mode, in which structural parameters may be set (FMI 3.0)."""
        self.fmpy.enterConfigurationMode()

    def exit_configuration_mode(self) -> None:
        """Leave Configuration Mode (FMI 3.0)."""
        self.fmpy.exitConfigurationMode()

    @abstractmethod
    def enter_initialization(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Enter Initialization Mode."""

    def exit_initialization(self) -> None:
        """Leave Initialization Mode."""
        self.fmpy.exitInitializationMode()

    def terminate(self) -> None:
        """End the simulation; values can still be read."""
        self.fmpy.terminate()

    def reset(self) -> None:
        """Return to the mode after `instantiate`."""
        self.fmpy.reset()

    def release(self) -> None:
        """Free the instance, in whatever mode it is, and keep the library."""
        component, self.component, self.fmpy.component = self.fmpy.component, None, None
        try:
            if component:
                getattr(self.fmpy, f"{self.PREFIX}FreeInstance")(component)
        finally:
            self._forget()

    def free(self) -> None:
        """Free the instance and the library, if they are there."""
        fmu = self.fmpy
        if fmu is None:
            return
        try:
            self.release()
        finally:
            self.fmpy = None
            fmu.freeLibrary()

    def abandon(self) -> None:
        """Give up an instance that may not be called any more; its library stays in memory, and may still call back."""
        if self.fmpy is not None:
            _UNFREED.append((self.fmpy, self._forget()))
            self.fmpy = None

    def _forget(self) -> object:
        """Drop all references to the library, so that no circle keeps it; return the object that it may still call."""
        self._getters, self._setters = {}, {}
        self._do_step = self._get_state = self._set_state = self._free_state = None
        return None

    # ---- modes

    def enter_event_mode(self) -> None:
        """Enter Event Mode."""
        self.fmpy.enterEventMode()

    def enter_step_mode(self) -> None:
        """Enter Step Mode (FMI 3.0 in Co-Simulation)."""
        self.fmpy.enterStepMode()

    def enter_continuous_time_mode(self) -> None:
        """Enter Continuous-Time Mode (Model Exchange)."""
        self.fmpy.enterContinuousTimeMode()

    @abstractmethod
    def update_discrete_states(self) -> Update:
        """Update discrete states in Event Mode."""

    def evaluate_discrete_states(self) -> None:
        """Evaluate discrete states without an update (FMI 3.0)."""
        self.fmpy.fmi3EvaluateDiscreteStates(self.component)

    # ---- values

    @staticmethod
    @abstractmethod
    def type_of(name: str) -> tuple[str, Any]:
        """Return the FMI type by which a variable of a type is read and written, and its C type."""

    @abstractmethod
    def read(self, calls: Iterable[ValueCall]) -> None:
        """Get values into buffers."""

    @abstractmethod
    def write(self, calls: Iterable[ValueCall]) -> None:
        """Set values from buffers."""

    def reals(self, references: Sequence[int], n_values: int) -> list[float]:
        """The values of variables of 64-bit floating-point numbers, those of arrays one after the other."""
        buffer = (c_double * n_values)()
        self._transfer(self.read, references, buffer)
        return list(buffer)

    def set_reals(self, references: Sequence[int], values: Sequence[float]) -> None:
        """Set variables of 64-bit floating-point numbers."""
        self._transfer(self.write, references, (c_double * len(values))(*values))

    def set_size(self, reference: int, size: int) -> None:
        """Set a structural parameter that gives the size of arrays, in Configuration Mode (FMI 3.0)."""
        self.write([("UInt64", (c_uint32 * 1)(reference), 1, (c_uint64 * 1)(size), 1)])

    def _transfer(self, call: Callable[[Iterable[ValueCall]], None], references: Sequence[int], buffer: Any) -> None:
        if references:
            n = len(references)
            call([(self.FLOAT64, (c_uint32 * n)(*references), n, buffer, len(buffer))])

    def write_input_derivatives(self, references: Any, n: int, orders: Any, values: Any) -> None:
        """Set derivatives of real inputs by time, from arrays of ctypes (FMI 2.0 in Co-Simulation)."""
        function = "fmi2SetRealInputDerivatives"
        check(getattr(self.fmpy.dll, function)(self.component, references, n, orders, values), function)

    def set_input_derivatives(self, references: Sequence[int], values: Sequence[float]) -> None:
        """Set first derivatives of real inputs by time (FMI 2.0 in Co-Simulation)."""
        n = len(references)
        arrays = (c_uint32 * n)(*references), n, (c_int * n)(*[1] * n), (c_double * n)(*values)
        self.write_input_derivatives(*arrays)

    @abstractmethod
    def output_derivatives(self, references: Sequence[int], order: int = 1) -> list[float]:
        """The derivatives of real outputs by time (Co-Simulation)."""

    # ---- steps

    @abstractmethod
    def step(self, time: float, length: float) -> Outcome:
        """Do a communication step."""

    # ---- states of the instance

    @abstractmethod
    def _new_state(self) -> Any:
        """A pointer to a state, of FMPy's type."""

    def save(self, reuse: Any = None) -> Any:
        """Return its whole state, written over `reuse` where the FMU supports that. `drop` it at the end.

        Some FMUs return a new state every time: the caller must then free the old one.
        """
        state = self._new_state() if reuse is None else reuse
        before = state.value
        if before and self._renews:
            self.drop(state)
            before = state.value = None
        check(self._get_state(self.component, byref(state)), f"{self.PREFIX}Get", self.STATE)
        self._renews |= bool(before) and state.value != before
        return state

    def restore(self, state: Any) -> None:
        """Restore a state, which stays valid."""
        self.refuses_values = False
        check(self._set_state(self.component, state), f"{self.PREFIX}Set", self.STATE)

    def drop(self, state: Any) -> None:
        """Free a state."""
        check(self._free_state(self.component, byref(state)), f"{self.PREFIX}Free", self.STATE)

    def serialize(self, state: Any) -> bytes:
        """Return a state as bytes."""
        data: bytes = self.fmpy.serializeFMUState(state)
        return data

    def deserialize(self, data: bytes) -> Any:
        """Return the state made of bytes. `drop` it at the end."""
        return self.fmpy.deserializeFMUState(data)

    # ---- derivatives

    @abstractmethod
    def directional(
        self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float], n_values: int
    ) -> list[float]:
        """The directional derivative; a seed for each known number, `n_values` results for the unknown ones."""

    def adjoint(
        self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float], n_values: int
    ) -> list[float]:
        """The adjoint derivative; a seed for each unknown number, `n_values` results for the known ones (FMI 3.0)."""
        return list(self.fmpy.getAdjointDerivative(unknowns, knowns, seed, n_values))

    # ---- Model Exchange

    def set_time(self, time: float) -> None:
        """Set the time."""
        self.fmpy.setTime(time)

    def set_continuous_states(self, x: Sequence[float]) -> None:
        """Set the continuous states."""
        if x:
            self.fmpy.setContinuousStates((c_double * len(x))(*x), len(x))

    def continuous_states(self, n: int) -> list[float]:
        """The continuous states."""
        return self._vector(self.fmpy.getContinuousStates, n)

    def nominals(self, n: int) -> list[float]:
        """The nominal values of the continuous states."""
        return self._vector(self.fmpy.getNominalsOfContinuousStates, n)

    @abstractmethod
    def derivatives(self, n: int) -> list[float]:
        """The derivatives of the continuous states."""

    def event_indicators(self, n: int) -> list[float]:
        """The event indicators."""
        return self._vector(self.fmpy.getEventIndicators, n)

    def completed_integrator_step(self) -> tuple[bool, bool]:
        """Report that a step of the integrator is complete.

        Returns
        -------
        whether the FMU requests Event Mode, and whether it requests the end of the simulation
        """
        event, terminate = self.fmpy.completedIntegratorStep()
        return bool(event), bool(terminate)

    def counts(self) -> tuple[int, int]:
        """The numbers of continuous states and of event indicators, as the library reports them (FMI 3.0)."""
        return self.fmpy.getNumberOfContinuousStates(), self.fmpy.getNumberOfEventIndicators()

    # ---- dependencies

    def dependencies(self, reference: int) -> list[tuple[int, int, int]]:
        """What an unknown depends on, by the library of FMI 3.0.

        Returns
        -------
        element of the unknown, reference and element of the known, for each dependency
        """
        count = c_size_t()
        self.fmpy.fmi3GetNumberOfVariableDependencies(self.component, reference, byref(count))
        n = count.value
        ours, known, theirs, kinds = (c_size_t * n)(), (c_uint32 * n)(), (c_size_t * n)(), (c_int * n)()
        self.fmpy.fmi3GetVariableDependencies(self.component, reference, ours, known, theirs, kinds, n)
        return list(zip(ours, known, theirs, strict=True))

    @staticmethod
    def _vector(function: Callable[[Any, int], object], n: int) -> list[float]:
        values = (c_double * n)()
        if n:
            function(values, n)
        return list(values)
