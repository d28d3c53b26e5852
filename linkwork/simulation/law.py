"""The control law of a run: all inputs that it has, from what the user gave, and when they change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core.native import Block, OffsetArray
from linkwork.errors import MechanismError
from linkwork.model.model import Model
from linkwork.simulation.controller import Controller, start_of
from linkwork.simulation.event_functions import EventFunction
from linkwork.simulation.inputs import InputFunction, Inputs
from linkwork.simulation.running_state import RunningState
from linkwork.simulation.segments import Segment


class Law:
    """Inputs as functions of time and state, a controller and event functions, in the block of a run.

    It is the `RunLaw` of a run in C.
    """

    def __init__(
        self,
        model: Model,
        block: Block,
        inputs: Inputs,
        controller: tuple[Controller, float] | None = None,
        events: Sequence[EventFunction] = (),
    ) -> None:
        self.inputs = inputs  # as they were given by name
        self.events = list(events)  # the event functions
        self.state = RunningState(model, block)  # what the functions see
        self._controller = None if controller is None else controller[0]
        self.sample_time = 0.0 if controller is None else controller[1]  # of a digital controller, s; 0: there is none
        self._is_continuous = controller is not None and not self.sample_time
        self.of_state = bool(inputs.of_state) or self._is_continuous  # some inputs depend on the state at every instant
        # Some inputs change from instant to instant, or there are event functions.
        self.varies = bool(inputs.of_time) or self.of_state or bool(events)
        # Functions of the user are given states.
        self.sees_states = controller is not None or bool(inputs.of_state or events)
        # Continuous states of the controller at the start, (n,).
        self.x0 = start_of(self._controller) if self._controller is not None else np.empty(0)
        self._outputs = _Outputs(model, inputs.names)
        self._held = inputs.constant.copy()  # all inputs but the functions
        self._block, self._nq, self._n = block, model.numbering.nq, model.numbering.n_states
        self._now = block.reals[block.model.inputs]  # those of the block
        self._cells = block.cells
        self._time = model.fields["time"].first  # where it stands among them
        self._of_time = [_fast(one, block) for one in inputs.of_time]
        self._of_state = [_fast(one, block) for one in inputs.of_state]
        self._segments: Sequence[Segment] = ()
        self._low, self._high = -np.inf, np.inf  # within which functions of time are asked
        self.commands: list[int] = []  # where commands that vary stand; known once the run has begun
        self.directions = [event.direction for event in self.events]  # of the event functions

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
    def following(self) -> OffsetArray:
        """Offsets of inputs that are known to follow the state at every instant; a controller's once it has begun."""
        functions = [*self.inputs.of_state, *(self._outputs.functions if self._is_continuous else ())]
        first = self._block.model.inputs.start
        places = (range(first + one.span.start, first + one.span.stop) for one in functions if not one.command)
        return np.fromiter(sorted(chain.from_iterable(places)), np.uint32)

    # ---- during a run ----

    def divide(self, segments: Sequence[Segment]) -> None:
        """Have a run in segments; functions of time are asked within the first one from now on."""
        self._segments = segments
        self.enter_part(0)

    def enter_part(self, part: int) -> None:
        """Ask functions of time from now on within a segment, between two of their jumps; -1: at any time."""
        self._low, self._high = (-np.inf, np.inf) if part < 0 else self._segments[part].bounds

    def enter(self, t: float, y: FloatArray) -> FloatArray:
        """Bring the block to a time and states [q; u; x], with all inputs there; return the rates of x."""
        rates = np.empty(y.size - self._n)
        self._block.enter(y[: self._nq], y[self._nq : self._n], self._held, t)
        if self.varies:
            self.apply(t, y[self._n :], rates)
            self._block.changed()
        return rates

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
        if self._controller is not None:
            enter()
            self._controller.start(t, self.state.begin(self.x0))
            if self.sample_time:
                self.sample(t)
            else:
                self._ask_controller(t, self._held.copy())  # which names it gives
        functions = [*self.inputs.of_time, *self.inputs.of_state]
        self.commands = [one.span.start for one in functions if one.command]
        if self._is_continuous:
            self.commands += self._outputs.commands

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
            _write(cells, self._now, at, one, function(*arguments), t)

    def indicators(self, t: float, x: FloatArray) -> list[float]:
        """Return the indicators of commands and event functions, of a block with all its inputs."""
        state = self.state.begin(x)
        switches = [1.0 if self._now[at] else -1.0 for at in self.commands]
        return [*switches, *(event.value(t, state) for event in self.events)]

    def act(self, t: float, x: FloatArray, crossed: list[int]) -> tuple[bool, bool]:
        """Call the actions of events; return whether there are any, and whether the run ends."""
        events = [self.events[k] for k in crossed]
        actions = [event.action for event in events if event.action is not None]
        for action in actions:
            action(t, self.state.begin(x))
        return bool(actions), any(event.terminal for event in events)

    def sample(self, t: float) -> bool:
        """Take a sample at the block's state; return whether it has commands, which transitions may wait for."""
        self.state.begin(self.x0)
        self._ask_controller(t, self._held)
        return self._outputs.has_commands

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


def _write(cells: memoryview, numbers: FloatArray, at: int, one: InputFunction, value: Any, t: float) -> None:
    """Write the value of an input: one number into a cell, `at` it, in a fraction of the time; -1: it has none."""
    if at >= 0:
        try:
            cells[at] = value
            return
        except TypeError:
            pass  # the slow way has the message
    numbers[one.span] = one.numbers(value, t)


class _Outputs:
    """What a controller gives: inputs by name, which are looked up when they come for the first time."""

    def __init__(self, model: Model, taken: Sequence[str]) -> None:
        self._numbering = model.numbering
        self._taken = taken
        # Where the number of each stands among all inputs, and what it is; -1: not one number.
        self._places: dict[str, tuple[int, InputFunction]] = {}
        self.names: list[str] = []
        self.has_commands = False

    @property
    def functions(self) -> list[InputFunction]:
        """Them as inputs."""
        return [one for _, one in self._places.values()]

    @property
    def commands(self) -> list[int]:
        """Where the commands stand among them."""
        return [one.span.start for one in self.functions if one.command]

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
                span = places[name][1].span
                inputs[span] = otherwise[span]
        cells = inputs.data
        for name, value in outputs.items():
            at, one = places[name]
            _write(cells, inputs, at, one, value, t)

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
            single = span.stop - span.start == 1 and not command
            one = InputFunction(label, span, len, wanted, command, "controller")
            self._places[name] = span.start if single else -1, one
        self.names = list(self._places)
        self.has_commands = bool(self.commands)


def _wanted(span: slice) -> str:
    size = span.stop - span.start
    return "a number" if size == 1 else f"{size} numbers"
