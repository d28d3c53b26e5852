"""Data of the listed variables that the library needs and the model does not have."""

import struct
from collections.abc import Iterable, Sequence

from linkwork.fmu.export.content import Content
from linkwork.fmu.export.nominal_values import NominalSizes

MAGIC = b"LWFMUI04"
DAE_MAGIC = b"LWFMUI05"  # with DAE mode: residuals are unknowns as well
_WORD = struct.Struct("<I")
ON_ALL = 0xFFFFFFFF  # in the place of a number of dependencies


def interface_bytes(content: Content, fmi: str) -> bytes:
    """Return `resources/interface.lwi`: words of 32 bits, the first byte the least, behind eight bytes `MAGIC`.

    First come the sizes from which the nominal values of the states follow: of displacements, their rates and angular
    rates, as 64-bit numbers. Each list comes behind its length, all but the variables in ascending order:

    - positions of the independent coordinates and of the independent speeds; both empty: all of the tree are states;
    - for FMI 3.0 the variables and event indicators of the value references 1, 2, ...: offset and number of elements of
      each; empty for FMI 2.0, where a value reference is an offset;
    - value references of continuous states, inputs and time: what something can depend on;
    - outputs, derivatives of states and event indicators: value reference, number of dependencies and the value
      references of these, or `ON_ALL` for all of the list before.
    """
    head = sizes_bytes(content.nominal) + b"".join(map(counted, content.independents))
    if fmi == "2.0":
        return MAGIC + head + words(0) + counted(set(content.knowns)) + _unknowns(content, None)
    number = content.numbered()
    knowns = counted({number[at] for at in content.knowns})
    magic = MAGIC if content.dae is None else DAE_MAGIC
    return magic + head + _variables(content) + knowns + _unknowns(content, number)


def _variables(content: Content) -> bytes:
    listed: list[int] = []
    for row in content.all_rows:
        for at, entry in zip(row.offsets, row.form.entries, strict=True):
            listed += (at, entry.size)
    if content.dae is not None:
        for at in content.dae.offsets:
            listed += (at, 1)
    return words(len(listed) // 2, *listed)


def _unknowns(content: Content, number: dict[int, int] | None) -> bytes:
    """`number`: value references by offset; None: they are the same."""
    found: dict[int, bytes] = {}
    last: list[int] | None = None
    labels = on_all = words(ON_ALL)
    for places in (content.outputs, content.derivatives, content.event_indicators):
        for row, i in places:
            knowns = row.depends[i]
            if knowns is not last:  # neighbours mostly depend on the same
                last, labels = knowns, on_all if knowns is None else counted(_numbers(knowns, number))
            at = row.offsets[i]
            found[at if number is None else number[at]] = labels
    if content.dae is not None and number is not None:
        for at, on in zip(content.dae.residuals, content.dae.dependencies, strict=True):
            found[number[at]] = counted(_numbers(on, number))
    return words(len(found)) + b"".join([_WORD.pack(at) + found[at] for at in sorted(found)])


def _numbers(offsets: Sequence[int], number: dict[int, int] | None) -> Sequence[int]:
    return offsets if number is None else [number[at] for at in offsets]


def sizes_bytes(sizes: NominalSizes) -> bytes:
    """Return the nominal sizes of states as 64-bit numbers."""
    return struct.pack("<3d", sizes.length, sizes.speed, sizes.rate)


def counted(numbers: Iterable[int]) -> bytes:
    """Return the numbers in ascending order behind how many they are."""
    ascending = sorted(numbers)
    return words(len(ascending), *ascending)


def words(*numbers: int) -> bytes:
    """Return each number as 32 bits, the first byte the least."""
    return struct.pack(f"<{len(numbers)}I", *numbers)
