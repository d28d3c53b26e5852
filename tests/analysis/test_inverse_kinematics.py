"""Inverse kinematics against closed forms, SciPy's optimisation, and its own promises on bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.analysis.configuration_space import ConfigurationSpace
from linkwork.analysis.inverse_kinematics import PoseSolver, checked_targets
from linkwork.analysis.pose_functions import pose_function
from support.joint_families import JOINT_FAMILIES
from support.platforms import DISTAL, HEIGHT, LIMBS, PROXIMAL, SPAN, five_bar, limb, stewart, strut_lengths
from support.random_mechanisms import FAMILIES, well_posed

ALL = {name: make for name, (make, _) in (FAMILIES | JOINT_FAMILIES).items()}


def random_platform_poses(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return np.array([0, 0, HEIGHT]) + rng.uniform(-0.15, 0.15, (n, 3)), rng.uniform(-0.5, 0.5, (n, 3))


def arm(joints: int = 3) -> lw.Mechanism:
    """A planar arm of links of 1 m about z, with a point "tip"."""
    mech = lw.Mechanism("arm")
    parent, frame = "ground", lw.Frame()
    for k in range(1, joints + 1):
        mech.add_body(f"link{k}", 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0))
        mech.add_joint(f"J{k}", lw.Revolute((0, 0, 1)), parent, f"link{k}", parent_frame=frame)
        parent, frame = f"link{k}", lw.Frame((1, 0, 0))
    mech.add_point("tip", parent, (1, 0, 0))
    return mech


def tip_of(angles: np.ndarray) -> np.ndarray:
    total = np.cumsum(angles)
    return np.array([np.cos(total).sum(), np.sin(total).sum()])


def test_values_of_one_number_may_be_a_column() -> None:
    row, column = (lw.inverse_kinematics(arm(1), {"J1": given}) for given in ([0.1, 0.2], [[0.1], [0.2]]))
    np.testing.assert_allclose(row["J1.q"], [0.1, 0.2], atol=1e-12)
    assert column["J1.q"].tolist() == row["J1.q"].tolist()


def test_a_platform_reaches_1000_random_poses_to_1e_10() -> None:
    positions, turns = random_platform_poses(1000)
    rotations = Rotation.from_rotvec(turns)
    found = lw.inverse_kinematics(
        stewart(), {"platform.r": positions, "platform.Q": rotations.as_quat(scalar_first=True)}
    )
    assert found.found.all()
    assert found.distance.max() < 1e-10
    rest = strut_lengths(np.array([0, 0, HEIGHT]), np.eye(3))
    expected = [strut_lengths(r, R) - rest for r, R in zip(positions, rotations.as_matrix(), strict=True)]
    struts = np.column_stack([found[f"P{k}.q"] for k in LIMBS])
    np.testing.assert_allclose(struts, expected, atol=1e-10)
    assert "1000 of 1000 poses found" in repr(found)


def test_a_limb_reaches_1000_random_points_to_1e_10() -> None:
    model, rng, points = lw.compile(limb()), np.random.default_rng(1), []
    while len(points) < 1000:
        guess = {"hip": rng.uniform(-0.6, 0.6), "front": rng.uniform(0.3, 1.4), "back": rng.uniform(1.7, 2.8)}
        points.append(model.assemble(q=guess)["foot.r"])
    found = lw.inverse_kinematics(model, {"foot.r": np.array(points)})
    assert found.found.all()
    for state, point in zip(found.states[::25], points[::25], strict=True):
        np.testing.assert_allclose(state["foot.r"], point, atol=1e-10)
        assert model.loop_residual(state).max() < 1e-10


@pytest.mark.thin(6)
@pytest.mark.parametrize("family", sorted(ALL))
def test_random_mechanisms_return_to_where_their_bodies_were(family: str) -> None:
    scene = well_posed(ALL[family], 4)
    space = ConfigurationSpace(lw.compile(scene.mechanism))
    start = space.q
    basis = space.tangent().basis
    if not basis.shape[1]:
        pytest.skip("it cannot move")
    motion = basis @ np.random.default_rng(3).standard_normal(basis.shape[1])
    space.require_closed(space.displaced(start, 0.1 * space.length * motion), "test")
    body = list(scene.mechanism.bodies)[-1]
    targets = {name: pose_function(space, name).value() for name in (f"{body}.r", f"{body}.Q")}
    space.enter(start)
    state = space.model.state(start, np.zeros(space.nu), time=space.start.time)
    found = lw.inverse_kinematics(space.model, targets, state=state)
    assert found.found
    space.enter(found.q)
    assert np.abs(space.violation()).max(initial=0.0) < 1e-10
    np.testing.assert_allclose(pose_function(space, f"{body}.r").value(), targets[f"{body}.r"], atol=1e-9)
    assert np.abs(pose_function(space, f"{body}.Q").difference(targets[f"{body}.Q"])).max() < 1e-9


def test_what_targets_leave_open_stays_next_to_the_start() -> None:
    start = np.array([0.3, 0.8, -0.5])
    model = lw.compile(arm())
    goal = np.array([1.2, 1.7])
    found = lw.inverse_kinematics(
        model, {"tip.r[1]": goal[0], "tip.r[2]": goal[1]}, state=model.state(start, np.zeros(3))
    )
    assert found.found
    expected = minimize(
        lambda q: np.sum((q - start) ** 2),
        start,
        method="SLSQP",
        constraints={"type": "eq", "fun": lambda q: tip_of(q) - goal},
        options={"ftol": 1e-16, "maxiter": 300},
    )
    np.testing.assert_allclose(found.q, expected.x, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_a_pose_next_to_the_start_is_stationary_after_few_steps(seed: int) -> None:
    rng, joints = np.random.default_rng(seed), 8
    start = rng.uniform(-0.6, 0.6, joints)
    goal = tip_of(start + rng.uniform(-0.4, 0.4, joints))
    model = lw.compile(arm(joints))
    found = lw.inverse_kinematics(
        model, {"tip.r[1]": goal[0], "tip.r[2]": goal[1]}, state=model.state(start, np.zeros(joints))
    )
    assert found.found
    assert found.steps < 16
    total = np.cumsum(found.q)
    by_links = np.array([-np.sin(total), np.cos(total)])
    rows = np.cumsum(by_links[:, ::-1], axis=1)[:, ::-1]  # of the tip by the angles
    moved = found.q - start
    multipliers = np.linalg.lstsq(rows.T, moved, rcond=None)[0]
    np.testing.assert_allclose(rows.T @ multipliers, moved, atol=1e-6)  # no motion that keeps the tip shortens it


def test_preferred_values_are_kept_where_targets_allow() -> None:
    found = lw.inverse_kinematics(arm(), {"tip.r[1]": 1.2, "tip.r[2]": 1.7}, prefer={"J1": 0.2})
    assert found.found
    assert found["J1.q"] == pytest.approx(0.2, abs=2e-3)
    np.testing.assert_allclose(tip_of(found.q), [1.2, 1.7], atol=1e-10)


def test_limits_hold_and_the_pose_is_the_nearest_within_them() -> None:
    start, goal, most = np.array([0.3, 0.8, -0.5]), np.array([1.2, 1.7]), 0.75
    model = lw.compile(arm())
    options = {"state": model.state(start, np.zeros(3))}
    targets = {"tip.r[1]": goal[0], "tip.r[2]": goal[1]}
    free = lw.inverse_kinematics(model, targets, **options)
    assert free["J2.q"] > most
    found = lw.inverse_kinematics(model, targets, limits={"J2": (None, most)}, **options)
    assert found.found
    assert found["J2.q"] <= most + 1e-10
    expected = minimize(
        lambda q: np.sum((q - start) ** 2),
        free.q,
        method="SLSQP",
        bounds=[(None, None), (None, most), (None, None)],
        constraints={"type": "eq", "fun": lambda q: tip_of(q) - goal},
        options={"ftol": 1e-16, "maxiter": 300},
    )
    np.testing.assert_allclose(found.q, expected.x, atol=1e-6)


def test_stops_are_the_limits_by_default_and_those_given_replace_them() -> None:
    mech = arm(2)
    mech.add_transition("stop", lw.Stop("J2", lower=0.1, upper=3.0))
    mech.start(q={"J2": 0.5})
    up = lw.inverse_kinematics(mech, {"tip.r": (1.0, -1.0, 0.0)})
    assert up.found
    assert up["J2.q"] == pytest.approx(np.pi / 2)
    down = lw.inverse_kinematics(mech, {"tip.r": (1.0, -1.0, 0.0)}, limits={"J2": (-3.0, -0.1)})
    assert down.found
    assert down["J2.q"] == pytest.approx(-np.pi / 2)
    lifted = lw.inverse_kinematics(mech, {"J2": -0.3}, limits={"J2": (None, None)})
    assert lifted.found
    held = lw.inverse_kinematics(mech, {"J2": -0.3})
    assert not held.found
    assert held["J2.q"] == pytest.approx(0.1, abs=1e-9)


def test_a_start_outside_of_the_limits_comes_within() -> None:
    found = lw.inverse_kinematics(arm(), {"tip.r[1]": 1.2}, limits={f"J{k}": (0.3, 1.0) for k in (1, 2, 3)})
    assert found.found
    assert found.q.min() >= 0.3 - 1e-10
    assert found.q.max() <= 1.0 + 1e-10
    held = lw.inverse_kinematics(arm(), {"tip.r[1]": 1.2}, limits={"J1": (0.5, 0.5)})
    assert held.found
    assert held["J1.q"] == pytest.approx(0.5, abs=1e-10)


def test_an_unreachable_target_within_limits_ends_where_scipy_ends() -> None:
    goal, bounds = np.array([-2.0, 0.5]), [(0.0, 1.2), (0.1, 0.9), (-0.5, 0.5)]
    limits = {f"J{k + 1}": pair for k, pair in enumerate(bounds)}
    found = lw.inverse_kinematics(arm(), {"tip.r[1]": goal[0], "tip.r[2]": goal[1]}, limits=limits)
    assert not found.found
    ends = [
        minimize(
            lambda q: np.sum((tip_of(q) - goal) ** 2), start, method="SLSQP", bounds=bounds, options={"ftol": 1e-16}
        )
        for start in ([0.5, 0.5, 0.0], [1.2, 0.9, 0.5], [1.2, 0.1, -0.5])
    ]
    assert found.distance == pytest.approx(np.sqrt(min(end.fun for end in ends)), abs=1e-8)
    np.testing.assert_allclose(np.clip(found.q, *np.array(bounds).T), found.q, atol=1e-9)


def test_limits_of_the_joint_that_closes_a_loop_hold() -> None:
    mech = five_bar()
    model = lw.compile(mech)
    start = model.assemble()["E.q"]
    targets = {"tip.r[1]": 0.05}
    lower = start + 0.1
    found = lw.inverse_kinematics(model, targets, limits={"E": (lower, lower + 1.0)})
    assert found.found
    assert found.state["E.q"] == pytest.approx(lower, abs=1e-9)
    assert found.state["tip.r"][0] == pytest.approx(0.05, abs=1e-10)
    turn = 2 * np.pi
    again = lw.inverse_kinematics(model, targets, limits={"E": (lower - turn, lower + 1.0 - turn)})
    assert again.found
    np.testing.assert_allclose(again.q, found.q, atol=1e-9)


@pytest.mark.parametrize("goal", [(2.0, 0.3), (-1.0, 1.5), (0.3, 2.0)])
def test_an_unreachable_point_of_a_five_bar_ends_at_the_nearest_pose(goal: tuple[float, float]) -> None:
    found = lw.inverse_kinematics(five_bar(), {"tip.r[1]": goal[0], "tip.r[3]": goal[1]})
    assert not found.found
    bases, most = np.array([[-SPAN / 2, 0], [SPAN / 2, 0]]), PROXIMAL + DISTAL
    expected = minimize(  # the tip lies in both discs
        lambda p: np.sum((p - goal) ** 2),
        [0.0, 0.4],
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda p: most**2 - np.sum((p - bases) ** 2, axis=1)},
        options={"ftol": 1e-16, "maxiter": 300},
    )
    tip = found.state["tip.r"][[0, 2]]
    np.testing.assert_allclose(tip, expected.x, atol=1e-5)
    assert found.distance == pytest.approx(np.sqrt(expected.fun), abs=1e-9)
    assert found.distance == pytest.approx(np.linalg.norm(tip - goal), abs=1e-12)
    assert "not found: the nearest pose misses by" in repr(found)


def test_conflicting_targets_end_in_the_least_squares_compromise() -> None:
    goal, length = np.array([1.0, 1.0]), 0.7
    found = lw.inverse_kinematics(
        arm(2), {"tip.r[1]": goal[0], "tip.r[2]": goal[1], "J1": 0.5}, length=length, state=None
    )
    assert not found.found
    ends = [
        minimize(
            lambda q: np.sum((tip_of(q) - goal) ** 2) + length**2 * (q[0] - 0.5) ** 2, start, options={"gtol": 1e-10}
        )
        for start in ([0.2, 1.2], [0.2, -1.2])
    ]
    assert min(abs(found.distance - np.sqrt(end.fun)) for end in ends) < 1e-8


def test_a_path_continues_from_pose_to_pose() -> None:
    angle = np.linspace(0, 2 * np.pi, 73)
    model = lw.compile(five_bar())
    circle = np.column_stack([0.05 * np.sin(angle), 0.45 + 0.05 * np.cos(angle)])
    found = lw.inverse_kinematics(model, {"tip.r[1]": circle[:, 0], "tip.r[3]": circle[:, 1]})
    assert found.found.all()
    assert len(found) == 73
    assert np.abs(np.diff(found.q, axis=0)).max() < 0.1
    np.testing.assert_allclose(found.q[0], found.q[-1], atol=1e-9)


def test_directions_are_targets() -> None:
    mech = limb()
    mech.add_point("toe", "shin1", (0.3, 0, 0), axis=(1, 0, 0))
    model = lw.compile(mech)
    goal = model.assemble(q={"hip": 0.3, "front": 0.6, "back": 2.4})["toe.e"]
    found = lw.inverse_kinematics(model, {"toe.e": goal})
    assert found.found
    np.testing.assert_allclose(found.state["toe.e"], goal, atol=1e-10)


def test_far_turns_are_found() -> None:
    goal = Rotation.from_rotvec([0.3, -0.2, 2.9])
    mech = lw.Mechanism("body")
    mech.add_body("box", 1.0, (0, 0, 0), np.eye(3))
    mech.add_joint("F", lw.Free(), "ground", "box", at=(0, 0, 0))
    found = lw.inverse_kinematics(mech, {"box.Q": goal.as_quat(scalar_first=True), "box.r": (3.0, -2.0, 1.0)})
    assert found.found
    reached = Rotation.from_quat(found.state["box.Q"], scalar_first=True)
    assert (reached.inv() * goal).magnitude() < 1e-10


def test_the_pose_solver_reports_steps_and_returns_where_it_was_asked() -> None:
    space = ConfigurationSpace(lw.compile(five_bar()))
    functions, values, _ = checked_targets(space, {"tip.r[1]": 0.02, "tip.r[3]": 0.5}, "targets")
    end = PoseSolver(space, functions).solve([value[0] for value in values], space.q)
    assert end.found
    assert 0 < end.steps < 10
    np.testing.assert_array_equal(space.q, end.q)


def test_an_error_keeps_the_nearest_poses() -> None:
    path = {"tip.r[1]": [0.0, 0.0, 0.0], "tip.r[2]": [1.0, 3.0, 1.5]}
    with pytest.raises(lw.UnreachableError, match=r"1 of 3 targets are not reached.*up to 1 m") as caught:
        lw.inverse_kinematics(arm(2), path, unreachable="raise")
    result = caught.value.result
    assert isinstance(result, lw.InverseKinematics)
    np.testing.assert_array_equal(result.found, [True, False, True])
    assert result.distance[1] == pytest.approx(1.0, abs=1e-9)


def test_rows_are_written(tmp_path: Path) -> None:
    found = lw.inverse_kinematics(arm(2), {"tip.r": [(1.0, 1.0, 0.0), (0.5, 1.0, 0.0)]})
    found.to_csv(tmp_path / "poses.csv")
    lines = (tmp_path / "poses.csv").read_text().splitlines()
    assert lines[0] == "target.tip.r[1],target.tip.r[2],target.tip.r[3],J1.q,J2.q,found,distance"
    assert len(lines) == 3
    assert float(lines[2].split(",")[3]) == found["J1.q"][1]


def test_wrong_requests_are_refused_by_name() -> None:
    mech = five_bar()
    for targets, options, text in (
        ({"tipp.r": (0, 0, 0)}, {}, "did you mean 'tip.r'"),
        ({}, {}, "targets must be values by name"),
        ({"tip.r": (0, np.nan, 0)}, {}, "3 finite numbers"),
        ({"tip.r": (0, 0)}, {}, "3 finite numbers"),
        ({"tip.r": "far"}, {}, "3 finite numbers"),
        ({"A": np.inf}, {}, "one finite number"),
        ({"rod1.Q": (1, 1, 0, 0)}, {}, "unit quaternion .* its length is 1.414"),
        ({"rod1.Q[2]": 0.1}, {}, "quaternion 'rod1.Q' as a whole"),
        ({"A": 1.0, "A.q": 1.2}, {}, "give 'A.q' twice"),
        ({"tip.r": (0, 0, 0), "tip.r[1]": 0.1}, {}, r"give 'tip.r\[1\]' twice"),
        ({"A": [1.0, 2.0], "B": [1.0, 2.0, 3.0]}, {}, r"equally many, not \[2, 3\]"),
        ({"A": []}, {}, "are none"),
        ({"A": 1.0}, {"limits": {"B": (1.0, 0.0)}}, "lower bound below the upper"),
        ({"A": 1.0}, {"limits": {"B": (np.nan, 0.0)}}, "lower bound below the upper"),
        ({"A": 1.0}, {"limits": {"B": 1.0}}, "a lower and an upper bound"),
        ({"A": 1.0}, {"limits": {"Bee": (0, 1)}}, "'Bee'"),
        ({"A": 1.0}, {"limits": {"tip.r": (0, 1)}}, "several values"),
        ({"A": 1.0}, {"prefer": {"B": [1.0, 2.0]}}, "not a path"),
        ({"A": 1.0}, {"starts": -1}, "starts must be"),
        ({"A": 1.0}, {"unreachable": "ignore"}, "unreachable must be"),
        ({"A": 1.0}, {"length": -1.0}, "length must be positive"),
    ):
        with pytest.raises(lw.MechanismError, match=text):
            lw.inverse_kinematics(mech, targets, **options)
    with pytest.raises(TypeError, match="did you mean 'limits'"):
        lw.inverse_kinematics(mech, {"A": 1.0}, limit={})
    stiff = lw.Mechanism("stiff")
    stiff.add_body("block", 1.0, (0, 0, 0), np.eye(3))
    stiff.add_joint("F", lw.Fixed(), "ground", "block", at=(0, 0, 0))
    with pytest.raises(lw.MechanismError, match="cannot move"):
        lw.inverse_kinematics(stiff, {"block.r": (0, 0, 1)})


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (lw.Revolute((0, 0, 1)), {"A.q": -200.0}),
        (lw.Prismatic((1, 0, 0)), {"A.q": 3e5}),
        (lw.Free(), {"part.r": (200.0, -3.0, 50.0)}),
    ],
)
def test_far_targets_are_reached(kind: lw.JointType, target: dict) -> None:
    mech = lw.Mechanism("far")
    mech.add_body("part", 1.0, (0.5, 0, 0), np.eye(3))
    mech.add_joint("A", kind, "ground", "part", parent_frame=lw.Frame())
    found = lw.inverse_kinematics(mech, target)
    assert found.found
    assert found.distance < 1e-9


@pytest.mark.parametrize("ratio", [1e-3, 50.0, 1e4])
def test_targets_behind_a_gear_are_reached_whatever_its_ratio(ratio: float) -> None:
    mech = arm(2)
    mech.add_body("rotor", 0.1, (0, 0, 0), np.eye(3) * 1e-5)
    mech.add_joint("M", lw.Revolute((0, 0, 1)), "link1", "rotor", parent_frame=lw.Frame())
    mech.add_coupling("gear", {"M": 1.0, "J2": -ratio})
    for target in ({"J2": -1.0}, {"M": 2.0 * ratio}, {"J2": -100.0}, {"tip.r": (0.3, -1.2, 0.0)}):
        found = lw.inverse_kinematics(mech, target)
        assert found.found, target
        assert float(found["M.q"]) == pytest.approx(ratio * float(found["J2.q"]), rel=1e-9)
    reached = lw.workspace(mech, of=["tip.r[1]"], by=["J1", "M"], over={"J1": (-1.0, 1.0), "J2": (-2.0, 2.0)}, points=5)
    assert reached.reached.all()
    modes = lw.assembly_modes(mech, {"tip.r[1]": 0.3, "tip.r[2]": -1.2}, starts=40)
    cosines = [np.cos(float(one["J2.q"])) for one in modes]
    np.testing.assert_allclose(cosines, (0.09 + 1.44 - 2.0) / 2.0, atol=1e-12)
    assert len({float(np.sign(np.sin(one["J2.q"]))) for one in modes}) == 2
