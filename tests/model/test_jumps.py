"""Transitions carried out at once, in random mechanisms of all sorts: against the dense solution, and by identities."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import linkwork as lw
from support.driven import TIME
from support.driving import by_joint
from support.impulse_oracle import ImpulseOracle
from support.jumps import done, gaps, names_of, velocities, wrong_stops
from support.random_changes import changed_cases, random_change
from support.random_transitions import as_transitions, changed_mechanism

SEEDS = range(45)


@pytest.fixture(scope="module")
def all_of_them():
    found = (as_transitions(random_change(seed)) for seed in SEEDS)
    return [one for one in found if one.names]


@pytest.fixture(scope="module")
def jumps(all_of_them):
    return [done(one) for one in all_of_them]


def test_the_dense_solution(jumps):
    for one in jumps:
        found = gaps(one.system, one.jump, one.oracle, one.expected)
        assert max(found.values()) < 1e-10, (one.transitions, found)


def test_the_pose_stays(jumps):
    for one in jumps:
        assert np.array_equal(one.jump.state.q, one.before.q)
        assert np.array_equal(one.jump.state.time, one.before.time)


def test_motions_that_stay_free_keep_their_momentum(jumps):
    for one in jumps:
        change = one.transitions.change
        after = velocities(one.system, one.jump.state, one.transitions)
        lost = one.oracle.lost_momentum(change.before, after, change.applied)
        scale = np.abs(one.oracle.mass).max() * max(1.0, np.abs(after).max(), np.abs(change.before).max())
        assert np.abs(lost).max(initial=0.0) < 1e-10 * scale, one.transitions


def test_energy_never_grows_by_itself(jumps):
    passive = [one for one in jumps if one.transitions.change.loses_energy]
    assert len(passive) > 15
    for one in passive:
        kinetic = one.system.energy(one.before).kinetic
        assert one.jump.energy_lost > -1e-12 * kinetic, one.transitions
        assert one.system.energy(one.jump.state).kinetic == pytest.approx(kinetic - one.jump.energy_lost, abs=1e-11)


def test_stops_push_and_hold_what_does_not_leave(jumps):
    wrong = {str(one.transitions): found for one in jumps if (found := wrong_stops(one))}
    assert not wrong
    assert sum(len(one.transitions.stops) for one in jumps) > 10


def test_state_before_is_as_it_was(jumps):
    """A change affects only the state after it; the same again from there has no effect."""
    for one in jumps[:30]:
        names = [name for name in one.transitions.names if name in one.transitions.undoing]
        if not names:
            continue
        again = one.system.jump(one.jump.state, names)
        assert again.state.u == pytest.approx(one.jump.state.u, abs=1e-11 * one.speed)
        assert abs(again.energy_lost) < 1e-11 * one.speed**2
        assert one.system.jump(one.before, one.transitions.names).state.u == pytest.approx(one.jump.state.u, abs=0)


def test_what_is_drawn(all_of_them):
    assert names_of(all_of_them) == {"Lock", "Unlock", "Pin", "Release", "Stop", "Impulse"}
    pins = [t.action for one in all_of_them for t in one.mechanism.transitions.values() if isinstance(t.action, lw.Pin)]
    given_frames = [(pin.parent_frame is not None, pin.child_frame is not None) for pin in pins]
    assert len(set(given_frames)) == 4
    assert sum(len(one.names) > 2 for one in all_of_them) > 10
    assert sum(one.opens is not None for one in all_of_them) > 5


# ---- undoing ----


def test_undoing_alone_changes_no_speed(jumps):
    for one in jumps:
        names = list(one.transitions.undoing.values())
        if not names or one.transitions.stops:
            continue
        undone = one.system.jump(one.jump.state, names)
        assert undone.state.u == pytest.approx(one.jump.state.u, abs=0)
        assert undone.energy_lost == 0.0
        assert all(not impulse.any() for impulse in undone.impulses.values())


def test_undone_and_struck_in_the_same_instant(jumps):
    """Half of the changes are reversed while impulses act on all bodies: the dense solution of the rest."""
    tried = 0
    for one in jumps:
        change, rng = one.transitions.change, np.random.default_rng(one.transitions.change.plan.seed)
        doable = [name for name in one.transitions.names if name in one.transitions.undoing]
        blows = [name for name in one.transitions.names if name.startswith("kick")]
        if one.transitions.stops or not doable or not blows:
            continue
        undone = [name for name in doable if rng.random() < 0.6] or doable[:1]
        opens = one.transitions.opens
        names = [*(one.transitions.undoing[name] for name in undone), *blows, *(["open"] if opens else [])]
        jump = one.system.jump(one.jump.state, names)
        pins = [pin for pin in change.pins if pin.name not in undone]
        held = [h for h in one.transitions.locked if f"lock_{h.joint}" not in undone]
        mechanism = changed_mechanism(change.mechanism or change.scene.mechanism, pins, change.scene.poses, opens)
        oracle = ImpulseOracle(mechanism, change.scene.poses, change.scene.q, held=held)
        expected = oracle.jump(velocities(one.system, one.jump.state, one.transitions), change.applied)
        found = gaps(one.system, jump, oracle, expected)
        assert max(found.values()) < 1e-10, (one.transitions, names, found)
        gone = [pin.name for pin in change.pins if pin.name in undone] + ([opens] if opens else [])
        assert all(not jump.impulses[name].any() for name in gone)
        tried += 1
    assert tried > 4


# ---- couplings, drives, distances ----


@settings(max_examples=30, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(changed_cases())
def test_couplings_drives_and_distances(drawn):
    _, change = drawn
    transitions = as_transitions(change)
    if not transitions.names:
        return
    one = done(transitions, time=TIME)
    found = gaps(one.system, one.jump, one.oracle, one.expected)
    assert max(found.values()) < 1e-10, found
    assert not wrong_stops(one)
    assert by_joint(one.system, one.jump.state.q).keys() == by_joint(one.system, one.before.q).keys()
