"""Sweeps of random mechanisms against simulations in which a prescribed motion drives the swept coordinate."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import linkwork as lw
from linkwork.analysis.continuation import Curve
from support.driven import elements, movable
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.random_mechanisms import FAMILIES, well_posed

ALL = FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES
ONE_DOF = sorted(name for name, (_, dof) in ALL.items() if dof == 1)


def case(family: str, seed: int) -> tuple[lw.Model, str, float] | None:
    """A model in its closed pose, one of its coordinates that move, and its value."""
    scene, rng = well_posed(ALL[family][0], seed), np.random.default_rng(seed)
    joints = movable(scene)
    if not joints:
        return None
    joint = str(rng.choice(joints))
    moving = np.flatnonzero(np.abs(np.atleast_1d(scene.u[joint])) > 0.05)
    _, coordinate = elements(scene.mechanism, joint)[int(rng.choice(moving))]
    mech = copy.deepcopy(scene.mechanism)
    mech.start(q=scene.q)
    model = lw.compile(mech)
    name = coordinate.replace(joint, f"{joint}.q", 1)
    return model, name, float(model.value(name, model.assemble()))


def driven(model: lw.Model, coordinate: str, value: float, result: lw.KinematicResult) -> lw.Result:
    """The same motion by a drive, rows at the same values."""
    mech = copy.deepcopy(model.mechanism)
    times = np.abs(result.values - value)
    mech.prescribe(coordinate.replace(".q", "", 1), lw.Motion((value, float(np.sign(result.values[-1] - value)))))
    try:
        return lw.simulate(mech, float(times[-1]), rtol=1e-10, t_eval=times, progress=False)
    except lw.SolverError as stopped:  # a change point, which the simulation does not always pass
        if not result.special_poses or not isinstance(stopped.result, lw.Result):
            raise
        return stopped.result


def compare(family: str, seed: int) -> None:
    made = case(family, seed)
    if made is None:
        return
    model, coordinate, value = made
    end = value + float(np.random.default_rng(seed + 1).choice([-1.5, 1.5]))
    try:
        result = lw.kinematics(model, coordinate, value, end, rows=7)
    except lw.SolverError as refused:  # slides of axes that become parallel
        if "grow without bound" not in str(refused):
            raise
        result = refused.result
    assert len(result) == 7 or result.ended in ("dead point", "branch point", "refused")
    if len(result) < 2:
        return
    simulated = driven(model, coordinate, value, result)
    sign = np.sign(end - value)
    for name, joint in model.mechanism.joints.items():
        if joint.kind.nu == 0:
            continue
        for letter, of_sign in (("q", 1.0), ("u", sign), ("a", 1.0)):
            if letter == "q" and joint.kind.quaternion is not None:
                continue
            names = [one for one in result if one == f"{name}.{letter}" or one.startswith(f"{name}.{letter}[")]
            assert names
            for one in names:
                first = 0 if letter == "q" else 1  # the drive starts from rest
                expected = of_sign * simulated[one][first : len(result)]
                found = result[one][first : first + len(expected)]
                assert np.abs(found - expected).max() < 2e-7 * (1.0 + np.abs(expected).max()), (family, seed, one)


@pytest.mark.parametrize("family", ONE_DOF)
@pytest.mark.thin(12, kept=2)
def test_a_sweep_is_the_motion_under_a_drive(family: str) -> None:
    compare(family, 0)


def test_a_value_that_a_step_misses_by_rounding_is_its_end() -> None:
    compare("door_2R", 18)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 20, 3))
def test_sweeps_of_hundreds_of_mechanisms_are_the_motions_under_drives(seed: int) -> None:
    for family in ONE_DOF:
        compare(family, seed)


@pytest.mark.parametrize("family", ["spatial_7R", "bennett_4R", "spherical_tree", "gear_in_loop"])
def test_all_rows_are_closed_and_speeds_are_slopes(family: str) -> None:
    made = case(family, 2)
    assert made is not None
    model, coordinate, value = made
    h = 1e-3
    result = lw.kinematics(model, coordinate, value, value + 4 * h, rows=5)
    for state in result.states:
        assert model.loop_residual(state).max(initial=0.0) < 1e-12
    for name, joint in model.mechanism.joints.items():
        if joint.kind.nu == 1:
            q = result[f"{name}.q"]
            slope = (q[0] - 8 * q[1] + 8 * q[3] - q[4]) / (12 * h)
            bend = (-q[0] + 16 * q[1] - 30 * q[2] + 16 * q[3] - q[4]) / (12 * h * h)
            assert slope == pytest.approx(result[f"{name}.u"][2], abs=1e-8)
            assert bend == pytest.approx(result[f"{name}.a"][2], abs=1e-5)


def both_ways(monkeypatch: pytest.MonkeyPatch, *arguments, **options) -> list[lw.KinematicResult]:
    """A sweep with points, steps and rows by the core, and by singular values alone."""
    found = [lw.kinematics(*arguments, **options)]
    with monkeypatch.context() as without:
        without.setattr(Curve, "_in_core", lambda self: None)
        return [*found, lw.kinematics(*arguments, **options)]


def assert_same(found: lw.KinematicResult, expected: lw.KinematicResult) -> None:
    assert (found.ended, len(found)) == (expected.ended, len(expected))
    assert [(one.kind, one.rows) for one in found.special_poses] == [
        (one.kind, one.rows) for one in expected.special_poses
    ]
    for one, other in zip(found.special_poses, expected.special_poses, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-9)
    for name in expected:
        size = 1.0 + np.abs(expected[name]).max(initial=0.0)
        np.testing.assert_allclose(found[name], expected[name], atol=1e-9 * size, err_msg=name)
    for one, other in zip(found.states, expected.states, strict=True):
        np.testing.assert_allclose(one.q.cut, other.q.cut, atol=1e-9)
        np.testing.assert_allclose(one.u, other.u, atol=1e-9 * (1.0 + np.abs(other.u).max(initial=0.0)))


@pytest.mark.parametrize(
    "family", ["planar_4R", "spatial_7R", "bennett_4R", "RTSR_cut_1", "gear_in_loop", "spherical_tree", "screw_cut"]
)
def test_the_core_and_singular_values_make_the_same_sweep(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Loops without redundant rows, with them and overconstrained, of all kinds of joints."""
    made = case(family, 2)
    assert made is not None
    model, coordinate, value = made
    assert_same(*both_ways(monkeypatch, model, coordinate, value, value + 0.5, rows=21))


def test_rows_around_dead_points_and_of_held_coordinates_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    mech = lw.Mechanism("five_bar")
    hinge = lw.Revolute((0, 0, 1))
    for name in ("a", "b", "c", "d"):
        mech.add_body(name, mass=1.0, com=(0.2, 0, 0), inertia=lw.inertia.rod(1.0, 0.4))
    mech.add_joint("A", hinge, "ground", "a", at=(0, 0, 0))
    mech.add_joint("B", hinge, "a", "b", parent_frame=lw.Frame((0.4, 0, 0)))
    mech.add_joint("D", hinge, "ground", "d", parent_frame=lw.Frame((0.5, 0, 0)))
    mech.add_joint("C", hinge, "d", "c", parent_frame=lw.Frame((0.4, 0, 0)))
    mech.add_joint("E", hinge, "b", "c", parent_frame=lw.Frame((0.5, 0, 0)), child_frame=lw.Frame((0.5, 0, 0)))
    mech.add_point("tip", "b", (0.5, 0.1, 0))
    mech.start(q={"A": 2.0, "D": 1.1})
    options = {"hold": "D.q", "rows": 61, "through": True, "columns": "tip.r", "u": -2.0}
    found, expected = both_ways(monkeypatch, lw.compile(mech), "A.q", 2.0, -2.5, **options)
    assert [one.kind for one in found.special_poses] == ["dead point"]
    assert len(found) > 30
    assert_same(found, expected)
