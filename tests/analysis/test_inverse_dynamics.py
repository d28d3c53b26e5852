"""Loads of motors: the inverse of forward dynamics, closed forms, dense equations by hand, and power."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import null_space, qr
from scipy.optimize import linprog

import linkwork as lw
from linkwork.analysis.configuration_space import ConfigurationSpace
from linkwork.analysis.pose_functions import motor
from support.actuators import actuated, random_inputs
from support.delta import HIPS, HOME, delta_robot, hip_angles, hip_loads
from support.driven import TIME, driven, movable
from support.driving import reached
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.poses import Array
from support.random_mechanisms import FAMILIES, well_posed

ALL = {name: make for name, (make, _) in (FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES).items()}
Values = dict[str, Any]


def speeds_of(mech: lw.Mechanism) -> list[str]:
    """Every speed of every joint, cut ones included, as a motor."""
    counts = {name: joint.kind.nu for name, joint in mech.joints.items()}
    return [n if nu == 1 else f"{n}[{k + 1}]" for n, nu in counts.items() for k in range(nu)]


def turning(space: ConfigurationSpace, names: Sequence[str]) -> Array:
    """Speeds of motors by the degrees of freedom, (motors, dof)."""
    return np.vstack([motor(space, name).rows() for name in names]) @ space.tangent().basis


def spanning(model: lw.Model, state: lw.State) -> list[str]:
    """As many motors as degrees of freedom, which drive all of them well."""
    space, names = ConfigurationSpace(model, state), speeds_of(model.mechanism)
    rows = turning(space, names)
    return [names[k] for k in qr(rows.T, pivoting=True)[2][: rows.shape[1]]]


def by_motor(rng: np.random.Generator, motors: Sequence[str]) -> dict[str, float]:
    return {name: float(rng.normal(scale=3.0)) for name in motors}


def motion_of(state: lw.State, udot: Array) -> tuple[Array, Array, Array]:
    """One row."""
    return np.array(state.q)[None], np.array(state.u)[None], np.array(udot)[None, : len(state.u)]


def inverts(model: lw.Model, state: lw.State, given: Values, time: float = 0.0) -> None:
    """Loads, other inputs and their accelerations, and back."""
    tau = by_motor(np.random.default_rng(5), spanning(model, state))
    udot = np.asarray(model.accelerations(state, tau=tau | given))
    found = lw.inverse_dynamics(
        model, motion_of(state, udot), motors=list(tau), t_eval=[time], inputs=given, state=state
    )
    scale = max(map(abs, tau.values())) / found["conditioning"][0]
    np.testing.assert_allclose(found.loads[0], list(tau.values()), rtol=0, atol=1e-12 * max(scale, np.abs(udot).max()))
    assert found.check().max() < 1e-10


@pytest.mark.thin(6)
@pytest.mark.parametrize("name", sorted(ALL))
def test_it_inverts_forward_dynamics(name: str) -> None:
    scene = well_posed(ALL[name], 3)
    model, state = reached(scene)
    if ConfigurationSpace(model, state).tangent().dof:
        inverts(model, state, {})


@pytest.mark.parametrize("name", ["planar_5R", "stewart", "loop_on_loop", "RUSR_on_free_base", "CCCC", "gear_in_loop"])
@pytest.mark.parametrize("method", ["embedding", "multipliers", "dca"])
def test_every_method_gives_the_same(name: str, method: str) -> None:
    model, state = reached(well_posed(ALL[name], 4), method)
    inverts(model, state, {})


@pytest.mark.parametrize("seed", range(6))
def test_actuators_that_are_no_motors_do_their_part(seed: int) -> None:
    make = [ALL[name] for name in sorted(ALL)][7 * seed + 1]
    scene = well_posed(actuated(make), seed)
    model, state = reached(scene)
    if ConfigurationSpace(model, state).tangent().dof:
        inverts(model, state, random_inputs(np.random.default_rng(seed), scene.mechanism))


@pytest.mark.parametrize("name", ["planar_5R", "outboard_trees", "legs_RSS", "gear_branches", "moving_spatial_7R"])
def test_prescribed_motions_cost_the_motors_nothing(name: str) -> None:
    scene = well_posed(ALL[name], 2)
    one = driven(scene, np.random.default_rng(1), movable(scene)[:1])
    model = lw.compile(one.mechanism)
    state = model.assemble(q=scene.q, u=scene.u, time=TIME)
    inverts(model, state, {}, TIME)


def test_actuators_are_motors_whose_force_is_all_that_they_give() -> None:
    mech = five_bar()
    mech.add_force(lw.Actuator("left", {"A": 2.0}, gain=5.0, offset=0.3, stiffness=4.0, damping=0.2))
    mech.add_force(lw.Actuator("both", {"A": -0.5, "C": 1.5}, gain=-2.0))
    model = lw.compile(mech)
    state = model.assemble(u={"A": 1.0, "E": -0.5})
    given = {"left.input": 0.7, "both.input": -1.1}
    udot = np.asarray(model.accelerations(state, tau=given))
    found = lw.inverse_dynamics(model, motion_of(state, udot), t_eval=[0.0], state=state)
    assert found.motors == ["left", "both"]
    for name, value in given.items():
        np.testing.assert_allclose(found[name], value, atol=1e-12)
    force = 5.0 * 0.7 + 0.3 - 4.0 * 2.0 * state["A.q"] - 0.2 * 2.0 * state["A.u"]
    np.testing.assert_allclose(found["left.force"], force, atol=1e-12)
    np.testing.assert_allclose(found["left.rate"], 2.0 * state["A.u"], atol=1e-12)
    np.testing.assert_allclose(found["both.force"], 2.2, atol=1e-12)


def test_reflected_inertia_counts_in_tree_joints_and_cut_ones() -> None:
    mech = five_bar(A={"reflected_inertia": 0.3}, C={"reflected_inertia": 0.2}, E={"reflected_inertia": 0.1})
    mech.add_force(lw.Actuator("knob", {"C": 1.0}, offset=0.4, damping=0.3))
    model = lw.compile(mech)
    state = model.assemble(u={"A": 1.0, "E": -0.5})
    inverts(model, state, {})
    np.testing.assert_allclose(model.inverse_dynamics(state, model.accelerations(state)), 0.0, atol=1e-12)


# ---- a five-bar by hand ----

LENGTHS, MASSES, FEET = (0.4, 0.6, 0.6, 0.4), (1.0, 0.8, 0.7, 1.1), (-0.35, 0.35)


def five_bar(**options: Values) -> lw.Mechanism:
    """Arms a and d on A and E, forearms b and c on B and D, which meet in C, in a vertical plane; options of joints."""
    mech, hinge = lw.Mechanism("five_bar", gravity=(0, -9.81, 0)), lw.Revolute((0, 0, 1))
    for name, mass, length in zip("abcd", MASSES, LENGTHS, strict=True):
        mech.add_body(name, mass=mass, com=(length / 2, 0, 0), inertia=lw.inertia.rod(mass, length, axis="x"))
    mech.add_joint("A", hinge, "ground", "a", parent_frame=lw.Frame((FEET[0], 0, 0)), **options.get("A", {}))
    mech.add_joint("B", hinge, "a", "b", parent_frame=lw.Frame((LENGTHS[0], 0, 0)), **options.get("B", {}))
    mech.add_joint("E", hinge, "ground", "d", parent_frame=lw.Frame((FEET[1], 0, 0)), **options.get("E", {}))
    mech.add_joint("D", hinge, "d", "c", parent_frame=lw.Frame((LENGTHS[3], 0, 0)), **options.get("D", {}))
    ends = lw.Frame((LENGTHS[1], 0, 0)), lw.Frame((LENGTHS[2], 0, 0))
    mech.add_joint("C", hinge, "b", "c", parent_frame=ends[0], child_frame=ends[1], cut=True, **options.get("C", {}))
    mech.start(q={"A": 2.0, "E": 1.1, "B": -1.2, "D": 1.2})
    return mech


def by_hand(q: Array, u: Array, udot: Array) -> tuple[Array, Array]:
    """J (2, 4) of the loop and N' (M udot + h) with its N, by absolute angles of the links, for joints A, B, E, D."""
    to_absolute = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 0]], dtype=float)  # a, b, c, d
    angle, rate, second = to_absolute @ q, to_absolute @ u, to_absolute @ udot
    along = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    across = np.stack([-np.sin(angle), np.cos(angle)], axis=1)
    carrier = {0: None, 1: 0, 2: 3, 3: None}
    force = np.zeros(4)
    for link, base in carrier.items():
        column = np.zeros((2, 4))  # velocity of the centre by the absolute rates
        column[:, link] = LENGTHS[link] / 2 * across[link]
        acceleration = column @ second - LENGTHS[link] / 2 * along[link] * rate[link] ** 2
        if base is not None:
            column[:, base] = LENGTHS[base] * across[base]
            acceleration = column @ second - LENGTHS[link] / 2 * along[link] * rate[link] ** 2
            acceleration -= LENGTHS[base] * along[base] * rate[base] ** 2
        force += MASSES[link] * column.T @ (acceleration + np.array([0, 9.81]))
        force[link] += MASSES[link] * LENGTHS[link] ** 2 / 12 * second[link]
    loop = np.stack(
        [LENGTHS[0] * across[0], LENGTHS[1] * across[1], -LENGTHS[2] * across[2], -LENGTHS[3] * across[3]], axis=1
    )
    return loop @ to_absolute, to_absolute.T @ force


def redundant() -> tuple[lw.Model, lw.Result]:
    model = lw.compile(five_bar())
    run = lw.simulate(model, 0.5, inputs={"A": lambda t: np.sin(4 * t), "E": 0.4}, t_eval=np.linspace(0, 0.5, 21))
    return model, run


MOTORS = ["A", "E", "B"]
WEIGHTS = {"A": 2.0, "B": 0.5}


def equations(loads: lw.MotorLoads, row: int) -> tuple[Array, Array]:
    """A and e of a row with motors A, E, B."""
    jacobian, needed = by_hand(loads.q[row], loads.u[row], loads.udot[row])
    basis = null_space(jacobian)
    return basis[[0, 2, 1]].T, basis.T @ needed


def test_three_motors_of_a_five_bar_share_by_least_norm() -> None:
    model, run = redundant()
    assert list(model.u_names) == ["A.u", "B.u", "E.u", "D.u"]
    loads = lw.inverse_dynamics(model, run, motors=MOTORS, weights=WEIGHTS)
    weights = np.array([2.0, 1.0, 0.5])
    for row in range(len(run)):
        matrix, needed = equations(loads, row)
        kkt = np.block([[np.diag(weights), matrix.T], [matrix, np.zeros((2, 2))]])
        expected = np.linalg.solve(kkt, np.concatenate([np.zeros(3), needed]))[:3]
        np.testing.assert_allclose(loads.loads[row], expected, atol=1e-12)
    np.testing.assert_allclose(loads.check(), 0.0, atol=1e-12)


def test_limits_are_kept_by_the_best_loads_there_are() -> None:
    """Optimality: weighted loads and multipliers of limits, of the right sign, are along A', and only limits reached
    have multipliers."""
    model, run = redundant()
    free = lw.inverse_dynamics(model, run, motors=MOTORS, weights=WEIGHTS)
    limit = 0.98 * free.peak["A"]
    limits = {"A": limit, "B": (-0.95 * free.peak["B"], 0.95 * free.peak["B"])}
    loads = lw.inverse_dynamics(model, run, motors=MOTORS, weights=WEIGHTS, max_load=limits)
    upper = np.array([limit, np.inf, 0.95 * free.peak["B"]])
    weights, reached_limits = np.array([2.0, 1.0, 0.5]), 0
    for row in range(len(run)):
        matrix, needed = equations(loads, row)
        tau = loads.loads[row]
        np.testing.assert_allclose(matrix @ tau, needed, atol=1e-11)
        assert (np.abs(tau) <= upper * (1 + 1e-9)).all()
        at_limit = np.abs(tau) >= upper * (1 - 1e-9)
        reached_limits += int(at_limit.any())
        columns = np.hstack([matrix.T, -np.eye(3)[:, at_limit] * np.sign(tau[at_limit])])
        multipliers, *_ = np.linalg.lstsq(columns, weights * tau, rcond=None)
        np.testing.assert_allclose(columns @ multipliers, weights * tau, atol=1e-9)
        assert (multipliers[2:] > -1e-9).all()
    assert 0 < reached_limits < len(run)
    np.testing.assert_allclose(loads.check(), 0.0, atol=1e-10)


def test_where_limits_are_too_low_there_are_no_loads_and_the_rows_before_are_kept() -> None:
    model, run = redundant()
    free = lw.inverse_dynamics(model, run, motors=MOTORS)
    limit = 0.5 * free.peak["A"]
    with pytest.raises(lw.LoadsError, match=r"max_load: at t = .* would need") as caught:
        lw.inverse_dynamics(model, run, motors=MOTORS, max_load=limit)
    kept = caught.value.result
    assert isinstance(kept, lw.MotorLoads)
    assert 0 < len(kept) < len(run)
    for row in range(len(kept) + 1):
        matrix, needed = equations(free, row)
        feasible = linprog(np.zeros(3), A_eq=matrix, b_eq=needed, bounds=[(-limit, limit)] * 3).status == 0
        assert feasible == (row < len(kept))


def test_limits_of_joints_and_actuators_are_taken_when_asked_for() -> None:
    mech = five_bar(A={"max_load": 0.8})
    mech.add_force(lw.Actuator("e", {"E": 2.0}, gain=3.0, offset=0.1, input_range=(-0.2, 0.15)))
    model = lw.compile(mech)
    state = model.assemble()
    motors = ["A", "e", "B", "D"]
    still = (np.array(state.q)[None], np.zeros((1, 4)), np.zeros((1, 4)))
    free = lw.inverse_dynamics(model, still, motors=motors, t_eval=[0.0])
    assert free["e.force"] > 0.55
    assert free["A.tau"] < -0.8 or free["e.force"] > 0.55
    held = lw.inverse_dynamics(model, still, motors=motors, t_eval=[0.0], max_load=True)
    np.testing.assert_allclose(held["e.force"], 0.55, atol=1e-9)
    np.testing.assert_allclose(held["e.input"], 0.15, atol=1e-9)
    assert np.abs(held["A.tau"]) <= 0.8 + 1e-9
    assert held.check()[0] < 1e-9


def test_an_actuator_whose_input_makes_no_force_is_no_motor() -> None:
    mech = five_bar()
    mech.add_force(lw.Actuator("brake", {"E": 1.0}, gain=0.0, damping=0.1))
    with pytest.raises(lw.MechanismError, match="actuator 'brake' has gain 0"):
        lw.inverse_dynamics(mech, {"A": [2.2, 2.2], "B": [0.9, 0.9]}, motors=["A", "brake"], t_eval=[0.0, 1.0])


# ---- a delta robot in closed form ----


def path(t: Array) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration of the platform, (rows, 3)."""
    size, rate = np.array([0.06, 0.05, 0.04]), np.array([3.0, 4.0, 5.0])
    angle = t[:, None] * rate
    home = np.array([0.0, 0.0, HOME])
    return home + size * np.sin(angle), size * rate * np.cos(angle), -size * rate**2 * np.sin(angle)


def test_a_delta_robot_needs_the_loads_of_its_closed_form() -> None:
    t = np.linspace(0.0, 1.0, 21)
    p, v, a = path(t)
    loads = lw.inverse_dynamics(delta_robot(), {"top.r": (p, v, a)}, motors=HIPS, t_eval=t)
    expected = hip_loads(p, v, a)
    np.testing.assert_allclose(loads.loads, expected, atol=1e-10 * np.abs(expected).max())
    angles = loads.q[:, [loads.model.q_names.index(f"{hip}.q") for hip in HIPS]]
    np.testing.assert_allclose(angles, hip_angles(p), atol=1e-11)


def test_values_alone_are_differentiated_by_splines() -> None:
    t = np.linspace(0.0, 1.0, 201)
    expected = hip_loads(*path(t))
    names = [f"top.r[{k}]" for k in (1, 2, 3)]
    arrays = dict(zip(names, path(t)[0].T, strict=True))
    functions = {name: lambda t, k=k: path(np.array([t]))[0][0, k] for k, name in enumerate(names)}
    for motion in (arrays, functions):
        loads = lw.inverse_dynamics(delta_robot(), motion, motors=HIPS, t_eval=t)
        np.testing.assert_allclose(loads.loads[2:-2], expected[2:-2], atol=2e-5 * np.abs(expected).max())


# ---- energy ----


def test_motors_and_dampers_change_the_energy_by_their_power() -> None:
    mech = five_bar()
    mech.add_force(lw.SpringDamper("B", stiffness=3.0, damping=0.2, free=-1.0))
    t = np.linspace(0.0, 1.0, 2001)
    motion = {"A": lambda t: (2.0 + 0.3 * np.sin(3 * t), 0.9 * np.cos(3 * t), -2.7 * np.sin(3 * t)), "E": 1.1 + 0.2 * t}
    loads = lw.inverse_dynamics(mech, motion, motors=["A", "C"], t_eval=t)
    model = loads.model
    energy = [sum(model.energy(q, u)) for q, u in zip(loads.q, loads.u, strict=True)]
    damped = 0.2 * np.trapezoid(loads.u[:, model.u_names.index("B.u")] ** 2, t)
    assert sum(loads.energy.values()) == pytest.approx(energy[-1] - energy[0] + damped, abs=1e-6)
    np.testing.assert_allclose(loads["power"], loads.power.sum(axis=1))
    rates = np.gradient(energy, t, edge_order=2)
    dissipated = 0.2 * loads.u[:, model.u_names.index("B.u")] ** 2
    np.testing.assert_allclose(loads["power"] - dissipated, rates, atol=1e-4)


def test_a_simulation_driven_by_the_loads_moves_as_wished() -> None:
    t = np.linspace(0.0, 1.0, 101)
    motion = {"A": lambda t: 2.0 + 0.3 * np.sin(3 * t), "E": 1.1 + 0.2 * t}
    loads = lw.inverse_dynamics(five_bar(), motion, motors=["A", "E"], t_eval=t)
    start = loads.model.state(loads.q[0], loads.u[0])
    run = lw.simulate(loads.model, 1.0, inputs=loads.inputs(), state=start, t_eval=t)
    np.testing.assert_allclose(run["A.q"], 2.0 + 0.3 * np.sin(3 * t), atol=1e-5)
    np.testing.assert_allclose(run["E.q"], 1.1 + 0.2 * t, atol=1e-5)


# ---- simulations ----


def test_a_simulation_with_events_gives_back_its_loads() -> None:
    mech = five_bar()
    mech.add_transition("latch", lw.Lock("D"), when=lw.Time(0.2))
    mech.add_transition("open", lw.Unlock("D"), when=lw.Time(0.35))
    run = lw.simulate(mech, 0.5, inputs={"A": lambda t: np.sin(4 * t), "E": 0.4, "B": 0.1})
    loads = lw.inverse_dynamics(run.model, run, motors=["A"])
    np.testing.assert_allclose(loads["A.tau"], np.sin(4 * run.t), atol=1e-7)
    assert loads.check().max() < 1e-7


def test_motors_that_brought_a_motion_about_may_be_fewer_than_degrees_of_freedom() -> None:
    run = redundant()[1]
    loads = lw.inverse_dynamics(run.model, run, motors=["A"])
    np.testing.assert_allclose(loads["A.tau"], np.sin(4 * run.t), atol=1e-9)
    other = lw.inverse_dynamics(run.model, run, motors="A", t_eval=[0.1, 0.2])
    np.testing.assert_array_equal(other.t, [0.1, 0.2])


def test_inputs_may_depend_on_time_and_state() -> None:
    mech = five_bar()
    mech.add_force(lw.Wrench("b", name="push"))
    given = {"push.F": lambda t: (np.sin(t), 1.0, 0.0), "D": lambda t, state: -0.3 * state["C.u"]}
    run = lw.simulate(mech, 0.5, inputs={"A": 0.7, "E": 0.4} | given)
    arrays = (run.y[:, :4], run.y[:, 4:], np.stack([run[f"{n}.a"] for n in "ABED"], axis=1))
    loads = lw.inverse_dynamics(run.model, arrays, motors=["A", "E"], t_eval=run.t, inputs=given)
    np.testing.assert_allclose(loads.loads, np.tile([0.7, 0.4], (len(run), 1)), atol=1e-10)


# ---- what cannot be ----

T = np.linspace(0.0, 1.0, 11)
MOTION = {"A": 2.0 + 0.3 * T, "E": 1.1 + 0.2 * T}


def test_too_few_motors_name_the_motion_that_none_drives() -> None:
    with pytest.raises(
        lw.LoadsError, match=r"at t = 0 s motors 'A' drive 1 of 2 .*no motor drives the motion D\.u = 1"
    ):
        lw.inverse_dynamics(five_bar(), MOTION, motors=["A"], t_eval=T)
    mech = five_bar()
    mech.add_body("bob", mass=1.0, com=(0.1, 0, 0), inertia=lw.inertia.sphere(1.0, 0.05))
    mech.add_joint("P", lw.Prismatic((1, 0, 0)), "ground", "bob", at=(0, 0, 0))
    with pytest.raises(lw.LoadsError, match=r"3 degrees of freedom: no motor drives the motion P\.u = 1 m/s; name a"):
        lw.inverse_dynamics(mech, MOTION | {"P": T**3}, motors=["A", "E", "C"], t_eval=T)


def test_a_pose_in_which_motors_lose_their_grip_is_named_with_its_time() -> None:
    """Parallel singularity: with both forearms in line, the arms cannot move the elbow C across them."""
    mech = five_bar()
    mech.add_point("tip", "b", (LENGTHS[1], 0, 0))
    outward = (LENGTHS[1] + LENGTHS[2] - (FEET[1] - FEET[0])) / 2  # of each elbow, with the forearms in line
    level = np.sqrt(LENGTHS[0] ** 2 - outward**2)
    t = np.linspace(-1.0, 0.5, 7)
    motion = {"tip.r[1]": 0 * t, "tip.r[2]": level - 0.3 * t}
    with pytest.raises(lw.LoadsError) as caught:
        lw.inverse_dynamics(mech, motion, motors=["A", "E"], t_eval=t)
    assert "t = 0 s motors 'A', 'E' drive 1 of 2" in str(caught.value)
    assert "singular for these" in str(caught.value)
    loads = lw.inverse_dynamics(mech, motion, motors=["A", "E", "B"], t_eval=t)
    assert len(loads) == len(t)
    assert loads.check().max() < 1e-9
    kept = caught.value.result
    assert isinstance(kept, lw.MotorLoads)
    assert len(kept) == 4
    assert kept["conditioning"][-1] < kept["conditioning"][0]


def test_loops_that_cannot_follow_are_named_with_their_time() -> None:
    t = np.linspace(0.0, 1.0, 11)
    p = np.array([[0.0, 0.5 + 0.9 * x] for x in t])
    mech = five_bar()
    mech.add_point("tip", "b", (LENGTHS[1], 0, 0))
    with pytest.raises(lw.LoadsError, match=r"cannot follow 'tip\.r\[1\]', 'tip\.r\[2\]'") as caught:
        lw.inverse_dynamics(mech, {"tip.r[1]": p[:, 0], "tip.r[2]": p[:, 1]}, motors=["A", "E"], t_eval=t)
    kept = caught.value.result
    farthest = np.sqrt(1.0 - FEET[0] ** 2)  # both arms stretched
    assert isinstance(kept, lw.MotorLoads)
    assert len(kept) == int(np.sum(p[:, 1] < farthest))


@pytest.mark.parametrize("what", range(3))
def test_coordinates_speeds_and_accelerations_that_loops_prevent_are_named(what: int) -> None:
    model, run = redundant()
    arrays = [run.y[:, :4].copy(), run.y[:, 4:].copy(), np.stack([run[f"{n}.a"] for n in "ABED"], axis=1)]
    assert len(lw.inverse_dynamics(model, arrays, motors=MOTORS, t_eval=run.t)) == len(run)
    arrays[what][7, 1] += 0.01
    word = ("coordinates", "speeds", "accelerations")[what]
    with pytest.raises(lw.LoadsError, match=f"at t = {run.t[7]:.6g} s the {word} are impossible") as caught:
        lw.inverse_dynamics(model, arrays, motors=MOTORS, t_eval=run.t)
    assert len(caught.value.result) == 7  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"motors": ["F"]}, "there is no motor 'F'"),
        ({"motors": []}, "one at least"),
        ({"motors": None}, "no actuators"),
        ({"motors": ["A", "A"]}, "'A' is named twice"),
        ({"t_eval": None}, "t_eval must be the times"),
        ({"t_eval": T[::-1]}, "row 2, t = 0.9 s, does not follow t = 1 s"),
        ({"t_eval": np.where(T == 0.5, np.nan, T)}, "not finite in row 6"),
        ({"motion": {"A": T}}, "1 function of the pose, and the mechanism has 2 degrees"),
        ({"motion": {"A": T, "E": T[:-1]}}, r"shape \(11,\)"),
        ({"motion": {"A": T, "E": np.where(T == 0.5, np.nan, T)}}, "motion of 'E': the value is not finite in row 6"),
        ({"motion": {"A": T, "F": T}}, "no function of the pose 'F'"),
        ({"motion": {"A": T, "E": "fast"}}, "give an array"),
        ({"motion": {"A": T, "E": lambda t: (t, t)}}, "must return a number, or value, rate"),
        (
            {"motion": {"A": [0.1], "E": [0.2]}, "t_eval": [0.0]},
            "motion of 'A': one row has no rate and no acceleration",
        ),
        ({"motion": 3.0}, "motion must be a dictionary"),
        ({"motion": (np.zeros((11, 4)), np.zeros((11, 4)), np.zeros((11, 3)))}, r"udot has shape \(11, 3\)"),
        ({"motion": (np.zeros((11, 4)), np.full((11, 4), np.nan), np.zeros((11, 4)))}, "u is not finite in row 1"),
        ({"weights": {"A": -1.0}}, "must be positive"),
        ({"weights": {"B": 1.0}}, "'B' is no motor here"),
        ({"max_load": {"A": (1.0, -1.0)}}, "limit of motor 'A'"),
        ({"weights": {"A": 1e300}}, "weights: the largest may be 1e.12 times the least"),
        ({"max_load": {"A": True}}, "limit of motor 'A' must be a positive number"),
        ({"motion": {"A": T + 1j, "E": T}}, "motion of 'A': give an array"),
        ({"motion": {"A": lambda t: None, "E": T}}, "the function must return a number"),
        ({"weights": []}, "weights must be a dictionary"),
        ({"inputs": {"A": 1.0}}, "drives the motor 'A'"),
        ({"inputs": {"F": 1.0}}, "'F'"),
        ({"wheights": {}}, "weights"),
    ],
)
def test_wrong_arguments_are_refused(change: Values, text: str) -> None:
    given: Values = {"motion": MOTION, "motors": ["A", "E"], "t_eval": T} | change
    with pytest.raises((lw.MechanismError, TypeError), match=text):
        lw.inverse_dynamics(five_bar(), given.pop("motion"), **given)


def test_limits_and_weights_of_a_joint_are_those_of_each_of_its_speeds() -> None:
    mech = lw.Mechanism("ball")
    mech.add_body("ball", mass=1.0, com=(0.2, 0.0, 0.1), inertia=np.diag([0.1, 0.2, 0.3]))
    mech.add_joint("S", lw.Spherical(), "ground", "ball", at=(0, 0, 0))
    row = ([[1.0, 0, 0, 0]], [[0.3, 0.2, 0.1]], [[1.0, 2.0, 3.0]])

    def loads(**options: Any) -> lw.MotorLoads:
        return lw.inverse_dynamics(mech, row, motors="S", t_eval=[0.0], **options)

    free = loads(weights={"S": 2.0})
    assert np.array_equal(free.loads, loads(max_load={"S": 100.0}, weights={"S[2]": 3.0, "S[1]": 1.0}).loads)
    with pytest.raises(lw.LoadsError, match=r"max_load: .* motor 'S\[[123]\]' would need"):
        loads(max_load={"S": 1e-3})
    with pytest.raises(lw.MechanismError, match=r"max_load: motor 'S\[2\]' has two values, one by 'S\[2\]': give one"):
        loads(max_load={"S": 100.0, "S[2]": 50.0})
    with pytest.raises(lw.MechanismError, match=r"weights: 'S\[4\]' is no motor here"):
        loads(weights={"S[4]": 100.0})


# ---- the result ----


def test_the_result_is_a_table_with_units_and_plots(tmp_path: Path) -> None:
    loads = lw.inverse_dynamics(five_bar(), MOTION, motors=["A", "E"], t_eval=T)
    assert list(loads) == ["A.tau", "A.u", "A.power", "E.tau", "E.u", "E.power", "power", "conditioning"]
    assert loads.units["A.tau"] == "N.m"
    assert loads.units["A.u"] == "rad/s"
    assert loads.units["A.power"] == "W"
    assert len(loads) == 11
    assert len(loads[0.25:0.75]) == 7
    assert loads.peak["A"] == np.abs(loads["A.tau"]).max()
    assert loads.rms["A"] == pytest.approx(np.sqrt(np.trapezoid(loads["A.tau"] ** 2, T)))
    assert loads.energy["A"] == pytest.approx(np.trapezoid(loads["A.power"], T))
    assert loads.energy_given["A"] == pytest.approx(np.trapezoid(np.maximum(loads["A.power"], 0), T))
    assert "peak power" in repr(loads)
    assert repr(loads).count("\n") == 3
    loads.to_csv(tmp_path / "loads.csv")
    assert (tmp_path / "loads.csv").read_text().startswith("time,A.tau,A.u,A.power,E.tau")
    assert list(loads.to_dataframe().columns) == list(loads)
    both = loads[0.0:0.5].join(loads[0.5:1.0])
    np.testing.assert_array_equal(both["E.tau"], loads["E.tau"])
    figure = loads.plot_envelope(tmp_path / "envelope.png", limits={"A": 5.0})
    assert [panel.get_xlabel() for panel in figure.axes] == ["angular speed [rad/s]"] * 2
    assert [panel.get_ylabel() for panel in figure.axes] == ["torque [N·m]"] * 2
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_xdata(), loads["A.u"])
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), loads["A.tau"])
    assert (tmp_path / "envelope.png").stat().st_size > 0
    assert len(loads.plot().axes) == 2


# ---- motors that rest ----


def slider_crank() -> lw.Mechanism:
    """Crank A of 0.2 m, rod of 0.6 m, slider S that closes the loop."""
    mech, hinge = lw.Mechanism("slider_crank"), lw.Revolute((0, 1, 0))
    for name, length, x in (("crank", 0.2, 0.0), ("rod", 0.6, 0.2)):
        mech.add_body(name, 1.0, (length / 2, 0, 0), lw.inertia.rod(1.0, length), origin=(x, 0, 0))
    mech.add_body("block", 1.0, (0, 0, 0), lw.inertia.sphere(1.0, 0.1), origin=(0.8, 0, 0))
    mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", hinge, "crank", "rod", at=(0.2, 0, 0))
    mech.add_joint("C", hinge, "rod", "block", at=(0.8, 0, 0))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0.8, 0, 0))
    mech.start(q={"A": 0.5})
    return mech


def test_a_motor_at_its_dead_point_drives_nothing() -> None:
    swing = {"A": lambda t: (0.5 - 0.5 * t, -0.5, 0.0)}
    with pytest.raises(lw.LoadsError, match=r"at t = 1 s .*motors 'S' drive 0 of 1 degrees of freedom") as caught:
        lw.inverse_dynamics(slider_crank(), swing, motors="S", t_eval=np.linspace(0, 1, 11))
    assert isinstance(caught.value.result, lw.MotorLoads)
    assert len(caught.value.result) == 10


def test_a_motor_whose_joint_is_locked_has_no_load() -> None:
    mech = lw.Mechanism("slides", gravity=(0, 0, 0))
    for name in "ab":
        mech.add_body(name, 1.0, (0, 0, 0), lw.inertia.sphere(1.0, 0.1))
        mech.add_joint(name.upper(), lw.Prismatic((1, 0, 0)), "ground", name, at=(0, 0, 0))
    mech.add_transition("stop", lw.Lock("A"), when=lw.Time(0.5))
    result = lw.simulate(mech, 1.0, inputs={"A": 2.0, "B": 3.0}, t_eval=np.linspace(0, 1, 11))
    loads = lw.inverse_dynamics(mech, result, motors=["A", "B"])
    np.testing.assert_allclose(loads["B.tau"], 3.0, rtol=1e-12)
    np.testing.assert_allclose(loads["A.tau"], np.where(loads.t < 0.5, 2.0, 0.0), atol=1e-12)


@pytest.mark.parametrize("limits", [{"S": "x"}, {"S": np.nan}, {"S": -1.0}, 3.0])
def test_limits_of_an_envelope_are_positive_numbers(limits: Any) -> None:
    loads = lw.inverse_dynamics(slider_crank(), {"A": lambda t: (0.5 + t, 1.0, 0.0)}, motors="S", t_eval=[0.0, 0.1])
    with pytest.raises(lw.MechanismError, match="limits"):
        loads.plot_envelope(limits=limits)


def test_an_actuator_without_gain_is_no_motor() -> None:
    mech = slider_crank()
    mech.add_force(lw.Actuator("pump", {"S": 1.0}, gain=0.0))
    with pytest.raises(lw.MechanismError, match="'pump' has gain 0"):
        lw.inverse_dynamics(mech, {"A": lambda t: (0.5 + t, 1.0, 0.0)}, motors="pump", t_eval=[0.0, 0.1])
