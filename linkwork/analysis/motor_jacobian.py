"""Motor Jacobian: rates of functions of the pose by the speeds of chosen motors, on a mechanism with loops.

With N (nu, dof) a basis of the motions that the constraints leave, F (n, nu) the rows of the functions and A (m, nu)
those of the motors, u = N r gives  x' = F N r,  s' = A N r, so that

    x' = G s',  G = F N (A N)^+;      x'' = G s'' + b;      inertia = (F N (N' M N)^-1 N' F')^+

(Gosselin and Angeles, Singularity analysis of closed-loop kinematic chains, 1990; Khatib 1987 for the inertia). A pose
is singular in three ways. Serial type: F N loses rank, and no motion of the mechanism gives some rates. Parallel type:
A N loses rank, and the functions change while all motors are held. Loops: the constraints lose rank, and there are
more degrees of freedom than in neighbouring poses. Ranks in neighbouring poses, found by small motions, distinguish
losses from properties of the mechanism, such as the plane in which it moves.

Rates of angles count times a length in ranks, singular values and pseudoinverses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.keywords import checks_keywords
from linkwork._util.one_thread import on_one_thread
from linkwork._util.text import aligned
from linkwork.analysis.configuration_space import ConfigurationSpace
from linkwork.analysis.pose_functions import Stacked, stacked, stacked_motors
from linkwork.errors import MechanismError, SingularityError
from linkwork.mechanism import Mechanism
from linkwork.model.compile import model_of
from linkwork.results.base import TableResult

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

SINGULAR = 1e-8  # of a singular value, relative to the largest: poses are known to about 1e-10
_NEAR = 0.1  # how far neighbouring poses are, relative to the length
_MOST_SHOWN = 8  # motors, as columns of the table


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction of the rates of functions of the pose."""

    rates: FloatArray  # (n,) rad/s and m/s, of weighted norm 1 m/s
    text: str  # in words, as "platform turns about (0, 0, 1)"

    def __str__(self) -> str:
        return self.text


@checks_keywords
@dataclass(frozen=True, eq=False)
class MotorJacobian(TableResult):
    """Rates of functions of the pose by the speeds of motors, at a state.

    Attributes
    ----------
    functions, units
        Names and units of the functions, (n,). Those of an orientation are components of the angular velocity, world
        axes.
    motors, motor_units
        Of the motors, (m,).
    matrix
        (n, m). A row is NaN where the motors do not determine its rate. With more motors than degrees of freedom their
        speeds depend on each other, and the matrix holds for those that are possible.
    bias
        (n,), what accelerations have besides matrix @ those of the motors; None where the accelerations are not unique.
    inertia
        (n, n), the operational-space inertia; in directions without motion it is zero. None without mass.
    singular_values
        Of the weighted matrix, descending; empty where a row is NaN.
    length
        m, by which angles are weighted.
    dof
        Degrees of freedom of the mechanism in this pose; `regular_dof` in neighbouring poses.
    lost
        Serial type: directions of the rates that no motion gives here, while motions in neighbouring poses do.
    held
        Directions of the rates that are possible with all motors held. They are a parallel-type singularity if
        `is_singular`, else motors are missing.
    impossible
        Number of directions of the rates that no motion gives, those of `lost` among them.
    undriven
        Number of motions of the mechanism with all motors held, those that move none of the functions among them.
    redundant
        Number of motors that the others determine, not only in this pose.
    """

    _index: ClassVar[str | None] = "function"

    functions: tuple[str, ...]
    units: tuple[str, ...]
    motors: tuple[str, ...]
    motor_units: tuple[str, ...]
    matrix: FloatArray
    bias: FloatArray | None
    inertia: FloatArray | None
    singular_values: FloatArray
    length: float
    dof: int
    regular_dof: int
    lost: tuple[Direction, ...]
    held: tuple[Direction, ...]
    impossible: int
    undriven: int
    redundant: int
    regularly_held: int  # directions that motors do not determine in neighbouring poses either

    @property
    def is_singular(self) -> bool:
        """Whether the pose is singular, in any of the three ways."""
        return bool(self.lost) or len(self.held) > self.regularly_held or self.dof > self.regular_dof

    @property
    def conditioning(self) -> float:
        """Smallest by largest singular value, 0 to 1; 0 where the pose is singular or a rate is not determined.

        Directions that no motion gives in neighbouring poses either do not count. With one singular value, as of one
        function or one motor, it is 1 until the pose is singular: `manipulability` shows how near that is.
        """
        if self.is_singular or not len(self.singular_values):
            return 0.0
        count = min(len(self.functions) - self.impossible, len(self.motors))
        return float(self.singular_values[count - 1] / self.singular_values[0]) if count > 0 else 0.0

    @property
    def manipulability(self) -> float:
        """Product of the singular values that `conditioning` counts (Yoshikawa); infinite with `held` directions."""
        if self.held:
            return np.inf
        count = min(len(self.functions) - self.impossible, len(self.motors))
        return 0.0 if self.lost else float(np.prod(self.singular_values[:count]))

    def __repr__(self) -> str:
        counts = f"{len(self.functions)} functions by {len(self.motors)} motors, {_dof(self.dof)}"
        lines = [f"MotorJacobian: {counts}, conditioning {self.conditioning:.3g} (angles times {self.length:.3g} m)"]
        shown = self.motors[:_MOST_SHOWN]
        head = ["", *shown, *["..."] * (len(self.motors) > len(shown))]
        rows = [head]
        for name, row in zip(self.functions, self.matrix, strict=True):
            rows.append([name, *(f"{_tidy(x):.4g}" for x in row[: len(shown)]), *[""] * (len(head) - 1 - len(shown))])
        return "\n".join([*lines, *aligned(rows, "<>"), *self._remarks()])

    def _table(self) -> dict[str, Any]:
        return {"function": list(self.functions), **dict(zip(self.motors, self.matrix.T, strict=True))}

    def _remarks(self) -> list[str]:
        lines = []
        if self.dof > self.regular_dof:
            lines.append(f"singular, loops: {_dof(self.dof)} here, {self.regular_dof} in neighbouring poses")
        lines += [f"singular, serial type: no motion gives: {one.text}" for one in self.lost]
        of = "singular, parallel type" if len(self.held) > self.regularly_held else "no motor drives"
        lines += [f"{of}: with all motors held {one.text}" for one in self.held]
        if more := self.undriven - len(self.held):
            lines.append(f"{more} motions with all motors held move none of the functions")
        if self.redundant:
            lines.append(f"{self.redundant} motors follow from the others (redundant actuation)")
        return lines


@checks_keywords
@on_one_thread
def motor_jacobian(
    mechanism: Mechanism | ModelBase,
    state: State | None = None,
    *,
    of: str | Sequence[str],
    by: str | Sequence[str] | None = None,
    length: float | None = None,
) -> MotorJacobian:
    """Return the rates of functions of the pose by the speeds of motors, and the singularities of the pose.

    Parameters
    ----------
    mechanism
        Or a model.
    state
        The pose and the speeds; by default the assembled start.
    of
        Functions of the pose, one name or several: "hand", orientation and position of a body, whose rates are angular
        velocity and velocity in world axes; "hand.r", "hand.r[3]", "tip.e", "A.q", "gap.length".
    by
        Motors: joints, also those that close loops, "A" or "U[2]", and actuators; by default all actuators.
    length
        m, by which angles are weighted; by default a length of the mechanism.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("arm")
    >>> for name in ("upper", "lower"):
    ...     mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "upper", at=(0, 0, 0))
    >>> mech.add_joint("B", lw.Revolute((0, 0, 1)), "upper", "lower", parent_frame=lw.Frame((1, 0, 0)))
    >>> mech.add_point("tip", "lower", (1, 0, 0))
    >>> lw.motor_jacobian(mech, of=["tip.r[1]", "tip.r[2]"], by=["A", "B"], length=1.0)
    MotorJacobian: 2 functions by 2 motors, 2 degrees of freedom, conditioning 0 (angles times 1 m)
                A.q  B.q
      tip.r[1]    0    0
      tip.r[2]    2    1
    singular, serial type: no motion gives: tip.r[1]
    """
    model = model_of(mechanism)
    space = ConfigurationSpace(model, state, length)
    functions, motors = stacked(space, of, "of"), stacked_motors(space, by)
    for one in functions.parts:
        if not one.has_slope():
            raise MechanismError(
                f"{one.names[0]!r} has no derivative in this pose: its points coincide, or its directions are parallel"
            )
    return jacobian_at(space, functions, motors)


class _Ranks(NamedTuple):
    """How many motions there are, and how many of what."""

    dof: int
    rates: int  # directions of the rates of the functions
    held: int  # the same, with all motors held
    driven: int  # motions that motors drive
    range: FloatArray  # (n, rates), orthonormal weighted rates


class _Motions(NamedTuple):
    """Weighed rates of functions and motors by motions r, and the motions with all motors held."""

    basis: FloatArray  # N (nu, dof)
    functions: FloatArray  # (n, dof)
    motors: FloatArray  # (m, dof)
    undriven: FloatArray  # (dof, k)

    @property
    def ranks(self) -> _Ranks:
        left, values, _ = np.linalg.svd(self.functions, full_matrices=False)
        rates = _rank(values)
        held = np.linalg.svd(self.functions @ self.undriven, compute_uv=False)
        scale = float(values.max(initial=0.0))
        dof, undriven = self.undriven.shape
        return _Ranks(dof, rates, int(np.sum(held > SINGULAR * scale)), dof - undriven, left[:, :rates])


def jacobian_at(
    space: ConfigurationSpace, functions: Stacked, motors: Stacked, *, dynamics: bool = True
) -> MotorJacobian:
    """Return the motor Jacobian at the present pose of a space; without `dynamics` neither bias nor inertia."""
    q, length = space.q, space.length
    here = _motions(space, functions, motors)
    if not here.basis.shape[1]:
        raise MechanismError("the mechanism cannot move in this pose: motors have no speeds")
    ranks = here.ranks
    bias = inertia = None
    weights, motor_weights = functions.weights(length), motors.weights(length)
    weighted = here.functions @ np.linalg.pinv(here.motors, rcond=SINGULAR)
    matrix = weighted * motor_weights / weights[:, None]
    loose = here.functions @ here.undriven
    scale = max(float(np.abs(here.functions).max(initial=0.0)), 1e-300)
    matrix[np.linalg.norm(loose, axis=1) > SINGULAR * scale] = np.nan
    if dynamics:
        bias = _bias(space, functions, motors, matrix)
        inertia = _inertia(space, functions, here, weights)
    regular = _regular(space, functions, motors, q, here, ranks)
    held = np.linalg.svd(loose, full_matrices=False)[0]
    return MotorJacobian(
        functions=functions.names,
        units=functions.units,
        motors=motors.names,
        motor_units=motors.units,
        matrix=matrix,
        bias=bias,
        inertia=inertia,
        singular_values=np.linalg.svd(weighted, compute_uv=False) if not ranks.held else np.zeros(0),
        length=length,
        dof=ranks.dof,
        regular_dof=min(ranks.dof, regular.dof),
        lost=_directions(functions, _lost(ranks, regular), weights),
        held=_directions(functions, held[:, : ranks.held].T, weights),
        impossible=functions.size - ranks.rates,
        undriven=here.undriven.shape[1],
        redundant=motors.size - max(ranks.driven, regular.driven),
        regularly_held=min(regular.held, ranks.held),
    )


class Conditioning:
    """Conditioning of the motor Jacobian in many poses, without directions and dynamics.

    Parameters
    ----------
    space
        The configuration space; from its present pose the directions that no motion gives are known.
    functions, motors
        As of `motor_jacobian`.
    """

    def __init__(self, space: ConfigurationSpace, functions: Stacked, motors: Stacked) -> None:
        self._space, self._functions, self._motors = space, functions, motors
        start = jacobian_at(space, functions, motors, dynamics=False)
        self._count = min(functions.size - start.impossible + len(start.lost), motors.size)
        self._drives = motors.size - start.redundant

    def here(self) -> tuple[float, float]:
        """Return smallest by largest singular value: of the Jacobian, and of motor speeds by motions."""
        motions = _motions(self._space, self._functions, self._motors)
        by_motors = np.linalg.svd(motions.motors, compute_uv=False)
        held = float(by_motors[self._drives - 1] / max(by_motors[0], 1e-300)) if self._drives > 0 else 0.0
        held = held if held > SINGULAR else 0.0
        if motions.ranks.held or not self._count:
            return 0.0, held
        values = np.linalg.svd(motions.functions @ np.linalg.pinv(motions.motors, rcond=SINGULAR), compute_uv=False)
        ratio = float(values[self._count - 1] / max(values[0], 1e-300))
        return (ratio if ratio > SINGULAR else 0.0), held


def _motions(space: ConfigurationSpace, functions: Stacked, motors: Stacked) -> _Motions:
    length = space.length
    basis = space.tangent().basis
    by_functions = functions.weights(length)[:, None] * (functions.rows() @ basis)
    by_motors = motors.weights(length)[:, None] * (motors.rows() @ basis)
    _, values, right = np.linalg.svd(by_motors, full_matrices=True)
    return _Motions(basis, by_functions, by_motors, right[_rank(values) :].T)


def _rank(values: FloatArray) -> int:
    return int(np.sum(values > SINGULAR * max(values.max(initial=0.0), 1e-300)))


def _regular(
    space: ConfigurationSpace,
    functions: Stacked,
    motors: Stacked,
    q: FloatArray,
    here: _Motions,
    ranks: _Ranks,
) -> _Ranks:
    """Return the ranks in a neighbouring pose, `ranks` itself where none is found; the space stays where it is."""
    rng, found = np.random.default_rng(0), ranks
    for _ in range(3):
        motion = rng.standard_normal(here.basis.shape[1])
        motion *= _NEAR * space.length / float(np.linalg.norm(motion))
        if space.closed(space.displaced(q, here.basis @ motion)).found:
            near = _motions(space, functions, motors).ranks
            if (-near.dof, near.rates, -near.held) >= (-found.dof, found.rates, -found.held):
                found = near
    space.enter(q)
    return found


def _lost(here: _Ranks, regular: _Ranks) -> FloatArray:
    """Return the weighted rates (k, n) that motions in the neighbouring pose give, and none does here."""
    beyond = regular.range - here.range @ (here.range.T @ regular.range)
    left = np.linalg.svd(beyond, full_matrices=False)[0]
    return left[:, : max(0, regular.rates - here.rates)].T


def _bias(space: ConfigurationSpace, functions: Stacked, motors: Stacked, matrix: FloatArray) -> FloatArray | None:
    """Return x'' - G s'' of the motion that the block computes, which is one of those possible."""
    try:
        found: FloatArray = functions.acceleration() - matrix @ motors.acceleration()
    except SingularityError:
        return None
    return found


def _inertia(space: ConfigurationSpace, functions: Stacked, here: _Motions, weights: FloatArray) -> FloatArray | None:
    mass = here.basis.T @ space.block.mass_matrix() @ here.basis
    try:
        factor = np.linalg.cholesky(mass)
    except np.linalg.LinAlgError:
        return None
    half = np.linalg.solve(factor, here.functions.T)  # (dof, n): half' half is the mobility of the functions
    inverse = np.linalg.pinv(half, rcond=SINGULAR)
    found: FloatArray = (inverse @ inverse.T) * weights * weights[:, None]
    return found


# ---- directions in words ----


def _directions(functions: Stacked, weighted: FloatArray, weights: FloatArray) -> tuple[Direction, ...]:
    found = []
    for row in weighted:
        unit = row / np.linalg.norm(row)
        first = unit[np.argmax(np.abs(unit) > 0.5 * np.abs(unit).max())]
        rates = np.where(np.abs(unit) < 1e-9, 0.0, unit * np.sign(first)) / weights
        found.append(Direction(rates, in_words(functions, rates)))
    return tuple(found)


def in_words(functions: Stacked, rates: FloatArray) -> str:
    """Return rates (n,) of functions in words.

    A body whose orientation and position are both there moves on a screw axis.
    """
    texts: list[str] = []
    skip = False
    for k, (part, span) in enumerate(zip(functions.parts, functions.spans, strict=True)):
        if skip:
            skip = False
            continue
        own = rates[span]
        label = part.names[0].split("[")[0]
        if part.size == 3 and label.endswith(".Q"):
            body = label[:-2]
            following = functions.parts[k + 1] if k + 1 < len(functions.parts) else None
            if following is not None and following.size == 3 and following.names[0] == f"{body}.r[1]":
                skip = True
                texts += _screw(body, own, rates[functions.spans[k + 1]], following.value())
            elif np.any(own):
                texts.append(f"{body} turns about {_vector(own)}")
        elif part.size == 3 and np.any(own):
            verb = "turns along" if label.endswith(".e") else "moves along"
            texts.append(f"{label} {verb} {_vector(own)}")
        else:
            texts += [_term(name, x) for name, x in zip(part.names, own, strict=True) if x]
    return " and ".join(texts)


def _screw(body: str, w: FloatArray, v: FloatArray, origin: FloatArray) -> list[str]:
    turn, speed = float(np.linalg.norm(w)), float(np.linalg.norm(v))
    if not turn:
        return [f"{body} moves along {_vector(v)}"] if speed else []
    axis = w / turn
    point = origin + np.cross(w, v) / turn**2
    pitch = float(w @ v) / turn**2
    text = f"{body} turns about {_vector(axis)} through {_vector(point, normalise=False)} m"
    return [f"{text}, moving {pitch:.4g} m/rad along it" if abs(pitch) > 1e-9 else text]


def _term(name: str, x: float) -> str:
    return name if x == 1.0 else f"{x:.4g} {name}"


def _vector(v: FloatArray, *, normalise: bool = True) -> str:
    v = v / np.linalg.norm(v) if normalise else v
    return f"({', '.join(f'{_tidy(x):.4g}' for x in v)})"


def _tidy(x: float) -> float:
    """Without what only rounding has left."""
    return 0.0 if abs(x) < 1e-12 else float(x)


def _dof(count: int) -> str:
    return f"{count} degree{'s' if count != 1 else ''} of freedom"
