"""Calls an FMU's shared library through ctypes, function by function, in either version of the standard."""

import ctypes
from collections.abc import Callable, Sequence
from ctypes import byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass
from pathlib import Path

OK, WARNING, DISCARD, ERROR = range(4)

_LOG2 = ctypes.CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p)
_LOG3 = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p, c_char_p)
_BETWEEN3 = ctypes.CFUNCTYPE(
    None, c_void_p, c_double, c_bool, c_bool, c_bool, c_bool, ctypes.POINTER(c_bool), ctypes.POINTER(c_double)
)


@dataclass(frozen=True)
class Update:
    """Arguments of an intermediate update."""

    time: float
    set_requested: bool
    get_allowed: bool
    finished: bool
    can_return: bool


# Returns the time for an early return, or None.
Between = Callable[["Instance", Update], float | None]


class _Callbacks2(ctypes.Structure):
    _fields_ = (
        ("logger", _LOG2),
        ("allocate", c_void_p),
        ("free", c_void_p),
        ("finished", c_void_p),
        ("environment", c_void_p),
    )


class _EventInfo2(ctypes.Structure):
    _fields_ = (
        ("needed", c_int),
        ("terminate", c_int),
        ("nominals_changed", c_int),
        ("values_changed", c_int),
        ("time_defined", c_int),
        ("time", c_double),
    )


class Instance:
    """One instance; `messages` collects (status, category, text). A failed instantiation leaves `handle` None."""

    def __init__(
        self,
        library: Path,
        version: str,
        kind: str,
        resources: str | None,
        token: str | None,
        *,
        logger: bool = True,
        logging: bool = True,
        event_mode: bool = False,
        early_return: bool = False,
        between: Between | None = None,
        required: Sequence[int] = (),
    ) -> None:
        self.library, self.version, self.kind = ctypes.CDLL(str(library)), version, kind
        self.messages: list[tuple[int, str, str]] = []
        folder, guid = (None if text is None else text.encode() for text in (resources, token))
        if version == "2.0":
            log2 = _LOG2(lambda _e, _n, status, category, text: self._note(status, category, text))
            self._kept = _Callbacks2(log2 if logger else _LOG2(), None, None, None, None)
            create = self.function("Instantiate", c_void_p)
            self.handle = create(b"unit", int(kind == "CS"), guid, folder, byref(self._kept), 0, int(logging))
            return
        log3 = _LOG3(lambda _e, status, category, text: self._note(status, category, text))
        self._kept = log3 if logger else _LOG3()
        if kind == "ME":
            create = self.function("InstantiateModelExchange", c_void_p)
            self.handle = create(b"unit", guid, folder, c_bool(False), c_bool(logging), None, self._kept)
        else:
            create = self.function("InstantiateCoSimulation", c_void_p)
            flags = [c_bool(flag) for flag in (False, logging, event_mode, early_return)]
            self._between = _BETWEEN3(self._pass_on(between)) if between else _BETWEEN3()
            wanted = ((c_uint32 * len(required))(*required), c_size_t(len(required)))
            self.handle = create(b"unit", guid, folder, *flags, *wanted, None, self._kept, self._between)

    def _pass_on(self, between: Between):
        def update(_, time, set_requested, get_allowed, finished, can_return, wanted, return_time) -> None:
            answer = between(self, Update(time, set_requested, get_allowed, finished, can_return))
            wanted[0] = answer is not None
            if answer is not None:
                return_time[0] = answer

        return update

    def _note(self, status: int, category: bytes, text: bytes) -> None:
        self.messages.append((status, category.decode(), text.decode()))

    def function(self, name: str, result: type | None = c_int):
        function = getattr(self.library, f"fmi{self.version[0]}{name}")
        function.restype = result
        return function

    def call(self, name: str, *arguments: object) -> int:
        return self.function(name)(c_void_p(self.handle), *arguments)

    def must(self, name: str, *arguments: object) -> None:
        status = self.call(name, *arguments)
        assert status == OK, (name, status, self.messages[-1:])

    @property
    def last(self) -> str:
        return self.messages[-1][2] if self.messages else ""

    def free(self) -> None:
        self.function("FreeInstance", None)(c_void_p(self.handle))
        self.handle = None

    # ---- life cycle

    def set_up(self, start: float = 0.0, stop: float | None = None, tolerance: float | None = None) -> None:
        """Up to Initialization Mode."""
        flag = c_int if self.version == "2.0" else c_bool
        stops = (flag(stop is not None), c_double(stop or 0.0))
        arguments = (flag(tolerance is not None), c_double(tolerance or 0.0), c_double(start), *stops)
        if self.version == "2.0":
            self.must("SetupExperiment", *arguments)
            self.must("EnterInitializationMode")
        else:
            self.must("EnterInitializationMode", *arguments)

    def initialize(self, start: float = 0.0, stop: float | None = None, tolerance: float | None = None) -> None:
        """Up to Continuous-Time or Step Mode."""
        self.set_up(start, stop, tolerance)
        self.must("ExitInitializationMode")
        if self.kind == "ME":
            self.must("EnterContinuousTimeMode")

    def go_to(self, mode: str, event_mode: bool = False) -> None:
        """From the instantiated state to any other."""
        if mode == "instantiated":
            return
        self.set_up()
        if mode == "initialization":
            return
        self.must("ExitInitializationMode")
        if mode in ("continuous", "step") and (self.kind == "ME" or event_mode):
            self.must("EnterContinuousTimeMode" if mode == "continuous" else "EnterStepMode")
        if mode == "terminated":
            self.must("Terminate")

    # ---- values

    def _float(self, verb: str, references: Sequence[int], values: ctypes.Array) -> int:
        n = len(references)
        sizes = (c_size_t(n),) if self.version == "2.0" else (c_size_t(n), values, c_size_t(n))
        name = f"{verb}Real" if self.version == "2.0" else f"{verb}Float64"
        tail = (*sizes, values) if self.version == "2.0" else sizes
        return self.call(name, (c_uint32 * n)(*references), *tail)

    def try_get(self, references: Sequence[int]) -> tuple[int, list[float]]:
        values = (c_double * len(references))()
        return self._float("Get", references, values), list(values)

    def get(self, references: Sequence[int]) -> list[float]:
        status, values = self.try_get(references)
        assert status == OK, self.last
        return values

    def try_set(self, references: Sequence[int], values: Sequence[float]) -> int:
        return self._float("Set", references, (c_double * len(values))(*values))

    def set(self, references: Sequence[int], values: Sequence[float]) -> None:
        assert self.try_set(references, values) == OK, self.last

    def set_states(self, x: Sequence[float]) -> int:
        return self.call("SetContinuousStates", (c_double * len(x))(*x), c_size_t(len(x)))

    def try_array(self, name: str, n: int) -> tuple[int, list[float]]:
        values = (c_double * n)()
        return self.call(name, values, c_size_t(n)), list(values)

    def array(self, name: str, n: int) -> list[float]:
        status, values = self.try_array(name, n)
        assert status == OK, self.last
        return values

    def derivatives(self, n: int) -> list[float]:
        return self.array("GetDerivatives" if self.version == "2.0" else "GetContinuousStateDerivatives", n)

    def product(self, name: str, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float]) -> list[float]:
        """A directional or, by seeds of the unknowns, an adjoint derivative."""
        n = len(knowns) if name.startswith("GetAdjoint") else len(unknowns)
        result = (c_double * n)()
        lists = [(c_uint32 * len(unknowns))(*unknowns), c_size_t(len(unknowns))]
        lists += [(c_uint32 * len(knowns))(*knowns), c_size_t(len(knowns)), (c_double * len(seed))(*seed)]
        sizes = (result,) if self.version == "2.0" else (c_size_t(len(seed)), result, c_size_t(n))
        assert self.call(name, *lists, *sizes) == OK, self.last
        return list(result)

    def directional(self, unknowns: Sequence[int], knowns: Sequence[int], seed: Sequence[float]) -> list[float]:
        return self.product("GetDirectionalDerivative", unknowns, knowns, seed)

    # ---- derivatives by time

    def try_input_rates(self, references: Sequence[int], orders: Sequence[int], values: Sequence[float]) -> int:
        n = len(references)
        arrays = ((c_uint32 * n)(*references), c_size_t(n), (c_int * n)(*orders), (c_double * n)(*values))
        return self.call("SetRealInputDerivatives", *arrays)

    def try_rates(self, references: Sequence[int], orders: Sequence[int] | None = None) -> tuple[int, list[float]]:
        """Derivatives of outputs, by default the first."""
        n, values = len(references), (c_double * len(references))()
        arrays = ((c_uint32 * n)(*references), c_size_t(n), (c_int * n)(*(orders or [1] * n)), values)
        if self.version == "2.0":
            return self.call("GetRealOutputDerivatives", *arrays), list(values)
        return self.call("GetOutputDerivatives", *arrays, c_size_t(n)), list(values)

    def rates(self, references: Sequence[int]) -> list[float]:
        status, values = self.try_rates(references)
        assert status == OK, self.last
        return values

    # ---- booleans and events

    def _boolean(self, verb: str, references: Sequence[int], values: ctypes.Array) -> int:
        n = len(references)
        sizes = (c_size_t(n), values) if self.version == "2.0" else (c_size_t(n), values, c_size_t(n))
        return self.call(f"{verb}Boolean", (c_uint32 * n)(*references), *sizes)

    def get_flags(self, references: Sequence[int]) -> list[bool]:
        values = ((c_int if self.version == "2.0" else c_bool) * len(references))()
        assert self._boolean("Get", references, values) == OK, self.last
        return [bool(value) for value in values]

    def try_set_flags(self, references: Sequence[int], values: Sequence[bool]) -> int:
        return self._boolean("Set", references, ((c_int if self.version == "2.0" else c_bool) * len(values))(*values))

    def try_update(self) -> tuple[int, dict[str, float]]:
        """New discrete states: what changed, and when the next event is; more is never needed."""
        if self.version == "2.0":
            info = _EventInfo2()
            status = self.call("NewDiscreteStates", byref(info))
            needed, nominals, changed, defined = (
                getattr(info, name) for name in ("needed", "nominals_changed", "values_changed", "time_defined")
            )
            time = info.time
        else:
            flags, next_time = [c_bool() for _ in range(5)], c_double()
            status = self.call("UpdateDiscreteStates", *map(byref, flags), byref(next_time))
            needed, _, nominals, changed, defined = (flag.value for flag in flags)
            time = next_time.value
        assert not needed
        return status, {"changed": bool(changed), "nominals": bool(nominals), "next": time if defined else None}

    def update(self) -> dict[str, float]:
        status, found = self.try_update()
        assert status == OK, self.last
        return found

    # ---- steps

    def try_step(self, time: float, length: float) -> tuple[int, dict[str, float]]:
        if self.version == "2.0":
            return self.call("DoStep", c_double(time), c_double(length), 1), {}
        event, terminate, early, last = c_bool(), c_bool(), c_bool(), c_double()
        pointers = (byref(event), byref(terminate), byref(early), byref(last))
        status = self.call("DoStep", c_double(time), c_double(length), c_bool(True), *pointers)
        return status, {"event": event.value, "early": early.value, "last": last.value}

    def step(self, time: float, length: float) -> float:
        """Do a step that must succeed; returns its end."""
        status, _ = self.try_step(time, length)
        assert status == OK, self.last
        return time + length

    # ---- states of the instance

    def _state(self, name: str) -> str:
        return name if self.version == "2.0" else name.replace("FMUstate", "FMUState").replace("DeS", "Des")

    def save(self) -> c_void_p:
        state = c_void_p()
        self.must(self._state("GetFMUstate"), byref(state))
        return state

    def restore(self, state: c_void_p) -> None:
        self.must(self._state("SetFMUstate"), state)

    def drop(self, state: c_void_p) -> None:
        self.must(self._state("FreeFMUstate"), byref(state))

    def to_bytes(self, state: c_void_p) -> bytes:
        size = c_size_t()
        self.must(self._state("SerializedFMUstateSize"), state, byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self.must(self._state("SerializeFMUstate"), state, buffer, size)
        return buffer.raw

    def from_bytes(self, data: bytes) -> tuple[int, c_void_p]:
        state = c_void_p()
        return self.call(self._state("DeSerializeFMUstate"), data, c_size_t(len(data)), byref(state)), state


def whole(instance: Instance, verb: str, reference: int, value: int = 0) -> tuple[int, int]:
    """Gets or sets an enumeration, which is an Integer in FMI 2.0 and an Int64 in 3.0: status and value."""
    references, two = (c_uint32 * 1)(reference), instance.version == "2.0"
    values = ((c_int if two else c_int64) * 1)(value)
    extra = () if two else (c_size_t(1),)
    status = instance.call(f"{verb}{'Integer' if two else 'Int64'}", references, c_size_t(1), values, *extra)
    return status, values[0]
