"""The base class of controllers: additions to PythonFMU's slave for closed loops.

Its outputs follow its inputs without a step, as a host needs that exchanges values at communication points:

    y = outputs(t; state, inputs)                   whenever an output is read
    state := update(t, dt; state, inputs, y)        at the end of a step, inputs held

With a sample time both happen at its multiples alone, counted from the start, and outputs are held in between.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real, String

SLACK = 1e-9  # of a sample time, by which communication points may miss a sample
UNLIMITED = 1e30  # stands for no limit, as FMI has no infinite start values

_TYPES = {float: Real, int: Integer, bool: Boolean, str: String}


class Controller(Fmi2Slave):  # type: ignore[misc]
    """Base of controllers with direct feedthrough, units and optionally a sample time.

    A subclass declares its variables in ``__init__`` and defines `outputs` and, if it has a state, `update`. A variable
    is an attribute by its name, ``self.kp``; names with dots are items, ``self["A.q"]``. Every other attribute is
    state: saved and restored with the FMU's, but for those named in `unsaved`, which must not change.

    Attributes
    ----------
    unsaved
        Names of attributes that are no state, in addition to those of base classes.
    settings
        The settings given to `package`; start values of parameters, and numbers of any form.
    units, dependencies
        By variable: its unit; of an output the inputs on which it depends directly.
    sample_time
        s; 0: each communication step is one sample.
    time
        s, now.
    """

    unsaved: ClassVar[tuple[str, ...]] = ("settings", "settings_read", "units", "dependencies", "_computed")
    sample_time = 0.0

    def __init__(self, **kwargs: Any) -> None:
        settings = kwargs.pop("settings", None)
        super().__init__(**kwargs)
        self.settings: dict[str, Any] = _settings(self.resources) if settings is None else settings
        self.units: dict[str, str] = {}
        self.dependencies: dict[str, tuple[str, ...]] = {}
        self.settings_read: dict[str, None] = {}
        self.time = self.start_time = 0.0
        self._samples = 0  # taken so far
        self._fresh = False  # outputs belong to the present inputs and state
        self._computed: set[int] = set()  # value references of outputs

    # ---- what subclasses call ----

    def add_input(self, name: str, start: Any = 0.0, unit: str = "1", description: str = "") -> None:
        """Declare an input; the type of `start` is its type, integers being real numbers."""
        self._add(name, start, unit, description, Fmi2Causality.input)

    def add_output(
        self,
        name: str,
        unit: str = "1",
        description: str = "",
        *,
        kind: type = float,
        depends: tuple[str, ...] | None = None,
    ) -> None:
        """Declare an output of a kind, float, int, bool or str; `depends`: inputs it depends on directly, None: all."""
        if depends is not None:
            self.dependencies[name] = tuple(depends)
        self._add(name, kind(), unit, description, Fmi2Causality.output, kind)
        self._computed.add(len(self.vars) - 1)

    def add_parameter(
        self, name: str, start: Any = 0.0, unit: str = "1", description: str = "", *, tunable: bool = True
    ) -> None:
        """Declare a parameter; a setting of its name goes before `start`."""
        kind = float if type(start) is int else type(start)
        value = _as_kind(kind, self.setting(name, start), name)
        variability = Fmi2Variability.tunable if tunable else Fmi2Variability.fixed
        self._add(name, value, unit, description, Fmi2Causality.parameter, variability=variability)

    def add_sample_time(self) -> None:
        """Declare the parameter ``sample_time``."""
        text = "time between samples; 0: each communication step is one"
        self.add_parameter("sample_time", 0.0, "s", text, tunable=False)

    def setting(self, name: str, default: Any = None) -> Any:
        """Return the setting given to `package` under a name."""
        self.settings_read[name] = None
        return self.settings.get(name, default)

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.__dict__[name] = value

    # ---- what subclasses define ----

    def outputs(self, t: float) -> None:
        """Set the outputs at a time, s, from state and inputs; it may be called at any time and changes no state."""

    def update(self, t: float, dt: float) -> None:
        """Bring the state from t to t + dt, s, with inputs and outputs as they were at t."""

    @property
    def remembers(self) -> bool:
        """Return whether it has a state, which `update` changes."""
        return type(self).update is not Controller.update

    def check(self) -> None:
        """Raise ValueError if parameters make no sense; called at the end of initialisation."""

    # ---- what PythonFMU calls ----

    def setup_experiment(
        self, start_time: float, stop_time: float | None = None, tolerance: float | None = None
    ) -> None:
        """Start the clock."""
        self.time = self.start_time = start_time
        self._fresh = False

    def exit_initialization_mode(self) -> None:
        """Look at the parameters."""
        if not self.sample_time >= 0.0:
            raise ValueError(f"sample_time must not be negative, as {self.sample_time} is")
        self.check()

    def do_step(self, current_time: float, step_size: float) -> bool:
        """Bring the state over a step."""
        end = current_time + step_size
        if self.sample_time > 0.0:
            self._take_samples(current_time, end)
        else:
            self._sample(current_time, step_size)
        self.time = end
        self._fresh = False
        return True

    def _take_samples(self, begin: float, end: float) -> None:
        """Take the samples that are due from `begin` on and before `end`."""
        slack = SLACK * self.sample_time
        while (due := self._sample_due()) < end - slack:
            if due > begin + slack:
                self.time, self._fresh = due, False
            self._sample(self.time, self.sample_time)
            self._samples += 1

    def _sample(self, t: float, dt: float) -> None:
        self._refresh(t)
        self.update(t, dt)

    def _sample_due(self) -> float:
        """When the next sample is due, s."""
        return self.start_time + self._samples * self.sample_time

    def _refresh(self, t: float) -> None:
        """Compute the outputs where they may have changed: always, or when a sample is due."""
        if not self._fresh:
            if self.sample_time <= 0.0 or self._sample_due() <= t + SLACK * self.sample_time:
                self.outputs(t)
            self._fresh = True

    def get_real(self, vrs: list[int]) -> list[float]:
        """Return values, outputs for the present inputs."""
        found: list[float] = super().get_real(self._current(vrs))
        return found

    def get_integer(self, vrs: list[int]) -> list[int]:
        """Return values, outputs for the present inputs."""
        found: list[int] = super().get_integer(self._current(vrs))
        return found

    def get_boolean(self, vrs: list[int]) -> list[bool]:
        """Return values, outputs for the present inputs."""
        found: list[bool] = super().get_boolean(self._current(vrs))
        return found

    def get_string(self, vrs: list[int]) -> list[str]:
        """Return values, outputs for the present inputs."""
        found: list[str] = super().get_string(self._current(vrs))
        return found

    def _current(self, vrs: list[int]) -> list[int]:
        """Compute the outputs if some are asked for."""
        if not (self._fresh or self._computed.isdisjoint(vrs)):
            self._refresh(self.time)
        return vrs

    def set_real(self, vrs: list[int], values: list[float]) -> None:
        """Set inputs or parameters; NaN is refused here, before it spreads."""
        for reference, value in zip(vrs, values, strict=True):
            if value != value:
                raise ValueError(f"{self.vars[reference].name} is set to a value that is not a number")
        self._fresh = False
        super().set_real(vrs, values)

    def set_integer(self, vrs: list[int], values: list[int]) -> None:
        """Set inputs or parameters."""
        self._fresh = False
        super().set_integer(vrs, values)

    def set_boolean(self, vrs: list[int], values: list[bool]) -> None:
        """Set inputs or parameters."""
        self._fresh = False
        super().set_boolean(vrs, [bool(value) for value in values])

    def set_string(self, vrs: list[int], values: list[str]) -> None:
        """Set inputs or parameters."""
        self._fresh = False
        super().set_string(vrs, values)

    # ---- inside ----

    def _add(
        self,
        name: str,
        start: Any,
        unit: str,
        description: str,
        causality: Fmi2Causality,
        kind: type | None = None,
        variability: Fmi2Variability | None = None,
    ) -> None:
        kind = kind or (float if type(start) is int else type(start))
        if kind not in _TYPES:
            raise ValueError(f"variable {name!r}: {start!r} is no number, boolean or text")
        if name in self.__dict__ or (hasattr(self, name) and name != "sample_time"):
            raise ValueError(f"the name {name!r} is taken: choose another one for the variable")
        self.__dict__[name] = kind(start)
        if unit != "1":
            self.units[name] = unit
        if variability is None and kind is not float:
            variability = Fmi2Variability.discrete
        text = description or None
        variable = _TYPES[kind](name, causality=causality, description=text, variability=variability)
        variable.getter = lambda: self.__dict__[name]
        variable.setter = lambda value: self.__dict__.__setitem__(name, value)
        self.register_variable(variable, nested=False)


def _as_kind(kind: type, value: Any, name: str) -> Any:
    """Return a setting as its parameter has it."""
    if kind is bool and not isinstance(value, bool) and value not in (0, 1):
        raise ValueError(f"setting {name!r} must be true or false, not {value!r}")
    try:
        return kind(value)
    except (TypeError, ValueError):
        raise ValueError(f"setting {name!r} must be a number, not {value!r}") from None


def _settings(resources: str | None) -> dict[str, Any]:
    path = Path(resources or ".") / "settings.json"
    if resources is None or not path.is_file():
        return {}
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
