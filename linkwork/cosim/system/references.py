"""How variables of components are named: ``component.variable``, where either may have dots in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from linkwork._util.names import suggest
from linkwork.errors import CosimError, CosimNameError

T = TypeVar("T")


def known(name: str, table: Mapping[str, T], what: str, where: str = "") -> T:
    """Look a name up."""
    if name in table:
        return table[name]
    place = f" in {where}" if where else ""
    raise CosimNameError(f"there is no {what} {name!r}{place}; {suggest(name, table)}")


class Reference(str):
    """A text ``component.variable`` and its parts."""

    component: str
    variable: str

    def __new__(cls, component: str, variable: str) -> Reference:
        """Join the parts."""
        self = super().__new__(cls, f"{component}.{variable}")
        self.component, self.variable = component, variable
        return self

    @property
    def parts(self) -> tuple[str, str]:
        """Component and variable."""
        return self.component, self.variable

    def __reduce__(self) -> tuple[type[Reference], tuple[str, str]]:
        return type(self), self.parts


def parse(reference: str, components: Mapping[str, object]) -> Reference:
    """Return a reference with its parts, itself if it has them; of components that fit, the longest name is taken."""
    if isinstance(reference, Reference) and reference.component in components:
        return reference
    head, dot, _ = reference.rpartition(".")
    while dot and head not in components:
        head, dot, _ = head.rpartition(".")
    if dot:
        return Reference(head, reference[len(head) + 1 :])
    if "." not in reference:
        raise CosimError(f"{reference!r} names no variable; write component.variable, such as 'plant.A.q'")
    known(reference.partition(".")[0], components, "component", f"the reference {reference!r}")
    raise AssertionError(reference)
