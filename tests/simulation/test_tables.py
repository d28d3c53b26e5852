"""Inputs as tables over time: what they are between and outside of their rows, and runs that meet each of them."""

import pickle

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator

import linkwork as lw
from linkwork.solvers import solver_names
from support.dae_backends import needs_ida
from support.small import pendulum

Y, Z = np.eye(3)[1:]
SOLVERS = [pytest.param(name, marks=needs_ida if name == "ida" else ()) for name in solver_names()]
TRIANGLE = ([0.0, 4.0, 5.0, 6.0, 10.0], [0.0, 0.0, 100.0, 0.0, 0.0])


def disc() -> lw.Mechanism:
    mech = lw.Mechanism("disc", gravity=(0, 0, 0))
    mech.add_body("disc", mass=1.0, com=(0, 0, 0), inertia=0.5 * np.eye(3))
    mech.add_joint("A", lw.Revolute(Z), "ground", "disc", at=(0, 0, 0))
    return mech


# ---- the table itself ----


@pytest.mark.parametrize("columns", [(), (1,), (3,)])
@pytest.mark.parametrize("interpolation", ["linear", "hold", "monotone", "cubic"])
def test_values_between_rows(interpolation, columns):
    rng = np.random.default_rng(4)
    t, y = np.sort(rng.uniform(-1.0, 3.0, 12)), rng.normal(size=(12, *columns))
    table, at = lw.Table(t, y, interpolation), np.concatenate([t, rng.uniform(t[0], t[-1], 200)])
    expected = {
        "linear": lambda s: np.apply_along_axis(lambda one: np.interp(s, t, one), 0, y),
        "hold": lambda s: y[np.searchsorted(t, s, side="right") - 1],
        "monotone": PchipInterpolator(t, y),
        "cubic": CubicSpline(t, y),
    }[interpolation](at)
    found = np.array([table(s) for s in at])
    assert found.reshape(expected.shape) == pytest.approx(expected, abs=1e-12)
    assert np.array_equal([table(t[0] - 1.0), table(t[-1] + 1.0)], np.squeeze(y[[0, -1]]))
    zero = lw.Table(t, y, interpolation, outside="zero")
    assert not np.any([zero(t[0] - 1e-9), zero(t[-1] + 1e-9)])
    last = 0.0 * y[-1] if interpolation == "hold" else y[-1]  # which is held for no time
    assert np.ravel([zero(t[0]), zero(t[-1])]) == pytest.approx(np.ravel([y[0], last]), abs=1e-12)


@pytest.mark.parametrize("interpolation", ["monotone", "cubic"])
def test_rates_and_accelerations_are_derivatives(interpolation):
    t = np.linspace(0.0, 2.0, 7)
    table, spline = lw.Table(t, np.sin(3 * t), interpolation), CubicSpline(t, np.sin(3 * t))
    reference = spline if interpolation == "cubic" else PchipInterpolator(t, np.sin(3 * t))
    for s in (0.1, 0.77, 1.9):
        assert table.motion(s) == pytest.approx([float(reference(s, k)) for k in range(3)], abs=1e-10)


def test_a_time_that_occurs_twice_is_a_jump():
    table = lw.Table([0, 1, 1, 2], [0, 1, 5, 6])
    assert [table(t) for t in (0.5, np.nextafter(1.0, 0.0), 1.0, 1.5)] == pytest.approx([0.5, 1.0, 5.0, 5.5])
    pieces = lw.Table([0, 1, 2, 2, 3, 4], [0, 1, 0, 5, 6, 5], "monotone")
    left, right = PchipInterpolator([0, 1, 2], [0, 1, 0]), PchipInterpolator([2, 3, 4], [5, 6, 5])
    assert [pieces(1.7), pieces(2.6)] == pytest.approx([float(left(1.7)), float(right(2.6))])


def test_rows_on_one_line_are_no_knots():
    assert lw.Table(np.arange(11), 2.0 * np.arange(11) + 1.0).jumps()[1:-1] == []
    assert lw.Table([0, 1, 2, 3], [5, 5, 5, 5], "hold", outside="zero").jumps()[0][1] == 0.0
    assert len(lw.Table([0, 1, 2, 3, 4], [0, 0, 1, 0, 0]).jumps()) == 3


BAD = {
    "no order": (([0, 2, 1], [0, 1, 2]), "must increase: row 3 has 1 s after 2 s"),
    "three times": (([0, 1, 1, 1], [0, 1, 2, 3]), "must increase: row 3"),
    "NaN": (([0, 1, 2], [0, np.nan, 2]), "value nan in row 2"),
    "infinite time": (([0, 1, np.inf], [0, 1, 2]), "time inf in row 3"),
    "lengths": (([0, 1, 2], [0, 1]), r"3 times, but values of shape \(2,\)"),
    "text": (([0, 1], ["a", "b"]), r"values of a table must be numbers, not \['a', 'b'\]"),
    "text for times": ((["0", "1"], [0, 1]), "times of a table must be times in seconds"),
    "ragged": (([0, 1], [[0], [1, 2]]), "values of a table must be numbers"),
    "nothing": (([], []), "at least one"),
    "dates": ((np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[s]"), [0, 1]), "must be times in seconds"),
}


@pytest.mark.parametrize(("rows", "words"), BAD.values(), ids=BAD)
def test_bad_tables(rows, words):
    with pytest.raises(lw.MechanismError, match=words):
        lw.Table(*rows)
    with pytest.raises(ValueError, match=f"inputs: the load of joint 'A': .*{words}"):
        lw.simulate(disc(), 1.0, inputs={"A": rows})


def test_unknown_kinds_of_tables():
    with pytest.raises(lw.MechanismError, match="no interpolation 'liner' of tables: did you mean 'linear'"):
        lw.Table([0, 1], [0, 1], "liner")
    with pytest.raises(KeyError, match="no outside 'holds' of tables: did you mean 'hold'"):
        lw.Table([0, 1], [0, 1], outside="holds")


def test_tables_between_processes():
    table = lw.Table(*TRIANGLE, "monotone", "zero")
    assert pickle.loads(pickle.dumps(table))(4.7) == table(4.7)


# ---- runs ----


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_triangle_gives_its_impulse(solver):
    result = lw.simulate(disc(), 10.0, inputs={"A": TRIANGLE}, solver=solver)
    assert result["A.u"][-1] == pytest.approx(100 / 0.5, rel=1e-7)
    assert result["A.tau"].max() == 100.0  # a step ends at each knot
    assert {4.0, 5.0, 6.0} <= set(result.t)


@needs_ida
@pytest.mark.parametrize(
    "rows", [TRIANGLE, lw.Table([5.0, 5.01], [3.0, 3.0], outside="zero")], ids=["triangle", "pulse"]
)
def test_other_formulations(rows):
    area = 100.0 if rows is TRIANGLE else 0.03
    result = lw.simulate(disc(), 10.0, inputs={"A": rows}, solver="ida", formulation="ggl")
    assert result["A.u"][-1] == pytest.approx(area / 0.5, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("width", [1e-6, 1e-3])
def test_pulses_of_any_length(solver, width):
    """Held values: whatever the length is, the impulse is exact."""
    table = lw.Table([0.0, 3.3, 3.3 + width], [0.0, 50.0, 0.0], "hold")
    result = lw.simulate(disc(), 10.0, inputs={"A": table}, solver=solver)
    assert result["A.u"][-1] == pytest.approx(100 * ((3.3 + width) - 3.3), rel=1e-6, abs=1e-12)


def test_backward_and_late():
    result = lw.simulate(disc(), 0.0, t_start=10.0, inputs={"A": lw.Table([4.0, 6.0], [7.0, 7.0], outside="zero")})
    assert result["A.u"][-1] == pytest.approx(-2 * 7 / 0.5, rel=1e-9)
    late = lw.simulate(disc(), 10.0, t_start=5.0, inputs={"A": TRIANGLE})
    assert late["A.u"][-1] == pytest.approx(50 / 0.5, rel=1e-9)


def test_every_kind_of_input():
    """An element of a joint, a wrench with three numbers, an actuator and a command."""
    mech = disc()
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=2.0 * np.eye(3), origin=(5, 0, 0))
    mech.add_joint("S", lw.Spherical(), "ground", "ball", at=(5, 0, 0))
    mech.add_force(lw.Wrench("disc", name="push"))
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    t = [0.0, 1.0, 2.0]
    inputs = {
        "S[3]": (t, [0.0, 4.0, 0.0]),
        "push.T": (t, [[0, 0, 0], [0, 0, 3.0], [0, 0, 0]]),
        "latch.command": ([0.0, 2.5, 2.7], [False, True, False]),
    }
    result = lw.simulate(mech, 2.4, inputs=inputs)
    assert result["S.u"][-1][2] == pytest.approx(4.0 / 2.0, rel=1e-9)
    assert result["A.u"][-1] == pytest.approx(3.0 / 0.5, rel=1e-9)
    locked = lw.simulate(mech, 4.0, inputs=inputs)
    assert [event.t for event in locked.events] == pytest.approx([2.5, 2.7], abs=1e-12)


@pytest.mark.parametrize("interpolation", ["monotone", "cubic"])
def test_prescribed_motions(interpolation):
    """Rate and acceleration follow from the table of values."""
    mech = pendulum()
    mech.prescribe("A", lw.Motion())
    t = np.linspace(0.0, 2.0, 21)
    table = lw.Table(t, 0.3 * np.sin(2 * t), interpolation)
    result = lw.simulate(mech, 2.0, inputs={"A_drive": table})
    expected = np.array([table.motion(s) for s in result.t])
    assert result["A.q"] == pytest.approx(expected[:, 0], abs=1e-7)
    assert result["A.u"] == pytest.approx(expected[:, 1], abs=1e-6)


def test_motions_that_take_an_impact_are_refused():
    mech = pendulum()
    mech.prescribe("A", lw.Motion())
    with pytest.raises(
        lw.MechanismError, match=r"motion of 'A_drive' or its rate jumps at t = 1 s.*interpolation=\"cubic\""
    ):
        lw.simulate(mech, 2.0, inputs={"A_drive": ([0, 1, 2], [0, 0.1, 0])})
    with pytest.raises(lw.MechanismError, match="rate jumps at t = 2 s"):
        lw.simulate(mech, 3.0, inputs={"A_drive": lw.Table([0, 1, 2], [0, 0.1, 0.5], "cubic")})
    with pytest.raises(lw.MechanismError, match="table of the motion of 'A_drive' must have one number"):
        lw.simulate(mech, 2.0, inputs={"A_drive": ([0, 2], np.zeros((2, 3)))})


def test_tables_that_do_not_fit_an_input():
    with pytest.raises(
        lw.MechanismError, match="the table of the load of joint 'A' must have one number at each time, not 2"
    ):
        lw.simulate(disc(), 1.0, inputs={"A": ([0, 1], [[0, 1], [2, 3]])})
    strict = lw.Table([0.0, 1.0], [1.0, 2.0], outside="error")
    assert lw.simulate(disc(), 1.0, inputs={"A": strict})["A.u"][-1] == pytest.approx(3.0)
    with pytest.raises(lw.MechanismError, match=r"load of joint 'A': t = 1\.5 s is outside the table, .* 0 s to 1 s"):
        lw.simulate(disc(), 1.5, inputs={"A": strict})
    mech = disc()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    with pytest.raises(lw.MechanismError, match=r"'latch.command' must have True or False"):
        lw.simulate(mech, 1.0, inputs={"latch.command": ([0, 1], [0, 0.5])})


def test_series_and_data_frames(needs):
    pd = needs("pandas")
    series = pd.Series(TRIANGLE[1], index=TRIANGLE[0])
    durations = pd.Series(TRIANGLE[1], index=pd.to_timedelta(TRIANGLE[0], unit="s"))
    for one in (series, durations, pd.DataFrame({"torque": series})):
        assert lw.simulate(disc(), 10.0, inputs={"A": one})["A.u"][-1] == pytest.approx(200.0)
    with pytest.raises(lw.MechanismError, match="times in seconds"):
        lw.simulate(disc(), 10.0, inputs={"A": pd.Series([0, 1], index=pd.to_datetime(["2020-01-01", "2020-01-02"]))})
    with pytest.raises(lw.MechanismError, match="value nan in row 1"):
        lw.simulate(disc(), 10.0, inputs={"A": pd.Series([np.nan, 1.0])})


def test_a_table_is_a_function_of_time():
    """The same end with the function that it is."""
    table = lw.Table([0.3, 0.9, 1.4, 2.2], [0.0, 3.0, -1.0, 2.0])
    by_table = lw.simulate(pendulum(), 3.0, inputs={"A": table})
    by_function = lw.simulate(pendulum(), 3.0, inputs={"A": lambda t: table(t)}, max_step=1e-3)
    assert by_table.y[-1] == pytest.approx(by_function.y[-1], abs=1e-7)
