"""What must hold at any case of `random_plans`; each check raises AssertionError. Numbers are at the scene's size."""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .builder import cut_at
from .driven import TIME
from .driving import by_joint, power, rates, tree_joints, tree_only
from .joint_shapes import neutral, shape_of
from .loads import dissipation
from .oracle import Oracle
from .placement import Values, body_poses, vector
from .poses import Array
from .random_plans import Case, ways_to_cut
from .state_neighbours import STEPS, rate_of_energy

METHODS = [
    ("auto",),
    ("rcr",),
    ("embedding",),
    ("dca",),
    *(("multipliers", about) for about in ("joint", "centroid", "origin")),
]


def difference(found: Values, expected: Values) -> float:
    """Relative to the largest expected value, or to 1 where all are less."""
    assert set(found) == set(expected)
    scale = max((float(np.abs(value).max()) for value in expected.values()), default=0.0)
    gaps = (float(np.abs(np.subtract(found[name], value)).max()) for name, value in expected.items())
    return max(gaps, default=0.0) / max(scale, 1.0)


def check_dynamics(case: Case, system: lw.Model, state: lw.State, tolerance: float = 1e-10) -> None:
    """Accelerations of all joints, loads of drives and reactions, where they are determined, are the oracle's."""
    assert difference(case.accelerations(system, state), case.solution.udot) < tolerance
    found, expected = case.reactions(system, state), case.wrenches
    seen = case.solution.determined
    determined = ({name: seen[name] @ wrench[name] for name in wrench} for wrench in (found, expected))
    assert difference(*determined) < tolerance
    balanced = case.oracle.imbalance(case.solution, case.scene.u, found)
    assert np.abs(balanced).max() < tolerance
    axial, along = case.oracle.axial(found), case.oracle.axial(expected)
    scale = max(float(np.abs(wrench).max()) for wrench in expected.values())
    assert max((np.abs(np.subtract(axial[n], along[n])).max() for n in along), default=0.0) < tolerance * max(
        1.0, scale
    )
    check_drives(case, system, state, tolerance * max(1.0, scale))


def check_drives(case: Case, system: lw.Model, state: lw.State, tolerance: float) -> None:
    loads = {
        joint: np.array([system.value(f"{drive}.load", state, tau=case.tau) for drive in drives])
        for joint, drives in case.driven.drives.items()
    }
    for joint, load in case.from_size.loads(loads).items():
        assert np.abs(np.subtract(load, case.solution.drive[joint])).max() < tolerance, joint


def check_methods(case: Case) -> None:
    for method in METHODS:
        check_dynamics(case, *case.reached(None, *method))


def check_cuts(case: Case, most: int = 12) -> None:
    """Whatever joints close the loops, by all methods in turn."""
    rng = np.random.default_rng(case.plan.seed)
    for k, cuts in enumerate(ways_to_cut(case.mechanism, rng, most)):
        system, state = case.reached(cut_at(case.mechanism, *cuts), *METHODS[k % len(METHODS)])
        assert {system.joint_names[joint] for joint in system.topology.cut_joints} == set(cuts)
        check_dynamics(case, system, state)


def check_identities(case: Case, *method: str) -> None:
    system, state = case.reached(None, *method)
    size, scene, oracle = case.plan.size, case.scene, case.oracle
    assert np.abs(system.loop_residual(state)).max(initial=0.0) < 1e-11 * size
    assert np.abs(system.coupling_residual(state)).max(initial=0.0) < 1e-9 * max(1.0, size)
    energy, expected = np.array(system.energy(state)) / size**2, np.array(oracle.energy(scene.u))
    assert np.abs(energy - expected).max() < 1e-11 * max(1.0, np.abs(expected).max())

    mass = system.mass_matrix(state)
    units = np.concatenate([case.from_size.factors["u"][name] for name in _in_order(system)] or [np.zeros(0)])
    mass = mass / size**2 / np.outer(units, units)
    assert np.abs(mass - mass.T).max(initial=0.0) < 1e-13 * np.abs(mass).max(initial=1.0)
    assert np.linalg.eigvalsh(mass).min(initial=1.0) > 0
    u = state.u * units
    assert abs(u @ mass @ u / 2 - expected[0]) < 1e-10 * max(1.0, expected[0])

    derivative = system.derivatives(state, tau=case.tau)
    n = len(state.q)
    motion = case.from_size.coordinates(by_joint(system, derivative[:n]))
    assert difference(motion, tree_only(system, rates(scene, scene.u))) < 1e-9
    udot = case.from_size.speeds(by_joint(system, derivative[n:]))
    assert difference(udot, tree_only(system, case.solution.udot)) < 1e-8


def check_inverse_dynamics(case: Case, *method: str) -> None:
    """Loads found for the motion that some loads make must make it again."""
    system, state = case.reached(None, *method)
    applied = {name: value for name, value in case.tau.items() if "." in name}
    wanted = system.accelerations(state, tau=case.tau)
    loads = by_joint(system, system.inverse_dynamics(state, wanted, applied=applied))
    again = case.from_size.speeds(by_joint(system, system.accelerations(state, tau=loads | applied)))
    assert difference(again, case.solution.udot) < 1e-9


def check_power(case: Case, *method: str) -> None:
    """Without drives, loads times speeds, less what dampers take, is dE/dt along the motion, to sixth order."""
    system, state = case.reached(None, *method)
    tau = {name: load for name, load in case.tau.items() if "." not in name}
    rate = rate_of_energy(system, state, system.derivatives(state, tau=tau)) / case.plan.size**2
    v = case.oracle.velocities(case.scene.u)
    given = power(case.joint_loads, case.scene.u) - dissipation(
        case.scene.mechanism, case.oracle.bodies, case.scene.u, v
    )
    assert abs(rate - given) < 1e-6 * max(10.0, *map(abs, case.oracle.energy(case.scene.u)), abs(given))


def everything(case: Case, system: lw.Model, q: Array, u: Array) -> list[Array]:
    """All answers at one state."""
    given = {"tau": case.tau, "time": TIME}
    return [
        system.accelerations(q, u, **given),
        system.reactions(q, u, **given),
        system.derivatives(q, u, **given),
        system.loop_residual(q, u),
        np.array(system.energy(q, u)),
        system.mass_matrix(q, u),
        system.jacobian(q, u, **given),
    ]


def check_purity(case: Case, *method: str) -> None:
    """The same answers to the bit after any others, and in a new system; some states lie close by each other."""
    system, rng = lw.compile(case.mechanism, *method), np.random.default_rng(case.plan.seed)
    q, u = (np.concatenate([np.zeros(0), *(vector(of[n]) for n in _in_order(system))]) for of in (case.q, case.u))
    states = [(q + off * rng.normal(size=q.size), u) for off in (0.0, 1e-3, *10.0 ** rng.uniform(-12, -4, 2))]
    states += [(rng.normal(size=q.size), rng.normal(size=u.size)), (_neutral(system), u), (q, 1e3 * u)]
    fresh = [_answers(case, lw.compile(case.mechanism, *method), *each) for each in states]
    for k in rng.permutation(np.repeat(np.arange(len(states)), 2)):
        again = _answers(case, system, *states[k])
        assert len(again) == len(fresh[k]), k
        for one, other in zip(again, fresh[k], strict=True):
            assert np.array_equal(one, other, equal_nan=True), k


def _neutral(system: lw.Model) -> Array:
    """Where the frames of all tree joints coincide: the stretched pose of many a mechanism."""
    kinds = (system.mechanism.joints[name].kind for name in _in_order(system))
    return np.concatenate([np.zeros(0), *(neutral(shape_of(kind)) for kind in kinds)])


def _answers(case: Case, system: lw.Model, q: Array, u: Array) -> list[Array]:
    """One empty answer where the state is singular."""
    try:
        return everything(case, system, q, u)
    except lw.SingularityError:
        return []


def check_jacobian(case: Case, *method: str, tolerance: float = 1e-5) -> None:
    """Complex step against central differences of fourth order.

    Steps are small, since constraints that are redundant in closed poses only are judged by the gap of a pose.
    """
    system, state = case.reached(None, *method)
    n, y = len(state.q), np.r_[state.q, state.u]
    units = np.r_[_factors(system, case, "q"), _factors(system, case, "u")]

    def slope(direction: Array, h: float = 1e-6) -> Array:
        ahead = {k: system.state((y + k * h * direction)[:n], (y + k * h * direction)[n:], time=TIME) for k in STEPS}
        return sum(STEPS[k] * system.derivatives(ahead[k], tau=case.tau) for k in STEPS) / (12 * h)

    expected = np.array([slope(column) for column in np.diag(units)]).reshape(len(y), len(y)).T / units[:, None]
    found = system.jacobian(state, tau=case.tau) * units / units[:, None]
    assert np.abs(found - expected).max(initial=0.0) < tolerance * np.abs(expected).max(initial=1.0)


def check_return(case: Case, *method: str) -> None:
    """Near closed poses, the feedback closes the gap at the rate of its gain, at rest and in motion."""
    system, state = case.reached(None, *method)
    n, h = len(state.q), 1e-6
    rng = np.random.default_rng(case.plan.seed)
    q = state.q + 1e-6 * _factors(system, case, "q") * rng.normal(size=n)
    before = gap(case, system, q)
    for u in (np.zeros(len(state.u)), np.array(state.u)) if before > 1e-8 else ():
        rate = h * system.derivatives(q, u, tau=case.tau, time=TIME)[:n]
        assert (gap(case, system, q + rate) - gap(case, system, q - rate)) / (2 * h) < -0.09 * before


def gap(case: Case, system: lw.Model, q: Array) -> float:
    """Root of the sum of squares of what joints bar and the coordinates of the tree have, by the oracle."""
    values = tree_only(system, case.from_size.coordinates(by_joint(system, q)))
    mechanism = case.scene.mechanism
    poses = body_poses(mechanism, values, tree_joints(system))
    oracle = Oracle(mechanism, poses, values, gears=case.scene.gears)
    gears = [row.gear.residual(row.q) for row in oracle.gears.values()]
    return float(np.sqrt(sum(float(v @ v) for v in oracle.violations().values()) + np.dot(gears, gears)))


def _in_order(system: lw.Model) -> list[str]:
    return list(dict.fromkeys(name.split(".")[0] for name in system.u_names))


def _factors(system: lw.Model, case: Case, what: str) -> Array:
    parts = [vector(case.to_size.factors[what][name]) for name in _in_order(system)]
    return np.concatenate(parts or [np.zeros(0)])
