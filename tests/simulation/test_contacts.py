"""Several stops that act together, against a dense solution of the complementarity problems, and runs that must end.

The reference takes the mass matrix and the accelerations of the mechanism without stops, and solves each problem by
SciPy's non-negative least squares: with W = R'R the loads are the minimum of |R f + R^-T b| over f >= 0.
"""

import json

import numpy as np
import pytest
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

import linkwork as lw
from support.checkout import beside
from support.poses import random_unit
from support.stops import biped, gripper, hanging_chain, restless_ball

RESTITUTIONS = (0.0, 0.1, 0.5, 0.9)


def tree(rng, bodies):
    """A tree of bodies on hinges, loaded by gravity and torques."""
    mech = lw.Mechanism("tree", gravity=rng.normal(size=3) * 9.81)
    for k in range(bodies):
        size = rng.uniform(0.1, 0.5, 3)
        mech.add_body(
            f"b{k}", mass=rng.uniform(0.5, 2.0), com=rng.normal(size=3) * 0.3, inertia=lw.inertia.box(1.0, size)
        )
        parent = f"b{rng.integers(max(0, k - 3), k)}" if k else "ground"
        at = lw.Frame(rng.normal(size=3) * 0.4 if k else (0, 0, 0))
        mech.add_joint(f"J{k}", lw.Revolute(random_unit(rng)), parent, f"b{k}", parent_frame=at, child_frame=lw.Frame())
    return mech


def with_stops(make, stopped, signs, q, restitution):
    """The same mechanism with a stop at the present coordinate of each of the given joints."""
    mech = make()
    for k, sign in zip(stopped, signs, strict=True):
        bound = {"lower" if sign > 0 else "upper": float(q[k])}
        mech.add_transition(f"s{k}", lw.Stop(f"J{k}", restitution=restitution, **bound))
    return lw.compile(mech)


def loads(W, b):
    """f >= 0 with W f + b >= 0 and no load where that is strict."""
    R = cholesky(W)
    return nnls(R, -solve_triangular(R, b, trans="T"))[0]


def speeds_after(M, C, u, e):
    """Impacts by Moreau's law on the stops that do not separate, until none is pressed in; at last without rebound."""
    inverse = np.linalg.inv(M)
    for _ in range(100):
        v = C @ u
        near = np.flatnonzero(v <= 1e-12 * np.abs(u).max())
        D = C[near]
        u = u + inverse @ D.T @ loads(D @ inverse @ D.T, (1 + e) * v[near])
        if (C @ u).min() > -1e-12 * np.abs(u).max():
            return u
    return u + inverse @ C.T @ loads(C @ inverse @ C.T, C @ u)


def draw(seed):
    rng = np.random.default_rng(seed)
    bodies = int(rng.integers(1, 13))
    topology = int(rng.integers(1 << 30))

    def make():
        return tree(np.random.default_rng(topology), bodies)

    stopped = np.sort(rng.choice(bodies, int(rng.integers(1, bodies + 1)), replace=False))
    signs = rng.choice([-1.0, 1.0], stopped.size)
    C = np.zeros((stopped.size, bodies))
    C[np.arange(stopped.size), stopped] = signs
    return rng, make, stopped, signs, C, rng.normal(size=bodies)


def along_axes(model, state, impulses):
    """The angular impulses of hinges along their axes, which turn with the bodies: what their stops give."""
    found = []
    for name, joint in model.mechanism.joints.items():
        w, *v = model.value(f"{joint.child}.Q", state)
        axis = np.array(joint.kind.axis)
        found.append(impulses[name][:3] @ (axis + 2 * np.cross(v, np.cross(v, axis) + w * axis)))
    return np.array(found)


def check_impact(seed):
    rng, make, stopped, signs, C, q = draw(seed)
    e = float(rng.choice(RESTITUTIONS))
    u = rng.normal(size=q.size)
    plain, model = lw.compile(make()), with_stops(make, stopped, signs, q, e)
    hit = [f"s{k}" for k, v in zip(stopped, C @ u, strict=True) if v < 0]
    if not hit:
        return
    M = np.array(plain.mass_matrix(plain.state(q, u)))
    expected = speeds_after(M, C, u, e)
    done = model.jump(model.state(q, u), hit)
    np.testing.assert_allclose(done.state.u, expected, rtol=0, atol=1e-10 * np.abs(u).max())
    lost = 0.5 * (u @ M @ u - expected @ M @ expected)
    assert lost > -1e-12 * (u @ M @ u)
    assert done.energy_lost == pytest.approx(lost, abs=1e-10 * (u @ M @ u))
    impulses = along_axes(plain, plain.state(q, u), done.impulses)
    np.testing.assert_allclose(impulses, M @ (expected - u), rtol=0, atol=1e-10 * np.abs(M).max() * np.abs(u).max())


def check_contact(seed):
    """At rest on all of its stops, with loads that press and loads that lift."""
    rng, make, stopped, signs, C, q = draw(seed)
    plain, model = lw.compile(make()), with_stops(make, stopped, signs, q, float(rng.choice(RESTITUTIONS)))
    still = np.zeros(q.size)
    state = plain.state(q, still)
    inverse, free = np.linalg.inv(plain.mass_matrix(state)), np.array(plain.accelerations(state))
    expected = free + inverse @ C.T @ loads(C @ inverse @ C.T, C @ free)
    done = model.jump(model.state(q, still), [f"s{k}" for k in stopped])
    np.testing.assert_allclose(model.accelerations(done.state), expected, rtol=0, atol=1e-10 * np.abs(free).max())


@pytest.mark.thin(4)
@pytest.mark.parametrize("seed", range(60))
def test_impacts_on_several_stops(seed):
    check_impact(seed)


@pytest.mark.thin(4)
@pytest.mark.parametrize("seed", range(60))
def test_contact_with_several_stops(seed):
    check_contact(seed)


@pytest.mark.slow
def test_a_hundred_of_each():
    for seed in range(1000, 1100):
        check_impact(seed)
        check_contact(seed)


# ---- runs ----


def check_run(links, restitution, low):
    """The stops bounce alternately, ever faster; the run ends, energy never rises, and no bound is passed."""
    result = lw.simulate(hanging_chain(links, restitution, low), 3.0, max_steps=8000)
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert np.diff(energy).max() < 1e-5
    for i in range(links):
        assert result[f"J{i}.q"].min() > low - 1e-8  # the accuracy of the run
    return result


@pytest.mark.parametrize("restitution", [0.0, 0.3])
@pytest.mark.parametrize("links", [2, 4])
def test_a_chain_comes_to_rest_on_its_stops(links, restitution):
    assert np.abs(check_run(links, restitution, -0.1).y[-1][links:]).max() < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("low", [-0.1, -0.3])
@pytest.mark.parametrize("restitution", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("links", [2, 4, 6])
def test_every_run_ends(links, restitution, low):
    check_run(links, restitution, low)


# ---- limits ----


def check_chattering(raised, limit):
    message = str(raised.value)
    assert limit in message
    assert "'floor' (joint 'fall', gap " in message
    assert "speed " in message
    assert "lower the restitution" in message
    assert raised.value.result.t[-1] > 0
    assert len(raised.value.result.events) > 50


def test_a_run_with_too_many_events_ends():
    with pytest.raises(lw.SolverError, match="max_events") as raised:
        lw.simulate(restless_ball(1e-8), 1.0, max_events=200)
    check_chattering(raised, "max_events")
    assert len(raised.value.result.events) == 200
    with pytest.raises(lw.SolverError, match="max_events = 0"):
        lw.simulate(restless_ball(1e-8), 1.0, max_events=0)


def test_the_steps_of_a_chattering_run_are_used_up():
    """The error names the stop."""
    with pytest.raises(lw.SolverError, match="max_steps is used up") as raised:
        lw.simulate(restless_ball(1e-8), 1.0, max_steps=300)
    check_chattering(raised, "max_steps")


# ---- robots with a limit in every hinge


def kinetic_and_potential(result, mech):
    """Summed over the bodies, apart from the columns of energy."""
    total = np.zeros(result.t.size)
    for name, body in mech.bodies.items():
        w, x, y, z = result[f"{name}.Q"].T
        axes = np.moveaxis(
            np.array(
                [
                    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
                ]
            ),
            2,
            0,
        )
        rate, centre = result[f"{name}.w"], axes @ np.array(body.com)
        velocity = result[f"{name}.v"] + np.cross(rate, centre)
        spin = np.einsum("tji,tj->ti", axes, rate)
        total += 0.5 * body.mass * (velocity**2).sum(1)
        total += 0.5 * np.einsum("ti,ij,tj->t", spin, np.array(body.inertia), spin)
        total -= body.mass * ((result[f"{name}.r"] + centre) @ np.array(mech.gravity))
    return total


def check_robot(make, restitution, hit, loads):
    """Two seconds at most of the limits' hinges; as many evaluations as twenty runs without limits."""
    mech, free = make(restitution), make(None)
    result = lw.simulate(mech, 2.0, rtol=1e-7, inputs=loads)
    assert len({name for event in result.events for name in event.transitions}) >= hit
    energy = kinetic_and_potential(result, mech)
    for joint, load in loads.items():
        energy -= load * result[f"{joint}.q"]
    lost = energy[0] - energy[-1]
    at_events = np.diff(result.t) == 0
    assert np.diff(energy)[at_events].max() < 1e-8 * lost
    assert np.diff(energy).max() < 1e-6 * lost
    assert min(event.energy_lost for event in result.events) > -1e-8 * lost
    without = lw.simulate(free, 2.0, rtol=1e-7, inputs=loads).statistics.evaluations
    assert result.statistics.evaluations + result.statistics.event_evaluations < 20 * without


@pytest.mark.parametrize("restitution", [0.0, 0.2])
@pytest.mark.parametrize("loads", [{}, {"left_driver": 0.05, "right_driver": 0.04}])
def test_a_gripper_on_its_limits(restitution, loads):
    check_robot(gripper, restitution, 4, loads)


def swinging(restitution):
    mech = biped(restitution)
    rng = np.random.default_rng(2)
    mech.start(u={name: float(rng.normal() * 2) for name, joint in mech.joints.items() if not joint.cut})
    return mech


@pytest.mark.parametrize("restitution", [0.0, 0.2])
@pytest.mark.parametrize("make", [biped, swinging])
def test_a_biped_on_its_limits(make, restitution):
    """It hangs by its hips; several limits are hit in turn."""
    loads = {} if make is swinging else {"left_pitch_hinge": -60.0, "left_knee_hinge": 20.0, "right_knee_hinge": -15.0}
    check_robot(make, restitution, 5, loads)


def robot(name, base, restitution, width, start):
    """A robot of others with its base of another joint type, its poses and speeds, and limits in all hinges."""
    document = json.loads(beside(f"models/as_mechanisms/{name}.json").read_text(encoding="utf-8"))
    if base:
        document["joints"][0] |= {"type": base}
    mech = lw.Mechanism.from_dict(document)
    mech.start(**start)
    if restitution is None:
        return mech
    pose = lw.compile(mech).assemble()
    hinges = [j for j, joint in mech.joints.items() if isinstance(joint.kind, lw.Revolute) and not joint.cut]
    for joint in hinges:
        angles = (float(pose[f"{joint}.q"]), start.get("q", {}).get(joint, 0.0))
        stop = lw.Stop(joint, lower=min(angles) - width, upper=max(angles) + width, restitution=restitution)
        mech.add_transition(f"{joint}_limit", stop)
    return mech


RAISED = {
    "J_left_hip_pitch": 0.8,
    "J_right_hip_pitch": 0.5,
    "J_left_knee": -0.5,
    "J_right_knee": 0.4,
    "J_left_hip_roll": 0.3,
}
THROWN = {f"J_{side}_{joint}": u for side in ("left", "right") for joint, u in (("knee", 4.0), ("hip_pitch", -3.0))}
ROBOTS = {
    "gripper": ("robotiq_2f85", None, {}, {}),
    "closing": ("robotiq_2f85", None, {}, {"J_right_driver_joint": 0.5}),
    "raised": ("cassie", "fixed", {"q": RAISED}, {}),
    "thrown": ("cassie", None, {"u": THROWN}, {}),
}


@pytest.mark.slow
@pytest.mark.thin(2, kept=2)
@pytest.mark.parametrize("restitution", [0.0, 0.2])
@pytest.mark.parametrize("width", [0.3, 0.05])
@pytest.mark.parametrize("case", ROBOTS)
def test_published_robots_on_their_limits(case, width, restitution):
    name, base, start, loads = ROBOTS[case]
    check_robot(lambda e: robot(name, base, e, width, start), restitution, 4, loads)
