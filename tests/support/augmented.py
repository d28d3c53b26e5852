"""The equations with multipliers of a mechanism, ready to be asked at a state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.core.native import Block
from linkwork.simulation.dae.ggl import GGL
from linkwork.simulation.inputs import Inputs
from linkwork.simulation.law import Law
from linkwork.solvers import Implicit, Problem, Solution, solve

from .placement import Values, vector
from .poses import Array


@dataclass
class Augmented:
    """A system, its block with inputs, its equations, and a state [q; u] at a time."""

    system: lw.Model
    block: Block
    ggl: GGL
    states: Array
    time: float

    @property
    def nq(self) -> int:
        return int(self.system.sizes.nq)

    @property
    def kept(self) -> Array:
        """Which rows of velocities hold."""
        return self.ggl.relaxation[: self.ggl.rows] == 0

    def start(self) -> tuple[Array, Array]:
        return self.ggl.start(self.time, self.states)

    def speeds(self, values: Values) -> Array:
        """Numbers of all tree speeds from those by joint name."""
        n = self.system.numbering
        found = np.zeros(n.nu_all)
        for name, value in values.items():
            found[n.u[name]] = vector(value)
        return found[: n.nu]

    def run(self, t_end: float, rtol: float, **options: Any) -> Solution:
        """By IDA."""
        ggl = self.ggl
        implicit = Implicit(ggl.residual, ggl.jacobian, algebraic=ggl.algebraic)
        problem = Problem(ggl.rates, self.time, self.start()[0], implicit=implicit)
        return solve(problem, t_end, solver="ida", rtol=rtol, atol=rtol, **options)


def augmented(
    mechanism: lw.Mechanism | lw.Model, state: lw.State | None = None, inputs: Mapping[str, Any] | None = None
) -> Augmented:
    """Of a mechanism at its start, or of a system at a state."""
    system = mechanism if isinstance(mechanism, lw.Model) else lw.compile(mechanism)
    state = system.assemble() if state is None else state
    block = system.block()
    law = Law(system, block, Inputs(inputs or {}, system.numbering, system.arguments.no_inputs))
    system.enter(block, state)
    q, u = system.arguments.states(state, None)
    block.enter(q, u, law.inputs.at(state.time), state.time)
    return Augmented(system, block, GGL(system, block, law), np.concatenate([q, u]), state.time)


def step_off(rng: np.random.Generator, at: Augmented, size: float = 0.05) -> tuple[Array, Array]:
    """States and rates at which nothing is closed or in balance."""
    y, ydot = at.start()
    return y + size * rng.normal(size=y.size), ydot + rng.normal(size=y.size)
