"""Jacobians of constraints, of minimal states and by driving loads, whose columns are found together."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Minimal, Stage, offsets_of
from support.driving import reached
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.random_mechanisms import FAMILIES, well_posed
from support.spanned import SPANNED

LOOPS = {name: make for name, (make, _) in (FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES).items()}
LOOPS |= SPANNED
NAMES = sorted(LOOPS)
# Of which coordinates are not counted as speeds, or nothing moves.
# fmt: off
UNCOUNTED = {
    "CC_on_one_axis", "HSSR", "HSSR_cut_0", "OO", "PUCS", "PUCS_cut_2", "RCCC_on_three_bodies", "RES", "RRCS_flat",
    "RRER_flat", "RRSRR", "RRS_centred", "RSCR", "RSSP", "RSSR", "RSSR_cut_2", "RS_on_one_axis", "RTSR", "RTSR_cut_1",
    "RURS_flat", "RUSR", "RUSR_cut_1", "RUSR_on_free_base", "SSS", "SS_on_one_axis", "cam_on_cut_joint",
    "closed_by_free", "coupled_in_space", "delta_SS", "delta_US", "door_2R", "free base", "free bodies on three",
    "free body on three", "gear and rod", "gear_across_joints", "gear_branches", "gear_of_three", "gear_on_cut_joint",
    "geared branches and rods", "ladder_mixed", "ladder_spherical", "ladder_spherical_deep", "legs_RSS", "legs_mixed",
    "mixed_hard_points", "planar and spherical", "rails_2P", "screw_as_cut_joint", "screw_in_loop",
    "spherical_backward", "spherical_tree", "stewart", "stewart_SPS", "tangled_2", "tangled_4", "three in a tree",
    "tripod_PRS", "two to the ground",
}
# fmt: on


def block_in(name, *method):
    """A random scene, and a block at a state of it."""
    system, state = reached(well_posed(LOOPS[name], 5), *method)
    block = system.block()
    system.enter(block, state)
    return system, state, block


def span(system, name, n=None):
    field = system.fields[name]
    return offsets_of(slice(field.first, field.first + (n or field.span.stop - field.first)))


def close(found, expected, share):
    return np.abs(found - expected).max(initial=0.0) <= share * (1.0 + np.abs(expected).max(initial=0.0))


@pytest.mark.thin(12, kept=2)
@pytest.mark.parametrize("name", NAMES)
def test_rows_of_constraints_are_their_rates_by_single_speeds(name):
    """The rates are affine in the speeds, so that differences are exact."""
    _, _, block = block_in(name)
    matrix, u = block.constraint_jacobian(), block["u"].copy()

    def rates(speeds):
        block.put("u", speeds)
        return block.constraints()[1]

    expected = np.array([rates(row) for row in np.eye(u.size)]).T - rates(0.0 * u)[:, None]
    assert close(matrix, expected, 1e-12)


@pytest.mark.thin(12, kept=2)
@pytest.mark.parametrize("name", sorted(set(NAMES) - UNCOUNTED))
def test_dependent_speeds_are_the_least_squares_of_all_rows(name):
    """By NumPy, for speeds that the pivots of a full matrix leave independent; and the choice does not matter."""
    system, _, block = block_in(name)
    matrix = block.constraint_jacobian()
    _, values, right = np.linalg.svd(matrix)
    dof = right.shape[1] - int(np.sum(values > 1e-9 * values.max(initial=1e-300)))
    nu = system.numbering.nu
    assert dof
    assert system.numbering.nq == nu
    motions = right[nu - dof :]
    left, chosen = motions.copy(), []
    for _ in range(dof):
        chosen.append(int(np.argmax(np.linalg.norm(left, axis=0))))
        along = left[:, chosen[-1]] / np.linalg.norm(left[:, chosen[-1]])
        left -= np.outer(along, along @ left)
    chosen.sort()
    others = [k for k in range(nu) if k not in chosen]
    minimal = Minimal(block, chosen, chosen)
    found = minimal.jacobian(span(system, "qdot"), span(system, "u")[chosen])
    expected = -np.linalg.lstsq(matrix[:, others], matrix[:, chosen], rcond=None)[0]
    size = np.abs(expected).max(initial=0.0)
    assert np.abs(found[others] - expected).max(initial=0.0) <= 1e-9 * (1.0 + size) ** 2
    assert close(found[chosen], np.eye(dof), 1e-9)


@pytest.mark.parametrize("stage", [Stage.CONSTANTS, Stage.OUTPUTS])
@pytest.mark.thin(12, kept=2)
@pytest.mark.parametrize("name", NAMES)
def test_columns_of_loads_are_those_along_single_seeds(name, stage):
    """Of tree and cut joints, of which one is saturated; by complex steps, which know nothing of the reduction."""
    system, _, block = block_in(name, "rcr")
    loads = span(system, "tau")
    block.put("max_load", np.where(np.arange(loads.size) == 1, 0.5, np.inf), valid=0)
    block.put("tau", np.random.default_rng(2).uniform(0.6, 1.0, loads.size))
    block.evaluate(stage)
    rows = np.concatenate(
        [span(system, "udot"), span(system, "qdot"), span(system, "acceleration", system.numbering.nu)]
    )
    found = block.jacobian(rows, loads)
    expected = np.array([block.directional_derivative(rows, loads[k : k + 1], np.ones(1)) for k in range(loads.size)])
    assert np.abs(found - expected.T).max(initial=0.0) <= 1e-10 * np.abs(expected).max(initial=0.0)
    assert not found[:, 1].any()


def test_independent_coordinates_follow_joints_that_open():
    """A second pin in the same place is redundant: without it the same coordinate determines the others."""
    mech = lw.Mechanism("two pins in one place")
    rod, tip = lw.inertia.rod(1.0, 0.5, axis="z"), lw.Frame((0.0, 0.0, 0.5))
    mech.add_body("bar", mass=2.0, inertia=lw.inertia.rod(2.0, 1.0, axis="x"), com=(0.5, 0.0, 0.0))
    for k in range(2):
        base = lw.Frame((float(k), 0.0, 0.0))
        mech.add_body(f"crank{k}", mass=1.0, inertia=rod, com=(0.0, 0.0, 0.25))
        mech.add_joint(f"A{k}", lw.Revolute("y"), "ground", f"crank{k}", parent_frame=base, child_frame=lw.Frame())
        for pin in (f"B{k}", "again")[: k + 1]:
            mech.add_joint(pin, lw.Revolute("y"), f"crank{k}", "bar", parent_frame=tip, child_frame=base, cut=k > 0)
    mech.add_transition("open", lw.Release("again"), when=lw.Command())
    mech.start(q={"A0": 0.4}, u={"A0": 1.0})
    system = lw.compile(mech)
    block = system.block()
    system.enter(block, system.assemble())
    first, second = (list(system.q_names).index(name) for name in ("A0.q", "A1.q"))
    minimal = Minimal(block, [first], [first])
    unknowns, known = span(system, "udot"), span(system, "q")[[first]]
    found = []
    for open_now in (False, True):
        if open_now:
            block.make_transitions([0])
        minimal.put(np.array([0.5, 1.0]))
        assert block["q"][second] == pytest.approx(0.5, abs=1e-14)
        found.append(minimal.jacobian(unknowns, known))
        assert close(found[-1], Minimal(block, [first], [first]).jacobian(unknowns, known), 1e-12)
    assert close(*found, 1e-10)
