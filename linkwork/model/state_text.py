"""States for people: coordinates and speeds with units, and in words the changes that transitions have made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from linkwork._util.checks import FloatArray
from linkwork._util.html import html_table

if TYPE_CHECKING:
    from linkwork.model.state_values import StateValues

MOST_VALUES = 8  # in one line
MOST_LINES = 40  # of a table
BY_LOCK, BY_STOP = 1, 2  # bits of the core's field `locked`


def in_one_line(state: StateValues) -> str:
    """Return time, the first coordinates and speeds, and the changes by transitions."""
    pairs = [f"{name} = {value:.6g}{_spaced(unit)}" for name, value, unit in values(state, cut=False)]
    more = [f"... ({len(pairs)} in all)"] if len(pairs) > MOST_VALUES else []
    listed = ", ".join([f"t = {state.time:.6g} s", *pairs[:MOST_VALUES], *more])
    return f"State({state.model.mechanism.name!r}: {'; '.join([listed, *changes(state)])})"


def as_table(state: StateValues) -> str:
    """Return a line for each coordinate and speed, those of cut joints as well."""
    rows = list(values(state))
    width = max((len(name) for name, _, _ in rows), default=0)
    lines = [f"  {name.ljust(width)}  {value: .9g}{_spaced(unit)}" for name, value, unit in rows]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"  ... {len(lines) - MOST_LINES + 1} more"]
    head = f"State of {state.model.mechanism.name!r} at t = {state.time:.9g} s"
    return "\n".join([head, *lines, *(f"  {change}" for change in changes(state))])


def as_html(state: StateValues) -> str:
    """Return an HTML table of the coordinates and speeds; the changes by transitions are in its caption."""
    head = "; ".join([f"State of {state.model.mechanism.name!r} at t = {state.time:.6g} s", *changes(state)])
    return html_table(head, ["name", "value", "unit"], [*values(state)])


def values(state: StateValues, *, cut: bool = True) -> Iterator[tuple[str, float, str]]:
    """Return name, value and unit of coordinates and speeds; those of the cut joints last."""
    model = state.model
    found: list[tuple[list[str], FloatArray]] = [(model.q_names, state.q), (model.u_names, state.u)]
    if cut:
        found += [(_named(state, f"{one}_cut"), cuts) for one in "qu" if (cuts := _cut(state, one)) is not None]
    for names, numbers in found:
        for name, value in zip(names, numbers.tolist(), strict=True):
            unit = model.column(name).unit
            yield name, value, "" if unit == "1" else unit


def changes(state: StateValues) -> list[str]:
    """Return in words the changes by transitions: joints that are locked, at rest on stops, closed and open.

    Only joints that transitions may close or open are named as closed and open.
    """
    if not state.discrete_state.size:
        return []
    model = state.model
    holders, closed = _discrete(state, "locked"), _discrete(state, "joint_closed")
    removable = {model.joint_names[i]: bool(closed[i]) for i in model.removable_joints}
    found = {
        "locked": [joint for joint, span in model.numbering.u.items() if _has(holders[span], BY_LOCK)],
        "at rest on a stop": [joint for joint, span in model.numbering.u.items() if _has(holders[span], BY_STOP)],
        "closed": [joint for joint, is_closed in removable.items() if is_closed],
        "open": [joint for joint, is_closed in removable.items() if not is_closed],
    }
    return [f"{text}: {', '.join(joints)}" for text, joints in found.items() if joints]


def _has(holders: FloatArray, bit: int) -> bool:
    return any(int(one) & bit for one in holders)


def _discrete(state: StateValues, field: str) -> FloatArray:
    """Return a field of the discrete state."""
    place, first = state.model.fields[field].span, state.model.fields["joint_closed"].first
    return state.discrete_state[place.start - first : place.stop - first]


def _named(state: StateValues, field: str) -> list[str]:
    span = state.model.fields[field].span
    found = {v.reference: v.name for v in state.model.variables if span.start <= v.reference < span.stop}
    return [found[i] for i in sorted(found)]


def _cut(state: StateValues, field: str) -> FloatArray | None:
    return getattr(getattr(state, field), "cut", None)


def _spaced(unit: str) -> str:
    return f" {unit}" if unit else ""
