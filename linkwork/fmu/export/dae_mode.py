"""DAE mode by the layered standard FMI-LS-DAE, draft 1.0.0-alpha.1: residuals, their variables and the manifest.

The importer solves F(x, x', z, t) = 0, the equations of `linkwork.simulation.dae.ggl`, with multipliers
z = [lambda; mu].
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import ExportError
from linkwork.mechanism.friction import has_events, refuse_pressed

if TYPE_CHECKING:
    from linkwork._util.checks import FloatArray
    from linkwork.model.model import Model

MANIFEST = "extra/org.fmi-standard.fmi-ls-dae/fmi-ls-manifest.xml"
_NAMESPACE = "http://fmi-standard.org/fmi-ls-manifest"
_NAMED = {
    "fmi-ls-name": "org.fmi-standard.fmi-ls-dae",
    "fmi-ls-version": "1.0.0-alpha.1",
    "fmi-ls-description": "Layered standard for DAE support in FMI.",
}
_POINTS = 3  # at which entries of the Jacobian are looked for
_SPREAD = 0.3  # of their coordinates and speeds


@dataclass(frozen=True)
class DaeMode:
    """What DAE mode adds to an FMU."""

    enabled: int  # offset of the structural parameter; the algebraic variables and the residuals follow it
    rows: int  # number of constraints: there are twice as many algebraic variables
    dependencies: tuple[tuple[int, ...], ...]  # offsets of what each residual depends on, ascending

    @property
    def algebraic(self) -> range:
        """Offsets of the algebraic variables."""
        return range(self.enabled + 1, self.enabled + 1 + 2 * self.rows)

    @property
    def residuals(self) -> range:
        """Offsets of the residuals."""
        return range(self.algebraic.stop, self.algebraic.stop + len(self.dependencies))

    @property
    def offsets(self) -> range:
        """Offsets of all of its variables, in their order."""
        return range(self.enabled, self.residuals.stop)

    def variables(self, number: Mapping[int, int]) -> Iterator[str]:
        """Return the variables in the words of FMI 3.0, a line each; `number`: value references by offset."""
        text = "whether the importer solves the residuals"
        yield _variable("Boolean", "dae.enabled", number[self.enabled], text, "structuralParameter")
        names = [*_named("dae.lambda", self.rows), *_named("dae.mu", self.rows)]
        texts = ["multiplier of a constraint, N"] * self.rows + ["multiplier of a position"] * self.rows
        for name, at, text in zip(names, self.algebraic, texts, strict=True):
            yield _variable("Float64", name, number[at], text)
        for name, at in zip(_named("dae.residual", len(self.dependencies)), self.residuals, strict=True):
            yield _variable("Float64", name, number[at], "residual, zero where the equations hold")

    def manifest(self, others: Iterable[str], number: Mapping[int, int]) -> bytes:
        """Return the manifest.

        Parameters
        ----------
        others
            The entries of ModelStructure that stay, but those of derivatives.
        number
            Value references by offset.
        """
        named = "".join(f' fmi-ls:{name}="{value}"' for name, value in _NAMED.items())
        lines = [
            '<?xml version="1.0" encoding="utf-8"?>\n',
            f'<fmiDAEManifest xmlns:fmi-ls="{_NAMESPACE}"{named}>\n',
            f'  <EnableDAEParameter valueReference="{number[self.enabled]}" />\n',
            "  <AlgebraicVariables>\n",
            *(f'    <AlgebraicVariable valueReference="{number[at]}" />\n' for at in self.algebraic),
            "  </AlgebraicVariables>\n  <ModelStructure>\n",
            *others,
            *(
                f'    <Residual valueReference="{number[at]}" dependencies="{_text(knowns, number)}" />\n'
                for at, knowns in zip(self.residuals, self.dependencies, strict=True)
            ),
            "  </ModelStructure>\n</fmiDAEManifest>\n",
        ]
        return "".join(lines).encode()


def _text(offsets: Iterable[int], number: Mapping[int, int]) -> str:
    return " ".join(map(str, sorted(number[at] for at in offsets)))


def _variable(kind: str, name: str, reference: int, text: str, causality: str = "local") -> str:
    more = 'variability="continuous" initial="calculated"'
    if causality != "local":
        more = 'variability="fixed" initial="exact" start="false"'
    named = f'name="{name}" valueReference="{reference}" description="{text}" causality="{causality}"'
    return f"    <{kind} {named} {more} />\n"


def _named(name: str, count: int) -> list[str]:
    return [f"{name}[{i + 1}]" for i in range(count)]


def dae_mode(system: Model, enabled: int, states: list[int], rates: list[int], inputs: list[int]) -> DaeMode:
    """Find the residuals and what they depend on.

    Parameters
    ----------
    system
        The mechanism.
    enabled
        The first offset that is free.
    states, rates, inputs
        Offsets of the states, of their derivatives, and of inputs and time.
    """
    if has_events(system.mechanism):
        raise ExportError("DAE mode is for mechanisms without transitions and friction that sticks; leave dae=True out")
    if system.sizes.formula_states:
        raise ExportError("DAE mode is for mechanisms without states of elements; leave dae=True out")
    refuse_pressed(system.mechanism, "DAE mode")
    block = system.block()
    rows = block.model.constraint_rows
    algebraic = list(range(enabled + 1, enabled + 1 + 2 * rows))
    pattern = _pattern(block, rows, inputs)
    knowns = np.array([*states, *rates, *algebraic, *inputs])
    found = tuple(tuple(sorted(knowns[row].tolist())) for row in pattern)
    return DaeMode(enabled, rows, found)


def _pattern(block: Any, rows: int, inputs: list[int]) -> Any:
    """Which residual depends on which state, rate, algebraic variable and input: exact zeros stay zero."""
    sizes = block.model.sizes
    ns = sizes.nq + sizes.nu
    n = ns + 2 * rows
    random = np.random.default_rng(0)
    found = np.zeros((n, ns + n + len(inputs)), dtype=bool)
    start = np.concatenate([block["q"], block["u"], np.zeros(2 * rows)])
    relaxation, zero, unit = np.ones(2 * rows), np.zeros(n), np.eye(n)
    for _ in range(_POINTS):
        y = start + _SPREAD * np.concatenate([random.standard_normal(ns), np.zeros(2 * rows)])
        ydot = random.standard_normal(n)
        point = 0.0, y, ydot, relaxation
        columns: list[FloatArray] = [block.dae_derivative(*point, (unit[k], zero)) for k in range(ns)]
        columns += [block.dae_derivative(*point, (zero, unit[k])) for k in range(n)]
        columns += [block.dae_derivative(*point, (zero, zero), known) for known in inputs]
        found |= np.array(columns).T != 0.0
    return found
