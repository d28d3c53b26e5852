"""Nothing is remembered and nothing is shared: calls, systems, threads, copies."""

import copy
import pickle
import threading

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.driving import OF_STATES, reached
from support.random_mechanisms import FAMILIES, well_posed


def test_a_mechanism_changed_later(system, state):
    mech = four_bar().mechanism
    compiled = lw.compile(mech)
    names, before = list(compiled.mechanism.bodies), compiled.accelerations(state)
    mech.gravity = (0, 0, 5.0)
    mech.add_body("more", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("E", lw.Revolute(axis=(0, 1, 0)), "ground", "more", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("A", stiffness=100.0))
    mech.start(q={"A": 2.0})
    assert np.array_equal(compiled.accelerations(state), before)
    assert list(compiled.mechanism.bodies) == names
    assert compiled.assemble().q == pytest.approx(system.assemble().q)
    assert compiled.joint_names == system.joint_names
    assert "E.q" not in {variable.name for variable in compiled.variables}
    assert lw.compile(mech).model_bytes != compiled.model_bytes == system.model_bytes


@pytest.mark.parametrize(
    "family", ["planar_4R_springs", "loop_on_loop", "spatial_6R_2P", "coupled", "three_spatial_legs"]
)
@pytest.mark.parametrize("call", OF_STATES)
def test_same_bits_again_and_after_other_states(family, call):
    system, state = reached(well_posed(FAMILIES[family][0], 2))
    first = getattr(system, call)(state)
    assert np.array_equal(getattr(system, call)(state), first)
    rng = np.random.default_rng(0)
    for other in OF_STATES:
        getattr(system, other)(state.q + 1e-4 * rng.normal(size=state.q.shape), 0.5 * state.u)
    system.assemble(q={system.q_names[0].removesuffix(".q"): 0.1 + state.q[0]})
    system.inverse_dynamics(state, np.ones(state.u.shape))
    assert np.array_equal(getattr(system, call)(state), first)


def test_two_systems_do_not_disturb_each_other():
    (first, state), (second, other) = (reached(well_posed(FAMILIES[f][0], 0)) for f in ("planar_5R", "spatial_7R"))
    expected = first.derivatives(state), second.derivatives(other)
    for _ in range(3):
        assert np.array_equal(first.derivatives(state), expected[0])
        assert np.array_equal(second.derivatives(other), expected[1])
    block = first.block()
    block.reals[:] = np.nan
    assert np.array_equal(first.derivatives(state), expected[0])


def test_threads_share_a_system():
    scene = well_posed(FAMILIES["side_by_side"][0], 0)
    system, state = reached(scene)
    rng = np.random.default_rng(0)
    q, u = state.q + 1e-3 * rng.normal(size=(40, state.q.size)), rng.normal(size=(40, state.u.size))
    expected = system.derivatives(q, u)
    found = [None] * 4

    def work(k):
        found[k] = [system.derivatives(q, u) for _ in range(10)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(values, expected) for several in found for values in several)


def test_pickled_and_copied():
    """Sweeps send systems and states to other processes."""
    system, state = reached(well_posed(FAMILIES["planar_5R"][0], 0))
    for other in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert np.array_equal(other.q.cut, state.q.cut)
        assert np.array_equal(other.model.accelerations(other), system.accelerations(state))
