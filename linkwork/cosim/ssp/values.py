"""Values of parameters as SSP has them (``ssv:ParameterSet``), both ways.

SSP 1.0 has no place for integers of more than 32 bits and for arrays: they stand in an annotation of our own. SSP 2.0
has the types of FMI 3.0 and arrays of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkwork._util.names import suggest
from linkwork.cosim.ssp.elements import (
    FLOATS,
    INTEGERS,
    TRUTH,
    TYPES,
    Element,
    add,
    annotation,
    below,
    fault,
    integer_of,
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
from linkwork.cosim.system.value_checks import integer_range
from linkwork.errors import CosimError
from linkwork.fmu.description import Variable

LARGEST = 2**31  # of xs:int


def parameter_set(
    name: str, values: Mapping[str, Value], version: str = "1.0", variables: Mapping[str, Variable] | None = None
) -> Element:
    """An ``ssv:ParameterSet`` with these values; `variables` are those they belong to, where these are known."""
    root = new("ssv:ParameterSet", version=version, name=name)
    parameters = add(root, "ssv:Parameters")
    others = {}
    for key, value in values.items():
        variable = (variables or {}).get(key)
        kind = _type_1(value) if version == "1.0" else _type_2(value, variable)
        if kind is not None:
            _write(add(parameters, "ssv:Parameter", name=key), kind, value, variable)
        else:
            others[key] = value
    if others:
        ours = annotation(root, "linkwork:Values")
        for key, value in others.items():
            if any(isinstance(one, str) for one in _parts(value)):
                raise CosimError(f"{key!r} is an array of texts, for which SSP 1.0 has no place; write SSP 2.0")
            kind = "Array" if isinstance(value, tuple) else "Integer"
            add(ours, "linkwork:Value", name=key, type=kind, value=" ".join(map(_text, _parts(value))))
    return root


def _parts(value: Value) -> Sequence[Any]:
    return value if isinstance(value, tuple) else (value,)


def _type_1(value: Value) -> str | None:
    """The type of a value in SSP 1.0; None if it has none."""
    if isinstance(value, tuple) or (isinstance(value, int) and not -LARGEST <= value < LARGEST):
        return None
    return _usual_type(_parts(value))


def _type_2(value: Value, variable: Variable | None) -> str | None:
    """The type of a value in SSP 2.0: that of its variable, unless the value is no such one."""
    parts = _parts(value)
    if variable is not None and variable.type in TYPES and _fits(parts, variable.type):
        return variable.type
    usual = _usual_type(parts)
    return next((kind for kind in (usual, "Int64", "UInt64") if _fits(parts, kind)), None)


def _usual_type(parts: Sequence[Any]) -> str:
    if parts and all(isinstance(one, bool) for one in parts):
        return "Boolean"
    if parts and all(isinstance(one, int) and not isinstance(one, bool) for one in parts):
        return "Integer"
    return "String" if parts and all(isinstance(one, str) for one in parts) else "Real"


def _fits(parts: Sequence[Any], kind: str) -> bool:
    if kind in ("Boolean", "String"):
        return all(isinstance(one, bool if kind == "Boolean" else str) for one in parts)
    if any(isinstance(one, (bool, str)) for one in parts):
        return False
    if kind in FLOATS:
        return all(isinstance(one, float) or abs(one) <= 2**53 for one in parts)
    low, high = integer_range(kind)
    return kind in INTEGERS and all(isinstance(one, int) and low <= one < high for one in parts)


def _write(parameter: Element, kind: str, value: Value, variable: Variable | None) -> None:
    parts = _parts(value)
    if kind == "String" and isinstance(value, tuple):
        element = add(parameter, "ssv:String")
        for one in parts:
            add(element, "ssv:Value", value=one)
    else:
        add(
            parameter,
            f"ssv:{kind}",
            value=" ".join(number_text(one) if kind in FLOATS else _text(one) for one in parts),
        )
    if isinstance(value, tuple):
        shape = variable.dimensions if variable is not None else ()
        for size in shape if shape and math.prod(shape) == len(value) else (len(value),):
            add(parameter, "ssc:Dimension", size=str(size))


def _text(one: Any) -> str:
    if isinstance(one, bool):
        return str(one).lower()
    return number_text(one) if isinstance(one, float) else str(one)


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


class ItemName(str):
    """The name of an item of an enumeration that the file does not define; the FMU may."""

    __slots__ = ()


def with_items(given: Given, variable: Variable | None) -> Given:
    """Return a value with the names of items as the variable that it is for numbers them."""
    parts = _parts(given.value)
    if not any(isinstance(one, ItemName) for one in parts):
        return given
    items = dict(variable.items) if variable is not None else {}
    missing = next((one for one in parts if isinstance(one, ItemName) and one not in items), None)
    if missing is not None:
        whose = f"{variable.name!r} of the FMU" if items and variable is not None else "no enumeration of the file"
        has = "has no item" if items else "has an item"
        raise fault(given.element, f"{whose} {has} {str(missing)!r}; {suggest(missing, items)}")
    found = tuple(items[one] if isinstance(one, ItemName) else one for one in parts)
    return replace(given, value=found if isinstance(given.value, tuple) else found[0])


def given_values(root: Element, outside: Tables) -> Iterator[Given]:
    """The values of an ``ssv:ParameterSet``; units and enumerations are its own, or those of the file around it."""
    tables = tables_of(root, outside)
    for parameter in below(root, "Parameters", "Parameter"):
        kinds = [child for child in parameter if local(child) in TYPES]
        if len(kinds) != 1:
            raise fault(parameter, "it needs one value")
        yield _read(text_of(parameter, "name"), kinds[0], tables)
    ours = own_annotation(root)
    for one in below(ours, "Value") if ours is not None else ():
        yield Given(text_of(one, "name"), _own(one), None, one)


def _read(name: str, element: Element, tables: Tables) -> Given:
    unit = element.get("unit") if local(element) in FLOATS else None
    return Given(name, _value(element, tables), tables.unit(unit) if unit else None, element)


def _value(element: Element, tables: Tables) -> Value:
    kind, shape = local(element), shape_of(element.getparent())
    if kind not in TYPES or kind in ("Binary", "Clock"):
        raise fault(element, f"values of type {kind} are not supported")
    if not shape and not len(element):
        return _scalar(element, kind, tables)
    parts = _elements(element, kind, tables)
    if len(parts) != math.prod(shape):
        raise fault(element, f"it has {len(parts)} values, and its dimensions ask for {math.prod(shape)}")
    return tuple(parts) if shape else parts[0]


def _scalar(element: Element, kind: str, tables: Tables) -> Value:
    if kind in FLOATS:
        return number_of(element, "value")
    if kind == "Boolean":
        return truth_of(element, "value")
    text = text_of(element, "value")
    if kind == "String":
        return text
    return _item(text, element, tables) if kind == "Enumeration" else _integer(text, element)


def _elements(element: Element, kind: str, tables: Tables) -> list[Any]:
    """The elements of an array: a list in the attribute `value`, or elements of their own for texts and items."""
    one_each = [text_of(one, "value") for one in below(element, "Value")]
    if one_each and element.get("value") is not None:
        raise fault(element, "it has both an attribute 'value' and elements Value; remove one of them")
    if kind in ("String", "Enumeration"):
        texts = one_each or ([] if element.get("value") is None else [text_of(element, "value")])
        return texts if kind == "String" else [_item(text, element, tables) for text in texts]
    texts = text_of(element, "value").split()
    if kind in INTEGERS:
        return [_integer(text, element) for text in texts]
    try:
        return [float(text) if kind in FLOATS else TRUTH[text] for text in texts]
    except (ValueError, KeyError):
        raise fault(element, f"value={' '.join(texts)!r} is no list of values of type {kind}") from None


def shape_of(element: Element) -> tuple[int, ...]:
    """The dimensions of a parameter; none if it is no array."""
    found = []
    for one in below(element, "Dimension"):
        if one.get("sizeConnector") is not None:
            raise fault(one, "sizes of parameters are numbers; give its attribute 'size' and no 'sizeConnector'")
        found.append(integer_of(one, "size"))
    return tuple(found)


def _integer(text: str, element: Element) -> int:
    try:
        value = int(text)
    except ValueError:
        raise fault(element, f"value={text!r} is no integer") from None
    low, high = integer_range(local(element))
    if local(element) in INTEGERS and not low <= value < high:
        raise fault(element, f"value={text!r} is no {local(element)}, which lies within {low} ... {high - 1}")
    return value


def _item(text: str, element: Element, tables: Tables) -> int | ItemName:
    """The value of an enumeration's item, or its name where the file has no such one; some tools write the number."""
    name = element.get("name")
    for items in [tables.enumerations.get(name, {})] if name else tables.enumerations.values():
        if text in items:
            return items[text]
    try:
        return int(text)
    except ValueError:
        if name in tables.enumerations:
            there = tables.enumerations[name]
            raise fault(element, f"enumeration {name!r} has no item {text!r}; {suggest(text, there)}") from None
        return ItemName(text)


def _own(one: Element) -> Value:
    texts = text_of(one, "value").split()
    if text_of(one, "type") == "Integer" and len(texts) == 1:
        return _integer(texts[0], one)
    try:
        return tuple(_number(text) for text in texts)
    except ValueError:
        raise fault(one, "its value is no list of numbers") from None


def _number(text: str) -> float:
    if text in ("true", "false"):
        return TRUTH[text]
    return int(text) if text.lstrip("-").isdigit() else float(text)
