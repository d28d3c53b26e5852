"""Large mechanisms: work that grows with their size and not with its square, and nothing done twice."""

import gc
from functools import partial

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism import checks
from linkwork.model import compiled
from support.counting import lines_run
from support.graphs import long_mechanism


def loaded(bodies, stops=True):
    """A chain with a damper, a spring to the ground, a wrench, a start and perhaps a stop for every body."""
    mech = long_mechanism(bodies, False)
    for k, (joint, body) in enumerate(zip(list(mech.joints), list(mech.bodies), strict=True)):
        mech.add_force(lw.SpringDamper(joint, damping=0.1))
        mech.add_force(lw.SpringDamper(name=f"s{k}", bodies=("ground", body), points=np.zeros((2, 3)), stiffness=1.0))
        mech.add_force(lw.Wrench(body, name=f"w{k}"))
        mech.start(q={joint: 0.01 * k % 0.5})
    for k, joint in enumerate(mech.joints if stops else ()):
        mech.add_transition(f"t{k}", lw.Stop(joint, lower=-1.0, upper=1.0))
    return mech


def test_work_of_describing_and_compiling_grows_with_the_size():
    sizes = 50, 200
    short, long = (lines_run(partial(loaded, size, stops=False)) for size in sizes)
    assert long < 5 * short
    short, long = (lines_run(partial(lw.compile, loaded(size))) for size in sizes)
    assert long < 5 * short


@pytest.mark.slow
def test_ten_thousand_bodies_are_compiled():
    system = lw.compile(long_mechanism(10_000, True))
    assert (system.sizes.bodies, system.sizes.loops) == (10_000, 4_999)


def counted(monkeypatch, module, name):
    calls = []
    original = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: calls.append(given) or original(*given))
    return calls


def test_a_mechanism_is_checked_and_told_once(monkeypatch):
    calls = [counted(monkeypatch, compiled, "check"), counted(monkeypatch, compiled, "describe")]
    lw.compile(loaded(3))
    assert [len(found) for found in calls] == [1, 1]


def test_starts_as_they_are_kept_are_looked_at_together(monkeypatch):
    mech = loaded(20)
    calls = counted(monkeypatch, checks, "check_start")
    lw.compile(mech)
    assert not calls
    mech.start_q["J3"] = np.array([np.inf])
    with pytest.raises(lw.MechanismError, match="start q of joint 'J3' must be finite"):
        lw.compile(mech)


def test_names_of_forces_that_were_taken_out_are_free():
    mech = loaded(3)
    with pytest.raises(lw.MechanismError, match="has a SpringDamper already"):
        mech.add_force(lw.SpringDamper("J0", damping=0.1))
    twin = mech.copy()
    del twin.forces[:3]
    twin.add_force(lw.SpringDamper("J0", damping=0.1))
    twin.add_force(lw.Wrench("b0", name="w0"))
    for again in (mech, twin):
        with pytest.raises(lw.MechanismError, match="there is a force 'w0' already"):
            again.add_force(lw.Wrench("b0", name="w0"))


@pytest.mark.parametrize("enabled", [True, False])
def test_compiling_leaves_the_garbage_collector_as_it_was(enabled):
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        lw.compile(loaded(2))
        with pytest.raises(lw.MechanismError):
            lw.compile(lw.Mechanism("nothing"))
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
