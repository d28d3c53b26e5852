"""The model that `linkwork.compile` returns: what can be computed and analysed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.registered import registered
from linkwork.errors import LinkworkError, MechanismError
from linkwork.model.batch import Batch
from linkwork.model.geometry import ModelGeometry
from linkwork.model.impacts import VelocityJump, jump
from linkwork.model.state import State

if TYPE_CHECKING:
    from pathlib import Path

    from linkwork._util.picture import Picture
    from linkwork.model.base import ModelBase
    from linkwork.model.linear_model import LinearModel


class Model(ModelGeometry):
    """A mechanism ready to compute; made by `linkwork.compile`.

    Functions of a state take a `State`, or arrays q (..., nq) and u (..., nu) of the tree joints; leading dimensions
    are a batch, and the results have them too. Loads `tau` are an array (..., nu), or a dictionary by joint name in
    which cut joints and applied wrenches may stand as well, as in ``{"A": 0.1, "push.F": (0, 0, -5)}``. `time`, which
    matters where motions are prescribed, is by default that of the `State`, or 0. Arrays come in the order of `q_names`
    and `u_names`; `by_joint` names them. Threads may share a system: each computes in memory of its own.

    Arrays of another size, numbers that are not finite, unknown names and states of another model are a
    `MechanismError`. Where the accelerations are not unique, functions that need them raise a `SingularityError`, and
    so do Jacobians where the independent speeds do not determine the others.

    Attributes
    ----------
    mechanism
        The description, with pins among its joints.
    topology, numbering
        Its graph, and where each joint's numbers stand.
    model_bytes
        The serialised model, as an FMU carries it.
    corrections
        Each a `FrameCorrection`: the joint whose frames were changed to make loops exact, and by how much; see
        docs/conventions.md. `mechanism` has the frames as changed.
    method, reference
        As given to `compile`.
    sizes
        Counts of bodies, joints, loops, coordinates and speeds.
    parameters
        Values by name that differ from those of the description; see `with_parameters`.
    """

    @registered
    def explain(self, state: State | None = None) -> str:
        """Return a report on the compiled mechanism and on its mobility at a state.

        Its spanning tree and cut joints; which loops are solved together, in what order and by which method, and why;
        the speeds that were chosen as independent ones, and how well conditioned the closures are; of up to 300 speeds
        the constraints that are redundant. Long lists are shortened. Without a state it reports on the assembled start,
        or that the loops cannot be closed.

        Parameters
        ----------
        state
            Where mobility is found; by default the assembled start. The report states if loops cannot be closed.

        Returns
        -------
        str
            Lines of text.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.explain().splitlines()[0]
        'pendulum: 1 body, 1 joint, 1 degree of freedom in its assembled start'
        """
        raise NotImplementedError

    def adopt(self, state: State) -> State:
        """Return a state of a model with other values of parameters as a state of this one.

        It keeps its coordinates and speeds where these close all loops; otherwise it is assembled from them. What
        transitions have changed stays.

        Parameters
        ----------
        state
            Of a model of the same mechanism, made by `with_parameters`.

        Returns
        -------
        State
            Of this model, with all loops closed.

        Raises
        ------
        AssemblyError
            If the loops cannot be closed from there.
        MechanismError
            If the state is of a mechanism of another structure.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> heavy = model.with_parameters({"rod.mass": 6.0})
        >>> state = heavy.adopt(model.assemble(q={"A": 0.3}))
        >>> state["A.q"], state["rod.mass"]
        (0.3, 6.0)
        """
        return adopt(self, state)

    def batch(self, size: int, state: State | None = None, threads: int = 0) -> Batch:
        """Return many states of this model in arrays, whose rows are computed together.

        Parameters
        ----------
        size
            How many states.
        state
            At which all of them begin; by default the assembled start.
        threads
            By which rows are shared; 0: one for each processor. Numbers do not depend on it.

        Returns
        -------
        Batch
            Arrays `q`, `u`, `tau` and `time` to write to; accelerations, derivatives, Jacobians, variables and
            gradients of all rows; parameters, geometry too, that differ from row to row; steps of fixed size and runs.

        Examples
        --------
        >>> import linkwork as lw
        >>> import numpy as np
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> batch = lw.compile(mech).batch(3)
        >>> batch.q[:, 0] = 0.0, 0.5, 1.0
        >>> batch.accelerations()[:, 0].round(3)
        array([14.715, 12.914,  7.951])
        """
        return Batch(self, size, state, threads)

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

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
        >>> model = lw.compile(mech)
        >>> found = model.jump(model.assemble(u={"A": 2.0}), ["latch"])
        >>> found.state["A.u"], round(found.energy_lost, 9)
        (0.0, 2.0)
        """
        return jump(self, state, transitions)

    @registered
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
        raise NotImplementedError

    @registered
    def page(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write an HTML page that shows and simulates the mechanism; it opens in any browser, without a network.

        Its parameters and inputs can be changed in the page, and its bodies pulled.

        Parameters
        ----------
        path
            The .html file to write.
        **options
            As of `linkwork.page`, such as `title`, `t_end` and `rtol`.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        LinkworkError
            If the viewer has not been built.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> path = lw.compile(mech).page("pendulum.html", t_end=5.0)  # doctest: +SKIP
        """
        raise NotImplementedError

    @registered
    def _page_part(self, request: Any) -> Any:
        raise NotImplementedError

    @registered
    def _repr_html_(self) -> str | None:
        """Return the page for notebooks; None where there is none."""
        raise NotImplementedError

    def _repr_svg_(self) -> str | None:
        """Return the picture for notebooks; None where there is none."""
        try:
            return self.draw().svg
        except LinkworkError:
            return None

    def linearize(self, state: State | None = None, **options: Any) -> LinearModel:
        """Return the linear model around a state.

        Parameters
        ----------
        state
            The operating point; by default the assembled start.
        **options
            As of `linkwork.linearize`.

        Returns
        -------
        LinearModel
            A, B, C and D, exact to rounding.

        Raises
        ------
        MechanismError
            On an unknown name, and where transitions change the degrees of freedom.
        SingularityError
            If the pose is singular or the independent coordinates do not determine the others in it.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.linearize(model.state([1.5707963267948966], [0.0])).A.round(9) + 0.0
        array([[ 0. , 1. ],
               [-14.715, 0. ]])
        """
        from linkwork.model.linear_model import linear_model

        return linear_model(self, state, **options)


CLOSED = 1e-12  # m; a smaller gap is rounding


def _largest_gap(model: ModelBase, state: State) -> float:
    """Return the largest residual at a state; infinite where it cannot be computed."""
    try:
        gaps = [model.loop_residual(state), model.coupling_residual(state), model.distance_residual(state)]
    except LinkworkError:
        return np.inf
    return max(float(np.abs(gap).max(initial=0.0)) for gap in gaps)


def adopt(model: ModelBase, state: State) -> State:
    """Return a state as one of another model of the same structure, its loops closed."""
    if state.model.mechanism is not model.mechanism or state.model.numbering != model.numbering:
        raise MechanismError(
            f"the state belongs to another mechanism, {state.model.mechanism.name!r}, not to "
            f"{model.mechanism.name!r} with other parameters"
        )
    here = replace(state, model=model)
    if _largest_gap(model, here) <= CLOSED:
        return here
    tree = set(model.numbering.tree)
    q, u = ({n: v for n, v in model.by_joint(x).items() if n in tree and np.size(v)} for x in (state.q, state.u))
    motion = {name: state.motion[span] for name, span in model.numbering.motions.items()}
    closed = model._closed_state(q, u, time=state.time, motion=motion)
    return replace(closed, discrete_state=state.discrete_state)
