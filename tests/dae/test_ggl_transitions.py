"""Equations with multipliers across transitions: the states keep their number, and rows come into force and go."""

import numpy as np
import pytest

import linkwork as lw
from support.augmented import augmented
from support.dae_backends import needs_ida
from support.ma2007 import Ma2007

pytestmark = needs_ida


@pytest.fixture(scope="module", params=["lock_A", "pin_A"])
def published(request):
    return Ma2007(request.param)


def run_across(published, rtol):
    """To the event and on to the last row of the case; the states at its end, and both sets of kept rows."""
    event, end = published.numbers["event_time"], float(published.rows[-1, 0])
    at = augmented(published.mechanism())
    before = at.run(event, rtol)
    kept = [at.kept.copy()]
    at.states, at.time = at.ggl.states(before.y[-1]).copy(), event
    at.ggl.constraint_residuals(event, at.states)  # enters them
    at.block.make_transitions([0])
    at.states = np.concatenate([at.block["q"], at.block["u"]]).copy()
    after = at.run(end, rtol)
    kept.append(at.kept.copy())
    return at, before, after, kept


def test_published_chain(published):
    at, before, after, kept = run_across(published, 1e-9)
    n = len(published.numbers["link_lengths"])
    expected = published.rows[-1, 1 : 1 + 2 * n]
    assert before.y.shape[1] == after.y.shape[1] == at.ggl.n
    assert not kept[0].any()
    assert kept[1].sum() == (2 if published.numbers["tip_pinned"] else 1)
    assert at.ggl.states(after.y[-1]) == pytest.approx(expected, rel=1e-4, abs=1e-4)
    phi, rate = at.ggl.constraint_residuals(after.t[-1], at.ggl.states(after.y[-1]))
    assert max(np.abs(phi).max(), np.abs(rate).max()) < 1e-8


def test_unlocked_rows_are_zero_again(published):
    """A lock and its end: no row holds before, one between, none after."""
    mech = published.chain()
    mech.add_transition("latch", lw.Lock("A2"), when=lw.Time(1.0))
    mech.add_transition("free", lw.Unlock("A2"), when=lw.Time(2.0))
    at = augmented(mech)
    kept = []
    for transition in (None, 0, 1):
        if transition is not None:
            at.block.make_transitions([transition])
        at.start()
        kept.append(int(at.kept.sum()))
    assert kept == [0, 1, 0]


def test_lock_of_a_ball_holds_its_speeds():
    """Its speeds are no rates of coordinates: rows of velocities without positions."""
    mech = lw.Mechanism("ball", gravity=(0, 0, -9.81))
    mech.add_body("top", mass=1.0, com=(0.1, 0, 0.3), inertia=np.diag([0.02, 0.03, 0.01]))
    mech.add_joint("S", lw.Spherical(), "ground", "top", at=(0, 0, 0))
    mech.add_body("arm", mass=0.5, com=(0.2, 0, 0), inertia=np.diag([0.01, 0.01, 0.01]))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "top", "arm", at=(0, 0, 0.5))
    mech.add_transition("latch", lw.Lock("S"), when=lw.Time(1.0))
    mech.start(u={"S": (1.0, 2.0, 3.0), "A": 1.0})
    at = augmented(mech)
    at.block.make_transitions([0])
    at.states = np.concatenate([at.block["q"], at.block["u"]]).copy()
    at.start()
    rows = at.ggl.rows
    assert (at.ggl.relaxation[:rows] == 0).sum() == 3
    assert (at.ggl.relaxation[rows:] == 0).sum() == 0
    solution = at.run(0.5, 1e-9)
    ball = at.system.numbering.u["S"]
    speeds = at.ggl.states(solution.y)[:, at.nq :][:, ball]
    assert np.abs(speeds).max() < 1e-9
