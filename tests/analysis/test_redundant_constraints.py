"""Redundant constraints: their number against ranks, their loads against equilibrium, their names on known linkages."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space

import linkwork as lw
from linkwork.analysis.configuration_space import ConfigurationSpace
from linkwork.analysis.pose_functions import ClosingFrames
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.platforms import five_bar, limb, stewart
from support.random_mechanisms import FAMILIES, well_posed

ALL = {name: make for name, (make, _) in (FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES).items()}


@pytest.mark.thin(6)
@pytest.mark.parametrize("family", sorted(ALL))
def test_numbers_are_those_of_ranks_and_loads_of_single_loops_do_no_work(family: str) -> None:
    model = lw.compile(well_posed(ALL[family], 2).mechanism)
    space = ConfigurationSpace(model)
    found = lw.redundant_constraints(model)
    rows = space.jacobian()
    assert found.dof == space.nu - np.linalg.matrix_rank(rows / space.weights, tol=1e-9)
    assert found.equations == len(rows)
    for one in found:
        if one.kind == "joint" and not one.others:  # its own loop carries the load and nothing moves against it
            frames = ClosingFrames(space, model.mechanism.joints[one.closure])
            np.testing.assert_allclose(one.wrench @ frames.relative_twist(), 0.0, atol=1e-9)


@pytest.mark.parametrize("family", ["universal_cut", "pin_in_slot_cut", "curved_slot_cut"])
def test_constraint_wrenches_of_a_joint_do_no_work_in_motions_that_keep_it_closed(family: str) -> None:
    model = lw.compile(well_posed(ALL[family], 2).mechanism)
    space = ConfigurationSpace(model)
    (loop,) = model.topology.loops
    frames = ClosingFrames(space, list(model.mechanism.joints.values())[loop.joint])
    moving = frames.relative_twist() @ null_space(space.jacobian(), rcond=1e-9)
    assert np.abs(moving).max() > 0.1
    np.testing.assert_allclose(frames.constrained() @ moving, 0.0, atol=1e-9)


def test_a_planar_loop_has_three() -> None:
    found = lw.redundant_constraints(five_bar())
    assert [str(one).split(", in ")[0] for one in found] == [
        "joint 'E': torque about (1, 0, 0)",
        "joint 'E': torque about (0, 0, 1)",
        "joint 'E': force along (0, 1, 0)",
    ]
    assert set(found[0].joints) == set("ABCDE")


def test_directions_turn_with_the_plane_of_the_loop() -> None:
    model = lw.compile(limb())
    found = lw.redundant_constraints(model, model.assemble(q={"hip": 0.5}))
    assert len(found) == 3
    normal = np.array([0.0, np.cos(0.5), np.sin(0.5)])
    forces = [one.wrench[3:] for one in found if np.any(one.wrench[3:])]
    assert len(forces) == 1
    np.testing.assert_allclose(np.cross(forces[0] / np.linalg.norm(forces[0]), normal), 0.0, atol=1e-9)
    assert "hip" not in found[0].joints


def test_a_platform_on_six_limbs_has_none() -> None:
    found = lw.redundant_constraints(stewart())
    assert len(found) == 0
    assert repr(found) == "RedundantConstraints: 6 degrees of freedom = 21 speeds - 15 equations + 0 redundant"


def test_a_third_bar_of_a_parallelogram_depends_on_the_first_loop() -> None:
    mech = lw.Mechanism("three_bars")
    hinge = lw.Revolute((0, 1, 0))
    for name, x in (("left", 0.0), ("middle", 0.4), ("right", 1.0)):
        mech.add_body(name, 1.0, (0, 0, 0.25), lw.inertia.rod(1.0, 0.5, axis="z"), origin=(x, 0, 0))
        mech.add_joint(f"{name}_low", hinge, "ground", name, at=(x, 0, 0))
    mech.add_body("top", 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0), origin=(0, 0, 0.5))
    mech.add_joint("left_high", hinge, "left", "top", at=(0, 0, 0.5))
    mech.add_joint("middle_high", hinge, "middle", "top", at=(0.4, 0, 0.5), cut=True)
    mech.add_joint("right_high", hinge, "right", "top", at=(1, 0, 0.5), cut=True)
    found = lw.redundant_constraints(mech)
    assert (len(found), found.dof, found.equations) == (7, 1, 10)
    alone, shared = ([one for one in found if bool(one.others) is depends] for depends in (False, True))
    assert len(alone) == 6
    # the bars carry loads along themselves alone: three parallel ones of a rigid beam are one too many
    np.testing.assert_allclose(np.abs(shared[0].wrench), [0, 0, 0, 0, 0, np.abs(shared[0].wrench).max()], atol=1e-9)
    assert shared[0].others == ("middle_high",)
    assert set(shared[0].joints) == set(mech.joints)


def test_a_loop_that_is_open_does_not_count() -> None:
    mech = five_bar()
    mech.add_transition("hook", lw.Pin("crank1", "ground", lw.Revolute((0, 1, 0))), when=lw.Command())
    mech.add_transition("cut", lw.Release("hook"), when=lw.Command())
    found = lw.redundant_constraints(mech)
    assert (found.equations, len(found), found.dof) == (5, 3, 2)


def test_a_lock_that_holds_is_an_equation() -> None:
    mech = five_bar()
    mech.add_transition("hold", lw.Lock("A"), when=lw.Command())
    model = lw.compile(mech)
    start = model.assemble()
    counts = [lw.redundant_constraints(model, state) for state in (start, model.jump(start, ["hold"]).state)]
    assert [(one.equations, len(one), one.dof) for one in counts] == [(5, 3, 2), (6, 3, 1)]
