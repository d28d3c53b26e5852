"""The model that `linkwork.compile` returns: what can be computed and analysed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwork.model.geometry import ModelGeometry
from linkwork.model.impacts import VelocityJump, jump

if TYPE_CHECKING:
    from linkwork.model.linear_model import LinearModel
    from linkwork.model.state import State


class Model(ModelGeometry):
    """A mechanism ready to compute; made by `linkwork.compile`.

    Functions of a state take a `State`, or arrays q (..., nq) and u (..., nu) of the tree joints; leading dimensions
    are a batch, and the results have them too. Loads `tau` are an array (..., nu), or a dictionary by joint name in
    which cut joints and applied wrenches may stand as well, as in ``{"A": 0.1, "push.F": (0, 0, -5)}``. `time`, which
    matters where motions are prescribed, is by default that of the `State`, or 0. Arrays come in the order of `q_names`
    and `u_names`; `by_joint` names them. Threads may share a system: each computes in memory of its own.

    Attributes
    ----------
    mechanism, topology, numbering
        The description, its graph, and where each joint's numbers stand.
    model_bytes
        The serialised model, as an FMU carries it.
    changes
        What may become of the mechanism by its transitions.
    method, reference
        As given to `compile`.
    sizes
        Counts of bodies, joints, loops, coordinates and speeds.
    """

    def explain(self, state: State | None = None) -> str:
        """Return a report on the compiled mechanism and on its mobility at a state.

        Its spanning tree and cut joints; which loops are solved together, in what order and by which method, and why;
        the speeds that were chosen as independent ones, and how well conditioned the closures are. Long lists are
        shortened. Without a state it reports on the assembled start, or that the loops cannot be closed.
        """
        from linkwork.model.explain import explain

        return explain(self, state)

    def jump(self, state: State, transitions: Sequence[str]) -> VelocityJump:
        """Carry out transitions now, all at once, whatever they wait for.

        Parameters
        ----------
        state
            Before.
        transitions
            Their names. A stop acts as though its joint had just come to it.

        Returns
        -------
        Jump
            The state afterwards, the joints' impulses and the kinetic energy that was lost.

        Raises
        ------
        MechanismError
            On an unknown name, and where transitions contradict each other; the text names them.
        AssemblyError
            Where pinned frames do not coincide.
        """
        return jump(self, state, transitions)

    def linearize(self, state: State | None = None, **options: Any) -> LinearModel:
        """Return the linear model around a state; options as of `linkwork.linearize`."""
        from linkwork.model.linear_model import linear_model

        return linear_model(self, state, **options)
