"""`resources/interface.lwi` read word by word, and the same from the XML, for comparison."""

import struct
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

UNKNOWNS = {"Output", "ContinuousStateDerivative", "EventIndicator"}


@dataclass
class Interface:
    independent_q: list[int]
    independent_u: list[int]
    arrays: dict[int, int]  # number of elements by value reference
    knowns: list[int]
    unknowns: dict[int, list[int]]
    offsets: list[int] = field(default_factory=list, compare=False)  # of the value references 1, 2, ...


def read_interface(data: bytes) -> Interface:
    head = 8 + 3 * 8  # the magic and the nominal sizes
    assert data[:8] == b"LWFMUI04"
    words = iter(struct.unpack(f"<{(len(data) - head) // 4}I", data[head:]))

    def several(count: int) -> list[int]:
        return [next(words) for _ in range(count)]

    q, u = several(next(words)), several(next(words))
    variables = [several(2) for _ in range(next(words))]
    knowns = several(next(words))
    unknowns = []
    for _ in range(next(words)):
        at, count = several(2)
        unknowns.append((at, knowns if count == 0xFFFFFFFF else several(count)))
    assert list(words) == []
    for listed in (
        q,
        u,
        knowns,
        [at for at, _ in unknowns],
        *dict(unknowns).values(),
    ):
        assert listed == sorted(set(listed))
    arrays = {reference: count for reference, (_, count) in enumerate(variables, start=1) if count > 1}
    return Interface(q, u, arrays, knowns, dict(unknowns), [at for at, _ in variables])


def of_fmu(path: Path) -> tuple[Interface, ElementTree.Element]:
    with zipfile.ZipFile(path) as archive:
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
        return read_interface(archive.read("resources/interface.lwi")), root


def by_xml(root: ElementTree.Element) -> Interface:
    """The same from a model description of FMI 3.0, as far as it has it."""
    variables = list(root.find("ModelVariables"))
    dimensions = {int(v.get("valueReference")): v.find("Dimension") for v in variables}
    states = {int(v.get("derivative")) for v in variables if v.get("derivative")}
    inputs = {int(v.get("valueReference")) for v in variables if v.get("causality") in ("input", "independent")}
    knowns, unknowns = sorted(states | inputs), {}
    for unknown in root.find("ModelStructure"):
        listed = unknown.get("dependencies")
        if unknown.tag in UNKNOWNS:
            on = knowns if listed is None else sorted(map(int, listed.split()))  # left out: on all
            unknowns[int(unknown.get("valueReference"))] = on
    arrays = {at: int(d.get("start")) for at, d in dimensions.items() if d is not None}
    return Interface([], [], arrays, knowns, unknowns)
