"""Geometry of a motion: poses of bodies, and position, velocity, acceleration and Jacobian of points fixed in them.

World axes; twists are [angular; linear]. Functions of coordinates and speeds alone need no accelerations, so that
they exist in singular poses and with open loops as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, finite
from linkwork.core.native import RANK_TOLERANCE, Block
from linkwork.errors import SingularityError
from linkwork.mechanism import GROUND, Frame
from linkwork.mechanism.part_checks import check_body_known
from linkwork.model.arguments import Loads
from linkwork.model.base import ModelBase
from linkwork.model.independent_coordinates import choose_independent_speeds
from linkwork.model.state import State

Independents = Sequence[str] | Literal["auto"] | None
_ORIGIN = (0.0, 0.0, 0.0)


class Pose(NamedTuple):
    """Where a body is."""

    position: FloatArray  # of the origin of the body's frame in the world, (..., 3), m
    rotation: FloatArray  # its axes as columns, (..., 3, 3): body to world

    @property
    def frame(self) -> Frame:
        """The same as a `Frame` in the world; of one pose, not of a batch."""
        return Frame(*self)


class VelocityTransformation(NamedTuple):
    """How all speeds of the tree joints follow from independent ones: u = matrix @ u_i + offset."""

    independents: tuple[str, ...]  # names of the n independent speeds, as "A.u"
    matrix: FloatArray  # (..., nu, n). Its columns span the null space of the constraint Jacobian
    offset: FloatArray  # (..., nu), speeds that prescribed motions ask for; else zero


class ModelGeometry(ModelBase):
    """A compiled mechanism with the motion of its bodies and of points that are fixed in them."""

    def pose(self, state: State | ArrayLike, body: str) -> Pose:
        """Return the pose of a body: position (..., 3), m, and rotation (..., 3, 3), body to world.

        Parameters
        ----------
        state
            A `State`, or coordinates q (..., nq) of the tree joints, whose loops need not be closed.
        body
            Its name, or "ground".

        Returns
        -------
        Pose
            (position, rotation); its `frame` is the same as a `Frame`.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> state = model.assemble(q={"A": 0.5})
        >>> position, rotation = model.pose(state, "rod")
        >>> rotation[0, 0].round(6)  # cos 0.5
        np.float64(0.877583)
        >>> model.pose(state, "rod").frame.apply((1, 0, 0)).round(6)
        array([0.877583, 0.479426, 0.      ])
        """
        number = self._body_number(body, "pose")

        def read(block: Block) -> FloatArray:
            position, rotation, _ = block.body_motion(number, np.zeros(3))
            return np.concatenate([position, rotation.ravel()])

        values = self._at_positions(state, (12,), read)
        return Pose(values[..., :3], values[..., 3:].reshape(*values.shape[:-1], 3, 3))

    def point(self, state: State | ArrayLike, body: str, point: ArrayLike = _ORIGIN) -> FloatArray:
        """Return the position of a point that is fixed in a body.

        Parameters
        ----------
        state
            A `State`, or coordinates q (..., nq) of the tree joints, whose loops need not be closed.
        body, point
            Name of the body, or "ground", and the point (3,), m, in its frame; by default the frame's origin.

        Returns
        -------
        ndarray
            (..., 3), m, world axes.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.point(model.assemble(q={"A": 0.5}), "rod", (1, 0, 0)).round(6)
        array([0.877583, 0.479426, 0.      ])
        """
        number, given = self._body_number(body, "point"), _point(point, "point")
        return self._at_positions(state, (3,), lambda block: block.body_motion(number, given)[0])

    def point_velocity(
        self, state: State | ArrayLike, body: str, point: ArrayLike = _ORIGIN, u: ArrayLike | None = None
    ) -> FloatArray:
        """Return the velocity of a point that is fixed in a body.

        Parameters
        ----------
        state
            A `State`, or coordinates q (..., nq) of the tree joints, whose loops need not be closed.
        body, point
            Name of the body, or "ground", and the point (3,), m, in its frame; by default the frame's origin.
        u
            Speeds (..., nu) of the tree joints, where `state` is an array of coordinates.

        Returns
        -------
        ndarray
            (..., 3), m/s, world axes.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.point_velocity(model.assemble(u={"A": 2.0}), "rod", (1, 0, 0))
        array([0., 2., 0.])
        """
        number, given = self._body_number(body, "point_velocity"), _point(point, "point_velocity")
        return self._each(state, u, None, (3,), lambda block: block.body_motion(number, given)[2][3:])

    def point_acceleration(
        self,
        state: State | ArrayLike,
        body: str,
        point: ArrayLike = _ORIGIN,
        u: ArrayLike | None = None,
        *,
        tau: Loads = None,
        time: ArrayLike | None = None,
    ) -> FloatArray:
        """Return the acceleration of a point that is fixed in a body.

        It is that of the motion under the loads `tau`, as `accelerations` finds it: zero at rest, where an
        accelerometer would show -g.

        Parameters
        ----------
        state
            A `State`, or coordinates q (..., nq) of the tree joints.
        body, point
            Name of the body, or "ground", and the point (3,), m, in its frame; by default the frame's origin.
        u
            Speeds (..., nu) of the tree joints, where `state` is an array of coordinates.
        tau
            Loads (..., nu), N m or N; or by name of joints and applied wrenches, as in ``{"A": 0.1}``. By default none.
        time
            s, (...), where motions are prescribed; by default that of the state, or 0.

        Returns
        -------
        ndarray
            (..., 3), m/s^2, world axes.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.point_acceleration(model.assemble(u={"A": 2.0}), "rod", (1, 0, 0)).round(12) + 0.0
        array([-4.,  0.,  0.])
        """
        number, given = self._body_number(body, "point_acceleration"), _point(point, "point_acceleration")
        return self._each(state, u, tau, (3,), lambda block: block.body_acceleration(number, given)[3:], time)

    def point_jacobian(
        self, state: State | ArrayLike, body: str, point: ArrayLike = _ORIGIN, *, independents: Independents = None
    ) -> FloatArray:
        """Return the derivative of the velocity of a point by speeds, (..., 3, n), world axes.

        Parameters
        ----------
        state
            A `State`, or coordinates q (..., nq) of the tree joints.
        body, point
            Name of the body, and the point (3,), m, in its frame.
        independents
            None: by all nu speeds of the tree joints, as though the loops were open. "auto", or names of speeds such as
            ``["A"]`` or ``["S.u[2]"]``: by these n independent speeds, while loops, couplings, distances and locks hold
            and all other speeds follow; see `velocity_transformation`, which names them.

        Returns
        -------
        ndarray
            (..., 3, n), m per unit of each speed's coordinate, world axes.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.point_jacobian(model.assemble(), "rod", (1, 0, 0)).T
        array([[0., 1., 0.]])
        """
        return self.body_jacobian(state, body, point, independents=independents)[..., 3:, :]

    def body_jacobian(
        self, state: State | ArrayLike, body: str, point: ArrayLike = _ORIGIN, *, independents: Independents = None
    ) -> FloatArray:
        """Return the derivative of the twist [angular; linear at a point] of a body by speeds.

        `point_jacobian` is its lower half.

        Parameters
        ----------
        state, body, point, independents
            As of `point_jacobian`.

        Returns
        -------
        ndarray
            (..., 6, n), world axes.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rod", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> model.body_jacobian(model.assemble(), "rod", (1, 0, 0)).T
        array([[0., 0., 1., 0., 1., 0.]])
        """
        number, given = self._body_number(body, "Jacobian"), _point(point, "Jacobian")
        shape = 6, self.numbering.nu
        jacobian = self._at_positions(state, shape, lambda block: block.body_jacobian(number, given))
        if independents is None:
            return jacobian
        reduced: FloatArray = jacobian @ self.velocity_transformation(state, independents).matrix
        return reduced

    def velocity_transformation(
        self, state: State | ArrayLike, independents: Independents = "auto", *, time: ArrayLike | None = None
    ) -> VelocityTransformation:
        """Return how all speeds of the tree joints follow from independent ones: u = matrix @ u_i + offset.

        Parameters
        ----------
        state
            A `State`, or coordinates q (..., nq) of the tree joints, at which the loops are closed.
        independents
            Names of speeds, as many as degrees of freedom, such as ``["A"]`` or ``["S.u[2]"]``. "auto": those of
            coordinates whose start was given, else those on which the others depend most smoothly, at the first state
            of a batch.
        time
            s, where motions are prescribed; by default that of the state.

        Returns
        -------
        VelocityTransformation
            (independents, matrix, offset).

        Raises
        ------
        MechanismError
            On an unknown speed, and another number of speeds than degrees of freedom.
        SingularityError
            If the independent speeds do not determine the others.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("gears")
        >>> for name in ("rotor", "arm"):
        ...     mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
        ...     mech.add_joint(f"{name}_axis", lw.Revolute((0, 0, 1)), "ground", name, at=(0, 0, 0))
        >>> mech.add_coupling("gear", {"rotor_axis": 1.0, "arm_axis": -20.0})
        >>> model = lw.compile(mech)
        >>> model.velocity_transformation(model.assemble(), ["arm_axis"]).matrix.round(12)
        array([[20.],
               [ 1.]])
        """
        n = self.numbering.nu
        chosen = self._independent_speeds(state, independents)
        rest = [k for k in range(n) if k not in chosen]

        def read(block: Block) -> FloatArray:
            speeds = np.array(block["u"]) if n else np.zeros(0)
            jacobian, (_, rate) = block.constraint_jacobian(), block.constraints()
            found = np.zeros((n, len(chosen) + 1))
            found[chosen, range(len(chosen))] = 1.0
            known = np.column_stack([jacobian[:, chosen], rate - jacobian @ speeds])
            found[rest] = _dependent_speeds(jacobian[:, rest], -known)
            return found

        both = self._at_positions(state, (n, len(chosen) + 1), read, time)
        names = tuple(self.u_names[k] for k in chosen)
        return VelocityTransformation(names, both[..., :-1], both[..., -1])

    def _at_positions(
        self,
        state: State | ArrayLike,
        shape: tuple[int, ...],
        read: Callable[[Block], ArrayLike],
        time: ArrayLike | None = None,
    ) -> FloatArray:
        """Return what `read` finds at states that may be given by their coordinates alone."""
        speeds = None if isinstance(state, State) else np.zeros(self.numbering.nu)
        return self._each(state, speeds, None, shape, read, time)

    def _body_number(self, body: str, what: str) -> int:
        """Return the number of a body by name, -1 for the ground; an unknown name is an error."""
        check_body_known(self.mechanism, what, body)
        return -1 if body == GROUND else self.body_numbers[body]

    def _independent_speeds(self, state: State | ArrayLike, independents: Independents) -> list[int]:
        if not isinstance(state, State):
            first = np.asarray(state, dtype=np.float64).reshape(-1, self.numbering.nq)[0]
            state = self.state(first, np.zeros(self.numbering.nu))
        requested = None if independents is None or independents == "auto" else independents
        return list(choose_independent_speeds(self, state, requested))


def _point(given: ArrayLike, what: str) -> FloatArray:
    return finite(given, (3,), f"{what}: the point")


def _dependent_speeds(matrix: FloatArray, known: FloatArray) -> FloatArray:
    """Return the speeds that the constraints, of which some may be redundant, determine; refuse if not all are."""
    if not matrix.shape[1]:
        return np.zeros((0, known.shape[1]))
    size = np.abs(matrix).max(axis=0, initial=0.0)  # rad/s and m/s
    size = np.where(size > 0.0, size, 1.0)
    solution, _, rank, _ = np.linalg.lstsq(matrix / size, known, rcond=RANK_TOLERANCE)
    if rank < matrix.shape[1]:
        raise SingularityError(
            "the independent speeds do not determine the others in this pose; choose others, or give independents=None "
            "for the speeds of all tree joints"
        )
    found: FloatArray = solution / size[:, None]
    return found
