"""Chou's implicit equations of an n-body pendulum as a formulation, in the four schemes of his paper."""

from __future__ import annotations

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core.chain_kernels import ChainKernels
from linkwork.core.native import Block
from linkwork.errors import MechanismError
from linkwork.model.model import Model
from linkwork.simulation.dae.chain import Chain
from linkwork.simulation.dae.chain_operators import ChainNewton
from linkwork.simulation.dae.formulation import Formulation
from linkwork.simulation.law import Law
from linkwork.solvers import CompiledImplicit, Implicit

SCHEMES = (1, 2, 3, 4)


class Chou(Formulation):
    """14 unknowns a body: place and velocity of the mass centre, Euler parameters and their rates.

    Parameters
    ----------
    chain
        The chain of bodies.
    scheme
        How the Newton matrix is had: 1 by differences, 2 exact, 3 reduced to 3 unknowns a body, 4 by two sweeps.
    """

    def __init__(self, chain: Chain, scheme: int = 4) -> None:
        if scheme not in SCHEMES:
            raise MechanismError(f"formulation='chou' has schemes {', '.join(map(str, SCHEMES))}, not {scheme!r}")
        self.chain = chain
        self.kernels = chain.kernels(dense=scheme == 3)
        self.implicit = _equations(self.kernels, scheme)

    def unknowns(self, t: float, y: FloatArray) -> FloatArray:
        """Return X (14 n,) at states [q; u]."""
        q, u = np.split(y, [4 * self.chain.n])
        return self.chain.unknowns(q, u)

    def rates(self, t: float, unknowns: FloatArray) -> FloatArray:
        """Return X' (14 n,) at X; not a number where the accelerations are not unique."""
        try:
            return self.kernels.derivative(unknowns)
        except np.linalg.LinAlgError:
            return np.full(unknowns.size, np.nan)

    def states(self, unknowns: FloatArray) -> FloatArray:
        """Return [q; u], (..., 7 n), of X (..., 14 n)."""
        return self.chain.states(unknowns)


def _equations(kernels: ChainKernels, scheme: int) -> Implicit:
    def residual(t: float, x: FloatArray, xdot: FloatArray) -> FloatArray:
        return kernels.residual(x, xdot)

    def jacobian(t: float, x: FloatArray, xdot: FloatArray, cj: float) -> FloatArray:
        return kernels.jacobian(x, xdot, cj)

    if scheme == 1:
        return Implicit(residual)
    if scheme == 2:
        return Implicit(residual, jacobian)
    reduced = scheme == 3
    return Implicit(
        residual, operator=ChainNewton(kernels, reduced=reduced), compiled=CompiledImplicit(*kernels.addresses(reduced))
    )


def formulate(system: Model, block: Block, law: Law, scheme: int = 4) -> Chou:
    """Return the equations of a run; MechanismError where its mechanism is no such chain or inputs load it."""
    chain = Chain.of(system)
    if law.names:
        raise MechanismError(
            f"formulation='chou' has no loads, but there is one in {law.names[0]!r}; use formulation='ggl'"
        )
    return Chou(chain, scheme)
