"""The text of a formula, and errors that show the place in it."""

from __future__ import annotations

from typing import NamedTuple

from linkwork._util.checks import shortened
from linkwork.errors import MechanismError

LONGEST = 10_000  # characters of a formula
WIDTH = 72  # characters of it that an error shows

Span = tuple[int, int]  # first character and the one behind the last


class Source(NamedTuple):
    """A formula as it is written.

    Attributes
    ----------
    text
        Its text.
    unit
        The unit that its result must have; None: the one that follows.
    what
        What errors call it.
    """

    text: str
    unit: str | None = None
    what: str = "the formula"

    def check(self) -> None:
        """Refuse a text that is empty or too long, and other objects."""
        if not isinstance(self.text, str):
            raise MechanismError(f"{self.what} must be a text such as 'k*q', not {shortened(self.text)}")
        if len(self.text) > LONGEST:
            raise MechanismError(
                f"{self.what} has {len(self.text)} characters, and at most {LONGEST} are possible: give a table, or "
                f"name parts of it; it begins with {self.text[:30]!r}"
            )
        if not self.text.strip():
            raise MechanismError(f"{self.what} is empty: give a text such as 'k*q'")

    def piece(self, span: Span) -> str:
        """Return a part of the text for a message."""
        text = " ".join(self.text[slice(*span)].split())
        return repr(text if len(text) <= 40 else f"{text[:37]}...")

    def error(self, message: str, *spans: Span, kind: type[MechanismError] = MechanismError) -> MechanismError:
        """Return an error with the line of text and carets under the places.

        >>> print(Source("k*q + d", what="Force 'spring'").error("no 'd'", (6, 7)))
        Force 'spring': no 'd'
          k*q + d
                ^
        """
        first, end = min(span[0] for span in spans), max(span[1] for span in spans)
        begin = max(0, min(first - WIDTH // 4, len(self.text) - WIDTH))
        if end - begin <= WIDTH < end:
            begin = end - WIDTH
        shown = "".join(one if one.isprintable() else " " if one.isspace() else "?" for one in self.text)
        shown = shown[begin : begin + WIDTH]
        marks = [" "] * (len(shown) + 1)
        for span in spans:
            for k in range(max(span[0], begin), min(max(span[1], span[0] + 1), begin + len(marks))):
                marks[k - begin] = "^"
        before, after = "..." if begin else "", "..." if begin + WIDTH < len(self.text) else ""
        return kind(f"{self.what}: {message}\n  {before}{shown}{after}\n  {' ' * len(before)}{''.join(marks).rstrip()}")
