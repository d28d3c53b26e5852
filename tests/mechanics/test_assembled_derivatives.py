"""Derivatives through assembly: closed forms, differences of assembly itself, and the chain rule."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from support.cases import five_bar_with_three_legs, four_bar, windows
from support.differences import LIMIT, ONE, along, matrix, offsets, relative
from support.driven import TIME, driven
from support.driven_slider_crank import driven_slider_crank
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.quarter_car import quarter_car_multilink
from support.random_mechanisms import FAMILIES, random_tree, well_posed
from support.spanned import SPANNED

TOLERANCE = 1e-9  # m
Y = (0, 1, 0)
STATES = ("q", "u")
COMPUTED = (*STATES, "qdot", "udot", "q_cut", "u_cut", "body_position", "reaction_force", "energy_kinetic")
KNOWNS = ("q_start", "u_start", "gravity", "body_mass", "parent_position", "child_position", "parent_orientation")
KNOWNS += ("coupling_coefficient", "coupling_offset", "coupling_motion", "distance_points", "motion_in", "time")
KNOWNS += ("joint_parameter",)

LOOPS = ["planar_5R", "spatial_7R", "slider_crank_cut_slider", "moving_planar_4R", "loop_on_loop", "coupled"]
SEVERAL = [
    "RUSR",
    "RCCC",
    "universal_cut",
    "planar_cut",
    "screw_cut",
    "screw_tree",
    "pin_in_slot_cut",
    "curved_slide_cut",
    "curved_slot_cut",
    "spherical_tree",
    "free_tree",
    "stewart",
    "ladder_mixed",
]
GEARS = ["gear_of_three", "cam", "gear_branches", "gear_in_loop", "gear_on_cut_joint", "rack"]
DISTANCES = ["chain within", "free bodies on three", "across a five-bar", "moving slider crank"]
MADE = FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES
WITHOUT_QUATERNIONS = [*LOOPS, "RCCC", "universal_cut", "planar_cut", "cam", "gear_in_loop", "rack"]
WITHOUT_QUATERNIONS += ["chain within", "across a five-bar", "moving slider crank"]
ALL = [*LOOPS, *SEVERAL, *GEARS, *DISTANCES]


def assembled(mechanism, q=None, u=None, time=0.0):
    system = lw.compile(mechanism)
    block = system.block()
    system.set_starts(block, q, u)
    block.put_motion(time, block["motion_in"].copy())
    block.assemble(TOLERANCE)
    return block


def start_there(block):
    """Assembly begins where it ended."""
    block.reals[block.model.fields["q_start"].span] = np.concatenate([block["q"], block["q_cut"]])
    again(block)


def hold(block, speeds):
    """Keeps the coordinates and speeds of these speeds and no others."""
    spans = {name: block.model.fields[name].span for name in ("q_priority", "u_priority")}
    for span in spans.values():
        block.reals[span] = 0.0
    for u in speeds:
        for span in spans.values():
            block.reals[span.start + u] = 1.0
    again(block)


def again(block):
    block.put("time", block["time"].copy(), Stage.NONE)
    block.assemble(TOLERANCE)


def reassembled(block, unknowns):
    def read():
        block.assemble(TOLERANCE)
        block.evaluate(Stage.OUTPUTS)
        return block.reals[unknowns]

    return read


def check_against_differences(block, seed=0, count=2, knowns=KNOWNS, h=1e-3):
    """Some numbers of each field; no assembly exists next to a state without derivatives."""
    rng = np.random.default_rng(seed)
    unknowns, checked = offsets(block, *COMPUTED), 0
    for field in knowns:
        there = offsets(block, field)
        for known in rng.choice(there, min(count, there.size), replace=False):
            where = np.array([known])
            try:
                exact = block.assembled_derivative(unknowns, where, ONE)
            except lw.SingularityError:
                with pytest.raises(lw.AssemblyError):
                    along(block, known, reassembled(block, unknowns))
            else:
                found = along(block, known, reassembled(block, unknowns), h)
                assert relative(exact, found) < LIMIT, (field, known)
                checked += 1
            again(block)
    assert checked >= 6


def scene_of(name):
    if name in DISTANCES:
        return well_posed(SPANNED[name], 1)
    return well_posed(MADE[name][0], 1)


@pytest.mark.parametrize("name", ALL)
def test_nothing_held(name):
    """The least way from start values on the manifold, and the least change of speeds that are not."""
    scene = scene_of(name)
    block = assembled(scene.mechanism, scene.q, scene.u)
    start_there(block)
    hold(block, [])
    block.put("u_start", block["u_start"] + np.random.default_rng(1).normal(size=block["u_start"].size))
    again(block)
    check_against_differences(block, h=5e-5)  # damping is of the order of h


@pytest.mark.parametrize("name", WITHOUT_QUATERNIONS)
def test_independents_held(name):
    """As many coordinates and speeds as are free: all others follow."""
    scene = scene_of(name)
    block = assembled(scene.mechanism, scene.q, scene.u)
    start_there(block)
    block.evaluate(Stage.OUTPUTS)
    hold(block, block.independents(0))
    check_against_differences(block, seed=1)


def four_bar_slopes(lengths, angles, speeds, by_angle, by_length, by_speed):
    """Of the absolute angles and their rates behind the crank's: l r + m r' + n r'' = constant, once and twice."""
    r = np.array([[np.cos(a), -np.sin(a)] for a in angles])
    t = np.array([[-np.sin(a), -np.cos(a)] for a in angles])
    closing = (np.array(lengths[1:])[:, None] * t[1:]).T
    turned = np.linalg.solve(closing, -(lengths[0] * t[0] * by_angle + by_length * r[0]))
    first = (by_length * t[0] - lengths[0] * r[0] * by_angle) * speeds[0] + lengths[0] * t[0] * by_speed
    others = sum(-n * ri * w * d for n, ri, w, d in zip(lengths[1:], r[1:], speeds[1:], turned, strict=True))
    return turned, np.linalg.solve(closing, -(first + others))


def test_four_bar_in_closed_form():
    case = four_bar()
    block = assembled(case.mechanism, {"A": case.q["A"]}, {"A": case.u["A"]})
    lengths, angles, speeds = (0.4, 1.0, 0.8), np.cumsum(block["q"]), np.cumsum(block["u"])
    of_b = offsets(block, "parent_position").reshape(-1, 3)[1, 0]
    cases = {"q_start": (1.0, 0.0, 0.0), "length": (0.0, 1.0, 0.0), "u_start": (0.0, 0.0, 1.0)}
    for name, (by_angle, by_length, by_speed) in cases.items():
        known = of_b if name == "length" else offsets(block, name)[0]
        found = block.assembled_derivative(offsets(block, *STATES), np.array([known]), ONE)
        turned, quickened = four_bar_slopes(lengths, angles, speeds, by_angle, by_length, by_speed)
        assert np.cumsum(found[:3]) == pytest.approx([by_angle, *turned], rel=1e-12, abs=1e-12)
        assert np.cumsum(found[3:]) == pytest.approx([by_speed, *quickened], rel=1e-12, abs=1e-12)


def test_trees_are_what_is_given():
    rng = np.random.default_rng(0)
    scene = random_tree(rng, 8, ("revolute", "prismatic", "universal", "spherical", "free"))
    block = assembled(scene.mechanism, scene.q, scene.u)
    quaternions = block.model.sizes.nq - block.model.sizes.nu
    assert quaternions > 0
    block.put("q_start", 1.7 * block["q_start"])
    again(block)
    moved = matrix(block.assembled_derivative, offsets(block, "q"), offsets(block, "q_start"))
    expected, at = np.eye(block.model.sizes.nq), 0
    for name in lw.compile(scene.mechanism).joint_names:
        kind = scene.mechanism.joints[name].kind
        if kind.nq != kind.nu:
            span = slice(at + kind.nq - 4, at + kind.nq)
            given = block["q_start"][span]
            size = np.linalg.norm(given)
            expected[span, span] = (np.eye(4) - np.outer(given, given) / size**2) / size
        at += kind.nq
    assert moved == pytest.approx(expected, abs=1e-14)
    quick = matrix(block.assembled_derivative, offsets(block, *STATES), offsets(block, "u_start"))
    assert np.array_equal(quick, np.eye(block.model.sizes.nq + block.model.sizes.nu)[:, block.model.sizes.nq :])
    check_against_differences(block, count=3)


@pytest.mark.parametrize("name", ["planar_5R", "spatial_7R", "tree"])
def test_prescribed_motion(name):
    rng = np.random.default_rng(3)
    scene = random_tree(rng, 5) if name == "tree" else well_posed(FAMILIES[name][0], 3)
    joint = next(n for n, j in scene.mechanism.joints.items() if j.kind.nu == 1 and n in scene.q)
    made = driven(scene, rng, [joint])
    block = assembled(made.mechanism, scene.q, scene.u, TIME)
    start_there(block)
    hold(block, [])
    check_against_differences(block, count=4, h=2e-4)


def test_joints_that_meet():
    """Next to joints at one point of a link the mean length of a loop's links has no slope; all else has."""
    block = assembled(driven_slider_crank(), time=0.2)
    knowns = ("parent_position", "child_position", "motion_in", "time")
    check_against_differences(block, count=12, knowns=knowns)


def test_quarter_car():
    block = assembled(quarter_car_multilink().mechanism)
    knowns = ("q_start", "u_start", "gravity", "parent_position", "child_position")
    check_against_differences(block, count=6, knowns=knowns, h=2e-4)


def test_two_freedoms_given():
    case = five_bar_with_three_legs()
    block = assembled(case.mechanism, case.q, {"A": 0.8, "B": -1.1})
    free = offsets(block, "u_start")[2:]
    assert np.abs(matrix(block.assembled_derivative, offsets(block, "u"), free)).max() < 1e-15
    check_against_differences(block, count=3, knowns=("u_start", "gravity", "body_mass"))


def test_what_was_let_go_has_no_part():
    case = four_bar()
    block = assembled(case.mechanism, {"A": case.q["A"], "B": case.q["B"] + 0.1})
    unknowns, knowns = offsets(block, *STATES), offsets(block, "q_start")[:2]
    assert block["q"][:2] == pytest.approx([case.q["A"], case.q["B"]], abs=1e-12)
    both = matrix(block.assembled_derivative, unknowns, knowns)
    alone = assembled(case.mechanism, case.q)
    hold(alone, [0])
    assert both == pytest.approx(matrix(alone.assembled_derivative, unknowns, knowns), abs=1e-12)
    assert both[0, 0] == 1.0
    assert np.abs(both[:, 1]).max() < 1e-15


@pytest.mark.parametrize("given", [("A", "B", "C", "D"), ("D", "B", "C", "A")])
def test_more_is_given_than_is_free(given):
    """Along a seed that cannot keep all, the last given go, as they do in assembly."""
    case = four_bar()
    block = assembled(case.mechanism, {n: case.q[n] for n in given}, {n: case.u[n] for n in given})
    check_against_differences(block, count=4, knowns=("q_start", "u_start", "gravity", "body_mass"))


@pytest.mark.parametrize("seed", range(6))
def test_what_is_let_go_beside_quaternions(seed):
    """All is given, and the offset of a coupling asks for other coordinates: those that assembly releases follow."""
    scene = well_posed(GEAR_FAMILIES["cam_on_cut_joint"][0], seed)
    block = assembled(scene.mechanism, scene.q, scene.u)
    unknowns, known = offsets(block, "q", "q_cut"), offsets(block, "coupling_offset")
    exact = block.assembled_derivative(unknowns, known, ONE)
    assert relative(exact, along(block, known[0], reassembled(block, unknowns), 1e-4)) < LIMIT


@pytest.mark.parametrize(("made", "steepest"), [(GEAR_FAMILIES["cam"][0], 500), (SPANNED["tree with a weld"], 100)])
def test_steep_offsets(made, steepest):
    """Where a cam is nearly flat, or a distance nearly stretched, differences need short steps."""
    scene = well_posed(made, 1)
    block = assembled(scene.mechanism, scene.q, scene.u)
    unknowns, known = offsets(block, *STATES, "udot"), offsets(block, "coupling_offset")[:1]
    exact = block.assembled_derivative(unknowns, known, ONE)
    assert np.abs(exact).max() > steepest
    assert relative(exact, along(block, known[0], reassembled(block, unknowns), 1e-5)) < LIMIT


def test_many_loops():
    """Too many for one matrix: assembled loop by loop."""
    case = windows(70)
    block = assembled(case.mechanism, case.q, case.u)
    first = next(iter(case.q))
    start_there(block)
    hold(block, [lw.compile(case.mechanism).numbering.u[first].start])
    check_against_differences(block, count=1, knowns=("q_start", "u_start", "gravity", "body_mass") * 2)


@pytest.mark.parametrize("method", ["rcr", "multipliers", "dca"])
def test_chain_rule(method):
    """All that is computed follows from the states and the known by themselves; all is linear in the seeds."""
    case = four_bar()
    case.mechanism.add_transition("stop", lw.Stop("A", upper=case.q["A"] + 0.1))
    case.mechanism.add_transition("pass", lw.Lock("D"), when=lw.Crossing("D.q", 1.0))
    system = lw.compile(case.mechanism, method)
    block = system.block()
    system.set_starts(block, {"A": case.q["A"]}, {"A": case.u["A"]})
    block.assemble(TOLERANCE)
    block.start_events()
    states = offsets(block, *STATES)
    behind = np.arange(system.sizes.reals, system.sizes.reals + 2, dtype=np.uint32)
    unknowns = np.concatenate([offsets(block, *COMPUTED), behind])
    rng = np.random.default_rng(0)
    knowns = offsets(block, "q_start", "u_start", "body_mass", "stiffness", "transition_value", "tau")
    seed = rng.normal(size=knowns.size)
    moved = block.assembled_derivative(states, knowns, seed)
    settled = ~np.isin(knowns, offsets(block, "q_start", "u_start"))
    both, seeds = np.concatenate([knowns[settled], states]), np.concatenate([seed[settled], moved])
    found = block.assembled_derivative(unknowns, knowns, seed)
    assert relative(found, block.directional_derivative(unknowns, both, seeds)) < 1e-12
    assert relative(found, matrix(block.assembled_derivative, unknowns, knowns) @ seed) < 1e-12


def test_refusals():
    case = four_bar()
    block = assembled(case.mechanism, {"A": case.q["A"]}, {"A": case.u["A"]})
    q, out_of_plane = offsets(block, "q"), offsets(block, "parent_position").reshape(-1, 3)[1, 1:2]
    with pytest.raises(lw.MechanismError, match="is a state: it follows from start values"):
        block.assembled_derivative(q, q[:1], ONE)
    with pytest.raises(lw.MechanismError, match="nothing depends on it"):
        block.assembled_derivative(q, offsets(block, "qdot")[:1], ONE)
    with pytest.raises(lw.MechanismError, match="not finite"):
        block.assembled_derivative(q, offsets(block, "q_start")[:1], np.array([np.nan]))
    with pytest.raises(lw.SingularityError, match="loop closed by joint 'D' cannot stay closed"):
        block.assembled_derivative(q, out_of_plane, ONE)
    block.put("u", block["u"] + 0.1)
    with pytest.raises(lw.MechanismError, match="assemble the mechanism first"):
        block.assembled_derivative(q, offsets(block, "q_start")[:1], ONE)
