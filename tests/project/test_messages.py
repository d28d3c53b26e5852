"""The messages that docs/errors.md explains are those of the sources."""

import ast
import re

from linkwork import errors
from support.checkout import TOP
from support.prose import C_TOKEN, files

PAGE = TOP / "docs" / "errors.md"
QUOTED = re.compile(r"^\| (`[^|]*) \|", re.MULTILINE)
GIVEN = re.compile(r"'[^']*'|\.\.\.|[\[\]().:;,=?]|\b\d[\de.-]*\b")  # names, numbers and marks, which may be filled in
MIN_WORDS = 3


def literals() -> str:
    """All string literals of the package and of the C sources, joined as the compilers join them."""
    found = []
    for folder in ("linkwork", "solvers", "csrc", "fmu_src"):
        for path in files(TOP / folder):
            source = path.read_text(encoding="utf-8")
            if path.suffix == ".py":
                nodes = ast.walk(ast.parse(source))
                found += [
                    node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)
                ]
            else:
                joined = re.sub(r'"\s*"', "", source)
                found += [token[0][1:-1] for token in C_TOKEN.finditer(joined) if token[0].startswith('"')]
    return "\n".join(found)


def fragments(message: str) -> list[str]:
    """The parts of a quoted message that are the same whatever the mechanism."""
    parts = [part.strip() for part in GIVEN.split(message)]
    return [part for part in parts if len(part.split()) >= MIN_WORDS]


def pieces(words: list[str], source: str) -> int:
    """Number of pieces of the sources in a fragment: more than one if words are filled in."""
    count = 0
    while words:
        length = next((n for n in range(len(words), 0, -1) if " ".join(words[:n]) in source), 1)
        words, count = words[length:], count + 1
    return count


def is_known(fragment: str, source: str) -> bool:
    words = fragment.split()
    return pieces(words, source) <= 1 + (len(words) + 1) // 4


def test_explained_messages_are_those_of_the_sources() -> None:
    source = literals()
    cells = QUOTED.findall(PAGE.read_text(encoding="utf-8"))
    quoted = [message for cell in cells for message in cell.split("`")[1::2]]
    stale = [part for message in quoted for part in fragments(message) if not is_known(part, source)]
    assert len(quoted) > 70
    assert not stale, "in docs/errors.md, but in no source:\n" + "\n".join(stale)


def test_listed_exceptions_are_those_of_the_package() -> None:
    listed = set(re.findall(r"^\| `(\w+Error)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    defined = {name for name in vars(errors) if name.endswith("Error")}
    assert listed == defined - {"LinkworkError"}
    assert all(issubclass(getattr(errors, name), errors.LinkworkError) for name in listed)
