"""Names of bodies, joints and other parts: which are legal, how FMI writes them, and legal ones for any text.

The signs are those that FMI allows between single quotes, without the signs that Linkwork parses: ``.`` and ``[ ]`` in
names of variables, ``'`` around names in FMUs, ``=`` and ``,`` on the command line, ``*`` and ``?`` in patterns.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container

RESERVED = frozenset({"ground"})  # the world

SIGNS = "!#$%&()+-/:;<>@^_{|}~"
_INSIDE = "A-Za-z0-9 " + SIGNS.replace("-", r"\-")  # escaped as JavaScript has it too
_ENDS = _INSIDE.replace(" ", "")
_FIRST = _ENDS.replace(r"\-", "")
PATTERN = f"[{_FIRST}](?:[{_INSIDE}]*[{_ENDS}])?"
_NAME = re.compile(PATTERN)
_REFUSED = re.compile(f"[^{_INSIDE}]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r"('[^']*'|[^.\[\]']+)((?:\[[^\]]*\])*)")

RULE = f"a name consists of ASCII letters, digits, blanks between them and the signs {' '.join(SIGNS)}"


def is_legal(name: str) -> bool:
    """Return whether a part may have a name, reserved ones included."""
    return _NAME.fullmatch(name) is not None


def objection(name: str) -> str:
    """Return why a name is not legal.

    >>> objection("a.b"), objection(" a")
    ("it has '.'", 'it begins with a blank')
    """
    if not name:
        return "it is empty"
    if found := _REFUSED.search(name):
        shown = repr(found[0]).replace("\\\\", "\\")  # a backslash as it is
        return f"it has {shown}"
    if name[0] in " -":
        return "it begins with " + ("a blank" if name[0] == " " else "'-'")
    return "it ends with a blank"


def structured_name(name: str) -> str:
    """Return a name of a part or variable as FMI's structured names have it: parts that are no identifiers in quotes.

    A name that has its quotes stays as it is.

    >>> structured_name("A.q"), structured_name("left-hip.q[2]"), structured_name("loop.base link.residual")
    ('A.q', "'left-hip'.q[2]", "loop.'base link'.residual")
    """
    return name if _IDENTIFIER.fullmatch(name) else _PART.sub(_quoted_if_needed, name)


def _quoted_if_needed(part: re.Match[str]) -> str:
    return part[0] if part[1][0] == "'" or _IDENTIFIER.fullmatch(part[1]) else f"'{part[1]}'{part[2]}"


def plain_name(name: str) -> str:
    """Return the name of a part or variable without the quotes of `structured_name`.

    >>> plain_name("'left-hip'.q[2]")
    'left-hip.q[2]'
    """
    return name.replace("'", "")


# ---- legal names for any text ----


def legible_name(
    text: str,  # such as a name in a file of another program
    # Names that are in use; with the names given so far in it, the names of different texts differ.
    taken: Container[str] = (),
) -> str:
    """Return a legal name for any text: itself if it is legal and free, else one that is similar.

    Accents are left out, letters of other scripts get their Unicode names, other signs become underscores. Names that
    are taken or reserved get a number.

    Examples
    --------
    >>> legible_name("left-hip"), legible_name("leg.ĥip"), legible_name("Größe α"), legible_name("")
    ('left-hip', 'leg_hip', 'Grosse alpha', 'unnamed')
    >>> legible_name("ground"), legible_name("leg.1", {"leg_1", "leg_1_2"})
    ('ground_2', 'leg_1_3')
    """
    found = text if is_legal(text) else _similar(text)
    name, number = found, 1
    while name in RESERVED or name in taken:
        number += 1
        name = f"{found}_{number}"
    return name


def _similar(text: str) -> str:
    spelled = "".join(map(_spelled, unicodedata.normalize("NFKD", text))).strip(" ")
    name = _REFUSED.sub("_", spelled)
    name = f"_{name[1:]}" if name.startswith("-") else name
    return name or "unnamed"


def _spelled(letter: str) -> str:
    """Return one character of a decomposed text in ASCII; an underscore where it has no spelling."""
    if letter.isascii():
        return letter
    match unicodedata.category(letter):
        case "Mn" | "Me" | "Cf":
            return ""  # accents and joiners
        case "Zs":
            return " "
        case "Pd":
            return "-"
        case "Nd":
            return str(unicodedata.decimal(letter))
        case "Ll" | "Lu" | "Lo" | "Lt" | "Lm":
            return _spelled_letter(letter)
    return "_"


def _spelled_letter(letter: str) -> str:
    """Return the last word of a letter's name, as alpha; the number of a sign of Chinese writing, as u5de6."""
    of_unicode = unicodedata.name(letter, "").partition(" WITH ")[0]
    kind, _, word = of_unicode.rpartition(" ")
    if not word.isalpha() or not ("LETTER" in kind or "LIGATURE" in kind):
        return f"u{ord(letter):x}"
    spelled = "ss" if kind.endswith("LETTER SHARP") else word.lower()
    return spelled.capitalize() if letter.isupper() else spelled


def suffixes(count: int) -> list[str]:
    """Return what the names of a joint's `count` coordinates or speeds end in: nothing where there is only one.

    >>> suffixes(1), suffixes(2)
    ([''], ['[1]', '[2]'])
    """
    return [""] if count == 1 else [f"[{i + 1}]" for i in range(count)]
