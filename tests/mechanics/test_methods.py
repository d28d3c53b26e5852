"""Every method about every reference point: one mechanism, one motion."""

import pickle

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from support.builder import moved
from support.cases import four_bar, windows
from support.driving import by_joint, largest_difference, random_loads, reached, wrenches
from support.gear_families import GEAR_FAMILIES
from support.joint_families import ALL_KINDS, JOINT_FAMILIES
from support.published import ladder
from support.random_mechanisms import FAMILIES, random_tree, well_posed
from support.state_neighbours import slopes

MULTIPLIERS = [("multipliers", reference) for reference in ("joint", "centroid", "origin")]
WHOLE = [*MULTIPLIERS, ("dca", "auto")]  # that take the whole mechanism
METHODS = [("rcr", "auto"), ("embedding", "auto"), *WHOLE]
ALL = FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES
# hinges and slides, all kinds of joints, redundant loops, loops on loops, couplings, springs, reversed joints
SOME = ["planar_4R_springs", "slider_crank_cut_slider", "rails_2P", "door_2R", "moving_spatial_7R", "coupled"]
SOME += ["closed_by_fixed", "RRER_flat", "PUCS_cut_2", "stewart", "ladder_mixed", "coupled_in_space", "closed_by_free"]
SOME += ["universal_backward", "free_cut", "gear_in_loop", "cam_on_cut_joint", "gear_branches"]
SOME += ["screw_tree", "screw_backward", "screw_cut", "pin_in_slot_backward", "pin_in_slot_cut", "HTSR", "HSSR_cut_0"]
SOME += ["curved_slide_tree", "curved_slide_backward", "curved_slide_cut", "curved_slot_backward", "curved_slot_cut"]
REPEATING = ["loop_on_loop", "side_by_side", "RS_on_one_axis", "tangled_4"]  # constraints, in several loops at once


def drawn(family, seed):
    return well_posed(ALL[family][0], seed)


def relative(found, expected):
    return float(np.abs(np.subtract(found, expected)).max(initial=0.0) / np.abs(expected).max(initial=1.0))


def of_methods(*methods):
    return pytest.mark.parametrize("method", methods, ids=lambda method: "-".join(method).removesuffix("-auto"))


@pytest.mark.thin(24, kept=3)
@of_methods(*METHODS)
@pytest.mark.parametrize("family", ALL)
def test_accelerations_of_all_joints(family, method):
    scene = drawn(family, 0)
    system, state = reached(scene, *method)
    tau = random_loads(np.random.default_rng(0), scene)
    found = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(found, scene.oracle.solve(scene.u, tau).udot) < 1e-10


@of_methods(*WHOLE)
@pytest.mark.parametrize("seed", range(3))
def test_trees_have_no_multipliers(seed, method):
    scene = random_tree(np.random.default_rng(seed), 9, ALL_KINDS, springs=3, reverse=0.5)
    system, state = reached(scene, *method)
    tau = random_loads(np.random.default_rng(1), scene)
    found = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(found, scene.oracle.solve(scene.u, tau).udot) < 1e-11


@of_methods(*METHODS[1:])
@pytest.mark.parametrize("deep", [False, True])
def test_ladder_of_ten(deep, method):
    """Three redundant rows a loop, and every loop coupled to all others."""
    case = ladder(10, deep)
    states = [lw.compile(case.mechanism, *m).assemble(q=case.q, u=case.u) for m in (("rcr",), method)]
    expected, found = (state.model.accelerations(state) for state in states)
    assert relative(found, expected) < 1e-11
    assert relative(found.cut, expected.cut) < 1e-11


@of_methods(*METHODS[1:])
def test_windows_agree(method):
    case = windows(10)
    q = {name: angles[12] for name, angles in case.motion.items()}
    states = [lw.compile(case.mechanism, *m).assemble(q=q, u=case.u) for m in (("rcr",), method)]
    expected, found = (state.model.accelerations(state, tau={"A0": 1.0, "C3": -2.0}) for state in states)
    assert relative(found, expected) < 1e-10


@pytest.mark.thin(16, kept=4)
@of_methods(*METHODS)
@pytest.mark.parametrize("family", SOME + REPEATING)
def test_jacobian_against_central_differences(family, method):
    """Pivots, reference points and couplings in complex arithmetic."""
    system, state = reached(drawn(family, 0), *method)
    expected = slopes(system, state)
    assert system.jacobian(state) == pytest.approx(expected, abs=2e-6 * np.abs(expected).max())


@pytest.mark.thin(16, kept=4)
@of_methods(*METHODS[1:])
@pytest.mark.parametrize("family", SOME + REPEATING)
def test_jacobians_agree_along_the_motion(family, method):
    """Near closed poses, methods may differ in which of the constraints that repeat one another they take."""
    scene = drawn(family, 0)
    loads = [random_loads(np.random.default_rng(seed), scene) for seed in range(3)]
    found = []
    for each in (("rcr",), method):
        system, state = reached(scene, *each)
        moved_on = [system.jacobian(state) @ system.derivatives(state, tau=tau) for tau in loads]
        found.append(np.array(moved_on))
    assert relative(found[1], found[0]) < 1e-8


@pytest.mark.thin(16, kept=4)
@of_methods(*WHOLE)
@pytest.mark.parametrize("family", SOME)
def test_the_rest_is_that_of_the_default(family, method):
    scene = drawn(family, 1)
    (usual, state), (system, other) = reached(scene), reached(scene, *method)
    tau = random_loads(np.random.default_rng(3), scene)
    assert system.energy(other) == pytest.approx(usual.energy(state), rel=1e-12)
    assert relative(system.loop_residual(other), usual.loop_residual(state)) < 1e-12
    found, expected = wrenches(system, other, tau), wrenches(usual, state, tau)
    scale = max(np.abs(wrench).max() for wrench in expected.values())
    for name, wrench in expected.items():
        assert found[name] == pytest.approx(wrench, abs=1e-9 * scale)
    for kind in "qu":
        for name in system.loop_names:
            if scene.mechanism.joints[name].kind.nu:
                assert other[f"{name}.{kind}"] == pytest.approx(state[f"{name}.{kind}"], abs=1e-11)
    wanted = system.accelerations(other, tau=tau)
    assert relative(system.inverse_dynamics(other, wanted), usual.inverse_dynamics(state, wanted)) < 1e-9
    assert relative(system.mass_matrix(other), usual.mass_matrix(state)) < 1e-13


@of_methods(*WHOLE)
@pytest.mark.parametrize("family", ["planar_4R", "bennett_4R", "moving_planar_4R", "loop_on_loop", "RRRU_flat"])
@pytest.mark.parametrize("off", [1e-6, 1e-4])
def test_redundant_loops_stay_redundant_off_the_closed_poses(family, off, method):
    """Constraints that hold by themselves where loops are closed must not lock a joint where they nearly are."""
    scene = drawn(family, 0)
    usual, state = reached(scene)
    q = state.q + off * np.random.default_rng(0).normal(size=state.q.shape)
    found = lw.compile(scene.mechanism, *method).accelerations(q, state.u)
    assert relative(found, usual.accelerations(q, state.u)) < 100 * off


@of_methods(*MULTIPLIERS)
def test_conditioning_tells_a_singular_pose(method):
    """The flat rhombus: two bars in line with two others."""
    mech = lw.Mechanism("rhombus")
    for k, (name, parent) in enumerate([("a", "ground"), ("b", "a"), ("c", "b")]):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0, axis="x"))
        at = lw.Frame((1.0, 0, 0)) if k else lw.Frame()
        mech.add_joint(f"j{k}", lw.Revolute((0, 0, 1)), parent, name, parent_frame=at)
    ends = {"parent_frame": lw.Frame((1.0, 0, 0)), "child_frame": lw.Frame((1.0, 0, 0))}
    mech.add_joint("end", lw.Revolute((0, 0, 1)), "ground", "c", cut=True, **ends)
    system = lw.compile(mech, *method)
    found = []
    for angle in (0.5, 0.05, 0.005):
        block = system.block()
        block.enter(np.array([angle, -angle, angle - np.pi]), np.zeros(3), np.zeros(4))
        found.append(block["loop_conditioning"][0])
    assert found[1] == pytest.approx(0.1 * found[0], rel=0.1)
    assert found[2] == pytest.approx(0.1 * found[1], rel=0.1)


FAR = np.array([0.6, -0.64, 0.48])


@pytest.mark.parametrize("family", ["moving_spatial_7R", "planar_4R", "RUSR"])
def test_digits_far_from_the_origin(family):
    """About the origin 2 log10(distance/size) digits are lost, about points of the mechanism none."""
    mechanism, (usual, state) = (scene := drawn(family, 1)).mechanism, reached(drawn(family, 1))
    expected = usual.accelerations(state)
    assert scene.u.keys() == set(by_joint(usual, expected))
    for reference, least, most in (("joint", 0.0, 1e-11), ("centroid", 0.0, 1e-11), ("origin", 1e-11, 1e-5)):
        far = lw.compile(moved(mechanism, 1e4 * FAR), "multipliers", reference)
        assert least <= relative(far.accelerations(state.q, state.u), expected) < most
        near = lw.compile(moved(mechanism, 1e1 * FAR), "multipliers", reference)
        assert relative(near.accelerations(state.q, state.u), expected) < 1e-11


@pytest.fixture
def displaced():
    """A four-bar off its closed poses and speeds, solved by clusters and by multipliers."""
    systems = [lw.compile(four_bar().mechanism, method) for method in ("rcr", "multipliers")]
    state = systems[0].assemble()
    blocks = [system.block() for system in systems]
    for block in blocks:
        block.enter(state.q + np.array([0, 2e-3, -1e-3]), state.u + np.array([0, 0.03, 0.02]), np.zeros(4))
    return blocks


def test_without_gains_the_rates_are_the_speeds(displaced):
    """Only accelerations are held then: positions and speeds drift."""
    _, block = displaced
    block.put("correction_gain", 0.0, Stage.NONE)
    assert np.array_equal(block["qdot"], block["u"])
    assert np.array_equal(block["udot"], block["acceleration"][:3])


def test_feedback_on_the_speeds(displaced):
    """Both methods draw the speeds to the same admissible ones, which the coordinates follow at once."""
    for block in displaced:
        block.put("correction_gain", np.array([0.0, 3.0]), Stage.NONE)
    clusters, multipliers = displaced
    assert multipliers["qdot"] == pytest.approx(clusters["qdot"], abs=1e-14)
    off = multipliers["u"] - clusters["qdot"]
    assert np.abs(off).max() > 1e-3
    for block in displaced:
        assert block["udot"] == pytest.approx(block["acceleration"][:3] - 3.0 * off, abs=1e-12)


def test_feedback_on_the_positions(displaced):
    _, block = displaced
    rates = []
    for gain in (0.0, 1.0, 2.0):
        block.put("correction_gain", np.array([gain, 1.0]), Stage.NONE)
        rates.append(block["qdot"].copy())
    assert rates[2] - rates[0] == pytest.approx(2 * (rates[1] - rates[0]), abs=1e-14)
    gap = block["loop_residual"][0]
    block.put("q", block["q"] + 1e-3 * (rates[1] - rates[0]))
    assert block["loop_residual"][0] == pytest.approx((1 - 1e-3) * gap, rel=1e-5)


@of_methods(*METHODS[1:])
def test_motion_of_a_four_bar(method):
    mech = four_bar().mechanism
    options = {"t_end": 1.0, "t_eval": np.linspace(0, 1, 11), "rtol": 1e-10, "atol": 1e-11}
    expected, found = (lw.simulate(lw.compile(mech, *m), **options) for m in (("rcr",), method))
    for name in ("A.q", "D.q", "B.u"):
        assert found[name] == pytest.approx(expected[name], abs=1e-7)


@of_methods(*METHODS)
def test_pickling_keeps_method_and_reference(method):
    system = lw.compile(four_bar().mechanism, *method)
    other = pickle.loads(pickle.dumps(system))
    assert (other.method, other.reference) == (system.method, system.reference) == method
    assert other.model_bytes == system.model_bytes
    assert len({lw.compile(four_bar().mechanism, *m).model_bytes for m in METHODS}) == len(METHODS)


def test_the_default_point_of_multipliers_is_the_joint():
    mech = four_bar().mechanism
    assert lw.compile(mech, "multipliers").model_bytes == lw.compile(mech, "multipliers", "joint").model_bytes


@pytest.mark.parametrize("method", ["auto", "rcr", "embedding"])
@pytest.mark.parametrize("reference", ["centroid", "origin"])
def test_references_are_for_multipliers(method, reference):
    with pytest.raises(lw.MechanismError, match=f"reference '{reference}' is for method 'multipliers'"):
        lw.compile(four_bar().mechanism, method, reference)


def test_too_many_constraints_for_one_matrix():
    """Flaps, each on two hinges: all their constraints are solved at once."""
    mech = lw.Mechanism("doors")
    for k in range(1700):
        mech.add_body(f"door{k}", mass=1.0, com=(0.5, 0, 0), inertia=np.eye(3))
        for hinge, height in (("low", 0.5), ("high", 1.5)):
            frame = lw.Frame((0, 0, height))
            place = {"parent_frame": lw.Frame((k, 0, height)), "child_frame": frame}
            mech.add_joint(f"{hinge}{k}", lw.Revolute((0, 0, 1)), "ground", f"door{k}", **place)
    with pytest.raises(
        lw.MechanismError, match=r"no memory for 1700 loops and 0 couplings on 1700 bodies.*another method"
    ):
        lw.compile(mech, "multipliers")
