"""Mechanisms with other names, legal names of all kinds, and FMI's grammar of structured names."""

import re
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

import linkwork as lw

# Written out here rather than taken from the package.
SIGNS = "!#$%&()+-/:;<>@^_{|}~"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

NASTY = [
    *("left-hip-pitch", "toe_b_1/2", "4rof_knee_left", "base link", "der(a", "a$b$c", "<b>&amp;", "{0}", "{", "%s%d%n"),
    *("#", "__proto__", "_hidden", "a;b|c", "x~y", "@home", "!", "a  b", "c:/d", "\u007e", "0", "(", "time", "energy"),
    *(
        "</text>",
        "}{",
        "$",
        "None",
        "a&lt;b",
        "leaves a gap of 9 m",
        "loop",
        "1e5",
        "+1",
        "der(x)",
        "a:b",
        "x:y:z",
        "z+",
        "c++",
        "50%",
        "<script>",
        "f(x)",
        "a^b",
    ),
]


@st.composite
def legal_names(draw: st.DrawFn) -> str:
    """A name of every sign that is allowed."""
    name = draw(st.text(LETTERS + SIGNS + " ", min_size=1, max_size=12))
    name = name.strip(" ").lstrip("-").strip(" ") or "x"
    return "x" if name[0] in "- " or name == "ground" else name


def parts_of(mech: lw.Mechanism) -> list[str]:
    """Names of all parts, each once."""
    named = (mech.bodies, mech.joints, mech.couplings, mech.distances, mech.transitions, mech.points, mech.measures)
    return list(
        dict.fromkeys([*(name for parts in named for name in parts), *(f.name for f in mech.forces if _has_name(f))])
    )


def _has_name(force: Any) -> bool:
    return isinstance(getattr(force, "name", None), str)


def renamed(mech: lw.Mechanism, new: Mapping[str, str]) -> lw.Mechanism:
    """The same mechanism, its parts with other names."""

    def text(value: str) -> str:
        name, rest = re.fullmatch(r"([^.\[]*)(.*)", value, re.DOTALL).groups()
        return new.get(name, name) + rest

    def formula(value: str) -> str:
        return re.sub(r"([A-Za-z]\w*)(?=\.[qu])", lambda named: f"'{new.get(named[1], named[1])}'", value)

    def change(value: Any, key: str = "") -> Any:
        match value:
            case str() if key in ("formula", "force", "torque"):
                return formula(value)
            case str():
                return value if key == "type" or (key == "quantity" and value in ("distance", "angle")) else text(value)
            case dict() if key in ("terms", "gears", "q", "u", "joint"):
                return {text(name): item for name, item in value.items()}
            case dict():
                return {name: change(item, name) for name, item in value.items()}
            case list():
                return [change(item, key) for item in value]
        return value

    data = mech.to_dict()
    return lw.Mechanism.from_dict({**change(data), "name": data["name"]})


class Grammar:
    """The names of FMI 2.0.4, section 2.2.9, and FMI 3.0, section 2.4.7.5.1: a parser of the rules as they stand there.

    name = identifier | "der(" identifier ["," unsignedInteger] ")";
    identifier = B-name [arrayIndices] {"." B-name [arrayIndices]};
    B-name = nondigit {digit | nondigit} | Q-name; Q-name = "'" (Q-char | escape) {Q-char | escape} "'".
    """

    NONDIGIT = frozenset("_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    DIGIT = frozenset("0123456789")
    Q_CHAR = NONDIGIT | DIGIT | frozenset("!#$%&()*+,-./:;<>=?@[]^{}|~ ")
    ESCAPED = frozenset("'\"?\\abfnrtv")

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def is_name(self) -> bool:
        """Whether the whole text is a name."""
        if self._identifier() and self._ended():
            return True
        self.at = 0
        if not (self._word("der(") and self._identifier()):
            return False
        if self._word(",") and not self._number():
            return False
        return self._word(")") and self._ended()

    def _ended(self) -> bool:
        return self.at == len(self.text)

    def _next(self) -> str:
        return self.text[self.at : self.at + 1]

    def _word(self, word: str) -> bool:
        found = self.text.startswith(word, self.at)
        self.at += len(word) * found
        return found

    def _one_of(self, signs: frozenset[str]) -> bool:
        found = self._next() in signs and not self._ended()
        self.at += found
        return found

    def _identifier(self) -> bool:
        while self._b_name() and self._indices():
            if not self._word("."):
                return True
        return False

    def _b_name(self) -> bool:
        if self._word("'"):
            count = 0
            while self._one_of(self.Q_CHAR) or (self._word("\\") and self._one_of(self.ESCAPED)):
                count += 1
            return self._word("'") and count > 0
        if not self._one_of(self.NONDIGIT):
            return False
        while self._one_of(self.NONDIGIT | self.DIGIT):
            pass
        return True

    def _indices(self) -> bool:
        if not self._word("["):
            return True
        while self._number():
            if not self._word(","):
                return self._word("]")
        return False

    def _number(self) -> bool:
        first = self.at
        while self._one_of(self.DIGIT):
            pass
        return self.at > first
