"""The C core seen from Python. This is the one module of the package that touches the FFI for the mechanics."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import isfinite
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork.core._core import ffi, lib
from linkwork.errors import AssemblyError, LinkworkError, MechanismError, SingularityError, SolverError

RANK_TOLERANCE: float = lib.LW_RANK_TOLERANCE  # of constraints: smaller pivots count as zero
ASSEMBLY_TOLERANCE: float = lib.ASSEMBLY_TOLERANCE  # m: gap of a closed loop
OUTSIDE_TOLERANCE: float = lib.OUTSIDE_TOLERANCE  # of a bound of a stop

AUTOMATIC_GAIN = -1.0  # the field correction_gain: the core takes its own

# Methods by name; those for multipliers by the reference point.
METHOD_CODES: dict[str, int] = {
    name: getattr(lib, f"LW_METHOD_{name.upper().replace(' ', '_')}")
    for name in ("auto", "rcr", "embedding", "multipliers", "multipliers centroid", "multipliers origin", "dca")
}
# Tables of the plan by name: kind and columns of each.
TABLES: dict[str, tuple[int, int]] = {
    name: (getattr(lib, f"LW_TABLE_{name.upper()}"), columns)
    for name, columns in {
        "link": 4,
        "joint": 4,
        "loop": 5,
        "cluster": 4,
        "segment": 3,
        "step": 3,
        "step_link": 1,
        "coupling": 2,
        "term": 2,
        "distance": 2,
        "removable": 2,
    }.items()
}

OffsetArray = NDArray[np.uint32]

_ERRORS: dict[int, type[LinkworkError]] = {
    lib.LW_ERROR_FORMAT: MechanismError,
    lib.LW_ERROR_PARAMETER: MechanismError,
    lib.LW_ERROR_VALUE: MechanismError,
    lib.LW_ERROR_USAGE: MechanismError,
    lib.LW_ERROR_ASSEMBLY: AssemblyError,
    lib.LW_ERROR_SINGULAR: SingularityError,
    lib.LW_ERROR_SOLVER: SolverError,
}


class Stage(IntEnum):
    """How far a block has been computed; each stage includes those before it."""

    NONE = lib.LW_STAGE_NONE
    CONSTANTS = lib.LW_STAGE_CONSTANTS
    ACCELERATIONS = lib.LW_STAGE_ACCELERATIONS
    DERIVATIVES = lib.LW_STAGE_DERIVATIVES
    OUTPUTS = lib.LW_STAGE_OUTPUTS


class Field(NamedTuple):
    """A field of a block: `rows` x `columns` numbers from offset `first`, readable from `stage` on."""

    first: int
    rows: int
    columns: int
    stage: Stage
    meaning: str
    tunable: bool
    internal: bool  # it has no variables

    @property
    def span(self) -> slice:
        """Its offsets."""
        return slice(self.first, self.first + self.rows * self.columns)


class NotHereError(SingularityError):
    """What a control law needs does not exist at a state that a solver tries; a shorter step may do."""


class Fields(Mapping[str, Field]):
    """The fields of the blocks of a model by name, each read when it is first asked for."""

    def __init__(self, model: Any) -> None:
        self._model = model  # of C
        self._found: dict[str, Field] = {}
        if not _KINDS:
            kinds = dict(_kinds_of(model))
            _STAGES.update({name: int(kind.stage) for name, kind in kinds.items()})
            _KINDS.update(kinds)  # last and at once: other threads may look

    def __getitem__(self, name: str) -> Field:
        field = self._found.get(name)
        return field if field is not None else self._read(name)

    def _read(self, name: str) -> Field:
        kind = _KINDS[name]
        f = ffi.new("lw_field *")
        lib.lw_model_field(self._model, kind.number, f)
        internal = f.access == lib.LW_INTERNAL
        found = Field(f.first, f.rows, f.columns, kind.stage, kind.meaning, bool(f.tunable), internal)
        self._found[name] = found
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_KINDS)

    def __len__(self) -> int:
        return len(_KINDS)


class _Kind(NamedTuple):
    """What fields of one name have in common in all models."""

    number: int
    stage: Stage
    meaning: str


_KINDS: dict[str, _Kind] = {}  # by name; from the first model, since C lists fields with one
_STAGES: dict[str, int] = {}


def _kinds_of(model: Any) -> Iterator[tuple[str, _Kind]]:
    f = ffi.new("lw_field *")
    for index in range(lib.lw_field_count()):
        lib.lw_model_field(model, index, f)
        yield text_at(f.name), _Kind(index, Stage(f.stage), text_at(f.meaning))


def raise_status(status: int, message: str) -> NoReturn:
    """Raise the error that a status of the core stands for."""
    raise error_of(status, message)


def error_of(status: int, message: str) -> LinkworkError | MemoryError:
    """Return the error that a status of the core stands for."""
    if status == lib.LW_ERROR_MEMORY:
        return MemoryError("the C core could not allocate memory")
    return _ERRORS[status](message)


@dataclass(frozen=True)
class Jump:
    """What an impulsive change leaves; speeds of all joints, impulses in N.s and N.m.s."""

    after: FloatArray  # (nu + nu_cut,)
    reaction: FloatArray  # (joints, 6) [torque; force] of a joint on its child, about the child's joint frame
    held: FloatArray  # (nu + nu_cut,) along speeds that are kept
    coupling: FloatArray  # (couplings,)
    lack: float  # the largest speed by which a target was missed


@dataclass(frozen=True)
class LoadEquations:
    """What loads of motors must satisfy in each row of a motion: matrix @ loads = load."""

    # matrix, load: (rows, dof, motors) and (rows, dof)
    matrix: FloatArray
    load: FloatArray
    speed: FloatArray  # of the motors, (rows, motors)
    # Displacement, m, speed, m/s, and acceleration, m/s2, by which the motion misses the constraints, (rows, 3).
    violation: FloatArray
    # length, force: of the actuators by their inputs, (rows, actuators)
    length: FloatArray
    force: FloatArray
    error: LinkworkError | None  # why the rows end before the motion does; None: they do not


class NativeModel:
    """A compiled model, const and shared by its blocks.

    Parameters
    ----------
    data
        The serialised model.
    like
        One that differs in the values of parameters alone, whose fields are the same.

    Raises
    ------
    MechanismError
        If the bytes are truncated, altered or of another version.
    """

    def __init__(self, data: bytes, like: NativeModel | None = None) -> None:
        handle = ffi.new("lw_model **")
        message = ffi.new("char[256]")
        status = lib.lw_model_load(data, len(data), handle, message, 256)
        if status:
            raise_status(status, text_at(message))
        self._take(handle[0], like)

    @classmethod
    def of(cls, handle: Any) -> NativeModel:
        """Return the model that the core has loaded; it is freed with this object."""
        found = cls.__new__(cls)
        found._take(handle, None)
        return found

    def _take(self, handle: Any, like: NativeModel | None) -> None:
        self.handle = ffi.gc(handle, lib.lw_model_free)
        self.sizes = lib.lw_model_sizes(self.handle)
        self.fields: Fields = Fields(self.handle) if like is None else like.fields
        self.constraint_rows = int(lib.lw_constraint_rows(self.handle))
        self.inputs = slice(self.fields["tau"].first, self.fields["impulse"].span.stop)  # contiguous
        self.discrete_state = slice(self.fields["joint_closed"].first, self.fields["acceleration"].first)

    def with_parameters(self, data: bytes, values: FloatArray) -> bytes:
        """Return the bytes of the model with other values of its parameter and start fields, all in their order."""
        changed = bytearray(data)
        given = np.ascontiguousarray(values, dtype=np.float64)
        status = lib.lw_model_put_parameters(self.handle, doubles(given), ffi.from_buffer(changed), len(changed))
        if status:
            raise_status(status, "the bytes are those of another model")
        return bytes(changed)

    def table(self, name: str, opened: Sequence[int] | None = None) -> NDArray[np.int32]:
        """Return a table of the plan, as "link" is LW_TABLE_LINK in linkwork.h.

        It is that of the variant in which of the joints that may open these are open; None: of the one at first.
        """
        kind, columns = TABLES[name]
        handle = self.handle if opened is None else lib.lw_model_variant(self.handle, list(opened), len(opened))
        if handle == ffi.NULL:
            raise MemoryError("the C core could not compile a topology variant")
        rows = np.empty((lib.lw_model_table(handle, kind, ffi.NULL), columns), dtype=np.int32)
        lib.lw_model_table(handle, kind, ffi.from_buffer("int32_t[]", rows))
        return rows

    def formula_quantities(self, force: str) -> NDArray[np.int32]:
        """Return where the numbers stand in a block that the formula of a force reads, in its order."""
        index = lib.lw_model_find(self.handle, lib.LW_KIND_FORCE, force.encode())
        found = np.empty(lib.lw_formula_quantities(self.handle, index, ffi.NULL), dtype=np.int32)
        lib.lw_formula_quantities(self.handle, index, ffi.from_buffer("int32_t[]", found))
        return found

    def cost(self, cluster: int, method: int) -> float:
        """Return the expected multiplications of a method for a cluster, -1 all; infinite: it cannot, or unknown."""
        return float(lib.lw_model_cost(self.handle, cluster, method))

    def refusal(self, cluster: int, method: int) -> str:
        """Return why a method cannot take a cluster, -1 the whole mechanism; empty: it can."""
        text = ffi.new("char[640]")
        lib.lw_model_refusal(self.handle, cluster, method, text, 640)
        return text_at(text)

    @property
    def levels(self) -> int:
        """Of subassemblies, by which divide and conquer joins its bodies."""
        return int(lib.lw_dca_levels(self.handle))

    def expected(self, cluster: int) -> tuple[int, int, int, int]:
        """Return columns and rows of a cluster, and the columns that its loops and all closures leave independent."""
        e = ffi.new("lw_cluster_info *")
        lib.lw_model_cluster(self.handle, cluster, e)
        return e.columns, e.rows, e.independents, e.dof


class _Views(dict[str, FloatArray]):
    """Views of a block's fields by name, each made when it is first asked for."""

    def __init__(self, reals: FloatArray, fields: Fields) -> None:
        self._reals = reals
        self._fields = fields

    def __missing__(self, name: str) -> FloatArray:
        view = self[name] = self._reals[self._fields[name].span]
        return view


class Block:
    """All numbers of one instance of a model: parameters, inputs, states and the values computed from them."""

    def __init__(self, model: NativeModel) -> None:
        self.model = model
        handle = ffi.new("lw_state **")
        status = lib.lw_state_create(model.handle, handle)
        if status:
            raise_status(status, "the state could not be created")
        self.handle = ffi.gc(handle[0], _free_after(model.handle, lib.lw_state_free))
        reals = ffi.gc(lib.lw_state_reals(self.handle), _free_after(self.handle))
        # The numbers, as an array that shares the block's memory. After writing states or inputs to it call `changed`.
        self.reals: FloatArray = np.frombuffer(ffi.buffer(reals, 8 * model.sizes.reals), dtype=np.float64)
        # The same memory, several times faster for single numbers: `cells[i]` reads and writes Python numbers.
        self.cells: Any = ffi.from_buffer("double[]", self.reals)
        self._views = _Views(self.reals, model.fields)
        self._inputs = self.reals[model.inputs]
        self._q, self._u = self._views["q"], self._views["u"]
        self._moving = self.reals[model.fields["u"].first : model.fields["element_state"].span.stop]
        self._turn = ffi.new("double[2]")
        self._rates: tuple[list[Any], object] = ([], None)

    def _check(self, status: int) -> None:
        if status:
            raise_status(status, text_at(lib.lw_state_message(self.handle)))

    def __getitem__(self, field: str) -> FloatArray:
        """The numbers of a field, flat, computed as far as needed; shares the block's memory."""
        self._check(lib.lw_evaluate(self.handle, _STAGES[field]))
        return self._views[field]

    def put(self, field: str, values: FloatArray | float, valid: Stage = Stage.CONSTANTS) -> None:
        """Write a field; `valid` is the highest stage that does not depend on it."""
        self._views[field][:] = values
        lib.lw_state_changed(self.handle, valid)

    def set(self, offsets: OffsetArray, values: FloatArray) -> None:
        """Set parameters, start values, inputs or states as an FMU does: all or none; MechanismError on a wrong one."""
        given = np.ascontiguousarray(values, dtype=np.float64)
        where = ffi.from_buffer("uint32_t[]", offsets)
        self._check(lib.lw_set_reals(self.handle, where, offsets.size, doubles(given)))

    def enter(self, q: FloatArray, u: FloatArray, inputs: FloatArray, time: float = 0.0) -> None:
        """Write coordinates and speeds of the tree joints, and all inputs (n_inputs,), which hold at the time given.

        States of elements stand behind the speeds; where these are given alone, they stay as they are.
        """
        views = self._views
        views["q"][:] = q
        self._moving[: u.size] = u
        self._inputs[:] = inputs
        views["time"][0] = views["motion_time"][0] = time
        lib.lw_state_changed(self.handle, _CONSTANTS)

    def changed(self) -> None:
        """Take note of states or inputs that were written into `reals`."""
        lib.lw_state_changed(self.handle, lib.LW_STAGE_CONSTANTS)

    def put_motion(self, time: float, motion: FloatArray) -> None:
        """Write the time and the inputs of motions (n_motion,) that hold then."""
        views = self._views
        views["time"][0] = views["motion_time"][0] = time
        views["motion_in"][:] = motion
        lib.lw_state_changed(self.handle, lib.LW_STAGE_CONSTANTS)

    def count_revolutions(self, reference: FloatArray | float) -> None:
        """Take the coordinates of the cut joints, known but for full revolutions, next to `reference` (nq_cut,)."""
        self._views["cut_reference"][:] = reference
        lib.lw_state_changed(self.handle, lib.LW_STAGE_CONSTANTS)

    def evaluate(self, stage: Stage) -> None:
        """Compute the block up to a stage."""
        if status := lib.lw_evaluate(self.handle, stage):
            self._check(status)

    def evaluated_at(self, q: FloatArray, u: FloatArray, stage: Stage) -> bool:
        """Write coordinates (nq,) and speeds (nu,) of the tree joints, and compute the block up to a stage.

        Time, inputs and states of elements stay as they are. False: the arrays are not such, of finite doubles, or
        the stage cannot be computed.
        """
        own_q, own_u = self._q, self._u
        if q.dtype is not _DOUBLE or u.dtype is not _DOUBLE or q.shape != own_q.shape or u.shape != own_u.shape:
            return False
        if not isfinite(sum(q.tolist(), sum(u.tolist()))):
            return False
        own_q[...] = q
        own_u[...] = u
        lib.lw_state_changed(self.handle, _CONSTANTS)
        return not lib.lw_evaluate(self.handle, stage)

    def use_rates(self, functions: list[Any], owner: object) -> None:
        """Ask functions of compiled tapes for the rates of states; `owner` keeps them alive."""
        if len(functions) == len(self._rates[0]):
            return
        listed = ffi.new("lw_compiled_rates *[]", functions)
        if lib.lw_use_rates(self.handle, listed, len(functions)):
            raise MemoryError("the C core could not allocate memory")
        self._rates = functions, owner

    @property
    def rates_by_kernels(self) -> int:
        """How often the kernels have given the rates of the states."""
        return int(lib.lw_rates_by_kernels(self.handle))

    def absolute_tolerances(self, duration: float, tolerance: float) -> FloatArray:
        """Return absolute tolerances of the states (n,) by the mechanism's sizes at the present state."""
        found = np.empty(self.model.sizes.states)
        lib.lw_absolute_tolerances(self.handle, duration, tolerance, doubles(found))
        return found

    def nominal_sizes(self, duration: float) -> tuple[float, float, float, float]:
        """Return the nominal sizes at the present state: m, m/s, rad/s, and of forces N."""
        sizes = lib.lw_nominal_sizes(self.handle, duration)
        return sizes.length, sizes.speed, sizes.rate, lib.lw_nominal_force(self.handle, sizes)

    def assemble(self, tolerance: float) -> None:
        """Find states that close the loops from the start guesses; residual accepted in m."""
        self._check(lib.lw_assemble(self.handle, tolerance))

    def changed_starts(self) -> list[tuple[int, float, float, bool]]:
        """Return the given start values that `assemble` did not keep: offset, value asked and kept, and if a guess."""
        capacity = 8  # as many as there are nearly always
        found = ffi.new("lw_changed_start[]", capacity)
        count = lib.lw_changed_starts(self.handle, found, capacity)
        if count > capacity:
            found = ffi.new("lw_changed_start[]", count)
            lib.lw_changed_starts(self.handle, found, count)
        return [(one.offset, one.asked, one.kept, bool(one.is_guess)) for one in found[0:count]]

    def step_accepted(self) -> FloatArray:
        """Count turns from the present coordinates of the cut joints; return these (nq_cut,)."""
        lib.lw_step_accepted(self.handle)
        return self._views["cut_reference"].copy()

    def independents(self, cluster: int) -> list[int]:
        """Return the speeds chosen as independent ones in a cluster at the present states, counted over all joints."""
        sizes = self.model.sizes
        speeds = ffi.new("int32_t[]", sizes.nu + sizes.nu_cut + 1)
        count = lib.lw_independent_speeds(self.handle, cluster, speeds)
        if count < 0:
            lib.lw_state_changed(self.handle, lib.LW_STAGE_CONSTANTS)
            self.evaluate(Stage.OUTPUTS)  # which fails in the same way
        return list(speeds[0:count])

    def inverse_dynamics(self, udot: FloatArray) -> FloatArray:
        """Return tree loads (nu,) for accelerations (nu,) at the present states."""
        tau = np.empty(self.model.sizes.nu)
        given = np.ascontiguousarray(udot, dtype=np.float64)
        self._check(lib.lw_inverse_dynamics(self.handle, doubles(given), doubles(tau)))
        return tau

    def load_columns(
        self,
        # q, u, udot, inputs: the motion: (rows, nq), (rows, nu), (rows, nu) and (rows, n_inputs)
        q: FloatArray,
        u: FloatArray,
        udot: FloatArray,
        inputs: FloatArray,
        bodies: Sequence[int],
    ) -> tuple[FloatArray, FloatArray]:
        """Return tree loads (rows, nu) along a motion, and by m, m c and I_O of bodies, (rows, nu, 10 bodies).

        Of closed chains the loads are those of least norm, and the latter those with the loops open.
        """
        rows, nu = len(q), self.model.sizes.nu
        load, column = np.empty((rows, nu)), np.empty((rows, nu, 10 * len(bodies)))
        given = {"q": q, "u": u, "udot": udot, "inputs": inputs}
        arrays = {name: np.ascontiguousarray(x, np.float64) for name, x in given.items()}
        arrays |= {"load": load} | ({"column": column} if bodies else {})
        numbers = np.array(bodies, dtype=np.int32)
        wanted = {"rows": rows, "bodies": len(bodies), "body": ffi.from_buffer("int32_t[]", numbers)}
        of = ffi.new("lw_load_columns *", wanted | {name: doubles(x) for name, x in arrays.items()})
        self._check(lib.lw_find_load_columns(self.handle, of))
        return load, column

    def formula_values(self, force: str, quantities: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the results of the formula of a force (rows, results) at rows of what it reads, at these parameters.

        Then, for each row, the first argument of each of its tables (rows, tables).
        """
        model = self.model.handle
        index = lib.lw_model_find(model, lib.LW_KIND_FORCE, force.encode())
        given = np.array(quantities, dtype=np.float64, order="C")
        values = np.empty((len(given), lib.lw_formula_results(model, index)))
        arguments = np.empty((len(given), lib.lw_formula_tables(model, index)))
        arrays = (doubles(one) for one in (given, values, arguments))
        self._check(lib.lw_formula_values(self.handle, index, len(given), *arrays))
        return values, arguments

    def load_equations(
        self,
        motor: FloatArray,  # speed of each motor by the speeds of all joints, (motors, nu + nu_cut)
        # t, q, u, udot: the motion: (rows,), (rows, nq), (rows, nu) and (rows, nu)
        t: FloatArray,
        q: FloatArray,
        u: FloatArray,
        udot: FloatArray,
        inputs: FloatArray,  # (rows, n_inputs)
        # Coordinates (rows, nq_cut) from which those of the cut joints are counted; None: each row continues the one
        # before.
        turns: FloatArray | None,
        capacity: int,  # degrees of freedom that there are at most
        # Loads (rows, motors) with which joints press, and the pressing forces of frictions (rows, frictions) so far,
        # which those of the loads replace; without loads they are those given, without both nothing presses.
        pressed: tuple[FloatArray | None, FloatArray | None] = (None, None),
    ) -> LoadEquations:
        """Return what loads of motors must satisfy along a motion, as far as such equations exist."""
        rows, motors, actuators = len(t), len(motor), self.model.fields["actuator_length"].rows
        matrix, load = np.empty((rows, capacity, motors)), np.empty((rows, capacity))
        speed, actuator = np.empty((rows, motors)), np.empty((rows, 2, actuators))
        violation = np.empty((rows, 3))
        given = {"motor": motor, "t": t, "q": q, "u": u, "udot": udot, "inputs": inputs, "turns": turns}
        arrays = {name: np.ascontiguousarray(x, np.float64) for name, x in given.items() if x is not None}
        arrays |= {"matrix": matrix, "load": load, "speed": speed, "actuator": actuator, "violation": violation}
        loads, pressing = pressed
        arrays |= {} if loads is None else {"loads": np.ascontiguousarray(loads)}
        arrays |= {} if pressing is None else {"pressing": pressing}
        wanted = {"rows": rows, "motors": motors, "capacity": capacity}
        of = ffi.new("lw_load_equations *", wanted | {name: doubles(x) for name, x in arrays.items()})
        error = None
        try:
            self._check(lib.lw_find_load_equations(self.handle, of))
        except LinkworkError as failed:
            error = failed
        n, dof = of.done, of.dof
        lengths, forces = actuator[:n, 0], actuator[:n, 1]
        return LoadEquations(matrix[:n, :dof], load[:n, :dof], speed[:n], violation[:n], lengths, forces, error)

    def body_motion(self, body: int, point: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return position (3,), rotation (3, 3) and twist (6,) of a point (3,) of a body, -1 the ground."""
        position, rotation, twist = np.empty(3), np.empty((3, 3)), np.empty(6)
        arrays = doubles(point), doubles(position), doubles(rotation), doubles(twist)
        self._check(lib.lw_body_motion(self.handle, body, *arrays))
        return position, rotation, twist

    def body_poses(self) -> tuple[FloatArray, FloatArray]:
        """Return positions (bodies, 3) and unit quaternions (bodies, 4) of all bodies, without accelerations."""
        self._check(lib.lw_body_motion(self.handle, -1, ffi.NULL, ffi.NULL, ffi.NULL, ffi.NULL))
        return self._views["body_position"].reshape(-1, 3).copy(), self._views["body_orientation"].reshape(-1, 4).copy()

    def body_jacobian(self, body: int, point: FloatArray) -> FloatArray:
        """Return the twist of a point of a body by the tree's speeds (6, nu)."""
        jacobian = np.empty((6, self.model.sizes.nu))
        self._check(lib.lw_body_jacobian(self.handle, body, doubles(point), doubles(jacobian)))
        return jacobian

    def joint_at_pose(
        self, joint: int, position: FloatArray, rotation: FloatArray, near: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the coordinates (nq,) of a joint, next to some, and its columns (nu, 6) [angular; linear].

        Of the pose next to that of its child's frame in its parent's, both canonical; columns in axes of the parent's.
        """
        q, columns = near.copy(), np.zeros((6, 6))
        given = np.ascontiguousarray(rotation), np.ascontiguousarray(position)
        self._check(lib.lw_joint_at_pose(self.handle, joint, *map(doubles, given), doubles(q), doubles(columns)))
        return q, columns

    def body_acceleration(self, body: int, point: FloatArray) -> FloatArray:
        """Return angular acceleration and acceleration (6,) of a point of a body."""
        acceleration = np.empty(6)
        self._check(lib.lw_body_acceleration(self.handle, body, doubles(point), doubles(acceleration)))
        return acceleration

    def mass_matrix(self) -> FloatArray:
        """Return the mass matrix (nu, nu) of the tree at the present states."""
        matrix = np.empty((self.model.sizes.nu, self.model.sizes.nu))
        self._check(lib.lw_mass_matrix(self.handle, doubles(matrix)))
        return matrix

    def jump(
        self, changes: Mapping[int, float], push: FloatArray | None = None, before: FloatArray | None = None
    ) -> Jump:
        """Return what an impulsive change at the present states leaves, which stay as they are.

        Parameters
        ----------
        changes
            By how much speeds change that are held, counted over all joints.
        push
            Impulse on each body (bodies, 6), [angular about its com; linear], world axes.
        before
            Velocity of each body (bodies, 6), [angular; of its frame's origin], instead of that given by the speeds.
        """
        sizes = self.model.sizes
        n = sizes.nu + sizes.nu_cut
        held, wanted = np.zeros(n, np.uint8), np.zeros(n)
        for speed, change in changes.items():
            held[speed], wanted[speed] = 1, change
        after, along, coupling = np.empty(n), np.empty(n), np.empty(sizes.couplings)
        force, torque = np.empty((2, sizes.joints, 3))
        given = {"applied_impulse": push, "before": before}
        arrays = {name: np.ascontiguousarray(x, np.float64) for name, x in given.items() if x is not None}
        arrays |= {"target": wanted, "after": after, "force": force, "torque": torque}
        arrays |= {"constraint_impulse": along, "coupling_impulse": coupling}
        jump = ffi.new("lw_velocity_jump *", {name: doubles(x) for name, x in arrays.items()})
        jump.constrained = ffi.from_buffer("unsigned char[]", held)
        self._check(lib.lw_solve_velocity_jump(self.handle, jump))
        return Jump(after, np.hstack([torque, force]), along, coupling, jump.residual)

    def directional_derivative(self, unknowns: OffsetArray, knowns: OffsetArray, seed: FloatArray) -> FloatArray:
        """Return the change of `unknowns` along `seed` in `knowns`, both by offset; event indicators lie behind all."""
        return self._derivative(lib.lw_directional_derivative, self.handle, unknowns, knowns, seed)

    def jacobian(self, unknowns: OffsetArray, knowns: OffsetArray) -> FloatArray:
        """Return the matrix of derivatives of `unknowns` by `knowns`, both by offset."""
        return self._jacobian(lib.lw_jacobian, self.handle, unknowns, knowns)

    def assembled_derivative(self, unknowns: OffsetArray, knowns: OffsetArray, seed: FloatArray) -> FloatArray:
        """Return the same just after `assemble`, the states following from parameters, start values and inputs."""
        return self._derivative(lib.lw_assembly_sensitivity, self.handle, unknowns, knowns, seed)

    def _derivative(
        self, function: Callable[..., int], handle: Any, unknowns: OffsetArray, knowns: OffsetArray, seed: FloatArray
    ) -> FloatArray:
        result = np.empty(unknowns.size)
        status = function(
            handle,
            ffi.from_buffer("uint32_t[]", unknowns),
            unknowns.size,
            ffi.from_buffer("uint32_t[]", knowns),
            knowns.size,
            doubles(seed),
            doubles(result),
        )
        self._check(status)
        return result

    def _jacobian(
        self, function: Callable[..., int], handle: Any, unknowns: OffsetArray, knowns: OffsetArray
    ) -> FloatArray:
        matrix = np.empty((unknowns.size, knowns.size))
        rows, columns = (ffi.from_buffer("uint32_t[]", offsets) for offsets in (unknowns, knowns))
        self._check(function(handle, rows, unknowns.size, columns, knowns.size, doubles(matrix)))
        return matrix

    def watch_constraints(self, rtol: float, atol: float) -> None:
        """Let `check_constraints` compare residuals from here on with errors of these tolerances; 0: no more."""
        lib.lw_watch_constraints(self.handle, rtol, atol)

    def check_constraints(self) -> None:
        """Raise `SolverError` if a constraint is violated at the present states, an accepted step."""
        self._check(lib.lw_check_constraints(self.handle))

    def angular_speed(self, t: float, y: FloatArray, enough: float) -> tuple[float, float]:
        """Return the largest angular speed of bodies and joints at states y = [q; u], rad/s, and a bound of it.

        Where the bound is at most `enough`, it stands for both.
        """
        speeds, given = np.array([enough, 0.0]), np.ascontiguousarray(y, dtype=np.float64)
        lib.lw_ode_mechanism_angular_speed(self.handle, t, doubles(given), doubles(speeds))
        return float(speeds[0]), float(speeds[1])

    def turn_of_step(self, step: float, y_from: FloatArray, y_to: FloatArray) -> tuple[float, float]:
        """Return bounds of the angles, rad, of a step from its ends alone: at the speeds there, and in the middle."""
        lib.lw_turn_of_step(self.model.handle, step, doubles(y_from), doubles(y_to), self._turn)
        return self._turn[0], self._turn[1]

    # ---- with multipliers ----

    def enter_inputs(self, inputs: FloatArray, time: float) -> None:
        """Write all inputs (n_inputs,), which hold at the time given."""
        self._inputs[:] = inputs
        self._views["time"][0] = self._views["motion_time"][0] = time
        lib.lw_state_changed(self.handle, lib.LW_STAGE_CONSTANTS)

    def constraints(self) -> tuple[FloatArray, FloatArray]:
        """Return the constraint violation (rows,), m, and its rate (rows,), m/s, at the present states."""
        phi, rate = np.empty((2, self.model.constraint_rows))
        self._check(lib.lw_constraints(self.handle, doubles(phi), doubles(rate)))
        return phi, rate

    def constraint_jacobian(self) -> FloatArray:
        """Return the derivative of the constraints by the tree's speeds (rows, nu) at the present states."""
        matrix = np.empty((self.model.constraint_rows, self.model.sizes.nu))
        self._check(lib.lw_constraint_jacobian(self.handle, doubles(matrix)))
        return matrix

    def dae_rows(self) -> FloatArray:
        """Return the relaxation of rows (2 rows,): 0 for rows that are independent at the present states."""
        rows = self.model.constraint_rows
        work, relaxation = np.empty(rows * self.model.sizes.nu), np.empty(2 * rows)
        self._check(lib.lw_dae_select_rows(self.handle, doubles(work), doubles(relaxation)))
        return relaxation

    def dae_residual(self, t: float, y: FloatArray, ydot: FloatArray, relaxation: FloatArray) -> FloatArray:
        """Return the residual (n,) of the equations with multipliers; contiguous arrays (n,), (n,), (2 rows,)."""
        residual = np.empty(y.size)
        arrays = doubles(y), doubles(ydot), doubles(relaxation)
        self._check(lib.lw_dae_residual(self.handle, t, *arrays, doubles(residual)))
        return residual

    def dae_jacobian(self, t: float, y: FloatArray, ydot: FloatArray, relaxation: FloatArray, cj: float) -> FloatArray:
        """Return its derivative (n, n) by y, plus `cj` times that by y'."""
        matrix = np.empty((y.size, y.size))
        arrays = doubles(y), doubles(ydot), doubles(relaxation)
        self._check(lib.lw_dae_jacobian(self.handle, t, *arrays, cj, doubles(matrix)))
        return matrix

    def dae_derivative(
        self,
        t: float,
        y: FloatArray,
        ydot: FloatArray,
        relaxation: FloatArray,
        seeds: tuple[FloatArray, FloatArray],
        known: int | None = None,
    ) -> FloatArray:
        """Return its derivative (n,) along seeds of y and y', or by one parameter, input or the time."""
        found, count = np.empty(y.size), int(known is not None)
        arrays = doubles(y), doubles(ydot), doubles(relaxation), doubles(seeds[0]), doubles(seeds[1])
        knowns, one = ffi.new("uint32_t[]", [known or 0]), ffi.new("double[]", [1.0])
        self._check(lib.lw_dae_directional_derivative(self.handle, t, *arrays, knowns, count, one, doubles(found)))
        return found

    # ---- transitions ----

    @property
    def discrete_state(self) -> FloatArray:
        """The discrete state, changed by transitions, (n_discrete,): to be read, and given to `put_discrete_state`."""
        return self.reals[self.model.discrete_state].copy()

    def keep_frictions(self) -> None:
        """Let frictions stick or slide from now on as they do at the present state and inputs."""
        self.evaluate(Stage.ACCELERATIONS)
        self._views["event_memory"][_FRICTIONS_DECIDED] = 1.0

    def forget_frictions(self) -> None:
        """Let each evaluation decide from now on which frictions stick, at its own state and inputs."""
        self._views["event_memory"][_FRICTIONS_DECIDED] = 0.0
        lib.lw_state_changed(self.handle, lib.LW_STAGE_CONSTANTS)

    def put_discrete_state(self, values: FloatArray) -> None:
        """Restore a discrete state."""
        self.reals[self.model.discrete_state] = values
        self._check(lib.lw_discrete_state_changed(self.handle))

    def start_events(self) -> bool:
        """Initialise the signs of the event indicators; apply transitions that are due; return whether u jumped."""
        changed = ffi.new("int32_t *")
        self._check(lib.lw_start_events(self.handle, changed))
        return bool(changed[0])

    def make_transitions(self, which: list[int]) -> None:
        """Carry out transitions by number, whatever they wait for."""
        self._check(lib.lw_apply_transitions(self.handle, ffi.new("int32_t[]", which), len(which)))

    def event_indicators(self) -> FloatArray:
        """Return numbers of which one falls below zero where something is due."""
        z = np.empty(self.model.sizes.event_indicators)
        self._check(lib.lw_event_indicators(self.handle, doubles(z)))
        return z


class Minimal:
    """Independent coordinates and speeds of a block, which determine all others, x = [q_i; u_i; states of elements].

    Parameters
    ----------
    block
        Whose states they are.
    q, u
        Their positions in the fields q and u, ascending: coordinates, and their rates.

    Raises
    ------
    MechanismError
        If a quaternion, or a coordinate and its rate, are separated.
    """

    def __init__(self, block: Block, q: Sequence[int], u: Sequence[int]) -> None:
        self.block = block
        self.size = len(q) + len(u) + block.model.sizes.formula_states
        handle = ffi.new("lw_minimal **")
        chosen = (ffi.new("uint32_t[]", list(q)), len(q), ffi.new("uint32_t[]", list(u)), len(u))
        block._check(lib.lw_minimal_create(block.handle, *chosen, handle))
        self.handle = ffi.gc(handle[0], _free_after(block.handle, lib.lw_minimal_free))

    def get(self) -> FloatArray:
        """Return x as it is in the block."""
        x = np.empty(self.size)
        lib.lw_minimal_get(self.handle, doubles(x))
        return x

    def put(self, x: FloatArray) -> None:
        """Bring the block to x and to all that follows; SingularityError where nothing does, and all is as before."""
        self.block._check(lib.lw_minimal_set(self.handle, self._of_size(x)))

    def derivatives(self) -> FloatArray:
        """Return the derivative of x at the block's states."""
        xdot = np.empty(self.size)
        self.block._check(lib.lw_minimal_derivatives(self.handle, doubles(xdot)))
        return xdot

    def directional_derivative(self, unknowns: OffsetArray, knowns: OffsetArray, seed: FloatArray) -> FloatArray:
        """Return the change of `unknowns` along `seed` in `knowns`, of the states only x, while the others follow."""
        return self.block._derivative(lib.lw_minimal_directional_derivative, self.handle, unknowns, knowns, seed)

    def jacobian(self, unknowns: OffsetArray, knowns: OffsetArray) -> FloatArray:
        """Return the matrix of these derivatives, by each of the knowns alone."""
        return self.block._jacobian(lib.lw_minimal_jacobian, self.handle, unknowns, knowns)

    def ode(self, t: float, x: FloatArray) -> FloatArray | None:
        """Return the derivative of x at a time, to which the block is brought; None where there is none."""
        xdot = np.empty(self.size)
        return None if lib.lw_ode_minimal(self.handle, t, self._of_size(x), doubles(xdot)) else xdot

    def _of_size(self, x: FloatArray) -> Any:
        given = np.ascontiguousarray(x, dtype=np.float64)
        if given.shape != (self.size,):
            numbers = f"{self.size} numbers, [q_i; u_i; states of elements]"
            raise MechanismError(f"x has shape {given.shape}; it must be {numbers}")
        return doubles(given)


def threads(count: int) -> int:
    """Let so many threads work on one jump from now on, 0: one a processor; return how many that is."""
    return int(lib.lw_set_threads(count))


def _threads_by_environment() -> None:
    asked = os.environ.get("LINKWORK_THREADS", "")
    if asked.isdigit():
        threads(int(asked))


_threads_by_environment()


def _free_after(owner: Any, free: Callable[[Any], None] | None = None) -> Callable[[Any], None]:
    """Return a destructor that keeps `owner` alive until it has run: what shares memory outlives nothing it needs."""

    def destroy(pointer: Any, _owner: Any = owner) -> None:
        if free is not None:
            free(pointer)

    return destroy


def offsets_of(span: slice) -> OffsetArray:
    """Return the offsets of a part of a block."""
    return np.arange(span.start or 0, span.stop, dtype=np.uint32)


_CONSTANTS: int = lib.LW_STAGE_CONSTANTS
_FRICTIONS_DECIDED = 7  # of the field event_memory
_DOUBLE = np.dtype(np.float64)
_DOUBLES = ffi.typeof("double[]")


def doubles(array: FloatArray) -> Any:
    """Return the address of an array's numbers."""
    return ffi.from_buffer(_DOUBLES, array)


def text_at(chars: Any) -> str:
    """Return the text of C at an address."""
    return str(ffi.string(chars).decode(errors="replace"))
