"""Tendons: cables, belts, chains and other elastic lines, along points of bodies or on joints."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from linkwork._util.checks import finite, length
from linkwork.errors import MechanismError
from linkwork.mechanism.built_in_forces import Number, OnJointsOrBetweenPoints, built_in
from linkwork.mechanism.forces import check_range

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

Range = tuple[float, float]


@built_in
@dataclass(frozen=True, repr=False)
class Tendon(OnJointsOrBetweenPoints):
    """A tendon, cable, rope or strand of a belt: spring, damper and actuator along a line, or on a sum of coordinates.

    Its tension is

        T = within(stiffness stretch + damping rate + preload + gain within(input))

    where the stretch is the length less `free`; of a pair of free lengths, less the greater one above it and less the
    smaller one below it, and zero between them. Its tension is never below zero, unless `pushes`.

    Along a line it runs through points of bodies, straight from each to the next, without friction. On joints, as of
    the cable of a drum or a rack, the length is the sum of gear times coordinate, m: a gear is a radius, m/rad, or a
    number on a slide; each joint is loaded by -gear T.

    Parameters
    ----------
    joint
        Gears by coordinate, as {"A": 0.02, "B": -0.05}, or the name of one, whose gear is 1.
    bodies, points
        Instead of joints: the names of two bodies or more, "ground" may be among them, and a point of each, (n, 3), m,
        in the frame of its body.
    factors
        For each piece of the line, (n - 1,): by which its length counts, and the tension acts in it. By default 1. A
        line that a pulley block splits has 1 / divisor in each branch, and 0 between points that are not connected.
    stiffness, damping
        N/m and N s/m; not negative.
    free
        Length without stretch, m, or a pair of lengths between which there is none.
    preload
        Tension without stretch, rate and input, N.
    gain
        Tension by the input `name.input`, N; None: it has no input. A cable that is pulled has a positive gain.
    input_range, force_range
        Lower and upper limit of the input, and of the tension, N; None: no limits.
    pushes
        Whether the tension may be below zero, as of a rod.
    name
        A name, under which all of these are found, as "cable.force", the tension along a line, and on joints -T.

    Raises
    ------
    MechanismError
        Where stiffness, damping and gain are all missing, stiffness or damping is negative, free lengths or limits are
        in the wrong order, or an input range has no gain.

    Examples
    --------
    >>> line = {"bodies": ("ground", "block", "ground"), "points": ((0, 0, 1), (0, 0, 0), (0.2, 0, 1))}
    >>> Tendon(**line, stiffness=2e4, free=1.9, name="hoist").formula
    'max(0, stiffness*(length - free))'
    >>> Tendon({"drum": -0.05, "slide": 1.0}, stiffness=2e4, free=(0.0, 0.01), pushes=True).formula
    '-(stiffness*(max(0, q - free_upper) + min(0, q - free_lower)))'
    """

    type_name = "tendon"
    numbers = (
        Number("stiffness", "stiffness of the tendon", "{load}/{motion}", "not negative"),
        Number("damping", "damping of the tendon", "{load}.s/{motion}", "not negative"),
        Number("preload", "tension without stretch, rate and input", "{load}"),
        Number("gain", "tension of an input of one", "{load}"),
    )
    at_least_one = ("stiffness", "damping", "gain")
    goes_with = OnJointsOrBetweenPoints.goes_with | {"input_range": "gain"}  # type: ignore[operator]
    texts = {"input": "input of the tendon, within its range"}  # noqa: RUF012
    _: KW_ONLY
    stiffness: float | None = None
    damping: float | None = None
    free: float | Range = 0.0
    preload: float | None = None
    gain: float | None = None
    input_range: Range | None = None
    force_range: Range | None = None
    pushes: bool = False
    name: str = "tendon"

    def check_others(self) -> None:
        """Refuse free lengths and limits in the wrong order."""
        free: Any = self.free
        size = 0 if isinstance(free, str) else length(free)
        found = finite(free, (size,) if size else (), f"{self.label}: free").tolist()
        if size not in (0, 2) or (size and not found[0] <= found[1]):
            raise MechanismError(
                f"{self.label}: free must be a length, or a lower and an upper length between which the tendon has no "
                f"stretch, not {free!r:.60}"
            )
        object.__setattr__(self, "free", tuple(found) if size else found)
        for what in ("input_range", "force_range"):
            limits = getattr(self, what)
            if limits is not None:
                pair = tuple(finite(limits, (2,), f"{self.label}: {what}").tolist())
                check_range(pair, f"{self.label}: {what}")
                object.__setattr__(self, what, pair)
        if not isinstance(self.pushes, bool):
            raise MechanismError(f"{self.label}: pushes must be True or False, not {self.pushes!r:.40}")

    @property
    def law_inputs(self) -> tuple[str, ...]:  # type: ignore[override]
        """Its input, with a gain."""
        return () if self.gain is None else ("input",)

    def own_numbers(self) -> list[Number]:
        """Return its numbers that are given, those of pairs one by one."""
        found = list(super().own_numbers())
        if self.stiffness is not None:
            ends = ("_lower", "_upper") if isinstance(self.free, tuple) else ("",)
            found += [Number(f"free{end}", "length without stretch", "{motion}") for end in ends]
        for what, unit in (("input", "1"), ("force", "{load}")):
            if getattr(self, f"{what}_range") is not None:
                text = f"limit of the {'input' if what == 'input' else 'tension'}"
                found += [Number(f"{what}_{end}", text, unit) for end in ("lower", "upper")]
        return found

    def value_of(self, one: Number) -> Any:
        """Return a number as it is given."""
        what, _, end = one.name.partition("_")
        if not end:
            return getattr(self, one.name)
        pair: Any = self.free if what == "free" else getattr(self, f"{what}_range")
        return pair[("lower", "upper").index(end)]

    def motion_unit(self, mech: Surroundings) -> str:
        """Return the unit of its length, m also on hinges."""
        return "m"

    @property
    def formula(self) -> str:
        """Its formula: along a line the tension, on joints the load."""
        tension = self.tension(*(("length", "rate") if self.is_along_line else ("q", "u")))
        return tension if self.is_along_line else f"-({tension})"

    def tension(self, x: str, v: str) -> str:
        """Return the formula of its tension, by its length x and the rate v."""
        terms = []
        if self.stiffness is not None:
            stretch = f"({x} - free)"
            if isinstance(self.free, tuple):
                stretch = f"(max(0, {x} - free_upper) + min(0, {x} - free_lower))"
            terms.append(f"stiffness*{stretch}")
        terms += [f"damping*{v}"] if self.damping is not None else []
        terms += ["preload"] if self.preload is not None else []
        if self.gain is not None:
            terms.append(f"gain*{_within('input', self.input_range)}")
        whole = _within(" + ".join(terms), self.force_range, "force")
        return whole if self.pushes else f"max(0, {whole})"


def _within(what: str, limits: Range | None, name: str = "input") -> str:
    return what if limits is None else f"min({name}_upper, max({name}_lower, {what}))"
