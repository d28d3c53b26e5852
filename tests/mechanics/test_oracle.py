"""The reference of the other tests, in closed forms: a check is worth no more than what it checks against.

Its families are in test_oracle_joints.py.
"""

import numpy as np
import pytest

import linkwork as lw
from support.cases import five_bar_with_three_legs, four_bar
from support.oracle import Oracle
from support.placement import body_poses


def test_pendulum_in_closed_form():
    mech = lw.Mechanism("pendulum", gravity=(0, -9.81, 0))
    mech.add_body("rod", mass=2.0, com=(0.3, 0, 0), inertia=np.diag([0.01, 0.02, 0.02]))
    mech.add_joint("A", lw.Revolute(axis=(0, 0, 1)), "ground", "rod", parent_frame=lw.Frame(), child_frame=lw.Frame())
    oracle = Oracle(mech, body_poses(mech, {"A": 0.4}, ["A"]))
    solution = oracle.solve({"A": 3.0}, {"A": 0.7})
    expected = (0.7 - 2.0 * 9.81 * 0.3 * np.cos(0.4)) / (0.02 + 2.0 * 0.09)
    assert solution.udot["A"] == pytest.approx(expected, rel=1e-13)
    along, across = np.array([np.cos(0.4), np.sin(0.4), 0]), np.array([-np.sin(0.4), np.cos(0.4), 0])
    force = 2.0 * (expected * 0.3 * across - 9.0 * 0.3 * along) + [0, 2.0 * 9.81, 0]
    assert solution.reaction["A"] == pytest.approx(np.r_[0, 0, 0, force], abs=1e-12)
    assert oracle.energy({"A": 3.0}) == pytest.approx((0.2 * 9 / 2, 2 * 9.81 * 0.3 * np.sin(0.4)), rel=1e-13)


@pytest.mark.parametrize("cut", ["D", "C"])
def test_four_bar_of_record(cut):
    """Values that constraint embedding, multipliers and a loop recursion agreed on."""
    case = four_bar(cut)
    tree = [name for name in "ABCD" if name != cut]
    oracle = Oracle(case.mechanism, body_poses(case.mechanism, case.q, tree))
    assert oracle.gap() < 1e-15
    found = oracle.solve({"A": case.u["A"]}).udot
    assert [found[name] for name in tree] == pytest.approx([case.udot[name] for name in tree], rel=1e-13)
    assert oracle.energy({"A": case.u["A"]}) == pytest.approx((0.780399589499966, 18.327225750202), rel=1e-13)


def test_coupled_loops_of_record():
    case = five_bar_with_three_legs()
    oracle = Oracle(case.mechanism, body_poses(case.mechanism, case.q, list(case.udot)))
    found = oracle.solve(case.u).udot
    assert {name: found[name] for name in case.udot} == pytest.approx(case.udot, rel=1e-12)


def test_redundant_wrenches_are_told_from_determined_ones():
    """A planar four-bar decides the forces in its plane and nothing else."""
    case = four_bar()
    solution = Oracle(case.mechanism, body_poses(case.mechanism, case.q, ["A", "B", "C"])).solve({"A": -3.0})
    for projector in solution.determined.values():
        assert np.diag(projector) == pytest.approx([0, 1, 0, 1, 0, 1], abs=1e-9)  # y is the axis: no torque about it
