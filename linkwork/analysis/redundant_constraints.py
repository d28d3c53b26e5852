"""The user's `redundant_constraints`: a mechanism, described or compiled, to the constraints that others repeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork._util.keywords import checks_keywords
from linkwork._util.one_thread import on_one_thread
from linkwork.analysis.closure_redundancy import RedundantConstraints, find_redundant_constraints
from linkwork.mechanism import Mechanism
from linkwork.model.compile import model_of

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State


@checks_keywords
@on_one_thread
def redundant_constraints(mechanism: Mechanism | ModelBase, state: State | None = None) -> RedundantConstraints:
    """Return the constraints that are redundant in a pose, with the closures and joints to which they belong.

    Parameters
    ----------
    mechanism
        Or a model.
    state
        The pose; by default the assembled start.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("parallelogram")
    >>> hinge = lw.Revolute((0, 1, 0))
    >>> for name, origin in (("left", (0, 0, 0)), ("right", (1, 0, 0))):
    ...     mech.add_body(name, 1.0, (0, 0, 0.25), lw.inertia.rod(1.0, 0.5, axis="z"), origin=origin)
    ...     mech.add_joint(f"{name}_low", hinge, "ground", name, at=origin)
    >>> mech.add_body("top", 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0), origin=(0, 0, 0.5))
    >>> mech.add_joint("left_high", hinge, "left", "top", at=(0, 0, 0.5))
    >>> mech.add_joint("right_high", hinge, "right", "top", at=(1, 0, 0.5), cut=True)
    >>> lw.redundant_constraints(mech)
    RedundantConstraints: 1 degree of freedom = 3 speeds - 5 equations + 3 redundant
      joint 'right_high': torque about (1, 0, 0), in left_low, left_high, right_low, right_high
      joint 'right_high': torque about (0, 0, 1), in left_low, left_high, right_low, right_high
      joint 'right_high': force along (0, 1, 0), in left_low, left_high, right_low, right_high
    """
    model = model_of(mechanism)
    return find_redundant_constraints(model, state)
