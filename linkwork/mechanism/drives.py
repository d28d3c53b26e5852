"""Drives that are several parts of a mechanism: belts with a strand between each two pulleys, and worm gears."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import finite, length, number, positive
from linkwork._util.keywords import checks_keywords
from linkwork.errors import MechanismError
from linkwork.mechanism.description import Description
from linkwork.mechanism.friction import Friction
from linkwork.mechanism.joints import Prismatic, Revolute, Screw
from linkwork.mechanism.part_checks import check_joint_known
from linkwork.mechanism.tendons import Tendon


class WithDrives(Description):
    """A description to which drives are added."""

    @checks_keywords
    def add_belt(
        self,
        name: str,
        pulleys: Mapping[str, float],
        stiffness: ArrayLike,
        damping: ArrayLike = 0.0,
        preload: float = 0.0,
    ) -> tuple[str, ...]:
        """Add an elastic belt or chain around two pulleys or more, as a `Tendon` for each strand.

        The strand between two pulleys of radii r1 and r2, on which it runs from the first to the second one, has the
        tension

            T = max(0, preload + stiffness (r2 q2 - r1 q1) + damping (r2 u2 - r1 u1))

        so that it never pushes. It loads the first pulley by r1 T and the second by -r2 T. The axes of the pulleys
        keep their distances, and the belt does not slip. A belt that does not stretch is a coupling:
        `add_coupling(name, {"A": r1, "B": -r2})`.

        Parameters
        ----------
        name
            Of the belt: strands are name_1, name_2, ...; the last one runs back to the first pulley.
        pulleys
            Radius by joint, m/rad, in the order in which the belt runs around them; negative where the pulley turns the
            other way, as with a crossed belt or on its back. Of a slide, such as a carriage, 1 or -1.
        stiffness
            Of each strand, N/m: E A over its length; one number for all, or one for each.
        damping
            N s/m, likewise.
        preload
            Tension where all coordinates are zero and at rest, N.

        Returns
        -------
        tuple
            The names of the strands; "drive_1.force" is -T of the first one.

        Raises
        ------
        MechanismError
            On fewer than two pulleys, unknown joints, names that are taken, negative stiffness or damping, and other
            shapes. Nothing is added then.

        Examples
        --------
        >>> from linkwork.mechanism import Mechanism, Revolute, inertia
        >>> mech = Mechanism("drive")
        >>> for joint, x in (("motor", 0.0), ("fan", 0.4)):
        ...     mech.add_body(f"{joint} pulley", 1.0, (0, 0, 0), inertia.sphere(1.0, 0.1), origin=(x, 0, 0))
        ...     mech.add_joint(joint, Revolute("y"), "ground", f"{joint} pulley", at=(x, 0, 0))
        >>> mech.add_belt("belt", {"motor": 0.02, "fan": 0.05}, stiffness=4e4, damping=20, preload=150)
        ('belt_1', 'belt_2')
        """
        what = f"belt {name!r}"
        if not isinstance(pulleys, Mapping) or len(pulleys) < 2:
            raise MechanismError(
                f"{what}: give two pulleys or more such as {{'A': 0.02, 'B': 0.05}}, not {pulleys!r:.60}"
            )
        names = list(pulleys)
        ends = list(zip(names, [*names[1:], names[0]], strict=True))
        numbers = [
            _each(one, len(ends), f"{what}: {key}") for key, one in (("stiffness", stiffness), ("damping", damping))
        ]
        tension = number(preload, f"{what}: preload")
        with self._all_or_none():
            for k, (first, second) in enumerate(ends):
                gears = {second: pulleys[second], first: -number(pulleys[first], f"{what}: the radius of {first!r}")}
                self.add_force(
                    Tendon(
                        gears,
                        stiffness=numbers[0][k],
                        damping=numbers[1][k] or None,
                        preload=tension or None,
                        name=f"{name}_{k + 1}",
                    )
                )
        return tuple(f"{name}_{k + 1}" for k in range(len(ends)))

    @checks_keywords
    def add_worm_gear(
        self,
        name: str,
        worm: str,
        wheel: str,
        ratio: float,
        worm_radius: float,
        wheel_radius: float,
        mu: float = 0.0,
        static_mu: float | None = None,
    ) -> None:
        """Add a worm gear between two hinges, with the exact friction of its thread: it may be self-locking.

        The thread of the worm moves a massless rack along its axis, as a `Screw`, and the rack the wheel. With the lead
        angle tan(lambda) = wheel_radius / (ratio worm_radius) and the angle of friction tan(phi) = mu, a worm that
        drives needs the torque F worm_radius tan(lambda + phi) for the tangential force F of the wheel, with the
        efficiency tan(lambda) / tan(lambda + phi). Where lambda < phi the wheel does not drive the worm: it sticks.
        Flanks with a pressure angle alpha rub with mu / cos(alpha).

        It adds the body and the joint `name_rack`, which slides along the worm's axis in the worm's housing, the joint
        `name_thread`, the coupling `name_wheel`, and with mu the friction `name_friction`.

        Parameters
        ----------
        name
            Of the gear.
        worm, wheel
            Names of two joints of type `Revolute`.
        ratio
            Angle of the worm by that of the wheel; negative: they turn against each other.
        worm_radius, wheel_radius
            Of the pitch circles, m.
        mu, static_mu
            Coefficients of friction of sliding and of sticking flanks; the latter is by default mu.

        Raises
        ------
        MechanismError
            On unknown joints or others than hinges, names that are taken, and radii that are not positive. Nothing is
            added then.

        Examples
        --------
        >>> from linkwork.mechanism import Mechanism, Revolute, inertia
        >>> mech = Mechanism("hoist")
        >>> for joint, axis, z in (("motor", "x", 0.0), ("drum", "y", 0.12)):
        ...     mech.add_body(f"{joint} shaft", 1.0, (0, 0, 0), inertia.sphere(1.0, 0.1), origin=(0, 0, z))
        ...     mech.add_joint(joint, Revolute(axis), "ground", f"{joint} shaft", at=(0, 0, z))
        >>> mech.add_worm_gear("worm", "motor", "drum", ratio=40, worm_radius=0.02, wheel_radius=0.1, mu=0.15)
        >>> [force.name for force in mech.forces]
        ['worm_friction']
        """
        what = f"worm gear {name!r}"
        for joint in (worm, wheel):
            check_joint_known(self, joint, what)
            if not isinstance(self.joints[joint].kind, Revolute):
                kind = type(self.joints[joint].kind).__name__
                raise MechanismError(f"{what}: joint {joint!r} ({kind}) must be a Revolute: name a hinge")
        if worm == wheel:
            raise MechanismError(f"{what}: worm and wheel are both joint {worm!r}: name two")
        ratio = number(ratio, f"{what}: ratio")
        if not ratio:
            raise MechanismError(f"{what}: ratio must not be zero")
        radius, of_wheel = (
            positive(worm_radius, f"{what}: worm_radius"),
            positive(wheel_radius, f"{what}: wheel_radius"),
        )
        shaft, rack, thread = self.joints[worm], f"{name}_rack", f"{name}_thread"
        axis = np.array(shaft.kind.axes[0])
        with self._all_or_none():
            self.add_body(rack, 0.0, (0, 0, 0), np.zeros((3, 3)))
            self.add_joint(rack, Prismatic(axis), shaft.parent, rack, parent_frame=shaft.parent_frame)
            self.add_joint(
                *(thread, Screw(axis, pitch=-of_wheel / ratio), shaft.child, rack),
                parent_frame=shaft.child_frame,
                cut=True,
            )
            self.add_coupling(f"{name}_wheel", {rack: 1.0, wheel: -of_wheel})
            if mu or static_mu:
                more = {} if static_mu is None else {"static_mu": static_mu}
                self.add_force(Friction(thread, mu=mu, radius=radius, **more, name=f"{name}_friction"))

    @contextmanager
    def _all_or_none(self) -> Iterator[None]:
        """Take back all that was added where one part is refused."""
        lists: dict[str, dict[str, Any]] = {
            "bodies": dict(self.bodies),
            "joints": dict(self.joints),
            "couplings": dict(self.couplings),
        }
        forces = list(self.forces)
        try:
            yield
        except MechanismError:
            for what, before in lists.items():
                for key in [one for one in getattr(self, what) if one not in before]:
                    del getattr(self, what)[key]
            self.forces[:] = forces
            raise


def _each(given: ArrayLike, count: int, what: str) -> list[float]:
    """Return a number for each strand, none negative."""
    size = 0 if isinstance(given, str) else length(given)
    values = finite(given, (count,), what).tolist() if size else [number(given, what)] * count
    if min(values) < 0.0:
        raise MechanismError(f"{what} must not be negative, and is {min(values):g}")
    return values
