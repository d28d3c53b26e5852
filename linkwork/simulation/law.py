"""The control law of a run: all inputs that it has, from what the user gave, and when they change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core.native import Block, Control
from linkwork.errors import MechanismError
from linkwork.model.model import Model
from linkwork.simulation.controller import Controller, start_of
from linkwork.simulation.event_functions import EventFunction
from linkwork.simulation.inputs import InputFunction, Inputs
from linkwork.simulation.running_state import RunningState

TINY = float(np.finfo(np.float64).tiny)


class Law:
    """Inputs as functions of time and state, a controller and event functions, in the block of a run.

    Attributes
    ----------
    inputs
        As they were given by name.
    state
        What the functions see.
    x0
        Continuous states of the controller at the start, (n,).
    events
        The event functions.
    of_state
        Some inputs depend on the state at every instant.
    varies
        Some inputs change from instant to instant, or there are event functions.
    sees_states
        Functions of the user are given states.
    """

    def __init__(
        self,
        model: Model,
        block: Block,
        inputs: Inputs,
        controller: tuple[Controller, float] | None = None,
        events: Sequence[EventFunction] = (),
    ) -> None:
        self.inputs = inputs
        self.events = list(events)
        self.state = RunningState(model, block)
        self._controller = None if controller is None else controller[0]
        self._sample_time = 0.0 if controller is None else controller[1]
        self._is_continuous = controller is not None and not self._sample_time
        self.of_state = bool(inputs.of_state) or self._is_continuous
        self.varies = bool(inputs.of_time) or self.of_state or bool(events)
        self.sees_states = controller is not None or bool(inputs.of_state or events)
        self.x0 = start_of(self._controller) if self._controller is not None else np.empty(0)
        self._outputs = _Outputs(model, inputs.names)
        self._held = inputs.constant.copy()  # all inputs but the functions
        self._now = block.reals[block.model.inputs]  # those of the block
        self._cells = block.cells
        self._time = model.fields["time"].first  # where it stands among them
        self._of_time = [_fast(one, block) for one in inputs.of_time]
        self._of_state = [_fast(one, block) for one in inputs.of_state]
        self._low, self._high = -np.inf, np.inf  # within which functions of time are asked
        self._continued_at = np.nan
        self._t_start = 0.0
        self._samples = 0  # taken so far
        self._commands: list[int] = []
        self.control = Control(block, self.apply, self.x0.size, self.indicators, 0)

    # ---- in what way inputs change ----

    @property
    def names(self) -> list[str]:
        """Of the inputs that are given, those of a controller known after its first call."""
        return [*self.inputs.names, *self._outputs.names]

    @property
    def constant(self) -> FloatArray:
        """All inputs (n_inputs,) that hold until the next sample; functions are at rest."""
        return self._held

    @property
    def n_indicators(self) -> int:
        """Event indicators: of commands that vary, then the event functions."""
        return len(self._commands) + len(self.events)

    @property
    def directions(self) -> list[int]:
        """Of the indicators, as a `Problem` has them."""
        return [0] * len(self._commands) + [event.direction for event in self.events]

    # ---- during a run ----

    def enter_segment(self, low: float, high: float) -> None:
        """Ask functions of time from now on within these times, s: between two of their jumps."""
        self._low, self._high = low, high

    def continue_at(self, t: float) -> None:
        """Take event functions that are zero at the start of a part of the run, s, as before it: not positive yet."""
        self._continued_at = t

    def known_jumps(self) -> list[tuple[float, float]]:
        """Return where tables jump or have a kink."""
        return [jump for one in self.inputs.of_time if one.table is not None for jump in one.table.jumps()]

    def sampled(self) -> list[Callable[[float], Any]]:
        """Return the functions that may jump, as functions of time alone; the block has the states that they see."""
        state, cells, time = self.state.begin(self.x0), self._cells, self._time
        held = self._held.copy()

        def of_state(one: InputFunction, t: float) -> Any:
            cells[time] = t
            return one.numbers(one.function(t, state), t)

        def controlled(t: float) -> FloatArray:
            cells[time] = t
            self._ask_controller(t, held)
            return held.copy()

        found: list[Callable[[float], Any]] = [_of_time(one) for one in self.inputs.of_time if one.table is None]
        found += [partial(of_state, one) for one in self.inputs.of_state]
        return [*found, controlled] if self._is_continuous else found

    def begin(self, t: float, enter: Callable[[], None]) -> None:
        """Begin a run; `enter` brings the block to its start."""
        self._t_start = t
        if self._controller is not None:
            enter()
            self._controller.start(t, self.state.begin(self.x0))
            if self._sample_time:
                self.sample(t)
            else:
                self._ask_controller(t, self._held.copy())  # which names it gives
        functions = [*self.inputs.of_time, *self.inputs.of_state]
        self._commands = [one.span.start for one in functions if one.command]
        if self._is_continuous:
            self._commands += self._outputs.commands
        self.control.watch(self.n_indicators)

    def apply(self, t: float, x: FloatArray, xdot: FloatArray) -> None:
        """Write all inputs into the block, which is at a time and state, and the rates of the law's own states."""
        if not self._low <= t <= self._high:  # by one place, beyond a jump
            t = self._cells[self._time] = min(max(t, self._low), self._high)
        if self._of_time:
            self._put(self._of_time, t, t)
        if self._of_state:
            self._put(self._of_state, t, t, self.state.begin(x))
        if self._is_continuous:
            self.state.begin(x)
            self._ask_controller(t, self._now)
            if x.size:
                xdot[:] = self._rates(t, x)

    def _put(self, functions: list[_Fast], t: float, *arguments: Any) -> None:
        """Write what functions return into the block."""
        cells = self._cells
        for at, function, one in functions:
            value = function(*arguments)
            if at >= 0:
                try:
                    cells[at] = value
                    continue
                except TypeError:
                    pass  # the slow way has the message
            self._now[one.span] = one.numbers(value, t)

    def indicators(self, t: float, x: FloatArray) -> FloatArray:
        """Return the indicators, (n_indicators,), of a block with all its inputs."""
        state = self.state.begin(x)
        switches = [1.0 if self._now[at] else -1.0 for at in self._commands]
        values = [event.value(t, state) for event in self.events]
        if t == self._continued_at:  # a solver that starts takes no event from zero, as after an event
            values = [value if value != 0.0 else -TINY for value in values]
        return np.array([*switches, *values])

    @property
    def next_sample(self) -> float:
        """Time of the next sample of a digital controller, s; infinite: there is none."""
        return self._t_start + self._samples * self._sample_time if self._sample_time else np.inf

    @property
    def last_sample(self) -> float:
        """Time of the last sample, s; minus infinity: there was none."""
        return self._t_start + (self._samples - 1) * self._sample_time if self._samples else -np.inf

    def sample(self, t: float) -> bool:
        """Take a sample at the block's state; return whether it has commands, which transitions may wait for."""
        self._held[:] = self.inputs.constant
        self._ask_controller(t, self._held)
        self._samples += 1
        return bool(self._outputs.commands)

    def over(self, t: FloatArray, held: FloatArray) -> FloatArray:
        """Return all inputs (nt, n_inputs) at times, from those that were held then, without functions of the state."""
        inputs = np.broadcast_to(held, (len(t), held.shape[-1]))
        if not self.inputs.of_time:
            return inputs
        changing = self.inputs.over(t)
        inputs = inputs.copy()
        for one in self.inputs.of_time:
            inputs[:, one.span] = changing[:, one.span]
        inputs[np.isnan(changing).any(axis=1)] = np.nan
        return inputs

    def again(self, t: float, x: FloatArray) -> FloatArray:
        """Return all inputs (n_inputs,) of a block that is at a row; not numbers where a function fails now."""
        try:
            self.apply(t, x, np.empty(x.size))
        except Exception:
            return np.full(self._now.size, np.nan)
        return self._now.copy()

    # ---- the controller ----

    def _ask_controller(self, t: float, inputs: FloatArray) -> None:
        assert self._controller is not None
        self._outputs.put(self._controller.outputs(t, self.state), inputs, self.inputs.constant, t)

    def _rates(self, t: float, x: FloatArray) -> Any:
        assert self._controller is not None
        rates: Any = self._controller.rates(t, self.state)
        if np.shape(rates) != x.shape:
            raise MechanismError(f"rates of the controller must be {x.size} numbers, as x0 is, not {rates!r}")
        return rates


_Fast: TypeAlias = tuple[int, Callable[..., Any], InputFunction]


def _of_time(one: InputFunction) -> Callable[[float], Any]:
    """Return a function of time as it is where it gives one number, else with its checks."""
    if one.span.stop - one.span.start == 1 and not one.command:
        return lambda t: float(one.function(t))
    return lambda t: one.numbers(one.function(t), t)


def _fast(one: InputFunction, block: Block) -> _Fast:
    """Return where the number of a function stands in the block, the function, and what it is; -1: not one number."""
    single = one.span.stop - one.span.start == 1 and not one.command
    return (block.model.inputs.start + one.span.start if single else -1), one.function, one


class _Outputs:
    """What a controller gives: inputs by name, which are looked up when they come for the first time."""

    def __init__(self, model: Model, taken: Sequence[str]) -> None:
        self._numbering = model.numbering
        self._taken = taken
        self._places: dict[str, InputFunction] = {}
        self.names: list[str] = []

    @property
    def commands(self) -> list[int]:
        """Where the commands stand among them."""
        return [one.span.start for one in self._places.values() if one.command]

    def put(self, outputs: Mapping[str, Any], inputs: FloatArray, otherwise: FloatArray, t: float) -> None:
        """Write them into all inputs (n_inputs,); those left out this time are as `otherwise` has them."""
        if not isinstance(outputs, Mapping):
            raise MechanismError(
                f"the controller must return a dictionary of inputs by name such as {{'A': 0.1}}, not {outputs!r}"
            )
        places = self._places
        if not outputs.keys() <= places.keys():
            self._find(outputs)
        if len(outputs) < len(places):
            for name in places.keys() - outputs.keys():
                inputs[places[name].span] = otherwise[places[name].span]
        for name, value in outputs.items():
            inputs[places[name].span] = places[name].numbers(value, t)

    def _find(self, outputs: Mapping[str, Any]) -> None:
        n = self._numbering
        spans = n.input_spans([*self._taken, *dict.fromkeys([*self.names, *outputs])], "controller")
        for name in outputs:
            span = spans[name]
            if name in self._taken:
                raise MechanismError(f"both inputs and the controller give {name!r}: leave it out of one of them")
            if n.driven.start <= span.start < n.driven.stop:
                raise MechanismError(
                    f"the controller gives {name!r}, which is prescribed: give it as a function of time in inputs"
                )
            label, command = n.input_label(name, "load"), name in n.commands
            wanted = "True or False" if command else _wanted(span)
            self._places[name] = InputFunction(label, span, len, wanted, command, "controller")
        self.names = list(self._places)


def _wanted(span: slice) -> str:
    size = span.stop - span.start
    return "a number" if size == 1 else f"{size} numbers"
