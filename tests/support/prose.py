"""The texts in the files of the project: prose of documents, and the comments and messages of sources.

A text keeps its line breaks, so that the line of a word in its file is known.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"^ {4}.*$", re.MULTILINE)
INLINE_CODE = re.compile(r"`[^`\n]*`")
LINK_TARGET = re.compile(r"\]\([^)\s]*\)")
DOCTEST = re.compile(r"^ *(?:>>>|\.\.\.) .*$", re.MULTILINE)
C_TOKEN = re.compile(
    r"""/\*.*?\*/            # comment
      | //[^\n]*
      | "(?:\\.|[^"\\\n])*"  # string
      | '(?:\\.|[^'\\\n])*'  # character
    """,
    re.DOTALL | re.VERBOSE,
)
PARTS = ("*.py", "*.c", "*.cpp", "*.h", "*.md")


class Text(NamedTuple):
    """A text and the line of its file in which it begins."""

    line: int
    words: str


def blank(pattern: re.Pattern[str], text: str) -> str:
    """Replace matches by spaces, line breaks excepted."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def of_document(source: str) -> Iterator[Text]:
    """Prose of a Markdown page: all except code and link targets."""
    for pattern in (FENCED, INDENTED, INLINE_CODE, LINK_TARGET):
        source = blank(pattern, source)
    yield Text(1, source)


def of_python(source: str) -> Iterator[Text]:
    """Comments, docstrings and messages: string literals of more than one word, code in them excepted."""
    block: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        if token.start[0] != last + 1:
            if block:
                yield Text(first, blank(INLINE_CODE, "\n".join(block)))
            block, first = [], token.start[0]
        block.append(token.string.lstrip("#"))
        last = token.start[0]
    if block:
        yield Text(first, blank(INLINE_CODE, "\n".join(block)))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield Text(node.lineno, blank(INLINE_CODE, blank(DOCTEST, node.value)))


def of_c(source: str) -> Iterator[Text]:
    """Comments, and strings of more than one word."""
    for match in C_TOKEN.finditer(source):
        token = match[0]
        if token.startswith("/") or (token.startswith('"') and " " in token[1:-1].strip()):
            words = re.sub(r"(?m)^ \*", "  ", token)
            yield Text(source.count("\n", 0, match.start()) + 1, blank(INLINE_CODE, words))


def texts(path: Path) -> Iterator[Text]:
    """All texts of a file, by its kind."""
    kinds = {".md": of_document, ".py": of_python}
    yield from kinds.get(path.suffix, of_c)(path.read_text(encoding="utf-8"))


def files(part: Path) -> list[Path]:
    """The files with texts in a folder, or the file itself."""
    if part.is_file():
        return [part]
    return sorted(path for pattern in PARTS for path in part.rglob(pattern) if not path.is_symlink())
