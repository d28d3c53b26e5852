"""The user's `linearize`: a mechanism, described or compiled, to its linear model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwork._util.keywords import checks_keywords
from linkwork.mechanism import Mechanism
from linkwork.model.compile import model_of
from linkwork.model.linear_model import LinearModel, States, linear_model

if TYPE_CHECKING:
    from linkwork.model.arguments import Loads
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State


@checks_keywords
def linearize(
    mechanism: Mechanism | ModelBase,
    state: State | None = None,
    *,
    states: States = "minimal",
    independents: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
    tau: Loads = None,
    time: float | None = None,
) -> LinearModel:
    """Return the linear model of a mechanism around a state, its derivatives exact to rounding.

    Parameters
    ----------
    mechanism
        Or a system, whose method is used.
    state
        The operating point; by default the assembled start.
    states
        "minimal": independent coordinates and speeds, all others follow. "full": all coordinates and speeds of the tree
        joints, with the feedback that keeps loops closed. States of elements follow in both.
    independents
        Names of the coordinates that are states, as many as degrees of freedom, such as ``["A"]``; by default those
        whose start was given, else those on which the others depend most smoothly.
    inputs
        Names of inputs, or beginnings of names up to a dot or bracket, each once and in this order; by default all that
        are real and continuous.
    outputs
        The same of the outputs; by default the states.
    tau
        Loads at the operating point, as for `Model.accelerations`.
    time
        s, where motions are prescribed; by default that of the state.

    Returns
    -------
    LinearModel
        A, B, C and D with the names of states, inputs and outputs.

    Raises
    ------
    MechanismError
        On a name that is unknown, given twice, or of an input or output that changes at events only; and where
        transitions change the degrees of freedom: ``states="full"`` is allowed.
    SingularityError
        If the pose is singular or the independent coordinates do not determine the others in it.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=1.0, com=(0, 0, -0.5), inertia=lw.inertia.rod(1.0, 1.0, axis="z"))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> model = lw.linearize(mech, outputs=["rod.r[1]", "A.q"])
    >>> model
    LinearModel: 2 states, 1 inputs, 2 outputs
      state               x         xdot
      A.q                 0            0
      A.u                 0            0
      input               u
      A.tau               0
      output              y
      rod.r[1]            0
      A.q                 0
    >>> (model.A[1, 0] / (-1.5 * 9.81)).round(12), model.B[1, 0].round(12)
    (np.float64(1.0), np.float64(3.0))
    """
    system = model_of(mechanism)
    return linear_model(
        system,
        state,
        states=states,
        independents=independents,
        inputs=inputs,
        outputs=outputs,
        tau=tau,
        time=time,
    )
