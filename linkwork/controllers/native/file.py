"""The two resources of a controller's FMU, as ``fmu_src/controllers/reader.c`` and ``interface_file.c`` read them."""

from __future__ import annotations

import struct

from linkwork.controllers.native.interface import FIRST_REFERENCE, Interface, Structure, Variable
from linkwork.fmu.export.interface_file import MAGIC as INTERFACE_MAGIC
from linkwork.fmu.export.interface_file import counted, sizes_bytes, words
from linkwork.fmu.export.nominal_values import NominalSizes

MAGIC = b"LWCTRL01"
_VALUES = {"real": 1, "boolean": 2, "integer": 4}
_INPUT, _OUTPUT, _FIXED, _TUNABLE = 1, 2, 3, 4


def controller_bytes(law: str, structure: Structure, interface: Interface) -> bytes:
    """Return ``resources/model.lwm``: the law by name, its sizes, variables and numbers, all little-endian."""
    return b"".join(
        (
            MAGIC,
            _text(law),
            words(len(structure.sizes), *structure.sizes),
            words(len(interface.variables)),
            *map(_variable, interface.variables),
            words(len(structure.numbers)),
            struct.pack(f"<{len(structure.numbers)}d", *structure.numbers),
        )
    )


def dependency_bytes(interface: Interface, fmi: str) -> bytes:
    """Return ``resources/interface.lwi``: no states, the variables, the inputs, and the inputs of each output.

    A value reference is a position from 0 in FMI 2.0, where the file lists no variables, and from 1 in FMI 3.0.
    """
    first = FIRST_REFERENCE[fmi]
    count = interface.time + 1 if first else 0
    variables = [word for position in range(count) for word in (position, 1)]
    unknowns = sorted(interface.dependencies.items())
    rows = [words(position + first) + counted(known + first for known in knowns) for position, knowns in unknowns]
    known = counted(position + first for position in interface.knowns)
    head = INTERFACE_MAGIC + sizes_bytes(NominalSizes())
    return b"".join([head, words(0, 0), words(count, *variables), known, words(len(unknowns)), *rows])


def _variable(one: Variable) -> bytes:
    return words(_VALUES[one.type], _role(one)) + struct.pack("<d", one.start) + _text(one.name)


def _role(one: Variable) -> int:
    if one.causality == "parameter":
        return _TUNABLE if one.variability == "tunable" else _FIXED
    return {"input": _INPUT, "output": _OUTPUT}[one.causality]


def _text(text: str) -> bytes:
    data = text.encode()
    return words(len(data)) + data
