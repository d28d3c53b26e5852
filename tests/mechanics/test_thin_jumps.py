"""Jumps of bodies with little or no inertia about an axis that their joints hold, against the dense solution."""

import numpy as np
import pytest

import linkwork as lw
from support.impulse_oracle import Held, ImpulseOracle, poses_at, velocities_at

LENGTH, MASS = 0.8, 1.5
Q, U = np.array([0.3, 0.7, -0.5, 0.2]), np.array([2.0, -3.0, 1.0, 0.5])


@pytest.mark.parametrize("thickness", [0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-3])
def test_a_hinge_in_a_chain_of_rods_locks(thickness):
    across = MASS * LENGTH**2 / 12
    mech = lw.Mechanism("rods", gravity=(0, 0, 0))
    for k in range(4):
        inertia = np.diag([thickness * across, across, across])
        mech.add_body(f"rod{k}", mass=MASS, com=(LENGTH / 2, 0, 0), inertia=inertia)
        axis, frame = ((0.3, 0.1, 1), lw.Frame((LENGTH, 0, 0))) if k else ((0, 0, 1), lw.Frame())
        mech.add_joint(f"A{k}", lw.Revolute(axis), f"rod{k - 1}" if k else "ground", f"rod{k}", parent_frame=frame)
    system = lw.compile(mech)
    block = system.block()
    block.enter(Q, U, system.arguments.no_inputs)
    jump = block.jump({2: -U[2]})
    oracle = ImpulseOracle(mech, poses_at(system, Q), held=[Held("A2")])
    expected = oracle.jump(velocities_at(system, Q, U))
    assert jump.after == pytest.approx(np.array([expected.u[f"A{k}"] for k in range(4)]), abs=1e-12)
    assert jump.reaction == pytest.approx(np.array([expected.impulse[f"A{k}"] for k in range(4)]), abs=1e-11)
