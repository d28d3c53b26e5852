"""The builder in C: from a description, part by part, to a compiled model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core._core import ffi, lib
from linkwork.core.native import NativeModel, raise_status

INTERPOLATIONS = {"linear": lib.LW_LOOKUP_LINEAR, "monotone": lib.LW_LOOKUP_MONOTONE}
OUTSIDES = {"hold": lib.LW_LOOKUP_HOLD, "extend": lib.LW_LOOKUP_EXTEND, "error": lib.LW_LOOKUP_ERROR}

_ELEMENTS = {np.dtype(np.float64): "double[]", np.dtype(np.int32): "int32_t[]", np.dtype(np.bool_): "unsigned char[]"}


class Builder:
    """An `lw_builder`: ``builder.add_body(...)`` calls lw_builder_add_body of linkwork.h, and so on.

    Texts, numbers, sequences of numbers and arrays are given as they are, and None for NULL.
    """

    def __init__(self) -> None:
        handle = ffi.new("lw_builder **")
        if lib.lw_builder_create(handle):
            raise MemoryError("the C core could not allocate memory")
        self._handle = ffi.gc(handle[0], lib.lw_builder_free)

    def __getattr__(self, name: str) -> Callable[..., None]:
        function = getattr(lib, f"lw_builder_{name}")

        def call(*given: Any) -> None:
            self._check(function(self._handle, *map(_in_c, given)))

        self.__dict__[name] = call
        return call

    def finish(self) -> tuple[bytes, NativeModel]:
        """Return the bytes of the model as the mechanism is at first, and the model."""
        return self._finished(lib.lw_builder_finish)

    def finish_variant(self, opened: Sequence[int]) -> tuple[bytes, NativeModel]:
        """Return the same of one topology variant alone, in which of the joints that may open these are open."""
        return self._finished(lib.lw_builder_finish_variant, list(opened), len(opened))

    def exact_frames(self) -> tuple[FloatArray | None, int | None]:
        """Return the frames (joints, 2, 12) with which the loops of the finished model are exact; None: as given.

        Each is a position, m, and a rotation matrix row by row, in the joint's parent and in its child. Then the number
        of a joint whose loop, alone or with others, nearly moves, but for which no small change was found.
        """
        inexact = ffi.new("int32_t *")
        found = lib.lw_builder_exact_frames(self._handle, inexact)
        number = inexact[0] if inexact[0] >= 0 else None
        if found == ffi.NULL:
            return None, number
        size = 2 * self._joints * ffi.sizeof("lw_frame")
        return np.frombuffer(ffi.buffer(found, size)).reshape(-1, 2, 12).copy(), number

    def _finished(self, function: Any, *given: Any) -> tuple[bytes, NativeModel]:
        model, size = ffi.new("lw_model **"), ffi.new("size_t *")
        self._check(function(self._handle, *given, model))
        native = NativeModel.of(model[0])
        self._joints = native.sizes.joints
        found = lib.lw_builder_bytes(self._handle, size)
        return bytes(ffi.buffer(found, size[0])), native

    def _check(self, status: int) -> None:
        if status:
            raise_status(status, ffi.string(lib.lw_builder_message(self._handle)).decode(errors="replace"))


def _in_c(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, np.ndarray):
        return ffi.from_buffer(_ELEMENTS[value.dtype], np.ascontiguousarray(value))
    if isinstance(value, list | tuple):
        return [float(number) for number in value]
    return ffi.NULL if value is None else value


def joint_kinds(kinds: Sequence[tuple[str, Sequence[float], float, FloatArray]]) -> Any:
    """Return an `lw_joint_kind *` of type, axes, parameter and path of each; it keeps its texts and paths alive."""
    texts = [ffi.new("char[]", name.encode()) for name, *_ in kinds]
    paths = [ffi.from_buffer("double[]", path) if path.size else ffi.NULL for *_, path in kinds]
    rows = [
        [text, [*axes, *[0.0] * (6 - len(axes))], parameter, path, given.size]
        for text, path, (_, axes, parameter, given) in zip(texts, paths, kinds, strict=True)
    ]
    found = ffi.new("lw_joint_kind[]", rows)
    return _keeping(found, "lw_joint_kind *", texts, paths)


class Program(Protocol):
    """Formulas with common lists; what they read: fields, names of parts or None, indices, and more."""

    @property
    def numbers(self) -> Sequence[float]:
        """Their numbers."""

    @property
    def readings(self) -> Sequence[tuple[Any, ...]]:
        """Their quantities."""

    @property
    def operations(self) -> Sequence[tuple[str, int, int, int]]:
        """Their operations by name."""

    @property
    def results(self) -> Sequence[int]:
        """The operation that has each result."""

    @property
    def tables(self) -> Mapping[str, Any]:
        """Their lookup tables by name."""


def formula(program: Program, inputs: int) -> Any:
    """Return an `lw_formula *`; it keeps its lists alive."""
    names = {name for name, *_ in program.operations}
    names |= {name for field, owner, *_ in program.readings for name in (field, owner) if name is not None}
    texts = {name: ffi.new("char[]", name.encode()) for name in names}
    read = [(texts[field], texts.get(owner, ffi.NULL), index) for field, owner, index, *_ in program.readings]
    lists = (
        ffi.new("double[]", list(program.numbers)),
        ffi.new("lw_formula_quantity[]", read),
        ffi.new("lw_operation[]", [(texts[name], *operands) for name, *operands in program.operations]),
        ffi.new("int32_t[]", list(program.results)),
    )
    counts = (len(program.numbers), inputs, len(read), len(program.operations), len(program.results))
    tables = [_table(name, table) for name, table in program.tables.items()]
    all_tables = ffi.new("lw_lookup_table[]", [row for row, _ in tables])
    found = ffi.new("lw_formula *", (*lists, *counts, len(tables), all_tables))
    return _keeping(found, "lw_formula *", texts, lists, tables, all_tables)


def quantity(reading: tuple[Any, ...]) -> Any:
    """Return an `lw_formula_quantity *` of a field, a part or None, and an index; it keeps its texts alive."""
    field, owner, index, *_ = reading
    texts = [ffi.NULL if text is None else ffi.new("char[]", text.encode()) for text in (field, owner)]
    return _keeping(ffi.new("lw_formula_quantity *", (*texts, index)), "lw_formula_quantity *", texts)


def _table(name: str, table: Any) -> tuple[tuple[Any, ...], Any]:
    """Return the fields of an `lw_lookup_table`, and what it points to."""
    kept = [ffi.new("char[]", name.encode())]
    for array in (table.x, table.y, table.values):
        kept.append(ffi.NULL if array is None else ffi.from_buffer("double[]", np.ascontiguousarray(array)))
    sizes, periodic = [*table.values.shape, 0][:2], [*table.periodic, False][:2]
    return (*kept, sizes, periodic, INTERPOLATIONS[table.interpolation], OUTSIDES[table.outside]), kept


def parameters(given: Mapping[str, FloatArray]) -> Any:
    """Return an `lw_parameter *` of the numbers of parameters by name; it keeps them alive."""
    texts = [ffi.new("char[]", name.encode()) for name in given]
    arrays = [ffi.from_buffer("double[]", np.ascontiguousarray(values, dtype=np.float64)) for values in given.values()]
    found = ffi.new("lw_parameter[]", list(zip(texts, arrays, strict=True)))
    return _keeping(found, "lw_parameter *", texts, arrays)


def frames(values: FloatArray) -> Any:
    """Return an `lw_frame *` of frames (..., 12), each a position and a rotation matrix row by row."""
    array = ffi.from_buffer(np.ascontiguousarray(values, dtype=np.float64))
    return _keeping(array, "lw_frame *")


def _keeping(found: Any, kind: str, *others: Any) -> Any:
    """Return a pointer that keeps alive what it points to, and others."""
    return ffi.gc(ffi.cast(kind, found), lambda _, kept=(found, others): None)
