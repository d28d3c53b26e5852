"""The user's `equilibrium` and `equilibria`: poses of rest, loads that hold a pose, steady motions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import whole_number
from linkwork._util.keywords import checks_keywords
from linkwork._util.one_thread import on_one_thread
from linkwork._util.progress import Progress
from linkwork.analysis.equilibrium_problem import EquilibriumProblem
from linkwork.analysis.equilibrium_result import Equilibria, Equilibrium
from linkwork.analysis.pose_functions import Hold
from linkwork.errors import MechanismError
from linkwork.mechanism import Mechanism

if TYPE_CHECKING:
    from linkwork._util.progress import ProgressOption
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State


@checks_keywords
@on_one_thread
def equilibrium(
    mechanism: Mechanism | ModelBase,
    state: State | None = None,
    *,
    q: Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, ArrayLike] | None = None,
    hold: Hold = None,
    motors: Iterable[str] | None = None,
    speeds: Mapping[str, float] | None = None,
    seek: Literal["stable", "any", "stuck"] = "stable",
    time: float | None = None,
) -> Equilibrium:
    """Find a pose of rest under gravity, springs, constant loads and stops, or the loads that hold a pose.

    The search goes down from the start, as the mechanism would with much friction, to a pose in which small motions
    come back. Motions that are prescribed with a constant speed, and `speeds`, make it a steady motion: all other
    coordinates rest while these turn.

    Parameters
    ----------
    mechanism
        Or a compiled model.
    state
        The start; by default the assembled one.
    q
        Start values by joint name instead, as of `Model.assemble`.
    inputs
        Constant loads, inputs of actuators and motions by name, as ``{"A": 2.0, "push.F": (0, 0, -5)}``.
    hold
        Coordinates that keep a value, as ``{"crank": 0.5}``; or names of those that stay where they are at the start.
        Names are those of functions of the pose: "crank", "U.q[2]", "hand.r[3]", "gap.length". Loads hold them, which
        are reported. Together with `motors` they are the pose requested.
    motors
        Names of motors, joints or actuators: their constant loads that hold the pose, the least where there are more
        than needed. Without `hold` the start is kept whole; else coordinates that are not held rest where they do
        while the others are only held, if the motors allow it.
    speeds
        Constant speeds of coordinates on which no load depends, as ``{"shaft": 30.0}`` of a governor, rad/s or m/s.
    seek
        "stable": a pose in which the potential energy is least, if there is one. "any": the pose of rest next to the
        start, also an unstable one. "stuck": the start itself, where dry friction holds it; `holding` has its loads,
        and the other coordinates are the free ones of `frequencies`. The other searches find poses of rest without dry
        friction, and take the start, held by it, where there is none.
    time
        s, of motions that are prescribed; by default that of the state, or 0.

    Raises
    ------
    EquilibriumError
        If there is no pose of rest, or none was found; the text names the coordinate that runs away, or the direction
        in which no motor works. Its `result` is the last pose.
    AssemblyError
        If the loops cannot be closed, or a coordinate cannot have the value at which it is to be held.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> found = lw.equilibrium(mech)
    >>> found.state["A.q"], found.stable
    (1.5707963267948966, True)
    >>> held = lw.equilibrium(mech, hold={"A": 0.0}, motors=["A"])
    >>> round(held.motor_loads["A"], 9)  # against m g l/2
    -9.81
    """
    if seek not in ("stable", "any", "stuck"):
        raise MechanismError(f'seek must be "stable", "any" or "stuck", not {seek!r}')
    problem = EquilibriumProblem(mechanism, state, q, inputs, hold, motors, speeds, time)
    if seek == "stuck":
        return problem.stay()
    return problem.solve("minimum" if seek == "stable" else "any")


@checks_keywords
@on_one_thread
def equilibria(
    mechanism: Mechanism | ModelBase,
    *,
    starts: int = 50,
    seed: int = 0,
    inputs: Mapping[str, ArrayLike] | None = None,
    hold: Hold = None,
    speeds: Mapping[str, float] | None = None,
    time: float | None = None,
    progress: ProgressOption = None,
) -> Equilibria:
    """Find the poses of rest of a mechanism, stable and unstable ones, from scattered starts.

    From each start, a random closed pose, one search goes down, one goes up, and one goes to the nearest pose of rest
    of any kind; from poses found, others go down their slopes. There is no proof that all are found: `hits` of the
    result counts the searches that led to each.

    Parameters
    ----------
    mechanism, inputs, hold, speeds, time
        As of `equilibrium`.
    starts
        Number of random poses.
    seed
        Of the random numbers.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.

    Returns
    -------
    Equilibria
        The distinct ones, that of least energy first; perhaps none.
    """
    starts, seed = whole_number(starts, "starts", 1), whole_number(seed, "seed")
    problem = EquilibriumProblem(mechanism, None, None, inputs, hold, None, speeds, time)
    return problem.scatter(starts, np.random.default_rng(seed), Progress(progress))
