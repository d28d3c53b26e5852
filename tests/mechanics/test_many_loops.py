"""Position assembly of series of loops that share joints, from rough guesses."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.mobility import degrees_of_freedom
from support.driving import by_joint, tree_joints
from support.loop_series import SERIES, rough
from support.oracle import Oracle
from support.placement import body_poses

FAMILIES = pytest.mark.parametrize("family", SERIES)


@FAMILIES
@pytest.mark.parametrize("loops", [2, 7, 9, 40, 300])
@pytest.mark.thin(8)
def test_the_driving_joint_decides(family, loops):
    """The first joint keeps its coordinates, and the others come to the pose from which the mechanism was made."""
    mech, q = SERIES[family](loops)
    system = lw.compile(mech)
    state = system.assemble(q=rough(q, 0.05))
    assert system.loop_residual(state).max() < 1e-12
    first = next(iter(q))
    assert np.array_equal(state[f"{first}.q"], q[first])
    for name, value in q.items():
        away = np.remainder(state[f"{name}.q"] - value + np.pi, 2 * np.pi) - np.pi
        assert np.abs(away).max() < 1e-8, name


@pytest.mark.parametrize("family", [name for name in SERIES if not name.startswith("chain")])
@pytest.mark.parametrize("size", [0.2, 0.5])
@pytest.mark.parametrize("loops", [8, 40])
def test_rough_guesses(family, size, loops):
    mech, q = SERIES[family](loops)
    system = lw.compile(mech)
    state = system.assemble(q=rough(q, size))
    assert system.loop_residual(state).max() < 1e-12


@pytest.mark.thin(2)
@FAMILIES
def test_memory_grows_with_the_loops(family):
    """The numbers of a state: about as many a loop for many loops as for few; spare lanes differ."""
    few, many = (lw.compile(SERIES[family](loops)[0]).sizes.reals / loops for loops in (100, 300))
    assert many < 2.0 * few


@FAMILIES
@pytest.mark.parametrize("loops", [9, 66])
@pytest.mark.thin(6)
def test_degrees_of_freedom(family, loops):
    """As many as the singular values of all joints' constraints leave; the first joint decides everything."""
    mech, q = SERIES[family](loops)
    model = lw.compile(mech)
    state = model.assemble(q=q)
    poses = body_poses(mech, by_joint(model, state.q), tree_joints(model))
    rows = Oracle(mech, poses).constraints
    assert degrees_of_freedom(model, state) == rows.shape[1] - np.linalg.matrix_rank(rows, rtol=1e-9)
    assert degrees_of_freedom(model, state) == np.size(q[next(iter(q))])
    assert sum(cluster.dof for cluster in model.expected) == np.size(q[next(iter(q))])
