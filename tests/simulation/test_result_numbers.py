"""Columns of results: the numbers of single evaluations, of long runs without memory for others."""

import pickle
import tracemalloc

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from linkwork.errors import LinkworkError
from linkwork.model.row_workers import RowWorkers
from linkwork.simulation import row_numbers
from support.cams import cam_by_formulas
from support.cases import four_bar
from support.random_mechanisms import tree_or_loop
from support.turning import turning_slider_crank
from support.zoo import zoo

ROWS = 1500  # more than the kernels compute before a tape


def by_single_evaluations(result):
    """Every number of the block that a column may show (nt, n), one row after the other in one block."""
    model, rows = result.model, result._trajectory
    block, nq, fields = model.block(), model.numbering.nq, model.fields
    block.put("correction_gain", result._gains, Stage.NONE)
    span = slice(fields["time"].first, fields["formula_output"].span.stop)
    values = np.full((len(rows), span.stop), np.nan)
    for i in range(len(rows)):
        if rows.discrete and (i == 0 or rows.discrete[i] is not rows.discrete[i - 1]):
            block.put_discrete_state(rows.discrete[i])
        if i == 0 or not np.array_equal(rows.revolutions[i], rows.revolutions[i - 1]):
            block.count_revolutions(rows.revolutions[i])
        block.enter(rows.y[i, :nq], rows.y[i, nq:], rows.inputs[i], rows.t[i])
        block.step_accepted()
        values[i, span.start : fields["qdot"].first] = block.reals[span.start : fields["qdot"].first]
        values[i, block.model.discrete_state] = block.discrete_state
        try:
            block.evaluate(Stage.OUTPUTS)
        except LinkworkError:
            continue
        values[i, span] = block.reals[span]
    return values


def four_bar_in_motion():
    case = four_bar()
    case.mechanism.start(q=case.q, u={"A": 8.0})
    return case.mechanism


def bouncing():
    """Stops, a lock in between, and a release; friction sticks."""
    mech = lw.Mechanism("bouncing")
    for name in ("one", "two"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "one", at=(0, 0, 0))
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "one", "two", parent_frame=lw.Frame((1, 0, 0)))
    mech.add_force(lw.Friction("B", coulomb=0.5, name="rub"))
    mech.add_transition("floor", lw.Stop("A", upper=1.0, restitution=0.4))
    mech.add_transition("latch", lw.Lock("B"), when=lw.Time(0.4))
    return mech


def turning(cut):
    """A crank that turns by hundreds of revolutions in few steps, with rows between them."""
    return turning_slider_crank(0.3, cut, 0.3, 200.0)


MECHANISMS = {
    "four_bar": four_bar_in_motion,
    "bouncing": bouncing,
    "turning_rod": lambda: turning("B"),
    "turning_slider": lambda: turning("D"),
    "cam": cam_by_formulas,
    "zoo": zoo,
    **{name: (lambda name=name: tree_or_loop(name).mechanism) for name in ("tree1", "loop_on_loop", "spatial_7R")},
}


def run(name, rows=ROWS, t_end=0.8):
    return lw.simulate(MECHANISMS[name](), t_end, t_eval=np.linspace(0.0, t_end, rows), rtol=1e-6)


@pytest.mark.parametrize("name", MECHANISMS)
def test_columns_have_the_numbers_of_single_evaluations(name, monkeypatch):
    result = run(name)
    expected = by_single_evaluations(result)
    for computed_at_once in (row_numbers._COMPUTED_AT_ONCE, 0):
        monkeypatch.setattr(row_numbers, "_COMPUTED_AT_ONCE", computed_at_once)
        fresh = pickle.loads(pickle.dumps(result))
        together = fresh._scalars(None)
        for one in result.names:
            np.testing.assert_array_equal(together[one], expected[:, result.model.column(one).first], err_msg=one)
        for one in result.names[:: 1 if computed_at_once else 25]:
            np.testing.assert_array_equal(fresh[one], together[one], err_msg=one)


@pytest.mark.parametrize("name", ["four_bar", "turning_rod", "bouncing"])
def test_results_in_between_do_not_depend_on_what_was_computed_before(name, monkeypatch):
    result, times = run(name), np.linspace(0.01, 0.79, 37)
    all_at_once = result.resample(times)
    monkeypatch.setattr(row_numbers, "_COMPUTED_AT_ONCE", 0)
    alone = pickle.loads(pickle.dumps(result)).resample(times)
    np.testing.assert_array_equal(alone.y, all_at_once.y)
    np.testing.assert_array_equal(alone._trajectory.revolutions, all_at_once._trajectory.revolutions)
    for one in result.names:
        np.testing.assert_array_equal(alone[one], all_at_once[one], err_msg=one)


def test_revolutions_between_steps_are_counted_from_row_to_row():
    """The record has those of the step alone, which is several revolutions long."""
    result = run("turning_rod", rows=3000)
    turns = result._trajectory.revolutions
    assert (turns[1:] == turns[:-1]).all(axis=1).any()
    assert np.ptp(result["B.q"]) > 2.0 * np.pi
    assert np.abs(np.diff(result["B.q"])).max() < np.pi


def test_places_along_a_path_are_those_of_single_evaluations_to_rounding():
    """They are found by steps from the place at the row before, whose last digits count."""
    angle = np.linspace(0.0, 2.0 * np.pi, 100, endpoint=False)
    radius = 1.0 + 0.2 * np.cos(2.0 * angle)
    groove = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), 0.0 * angle])
    mech = lw.Mechanism("groove", gravity=(0, 0, 0))
    for name in ("cam", "follower"):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=0.1 * np.eye(3))
    frames = {"parent_frame": lw.Frame(), "child_frame": lw.Frame()}
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "cam", parent_frame=lw.Frame())
    mech.add_joint("F", lw.Prismatic((0, 1, 0)), "ground", "follower", parent_frame=lw.Frame())
    mech.add_joint("P", lw.PathSlot(groove, (0, 0, 1), closed=True), "cam", "follower", cut=True, **frames)
    mech.start(q={"A": 0.3, "F": 1.0 + 0.2 * np.cos(np.pi - 0.6)}, u={"A": 9.0})
    result = lw.simulate(mech, 2.0, t_eval=np.linspace(0.0, 2.0, ROWS))
    assert np.ptp(result["P.q[1]"]) > 2.0 * mech.joints["P"].kind.length
    expected = by_single_evaluations(result)
    for one in result.names:
        at = expected[:, result.model.column(one).first]
        np.testing.assert_allclose(result[one], at, rtol=1e-11, atol=1e-11 * np.abs(at).max(), err_msg=one)


def test_where_nothing_is_computed_no_evaluation_takes_place(monkeypatch):
    result = run("four_bar")
    monkeypatch.setattr(RowWorkers, "numbers", None)
    names = ["time", *result.model.q_names, *result.model.u_names, "A.tau", "crank.mass"]
    for name in names:
        assert len(result[name]) == ROWS
    np.testing.assert_array_equal(result["A.q"], result.y[:, 0])
    with pytest.raises(TypeError, match="NoneType"):
        result["energy.kinetic"]


def test_values_of_few_rows_are_computed_at_these_alone(monkeypatch):
    result, rows = run("tree1"), list[int]()
    original = RowWorkers.numbers

    def counted(self, given, *others, **options):
        rows.append(len(given))
        return original(self, given, *others, **options)

    monkeypatch.setattr(row_numbers, "_COMPUTED_AT_ONCE", 0)
    monkeypatch.setattr(RowWorkers, "numbers", counted)
    result.at(0.40001, ["energy.kinetic"])
    assert sum(rows) < 10
    rows.clear()
    result.to_dataframe(["energy.*", "*.r"])
    assert sum(rows) == ROWS
    result["energy.kinetic"], result["energy.kinetic"]  # which is kept
    assert sum(rows) == 2 * ROWS


def test_a_column_of_a_long_run_needs_the_memory_of_a_column():
    """Not that of all 90; what is computed at once is little."""
    rows = 500_000
    result = run("four_bar", rows)
    column = 8 * rows
    for name, most in (("A.q", 1.1 * column), ("energy.kinetic", 1.3 * column)):
        tracemalloc.start()
        try:
            assert result[name].shape == (rows,)
            assert tracemalloc.get_traced_memory()[1] < most + 6e6, name
        finally:
            tracemalloc.stop()
