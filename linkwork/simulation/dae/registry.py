"""Formulations by name. Their modules are imported when one is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from linkwork._util.names import suggest
from linkwork.core.native import Block
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.model.model import Model
from linkwork.simulation.dae.formulation import Formulation
from linkwork.simulation.law import Law

EXPLICIT = "ode"
_MAKERS = {
    "ggl": "linkwork.simulation.dae.ggl:formulate",
    "chou": "linkwork.simulation.dae.chou:formulate",
}
SOLVERS = ("ida",)  # those that take implicit equations


def solver_of(formulation: str, solver: str) -> str:
    """Return the solver of a formulation: "auto" is one that takes its equations."""
    return SOLVERS[0] if solver == "auto" and formulation in _MAKERS else solver


@dataclass(frozen=True)
class FormulationRequest:
    """A formulation asked for by name, with its options."""

    name: str
    solver: str
    options: dict[str, Any]

    def __post_init__(self) -> None:
        if self.name not in formulation_names():
            hint = suggest(self.name, formulation_names())
            raise MechanismNameError(f"there is no formulation {self.name!r}: {hint}")
        if self.name != EXPLICIT and self.solver not in SOLVERS:
            raise MechanismError(
                f"formulation {self.name!r} is a system of differential-algebraic equations, which "
                f"solver={self.solver!r} does not solve: use solver='ida'"
            )
        if self.options and self.name != "chou":
            raise MechanismError(f"scheme goes with formulation='chou', not with {self.name!r}: leave it out")

    def make(self, system: Model, block: Block, law: Law) -> Formulation | None:
        """Return the formulation of a run in a block; None for the explicit equations, which need none."""
        if self.name == EXPLICIT:
            return None
        module, attribute = _MAKERS[self.name].split(":")
        maker: Callable[..., Formulation] = getattr(import_module(module), attribute)
        return maker(system, block, law, **self.options)


def formulation_names() -> tuple[str, ...]:
    """Return the names that `simulate` accepts."""
    return (EXPLICIT, *_MAKERS)
