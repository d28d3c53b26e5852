"""Sweeps of one coordinate against closed forms: poses, speeds, accelerations, dead points and change points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq

import linkwork as lw
from support.builder import cut_at, scaled
from support.linkages import (
    differences_from,
    dyad_reach,
    four_bar,
    four_bar_form,
    six_bar,
    six_bar_form,
    slider_crank,
    slider_crank_form,
    start_of,
)

CRANK_ROCKER = (0.4, 1.0, 0.8, 0.9)
DOUBLE_ROCKER = (0.9, 0.8, 0.6, 1.5)


def crank_rocker(sign: int = 1, angle: float = 1.0) -> lw.Mechanism:
    return four_bar(*CRANK_ROCKER, start_of(four_bar_form(*CRANK_ROCKER, sign), angle, "ABC"))


def check(result: lw.KinematicResult, form: Callable, joints: str, tolerance: float = 1e-12) -> None:
    assert differences_from(form, result, joints).max() < tolerance


# ---- poses, speeds and accelerations ----


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("ends", [(-1.0, 7.0), (3.0, -9.0)])
def test_a_crank_rocker_has_its_closed_form_on_both_branches(sign: int, ends: tuple[float, float]) -> None:
    result = lw.kinematics(crank_rocker(sign), "A.q", *ends, rows=33)
    assert result.ended == "end of the range"
    assert len(result) == 33
    assert not result.special_poses
    np.testing.assert_allclose(result.values, np.linspace(*ends, 33))
    np.testing.assert_allclose(result["A.q"], result.values, rtol=0, atol=1e-14)
    check(result, four_bar_form(*CRANK_ROCKER, sign), "ABCD")


@pytest.mark.parametrize("offset", [0.0, 0.05, -0.3])
def test_a_slider_crank_has_its_closed_form(offset: float) -> None:
    result = lw.kinematics(slider_crank(0.2, 0.6, offset, {"A": 1.0}), "A.q", -1.0, 7.0, rows=33)
    check(result, slider_crank_form(0.2, 0.6, offset), "ABCS")


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_a_six_bar_has_its_closed_form_in_all_assembly_modes(signs: tuple[int, int]) -> None:
    lengths = (1.4, 1.5)
    form = six_bar_form(*lengths, signs)
    mech = six_bar(*lengths, start_of(form, 1.0, "ABCPQ"))
    fine, coarse = (lw.kinematics(mech, "A.q", 1.0, 7.5, rows=rows) for rows in (41, 3))
    assert fine.ended == coarse.ended == "end of the range"
    check(fine, form, "ABCDPQE")
    check(coarse, form, "ABCDPQE")
    np.testing.assert_allclose(coarse["Q.q"], fine["Q.q"][::20], rtol=0, atol=1e-13)


@pytest.mark.thin(3)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("lengths", [(0.5, 0.6), (0.45, 0.5)])
@pytest.mark.parametrize("direction", [1, -1])
def test_a_six_bar_turns_back_where_its_dyad_is_stretched(
    lengths: tuple[float, float], sign: int, direction: int
) -> None:
    form = six_bar_form(*lengths, (1, sign))
    mech = six_bar(*lengths, start_of(form, 1.0, "ABCPQ"))
    angles = 1.0 + direction * np.linspace(0, 4, 401)
    gap = np.array([dyad_reach(angle) - sum(lengths) for angle in angles])
    k = int(np.argmax(gap > 0))
    dead = brentq(lambda angle: dyad_reach(angle) - sum(lengths), *sorted(angles[k - 1 : k + 1]), xtol=1e-15)
    for rows in (4, 60):
        result = lw.kinematics(mech, "A.q", 1.0, 1.0 + 5 * direction, rows=rows)
        assert result.ended == "dead point"
        assert [pose.kind for pose in result.special_poses] == ["dead point"]
        assert result.special_poses[0].value == pytest.approx(dead, abs=1e-12)
        assert np.abs(result.values - 1.0).max() < abs(dead - 1.0)
        check(result, form, "ABCDPQE", 3e-12)  # accelerations grow as the cube of 1 / conditioning
    for distance in (1e-3, 1e-6, 1e-9):
        near = lw.kinematics(mech, "A.q", 1.0, dead - direction * distance, rows=5)
        assert near.ended == "end of the range"
        ill = near["conditioning"][-1]
        assert ill < 20 * np.sqrt(distance)
        left = differences_from(form, near, "ABCDPQE")[-1]
        assert (left < 1e-14 / np.array([ill, ill**2, ill**2])).all()  # speeds as 1 / conditioning relative to values


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e3, 1e6])
def test_the_size_of_a_mechanism_does_not_matter(size: float) -> None:
    result = lw.kinematics(scaled(crank_rocker(), size), "A.q", 1.0, 7.0, rows=9)
    check(result, four_bar_form(*CRANK_ROCKER, 1), "ABCD")
    lengths = (0.4, 1.0, 0.4, 1.0)
    parallelogram = scaled(four_bar(*lengths, start_of(four_bar_form(*lengths, 1), 1.0, "ABC")), size)
    poses = lw.kinematics(parallelogram, "A.q", 1.0, 7.0, rows=3).special_poses
    np.testing.assert_allclose([pose.value for pose in poses], [np.pi, 2 * np.pi], rtol=0, atol=1e-10)


def test_a_rhombus_stays_a_rhombus() -> None:
    lengths = (1.0, 1.0, 1.0, 1.0)
    mech = four_bar(*lengths, start_of(four_bar_form(*lengths, 1), 1.0, "ABC"))
    result = lw.kinematics(mech, "A.q", 1.0, 7.0, rows=10)
    assert [pose.kind for pose in result.special_poses] == ["branch point"] * 2
    np.testing.assert_allclose(result["B.q"] + result["A.q"], 0.0, atol=1e-12)  # the coupler stays parallel to the base
    np.testing.assert_allclose(result["D.u"], 1.0, atol=1e-11)


# ---- dead points ----


def collinear(crank: float, coupler: float, rocker: float, base: float) -> float:
    """The crank's angle where coupler and rocker are in one line, by the law of cosines."""
    return float(np.arccos((crank**2 + base**2 - (coupler + rocker) ** 2) / (2 * crank * base)))


def test_a_double_rocker_turns_back_at_both_ends() -> None:
    form = four_bar_form(*DOUBLE_ROCKER, 1)
    mech = four_bar(*DOUBLE_ROCKER, start_of(form, 0.5, "ABC"))
    dead = collinear(*DOUBLE_ROCKER)
    up = lw.kinematics(mech, "A.q", 0.5, 3.0, rows=101)
    assert up.ended == "dead point"
    assert up.special_poses[0].value == pytest.approx(dead, abs=1e-13)
    state = up.special_poses[0].state
    assert np.sin(state["C.q"]) == pytest.approx(0.0, abs=1e-10)
    check(up, form, "ABCD")
    down = lw.kinematics(mech, "A.q", 0.5, -3.0, rows=101)  # the pose with the crank mirrored
    assert down.special_poses[0].value == pytest.approx(-dead, abs=1e-13)
    assert down.ended == "dead point"


def test_through_a_dead_point_the_other_branch_is_reached() -> None:
    lengths = (1.0, 0.8, 0.8, 1.2)  # a non-Grashof linkage: the crank swings between two dead points
    mech = four_bar(*lengths, start_of(four_bar_form(*lengths, 1), 1.0, "ABC"))
    result = lw.kinematics(mech, "A.q", 1.0, 3.0, rows=41, through=True)
    assert result.ended == "end of the range"  # back at its beginning
    assert result.special_poses[0].value == pytest.approx(collinear(*lengths), abs=1e-12)
    rows = np.searchsorted(-np.diff(result.values), 0.0)  # the first part rises
    assert result.values[-1] == result.values[0] == 1.0
    for k, value in enumerate(result.values):
        exact = four_bar_form(*lengths, 1 if k <= rows else -1)(value)
        for name in "ABCD":
            gap = result[f"{name}.q"][k] - exact[name].value.real
            assert abs(np.angle(np.exp(1j * gap))) < 1e-12
            assert result[f"{name}.u"][k] == pytest.approx(exact[name].first.real, rel=1e-10)


def test_the_angle_of_a_coupler_turns_back_where_crank_and_base_are_in_line() -> None:
    """It swings there and back while the crank turns once: poses of the mirrored crank have the same angle."""
    mech = crank_rocker(-1)
    value = start_of(four_bar_form(*CRANK_ROCKER, -1), 1.0, "C")["C"]
    least = np.arccos((1.0 + 0.8**2 - 0.5**2) / (2 * 0.8)) - np.pi  # crank and base in line, folded
    result = lw.kinematics(mech, "C.q", value, np.sign(value) * np.pi, rows=9, through=True)
    assert [pose.kind for pose in result.special_poses] == ["dead point"]
    assert abs(np.cos(result.special_poses[0].value)) == pytest.approx(abs(np.cos(least)), abs=1e-12)
    assert result["A.q"][-1] != pytest.approx(1.0, abs=0.1)
    assert np.cos(result["A.q"][-1]) == pytest.approx(np.cos(1.0), abs=1e-12)  # the mirrored crank


def test_a_rocker_as_the_input_turns_back_where_crank_and_coupler_are_in_line() -> None:
    a, b, c, d = CRANK_ROCKER
    found = [lw.kinematics(crank_rocker(-1), "D.q", 1.5, end).special_poses[0].value for end in (0.0, 3.0)]
    expected = [np.arccos((c**2 + d**2 - (b + sign * a) ** 2) / (2 * c * d)) for sign in (-1, 1)]
    assert np.abs(np.cos(found)) == pytest.approx(np.abs(np.cos(expected)), abs=1e-12)
    assert found[0] < 1.5 < found[1]


def test_the_conditioning_reaches_zero_at_a_dead_point() -> None:
    lengths = DOUBLE_ROCKER
    mech = four_bar(*lengths, start_of(four_bar_form(*lengths, 1), 0.5, "ABC"))
    dead = collinear(*lengths)
    near = [lw.kinematics(mech, "A.q", 0.5, dead - gap, rows=2)["conditioning"][-1] for gap in (1e-2, 1e-4, 1e-6)]
    assert near[0] / near[1] == pytest.approx(10, rel=0.2)  # as the root of the distance
    assert near[1] / near[2] == pytest.approx(10, rel=0.02)


# ---- change points ----


@pytest.mark.parametrize("sign", [1, -1])
def test_a_parallelogram_passes_its_change_points_on_the_smooth_branch(sign: int) -> None:
    lengths = (0.4, 1.0, 0.4, 1.0)
    form = four_bar_form(*lengths, sign)
    mech = four_bar(*lengths, start_of(form, 1.0, "ABC"))
    result = lw.kinematics(mech, "A.q", 1.0, 7.0, rows=21)
    assert result.ended == "end of the range"
    assert [pose.kind for pose in result.special_poses] == ["branch point"] * 2
    np.testing.assert_allclose([pose.value for pose in result.special_poses], [np.pi, 2 * np.pi], rtol=0, atol=1e-10)
    signs = [sign if np.sin(angle) > 0 else -sign for angle in result.values]  # the dyad changes over, smoothly
    joints = "ABCD"
    for k, (angle, one) in enumerate(zip(result.values, signs, strict=True)):
        exact = four_bar_form(*lengths, one)(angle)
        for name in joints:
            gap = result[f"{name}.q"][k] - exact[name].value.real
            assert abs(np.angle(np.exp(1j * gap))) < 1e-12
            near = abs(np.sin(angle))  # to the change point: each derivative loses digits as its power
            assert result[f"{name}.u"][k] == pytest.approx(exact[name].first.real, abs=5e-14 / near**2)
            assert result[f"{name}.a"][k] == pytest.approx(exact[name].second.real, abs=5e-14 / near**3)


@pytest.mark.thin(2, kept=2)
@pytest.mark.parametrize("gap", [1e-1, 1e-4, 1e-7, 1e-10, 1e-13])
@pytest.mark.parametrize("sign", [1, -1])
def test_branches_that_nearly_cross_are_not_confused(gap: float, sign: int) -> None:
    """Nearly a parallelogram: its branches pass at about the root of the gap, and the right one makes a sharp bend."""
    lengths = (0.4, 1.0, 0.4 + gap, 1.0)
    form = four_bar_form(*lengths, sign)
    mech = four_bar(*lengths, start_of(form, 1.0, "ABC"))
    for rows in (3, 16):
        result = lw.kinematics(mech, "A.q", 1.0, 6.0, rows=rows)
        assert not result.special_poses
        left = differences_from(form, result, "ABCD").max(axis=0)
        assert (left < [1e-12, 1e-11, 1e-9]).all()


def test_a_row_on_a_change_point_has_the_speeds_of_the_branch() -> None:
    mech = four_bar(0.4, 1.0, 0.4, 1.0, start_of(four_bar_form(0.4, 1.0, 0.4, 1.0, 1), 1.0, "ABC"))
    result = lw.kinematics(mech, "A.q", np.pi / 2, 3 * np.pi / 2, rows=3)
    assert result["D.u"][1] == pytest.approx(1.0, abs=1e-9)
    assert result["conditioning"][1] < 1e-9
    assert np.isnan(result["D.a"][1])


def parallelograms(count: int) -> lw.Mechanism:
    """A row of parallelograms that share cranks: all of them flatten in one pose."""
    mech, hinge = lw.Mechanism("parallelograms"), lw.Revolute((0, 0, 1))
    for k in range(count + 1):
        mech.add_body(f"crank{k}", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        mech.add_joint(f"A{k}", hinge, "ground", f"crank{k}", parent_frame=lw.Frame((2.0 * k, 0, 0)))
    for k in range(count):
        mech.add_body(f"rod{k}", mass=1.0, com=(1.0, 0, 0), inertia=lw.inertia.rod(1.0, 2.0))
        mech.add_joint(f"B{k}", hinge, f"crank{k}", f"rod{k}", parent_frame=lw.Frame((1.0, 0, 0)))
        ends = {"parent_frame": lw.Frame((2.0, 0, 0)), "child_frame": lw.Frame((1.0, 0, 0))}
        mech.add_joint(f"C{k}", hinge, f"rod{k}", f"crank{k + 1}", cut=True, **ends)
    mech.start(q={f"A{k}": 0.7 for k in range(count + 1)} | {f"B{k}": -0.7 for k in range(count)})
    return mech


@pytest.mark.parametrize("count", [2, 3])
def test_a_sweep_ends_where_many_branches_cross(count: int) -> None:
    result = lw.kinematics(parallelograms(count), "A0.q", 0.7, -1.0, rows=9)
    assert result.ended == "branch point"
    assert result.special_poses[0].value == pytest.approx(0.0, abs=1e-10)
    assert np.abs(result.special_poses[0].state.q).max() < 1e-10
    np.testing.assert_allclose(result["A1.u"], 1.0, atol=1e-12)
    assert (result.values > 0).all()


def geared(mech: lw.Mechanism, joint: str, ratio: float) -> lw.Mechanism:
    """The same with a rotor "M" on the ground that turns `ratio` times as fast as a joint."""
    mech.add_body("rotor", mass=0.1, com=(0, 0, 0), inertia=np.eye(3) * 1e-5)
    ends = ("rotor", "ground") if ratio < 0.0 else ("ground", "rotor")  # in the other direction
    mech.add_joint(
        "M", lw.Revolute((0, 0, 1)), *ends, **{f"{'child' if ratio < 0.0 else 'parent'}_frame": lw.Frame((0, 0, 1))}
    )
    mech.add_coupling("gear", {"M": 1.0, joint: -ratio})
    return mech


@pytest.mark.parametrize("ratio", [1e-3, 1.0, 1e3, -1e3])
@pytest.mark.parametrize("swept", ["A.q", "M.q"])
def test_the_ratio_of_a_gear_does_not_matter(ratio: float, swept: str) -> None:
    lengths = (0.4, 1.0, 0.4, 1.0)
    mech = geared(four_bar(*lengths, start_of(four_bar_form(*lengths, 1), 1.0, "ABC")), "A", ratio)
    scale = ratio if swept == "M.q" else 1.0
    result = lw.kinematics(mech, swept, 1.0 * scale, 20.0 * scale, rows=5)
    assert result.ended == "end of the range"
    marks = np.array([pose.value for pose in result.special_poses]) / scale
    np.testing.assert_allclose(marks, np.pi * np.arange(1, 7), rtol=1e-10)
    np.testing.assert_allclose(result["M.q"], ratio * result["A.q"], rtol=1e-12)


def test_rotors_have_no_influence_on_the_length_of_steps() -> None:
    plain = lw.kinematics(crank_rocker(), "A.q", 1.0, 7.0, rows=20)
    driven = lw.kinematics(geared(crank_rocker(), "A", 1e4), "A.q", 1.0, 7.0, rows=20, max_steps=200)
    np.testing.assert_allclose(driven["D.q"], plain["D.q"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", [lw.Revolute((0, 0, 1)), lw.Prismatic((1, 0, 0))])
def test_a_long_sweep_of_what_does_not_bend_takes_few_steps(kind: lw.JointType) -> None:
    mech = lw.Mechanism("long")
    mech.add_body("part", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", kind, "ground", "part", parent_frame=lw.Frame())
    mech.add_point("tip", "part", (1, 0, 0))
    result = lw.kinematics(mech, "A.q", 0.0, 1e5, rows=12, columns=["tip.r[1]"], max_steps=100)
    expected = np.cos(result.values) if isinstance(kind, lw.Revolute) else 1.0 + result.values
    np.testing.assert_allclose(result["tip.r[1]"], expected, rtol=1e-10, atol=1e-10)


# ---- other swept coordinates ----


def test_a_sweep_of_a_joint_that_closes_a_loop_begins_at_its_own_revolution() -> None:
    model = lw.compile(cut_at(crank_rocker(), "A"))
    beyond = lw.kinematics(model, "A.q", 1.0, 8.0, rows=3).states[-1]
    assert float(model.value("A.q", beyond)) == pytest.approx(8.0)
    result = lw.kinematics(model, "A.q", 8.0, 9.0, rows=3, state=beyond)
    check(result, four_bar_form(*CRANK_ROCKER, 1), "ABCD")
    assert result["D.q"][0] == pytest.approx(float(model.value("D.q", beyond)))


def test_a_joint_that_closes_a_loop_counts_revolutions() -> None:
    cut = cut_at(crank_rocker(), "A")
    result = lw.kinematics(cut, "A.q", 1.0, 14.0, rows=27)
    assert "A" in lw.compile(cut).loop_names
    np.testing.assert_allclose(result["A.q"], np.linspace(1.0, 14.0, 27), rtol=0, atol=1e-13)
    check(result, four_bar_form(*CRANK_ROCKER, 1), "ABCD")


def test_a_measure_an_actuator_and_a_point_can_be_swept() -> None:
    mech = slider_crank(0.2, 0.6, 0.0, {"A": 1.0})
    mech.add_point("pin", "crank", (0.2, 0, 0))
    mech.add_point("wall", "ground", (1.0, 0, 0))
    mech.add_measure("gap", "distance", ("wall", "pin"))
    mech.add_force(lw.Actuator("motor", {"S": 2.0}))
    angles = np.linspace(1.0, 2.0, 5)
    length = np.sqrt((1.0 - 0.2 * np.cos(angles)) ** 2 + (0.2 * np.sin(angles)) ** 2)
    by_gap = lw.kinematics(mech, "gap.length", length[0], length[-1], rows=9)
    expected = np.arccos((1.04 - by_gap.values**2) / 0.4)
    np.testing.assert_allclose(by_gap["A.q"], expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(by_gap["A.u"], by_gap.values / 0.2 / np.sin(expected), rtol=1e-12)
    form = slider_crank_form(0.2, 0.6, 0.0)
    by_motor = lw.kinematics(mech, "motor.length", 2 * form(1.0)["S"].value.real, 2 * form(2.0)["S"].value.real, rows=9)
    check(ByCrank(by_motor), form, "ABCS", 1e-11)
    by_height = lw.kinematics(mech, "pin.r[2]", 0.2 * np.sin(1.0), 0.199, rows=9)
    np.testing.assert_allclose(by_height["A.q"], np.arcsin(by_height.values / 0.2), rtol=0, atol=1e-12)


def test_a_measure_has_no_rates_where_its_points_coincide_or_its_directions_are_parallel() -> None:
    mech = lw.Mechanism("pendulum")
    mech.add_body("arm", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "arm", parent_frame=lw.Frame())
    for name, body in (("tip", "arm"), ("mark", "ground")):
        mech.add_point(name, body, (1, 0, 0), axis=(1, 0, 0))
    mech.add_measure("gap", "distance", ("tip", "mark"))
    mech.add_measure("opening", "angle", ("tip", "mark"))
    result = lw.kinematics(mech, "A.q", -1.0, 1.0, rows=3, columns=["gap.length", "opening.angle"])
    rates = np.array([result["der(gap.length)"], result["der(opening.angle)"]])
    np.testing.assert_allclose(rates, [[-np.cos(0.5), np.nan, np.cos(0.5)], [-1.0, np.nan, 1.0]], rtol=1e-12)
    assert np.isnan(result["der(gap.length,2)"][1])
    for name, value in (("gap.length", 2 * np.sin(0.25)), ("opening.angle", 0.5)):
        found = lw.inverse_kinematics(mech, {name: value})
        assert abs(float(found["A.q"])) == pytest.approx(0.5, abs=1e-9)
        with pytest.raises(lw.MechanismError, match=f"'{name}' has no derivative in this pose"):
            lw.motor_jacobian(mech, of=[name], by=["A"])
        with pytest.raises(lw.MechanismError, match="dead point"):
            lw.kinematics(mech, name, 0.0, 0.5, rows=3)


class ByCrank:
    """A result with speeds and accelerations by the crank's angle instead of the swept coordinate."""

    def __init__(self, result: lw.KinematicResult) -> None:
        self.result = result
        self.rate, self.second = result["A.u"], result["A.a"]

    def __len__(self) -> int:
        return len(self.result)

    def __getitem__(self, name: str) -> np.ndarray:
        joint, letter = name.split(".")
        if letter == "q":
            return self.result[name]
        slope = self.result[f"{joint}.u"] / self.rate
        return slope if letter == "u" else (self.result[f"{joint}.a"] - slope * self.second) / self.rate**2


def test_held_coordinates_leave_one_degree_of_freedom() -> None:
    """A five-bar with the second crank held is a four-bar."""
    mech, hinge = lw.Mechanism("five_bar"), lw.Revolute((0, 0, 1))
    for name, length in (("left", 0.4), ("rod1", 0.9), ("rod2", 0.8), ("right", 0.5)):
        mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length))
    mech.add_joint("A", hinge, "ground", "left", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "left", "rod1", parent_frame=lw.Frame((0.4, 0, 0)))
    mech.add_joint("C", hinge, "rod1", "rod2", parent_frame=lw.Frame((0.9, 0, 0)))
    mech.add_joint("E", hinge, "ground", "right", parent_frame=lw.Frame((1.0, 0, 0)))
    mech.add_joint("D", hinge, "right", "rod2", parent_frame=lw.Frame((0.5, 0, 0)), child_frame=lw.Frame((0.8, 0, 0)))
    mech.start(q={"A": 1.5, "E": 1.2})
    with pytest.raises(lw.MechanismError, match=r"2 degrees of freedom remain.*hold 1 more.*hold=\["):
        lw.kinematics(mech, "A.q", 1.5, 2.0)
    result = lw.kinematics(mech, "A.q", 1.5, 2.2, rows=15, hold="E.q")
    np.testing.assert_allclose(result["E.q"], result["E.q"][0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(result["E.u"], 0.0, atol=1e-13)
    e = result["E.q"][0]
    foot = 1.0 + 0.5 * np.exp(1j * e)
    for k, angle in enumerate(result.values):
        tip = 0.4 * np.exp(1j * angle)
        corner = tip + 0.9 * np.exp(1j * (angle + result["B.q"][k]))
        assert abs(corner - foot) == pytest.approx(0.8, abs=1e-13)
    h = 1e-4
    near = lw.kinematics(mech, "A.q", 1.85 - h, 1.85 + h, rows=3, hold=["E.q"])
    q = near["C.q"]
    assert (q[2] - q[0]) / (2 * h) == pytest.approx(near["C.u"][1], abs=1e-7)
    assert (q[2] - 2 * q[1] + q[0]) / h**2 == pytest.approx(near["C.a"][1], abs=1e-6)


def test_speeds_scale_with_that_of_the_swept_coordinate() -> None:
    one = lw.kinematics(crank_rocker(), "A.q", 0.5, 1.0, rows=3)
    fast = lw.kinematics(crank_rocker(), "A.q", 0.5, 1.0, rows=3, u=-3.0)
    np.testing.assert_allclose(fast["D.u"], -3 * one["D.u"], rtol=1e-13)
    np.testing.assert_allclose(fast["D.a"], 9 * one["D.a"], rtol=1e-12)
    np.testing.assert_allclose(fast.transmission_ratio("D"), one.transmission_ratio("D.q"), rtol=1e-13)


def test_prescribed_motions_rest_while_another_coordinate_is_swept() -> None:
    """A crank-rocker on a driven slide: its motion along the slide does not count."""
    mech = lw.Mechanism("on_a_slide")
    mech.add_body("base", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("X", lw.Prismatic((1, 0, 0)), "ground", "base", parent_frame=lw.Frame())
    plain = crank_rocker()
    for body in plain.bodies.values():
        mech.add_body(body.name, mass=body.mass, com=body.com, inertia=body.inertia)
    for joint in plain.joints.values():
        ends = [("base" if end == "ground" else end) for end in (joint.parent, joint.child)]
        frames = {"parent_frame": joint.parent_frame, "child_frame": joint.child_frame}
        mech.add_joint(joint.name, joint.kind, *ends, **frames)
    mech.prescribe("X", lw.Motion((0.3, 2.0, 5.0)))
    mech.start(q=start_of(four_bar_form(*CRANK_ROCKER, 1), 1.0, "ABC"))
    result = lw.kinematics(mech, "A.q", 1.0, 3.0, rows=5)
    np.testing.assert_allclose(result["X.q"], 0.3, atol=1e-13)
    np.testing.assert_allclose(result["X.u"], 0.0, atol=1e-12)
    check(result, four_bar_form(*CRANK_ROCKER, 1), "ABCD", 1e-11)
    with pytest.raises(lw.MechanismError, match=r"'X.q' does not move"):
        lw.kinematics(mech, "X.q", 0.3, 1.0)


# ---- limits ----


def test_a_stop_ends_the_sweep() -> None:
    mech = crank_rocker()
    mech.add_transition("bumper", lw.Stop("D", upper=0.0, lower=-1.9))
    result = lw.kinematics(mech, "A.q", 1.0, 8.0, rows=30)
    form = four_bar_form(*CRANK_ROCKER, 1)
    d = result.special_poses[0].state["D.q"]
    assert result.ended == "limit"
    assert result.special_poses[0].name == "bumper"
    assert d == pytest.approx(-1.9, abs=1e-12)
    assert form(result.special_poses[0].value)["D"].value.real == pytest.approx(-1.9, abs=1e-12)
    assert (result["D.q"] >= -1.9).all()
    least = -np.arccos((0.8**2 + 0.9**2 - 1.4**2) / (2 * 0.8 * 0.9))
    for gap, ended in ((1e-6, "limit"), (-1e-6, "end of the range")):  # beyond its bound at the end of the swing alone
        touched = crank_rocker()
        touched.add_transition("bumper", lw.Stop("D", lower=least + gap))
        assert lw.kinematics(touched, "A.q", 1.0, 8.0, rows=2).ended == ended


@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_a_start_at_which_a_joint_that_closes_a_loop_is_beyond_its_stop_is_refused(bound: str) -> None:
    joint = "D"
    model = lw.compile(crank_rocker())
    value = float(model.value(f"{joint}.q", model.assemble()))
    mech = crank_rocker()
    mech.add_transition("bumper", lw.Stop(joint, **{bound: value + (0.1 if bound == "lower" else -0.1)}))
    for end in (0.0, 2.0):
        with pytest.raises(lw.AssemblyError, match=f"violates 'bumper': {joint}.q is "):
            lw.kinematics(mech, "A.q", 1.0, end, rows=3)


# ---- transmission ----


def test_transmission_of_a_crank_rocker_by_the_textbook() -> None:
    """Transmission angle by the law of cosines; load ratio c sin(mu) over a sin(nu), nu between crank and coupler."""
    a, b, c, d = CRANK_ROCKER
    result = lw.kinematics(crank_rocker(), "A.q", 0.2, 6.0, rows=30)
    diagonal = a**2 + d**2 - 2 * a * d * np.cos(result.values)
    mu = np.arccos((b**2 + c**2 - diagonal) / (2 * b * c))
    expected = np.minimum(mu, np.pi - mu)
    np.testing.assert_allclose(result.transmission_angle("B", "C", "D"), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.abs(np.sin(result["C.q"])), np.sin(mu), rtol=0, atol=1e-12)
    ratio = np.abs(c * np.sin(mu) / (a * np.sin(result["B.q"])))
    np.testing.assert_allclose(np.abs(result.mechanical_advantage("D")), ratio, rtol=1e-10)


def test_the_mechanical_advantage_balances_loads() -> None:
    """Input and output load at this ratio leave the weightless mechanism at rest."""
    mech = cut_at(slider_crank(0.2, 0.6, 0.05, {"A": 1.0}), "C")
    mech.gravity = np.zeros(3)
    result = lw.kinematics(mech, "A.q", 0.3, 2.5, rows=7)
    model = result.model
    for state, advantage in zip(result.states, result.mechanical_advantage("S"), strict=True):
        still = model.state(state.q, np.zeros(len(state.u)))
        assert np.abs(model.accelerations(still, tau={"A": 2.0})).max() > 1.0
        assert np.abs(model.accelerations(still, tau={"A": 2.0, "S": -2.0 * advantage})).max() < 1e-9


def test_the_transmission_angle_of_a_slider_crank_is_that_of_its_rod_with_the_normal() -> None:
    result = lw.kinematics(slider_crank(0.2, 0.6, 0.0, {"A": 1.0}), "A.q", 0.0, 3.0, rows=7)
    expected = np.pi / 2 - np.abs(np.arcsin(0.2 * np.sin(result.values) / 0.6))
    np.testing.assert_allclose(result.transmission_angle("B", "C", "S"), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("joints", "text"),
    [
        (("A", "C", "D"), "no body has both joints 'A' and 'C'"),
        (("B", "D", "A"), "no body has both joints 'B' and 'D'"),
        (("A", "B", "D"), "output 'D' does not carry a link with joint 'B'"),
        (("B", "C", "B"), "output 'B' does not carry a link with joint 'C'"),
    ],
)
def test_a_coupler_reaches_from_joint_to_joint_and_drives_the_output(joints: tuple[str, str, str], text: str) -> None:
    result = lw.kinematics(crank_rocker(), "A.q", 0.2, 1.0, rows=2)
    with pytest.raises(lw.MechanismError, match=text):
        result.transmission_angle(*joints)


# ---- results ----


def test_functions_of_the_pose_are_recorded_with_their_rates(tmp_path) -> None:
    mech = slider_crank(0.2, 0.6, 0.0, {"A": 1.0})
    mech.add_point("pin", "crank", (0.2, 0.1, 0))
    result = lw.kinematics(mech, "A.q", 0.0, 3.0, rows=7, columns="pin.r", u=2.0)
    pin = (0.2 + 0.1j) * np.exp(1j * result.values)
    for k, part in enumerate((np.real, np.imag), start=1):
        np.testing.assert_allclose(result[f"pin.r[{k}]"], part(pin), atol=1e-14)
        np.testing.assert_allclose(result[f"der(pin.r[{k}])"], part(2j * pin), atol=1e-14)
        np.testing.assert_allclose(result[f"der(pin.r[{k}],2)"], part(-4 * pin), atol=1e-13)
    assert result.units["der(pin.r[1],2)"] == "m/s2"
    result.to_csv(tmp_path / "out.csv")
    table = result.to_dataframe()
    read = pd.read_csv(tmp_path / "out.csv")
    assert next(iter(read)) == "A.q"
    np.testing.assert_array_equal(read["der(pin.r[1],2)"], result["der(pin.r[1],2)"])
    np.testing.assert_array_equal(table["S.u"], result["S.u"])
    assert table.index.name == "A.q"
    figure = result.plot(["*.q", "S.u"], tmp_path / "out.png")
    assert "A.q [rad]" in figure.axes[-1].get_xlabel()
    assert (tmp_path / "out.png").stat().st_size > 1000
    assert list(result) == result.names
    assert "S.q" in result
    with pytest.raises(lw.UnknownNameError, match=r"did you mean 'S.q'"):
        result["S.qq"]


def test_special_poses_are_marked_in_plots_and_listed() -> None:
    mech = four_bar(0.4, 1.0, 0.4, 1.0, start_of(four_bar_form(0.4, 1.0, 0.4, 1.0, 1), 1.0, "ABC"))
    result = lw.kinematics(mech, "A.q", 1.0, 4.0, rows=9)
    assert "branch point at A.q = 3.14159265" in repr(result)
    figure = result.plot()
    assert [text.get_text() for text in figure.axes[0].texts] == ["branch point"]


def test_a_plotted_curve_reaches_its_dead_point() -> None:
    result = lw.kinematics(crank_rocker(), "D.q", -1.5, 4.0, rows=9, through=True)
    dead = result.special_poses[0]
    x, y = result.plot("A.q").axes[0].lines[0].get_data()
    assert (dead.value, dead.state["A.q"]) == (x[dead.rows], y[dead.rows])


# ---- bad input ----


def refused(match: str, *arguments: object, error: type[Exception] = lw.MechanismError, **options: object) -> None:
    mech = options.pop("mech", None) or crank_rocker()
    with pytest.raises(error, match=match):
        lw.kinematics(mech, *arguments, **options)


def test_bad_input_is_refused_with_the_remedy() -> None:
    refused("did you mean 'A.q'", "A.qq", 0, 1)
    refused("no length", "A.q", 1, 1)
    refused("q_end must be finite", "A.q", 1, float("nan"))
    refused("q_start must be one number", "A.q", "x", 1)
    refused("rows", "A.q", 0, 1, rows=1)
    refused("rows", "A.q", 0, 1, rows=2.5)
    refused("u, the speed", "A.q", 0, 1, u=0)
    refused("max_steps", "A.q", 0, 1, max_steps=0)
    refused("sweep one of them, such as 'crank.r\\[1\\]'", "crank.r", 0, 1)
    refused("is swept and cannot be held", "A.q", 0, 1, hold=["A"])
    refused("no degree of freedom; hold leaves it none", "A.q", 0, 1, hold=["D.q"])
    refused("did you mean 'B.q'", "A.q", 0, 1, hold=["B.qq"])
    refused("hold must be a name or names", "A.q", 0, 1, hold=3)
    refused("is an orientation", "A.q", 0, 1, columns="coupler.Q")
    refused("is an orientation", "coupler.Q[2]", 0, 1)
    refused("is an orientation", "A.q", 0, 1, hold="coupler.Q[1]")
    ball = lw.Mechanism("ball")
    ball.add_body("b", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    ball.add_joint("F", lw.Free(), "ground", "b", at=(0, 0, 0))
    refused("6 degrees of freedom remain.*points and orientations of bodies", "b.r[1]", 0, 1, mech=ball)
    held = lw.kinematics(ball, "b.r[1]", 0, 1, rows=3, hold=["b.r[2]", "b.r[3]", "b.Q"])
    np.testing.assert_allclose(held["F.q[1]"], [0, 0.5, 1], atol=1e-15)
    np.testing.assert_allclose(held["F.u[4]"], 1.0, atol=1e-14)
    refused("did you mean 'rows'", "A.q", 0, 1, rowz=3, error=TypeError)


def test_coordinates_that_do_not_move_are_named_with_the_cause() -> None:
    mech = crank_rocker()
    mech.add_body("lid", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("L", lw.Revolute((0, 0, 1)), "ground", "lid", parent_frame=lw.Frame((3, 0, 0)))
    mech.prescribe("L", lw.Motion((0.2,)))
    refused(r"'L.q' does not move: the motion .* prescribes it", "L.q", 0, 1, mech=mech)
    refused(r"'rocker.r\[3\]' does not move", "rocker.r[3]", 0, 1)
    truss = lw.Mechanism("truss")
    for name in ("a", "b"):
        truss.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    hinge = lw.Revolute((0, 0, 1))
    truss.add_joint("A", hinge, "ground", "a", parent_frame=lw.Frame())
    truss.add_joint("B", hinge, "a", "b", parent_frame=lw.Frame((1, 0, 0)))
    ends = {"parent_frame": lw.Frame((1, 0, 0)), "child_frame": lw.Frame((1, 0, 0))}
    truss.add_joint("C", hinge, "ground", "b", **ends)
    truss.start(q={"A": 1.0, "B": -2.0})
    refused("its constraints leave it none", "A.q", 0, 1, mech=truss)


def test_an_open_or_singular_start_and_one_at_a_dead_point_are_refused() -> None:
    model = lw.compile(crank_rocker())
    open_state = model.state(model.assemble().q + np.array([0.0, 0.0, 1e-3]), np.zeros(3))
    refused("open by .* m: close it first", "A.q", 0, 1, mech=model, state=open_state, error=lw.AssemblyError)
    flat = lw.compile(four_bar(0.4, 1.0, 0.4, 1.0, {}))
    refused("singular pose", "A.q", 0, 1, mech=flat, state=flat.state([np.pi, -np.pi, 0.0], np.zeros(3)))
    lengths = (1.0, 0.8, 0.8, 1.2)
    mech = four_bar(*lengths, start_of(four_bar_form(*lengths, 1), 1.0, "ABC"))
    dead = lw.kinematics(mech, "A.q", 1.0, 3.0).special_poses[0].state
    refused("dead point of 'A.q', where it turns back", "A.q", 0, 1, mech=dead.model, state=dead)


def test_a_range_out_of_reach_is_an_error_with_the_dead_point() -> None:
    mech = four_bar(*DOUBLE_ROCKER, start_of(four_bar_form(*DOUBLE_ROCKER, 1), 0.5, "ABC"))
    with pytest.raises(
        lw.SolverError, match=r"does not reach 3 from the start at 0.5: dead point at A.q = 1.15"
    ) as found:
        lw.kinematics(mech, "A.q", 3.0, 4.0)
    assert isinstance(found.value.result, lw.KinematicResult)
    assert found.value.result.special_poses[0].kind == "dead point"


def test_a_sweep_that_is_cut_short_keeps_its_rows() -> None:
    with pytest.raises(lw.SolverError, match="max_steps is reached") as found:
        lw.kinematics(crank_rocker(), "A.q", 1.0, 7.0, rows=100, max_steps=5)
    assert 1 < len(found.value.result) < 100
    check(found.value.result, four_bar_form(*CRANK_ROCKER, 1), "ABCD")


def test_a_mechanism_that_grows_without_bound_is_named() -> None:
    """A rod of which the slides become parallel: a slotted link 'crank' whose pin runs off to infinity."""
    mech = lw.Mechanism("slotted")
    mech.add_body("arm", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_body("pin", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "arm", parent_frame=lw.Frame((0, -1, 0)))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "arm", "pin", parent_frame=lw.Frame())
    wall = lw.PinInSlot((0, 0, 1), (1, 0, 0))
    mech.add_joint("P", wall, "ground", "pin", parent_frame=lw.Frame())
    mech.start(q={"A": 1.0, "S": 1.2})
    with pytest.raises(lw.SolverError, match="displacements grow without bound") as found:
        lw.kinematics(mech, "A.q", 1.0, -1.0, rows=101)
    result = found.value.result
    np.testing.assert_allclose(result["S.q"], 1 / np.sin(result.values), rtol=1e-11)
    assert (result.values > 0).all()
