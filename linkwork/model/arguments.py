"""What users pass to the functions of a system, checked and as arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.named import read_only
from linkwork._util.names import suggest
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism import Impulse, Mechanism
from linkwork.mechanism.friction import sticking
from linkwork.model.state_values import JointArray, StateValues
from linkwork.variables.numbering import Numbering

Loads = ArrayLike | Mapping[str, ArrayLike] | None

_FEW = 64  # numbers, which Python adds sooner
_AT_ZERO = read_only(np.zeros(1))


class Arguments:
    """Reads states and loads for one system, known by its serialised model; `name` is that of its mechanism."""

    def __init__(
        self, name: str, model_bytes: bytes, numbering: Numbering, changes: FloatArray, elements: FloatArray
    ) -> None:
        self._name = name
        self._model_bytes = model_bytes
        self._numbering = numbering
        self._changes = changes  # inputs of transitions by default
        self._elements = elements  # start values of states of elements
        # Made once, since each call asks for them; read-only.
        self._inputs_at_rest = read_only(self.no_inputs)
        self._no_loads = self._inputs_at_rest[: numbering.n_loads]
        self._no_turns = read_only(np.zeros(numbering.nq_cut))
        self._quaternions = {joint: at for joint, at in numbering.quaternions.items() if at.stop <= numbering.nq}

    @property
    def changes(self) -> FloatArray:
        """The inputs of transitions (n_changes,) as the description has them."""
        return self._changes

    def states(self, state: StateValues | ArrayLike, u: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
        """Return coordinates (..., nq), and speeds (..., nu) of the tree joints with states of elements behind them.

        Leading dimensions are the same. Where arrays are given, elements are at their start values.
        """
        given = _state_or_none(state)
        if given is not None:
            if given.model.model_bytes is not self._model_bytes and given.model.model_bytes != self._model_bytes:
                raise MechanismError(_foreign(given.model.mechanism.name, self._name))
            if u is not None:
                raise MechanismError("give a State alone, or arrays q and u; loads are given by name: tau=...")
            return given.q, self._with_elements(given.u, given.elements)
        if u is None:
            raise MechanismError("give a State, or both arrays q and u of the tree joints")
        n = self._numbering
        q, speeds = sized(state, n.nq, "q", n.q), sized(u, n.nu, "u", n.u)
        if q.ndim > 1 or speeds.ndim > 1:
            q, speeds = together({"q": q, "u": speeds})
        for joint, place in self._quaternions.items():
            if not q[..., place].any(axis=-1).all():
                raise MechanismError(f"q of joint {joint!r} has a quaternion of length zero; give [w, x, y, z]")
        return q, self._with_elements(speeds, self._elements)

    @staticmethod
    def _with_elements(speeds: FloatArray, elements: FloatArray) -> FloatArray:
        if not elements.size:
            return speeds
        return np.concatenate([speeds, np.broadcast_to(elements, (*speeds.shape[:-1], elements.size))], axis=-1)

    def elements(self, given: Mapping[str, ArrayLike] | None) -> FloatArray:
        """Return states of elements (n,) by name; the others are at their start values."""
        names, found = self._numbering.elements, self._elements.copy()
        if not isinstance(given, Mapping | None):
            raise MechanismError(f"elements must be a dictionary by name such as {{'i': 0.5}}, not {given!r}")
        for name, value in (given or {}).items():
            if name not in names:
                raise MechanismNameError(f"elements: there is no state {name!r}: {suggest(name, names)}")
            found[names.index(name)] = one(vector(value, slice(0, 1), f"state {name!r}"), f"state {name!r}")[0]
        return found

    def turns(self, state: StateValues | ArrayLike) -> FloatArray:
        """Return coordinates (nq_cut,) of the cut joints from which their turns are counted: the state's, or zero."""
        given = _state_or_none(state)
        cut = given.q.cut if given is not None and isinstance(given.q, JointArray) else None
        return self._no_turns if cut is None else cut

    @property
    def no_loads(self) -> FloatArray:
        """All loads at zero, (n_loads,)."""
        return np.zeros(self._numbering.n_loads)

    @property
    def no_inputs(self) -> FloatArray:
        """All inputs at rest, (n_inputs,)."""
        return np.concatenate([np.zeros(self._numbering.n_loads + self._numbering.n_motion), self._changes])

    def times(self, state: StateValues | ArrayLike, time: ArrayLike | None) -> FloatArray:
        """Return instants (..., 1): as given, or else the state's own, or 0."""
        if time is None:
            own = _state_or_none(state)
            return _AT_ZERO if own is None else np.array([own.time])
        given = _numbers(time, 1, "time")
        if not _is_finite(given):
            raise MechanismError("time is not finite; give finite numbers, s")
        return given[..., None]

    def with_motions(self, state: StateValues | ArrayLike, loads: FloatArray) -> FloatArray:
        """Return all inputs (..., n_inputs): loads (..., n_loads), and those of the motions as the state has them."""
        n = self._numbering
        if not n.n_motion + n.n_changes:
            return loads
        given = _state_or_none(state)
        if given is None and loads is self._no_loads:
            return self._inputs_at_rest
        motion = np.zeros(n.n_motion) if given is None else given.motion
        return np.concatenate(together({"tau": loads, "motion": motion, "changes": self._changes}), axis=-1)

    def motions(self, given: Mapping[str, ArrayLike] | None) -> FloatArray:
        """Return the inputs of all motions (n_motion,) from a value, or value, rate and acceleration, by drive."""
        slices = self._numbering.motions
        inputs = np.zeros(self._numbering.n_motion)
        if not isinstance(given, Mapping | None):
            raise MechanismError(f"motion must be a dictionary by drive such as {{'A_drive': 0.1}}, not {given!r}")
        for name, value in (given or {}).items():
            if name not in slices:
                raise MechanismNameError(f"motion: nothing prescribes a motion as {name!r}: {suggest(name, slices)}")
            what = f"motion of {name!r}"
            numbers = np.atleast_1d(_numbers(value, 3, what))
            if numbers.shape not in ((1,), (3,)) or not _is_finite(numbers):
                raise MechanismError(f"{what} must be a finite value, or value, rate and acceleration, not {value!r}")
            inputs[slices[name].start : slices[name].start + numbers.size] = numbers
        return inputs

    def loads(self, tau: Loads) -> FloatArray:
        """Return loads of all joints, applied wrenches and inputs of actuators (..., n_loads); zero by default.

        Not to be changed.
        """
        n = self._numbering
        if tau is None:
            return self._no_loads
        if isinstance(tau, Mapping):
            for name in n.u.keys() & tau.keys():
                self.span(n.u, name, "tau")
            return self._named_loads(tau, n.load_spans(tau, "tau"))
        array = np.asarray(tau)
        size = n.nu_all if array.ndim and array.shape[-1] == n.nu_all else n.nu
        given = sized(tau, size, "tau", n.u)
        loads = np.zeros((*given.shape[:-1], n.n_loads))
        loads[..., :size] = given
        return loads

    def wrenches(self, applied: Loads) -> FloatArray:
        """Return applied wrenches and inputs of actuators alone, loads of the joints zero (..., n_loads)."""
        if applied is None:
            return self.no_loads
        if not isinstance(applied, Mapping):
            example = "{'push.F': (0, 0, 1)}"
            raise MechanismError(f"applied must be a dictionary by name such as {example}, not {applied!r}")
        spans = self._numbering.load_spans(applied, "applied")
        for name, span in spans.items():
            if span.start < self._numbering.nu_all:
                raise MechanismError(f"applied: {name!r} is a load in a joint, and joint loads are the unknowns here")
        return self._named_loads(applied, spans)

    def _named_loads(self, given: Mapping[str, ArrayLike], spans: Mapping[str, slice]) -> FloatArray:
        n = self._numbering
        arrays = {name: vector(value, spans[name], n.input_label(name, "tau")) for name, value in given.items()}
        loads = np.zeros((*batch(arrays), n.n_loads))
        for name, value in arrays.items():
            loads[..., spans[name]] = value
        return loads

    @staticmethod
    def span(slices: Mapping[str, slice], joint: str, what: str) -> slice:
        """Return where a joint's numbers stand; an unknown or a fixed joint is an error."""
        if joint not in slices:
            raise MechanismNameError(f"{what}: there is no joint {joint!r}: {suggest(joint, slices)}")
        span = slices[joint]
        if span.stop == span.start:
            raise MechanismError(f"{what}: joint {joint!r} has no coordinates: leave it out")
        return span


def _foreign(name: str, own: str) -> str:
    """Return the message about a state of a model of mechanism `name` that is given to one of `own`."""
    if name != own:
        return f"this state belongs to mechanism {name!r}, not to {own!r}: take one from this model, as assemble() does"
    return (
        f"this state belongs to another model of {name!r}, of other parameters or another method: "
        "take one from this model, as assemble() does"
    )


def batch(arrays: Mapping[str, FloatArray]) -> tuple[int, ...]:
    """Return the leading dimensions that all arrays share; those that differ are an error, which names them."""
    try:
        return np.broadcast_shapes(*(array.shape[:-1] for array in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
        raise MechanismError(f"the leading dimensions of {shapes} do not agree; give all the same batch") from None


def together(arrays: Mapping[str, FloatArray]) -> tuple[FloatArray, ...]:
    """Return the arrays with the same leading dimensions."""
    given = tuple(arrays.values())
    if all(array.shape[:-1] == given[0].shape[:-1] for array in given):  # a tenth of the time of broadcasting
        return given
    shape = batch(arrays)
    return tuple(np.broadcast_to(array, (*shape, array.shape[-1])) for array in arrays.values())


def one(array: FloatArray, what: str) -> FloatArray:
    """Return an array without leading dimensions."""
    if array.ndim != 1:
        raise MechanismError(f"{what} has shape {array.shape}; here only one state at a time can be given")
    return array


def sized(values: ArrayLike, size: int, what: str, slices: Mapping[str, slice]) -> FloatArray:
    """Return finite numbers (..., size); `slices` locates the numbers of each joint."""
    array = _numbers(values, size, what)
    if array.shape[-1:] != (size,):
        of = "coordinates" if what == "q" else "speeds"
        raise MechanismError(
            f"{what} has shape {array.shape}; its last dimension must be {size}, the number of {of} of the tree joints"
        )
    if not _is_finite(array):
        index = np.argwhere(~np.isfinite(array))[0].tolist()
        joint = next(name for name, span in slices.items() if span.start <= index[-1] < span.stop)
        raise MechanismError(f"{what} of joint {joint!r} is not finite, at index {index}; give finite numbers")
    return array


def vector(value: ArrayLike, span: slice, what: str, *, infinite: bool = False) -> FloatArray:
    """Return finite numbers (..., size of the span); for a joint of one coordinate plain numbers do.

    With `infinite`, infinity is a number, too.
    """
    size = span.stop - span.start
    array = _numbers(value, size, what)
    if size == 1 and (array.ndim == 0 or array.shape[-1] != 1):
        array = array[..., None]
    if array.shape[-1:] != (size,):
        raise MechanismError(f"{what} has shape {array.shape}; give {size} numbers{' as an array' * (size > 1)}")
    if not (_is_finite(array) or (infinite and not np.isnan(array).any())):
        raise MechanismError(f"{what} is not finite; give finite numbers")
    return array


def _numbers(values: ArrayLike, size: int, what: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        count = "a number" if size == 1 else f"an array of {size} numbers"
        raise MechanismError(f"{what} must be {count}, not {values!r}") from None


def _is_finite(array: FloatArray) -> bool:
    quick = sum(array.tolist()) if array.ndim == 1 and array.size < _FEW else array.sum()  # which may overflow
    return math.isfinite(quick) or bool(np.isfinite(array).all())


def _state_or_none(given: object) -> StateValues | None:
    """Return a state; None for anything else. Arrays, of which most are given, are soon found to be none."""
    return given if not isinstance(given, np.ndarray) and isinstance(given, StateValues) else None


def changes_at_rest(mech: Mechanism) -> FloatArray:
    """Return the inputs of transitions as the description has them: no commands, impulses as they are given."""
    actions = [one.action for one in mech.transitions.values()] + [None] * len(sticking(mech))
    numbers = [0.0] * len(actions)
    for action in actions:
        numbers += [*action.force, *action.torque] if isinstance(action, Impulse) else [0.0] * 6
    return np.array(numbers)
