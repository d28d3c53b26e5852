"""Values of parameters as SSP has them (``ssv:ParameterSet``), both ways.

Whole numbers of more than 32 bits and arrays, for which SSP 1.0 has no place, stand in an annotation of our own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from linkwork._util.names import suggest
from linkwork.cosim.ssp.elements import (
    Element,
    add,
    annotation,
    below,
    fault,
    local,
    new,
    number_of,
    own_annotation,
    text_of,
    truth_of,
)
from linkwork.cosim.ssp.tables import Tables, tables_of
from linkwork.cosim.system.definition import Value
from linkwork.cosim.system.units import Unit

LARGEST = 2**31  # of xs:int


def parameter_set(name: str, values: Mapping[str, Value]) -> Element:
    """An ``ssv:ParameterSet`` with these values."""
    root = new("ssv:ParameterSet", version="1.0", name=name)
    parameters = add(root, "ssv:Parameters")
    others = {}
    for key, value in values.items():
        if _has_place(value):
            kind, text = _written(value)
            add(add(parameters, "ssv:Parameter", name=key), f"ssv:{kind}", value=text)
        else:
            others[key] = value
    if others:
        ours = annotation(root, "Values")
        for key, value in others.items():
            numbers = value if isinstance(value, tuple) else (value,)
            kind = "Array" if isinstance(value, tuple) else "Integer"
            add(ours, "linkwork:Value", name=key, type=kind, value=" ".join(_written(one)[1] for one in numbers))
    return root


def _has_place(value: Value) -> bool:
    return not (isinstance(value, tuple) or (isinstance(value, int) and not -LARGEST <= value < LARGEST))


def _written(value: Value) -> tuple[str, str]:
    if isinstance(value, bool):
        return "Boolean", str(value).lower()
    if isinstance(value, int):
        return "Integer", str(value)
    if isinstance(value, str):
        return "String", value
    assert not isinstance(value, tuple)
    return "Real", number_text(value)


def number_text(value: float) -> str:
    """A number to its last bit, as XML schemas have it."""
    value = float(value)
    return repr(value) if math.isfinite(value) else "NaN" if math.isnan(value) else "INF" if value > 0 else "-INF"


@dataclass(frozen=True)
class Given:
    """A value in a parameter set, in a unit if one is named, and its element."""

    name: str
    value: Value
    unit: Unit | None
    element: Element


def given_values(root: Element, outside: Tables) -> Iterator[Given]:
    """The values of an ``ssv:ParameterSet``; units and enumerations are its own, or those of the file around it.

    Raises
    ------
    CosimError
        If something is missing or not of its type.
    """
    tables = tables_of(root, outside)
    for parameter in below(root, "Parameters", "Parameter"):
        kinds = [child for child in parameter if local(child) != "Annotations"]
        if len(kinds) != 1:
            raise fault(parameter, "it needs one value")
        yield _read(text_of(parameter, "name"), kinds[0], tables)
    ours = own_annotation(root)
    for one in below(ours, "Value") if ours is not None else ():
        yield Given(text_of(one, "name"), _own(one), None, one)


def _read(name: str, element: Element, tables: Tables) -> Given:
    kind = local(element)
    if kind == "Real":
        unit = element.get("unit")
        return Given(name, number_of(element, "value"), tables.unit(unit) if unit else None, element)
    if kind == "Boolean":
        return Given(name, truth_of(element, "value"), None, element)
    text = text_of(element, "value")
    if kind == "String":
        return Given(name, text, None, element)
    if kind == "Integer":
        return Given(name, _whole(text, element), None, element)
    if kind == "Enumeration":
        return Given(name, _item(text, element, tables), None, element)
    raise fault(element, f"values of type {kind} are not supported")


def _whole(text: str, element: Element) -> int:
    try:
        return int(text)
    except ValueError:
        raise fault(element, f"value={text!r} is no whole number") from None


def _item(text: str, element: Element, tables: Tables) -> int:
    """The value of an enumeration's item; tools without the enumeration write the number itself."""
    name = element.get("name")
    for items in [tables.enumerations.get(name, {})] if name else tables.enumerations.values():
        if text in items:
            return items[text]
    try:
        return int(text)
    except ValueError:
        there = [item for items in tables.enumerations.values() for item in items]
        raise fault(element, f"no enumeration of the file has an item {text!r}; {suggest(text, there)}") from None


def _own(one: Element) -> Value:
    texts = text_of(one, "value").split()
    if text_of(one, "type") == "Integer" and len(texts) == 1:
        return _whole(texts[0], one)
    try:
        return tuple(float(text) for text in texts)
    except ValueError:
        raise fault(one, "its value is no list of numbers") from None
