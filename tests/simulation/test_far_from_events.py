"""Limits that are not reached: no step is searched for them, and events are those of a run in which every step is."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core._core import ffi, lib

NEVER = lw.EventFunction(lambda t, state: 1.0)  # of which nothing is known, so that every step is searched
MANY = 500


def chain(rng, n=3, *, lower, upper, restitution=0.6):
    """Links in a row, each with a stop."""
    mech = lw.Mechanism("chain", gravity=tuple(rng.normal(size=3) * 4.0))
    for k in range(n):
        mech.add_body(f"b{k}", mass=rng.uniform(0.5, 2.0), com=(0.2, 0, 0), inertia=lw.inertia.rod(1.0, 0.4))
        frames = {"parent_frame": lw.Frame((0.4, 0, 0) if k else (0, 0, 0)), "child_frame": lw.Frame()}
        axis = rng.normal(size=3)
        kind = lw.Prismatic(axis) if k == 1 else lw.Revolute(axis)
        mech.add_joint(f"J{k}", kind, f"b{k - 1}" if k else "ground", f"b{k}", **frames)
        mech.add_transition(f"s{k}", lw.Stop(f"J{k}", lower=lower, upper=upper, restitution=restitution))
    mech.start(q={f"J{k}": rng.uniform(0.3 * lower, 0.3 * upper) for k in range(n)})
    return mech


def four_bar(**stops):
    """A crank-rocker with stops, (lower, upper), on some joints; D closes the loop."""
    mech = lw.Mechanism("four_bar")
    lengths = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8}
    for name, length in lengths.items():
        mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length))
    axis = (0, 1, 0)
    mech.add_joint("A", lw.Revolute(axis), "ground", "crank", parent_frame=lw.Frame(), child_frame=lw.Frame())
    for joint, parent, child in (("B", "crank", "coupler"), ("C", "coupler", "rocker")):
        frames = {"parent_frame": lw.Frame((lengths[parent], 0, 0)), "child_frame": lw.Frame()}
        mech.add_joint(joint, lw.Revolute(axis), parent, child, **frames)
    frames = {"parent_frame": lw.Frame((1.0, 0, 0)), "child_frame": lw.Frame((0.8, 0, 0))}
    mech.add_joint("D", lw.Revolute(axis), "ground", "rocker", cut=True, **frames)
    for joint, (lower, upper) in stops.items():
        mech.add_transition(f"stop_{joint}", lw.Stop(joint, lower=lower, upper=upper, restitution=0.5))
    mech.start(q={"A": 0.9, "B": 0.4}, u={"A": 0.0})
    return mech


def both(mech, t_end, **options):
    """A run, and one in which every step is searched."""
    model = lw.compile(mech)
    return lw.simulate(model, t_end, **options), lw.simulate(model, t_end, events=[NEVER], **options)


def same_events(found, expected, rtol=1e-9):
    assert [event.transitions for event in found.events] == [event.transitions for event in expected.events]
    for one, other in zip(found.events, expected.events, strict=True):
        assert one.t == pytest.approx(other.t, rel=rtol)
        np.testing.assert_allclose(one.u_after, other.u_after, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found.y[-1], expected.y[-1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("solver", ["dopri5", "dop853", "rodas5p"])
@pytest.mark.parametrize("seed", range(4))
def test_bounces_of_random_chains(seed, solver):
    found, expected = both(chain(np.random.default_rng(seed), lower=-0.5, upper=0.6), 0.6, solver=solver)
    same_events(found, expected)
    assert found.events


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p"])
@pytest.mark.parametrize("joint", ["A", "B", "C", "D"])
def test_bounces_of_each_joint_of_a_loop(joint, solver):
    """Also of the one that closes it, whose angle is no state."""
    angle = lw.simulate(four_bar(), 0.8)[f"{joint}.q"]
    farthest = angle[np.argmax(np.abs(angle - angle[0]))]
    reached = sorted((angle[0] + 0.7 * (farthest - angle[0]), angle[0] - 9.0 * np.sign(farthest - angle[0])))
    stops = {"A": (-9.0, 9.0)} | {joint: tuple(reached)}
    found, expected = both(four_bar(**stops), 0.8, solver=solver)
    same_events(found, expected)
    assert found.events


@pytest.mark.parametrize("depth", [1e-3, 1e-6])
def test_a_swing_that_just_touches(depth):
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=1.0, com=(0, 0, -0.5), inertia=lw.inertia.rod(1.0, 1.0, axis="z"))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_transition("s", lw.Stop("A", lower=-0.5 + depth, restitution=0.9))
    mech.start(q={"A": 0.5}, u={"A": 0.0})
    found, expected = both(mech, 1.5, rtol=1e-10)
    same_events(found, expected)
    assert len(found.events) == 1


# ---- what is not computed


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "auto"])
def test_limits_that_are_not_reached_are_not_looked_at(solver, sampled):
    """Neither in steps nor where samples change the loads; the states have the bits of a run without limits."""
    control = {"controller": lambda t, state: {"A": np.sin(9.0 * t)}, "sample_time": 0.02} if sampled else {}
    far = dict.fromkeys("ABCD", (-20.0, 20.0))
    found = lw.simulate(four_bar(**far), 0.5, solver=solver, **control)
    free = lw.simulate(four_bar(), 0.5, solver=solver, **control)
    assert found.statistics.event_evaluations == 0
    assert found.statistics.steps == free.statistics.steps
    assert found.y.tobytes() == free.y.tobytes()


def test_loads_of_samples_lift_a_part_off_its_stop():
    """A joint that rests on a stop is looked at, since loads decide whether it stays."""
    mech = lw.Mechanism("block")
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("z", lw.Prismatic((0, 0, 1)), "ground", "block", at=(0, 0, 0))
    mech.add_transition("floor", lw.Stop("z", lower=0.0))
    mech.add_transition("high", lw.Stop("z", upper=50.0))
    result = lw.simulate(
        mech, 1.0, controller=lambda t, state: {"z": 9.0 if t < 0.495 else 19.81}, sample_time=0.01, rtol=1e-9
    )
    lifted = [event.t for event in result.events if event.t > 0.1]
    assert lifted == [pytest.approx(0.5, abs=1e-12)]
    assert result["z.q"][-1] == pytest.approx(10.0 * 0.5**2 / 2, rel=1e-9)


# ---- bounds against indicators


def indicators_of(block, t, y):
    size = block.model.sizes.event_indicators
    found = ffi.new("double[]", size)
    assert lib.lw_ode_mechanism_events(block.handle, t, ffi.from_buffer("double[]", y), found) == 0
    return np.array(ffi.unpack(found, size))


@pytest.mark.parametrize(
    "mech", [chain(np.random.default_rng(7), 4, lower=-2.0, upper=2.0), four_bar(A=(-3, 3), D=(-4, 4))]
)
def test_indicators_stay_within_their_bounds(mech):
    """Of a motion that stays within a box, at random times."""
    model = lw.compile(mech)
    result = lw.simulate(model, 1.0, t_eval=np.linspace(0.0, 1.0, 2001))
    block, y, rng = model.block(), np.ascontiguousarray(result.y), np.random.default_rng(3)
    model.enter(block, result.state(0.0))
    size = block.model.sizes.event_indicators
    widths = []
    for first in rng.integers(0, 1980, MANY // 10):
        last = first + rng.integers(1, 20)
        inside = y[first : last + 1]
        low, high = (np.ascontiguousarray(one) for one in (inside.min(axis=0), inside.max(axis=0)))
        box = ffi.new("lw_ode_box *")
        box.t, box.duration = result.t[last], result.t[last] - result.t[first]
        kept = [ffi.from_buffer("double[]", np.ascontiguousarray(one)) for one in (y[last], low, high)]
        box.y, box.y_low, box.y_high = kept
        bounds = [ffi.new("double[]", size) for _ in range(2)]
        assert lib.lw_ode_mechanism_bounds(block.handle, box, *bounds) == 0
        below, above = (np.array(ffi.unpack(one, size)) for one in bounds)
        for k in range(first, last + 1, 3):
            values = indicators_of(block, result.t[k], y[k])
            assert (values >= below - 1e-9).all()
            assert (values <= above + 1e-9).all()
        widths.append(np.min(above - below))
    assert np.median(widths) < 0.2
