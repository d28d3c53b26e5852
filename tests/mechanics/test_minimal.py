"""Independent states alone: the others close all loops, stay on their branch, and give the same motion."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Minimal
from support.cases import five_bar_with_three_legs, four_bar
from support.driven import TIME, driven, movable
from support.driving import reached
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.minimal import by_differences, largest_gap, minimal_of, run_full, run_minimal
from support.random_mechanisms import FAMILIES, well_posed
from support.spanned import SPANNED

LOOPS = {name: make for name, (make, _) in (FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES).items()}
LOOPS |= SPANNED
# some speeds of a quaternion are independent and others not: a rod between balls turns about itself
TORN = {"RSSR", "RSSP", "SSS", "RSSR_cut_2", "RRS_centred", "RS_on_one_axis", "SS_on_one_axis", "stewart_SPS"}
TORN |= {"legs_RSS", "delta_SS", "ladder_spherical", "ladder_spherical_deep", "free body on three"}
TORN |= {"HSSR", "HSSR_cut_0", "free bodies on three", "planar and spherical"}
SMOOTH = sorted(LOOPS.keys() - TORN)


@pytest.mark.parametrize("name", sorted(TORN))
def test_torn_quaternions_are_refused(name):
    with pytest.raises(lw.MechanismError, match=r"quaternion.*full"):
        scene_in(name)


def scene_in(name, seed=3):
    """A random scene at a state, with independent states."""
    system, state = reached(well_posed(LOOPS[name], seed))
    return system, state, *minimal_of(system, state)


@pytest.mark.thin(12, kept=2)
@pytest.mark.parametrize("name", SMOOTH)
def test_whatever_is_put_closes_everything(name):
    _, state, block, minimal, _, _ = scene_in(name)
    rng = np.random.default_rng(0)
    x = minimal.get()
    for _ in range(4):
        wanted = x + 0.003 * rng.normal(size=x.size)
        minimal.put(wanted)
        assert np.array_equal(minimal.get(), wanted)
        assert largest_gap(block) < 1e-13 * (1 + np.abs(block["u"]).max(initial=0.0))
    minimal.put(x)
    assert np.abs(block["q"] - state.q).max(initial=0.0) < 1e-9
    assert np.abs(block["u"] - state.u).max(initial=0.0) < 1e-8


@pytest.mark.thin(12, kept=2)
@pytest.mark.parametrize("name", SMOOTH)
def test_derivatives_follow_the_dependent_states(name):
    """Of rates and of outputs, by independent states and parameters together, against differences."""
    system, _, block, minimal, states, rates = scene_in(name)
    rng = np.random.default_rng(1)
    at = system.fields
    body, pose = at["body_com"], at["body_position"]
    # masses fit whatever their numbers; geometry is moved in a test of its own
    knowns = np.concatenate([states, np.arange(body.first, body.span.stop, dtype=np.uint32)])
    unknowns = np.concatenate([rates, np.arange(pose.first, pose.span.stop, dtype=np.uint32)])
    along = rng.normal(size=knowns.size)
    along[: states.size] *= 0.1
    x0, n = np.concatenate([minimal.get(), block["body_com"]]), states.size

    def computed(x):
        block.put("body_com", x[n:], valid=0)
        minimal.put(x[:n])
        block["energy_kinetic"]
        return block.reals[unknowns].copy()

    expected = by_differences(computed, x0, along)
    computed(x0)
    found = minimal.directional_derivative(unknowns, knowns, along)
    assert np.abs(found - expected).max(initial=0.0) < 1e-7 * (1 + np.abs(expected).max(initial=0.0))


def test_derivatives_by_geometry():
    """A longer crank turns the other joints: exact against differences, and they are not small."""
    case = four_bar()
    system = lw.compile(case.mechanism)
    block, minimal, _, rates = minimal_of(system, system.assemble(q=case.q, u=case.u), ["A"])
    field = system.fields["parent_position"]
    length = np.array([field.first + 3], np.uint32)  # of joint B on the crank, along it
    at = system.fields
    unknowns = np.concatenate([np.arange(at[f].first, at[f].span.stop) for f in ("q", "u")] + [rates]).astype(np.uint32)
    x = minimal.get()

    def computed(given):
        block.put("parent_position", np.r_[np.zeros(3), given[0], block["parent_position"][4:]], valid=0)
        minimal.put(x)
        block["udot"]
        return block.reals[unknowns].copy()

    start = np.array([0.4])
    expected = by_differences(computed, start, np.ones(1), h=1e-3)
    computed(start)
    found = minimal.directional_derivative(unknowns, length, np.ones(1))
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
    assert np.abs(found[1:3]).min() > 0.1
    assert found[0] == found[3] == 0.0


@pytest.mark.parametrize("name", ["planar_5R", "spatial_7R", "slider_crank", "three_planar_legs", "moving_spatial_7R"])
def test_prescribed_motions_are_followed(name):
    scene = well_posed(LOOPS[name], 1)
    rng = np.random.default_rng(4)
    case = driven(scene, rng, movable(scene)[:1])
    system = lw.compile(case.mechanism)
    state = system.assemble(q=scene.q, u=scene.u, time=TIME)
    block, minimal, _, rates = minimal_of(system, state)
    x = minimal.get()
    for dt in (1e-3, 5e-3, -2e-3):
        block.put("time", TIME + dt)
        minimal.put(x)
        assert largest_gap(block) < 1e-12
    time = np.array([system.fields["time"].first], np.uint32)

    def computed(t):
        block.put("time", t[0])
        minimal.put(x)
        return np.concatenate([minimal.derivatives(), block["q"], block["u"]])

    expected = by_differences(computed, np.array([TIME]), np.ones(1))
    computed(np.array([TIME]))
    q, u = (np.arange(system.fields[f].first, system.fields[f].span.stop) for f in "qu")
    found = minimal.directional_derivative(np.concatenate([rates, q, u]).astype(np.uint32), time, np.ones(1))
    assert np.abs(found - expected).max() < 1e-6 * (1 + np.abs(expected).max())


def geared_arm():
    mech = lw.Mechanism("geared_arm")
    mech.add_body("rotor", mass=0.2, com=(0, 0, 0), inertia=np.diag([1e-4, 1e-4, 1e-4]))
    mech.add_body("arm", mass=2.0, com=(0.4, 0, 0), inertia=np.diag([1e-3, 0.1, 0.1]))
    mech.add_joint("motor", lw.Revolute((0, 1, 0)), "ground", "rotor", at=(0, 0, 0))
    mech.add_joint("arm", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    mech.add_coupling("gear", {"motor": 1.0, "arm": -20.0})
    return mech, {}, {}


def driven_five_bar():
    case = five_bar_with_three_legs()
    name = next(iter(case.q))
    q = float(case.q[name])
    case.mechanism.prescribe(name, lw.Motion((q, 0.0, 0.0, 0.0), 0.2, 0.5, 0.0))
    return case.mechanism, case.q, {}


def gently(mech, q, u):
    """Without weight and so slowly that one choice of independent states is good for all of the motion."""
    mech.gravity = (0, 0, 0)
    fastest = max((np.abs(value).max(initial=0.0) for value in map(np.atleast_1d, u.values())), default=0.0)
    return mech, q, {joint: 0.15 / fastest * np.asarray(value) for joint, value in u.items()} if fastest else {}


def record(case):
    return case.mechanism, case.q, case.u


def family(name, seed=0):
    scene = well_posed(LOOPS[name], seed)
    return gently(scene.mechanism, scene.q, scene.u)


RUNS = {
    "four_bar": lambda: record(four_bar()),
    "five_bar": lambda: gently(*record(five_bar_with_three_legs())),
    "driven_five_bar": driven_five_bar,
    "geared_arm": geared_arm,
    "planar_5R": lambda: family("planar_5R"),
    "spatial_6R_2P": lambda: family("spatial_6R_2P"),
    "moving_spatial_7R": lambda: family("moving_spatial_7R"),
    "two to the ground": lambda: family("two to the ground"),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_motion_is_that_of_all_states(name):
    mech, q, u = RUNS[name]()
    system = lw.compile(mech)
    state = system.assemble(q=q, u=u)
    rtol = 1e-13 if name == "driven_five_bar" else 1e-11  # it passes a fold nearby, at 15 rad/s
    few, all_states = run_minimal(system, state, 2.0, rtol), run_full(system, state, 2.0, rtol)
    for found, expected in zip(few, all_states, strict=True):
        assert np.abs(found - expected).max() < 1e-9 * (1 + np.abs(expected).max())


@pytest.mark.parametrize(("cut", "step"), [("D", 0.03), ("C", 0.03), ("D", 0.9), ("C", 2.0), ("D", 4000.0)])
def test_the_branch_is_kept_over_full_turns(cut, step):
    """A crank-rocker: the pose is the one that the law of cosines gives on this branch, turn after turn."""
    case = four_bar(cut)
    system = lw.compile(case.mechanism)
    block, minimal, _, _ = minimal_of(system, system.assemble(q=case.q, u=case.u), ["A"])
    start = minimal.get()[0]
    for angle in np.arange(start, start + max(25.0, 2.5 * step), step):
        minimal.put(np.array([angle, 1.0]))
        elbow = 0.4 * np.exp(1j * -angle)  # in the plane x, z; the axis is y
        to_foot = 1.1 - elbow
        spread = np.arccos((1.0 + abs(to_foot) ** 2 - 0.8**2) / (2 * abs(to_foot)))
        coupler = -(block["q"][0] + block["q"][1])
        inside = np.angle(np.exp(1j * coupler) * np.conj(to_foot / abs(to_foot)))
        assert abs(abs(inside) - spread) < 1e-12
        assert inside > 0.0


def test_a_fold_is_refused_and_leaves_the_state():
    """The rocker at its limit, where the crank may go either way; beyond it there is no pose."""
    case = four_bar("C")
    system = lw.compile(case.mechanism)
    block, minimal, _, _ = minimal_of(system, system.assemble(q=case.q), ["A"])
    reach = 0.4 + 1.0
    # crank and coupler in one line: the law of cosines in the triangle of both, the rocker and the ground
    crank = -np.arccos((reach**2 + 1.1**2 - 0.8**2) / (2 * reach * 1.1))
    minimal.put(np.array([crank, 0.0]))
    rocker = system.numbering.q["D"].start
    at_limit = Minimal(block, [rocker], [rocker])
    with pytest.raises(lw.SingularityError, match=r"do not determine the others here.*'[AB]'.*states=\"full\""):
        at_limit.put(at_limit.get())
    minimal.put(np.array([crank + 0.5, 1.0]))
    before = np.concatenate([block["q"], block["u"]])
    beyond = Minimal(block, [rocker], [rocker])
    x = beyond.get()
    for far in (1.0, -1.0, 3.0):
        with pytest.raises(lw.SingularityError, match=r"limit of their motion: q of joint '[AB]'"):
            beyond.put(x + np.array([far, 0.0]))
        assert np.array_equal(np.concatenate([block["q"], block["u"]]), before)
    assert beyond.ode(0.0, x + np.array([3.0, 0.0])) is None


def test_numbers_that_are_not_finite_are_refused():
    system = lw.compile(four_bar().mechanism)
    _, minimal, _, _ = minimal_of(system, system.assemble(), ["A"])
    with pytest.raises(lw.MechanismError, match="independent u of joint 'A' is not finite"):
        minimal.put(np.array([0.0, np.nan]))
    with pytest.raises(lw.MechanismError, match="shape"):
        minimal.put(np.zeros(3))


def test_too_many_independent_states_contradict_the_loops():
    case = four_bar()
    system = lw.compile(case.mechanism)
    block = system.block()
    system.enter(block, system.assemble(q=case.q, u=case.u))
    minimal = Minimal(block, [0, 1], [0, 1])
    with pytest.raises(lw.SingularityError, match=r"too many coordinates are independent.*'D'"):
        minimal.put(minimal.get() + np.array([0.1, 0.1, 0.0, 0.0]))


@pytest.mark.parametrize(
    ("q", "u", "text"),
    [((0,), (1,), "without its"), ((1, 0), (0, 1), "ascending"), ((7,), (7,), "ascending"), ((0,), (), "without its")],
)
def test_wrong_choices_are_refused(q, u, text):
    block = lw.compile(four_bar().mechanism).block()
    with pytest.raises(lw.MechanismError, match=text):
        Minimal(block, q, u)
