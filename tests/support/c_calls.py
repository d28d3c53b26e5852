"""Which file of C and C++ uses functions of which: read by libclang from the units, macros expanded."""

import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The wheel of libclang has no headers of a compiler.
HEADERS = ("cc", "-print-file-name=include")
STANDARDS = {".c": "-std=c11", ".cpp": "-std=gnu++17"}


@dataclass(frozen=True)
class Function:
    """A function by the file that defines it: static ones of one name are different."""

    file: str
    name: str


@dataclass
class Calls:
    """Uses of functions by name, called or passed on, by functions and tables; libc's are left out.

    A table of functions is the seam through which a file may call others above it: who uses the table does not count as
    a user of the functions.
    """

    uses: dict[Function, set[Function]]
    errors: list[str]

    def of_files(self) -> dict[str, set[str]]:
        """For each file those whose functions it uses."""
        found: dict[str, set[str]] = {}
        for user, used in self.uses.items():
            found.setdefault(user.file, set()).update(one.file for one in used if one.file != user.file)
        return found

    def between(self, user: str, used: str) -> list[str]:
        """In words the uses of one file by another."""
        return sorted(
            f"{one.name} of {one.file} uses {other.name} of {other.file}"
            for one, others in self.uses.items()
            for other in others
            if (one.file, other.file) == (user, used)
        )


def uses_of_functions(top: Path, units: Iterable[Path], flags: Iterable[str]) -> Calls:
    """Return who uses whom among the functions that files below `top` define."""
    from clang import cindex

    kinds = cindex.CursorKind
    functions = {kinds.FUNCTION_DECL, kinds.CXX_METHOD, kinds.CONSTRUCTOR, kinds.DESTRUCTOR, kinds.CONVERSION_FUNCTION}
    scopes = {kinds.NAMESPACE, kinds.LINKAGE_SPEC, kinds.UNEXPOSED_DECL, kinds.CLASS_DECL, kinds.STRUCT_DECL}
    headers = subprocess.run(HEADERS, capture_output=True, text=True, check=True).stdout.strip()
    options = ["-D_GNU_SOURCE", "-isystem", headers, *flags]
    index = cindex.Index.create()
    defined: dict[str, Function] = {}  # extern ones
    uses: dict[Function, set[Function | str]] = {}
    errors: list[str] = []

    def below_top(cursor: Any) -> str | None:
        place = cursor.location.file
        path = Path(place.name) if place else None
        return path.relative_to(top).as_posix() if path and path.is_relative_to(top) else None

    def key(cursor: Any) -> Function | str | None:
        definition = cursor.get_definition() or cursor
        if definition.linkage == cindex.LinkageKind.EXTERNAL:
            return str(definition.mangled_name)  # that of C is its name
        file = below_top(definition)
        return Function(file, definition.spelling) if file else None

    def references(cursor: Any, known: dict[int, Function | str | None]) -> Iterator[Function | str]:
        stack = [cursor]
        while stack:
            for child in stack.pop().get_children():
                if child.kind != kinds.DECL_REF_EXPR:
                    stack.append(child)
                if child.kind not in (kinds.DECL_REF_EXPR, kinds.MEMBER_REF_EXPR, kinds.CALL_EXPR):
                    continue
                target = child.referenced
                if target is None:
                    continue
                if target.hash not in known:
                    known[target.hash] = key(target) if target.kind in functions else None
                if found := known[target.hash]:
                    yield found

    def definitions(cursor: Any) -> Iterator[Any]:
        for child in cursor.get_children():
            if child.kind in functions | {kinds.VAR_DECL} and child.is_definition():
                yield child
            elif child.kind in scopes:
                yield from definitions(child)

    for unit in units:
        parsed = index.parse(str(unit), [STANDARDS[unit.suffix], *options])
        known: dict[int, Function | str | None] = {}  # by what a use refers to
        errors += [str(one) for one in parsed.diagnostics if one.severity >= cindex.Diagnostic.Error]
        for cursor in definitions(parsed.cursor):
            file = below_top(cursor)
            if file is None:
                continue
            own = Function(file, cursor.spelling)
            if own in uses and file.endswith(".h") and ("_kernel" not in file or unit.suffix == ".cpp"):
                continue  # the same in every unit; kernels differ by their arithmetic, but in C++ by their scalar alone
            uses.setdefault(own, set()).update(references(cursor, known))
            if cursor.kind in functions and cursor.linkage == cindex.LinkageKind.EXTERNAL:
                defined[cursor.mangled_name] = own
    found = {
        own: {
            target if isinstance(target, Function) else defined[target]
            for target in targets
            if isinstance(target, Function) or target in defined
        }
        for own, targets in uses.items()
    }
    return Calls(found, errors)
