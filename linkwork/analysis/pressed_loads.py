"""Loads of a motion in which reactions press frictions, N' (M udot + h - f) along the motions N that loops leave.

With the pressing forces given these are linear in the numbers of `load_regressor`, coefficients of friction among them,
and their columns exact differences. The pressing forces follow from the motion and the loads of the motors, and so from
all of these numbers; both are repeated until they stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.analysis.load_distribution import least_norm
from linkwork.analysis.load_regressor import STEP, Samples, Unknowns
from linkwork.core.native import LoadEquations, Stage
from linkwork.errors import MechanismError
from linkwork.mechanism import Friction
from linkwork.mechanism.forces import of_kind

if TYPE_CHECKING:
    from linkwork.analysis.configuration_space import ConfigurationSpace


class PressedLoads:
    """The loads of a motion by the numbers of a model, with given pressing forces or those of given loads.

    Parameters
    ----------
    unknowns
        Of the model.
    space
        Its poses.
    t, samples
        The motion: times (n,), and states and accelerations.
    rows
        Speeds of the motors by the speeds of all joints, (motors, nu + nu_cut).
    dof
        Degrees of freedom.
    """

    def __init__(
        self,
        unknowns: Unknowns,
        space: ConfigurationSpace,
        t: FloatArray,
        samples: Samples,
        rows: FloatArray,
        dof: int,
    ) -> None:
        self.unknowns, self.rows, self.t = unknowns, rows, t
        self.frictions = [one.name for one in of_kind(unknowns.model.mechanism.forces, Friction)]
        self._samples, self._dof = samples, dof
        self._turns = unknowns.model.arguments.turns(space.start)
        self._block = unknowns.model.block()
        self._kept = self._block.reals.copy()

    def at(
        self, phi: FloatArray | None = None, loads: FloatArray | None = None, pressing: FloatArray | None = None
    ) -> LoadEquations:
        """Return the equations of the motors with other linear numbers (K,); by default those of the model.

        Pressing forces (n, frictions) are those given; with loads (n, motors) they are replaced by those of these.
        """
        at = 0
        for group in self.unknowns.groups if phi is not None else ():
            x = group.physical_of(phi[at : at + len(group.linear)])  # type: ignore[index]
            if not np.isfinite(x).all():
                raise MechanismError(
                    f"parameters: {group.physical[0]} is zero, and reactions that press frictions need the centre of "
                    "mass: give the body a mass, or name its mass, com and inertia in place of moments"
                )
            self._block.reals[group.offsets] = x
            at += len(group.linear)
        found = self._evaluated(loads, pressing)
        self._restore()
        return found

    def columns(self, pressing: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return loads by the linear numbers (n, dof, K), those of the model (n, dof), and motors (n, dof, motors)."""
        own = self._evaluated(None, pressing)
        columns = []
        for group in self.unknowns.groups:
            ends = []
            for phi in (group.reference, *(group.reference + STEP * unit for unit in np.eye(len(group.linear)))):
                self._block.reals[group.offsets] = group.physical_of(phi)
                ends.append(self._evaluated(None, pressing).load)
            columns += [(end - ends[0]) / STEP for end in ends[1:]]
            self._restore()
        return np.stack(columns, axis=-1), own.load, own.matrix

    def pressing_of_least_loads(self) -> FloatArray:
        """Return the pressing forces (n, frictions) of the least loads, as frictions by reactions had no load."""
        free = self._evaluated(None, None)
        loads = least_norm(free.matrix, free.load, np.ones(len(self.rows))).loads
        pressing = np.zeros((len(self.t), len(self.frictions)))
        self._evaluated(loads, pressing)
        return pressing

    def _evaluated(self, loads: FloatArray | None, pressing: FloatArray | None) -> LoadEquations:
        block, (q, u, udot, inputs) = self._block, self._samples
        block.put("time", 0.0, Stage.NONE)  # the constants follow
        block.count_revolutions(self._turns)
        found = block.load_equations(self.rows, self.t, q, u, udot, inputs, None, self._dof, (loads, pressing))
        if found.error is not None:
            raise MechanismError(f"measurements: at t = {self.t[len(found.load)]:.6g} s {found.error}")
        return found

    def _restore(self) -> None:
        self._block.reals[:] = self._kept
        self._block.put("time", 0.0, Stage.NONE)
