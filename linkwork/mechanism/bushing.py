"""Bushings: elastic mounts between frames of two bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, finite, length
from linkwork._util.keywords import checks_keywords
from linkwork.errors import MechanismError
from linkwork.mechanism.forces import ForceBetweenFrames, shown_as
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.part_quantities import AXES
from linkwork.mechanism.quantities import Quantity, indices, output, parameter

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

_UPPER = np.triu_indices(6)
_ELEMENTS = tuple(f"[{i + 1},{j + 1}]" for i, j in zip(*_UPPER, strict=True))
_KEPT = 1e-9  # of the largest number: a matrix is as symmetric or positive as that


def _units(by: str) -> tuple[str, ...]:
    of = ("N", "N.m")
    ends = [(1 if i > 2 else 0, 1 if j > 2 else 0) for i, j in zip(*_UPPER, strict=True)]
    return tuple(f"{of[row]}{by}/{('m', 'rad')[column]}" for row, column in ends)


_LOADS = ("N",) * 3 + ("N.m",) * 3
Values = tuple[float, ...] | tuple[tuple[float, ...], ...]


@checks_keywords
@dataclass(frozen=True, repr=False)
class Bushing(ForceBetweenFrames):
    """An elastic mount between two bodies: six springs and dampers between a frame on each, or full matrices of these.

    With the displacement d of the second frame's origin and the rotation vector r of its axes, both in the axes of the
    first frame, and x = (d, r), the mount stores x' stiffness x / 2 - preload x. On the second body acts, in the axes
    of the first frame, the force f, and about the second frame's origin the torque J^-T t, of

        (f, t) = preload - (stiffness x + damping dx/dt)

    with the left Jacobian J of rotations, dr/dt = J^-1 w (Chirikjian: Stochastic Models, Information Theory, and Lie
    Groups 2, 2012), so that energy is kept at any angle. The opposite acts on the first body. Beyond half a turn r is
    that of the other way round, and jumps.

    Parameters
    ----------
    bodies
        Names of two bodies, one of them may be "ground".
    frames
        A `Frame` in each; where they coincide the mount is free.
    stiffness
        Six numbers, along the axes x, y, z of the first frame in N/m and about them in N m/rad; or a symmetric matrix
        (6, 6), which couples them, without negative eigenvalues.
    damping
        The same per speed, N s/m and N m s/rad.
    preload
        Loads on the second body without displacement, three in N and three in N m, along and about the axes of the
        first frame.
    name
        A name, under which all of these are found, as "mount.force".

    Raises
    ------
    MechanismError
        On other shapes, matrices that are not symmetric or have negative eigenvalues, and frames that are none.

    Examples
    --------
    >>> mount = Bushing(("chassis", "arm"), (Frame(), Frame((0.2, 0, 0))), stiffness=(8e5, 8e5, 2e5, 900, 900, 50))
    >>> mount.ends[1]
    ('arm', (0.2, 0.0, 0.0))
    """

    type_name = "bushing"
    call = "Bushing"
    record = (
        parameter(
            "{0}.points[]", "bushing_points", "m", "origins of its frames: 1 in {1}, 2 in {2}", elements=indices(2, 3)
        ),
        parameter("{0}.rotations[]", "bushing_rotations", "1", "quaternions of its frames", elements=indices(2, 4)),
        parameter("{0}.stiffness[]", "bushing_stiffness", _units(""), "stiffness of the mount", elements=_ELEMENTS),
        parameter("{0}.damping[]", "bushing_damping", _units(".s"), "damping of the mount", elements=_ELEMENTS),
        parameter("{0}.preload[]", "bushing_preload", _LOADS, "load without displacement", elements=indices(6)),
        output(
            "{0}.displacement[]", "bushing_displacement", "m", "of the second origin, axes of the first", elements=AXES
        ),
        output("{0}.rotation[]", "bushing_rotation", "rad", "rotation vector, axes of its first frame", elements=AXES),
        output("{0}.force[]", "bushing_force", "N", "on {2}, axes of its first frame", elements=AXES, dependency=1),
        output("{0}.torque[]", "bushing_torque", "N.m", "on {2} at the second origin", elements=AXES, dependency=1),
    )
    bodies: tuple[str, str]
    frames: tuple[Frame, Frame]
    stiffness: Values
    damping: Values = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    preload: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    name: str = "bushing"

    def __post_init__(self) -> None:
        super().__post_init__()
        for what in ("stiffness", "damping"):
            object.__setattr__(self, what, _six(getattr(self, what), f"{self.label}: {what}"))
        object.__setattr__(self, "preload", tuple(finite(self.preload, (6,), f"{self.label}: preload").tolist()))

    def __repr__(self) -> str:
        return shown_as("Bushing", self)

    def core_value(self, one: Quantity, mech: Surroundings) -> Any:
        """Return the numbers of a parameter of its record for the core."""
        if one.stem in ("points", "rotations"):
            return super().core_value(one, mech)
        if one.stem == "preload":
            return self.preload
        return _matrix(getattr(self, one.stem))[_UPPER]

    @property
    def keeps_energy(self) -> bool:
        """Whether it has no damping."""
        return not np.any(_matrix(self.damping))


def _matrix(given: Values) -> FloatArray:
    values = np.array(given, dtype=np.float64)
    return np.diag(values) if values.ndim == 1 else values


def _six(given: ArrayLike, what: str) -> Values:
    """Return six numbers or a symmetric matrix without negative eigenvalues, checked."""
    array = finite(given, (6, 6) if length(given) == 6 and np.ndim(given) == 2 else (6,), what)
    matrix = np.diag(array) if array.ndim == 1 else array
    largest = float(np.abs(matrix).max())
    if np.abs(matrix - matrix.T).max() > _KEPT * largest:
        raise MechanismError(f"{what} must be symmetric")
    if np.linalg.eigvalsh(matrix)[0] < -_KEPT * largest:
        raise MechanismError(f"{what} must have no negative eigenvalue: with one the mount would give energy")
    if array.ndim == 1:
        return tuple(array.tolist())
    return tuple(map(tuple, array.tolist()))
