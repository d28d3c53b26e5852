"""What drives a simulation, as it is given: loads, wrenches, inputs of actuators, motions and commands, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.signatures import required_arguments
from linkwork.errors import MechanismError
from linkwork.simulation.input_table import Table, as_table
from linkwork.simulation.running_state import RunningState
from linkwork.variables.numbering import Numbering

if TYPE_CHECKING:
    import pandas as pd

InputValue: TypeAlias = (
    "ArrayLike | Table | tuple[ArrayLike, ArrayLike] | pd.Series[Any] | pd.DataFrame | Callable[[float], ArrayLike] "
    "| Callable[[float, RunningState], ArrayLike]"
)


@dataclass(frozen=True)
class InputFunction:
    """An input that is a function: of time, or of time and state."""

    label: str  # what messages call the input
    span: slice  # where its numbers stand among all inputs
    function: Callable[..., Any]  # as it was given
    required: str  # what it must return, in words
    command: bool = False  # it is true or false
    source: str = "inputs"  # the argument that messages begin with
    table: Table | None = None  # from which it was made; None: the user gave a function

    def numbers(self, value: Any, t: float) -> FloatArray | float:
        """Return what the function has returned as numbers for the inputs of the span."""
        try:
            if self.command:
                return _switch(value)
            return _numbers(value, self.span)
        except (TypeError, ValueError):
            what = f"the {self.label} at t = {t:.6g} s must be {self.required}"
            raise MechanismError(f"{self.source}: {what}, not {value!r}") from None


class Inputs:
    """The inputs of a simulation: driving loads, applied forces and torques, inputs of actuators, additions to motions.

    Parameters
    ----------
    given
        Constants, tables, functions of time, or of time and state, by name: a number, or (nu,) for a joint of several
        speeds and (3,) for a wrench such as "push.F"; one element may also stand alone as in "S[2]" and "push.F[1]".
        For a motion, by the name of its drive, a function returns value, rate and acceleration (3,); a constant and a
        table are of the value.
    numbering
        Where each input stands.
    at_rest
        All inputs (n_inputs,) where nothing is given.
    """

    def __init__(self, given: Mapping[str, InputValue], numbering: Numbering, at_rest: FloatArray) -> None:
        if not isinstance(given, Mapping):
            raise MechanismError(f"inputs must be a dictionary by joint name such as {{'A': 0.1}}, not {given!r}")
        self.names = tuple(given)  # of the given inputs
        self.constant = at_rest.copy()  # all inputs (n_inputs,) as far as they are constant, else at rest
        self._first_motion = numbering.n_loads
        self._end_of_motions = numbering.n_loads + numbering.n_motion
        # of_time, of_state: those that are tables or functions of time, and of time and state
        self.of_time: list[InputFunction] = []
        self.of_state: list[InputFunction] = []
        for name, span in numbering.input_spans(given, "inputs").items():
            value, label = given[name], numbering.input_label(name, "load")
            command = name in numbering.commands
            if (table := _table(value, label)) is not None:
                self.of_time.append(self._of_table(table, span, label, command))
            elif callable(value):
                self._add_function(InputFunction(label, span, value, self._wanted(span, "", command), command))
            elif command:
                self.constant[span] = _constant_command(value, label)
            else:
                self.constant[span] = self._constant(value, span, label)

    def _add_function(self, one: InputFunction) -> None:
        arguments = required_arguments(one.function)
        if arguments == 2 and self._drives(one.span):
            raise MechanismError(
                f"inputs: the {one.label} is prescribed, so it is a function of time alone: give f(t); a load may "
                "depend on the state"
            )
        if arguments > 2:
            raise MechanismError(f"inputs: the {one.label} must be a function f(t) or f(t, state)")
        (self.of_state if arguments == 2 else self.of_time).append(one)

    def _of_table(self, table: Table, span: slice, label: str, command: bool) -> InputFunction:
        """Return a table as a function of time, checked as far as the run is not known."""
        size, drives = span.stop - span.start, self._drives(span)
        columns = 1 if table.values.ndim == 1 else table.values.shape[1]
        if columns != (wanted := 1 if drives else size):
            more = "; rate and acceleration follow from them" if drives else ""
            one = "one number" if wanted == 1 else f"{wanted} numbers"
            raise MechanismError(f"inputs: the table of the {label} must have {one} at each time, not {columns}{more}")
        if command and not np.isin(table.values, (0.0, 1.0)).all():
            raise MechanismError(f"inputs: the table of the {label} must have True or False at each time")
        if command and table.interpolation != "hold":
            table = Table(table.t, table.values, "hold", table.outside)
        function = table.motion if drives else table
        return InputFunction(label, span, function, self._wanted(span, "", command), command, table=table)

    def check_run(self, t_start: float, t_end: float) -> None:
        """Refuse tables that do not cover a run, and those of motions whose value or rate jumps in it."""
        for one in self.of_time:
            if one.table is None:
                continue
            try:
                one.table.check_run(t_start, t_end)
            except MechanismError as problem:
                raise MechanismError(f"inputs: the {one.label}: {problem}") from None
            if self._drives(one.span) and (at := one.table.rate_jump(t_start, t_end)) is not None:
                raise MechanismError(
                    f"inputs: the {one.label} or its rate jumps at t = {at:.9g} s, which takes an impact: give the "
                    'table interpolation="cubic" or "monotone", and rows for the whole run'
                )

    @property
    def driving(self) -> list[slice]:
        """Where the motions stand that are functions of time: value, rate and acceleration."""
        return [one.span for one in self.of_time if self._drives(one.span)]

    def at(self, t: float) -> FloatArray:
        """Return all inputs at a time (n_inputs,), those that depend on the state at rest."""
        inputs = self.constant.copy()
        self.put(t, inputs)
        return inputs

    def put(self, t: float, inputs: FloatArray) -> None:
        """Write those that are functions of time into all inputs (n_inputs,)."""
        for one in self.of_time:
            inputs[one.span] = one.numbers(one.function(t), t)

    def over(self, times: FloatArray) -> FloatArray:
        """Return the same at times that were simulated: (nt, n_inputs), or the same at all of them.

        They are not numbers where a function that remembers does not answer twice.
        """
        if not self.of_time:
            return self.constant
        return np.array([self._at_again(t) for t in times]).reshape(len(times), -1)

    def _at_again(self, t: float) -> FloatArray:
        try:
            return self.at(t)
        except Exception:
            return np.full(self.constant.size, np.nan)

    def _drives(self, span: slice) -> bool:
        return bool(self._first_motion <= span.start < self._end_of_motions)

    def _wanted(self, span: slice, adjective: str, command: bool = False) -> str:
        if command:
            return "True or False"
        size = span.stop - span.start
        numbers = f"a {adjective}number" if size == 1 else f"{size} {adjective}numbers"
        return f"{numbers} (value, rate, acceleration)" if self._drives(span) else numbers

    def _constant(self, value: Any, span: slice, label: str) -> FloatArray:
        """Return the numbers of an input that does not change; a motion is at rest then."""
        drives = self._drives(span)
        try:
            numbers = _numbers(value, slice(0, 1)) if drives else _numbers(value, span)
        except (TypeError, ValueError):
            numbers = np.array(np.nan)
        if isinstance(value, str) or not np.isfinite(numbers).all():
            wanted = "a finite number" if drives else self._wanted(span, "finite ")
            function = " that returns value, rate and acceleration" if drives else ""
            what = f"the {label} must be {wanted} or a function of time{function}"
            raise MechanismError(f"inputs: {what}, not {value!r}; a table is a pair (t, values)")
        return np.array([float(numbers), 0.0, 0.0]) if drives else numbers


def _table(value: Any, label: str) -> Table | None:
    try:
        return as_table(value)
    except MechanismError as problem:
        raise MechanismError(f"inputs: the {label}: {problem}") from None


def _numbers(value: Any, span: slice) -> FloatArray:
    """Return the numbers for the inputs of a span; TypeError or ValueError if the size is wrong."""
    size = span.stop - span.start
    if size == 1:
        return np.array(float(value))
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.shape != (size,):
        raise TypeError
    return array


def _constant_command(value: InputValue, label: str) -> float:
    try:
        return _switch(value)
    except TypeError:
        raise MechanismError(
            f"inputs: the {label} must be True or False, or a function of time that is, not {value!r}"
        ) from None


def _switch(value: object) -> float:
    """Return a command as a number; TypeError if it is neither true nor false."""
    if isinstance(value, bool | np.bool_ | int | float) and value in (False, True):
        return float(value)
    raise TypeError
