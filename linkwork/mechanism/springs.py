"""Springs and dampers, in joints and between points of bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import finite, length, number
from linkwork._util.keywords import checks_keywords
from linkwork.errors import MechanismError
from linkwork.mechanism.forces import ForceBetweenPoints, ForceElement, shown_as
from linkwork.mechanism.quantities import indices, output, parameter

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings


@checks_keywords
class SpringDamper(ForceElement):
    """Linear springs and dampers, in a joint or between points of two bodies.

    In a joint, they add -stiffness (q - free) - damping u to its load. Between points, they pull these towards each
    other with stiffness (length - free) + damping d(length)/dt, or push where that is negative; where the points
    coincide, there is no direction and no force.

    Parameters
    ----------
    joint
        Name of the joint. In one of several speeds each value is a number for all of them, or one for each.
    bodies, points
        Instead of a joint: the names of two bodies, one of them may be "ground", and a point of each, (2, 3), m, in the
        frame of its body.
    stiffness
        N/m of a length or displacement, N m/rad of an angle; may be negative. Joints whose orientation is a
        quaternion, `Spherical` and `Free`, take none.
    damping
        N s/m or N m s/rad; may be negative.
    free
        Length or coordinate at which the spring is relaxed, m or rad.
    name
        Between points: a name, under which length and force are found.

    Raises
    ------
    MechanismError
        On a value that is not finite or not of its shape, naming the joint or the spring.

    Examples
    --------
    >>> SpringDamper("A", stiffness=20)
    SpringDamper(joint='A', stiffness=20.0, damping=0.0, free=0.0)
    >>> SpringDamper("ball", damping=[0.1, 0.1, 0.3]).damping
    (0.1, 0.1, 0.3)
    >>> SpringDamper(bodies=("ground", "arm"), points=((0, 0, 1), (0.5, 0, 0)), stiffness=300, name="cord").points
    ((0.0, 0.0, 1.0), (0.5, 0.0, 0.0))
    """

    @overload
    def __new__(
        cls, joint: str, stiffness: ArrayLike = 0.0, damping: ArrayLike = 0.0, free: ArrayLike = 0.0
    ) -> JointSpringDamper: ...
    @overload
    def __new__(
        cls,
        *,
        bodies: tuple[str, str],
        points: ArrayLike,
        stiffness: float = 0.0,
        damping: float = 0.0,
        free: float = 0.0,
        name: str = "spring",
    ) -> PointSpringDamper: ...
    def __new__(
        cls,
        joint: Any = None,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        free: Any = 0.0,
        *,
        bodies: Any = None,
        points: Any = None,
        name: Any = None,
    ) -> SpringDamper:
        """Choose by the arguments; the two classes themselves come here too, without arguments when they are copied."""
        if cls is not SpringDamper:
            return super().__new__(cls)
        between = {key for key, one in (("bodies", bodies), ("points", points), ("name", name)) if one is not None}
        if joint is not None and between:
            raise MechanismError(
                f"SpringDamper: a joint does not go with {', '.join(sorted(between))}: "
                "give either the joint, or bodies= and points="
            )
        if joint is None and not between >= {"bodies", "points"}:
            raise MechanismError(
                "SpringDamper: give a joint as in SpringDamper('A', stiffness=1.0), or both "
                "bodies=('a', 'b') and points=((x, y, z), (x, y, z))"
            )
        return super().__new__(PointSpringDamper if joint is None else JointSpringDamper)

    @property
    def keeps_energy(self) -> bool:
        """Without damping."""
        return not np.any(self.damping)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return shown_as("SpringDamper", self)


@dataclass(frozen=True, repr=False)
class JointSpringDamper(SpringDamper):
    """Springs and dampers on the coordinates of a joint: tau = -stiffness (q - free) - damping u."""

    type_name = "spring_damper"
    joint: str
    stiffness: float | Sequence[float] = 0.0
    damping: float | Sequence[float] = 0.0
    free: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise MechanismError(f"SpringDamper: joint must be the name of a joint, not {self.joint!r}")
        for name in ("stiffness", "damping", "free"):
            value = _number_or_numbers(getattr(self, name), f"{self._what}: {name}")
            object.__setattr__(self, name, value)

    @property
    def _what(self) -> str:
        return f"SpringDamper on joint {self.joint!r}"

    @property
    def label(self) -> str:
        """What messages call it."""
        return "SpringDamper"

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Its joint."""
        return (self.joint,)

    def check(self, mech: Surroundings) -> None:
        """Refuse a joint that does not fit: without coordinates, with other speeds, or with springs on a quaternion."""
        super().check(mech)
        kind = mech.joints[self.joint].kind
        title = type(kind).__name__
        if kind.nu == 0:
            raise MechanismError(
                f"SpringDamper: joint {self.joint!r} ({title}) has no coordinates to act on: name another joint"
            )
        for name in ("stiffness", "damping", "free"):
            value = getattr(self, name)
            count = len(value) if isinstance(value, tuple) else 1
            if count not in (1, kind.nu):
                raise MechanismError(
                    f"{self._what}: {name} has {count} numbers, but a {title} has {kind.nu} speeds: "
                    f"give one number for all of them, or {kind.nu}"
                )
        if kind.quaternion is not None and (np.any(self.stiffness) or np.any(self.free)):
            raise MechanismError(
                f"{self._what}: the orientation of a {title} is a quaternion, on which no spring acts: leave out "
                "stiffness and free (damping may stay), and put springs between points of the two bodies instead"
            )

    def check_new(self, mech: Surroundings) -> None:
        """Refuse a second one in the same joint."""
        if self.joint in mech.taken.by(mech.forces).joints:
            raise MechanismError(f"joint {self.joint!r} has a SpringDamper already: give one with the sum of both")


@dataclass(frozen=True, repr=False)
class PointSpringDamper(ForceBetweenPoints, SpringDamper):
    """A spring and damper between points of two bodies: pulls with stiffness (length - free) + damping d(length)/dt."""

    type_name = "point_spring_damper"
    core_name = "spring"
    call = "SpringDamper"
    record = (
        parameter(
            "{0}.points[]", "spring_points", "m", "ends of the spring: 1 in {1}, 2 in {2}", elements=indices(2, 3)
        ),
        parameter("{0}.stiffness", "spring_stiffness", "N/m", "stiffness of the spring"),
        parameter("{0}.damping", "spring_damping", "N.s/m", "damping of the damper"),
        parameter("{0}.free", "spring_free_length", "m", "length at which the spring is free"),
        output("{0}.length", "spring_length", "m", "distance of the spring's points"),
        output("{0}.rate", "spring_rate", "m/s", "time derivative of the length", dependency=1),
        output("{0}.force", "spring_force", "N", "force of spring and damper; pulling is positive", dependency=1),
    )
    stiffness: float = 0.0
    damping: float = 0.0
    free: float = 0.0
    name: str = "spring"


def _number_or_numbers(value: ArrayLike, what: str) -> float | tuple[float, ...]:
    plain: object = value
    if type(plain) is float:  # as nearly always
        return number(plain, what)
    size = 0 if isinstance(value, str) else length(value)
    return tuple(finite(value, (size,), what).tolist()) if size else number(value, what)
