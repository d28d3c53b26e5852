"""The state of a run at one instant, as loads, controllers and event functions see it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.keywords import checks_keywords
from linkwork._util.named import NamedValues
from linkwork.core.native import Block, NotHereError, Stage
from linkwork.errors import LinkworkError, MechanismError
from linkwork.mechanism.forces import FORCES
from linkwork.model.model import Model
from linkwork.model.state import State

# What a state knows before its loads are known. Of other quantities none can be asked for here.
KINEMATIC = (
    *("time", "q", "u", "element_state", "q_cut", "u_cut", "loop_residual", "loop_conditioning", "coupling_residual"),
    *(one.field for kind in FORCES.values() for one in kind.fields_of("output") if one.dependency in (0, 1)),
    *("transition_active", "event_count", "energy_lost"),
    *("body_position", "body_orientation", "body_velocity", "body_angular_velocity"),
    *("point_position", "point_velocity", "point_axis", "measure_value", "measure_rate"),
    *("energy_kinetic", "energy_potential"),
)


class _Place(NamedTuple):
    """Where a quantity stands in the block, and whether it must be computed first."""

    first: int
    size: int
    vector: bool
    computed: bool


def _field_of(model: Model, place: int) -> str:
    """Return the name of the field of a place in the block."""
    return next(one for one, field in model.fields.items() if field.span.start <= place < field.span.stop)


@checks_keywords
class RunningState(NamedValues[str]):
    """The state of a run at one instant, during a call of a function that was given to `simulate`.

    Every variable that does not follow from loads is found by name: ``state["A.q"]``, ``state["coupler.r"]``,
    ``state["energy.kinetic"]``. Coordinates and speeds of tree joints are read as they are; all else is computed when
    it is first asked for. The object serves one call: keep `copy`.

    Attributes
    ----------
    model
        The simulated mechanism.
    x
        Continuous states of the controller, (n,); empty if it has none.
    """

    __slots__ = ("_block", "_cells", "_evaluated", "_places", "_plain", "model", "x")

    def __init__(self, model: Model, block: Block) -> None:
        self.model = model
        self.x: FloatArray = np.empty(0)
        self._block = block
        self._cells = block.cells
        self._evaluated = False
        self._plain: dict[str, int] | None = None
        self._places: dict[str, _Place] = {}

    def begin(self, x: FloatArray) -> RunningState:
        """Serve another call: the block has been brought to another time and state."""
        self._evaluated = False
        self.x = x
        return self

    @property
    def _scalars(self) -> dict[str, int]:
        """Where coordinates, speeds and the time stand, which are read as they are: found when first asked for."""
        if self._plain is None:
            names = dict.fromkeys(("time", *self.model.q_names, *self.model.u_names, *self.model.element_names))
            self._plain = {name: self.model.columns[name].first for name in names}
        return self._plain

    @property
    def t(self) -> float:
        """Time, s."""
        return float(self._block.reals[self.model.fields["time"].first])

    @property
    def q(self) -> FloatArray:
        """Coordinates of the tree joints, (nq,), in the order of `Model.q_names`."""
        return self._block.reals[self.model.fields["q"].span].copy()

    @property
    def u(self) -> FloatArray:
        """Speeds of the tree joints, (nu,), in the order of `Model.u_names`."""
        return self._block.reals[self.model.fields["u"].span].copy()

    @property
    def names(self) -> list[str]:
        """Names of the time, the coordinates, the speeds and the quantities that these determine."""
        return [name for name in self.model.listed_names if self._is_known(name)]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self.model.columns and self._is_known(name)

    def _is_known(self, name: str) -> bool:
        """Return whether a variable is no consequence of loads; an output by a formula is none of what it reads."""
        output = self.model.mechanism.outputs.get(name)
        if output is not None:
            return all(self._is_known(read) for read in output.read(self.model.mechanism))
        first, fields = self.model.columns[name].first, self.model.fields
        return first < fields["time"].first or _field_of(self.model, first) in KINEMATIC

    def __getitem__(self, name: str) -> Any:  # a number or an array (n,), by the name
        plain = self._plain if self._plain is not None else self._scalars
        if name in plain:
            return self._cells[plain[name]]
        place = self._places.get(name) or self._find(name)
        if place.computed and not self._evaluated:
            self._evaluate()
        if place.vector:
            return self._block.reals[place.first : place.first + place.size].copy()
        return float(self._cells[place.first])

    def copy(self) -> State:
        """Return the state as a `State`, which may be kept and given to the functions of `Model`."""
        self._evaluate()
        return self.model.state_of(self._block)

    def _find(self, name: str) -> _Place:
        column = self.model.column(name)
        fields = self.model.fields
        field, is_parameter = _field_of(self.model, column.first), column.first < fields["time"].first
        if not self._is_known(name):
            raise MechanismError(
                f"{name!r} follows from the loads, so that these cannot depend on it: a state at which loads are asked "
                "for has coordinates, speeds, poses, velocities, distances, energies and formulas of these"
            )
        computed = not is_parameter and fields[field].stage > Stage.NONE
        self._places[name] = _Place(column.first, column.count, column.vector, computed)
        return self._places[name]

    def _evaluate(self) -> None:
        try:
            self._block.evaluate(Stage.OUTPUTS)
        except LinkworkError as error:
            raise NotHereError(str(error)) from error
        self._evaluated = True

    def __repr__(self) -> str:
        names = [name for name in self._scalars if name != "time"]
        shown = ", ".join(f"{name}={self._cells[self._scalars[name]]:.6g}" for name in names[:8])
        return f"RunningState(t={self.t:.6g}, {shown}{', ...' if len(names) > 8 else ''})"
