"""What the library must know of the variables that a model description lists, and the model does not tell."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from linkwork.export.content import Content, Entry

MAGIC = b"LWFMUI01"
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
    words: list[int] = [0, 0, 0]
    words += _counted(e.variable.reference for e in content.knowns)
    unknowns = {e.variable.reference: e for e in (*content.outputs, *content.derivatives, *content.indicators)}
    words.append(len(unknowns))
    for reference in sorted(unknowns):
        words += [reference, *_dependencies(content, unknowns[reference])]
    return MAGIC + struct.pack(f"<{len(words)}I", *words)


def _dependencies(content: Content, unknown: Entry) -> list[int]:
    knowns = content.depends_on(unknown)
    return [ON_ALL] if knowns is None else _counted(known.variable.reference for known in knowns)


def _counted(references: Iterable[int]) -> list[int]:
    ascending = sorted(references)
    return [len(ascending), *ascending]
