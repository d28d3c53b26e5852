"""The model that `linkwork.compile` returns: what can be computed and analysed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwork.errors import LinkworkError
from linkwork.model.geometry import ModelGeometry
from linkwork.model.impacts import VelocityJump, jump

if TYPE_CHECKING:
    from linkwork.draw.picture import Picture
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

    def draw(self, path: str | os.PathLike[str] | None = None, state: State | None = None) -> Picture:
        """Draw the mechanism at a state, and save the picture if a path is given.

        The view is the plane in which the mechanism moves, if there is one. Bodies are drawn between their joints with
        a dot at the centre of mass, joints by their signs, the ground hatched.

        Parameters
        ----------
        path
            A file .svg, .png or .pdf to write; the last two need matplotlib.
        state
            By default the assembled start. A start that cannot be assembled is drawn with open loops, at the start
            values as they are.

        Returns
        -------
        Picture
            Notebooks show it; `.svg` is its text, and `.save(path)` writes it.

        Raises
        ------
        MechanismError
            If the state belongs to another mechanism.
        LinkworkError
            On another suffix, and if the file cannot be written.
        ImportError
            If matplotlib is needed and is not installed.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.draw(state=model.assemble(q={"A": 0.5})).svg[:4]
        '<svg'
        """
        from linkwork.draw.mechanism_picture import draw

        picture = draw(self, state)
        if path is not None:
            picture.save(path)
        return picture

    def _repr_svg_(self) -> str | None:
        """Return the picture for notebooks; None where there is none."""
        try:
            return self.draw().svg
        except LinkworkError:
            return None

    def linearize(self, state: State | None = None, **options: Any) -> LinearModel:
        """Return the linear model around a state; options as of `linkwork.linearize`."""
        from linkwork.model.linear_model import linear_model

        return linear_model(self, state, **options)
