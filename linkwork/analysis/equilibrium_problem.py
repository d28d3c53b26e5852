"""A mechanism with what acts on it, and its poses of rest.

The equations are those of `force_balance`, the searches those of `rest_search` and `scattered_search`, motor loads
those of `trim`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, finite, names_of, number, refuse_repeated
from linkwork._util.names import quoted
from linkwork._util.progress import Progress
from linkwork._util.units import LOADS
from linkwork.analysis.configuration_space import Closest, ConfigurationSpace
from linkwork.analysis.equilibrium_result import Equilibria, Equilibrium
from linkwork.analysis.force_balance import ForceBalance, rows_of
from linkwork.analysis.inverse_kinematics import PoseSolver
from linkwork.analysis.pose_functions import (
    Hold,
    PoseFunction,
    Stacked,
    driving,
    friction_rates,
    pose_function,
)
from linkwork.analysis.rest_search import ACCEPTED, MOST_STEPS, Bound, Held, Rest, RestSearch, Seek
from linkwork.analysis.scattered_search import ScatteredSearch
from linkwork.analysis.small_motions import small_motions
from linkwork.analysis.trim import find_motor_loads
from linkwork.core.native import Stage
from linkwork.errors import AssemblyError, EquilibriumError, LinkworkError, MechanismError, SingularityError
from linkwork.mechanism import Actuator, Mechanism, Stop
from linkwork.mechanism.forces import of_kind
from linkwork.mechanism.friction import STICKS, DryFriction, sticking
from linkwork.model.compile import model_of
from linkwork.model.state import JointArray

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

STEADY = 1e-7  # what a steady motion may change, relative
DEAD = 1e-5  # of the scale of the forces: what remains along a motion that no load holds
ASIDE = 0.1, 0.3, 1.0  # lengths of the mechanism: how far from a singular start what is held is sought
TRIES = 8  # directions of each
TOUCHED = 1e-9  # of the length of the mechanism: a stop that is nearer is touched
WAY = 0.7  # rad or lengths of the mechanism: how far a steady motion is followed to see that it stays so


class EquilibriumProblem:
    """A mechanism with what acts on it, as the arguments of `equilibrium` give it."""

    def __init__(
        self,
        mechanism: Mechanism | ModelBase,
        state: State | None,
        q: Mapping[str, ArrayLike] | None,
        inputs: Mapping[str, ArrayLike] | None,
        hold: Hold,
        motors: Iterable[str] | None,
        speeds: Mapping[str, float] | None,
        time: float | None,
    ) -> None:
        self.model = model = model_of(mechanism)
        if state is not None and q is not None:
            raise MechanismError("give the start as state= or as q=, not both")
        self.given = dict(_by_name(inputs, "inputs", "{'A': 0.1}"))
        motions = {name: value for name, value in self.given.items() if name in model.numbering.motions}
        tau = {name: value for name, value in self.given.items() if name not in motions}
        at = 0.0 if time is None else number(time, "time")
        start = model.assemble(q=q, time=at, motion=motions) if state is None else state
        self.begin = start
        self.space = ConfigurationSpace(model, start)
        if sticking(model.mechanism):
            self.space.block.forget_frictions()
        self.time = start.time if time is None else at
        self.inputs = self._all_inputs(start, tau, motions)
        self.space.block.enter_inputs(self.inputs, self.time)
        self.motors = None if motors is None else self._motors(motors)
        self.fixed = hold is None and motors is not None
        self.held = self._held(hold)
        self.turning = {name: self._turning(name) for name in _by_name(speeds, "speeds", "{'shaft': 30.0}")}
        self.speeds = np.array([number(one, f"speed of {name!r}") for name, one in (speeds or {}).items()])
        for name, one in self.turning.items():
            if any(one.names[0] in held.function.names for held in self.held.values()):
                raise MechanismError(f"{name!r} is in hold and in speeds: it either rests or turns")
        spun = [Held(function, function.value()) for name, function in self.turning.items() if name not in self.held]
        self.search = RestSearch(ForceBalance(self.space), [*self.held.values(), *spun], self._bounds(start))
        self.start = self._reached(self.space.require_closed(start.q, "start"))

    # ---- arguments ----

    def _all_inputs(self, start: State, tau: Mapping[str, ArrayLike], motions: Mapping[str, ArrayLike]) -> FloatArray:
        arguments, n = self.model.arguments, self.model.numbering
        inputs = np.array(arguments.with_motions(start, arguments.loads(tau)), dtype=np.float64)
        if inputs.ndim != 1:
            raise MechanismError("inputs must be constants, one number or vector by name")
        given = arguments.motions(motions)
        for name in motions:
            span = n.motions[name]
            inputs[n.n_loads + span.start : n.n_loads + span.stop] = given[span]
        return inputs

    def _motors(self, motors: Iterable[str]) -> dict[str, PoseFunction]:
        names = _listed(motors, "motors")
        if not names:
            raise MechanismError("motors names none: name joints or actuators, such as ['A']")
        found = {name: driving(self.space, name) for name in names}
        refuse_repeated([one for function in found.values() for one in function.names], "motors")
        joints = self.model.mechanism.joints  # "A[1]" of a joint of one speed is "A"
        single = {f"{joint}[1]": joint for joint, one in joints.items() if one.kind.nu == 1}
        return {single.get(name, name): one for name, one in found.items()}

    def _held(self, hold: Hold) -> dict[str, Held]:
        if hold is None:
            return {}
        values: Mapping[str, ArrayLike | None]
        values = hold if isinstance(hold, Mapping) else dict.fromkeys(_listed(hold, "hold"))
        found: dict[str, Held] = {}
        for name, value in values.items():
            function = pose_function(self.space, name)
            if function.size != np.size(function.value()):
                raise MechanismError(f"hold: {name!r} is an orientation: hold coordinates, or points such as 'hand.r'")
            found[name] = Held(function, function.value() if value is None else _target(function, value, name))
        refuse_repeated([one for held in found.values() for one in held.function.names], "hold")
        return found

    def _turning(self, name: str) -> PoseFunction:
        function = pose_function(self.space, name)
        if function.size != 1:
            raise MechanismError(f"speeds: {name!r} has {function.size} values: name one, as '{name}[1]'")
        return function

    def _bounds(self, start: State) -> list[Bound]:
        """Return the bounds of all stops, as the parameters have them."""
        mech, block = self.model.mechanism, self.space.block
        found: list[Bound] = []
        values = np.zeros((0, 2))
        if mech.transitions:  # those of frictions, which have no values, stand behind them
            values = block["transition_value"].reshape(-1, 2)[: len(mech.transitions)].copy()
        for (name, one), limits in zip(mech.transitions.items(), values, strict=True):
            if not isinstance(one.action, Stop):
                continue
            joint = mech.joints[one.action.joint]
            label = f"{joint.name}.q" if joint.kind.nq == 1 else f"{joint.name}.q[{one.action.element + 1}]"
            coordinate = pose_function(self.space, label)
            at = float(np.atleast_1d(start[f"{joint.name}.q"])[one.action.element])
            wraps = joint.name in self.model.numbering.cut and coordinate.units[0] == "rad"
            for given, value, sign in zip((one.action.lower, one.action.upper), limits, (1, -1), strict=True):
                if given is not None:
                    found.append(Bound(name, coordinate, float(value), sign, at, wraps))
        return found

    def _reached(self, q: FloatArray) -> FloatArray:
        """Return the closed pose next to q in which all coordinates have the values at which they are held."""
        if not self.search.held:
            return q
        found = self._found_near(q)
        if not found.found:
            found = self._nearest(q)
        if not found.found:
            self.space.enter(found.q)
            near = ", ".join(f"{name} = {_text(one.function.value())}" for name, one in self.held.items())
            wanted = ", ".join(f"{name} = {_text(one.values)}" for name, one in self.held.items())
            raise AssemblyError(f"hold: no closed pose with {wanted} was found; the nearest has {near}")
        for bound in self.search.bounds:
            if self.held and bound.distance() < -1e-9 * max(1.0, abs(bound.value)):
                raise MechanismError(
                    f"hold: {quoted(self.held)} would be beyond a bound of stop {bound.name!r}, {bound.value:.6g}"
                )
        return found.q

    def _nearest(self, q: FloatArray) -> Closest:
        """Return the closed pose in which what is held is nearest to its values, from several starts."""
        held = list(self.held.values())
        solver = PoseSolver(self.space, Stacked(self.space, [one.function for one in held]))
        near = solver.solve([one.values for one in held], q)
        return Closest(near.q, near.violation, near.steps, near.found)

    def _found_near(self, q: FloatArray) -> Closest:
        """Return where what is held is reached from q; from aside of a pose in which it cannot begin to move."""
        found = self.space.closed(q, self.search.task(()))
        if not found.found:
            found = self._led_there(q)
        if found.found:
            return found
        self.space.enter(q)
        basis, rng = self.space.tangent().basis, np.random.default_rng(0)
        ends = [found]
        for size in ASIDE if basis.size else ():
            for _ in range(TRIES):
                along = rng.standard_normal(basis.shape[1])
                step = size * self.space.length * (basis @ (along / np.linalg.norm(along)))
                ends.append(self.space.closed(self.space.displaced(q, step), self.search.task(())))
            if reached := [one for one in ends if one.found]:
                return min(reached, key=lambda one: self.space.distance(one.q, q))
        return min(ends, key=lambda one: one.violation)

    def _led_there(self, q: FloatArray) -> Closest:
        """Lead the held coordinates to their values in small steps."""
        self.space.enter(q)
        begins = [one.function.value().copy() for one in self.search.held]
        gaps = [one.function.difference(one.values).copy() for one in self.search.held]
        wanted = self.search.held
        try:
            for part in np.linspace(0.05, 1.0, 20):
                steps = zip(wanted, begins, gaps, strict=True)
                self.search.held = [Held(one.function, begin + part * gap) for one, begin, gap in steps]
                found = self.space.closed(q, self.search.task(()))
                if not found.found:
                    break
                q = found.q
        finally:
            self.search.held = wanted
        return found

    # ---- steady motion ----

    def _steady_speeds(self, q: FloatArray) -> FloatArray:
        """Return the least speeds (nu,) that prescribed motions and `speeds` ask for in a pose."""
        space = self.space
        space.enter(q)
        space.enter_speeds(np.zeros(space.nu))
        drift = space.violation_rate()
        if not np.abs(drift).max(initial=0.0) > 0.0 and not self.speeds.any():
            return np.zeros(space.nu)
        rows = np.vstack([space.jacobian(), rows_of(list(self.turning.values()), space)])
        values = np.concatenate([-drift, self.speeds])
        u = space.least_step(rows, values)
        if np.abs(rows @ u - values).max() > STEADY * np.abs(values).max():
            raise EquilibriumError(
                "there is no steady motion with these speeds: constraints do not allow them; see speeds= and motions"
            )
        u[np.abs(u) < 1e-13 * np.abs(u).max()] = 0.0
        return u

    def _check_steady(self, rest: Rest, u: FloatArray) -> None:
        """Refuse a motion whose forces change as it goes on."""
        if not u.any():
            return
        space = self.space
        duration = WAY * space.length / float(np.abs(space.weights * u).max())
        q = space.displaced(rest.q, u * duration)
        space.block.put_motion(self.time + duration, self.inputs[self.model.numbering.driven])
        later = ForceBalance(space, u)  # at the later time
        balance = later.at(q, self.search.functions(rest.contacts))
        space.enter_speeds(u)
        gap, rate = space.violation(), space.violation_rate()
        space.block.put_motion(self.time, self.inputs[self.model.numbering.driven])
        space.enter(rest.q)
        if max(np.abs(gap).max(initial=0.0), np.abs(rate).max(initial=0.0) * duration) > STEADY * space.length:
            moving = space.label(u)
            raise EquilibriumError(f"there is no steady motion: as {moving} moves on, other coordinates must move too")
        if balance.residual > STEADY * rest.scale:
            along = balance.tangent.basis @ balance.gradient
            raise EquilibriumError(
                f"there is no steady motion: as {space.label(u)} moves on, the load on {space.label(along)} changes"
            )

    # ---- searches ----

    def solve(self, seek: Seek) -> Equilibrium:
        """Return the pose of rest that is reached from the start."""
        if self.motors is not None:
            return self._trim(seek)
        rest = self._find(self.start, seek)
        if (
            rest.failure and rest.runs_away is None and rest.lacking is None and seek == "minimum"
        ):  # loads that have no potential
            rest = self._find(self.start, "any")
        if rest.failure and self.may_stick and not self._slides(stuck := self._stuck()):
            rest = stuck
        found = self._result(rest, self.inputs, {}, self.given)
        if rest.failure:
            raise EquilibriumError(self._why(rest), found)
        return found

    # ---- dry friction ----

    @property
    def may_stick(self) -> bool:
        """Whether dry friction may hold what neither motors nor loads on coordinates hold."""
        return bool(sticking(self.model.mechanism)) and not (self.held or self.turning) and self.motors is None

    def stay(self) -> Equilibrium:
        """Return the start as the pose of rest in which dry friction holds it."""
        name = self.model.mechanism.name
        if not sticking(self.model.mechanism):
            raise MechanismError(f'{name} has no dry friction that sticks: seek="stuck" is for poses that this holds')
        if not self.may_stick:
            raise MechanismError('seek="stuck" asks what dry friction alone holds: leave out hold, motors and speeds')
        rest = self._stuck()
        found = self._result(rest, self.inputs, {}, self.given)
        if self._slides(rest):
            along = self.space.label(rest.balance.tangent.basis @ rest.balance.gradient)
            raise EquilibriumError(
                f"{name}: dry friction does not hold this pose: {along} begins to slide; {self._limits()}", found
            )
        return found

    def rest_within_friction(self) -> FloatArray:
        """Return the start, where dry friction holds it, or the pose of rest that a search from it finds."""
        if not self._slides(self._stuck()):
            return self.start
        self.held = {}
        self.search.held = []
        rest = self._find(self.start, "minimum")
        if rest.failure:
            raise EquilibriumError(
                f"{self._why(rest)}; dry friction does not hold the start",
                self._result(rest, self.inputs, {}, self.given),
            )
        return rest.q

    def _stuck(self) -> Rest:
        """Return the start with the joints held that stick there, and the stops that are pressed."""
        space = self.space
        self.search.forces = ForceBalance(space)
        space.enter(self.start)
        space.enter_speeds(np.zeros(space.nu))
        held = [one for one in sticking(self.model.mechanism) if self.friction(one.name, "state") == STICKS]
        functions = {one.name if one.is_sum else one.place: friction_rates(space, one) for one in held}
        space.enter(self.start)
        self.held = {name: Held(one, np.zeros(one.size)) for name, one in functions.items()}
        self.search.held = list(self.held.values())
        touched = [one for one in self.search.bounds if abs(one.distance()) <= TOUCHED * space.length]
        while True:
            balance = self.search.balance(self.start, touched)
            loads = balance.loads[len(balance.loads) - len(touched) :] * [one.sign for one in touched]
            pulling = loads < 0.0
            if not pulling.any():
                return Rest(self.start, balance, touched, self.search.forces.scale(balance), 0)
            touched = [one for one, pulls in zip(touched, pulling, strict=True) if not pulls]

    def _slides(self, stuck: Rest) -> bool:
        return not stuck.balance.residual <= ACCEPTED * stuck.scale

    def friction(self, name: str, what: str) -> float:
        """Return an output of a dry friction in the present pose, at rest."""
        self.space.block.evaluate(Stage.OUTPUTS)
        return float(self.space.block.reals[self.model.column(f"{name}.{what}").first])

    def holding_limit(self, one: DryFriction) -> float:
        """Return up to which load a dry friction holds in the present pose, at rest."""
        return self.friction(one.name, "limit") if one.is_limited else math.inf

    def _limits(self) -> str:
        """Return up to which loads the first frictions hold, for a message."""
        mech = self.model.mechanism
        frictions = sticking(mech)
        parts = [
            f"{one.name!r} holds up to {self.holding_limit(one):.6g} {LOADS[one.units(mech)[0]]}"
            for one in frictions[:4]
        ]
        return ", ".join(parts) + (" ..." if len(frictions) > 4 else "")

    # ---- steps of `solve` ----

    def _find(self, q: FloatArray, seek: Seek, most_steps: int = MOST_STEPS, radius: float = 0.3) -> Rest:
        """Search from a closed pose; in a steady motion again where its speeds depend on the pose."""
        for _ in range(20):
            u = self._steady_speeds(q)
            self.search.forces = self._forces(u)
            self.space.enter(q)
            rest = self.search.search(q, seek, most_steps, radius)
            again = self._steady_speeds(rest.q)
            if rest.failure or np.abs(again - u).max(initial=0.0) <= 1e-12 * np.abs(u).max(initial=0.0):
                break
            q = rest.q
        if not np.isfinite(rest.balance.residual):
            rest.failure = "the forces are not finite"
        elif rest.runs_away is None:
            self._check_held(rest)
        if not rest.failure:
            self._check_steady(rest, self.search.forces.u)
        return rest

    def _check_held(self, rest: Rest) -> None:
        """Note a pose in which no load of what is held balances the forces: a dead point."""
        if functions := self.search.functions(rest.contacts):
            lacking = self.search.forces.lacking(rest.q, functions)
            if lacking is not None and np.abs(self.space.weights * lacking).max() > DEAD * rest.scale:
                rest.lacking, rest.failure = lacking, "no load on what is held balances the forces"

    def _forces(self, u: FloatArray) -> ForceBalance:
        motors = [] if self.motors is None else list(self.motors.values())
        return ForceBalance(self.space, u, motors)

    def _trim(self, seek: Seek) -> Equilibrium:
        """Return the pose that motors hold, with their loads."""
        assert self.motors is not None
        q = self.start if self.fixed else self._find(self.start, seek).q
        self.search.forces = self._forces(self._steady_speeds(q))
        trim = find_motor_loads(self.search, q, fixed=True)
        if trim.lacking is not None and not self.fixed:  # what is not held may rest elsewhere under these motors
            self.search.forces = self._forces(self.search.forces.u)
            trim = find_motor_loads(self.search, q, fixed=False)
        by_name, first = {}, 0
        for name, one in self.motors.items():
            by_name[name] = trim.loads[first : first + one.size]
            first += one.size
        inputs, given = self._with_motors(by_name)
        self.search.forces = ForceBalance(self.space, self.search.forces.u)
        spun = [Held(function, function.value()) for function in self.turning.values()]
        self.search.held = spun
        self.space.block.enter_inputs(inputs, self.time)
        balance = self.search.balance(trim.q, ())
        scale = max(trim.scale, self.search.forces.scale(balance))
        rest = Rest(trim.q, balance, [], scale, 0)
        loads = {name: load if load.size > 1 else float(load[0]) for name, load in by_name.items()}
        found = self._result(rest, inputs, loads, given)
        if trim.lacking is not None:
            also = " at the pose requested" if self.held else ""
            raise EquilibriumError(
                f"motors: {quoted(self.motors)} cannot hold the mechanism{also}: no motor works along "
                f"{self.space.label(trim.lacking)}; name a further motor, or hold less",
                found,
            )
        self._check_limits(by_name, found)
        self._check_steady(rest, self.search.forces.u)
        if not (trim.converged and found.residual <= ACCEPTED):
            raise EquilibriumError("motors: no constant loads that hold the pose were found from this start", found)
        return found

    def _with_motors(self, loads: Mapping[str, FloatArray]) -> tuple[FloatArray, dict[str, Any]]:
        """Return all inputs with loads of motors added, and these inputs by name."""
        inputs, keys = self.inputs.copy(), dict(self.model.numbering.input_spans(self.given, "inputs"))
        n = self.model.numbering
        actuators = {one.name: one for one in of_kind(self.model.mechanism.forces, Actuator)}
        gains = dict(zip(actuators, self.space.block["actuator_gain"], strict=True))
        for name, load in loads.items():
            bare = name.removesuffix(".input")
            if bare in actuators:
                if not gains[bare]:
                    raise MechanismError(
                        f"motors: actuator {bare!r} has a gain of zero, so that its input does nothing"
                    )
                key, added = f"{bare}.input", load / gains[bare]
            else:
                key, added = name.replace(".tau", "").replace(".u", ""), load
            span = n.inputs[key]
            inputs[span] += added
            within = {one for one, at in keys.items() if span.start <= at.start and at.stop <= span.stop}
            if within or not any(at.start <= span.start and span.stop <= at.stop for at in keys.values()):
                keys = {one: at for one, at in keys.items() if one not in within} | {key: span}
        named = {one: at for one, at in keys.items() if at.start < n.n_loads}
        values = {
            one: inputs[at].copy() if at.stop - at.start > 1 else float(inputs[at][0]) for one, at in named.items()
        }
        return inputs, {one: value for one, value in self.given.items() if one in n.motions} | values

    def _check_limits(self, loads: Mapping[str, FloatArray], found: Equilibrium) -> None:
        """Refuse loads beyond the limits of motors."""
        n, block = self.model.numbering, self.space.block
        actuators = {one.name: (k, one) for k, one in enumerate(of_kind(self.model.mechanism.forces, Actuator))}
        for name in loads:
            bare = name.removesuffix(".input")
            if bare in actuators:
                at, actuator = actuators[bare]
                value, limits = float(block["actuator_input"][at]), actuator.input_range
                over = limits is not None and not limits[0] <= value <= limits[1]
                force, range_ = self._full_force(at), actuator.force_range
                over = over or (range_ is not None and not range_[0] <= force <= range_[1])
                text = f"an input of {value:.6g}, a force of {force:.6g}"
            else:
                span = n.inputs[name.replace(".tau", "").replace(".u", "")]
                limit = block["max_load"][span]
                over = bool(np.any(np.abs(found_inputs := np.atleast_1d(block["tau"][span])) > limit))
                text = f"{_text(found_inputs)}"
            if over:
                raise EquilibriumError(f"motors: {name!r} would have to give {text}, beyond its limits", found)

    def _full_force(self, at: int) -> float:
        """Return the force of an actuator, by its number, without its limits."""
        self.search.forces.force()
        reals, fields = self.space.block.reals, self.model.fields
        value = {
            name: float(reals[fields[f"actuator_{name}"].span][at])
            for name in ("gain", "input", "offset", "stiffness", "damping", "length", "rate")
        }
        springs = value["stiffness"] * value["length"] + value["damping"] * value["rate"]
        return value["gain"] * value["input"] + value["offset"] - springs

    def scatter(self, starts: int, rng: np.random.Generator, progress: Progress) -> Equilibria:
        """Return the distinct poses of rest that searches from random poses reach."""
        scattered = ScatteredSearch(self.search, self._rest_or_none)
        with progress:
            for count in range(1, starts + 1):
                if (q := scattered.random_start(rng)) is not None:
                    scattered.start_from(q)
                if progress.due or count == starts:
                    progress.count(count, starts, self.model.mechanism.name)
        results = []
        for one in scattered.found:
            self.search.forces = self._forces(self._steady_speeds(one.rest.q))
            results.append((self._result(one.rest, self.inputs, {}, self.given), one.hits))
        results.sort(key=lambda one: np.inf if one[0].energy is None else one[0].energy)
        return Equilibria([one for one, _ in results], [hits for _, hits in results], starts)

    def _rest_or_none(self, q: FloatArray, seek: Seek, most_steps: int, radius: float) -> Rest | None:
        try:
            rest = self._find(q, seek, most_steps, radius)
        except EquilibriumError:
            return None
        return None if rest.failure else rest

    # ---- results ----

    def _why(self, rest: Rest) -> str:
        """Return why there is no pose of rest."""
        name = self.model.mechanism.name
        if rest.runs_away is not None:
            along = self.space.label(rest.runs_away)
            return (
                f"{name}: there is no pose of rest on this way: {along} runs away, as nothing holds it; add a spring, "
                "a Stop or a load, or hold it"
            )
        if rest.lacking is not None:
            held = quoted([*self.held, *(one.name for one in rest.contacts)])
            along = self.space.label(rest.lacking)
            return (
                f"{name}: no load on {held} holds this pose, a dead point: {along} can begin to move while what is "
                "held stands still, and forces act along it; hold one of these coordinates instead, or another value"
            )
        along = self.space.label(rest.balance.tangent.basis @ rest.balance.gradient)
        size = rest.balance.residual / rest.scale
        if not np.isfinite(size):
            return f"{name}: the loads are too large for finite forces: check inputs and parameters"
        basis, functions = rest.balance.tangent.basis, self.search.functions(rest.contacts)
        stiffness = basis.T @ self.search.forces.stiffness(rest.q, rest.balance, functions) @ basis
        gradient = rest.balance.gradient
        if (
            np.abs(stiffness @ gradient).max(initial=0.0) * self.space.length
            <= STEADY * rest.balance.residual * rest.scale
        ):
            return (
                f"{name}: there is no pose of rest: nothing holds {along} against the loads; add a spring, or hold it"
            )
        return f"{name}: {rest.failure}; a force of {size:.1e} of the loads is left along {along}: try another start"

    def _result(
        self, rest: Rest, inputs: FloatArray, loads: Mapping[str, float | FloatArray], given: Mapping[str, Any]
    ) -> Equilibrium:
        """Return a pose with all that is known about it."""
        space, forces, search = self.space, self.search.forces, self.search
        functions = search.functions(rest.contacts)
        balance = search.balance(rest.q, rest.contacts)
        linear = forces.linear(rest.q, balance, functions)
        basis = balance.tangent.basis
        mass, damping, stiffness = (basis.T @ one @ basis for one in linear)
        motions = small_motions(mass, damping, stiffness, rest.scale / space.length)
        holding, contacts, units = self._held_loads(balance.loads, rest.contacts)
        for name, one in (self.motors or {}).items():
            units[name] = LOADS[one.units[0]]
        touches = [abs(load) <= 1e-9 * rest.scale * space.length for load in contacts.values()]
        modes = basis @ motions.modes
        sizes = np.abs(space.weights[:, None] * modes).max(axis=0, initial=0.0) / space.length
        state = self._state(rest, inputs)
        return Equilibrium(
            state=state,
            residual=float(balance.residual / rest.scale),
            stable=None if motions.stable and any(touches) else motions.stable,
            eigenvalues=motions.eigenvalues,
            frequencies=motions.frequencies,
            modes=modes / np.where(sizes > 0.0, sizes, 1.0),
            stiffness=stiffness,
            basis=basis,
            motor_loads=dict(loads),
            holding=holding,
            contacts=contacts,
            inputs=dict(given),
            free=tuple(space.label(direction) for direction in (basis @ motions.free).T),
            energy=self._energy(state),
            units=units,
        )

    def _held_loads(
        self, loads: FloatArray, contacts: Sequence[Bound]
    ) -> tuple[dict[str, float | FloatArray], dict[str, float], dict[str, str]]:
        """Return the loads on held coordinates and of stops by name, and their units."""
        holding: dict[str, float | FloatArray] = {}
        units: dict[str, str] = {}
        first = 0
        turning = [name for name in self.turning if name not in self.held]
        names = [*self.held, *turning] if len(self.search.held) == len(self.held) + len(turning) else [*self.turning]
        for name, one in zip(names, self.search.held, strict=True):
            part = loads[first : first + one.function.size]
            first += one.function.size
            holding[name] = part.copy() if part.size > 1 else float(part[0])
            units[name] = LOADS.get(one.function.units[0], "N")
        units |= {one.name: LOADS[one.coordinate.units[0]] for one in contacts}
        return holding, {one.name: float(load) for one, load in zip(contacts, loads[first:], strict=True)}, units

    def _state(self, rest: Rest, inputs: FloatArray) -> State:
        """Return the pose as a state; stops that are touched are in effect."""
        block, n = self.space.block, self.model.numbering
        block.enter(rest.q, self.search.forces.u, inputs, self.time)
        names = list(self.model.mechanism.transitions)
        before = block.discrete_state if names else None
        if rest.contacts and not rest.failure:
            try:
                self._touch(rest.contacts)
                block.make_transitions([names.index(one.name) for one in rest.contacts])
            except LinkworkError:
                assert before is not None
                block.put_discrete_state(before)
            self.space.enter_speeds(self.search.forces.u)
        try:
            state = self.model.state_of(block)
        except SingularityError:  # without the coordinates of cut joints, which then stay as at the start
            q, u = (np.concatenate([now, old.cut]) for now, old in self._arrays(rest))
            split = JointArray.split(q, n.nq), JointArray.split(u, n.nu)
            elements = block.reals[self.model.fields["element_state"].span].copy()
            state = replace(self.begin, q=split[0], u=split[1], time=self.time, elements=elements)
        block.enter(rest.q, self.search.forces.u, inputs, self.time)
        if before is not None:
            block.put_discrete_state(before)
        return state

    def _touch(self, contacts: Sequence[Bound]) -> None:
        """Let the joints of stops approach their bounds, however slowly: of two bounds that is the one touched."""
        space = self.space
        rows = rows_of([one.coordinate for one in contacts], space)
        approach = np.array([-1e-9 * one.sign for one in contacts])
        jacobian = space.jacobian()
        u = space.least_step(np.vstack([jacobian, rows]), np.concatenate([np.zeros(len(jacobian)), approach]))
        space.block.put("restitution", 0.0, Stage.NONE)
        space.enter_speeds(u)

    def _arrays(self, rest: Rest) -> tuple[tuple[FloatArray, JointArray], tuple[FloatArray, JointArray]]:
        return (rest.q, self.begin.q), (self.search.forces.u, self.begin.u)

    def _energy(self, state: State) -> float | None:
        try:
            return float(self.model.energy(state).potential)
        except SingularityError:
            return None


def _by_name(given: Mapping[str, Any] | None, what: str, example: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping | None):
        raise MechanismError(f"{what} must be a dictionary by name such as {example}, not {given!r:.60}")
    return given or {}


def _listed(names: Iterable[str], what: str) -> list[str]:
    """Return names, each once."""
    found = names_of(names, what)
    refuse_repeated(found, what)
    return found


def _target(function: PoseFunction, value: ArrayLike, name: str) -> FloatArray:
    size = function.size
    return np.atleast_1d(finite(value, () if size == 1 and np.ndim(value) == 0 else (size,), f"hold: {name!r}"))


def _text(values: FloatArray) -> str:
    return ", ".join(f"{value:.6g}" for value in np.round(np.atleast_1d(values), 9) + 0.0)
