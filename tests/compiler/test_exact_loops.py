"""Overconstrained loops whose frames were written with some digits are the exact ones, and corrections are reported."""

import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import RoundingWarning, StartValueWarning
from support.rounded_loops import (
    ROUNDED_LOOPS,
    ball_on_crank,
    bennett,
    cranks,
    hinged_twice,
    rounded,
    sarrus,
    scissors,
    swing,
    three_legs,
)

DIGITS = (17, 12, 10, 9, 7, 6, 5)


def four_bar(error=0.0, gap=0.0):
    mech = lw.Mechanism("four_bar")
    for name, length in (("a", 0.4), ("b", 1.0), ("c", 0.8)):
        mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length))
    y = lw.Revolute((0, 1, 0))
    mech.add_joint("A", y, "ground", "a", parent_frame=lw.Frame())
    mech.add_joint("B", y, "a", "b", parent_frame=lw.Frame((0.4, 0, 0)))
    mech.add_joint("C", y, "b", "c", parent_frame=lw.Frame((1.0, gap, 0)))
    ends = {"parent_frame": lw.Frame((0.9, 0, 0)), "child_frame": lw.Frame((0.8, 0, 0))}
    mech.add_joint("D", lw.Revolute((error, 1, 0)), "ground", "c", **ends)
    mech.start(q={"A": -1.0, "B": 0.6, "C": 1.9}, u={"A": -2.0})
    return mech


def parallel_cranks(error=0.0, kind=None):
    """Three cranks of one length but for an error of the second: the coupler closes two loops together."""
    mech = lw.Mechanism("parallel_cranks")
    y = lw.Revolute((0, 1, 0))
    mech.add_body("coupler", mass=1.0, com=(0.2, 0, 0), inertia=np.diag([0.001, 0.02, 0.02]))
    for k, point in enumerate(((0, 0, 0), (0.2, 0, 0.05), (0.45, 0, -0.02))):
        length = 0.3 + error * (k == 1)
        mech.add_body(f"crank{k}", mass=0.3, com=(0, 0, 0.15), inertia=np.diag([0.003, 0.003, 0.001]))
        mech.add_joint(f"A{k}", y, "ground", f"crank{k}", parent_frame=lw.Frame(point), child_frame=lw.Frame())
        ends = {"parent_frame": lw.Frame((0, 0, length)), "child_frame": lw.Frame(point)}
        mech.add_joint(f"B{k}", kind if kind and k else y, f"crank{k}", "coupler", **ends)
    mech.start(q={"A0": 0.5, "A1": 0.5, "A2": 0.5, "B0": -0.5}, u={"A0": 2.0})
    return mech


def quiet(mech, *method):
    """Compiled without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RoundingWarning)
        return lw.compile(mech, *method)


@pytest.mark.parametrize("error", [10.0**-k for k in range(5, 14)])
@pytest.mark.parametrize("which", ["error", "gap"])
def test_a_four_bar_with_an_error_is_the_exact_one(which, error):
    model = quiet(four_bar(**{which: error}))
    state = model.assemble()
    assert state["A.u"] == -2.0
    assert state["C.q"] == pytest.approx(2.2941283453776, abs=10 * error + 1e-12)
    exact = lw.compile(four_bar())
    expected = exact.accelerations(exact.assemble())
    assert model.accelerations(state) == pytest.approx(expected, rel=10 * error + 1e-11)
    assert len(lw.redundant_constraints(model)) == 3
    assert lw.simulate(model, t_end=2.0)["A.q"][-1] == pytest.approx(0.7640, abs=1e-4)


@pytest.mark.parametrize("kind", [None, lw.Spherical(), lw.Cylindrical((0, 1, 0))])
@pytest.mark.parametrize("error", [-1e-8, 3e-9, 1e-8])
def test_loops_that_close_only_together(error, kind):
    """Each loop is a planar one without an error; their lengths fit each other but for rounding."""
    exact, mech = lw.compile(parallel_cranks(kind=kind)), parallel_cranks(error, kind)
    with pytest.warns(RoundingWarning, match="loops move or close only with exact frames"):
        model = lw.compile(mech)
    assert 0.1 * abs(error) < max(one.distance for one in model.corrections) <= 1.001 * abs(error)
    state = model.assemble()
    assert (state["A0.q"], state["A0.u"]) == (0.5, 2.0)
    expected = exact.accelerations(exact.assemble())
    assert model.accelerations(state) == pytest.approx(expected, rel=1e-6)
    assert len(lw.linearize(model).states) == 2
    ends = [lw.simulate(one, 0.3, rtol=1e-6)["A0.q"][-1] for one in (model, exact)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-4)


def test_loops_that_close_only_together_with_a_large_error_are_named():
    mech = parallel_cranks(2e-3)
    mech.start(q={"A1": 0.4})
    with pytest.warns(StartValueWarning, match=r"A0\.q"), pytest.raises(lw.MechanismError, match="can move"):
        lw.simulate(mech, 0.1)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ROUNDED_LOOPS)
def test_rounded_loops_are_the_exact_ones(name, seed):
    """Start, speeds, accelerations, degrees of freedom and redundant constraints."""
    mech = ROUNDED_LOOPS[name](np.random.default_rng(seed))
    exact = lw.compile(mech)
    assert not exact.corrections
    start = exact.assemble()
    udot = exact.accelerations(start)
    redundant = lw.redundant_constraints(exact)
    for digits in DIGITS:
        twin = rounded(mech, digits)
        model = quiet(twin)
        state = model.assemble()
        near = 20 * 10.0 ** (1 - digits) + 1e-12
        assert digits == 12 or bool(model.corrections) == (digits < 12)
        np.testing.assert_allclose(state.q, start.q, rtol=0, atol=near)
        np.testing.assert_allclose(state.u, start.u, rtol=0, atol=10 * near)
        np.testing.assert_allclose(model.accelerations(state), udot, rtol=0, atol=10 * near * (1 + np.abs(udot).max()))
        found = lw.redundant_constraints(model)
        assert (found.dof, len(found)) == (redundant.dof, len(redundant))


@pytest.mark.parametrize(("make", "seed"), [(bennett, 0), (bennett, 1), (bennett, 2), (swing, 0)])
def test_lengths_and_twists_that_fit(make, seed):
    """Loops whose frames are found from their motion: no axes determine them. Five digits may fail."""
    exact = lw.compile(make(np.random.default_rng(seed)))
    dof = lw.redundant_constraints(exact).dof
    start = exact.assemble()
    udot = exact.accelerations(start)
    for digits in (9, 7, 6):
        model = quiet(rounded(make(np.random.default_rng(seed)), digits))
        state = model.assemble()
        near = 20 * 10.0 ** (1 - digits)
        assert model.loop_residual(state).max() < 1e-8
        assert lw.redundant_constraints(model).dof == dof
        np.testing.assert_allclose(state.q, start.q, rtol=0, atol=near)
        np.testing.assert_allclose(state.u, start.u, rtol=0, atol=10 * near)
        np.testing.assert_allclose(model.accelerations(state), udot, rtol=0, atol=10 * near * (1 + np.abs(udot).max()))


@pytest.mark.parametrize("digits", [9, 7, 6])
@pytest.mark.parametrize("make", [cranks, hinged_twice, sarrus, scissors, three_legs])
def test_loops_that_move_only_together(make, digits):
    """No loop determines by itself the lengths with which all of them move."""
    mech = make(np.random.default_rng(3))
    exact, model = lw.compile(mech), quiet(rounded(mech, digits))
    assert not exact.corrections
    assert model.corrections
    start, state = exact.assemble(), model.assemble()
    near = 20 * 10.0 ** (1 - digits)
    assert model.loop_residual(state).max() < (1e-8 if make is cranks else 1e-13)  # a closed start is kept
    assert lw.redundant_constraints(model).dof == lw.redundant_constraints(exact).dof
    for name, expected in exact.by_joint(start.q).items():
        np.testing.assert_allclose(model.by_joint(state.q)[name], expected, rtol=0, atol=near)
    for name, expected in exact.by_joint(start.u).items():
        np.testing.assert_allclose(model.by_joint(state.u)[name], expected, rtol=0, atol=10 * near)
    rest = [lw.equilibrium(one, state=at).state for one, at in ((exact, start), (model, state))]
    if make is cranks:
        assert rest[1]["A0.q"] == pytest.approx(rest[0]["A0.q"], abs=10 * near)


@pytest.mark.thin(2)
@pytest.mark.parametrize("seed", range(4))
def test_gaps_are_closed_by_shifts(seed):
    """A turn would take the axes from their common direction, and the loop would close in one pose only."""
    mech = ball_on_crank(np.random.default_rng(seed))
    exact = lw.compile(mech).assemble()
    for digits in (9, 7, 6):
        model = quiet(rounded(mech, digits))
        state = model.assemble()
        assert state["A.q"] == 0.2
        assert model.loop_residual(state).max() < 1e-13
        assert state["D.u"] == pytest.approx(exact["D.u"], abs=200 * 10.0 ** (1 - digits))
        assert lw.kinematics(model, "A.q", 0.2, 0.4, hold="T.q").ended == "end of the range"


def test_loops_that_nearly_move_are_named():
    """A length that misses by more than is corrected."""
    with pytest.warns(lw.RoundingWarning, match="alone or with others, nearly moves"):
        lw.compile(parallel_cranks(3e-4))


def test_impulses_and_equilibrium_of_a_rounded_loop():
    found = []
    for error in (0.0, 1e-10, 1e-6):
        mech = four_bar(error)
        mech.add_transition("blow", lw.Impulse("b", force=(0.0, 0.0, 1.0)), when=lw.Command())
        model = quiet(mech)
        after = model.jump(model.assemble(), ["blow"]).state
        found.append([*after.u, *lw.equilibrium(model, state=model.assemble()).state.q])
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=0, atol=1e-5)


def test_equilibrium_where_loops_hold_nothing_but_rounding():
    """Hinges of a panel: those that miss their line by 1e-12 stay as they are."""
    mech = ROUNDED_LOOPS["panel"](np.random.default_rng(106))
    exact = lw.equilibrium(mech).state
    for digits in (13, 12, 11):
        model = quiet(rounded(mech, digits))
        found = lw.equilibrium(model).state
        np.testing.assert_allclose(found.q, exact.q, rtol=0, atol=1e-9)


def test_corrections_are_told():
    with pytest.warns(RoundingWarning, match=r"1 joint are turned by 1e-06 rad at most: 'D'"):
        model = lw.compile(four_bar(1e-6))
    (one,) = model.corrections
    assert one.joint == "D"
    assert one.angle == pytest.approx(1e-6)
    assert "so that loops are exact, the frames of 1 joint are turned by 1e-06 rad at most: 'D'" in model.explain()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lw.compile(four_bar(1e-10)).corrections  # as π/2 with ten digits


def test_the_description_of_the_user_stays():
    mech = four_bar(1e-6)
    before = mech.to_dict()
    quiet(mech)
    assert mech.to_dict() == before


@pytest.mark.parametrize("error", [8e-4, 2e-3])
def test_larger_errors_are_meant(error):
    """They are another mechanism, which does not close."""
    model = lw.compile(four_bar(error))
    assert not model.corrections
    with pytest.raises(lw.AssemblyError, match="axes"):
        model.assemble()


@pytest.mark.parametrize("error", [1e-9, 1e-5])
def test_twists_that_loops_do_not_need_stay(error):
    """With a ball and a universal joint the loop is not redundant: nearly parallel axes are as they were given."""
    mech = lw.Mechanism("spatial")
    for name in ("a", "b", "c"):
        mech.add_body(name, mass=1.0, com=(0.1, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("A", lw.Revolute((0, 1, error)), "ground", "a", at=(0, 0, 0))
    mech.add_joint("B", lw.Spherical(), "a", "b", at=(0, 0, 0.4))
    mech.add_joint("C", lw.Universal((0, 1, 0), (1, 0, 0)), "b", "c", at=(1, 0.1, 0.5))
    mech.add_joint("D", lw.Revolute((error, 1, 0)), "ground", "c", at=(1, 0.05, 0))
    assert not lw.compile(mech).corrections
