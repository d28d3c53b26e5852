"""After a jump: the mechanism is the one that has its pins as joints and its locked speeds as couplings."""

import copy
import dataclasses

import numpy as np
import pytest

import linkwork as lw
from support.agreement import difference
from support.driven import TIME
from support.driving import by_joint, random_loads
from support.joint_families import FREEDOMS
from support.jumps import done
from support.oracle import Oracle
from support.placement import vector
from support.random_changes import random_change
from support.random_transitions import as_transitions, changed_mechanism, dynamics_after
from support.state_neighbours import slopes

SEEDS = range(36)
METHODS = [("auto",), ("embedding",), ("multipliers",), ("multipliers", "origin")]


def drawn(seed):
    """Transitions without stops, which may be released, in which something still moves."""
    one = as_transitions(random_change(seed, restitution=0.0))
    return one if one.names and not one.stops else None


@pytest.fixture(scope="module")
def drawn_ones():
    found = [one for seed in SEEDS if (one := drawn(seed)) is not None]
    assert len(found) > 18
    return found


class After:
    """The dense solution for a state after a jump."""

    def __init__(self, one):
        self.done = one
        self.change = one.transitions.change
        self.u = by_joint(one.system, one.jump.state.u)
        self.q = by_joint(one.system, one.jump.state.q)
        self.mechanism = changed_mechanism(
            self.change.mechanism or self.change.scene.mechanism, self.change.pins, self.change.scene.poses
        )
        self.oracle: Oracle = dynamics_after(self.change, self.mechanism, one.transitions.locked, self.q, {})
        self.tau = random_loads(np.random.default_rng(3), self.change.scene)
        self.solution = self.oracle.solve(self.u, self.tau)

    @property
    def wrenches(self):
        """With what locks hold, along the speeds."""
        loads = {name: np.array(vector(load)) for name, load in self.oracle.loads(self.u, self.tau).items()}
        for h in self.done.transitions.locked:
            loads[h.joint][h.element] += self.solution.gear[f"{h.joint}:{h.element}"]
        return self.oracle.with_loads(self.solution.reaction, loads)


def after(one, *method):
    return After(done(one, *method))


@pytest.mark.parametrize("method", METHODS, ids="_".join)
def test_the_dense_solution(drawn_ones, method):
    """Accelerations, reactions, energies, and closed loops."""
    worst = {}
    for one in drawn_ones:
        found = after(one, *method)
        system, state = found.done.system, found.done.jump.state
        udot = by_joint(system, system.accelerations(state, tau=found.tau))
        gap = difference({n: udot[n] for n in found.solution.udot}, found.solution.udot)
        reactions = dict(system.by_joint(system.reactions(state, tau=found.tau)))
        seen, wrenches = found.solution.determined, found.wrenches
        scale = max(1.0, *(np.abs(w).max() for w in wrenches.values()))
        if all(found.solution.multiplier_determined.values()):
            off = max(np.abs(seen[n] @ (reactions[n] - w)).max() for n, w in wrenches.items()) / scale
        else:
            off = 0.0
        balance = np.abs(found.oracle.imbalance(found.solution, found.u, reactions)).max()
        energy = np.abs(np.subtract(system.energy(state), found.oracle.energy(found.u))).max()
        worst[repr(one)] = max(gap, off, balance, energy / max(1.0, *map(abs, system.energy(state))))
        assert np.abs(system.loop_residual(state)).max(initial=0.0) < 1e-11
    assert max(worst.values()) < 1e-10, {key: value for key, value in worst.items() if value >= 1e-10}


def test_methods_by_group(drawn_ones):
    """A method for the group of one pin or lock, and the others as they come."""
    tried = 0
    for one in drawn_ones:
        if not any(FREEDOMS[pin.kind.type_name] < 6 for pin in one.change.pins):
            continue
        expected = after(one)
        named = next(pin.name for pin in one.change.pins if FREEDOMS[pin.kind.type_name] < 6)
        mixed = done(one, {named: "embedding"})
        state, tau = mixed.jump.state, expected.tau
        udot = by_joint(mixed.system, mixed.system.accelerations(state, tau=tau))
        assert difference({n: udot[n] for n in expected.solution.udot}, expected.solution.udot) < 1e-10
        assert "tree" in mixed.system.explain()
        tried += 1
    assert tried > 10


def test_pins_as_ordinary_joints(drawn_ones):
    """Another mechanism, in which the joint has always been."""
    tried = 0
    for one in drawn_ones:
        if one.locked or not one.change.pins:
            continue
        found = after(one)
        other = lw.compile(found.mechanism)
        state = other.assemble(q=_started(other, found.q), u=_started(other, found.u))
        mine = by_joint(found.done.system, found.done.system.accelerations(found.done.jump.state, tau=found.tau))
        theirs = by_joint(other, other.accelerations(state, tau=found.tau))
        assert difference(mine, theirs) < 1e-9
        tried += 1
    assert tried > 5


def _started(system, values):
    names = {name for name, span in system.numbering.u.items() if span.stop > span.start}
    return {name: value for name, value in values.items() if name in names}


def test_locked_joints_as_fixed_ones(drawn_ones):
    """A joint locked in all directions is a Fixed joint with the frame turned by its pose."""
    tried = 0
    for one in drawn_ones:
        whole = {t.action.joint for t in one.mechanism.transitions.values() if isinstance(t.action, lw.Lock)}
        if not whole or any(t.action.speeds for t in _locks(one)) or one.change.pins:
            continue
        found = after(one)
        mechanism = copy.deepcopy(found.mechanism)
        rows = {row.name: row for row in found.oracle.rows}
        for name in whole:
            joint = mechanism.joints[name]
            turned = rows[name].parent.inverse().then(rows[name].child)
            frame = joint.parent_frame
            rotation = np.asarray(frame.rotation) @ turned.rotation
            position = np.asarray(frame.position) + np.asarray(frame.rotation) @ turned.position
            moved = lw.Frame(position, rotation)
            mechanism.joints[name] = dataclasses.replace(
                joint, kind=lw.Fixed(), parent_frame=moved, reflected_inertia=np.zeros(0), max_load=np.zeros(0)
            )
            mechanism.start_q.pop(name, None)
            mechanism.start_u.pop(name, None)
            mechanism.forces = [force for force in mechanism.forces if getattr(force, "joint", None) != name]
        other = lw.compile(mechanism)
        state = other.assemble(q=_started(other, found.q), u=_started(other, found.u))
        tau = {name: load for name, load in found.tau.items() if name not in whole}
        mine = by_joint(found.done.system, found.done.system.accelerations(found.done.jump.state, tau=tau))
        theirs = by_joint(other, other.accelerations(state, tau=tau))
        assert difference({name: mine[name] for name in theirs}, theirs) < 1e-9, one
        assert all(np.abs(mine[name]).max() < 1e-9 for name in whole)
        tried += 1
    assert tried > 1


def _locks(one):
    return [t for t in one.mechanism.transitions.values() if isinstance(t.action, lw.Lock)]


def test_jacobian_against_differences(drawn_ones):
    for one in drawn_ones[:25]:
        system, state = (found := done(one)).system, found.jump.state
        expected = slopes(system, state)
        found = system.jacobian(state)
        assert np.abs(found - expected).max(initial=0.0) < 2e-5 * np.abs(expected).max(initial=1.0), one


def test_mass_matrix_and_energy(drawn_ones):
    for one in drawn_ones:
        system, state = (found := done(one)).system, found.jump.state
        mass = system.mass_matrix(state)
        assert mass == pytest.approx(system.mass_matrix(found.before), abs=1e-12 * np.abs(mass).max(initial=1.0))
        assert state.u @ mass @ state.u / 2 == pytest.approx(system.energy(state).kinetic, abs=1e-10)


def test_time_of_the_jump_is_kept(drawn_ones):
    one = drawn_ones[0]
    system, state = one.reached(time=TIME)
    assert system.jump(state, one.names).state.time == TIME
