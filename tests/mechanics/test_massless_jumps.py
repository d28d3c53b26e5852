"""Jumps of the speeds with massless bodies: the dense solution, and Universal joints that their crosses make up."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from support.driving import by_joint
from support.impulses import gap_of_jump
from support.jumps import done, gaps, wrong_stops
from support.massless import massless_bodies, with_masses
from support.random_changes import random_change, random_scene
from support.random_transitions import as_transitions

X, Y, Z = np.eye(3)
SEEDS = range(24)
SLOPE = 0.5  # rad, between the shafts


# ---- random mechanisms against the dense solution ----


@pytest.fixture(scope="module")
def changes():
    found = []
    for seed in SEEDS:
        scene = random_scene(seed)
        names = massless_bodies(np.random.default_rng([seed, 3]), scene)
        if names:
            found.append(random_change(seed, with_masses(scene, names)))
    return found


def test_random_changes(changes):
    """Speeds, impulses and energies, by velocities that do not satisfy the constraints as well."""
    assert len(changes) > 10
    for number, change in enumerate(changes):
        found = gap_of_jump(change, by_velocities=bool(number % 2))
        assert max(found.values()) < 1e-10, (change, found)


def test_random_transitions(changes):
    tried, drawn = 0, [as_transitions(change) for change in changes]
    for transitions in drawn:
        transitions.mechanism.transitions.pop("open", None)  # would leave massless bodies alone
        if not transitions.names:
            continue
        one = done(transitions)
        found = gaps(one.system, one.jump, one.oracle, one.expected)
        assert max(found.values()) < 1e-10, (transitions, found)
        assert not wrong_stops(one), transitions
        tried += 1
    assert tried > 8


# ---- crosses against Universal joints ----


def add_universal(mech, name, parent, child, axes, at, cross):
    """A joint of the library, or two hinges on a massless cross."""
    if not cross:
        mech.add_joint(name, lw.Universal(*axes), parent, child, at=at)
        return
    mech.add_body(f"{name}_cross", mass=0.0, com=(0, 0, 0), inertia=np.zeros((3, 3)), origin=at)
    mech.add_joint(f"{name}_1", lw.Revolute(axes[0]), parent, f"{name}_cross", at=at)
    mech.add_joint(f"{name}_2", lw.Revolute(axes[1]), f"{name}_cross", child, at=at)


def add_bar(mech, name, start, direction):
    start, direction = np.asarray(start), np.asarray(direction)
    inertia = np.diag([0.02, 0.03, 0.04]) + 0.2 * (np.eye(3) - np.outer(direction, direction))
    mech.add_body(name, mass=2.0, com=0.5 * direction, inertia=inertia, origin=start)


def arm(cross):
    """Upper arm on the ground, lower arm, both by universal joints, and a hand on a hinge with a rotor."""
    mech = lw.Mechanism("arm")
    for k, name in enumerate(("upper", "lower", "hand")):
        add_bar(mech, name, (k, 0, 0), X)
    add_universal(mech, "shoulder", "ground", "upper", (Y, Z), (0, 0, 0), cross)
    add_universal(mech, "elbow", "upper", "lower", (Z, Y), (1, 0, 0), cross)
    mech.add_joint("wrist", lw.Revolute(Y), "lower", "hand", at=(2, 0, 0), reflected_inertia=0.3)
    add_transitions(mech, "wrist", "hand", "lower", "wrist")
    return mech


def cardan(cross):
    """Two shafts at an angle, joined at the corner, and a bar on a ball at the second: a loop with redundant rows."""
    mech = lw.Mechanism("cardan")
    along = np.array([np.cos(SLOPE), 0.0, np.sin(SLOPE)])
    add_bar(mech, "in", (0, 0, 0), -X)
    add_bar(mech, "out", (0, 0, 0), along)
    add_bar(mech, "tip", along, Y)
    mech.add_joint("A", lw.Revolute(X), "ground", "in", at=(-1, 0, 0), reflected_inertia=0.1)
    mech.add_joint("B", lw.Revolute(along), "ground", "out", at=along)
    mech.add_joint("ball", lw.Spherical(), "out", "tip", at=along)
    add_universal(mech, "corner", "in", "out", (Y, np.cross(along, Y)), (0, 0, 0), cross)
    add_transitions(mech, "A", "tip", "out", "B")
    return mech


def add_transitions(mech, locked, struck, pinned, stopped):
    mech.add_transition("lock", lw.Lock(locked), when=lw.Command())
    mech.add_transition("strike", lw.Impulse(struck, (0.3, 0.1, 0.2), (1.0, -2.0, 3.0), (0.1, 0.2, -0.3)), lw.Command())
    mech.add_transition("nail", lw.Pin("ground", pinned, lw.PinInSlot(X, Z), child_frame=lw.Frame()), lw.Command())
    mech.add_transition("wall", lw.Stop(stopped, upper=0.1, restitution=0.6))


COMMON = {arm: ("wrist",), cardan: ("A", "B", "ball")}


def moving(build, cross):
    """The same pose and motion of both."""
    model = lw.compile(build(cross))
    if build is arm:
        q = {"shoulder": (0.3, -0.4), "elbow": (0.5, 0.2)}
        u = {"shoulder": (1.0, -2.0), "elbow": (0.7, 1.5)}
        split = {f"{name}_{k + 1}": k for name in q for k in range(2)} if cross else {}
        for name, k in split.items():
            whole = name[:-2]
            q[name], u[name] = q[whole][k], u[whole][k]
        q, u = ({n: x for n, x in values.items() if not cross or n not in ("shoulder", "elbow")} for values in (q, u))
        return model, model.assemble(q={**q, "wrist": 0.1}, u={**u, "wrist": 1.2})
    ball = {"ball": (0.9, 0.1, -0.2, 0.3)}
    return model, model.assemble(q={"B": 0.1, **ball}, u={"B": 1.2, "ball": (0.4, -0.3, 0.8)})


CHANGES = [("lock",), ("strike",), ("nail",), ("wall",), ("lock", "strike"), ("wall", "strike"), ("nail", "lock")]


@pytest.mark.parametrize("names", CHANGES, ids="+".join)
@pytest.mark.parametrize("build", COMMON, ids=lambda build: build.__name__)
def test_cross_is_a_universal_joint(build, names):
    (model, start), (peer, at_peer) = moving(build, True), moving(build, False)
    found, expected = model.jump(start, names), peer.jump(at_peer, names)
    for body in peer.mechanism.bodies:
        for what in ("w", "v"):
            assert found.state[f"{body}.{what}"] == pytest.approx(expected.state[f"{body}.{what}"], abs=1e-10)
    before = peer.energy(at_peer).kinetic
    assert found.energy_lost == pytest.approx(expected.energy_lost, abs=1e-10 * before)
    assert abs(expected.energy_lost) > 1e-3 * before
    if build is arm:
        for joint in ("wrist", *(("nail",) if "nail" in names else ())):
            assert found.impulses[joint] == pytest.approx(expected.impulses[joint], abs=1e-10)


@pytest.mark.parametrize("build", COMMON, ids=lambda build: build.__name__)
def test_run_with_impacts(build):
    ends = []
    for cross in (True, False):
        model, start = moving(build, cross)
        result = lw.simulate(model, 1.0, state=start, rtol=1e-10, atol=1e-12)
        ends.append([result["energy.lost"][-1], *np.ravel([result[f"{name}.u"][-1] for name in COMMON[build][:2]])])
    assert ends[1][0] > 0.05
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)


def test_mass_of_zero_is_the_limit_of_small_ones():
    """The lock of a hinge: the difference shrinks with the mass of the crosses."""
    gaps_found = []
    model, start = moving(arm, True)
    wanted = model.jump(start, ("lock",)).state.u
    for mass in (1e-3, 1e-6):
        heavy = model.mechanism.copy()
        for name in ("shoulder_cross", "elbow_cross"):
            heavy.bodies[name] = replace(heavy.bodies[name], mass=mass, inertia=1e-2 * mass * np.eye(3))
        peer = lw.compile(heavy)
        state = peer.assemble(q=by_joint(model, start.q), u=by_joint(model, start.u))
        gaps_found.append(np.abs(peer.jump(state, ("lock",)).state.u - wanted).max())
    assert gaps_found[1] < 2e-3 * gaps_found[0]
