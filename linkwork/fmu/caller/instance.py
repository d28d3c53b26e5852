"""The contract of an instance of an FMU: the same calls for each version and interface, through FMPy's classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from ctypes import byref, c_double, c_int, c_size_t, c_uint32
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from linkwork.fmu.caller.library import load_library
from linkwork.fmu.description import REALS, Description, Variable, references

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
    """An instance of an FMU; its life, its values and its steps.

    A failed call raises an error of FMPy; a call that the version or the interface does not have raises an
    `AttributeError`.
    """

    PREFIX: ClassVar[str]  # of the functions
    STATE: ClassVar[str]  # how functions name the state of an FMU
    TYPES: ClassVar[tuple[str, ...]]  # by which values are read and written

    def __init__(
        self,
        description: Description,
        interface: str,
        name: str,
        messages: MutableSequence[str],
        *,
        least: int = 1,
        traced: bool = False,
        plain: bool = False,
    ) -> None:
        # description, interface: of its FMU, and ``"ME"`` or ``"CS"``
        self.description, self.interface = description, interface
        self.name = name  # its own name
        # messages: what it logs from status `least` on
        # traced: whether all calls pass through FMPy's methods: slower, and the Python traceback of a crash names the
        # function. A discarded step is then an error
        # plain: whether messages of FMI 2.0 have no arguments, and a percent sign is part of the text
        self.messages, self.least, self.traced, self.plain = messages, least, traced, plain
        self.fmpy: Any = None  # FMPy's object, None before `load` and after `free`
        self.component: Any = None  # the instance in the library, as a pointer
        # n_states, n_indicators: how many continuous states and event indicators it has: as declared, until its sizes
        # are changed
        self.n_states, self.n_indicators = description.n_states, description.n_indicators
        # time: the time it is at [s]; `restore` does not know that of the state
        # reported_time: the time that the FMU reported as reached by the last step [s]
        self.time = self.reported_time = 0.0
        self.refuses_values = False  # whether the standard forbids to set values now: after a discarded step of FMI 2.0
        self._renews = False
        self._getters: dict[str, Any] = {}
        self._setters: dict[str, Any] = {}
        self._do_step: Any = None
        self._get_state: Any = None
        self._set_state: Any = None
        self._free_state: Any = None

    # ---- life

    def load(self, folder: Path, token: str | None = None) -> None:
        """Load the library of its FMU, unpacked in a folder; `token` is another than that of its description."""
        self.fmpy = load_library(self.description, self.interface, folder, self.name, token)

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

    def enter_initialization(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Enter Initialization Mode."""
        self.time = start
        self._enter_initialization(start, stop, tolerance)

    @abstractmethod
    def _enter_initialization(self, start: float, stop: float | None, tolerance: float | None) -> None: ...

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

    def update_until_settled(self, most: int) -> Update:
        """Update discrete states until no other update is needed, or the FMU requests the end of the simulation.

        The result has whether another one is `needed` after `most` updates; `changed` is that of all of them.
        """
        changed = False
        for _ in range(most):
            update = self.update_discrete_states()
            changed |= update.changed
            if update.terminate or not update.needed:
                break
        return update._replace(changed=changed)

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

    def get(self, variables: Iterable[Variable]) -> list[float]:
        """The numbers of variables, those of arrays one after the other."""
        found: list[float] = []
        for kind, c_type, some in self._of_one_type(variables):
            n, buffer = len(some), (c_type * count(some))()
            self.read([(kind, (c_uint32 * n)(*references(some)), n, buffer, len(buffer))])
            found += map(float, buffer)
        return found

    def set(self, variables: Iterable[Variable], values: Sequence[float]) -> None:
        """Set variables that are no continuous states."""
        done = 0
        for kind, c_type, some in self._of_one_type(variables):
            n, mine = len(some), values[done : done + count(some)]
            buffer = (c_type * len(mine))(*(mine if kind in REALS else map(int, mine)))
            self.write([(kind, (c_uint32 * n)(*references(some)), n, buffer, len(buffer))])
            done += len(mine)

    def _of_one_type(self, variables: Iterable[Variable]) -> Iterator[tuple[str, Any, list[Variable]]]:
        """Variables that one call reads or writes, with its type and that in C."""
        for (kind, c_type), some in groupby(variables, lambda one: self.type_of(one.type)):
            yield kind, c_type, list(some)

    def write_input_derivatives(self, of: Any, n: int, orders: Any, values: Any) -> None:
        """Set derivatives of real inputs by time, from arrays of ctypes (FMI 2.0 in Co-Simulation)."""
        function = "fmi2SetRealInputDerivatives"
        check(getattr(self.fmpy.dll, function)(self.component, of, n, orders, values), function)

    def set_input_derivatives(self, inputs: Sequence[Variable], values: Sequence[float]) -> None:
        """Set first derivatives of real inputs by time (FMI 2.0 in Co-Simulation)."""
        n = len(inputs)
        arrays = (c_uint32 * n)(*references(inputs)), n, (c_int * n)(*[1] * n), (c_double * n)(*values)
        self.write_input_derivatives(*arrays)

    @abstractmethod
    def output_derivatives(self, outputs: Sequence[Variable], order: int = 1) -> list[float]:
        """The derivatives of real outputs by time (Co-Simulation)."""

    # ---- steps

    def step(self, time: float, length: float) -> Outcome:
        """Do a communication step."""
        outcome = self._step(time, length)
        self.time = outcome.reached
        return outcome

    @abstractmethod
    def _step(self, time: float, length: float) -> Outcome: ...

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
        self, unknowns: Sequence[Variable], knowns: Sequence[Variable], seed: Sequence[float]
    ) -> list[float]:
        """The directional derivative; a seed for each known number, a result for each unknown one."""

    def adjoint(self, unknowns: Sequence[Variable], knowns: Sequence[Variable], seed: Sequence[float]) -> list[float]:
        """The adjoint derivative; a seed for each unknown number, a result for each known one (FMI 3.0)."""
        return list(self.fmpy.getAdjointDerivative(references(unknowns), references(knowns), seed, count(knowns)))

    # ---- Model Exchange

    def set_time(self, time: float) -> None:
        """Set the time."""
        self.time = time
        self.fmpy.setTime(time)

    def set_continuous_states(self, x: Sequence[float]) -> None:
        """Set the continuous states."""
        if x:
            self.fmpy.setContinuousStates((c_double * len(x))(*x), len(x))

    def continuous_states(self) -> list[float]:
        """The continuous states."""
        return self._vector(self.fmpy.getContinuousStates, self.n_states)

    def nominals(self) -> list[float]:
        """The nominal values of the continuous states."""
        return self._vector(self.fmpy.getNominalsOfContinuousStates, self.n_states)

    @abstractmethod
    def derivatives(self) -> list[float]:
        """The derivatives of the continuous states."""

    def event_indicators(self) -> list[float]:
        """The event indicators."""
        return self._vector(self.fmpy.getEventIndicators, self.n_indicators)

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


def count(variables: Iterable[Variable]) -> int:
    """How many numbers some variables have."""
    return sum(one.size for one in variables)
