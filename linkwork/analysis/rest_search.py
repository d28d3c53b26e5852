"""The search for a pose in which forces are in balance: Newton's method on the closed poses, within a trust region.

A step c along the tangent space minimises g'c + c'Kc/2 within |c| <= radius (More and Sorensen), with the slope
g = T'h of the potential energy and the stiffness K of `force_balance`; the loops are then closed again. A step is
accepted where the work of the forces along it confirms the model, so that the search goes down to a stable pose. For
poses of rest of any kind the same is done with |g|^2 in place of the energy.

Stops are bounds: a step ends where it meets one, which is then held. Where a stop would have to pull, it is released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.analysis.pose_functions import PoseFunction

if TYPE_CHECKING:
    from linkwork.analysis.configuration_space import Task
    from linkwork.analysis.force_balance import Balance, ForceBalance

Seek = Literal["minimum", "maximum", "any"]

RESIDUAL = 1e-13  # of the scale of the forces: a pose with less is at rest
ACCEPTED = 1e-10  # residuals that rounding cannot lower count as rest below it
ZERO_STIFFNESS = 1e-10  # of the largest: it is none
FLAT = 1e-4  # of the size of the forces by the length: forces of less stiffness vanish before the pose is reached
MOST_POLISHING = 80  # steps
MOST_TURN = 1.0  # rad in one step
MOST_STEPS = 400
FARTHEST = 1e6  # of the size of the mechanism
MOST_ROTATION = 200.0  # rad; more where the coordinates to which gears couple it go less
FAR = 10.0  # of the size of the mechanism: a displacement with which coordinates that are coupled with it may go
SMALLEST_RADIUS = 1e-12  # of the length of the mechanism


class Bound:
    """A bound of a stop: `sign` (coordinate - value) >= 0."""

    def __init__(
        self,
        name: str,  # of the transition
        coordinate: PoseFunction,  # that is bounded
        value: float,  # rad or m
        sign: int,  # 1 of a lower bound, -1 of an upper one
        start: float,  # the coordinate at the beginning, next to which its revolutions are counted
        wraps: bool,  # the coordinate is known but for full revolutions
    ) -> None:
        self.name, self.coordinate, self.value, self.sign = name, coordinate, value, sign
        self._wraps, self._reference = wraps, start

    def distance(self) -> float:
        """Return how far the present pose is from it, rad or m; negative beyond it."""
        return self.sign * (self._coordinate() - self.value)

    def accept(self) -> None:
        """Count revolutions from the present pose."""
        self._reference = self._coordinate()

    def _coordinate(self) -> float:
        value = float(self.coordinate.value()[0])
        if not self._wraps:
            return value
        return self._reference + float(np.remainder(value - self._reference + np.pi, 2 * np.pi)) - np.pi


@dataclass
class Held:
    """Coordinates that are held: a function of the pose and its values (n,)."""

    function: PoseFunction
    values: FloatArray


@dataclass
class Rest:
    """How a search ended."""

    q: FloatArray  # the pose
    balance: Balance  # of the forces there
    contacts: list[Bound]  # the bounds that it rests on
    scale: float  # size of the forces, N
    steps: int  # number of accepted steps
    failure: str = ""  # why it is no pose of rest; empty: it is one
    runs_away: FloatArray | None = field(default=None, repr=False)  # the displacement (nu,) of a pose that went too far
    # The motion (nu,) along which no load of what is held keeps the pose, at a dead point.
    lacking: FloatArray | None = field(default=None, repr=False)


class RestSearch:
    """Finds poses at rest."""

    def __init__(self, forces: ForceBalance, held: Sequence[Held] = (), bounds: Sequence[Bound] = ()) -> None:
        self.forces, self.space = forces, forces.space
        self.held, self.bounds = list(held), list(bounds)
        gearing = self.space.gearing
        turns = self.space.is_rotation
        reach = gearing.reach(np.where(turns, MOST_ROTATION, FAR * self.space.size))
        self.farthest = np.where(turns, reach, np.maximum(reach, FARTHEST * self.space.size))

    def task(self, contacts: Sequence[Bound]) -> Task:
        """Return what poses must do besides being closed: have the values held, and touch the stops."""
        targets = [(one.function, one.values) for one in self.held]
        touched = [(one.coordinate, one) for one in contacts]
        functions = self.functions(contacts)

        def left() -> tuple[FloatArray, FloatArray]:
            parts = [function.difference(values) for function, values in targets]
            parts += [np.array([-bound.sign * bound.distance()]) for _, bound in touched]
            rows = [function.rows() for function, _ in targets] + [function.rows() for function, _ in touched]
            # closed() asks for Phi + J s = 0: what is left has the sign of a violation
            empty = np.zeros((0, self.space.nu))
            found = np.vstack([empty, *rows])
            scale = self.forces.row_scale(functions, found)  # m
            return -np.concatenate([np.zeros(0), *parts]) * scale[:, 0], found * scale

        return left

    def functions(self, contacts: Sequence[Bound]) -> list[PoseFunction]:
        """Return the functions that hold, in the order of their loads: those held, then the stops."""
        return [one.function for one in self.held] + [one.coordinate for one in contacts]

    def balance(self, q: FloatArray, contacts: Sequence[Bound]) -> Balance:
        """Return the balance of forces at a pose."""
        return self.forces.at(q, self.functions(contacts))

    def search(self, q: FloatArray, seek: Seek = "minimum", most_steps: int = MOST_STEPS, radius: float = 0.3) -> Rest:
        """Return where a search from a closed pose q leads; `radius` of the first step, in lengths of the mechanism."""
        return _Run(self, q, seek, radius).run(most_steps)


class _Run:
    """One search, with the pose that it has reached."""

    def __init__(self, search: RestSearch, q: FloatArray, seek: Seek, radius: float) -> None:
        self.search, self.space, self.forces, self.seek = search, search.space, search.forces, seek
        self.start = q
        self.contacts: list[Bound] = []
        self.steps, self.releases = 0, 0
        self.radius = radius * self.space.length
        self._accept(q, self._closed_at(q))

    def run(self, most_steps: int) -> Rest:
        """Step until the forces are in balance or nothing helps."""
        best = np.inf
        for _ in range(most_steps):
            if (far := self._runs_away()) is not None:
                return self._rest("the search leads away without bound", far)
            if self.balance.residual <= RESIDUAL * self.scale or self._is_rounding(best):
                if self._pulls():
                    if self.releases > 20 + 2 * len(self.search.bounds):
                        break
                    self._release()
                    best = np.inf
                    continue
                self._polish()
                if not self._leave_unstable():
                    return self._rest()
                best = np.inf
                continue
            best = min(best, self.balance.residual)
            if not self._step():
                break
        if self.balance.residual <= ACCEPTED * self.scale and not self._pulls():
            return self._rest()
        return self._rest("the search came to an end without a pose of rest")

    # ---- steps ----

    def _step(self) -> bool:
        """Make a step that helps, shorter where the model of the forces does not hold; return whether there is one."""
        basis, gradient = self.balance.tangent.basis, self.balance.gradient
        stiffness = basis.T @ self.forces.stiffness(self.q, self.balance, self._functions()) @ basis
        while self.radius > SMALLEST_RADIUS * self.space.length:
            along, predicted = self._model_step(stiffness, gradient)
            if self._try(basis @ along, predicted, float(np.linalg.norm(along))):
                return True
            self.radius = 0.25 * min(self.radius, float(np.linalg.norm(along)))
        return False

    def _model_step(self, stiffness: FloatArray, gradient: FloatArray) -> tuple[FloatArray, float]:
        """Return the step of the model, and the change of what is minimised that it predicts."""
        basis = self.balance.tangent.basis
        if self.seek == "any":
            normal, slope = stiffness.T @ stiffness, stiffness.T @ gradient
            step = self._region_step(basis, normal, slope)
            return step, float(slope @ step + 0.5 * step @ normal @ step)
        sign = -1.0 if self.seek == "maximum" else 1.0
        hessian, slope = sign * 0.5 * (stiffness + stiffness.T), sign * gradient
        step = self._region_step(basis, hessian, slope)
        if np.linalg.norm(step) < 0.99 * self.radius:  # the whole Newton step, also where forces have no potential
            newton = np.linalg.lstsq(stiffness, -gradient, rcond=ZERO_STIFFNESS)[0].astype(np.float64)
            step = newton if np.linalg.norm(newton) < self.radius else step
        step = self._limited(basis, step)
        return step, float(slope @ step + 0.5 * step @ hessian @ step)

    def _region_step(self, basis: FloatArray, hessian: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the best step within the radius, which becomes less where the step would turn a joint too far."""
        step = trust_region_step(hessian, slope, self.radius)
        while (turn := self._turn(basis @ step)) > 1.5 * MOST_TURN:
            self.radius = float(np.linalg.norm(step)) * max(MOST_TURN / turn, 0.1)
            step = trust_region_step(hessian, slope, self.radius)
        return step

    def _turn(self, step: FloatArray) -> float:
        """Return the largest rotation of a step (nu,), rad, those of rotors left out."""
        counted = self.space.is_rotation & ~self.space.gearing.is_rotor
        return float(np.abs(step[counted]).max(initial=0.0))

    def _limited(self, basis: FloatArray, step: FloatArray) -> FloatArray:
        """Return a step that turns no joint by more than `MOST_TURN`."""
        turn = self._turn(basis @ step)
        return step * min(1.0, MOST_TURN / turn) if turn > 0.0 else step

    def _try(self, step: FloatArray, predicted: float, size: float) -> bool:
        """Go a step (nu,) if it helps; return whether it did."""
        target = self._closed_at(self.space.displaced(self.q, step))
        if target is None:
            return False
        hit = self._first_hit(target)
        if hit is not None:
            bound, fraction = hit
            self.contacts.append(bound)
            target = self._closed_at(self.space.displaced(self.q, fraction * step))
            if target is None or self._first_hit(target) is not None:
                self.contacts.pop()
                return False
        if not self._helps(target, predicted, hit is not None):
            if hit is not None:
                self.contacts.pop()
            return False
        if hit is None and self._ratio > 0.75 and size > 0.8 * self.radius:
            self.radius *= 2.0
        elif hit is None and self._ratio < 0.25:
            self.radius = 0.5 * min(self.radius, size)
        self.steps += 1
        self._accept(self.q, target)
        return True

    def _helps(self, target: FloatArray, predicted: float, meets_stop: bool) -> bool:
        """Return whether a pose is better than the present one; note by how much of the prediction."""
        noise = 1e-13 * self.scale * self.space.length
        after = self.search.balance(target, self.contacts)
        improves = after.residual < 0.5 * self.balance.residual
        if self.seek == "any":
            actual = 0.5 * float(after.gradient @ after.gradient - self.balance.gradient @ self.balance.gradient)
            self._ratio = actual / predicted if predicted else 1.0
            return improves or actual < 0.0 or meets_stop
        sign = -1.0 if self.seek == "maximum" else 1.0
        actual = sign * self.forces.work(self.q, target)
        self._ratio = actual / predicted if abs(predicted) > noise else 1.0
        if abs(predicted) <= noise or abs(actual) <= noise:
            return improves or meets_stop
        return actual < 0.0 if meets_stop else actual <= 0.1 * predicted

    def _leave_unstable(self) -> bool:
        """Leave a pose at rest that is not of the kind sought, along its most unstable direction."""
        if self.seek == "any" or not self.balance.gradient.size:
            return False
        sign = -1.0 if self.seek == "maximum" else 1.0
        basis = self.balance.tangent.basis
        stiffness = basis.T @ self.forces.stiffness(self.q, self.balance, self._functions()) @ basis
        values, vectors = np.linalg.eigh(0.5 * sign * (stiffness + stiffness.T))
        size = max(float(np.abs(values).max()), self.scale / self.space.length)
        has_potential = np.abs(stiffness - stiffness.T).max() <= 1e-6 * size
        if values[0] >= -1e-8 * size or not has_potential:
            return False
        for fraction in (0.3, 0.1, 0.03, 0.01, 1e-3):
            for direction in (1.0, -1.0):
                step = self._limited(basis, direction * fraction * self.space.length * vectors[:, 0])
                length = float(np.linalg.norm(step))
                if self._try(basis @ step, 0.5 * float(values[0]) * length**2, length):
                    self.radius = max(self.radius, length)
                    return True
        return False

    def _polish(self) -> None:
        """Go on by Newton's method along motions of little stiffness, as far as forces have digits.

        In a marginal pose forces vanish with a power of the distance, and so does the stiffness: where forces count as
        none, the pose is known to a third of the digits, and the sign of its stiffness means nothing.
        """
        last = np.inf
        for _ in range(MOST_POLISHING):
            basis, gradient = self.balance.tangent.basis, self.balance.gradient
            if not gradient.any():
                return
            stiffness = basis.T @ self.forces.stiffness(self.q, self.balance, self._functions()) @ basis
            values, vectors = np.linalg.eigh(0.5 * (stiffness + stiffness.T))
            stiff = max(float(np.abs(values).max()), self.scale / self.space.length)
            flat = (np.abs(values) <= FLAT * stiff) & (np.abs(values) > 1e-16 * stiff)
            if not flat.any():
                return
            step = vectors[:, flat] @ (-(vectors[:, flat].T @ gradient) / values[flat])
            size = float(np.linalg.norm(step))
            if size <= SMALLEST_RADIUS * self.space.length or size > 0.9 * last:
                return
            last = size
            target = self._closed_at(self.space.displaced(self.q, basis @ self._limited(basis, step)))
            if target is None or self._first_hit(target) is not None:
                return
            allowed = max(self.balance.residual, RESIDUAL * self.scale)
            if not self.search.balance(target, self.contacts).residual <= allowed:
                return
            self._accept(self.q, target)

    # ---- stops ----

    def _first_hit(self, target: FloatArray) -> tuple[Bound, float] | None:
        """Return the bound that the way to a pose meets first, and after which part of the way."""
        free = [bound for bound in self.search.bounds if bound not in self.contacts]
        self.space.enter(target)
        ends = [bound.distance() for bound in free]
        if not any(end < -_touching(bound) for end, bound in zip(ends, free, strict=True)):
            return None
        self.space.enter(self.q)
        beyond = [(b.distance(), end, b) for b, end in zip(free, ends, strict=True) if end < -_touching(b)]
        parts = [(max(begin, 0.0) / max(max(begin, 0.0) - end, 1e-300), bound) for begin, end, bound in beyond]
        fraction, bound = min(parts, key=lambda part: part[0])
        return bound, fraction

    def _pushes(self) -> list[float]:
        """Return the loads by which the stops push, in the direction of each."""
        first = len(self.balance.loads) - len(self.contacts)
        return [bound.sign * load for bound, load in zip(self.contacts, self.balance.loads[first:], strict=True)]

    def _pulls(self) -> bool:
        """Return whether a stop would have to pull."""
        return min(self._pushes(), default=0.0) < -1e-9 * self.scale * self.space.length

    def _release(self) -> None:
        """Release the stop that would have to pull hardest."""
        self.contacts.pop(int(np.argmin(self._pushes())))
        self.releases += 1
        self._accept(self.q, self.q)

    # ---- poses ----

    def _functions(self) -> list[PoseFunction]:
        return self.search.functions(self.contacts)

    def _closed_at(self, q: FloatArray) -> FloatArray | None:
        found = self.space.closed(q, self.search.task(self.contacts))
        return found.q if found.found else None

    def _accept(self, q: FloatArray, target: FloatArray | None) -> None:
        """Go to a pose, and count revolutions from there."""
        self.q = q if target is None else target
        self.balance = self.search.balance(self.q, self.contacts)
        self.scale = self.forces.scale(self.balance)
        if not self.scale:
            self.scale = 1e-300
        for bound in self.search.bounds:
            bound.accept()
        if self.space.model.sizes.nq_cut:
            self.space.enter(self.q)
            self.space.block.step_accepted()

    def _is_rounding(self, best: float) -> bool:
        """Return whether the residual is small and no longer falls."""
        return bool(self.balance.residual <= 1e-12 * self.scale and self.balance.residual >= 0.5 * best)

    def _runs_away(self) -> FloatArray | None:
        """Return the displacement from the start if it is too large."""
        gone = self.space.difference(self.q, self.start)
        beyond = np.abs(gone) > self.search.farthest
        return np.where(beyond, gone, 0.0) if beyond.any() else None

    def _rest(self, failure: str = "", far: FloatArray | None = None) -> Rest:
        self.space.enter(self.q)
        return Rest(self.q, self.balance, list(self.contacts), self.scale, self.steps, failure, far)


def trust_region_step(hessian: FloatArray, slope: FloatArray, radius: float) -> FloatArray:
    """Return the step of least slope's + s'Hs/2 within a radius; without definite H one on its boundary.

    Examples
    --------
    >>> trust_region_step(np.diag([2.0, 4.0]), np.array([2.0, 0.0]), 5.0)
    array([-1.,  0.])
    >>> trust_region_step(np.array([[-1.0]]), np.array([0.5]), 3.0)
    array([-3.])
    """
    if not slope.size:
        return slope.copy()
    values, vectors = np.linalg.eigh(hessian)
    along = vectors.T @ slope
    largest = float(np.abs(values).max())
    zero = ZERO_STIFFNESS * largest
    if values[0] > zero:
        step = -along / values
        if np.linalg.norm(step) <= radius:
            newton: FloatArray = vectors @ step
            return newton

    def at(shift: float) -> FloatArray:
        """The step of H + shift; without slope nothing."""
        below = values + shift
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(along == 0.0, 0.0, -along / below)

    size = float(np.linalg.norm(along))
    low, high = max(0.0, -float(values[0])), max(0.0, -float(values[0])) + size / radius + 1e-300
    for _ in range(200):
        middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        if np.linalg.norm(at(middle)) > radius:
            low = middle
        else:
            high = middle
    step = at(high)
    rest = radius**2 - float(step @ step)
    if values[0] < zero and rest > 1e-6 * radius**2 and values[0] < -zero:
        step[0] += (1.0 if step[0] >= 0 else -1.0) * np.sqrt(rest)  # the slope has no part along it
    moved: FloatArray = vectors @ step
    return moved


def _touching(bound: Bound) -> float:
    """Return the distance that counts as rounding."""
    return 1e-12 * max(1.0, abs(bound.value))
