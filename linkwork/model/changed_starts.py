"""Given start values that assembly could not keep, and the warning of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from linkwork._util.names import number_of
from linkwork._util.part_names import suffixes
from linkwork._util.stack import levels_of_package
from linkwork.errors import StartValueWarning

if TYPE_CHECKING:
    from linkwork.core.native import Block
    from linkwork.model.named_model import NamedModel

_MOST_NAMED = 6
_DIGITS = 6  # of values, or as many as distinguish them
_ROUNDING = 1e-4  # of what a value was changed by: at the end of a range less is nothing


class ChangedStart(NamedTuple):
    """A given start value that assembly did not keep."""

    name: str  # of the coordinate or speed, such as "A.q"
    # asked, kept: the start value, and the value of the state
    asked: float
    kept: float
    unit: str  # of both
    # Whether the start values that were kept decide it, so that it only selected one of the closed poses.
    is_guess: bool


def changed_starts(model: NamedModel, block: Block) -> tuple[ChangedStart, ...]:
    """Return the start values that a block did not keep, just after its assembly, in the order of their priority."""
    found = block.changed_starts()
    if not found:
        return ()
    named = _named(model, {at for at, *_ in found})
    first, priority = model.fields["q_start"].first, block.reals[model.fields["q_priority"].first :]
    found.sort(key=lambda one: priority[one[0] - first])  # fields of coordinates and speeds follow each other alike
    return tuple(ChangedStart(named[at][0], asked, kept, named[at][1], is_guess) for at, asked, kept, is_guess in found)


def _named(model: NamedModel, offsets: set[int]) -> dict[int, tuple[str, str]]:
    """Return name and unit of the coordinates and speeds whose start values stand at these offsets of a block."""
    found: dict[int, tuple[str, str]] = {}
    for what, spans in (("q", model.numbering.q), ("u", model.numbering.u)):
        first = model.fields[f"{what}_start"].first
        for joint, span in spans.items():
            if not offsets.isdisjoint(range(first + span.start, first + span.stop)):
                kind = model.mechanism.joints[joint].kind
                units = kind.coordinate_units if what == "q" else [f"{unit}/s" for unit in kind.motion_units]
                for k, (suffix, unit) in enumerate(zip(suffixes(len(units)), units, strict=True)):
                    found[first + span.start + k] = (f"{joint}.{what}{suffix}", unit)
    return found


def warn_of_changed_starts(model: NamedModel, changed: tuple[ChangedStart, ...]) -> None:
    """Show a warning that names the start values that a state could not keep, guesses aside."""
    if text := describe_changed_starts(model, changed):
        warnings.warn(StartValueWarning(text), stacklevel=levels_of_package())


def describe_changed_starts(model: NamedModel, changed: tuple[ChangedStart, ...]) -> str:
    """Return a text that names changed start values, guesses aside; empty without any."""
    lost = [one for one in changed if not one.is_guess]
    if not lost:
        return ""
    named = ", ".join(map(_in_words, lost[:_MOST_NAMED]))
    more = f" and {number_of(len(lost) - _MOST_NAMED, 'more value')}" if len(lost) > _MOST_NAMED else ""
    return (
        f"start values of mechanism {model.mechanism.name!r} that its constraints do not allow: {named}{more}; "
        "give values within reach, and not more than there are degrees of freedom unless they fit each other"
    )


def _in_words(one: ChangedStart) -> str:
    kept = 0.0 if abs(one.kept) < _ROUNDING * abs(one.asked - one.kept) else one.kept
    unit = "" if one.unit in ("", "1") else f" {one.unit}"
    digits = next((n for n in range(_DIGITS, 17) if f"{one.asked:.{n}g}" != f"{kept:.{n}g}"), 17)
    return f"{one.name} = {one.asked:.{digits}g}{unit} was asked, {kept:.{digits}g}{unit} is kept"
