"""Data of the listed variables that the library needs and the model does not have."""

import struct
from collections.abc import Iterable

from linkwork.fmu.export.content import Content

MAGIC = b"LWFMUI01"
_WORD = struct.Struct("<I")
ON_ALL = 0xFFFFFFFF  # in the place of a number of dependencies


def interface_bytes(content: Content) -> bytes:
    """Return `resources/interface.lwi`: words of 32 bits, the first byte the least, behind eight bytes `MAGIC`.

    Each list comes behind its length, in ascending order:

    - positions of the independent coordinates and of the independent speeds; both empty: all of the tree are states;
    - array variables: value reference and number of elements of each;
    - value references of continuous states, inputs and time: what something can depend on;
    - outputs, derivatives of states and event indicators: value reference, number of dependencies and the value
      references of these, or `ON_ALL` for all of the list before.
    """
    independents = b"".join(map(_counted, content.independents))
    return MAGIC + independents + _arrays(content) + _counted(set(content.knowns)) + _unknowns(content)


def _arrays(content: Content) -> bytes:
    counts = [(row.references[i], row.form.entries[i].count) for row in content.rows for i in row.form.arrays]
    return _words(len(counts)) + b"".join(_words(*one) for one in sorted(counts))


def _unknowns(content: Content) -> bytes:
    found: dict[int, bytes] = {}
    last: list[int] | None = None
    labels = on_all = _words(ON_ALL)
    for places in (content.outputs, content.derivatives, content.event_indicators):
        for row, i in places:
            knowns = row.depends[i]
            if knowns is not last:  # neighbours mostly depend on the same
                last, labels = knowns, on_all if knowns is None else _counted(knowns)
            found[row.references[i]] = labels
    return _words(len(found)) + b"".join([_WORD.pack(at) + found[at] for at in sorted(found)])


def _counted(numbers: Iterable[int]) -> bytes:
    ascending = sorted(numbers)
    return _words(len(ascending), *ascending)


def _words(*numbers: int) -> bytes:
    return struct.pack(f"<{len(numbers)}I", *numbers)
