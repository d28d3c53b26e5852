"""Exact derivatives of computed quantities by the parameters of a mechanism, its loops staying closed.

The state follows by assembly: with Phi(q, p) = 0 and J u + Phi_t = 0, coordinates and speeds move with a parameter p by
    J dq = -Phi_p dp,    J du = -d(J u + Phi_t),
while the start values that assembly kept stay; all that is computed from them follows. The core moves one parameter, or
a combination, by a complex step through assembly and mechanics, so that there is no error of differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, number
from linkwork._util.keywords import checks_keywords
from linkwork._util.named import NamedValues
from linkwork._util.names import suggest
from linkwork._util.one_thread import on_one_thread
from linkwork._util.text import aligned
from linkwork.analysis.parameter_set import Combinations, ParameterSet, computed_variables
from linkwork.core.native import ASSEMBLY_TOLERANCE, Stage
from linkwork.errors import MechanismError, MechanismNameError, SingularityError
from linkwork.mechanism import Mechanism
from linkwork.model.arguments import one
from linkwork.model.compile import model_of
from linkwork.results.base import TableResult

if TYPE_CHECKING:
    from linkwork.model.arguments import Loads
    from linkwork.model.base import ModelBase


@checks_keywords
@dataclass(frozen=True, repr=False)
class ParameterJacobian(TableResult, NamedValues[tuple[str, str]]):
    """Derivatives of computed quantities by parameters.

    `jacobian["coupler.r[1]", "crank.mass"]` is one of them; a loop gives such pairs.

    Attributes
    ----------
    matrix
        (n, p), of the n quantities by the p parameters, SI.
    of, parameters
        Their names.
    y, values
        (n,) and (p,), what quantities and parameters are.
    units
        Of both by name.
    """

    _index: ClassVar[str | None] = "quantity"

    matrix: FloatArray
    of: tuple[str, ...]
    parameters: tuple[str, ...]
    y: FloatArray
    values: FloatArray
    units: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[tuple[str, str]]:
        """Pairs of a quantity and a parameter, by which a derivative is found."""
        return list(product(self.of, self.parameters))

    def __getitem__(self, names: tuple[str, str]) -> float:
        """Return the derivative of one quantity by one parameter."""
        if not isinstance(names, tuple) or len(names) != 2:
            raise MechanismError(f"give a quantity and a parameter, such as {self.of[0], self.parameters[0]}")
        places = []
        for name, known in zip(names, (self.of, self.parameters), strict=True):
            if name not in known:
                raise MechanismNameError(f"the Jacobian has no {name!r}: {suggest(name, known)}")
            places.append(known.index(name))
        return float(self.matrix[places[0], places[1]])

    def _table(self) -> dict[str, Any]:
        return {"quantity": list(self.of), **dict(zip(self.parameters, self.matrix.T, strict=True))}

    def __repr__(self) -> str:
        rows = [(name, *(f"{value:.6g}" for value in row)) for name, row in zip(self.of, self.matrix, strict=True)]
        head = f"ParameterJacobian: {len(self.of)} by {len(self.parameters)}"
        return "\n".join([head, *aligned([("", *self.parameters), *rows], "<>")])


@checks_keywords
@on_one_thread
def parameter_jacobian(
    mechanism: Mechanism | ModelBase,
    parameters: Sequence[str],
    of: Sequence[str],
    *,
    q: Mapping[str, ArrayLike] | None = None,
    u: Mapping[str, ArrayLike] | None = None,
    tau: Loads = None,
    time: float = 0.0,
    combinations: Combinations | None = None,
) -> ParameterJacobian:
    """Return the derivatives of computed quantities by parameters, exact to rounding, the loops staying closed.

    Parameters
    ----------
    mechanism
        Or a compiled model.
    parameters
        Names of parameters and start values as an FMU has them: ``"crank.mass"``, ``"B.parent_frame.position[1]"``,
        ``"spring.stiffness"``, ``"A.q_start"``; a group such as ``"crank.com"`` stands for its elements. Or of
        combinations.
    of
        Names of what is differentiated, or beginnings of names: ``"coupler.r"``, ``"C.q"``, ``"A.a"``, ``"D.f"``,
        ``"energy"``.
    q, u
        Start values by joint name, as of `Model.assemble`: those that are kept there stay when a parameter changes.
    tau
        Loads, as of `Model.accelerations`.
    time
        s, of motions that are prescribed.
    combinations
        Parameters that move together, by name, as weights by parameter: the length of a uniform link is ``{"length":
        {"C.parent_frame.position[1]": 1.0, "coupler.com[1]": 0.5}}``. Its value is that of its first member over the
        weight.

    Raises
    ------
    SingularityError
        If the loops cannot stay closed when a parameter changes, which is named: the length out of the plane of a
        planar loop, for example.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> lw.parameter_jacobian(mech, ["A.reflected_inertia", "gravity[3]"], ["A.a"])  # -m g l/2 over I
    ParameterJacobian: 1 by 2
                   A.reflected_inertia   gravity[3]
      A.a      -14.715         -1.5
    """
    model = model_of(mechanism)
    chosen = ParameterSet(model, parameters, combinations)
    outputs = computed_variables(model, of)
    model.assemble(q, u, time=time)  # its errors explain
    block = model.block()
    loads = one(model.arguments.loads(tau), "tau")
    inputs = np.concatenate([loads, model.arguments.motions(None), model.arguments.changes])
    block.enter_inputs(inputs, number(time, "time"))
    model.set_starts(block, q, u)
    block.assemble(ASSEMBLY_TOLERANCE)
    unknowns = np.array([variable.reference for variable in outputs], dtype=np.uint32)
    matrix = np.empty((len(outputs), len(chosen)))
    for k, name in enumerate(chosen.names):
        moved = np.flatnonzero(chosen.weights[:, k])
        seed = np.ascontiguousarray(chosen.weights[moved, k])
        try:
            matrix[:, k] = block.assembled_derivative(unknowns, chosen.offsets[moved], seed)
        except SingularityError as error:
            error.args = (f"parameter {name!r}: {error}",)
            raise
    block.evaluate(Stage.OUTPUTS)
    units = {variable.name: variable.unit for variable in outputs} | dict(zip(chosen.names, chosen.units, strict=True))
    names = tuple(variable.name for variable in outputs)
    return ParameterJacobian(matrix, names, chosen.names, block.reals[unknowns], chosen.values, units)
