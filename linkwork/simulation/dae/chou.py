"""Chou's implicit equations of an n-body pendulum as a formulation, in the four schemes of his paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.rotations import conjugate, product, quaternions_of, rate, rotate, running_product, spin
from linkwork.core.chain_kernels import UNKNOWNS, ChainBodies, ChainKernels
from linkwork.core.native import Block
from linkwork.errors import MechanismError
from linkwork.mechanism import GROUND, Frame, Joint, Mechanism, Spherical
from linkwork.model.model import Model
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


class ChainNewton:
    """A `NewtonOperator` of `linkwork.solvers`.

    Parameters
    ----------
    kernels
        Where it is computed.
    reduced
        Scheme 3: the rotations of the bodies by a dense LU, the rest by substitution; the kernels store that
        (`ChainKernels(bodies, dense=True)`). Otherwise scheme 4: two sweeps along the chain, O(n).
    """

    def __init__(self, kernels: ChainKernels, *, reduced: bool = False) -> None:
        self._prepare = kernels.reduce if reduced else kernels.factor
        self.solve = kernels.solve
        self.rate_times = kernels.rate_times

    def factor(self, t: float, y: FloatArray, ydot: FloatArray, cj: float) -> None:
        """Prepare J at (y, y') and cj, (14 n,) each; LinAlgError where it has no inverse."""
        self._prepare(y, ydot, cj)


_P, _S = slice(6, 10), slice(10, 14)


@dataclass(frozen=True, eq=False)
class Chain:
    """A chain of n bodies on spherical joints, from the ground outwards; made by `Chain.of`."""

    names: tuple[str, ...]  # of the bodies along the chain
    # As the kernels take them, in the axes of the body frames. The last body has its mass centre as outer joint.
    bodies: ChainBodies
    # inner_turn, outer_turn: joint frame of each joint in the body before it and in the body behind it, quaternions (n,
    # 4)
    inner_turn: FloatArray
    outer_turn: FloatArray
    reversed: np.ndarray[tuple[int], np.dtype[np.bool_]]  # whether a joint's child is the body before it, (n,)
    # q_index, u_index: where the coordinates and speeds of each joint stand among those of the system, (n, 4) and (n,
    # 3)
    q_index: np.ndarray[tuple[int, int], np.dtype[np.intp]]
    u_index: np.ndarray[tuple[int, int], np.dtype[np.intp]]

    @classmethod
    def of(cls, system: Model) -> Chain:
        """Return the chain that a system is.

        Raises
        ------
        MechanismError
            If it is none; the text names the first thing that does not fit.
        """
        mech = system.mechanism
        _check(system)
        names, joints = list(mech.bodies), list(mech.joints)
        order = [names[link.body] for link in system.topology.links]
        along = [mech.joints[joints[link.joint]] for link in system.topology.links]
        before = [_frame(joint, behind) for joint, behind in zip(along, [GROUND, *order], strict=False)]
        behind = [_frame(joint, body) for joint, body in zip(along, order, strict=True)]
        return cls(
            names=tuple(order),
            bodies=_bodies(mech, order, before, behind),
            inner_turn=quaternions_of(np.array([frame.rotation for frame in before])),
            outer_turn=quaternions_of(np.array([frame.rotation for frame in behind])),
            reversed=np.array([link.reversed for link in system.topology.links]),
            q_index=np.array([np.arange(4) + system.numbering.q[joint.name].start for joint in along]),
            u_index=np.array([np.arange(3) + system.numbering.u[joint.name].start for joint in along]),
        )

    @property
    def n(self) -> int:
        """Number of bodies."""
        return len(self.names)

    def kernels(self, dense: bool = False) -> ChainKernels:
        """Return new kernels for its equations; `dense` allocates the reduced matrix."""
        return ChainKernels(self.bodies, dense)

    def unknowns(self, q: ArrayLike, u: ArrayLike) -> FloatArray:
        """Return X (14 n,) on all constraints from coordinates (4 n,) and speeds (3 n,) of the system."""
        turns = np.asarray(q, dtype=np.float64)[self.q_index]
        speeds = np.asarray(u, dtype=np.float64)[self.u_index]
        turns = turns / np.linalg.norm(turns, axis=-1, keepdims=True)
        back = self.reversed
        turns[back] = conjugate(turns[back])
        between = product(product(self.inner_turn, turns), conjugate(self.outer_turn))
        added = rotate(self.outer_turn, speeds)  # in the axes of the body behind
        added[back] = -rotate(conjugate(between[back]), rotate(self.inner_turn[back], speeds[back]))
        x = np.zeros((self.n, UNKNOWNS))
        p = running_product(between)
        w = np.cumsum(rotate(p, added), axis=0)  # in the world
        x[:, _P], x[:, _S] = p, rate(p, rotate(conjugate(p), w))
        return self.kernels().close(x.ravel())

    def states(self, x: ArrayLike) -> FloatArray:
        """Return rows [q, u], (..., 7 n), of the system from X, (..., 14 n).

        Quaternions follow those of X: where these change without a jump of sign, so do they, and those that `unknowns`
        was given come back.
        """
        given = np.asarray(x, dtype=np.float64)
        rows = given.reshape(*given.shape[:-1], self.n, UNKNOWNS)
        length = np.linalg.norm(rows[..., _P], axis=-1, keepdims=True)
        p = rows[..., _P] / length
        w = spin(p, rows[..., _S] / length)
        first = np.zeros_like(p[..., :1, :])
        first[..., 0] = 1.0
        between = product(conjugate(np.concatenate([first, p[..., :-1, :]], axis=-2)), p)
        before = np.concatenate([np.zeros_like(w[..., :1, :]), w[..., :-1, :]], axis=-2)
        relative = w - rotate(conjugate(between), before)
        turns = product(product(conjugate(self.inner_turn), between), self.outer_turn)
        speeds = rotate(conjugate(self.outer_turn), relative)
        back = self.reversed
        turns[..., back, :] = conjugate(turns[..., back, :])
        inner = rotate(between[..., back, :], -relative[..., back, :])
        speeds[..., back, :] = rotate(conjugate(self.inner_turn[back]), inner)
        result = np.empty((*given.shape[:-1], 7 * self.n))
        result[..., self.q_index] = turns
        result[..., 4 * self.n + self.u_index] = speeds
        return result


def _frame(joint: Joint, body: str) -> Frame:
    return joint.parent_frame if joint.parent == body else joint.child_frame


def _bodies(mech: Mechanism, order: list[str], before: list[Frame], behind: list[Frame]) -> ChainBodies:
    bodies = [mech.bodies[name] for name in order]
    centre = np.array([body.com for body in bodies])
    outer = np.array([*(frame.position for frame in before[1:]), bodies[-1].com])
    return ChainBodies(
        mass=np.array([body.mass for body in bodies]),
        inertia=np.array([body.inertia for body in bodies]),
        inner=np.array([frame.position for frame in behind]) - outer,
        centre=centre - outer,
        gravity=mech.gravity,
        support=np.array(before[0].position),
    )


def _check(system: Model) -> None:
    """Refuse what Chou's equations do not have."""
    mech, links = system.mechanism, system.topology.links
    joints = list(mech.joints.values())
    for joint in joints:
        if not isinstance(joint.kind, Spherical):
            raise _misfit(f"joint {joint.name!r} is {joint.kind!r}")
    for loop in system.topology.loops:
        raise _misfit(f"joint {joints[loop.joint].name!r} closes a loop")
    for body in mech.bodies.values():
        if body.mass == 0.0:
            raise _misfit(f"body {body.name!r} has no mass")
    for i, link in enumerate(links):
        if link.parent != i - 1:
            name = joints[link.joint].name
            raise _misfit(f"at joint {name!r} the mechanism branches")
    recorded_only = [("coupling", name) for name in mech.couplings]
    recorded_only += [("distance", name) for name in mech.distances]
    recorded_only += [("transition", name) for name in mech.transitions]
    recorded_only += [("state", name) for name in mech.states]
    for what, name in recorded_only:
        raise _misfit(f"it has {what} {name!r}")
    for force in mech.forces:
        where = "".join(f" in joint {name!r}" for name in force.joint_names)
        raise _misfit(f"it has {force.label}{where}")


def _misfit(what: str) -> MechanismError:
    return MechanismError(
        f"formulation='chou' takes bodies in a row on Spherical joints without anything else, but {what}; "
        "use formulation='ggl'"
    )
