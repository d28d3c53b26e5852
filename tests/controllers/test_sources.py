"""Trajectory and signal: values, rates as differences of them, ends and repetition."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from linkwork import controllers
from linkwork.errors import FmuError

POINTS = [[0.0, 1.0], [0.5, -1.0], [0.2, 0.0]]
MOVES, WAITS = [0.8, 0.5], [0.1, 0.3, 0.2]


def over(slave, times, names):
    """Values of names at times, (times, names)."""
    rows = []
    for t in times:
        if t > slave.time:
            slave.step(t - slave.time)
        rows.append(slave.get(names))
    return np.array(rows)


def moving(run, tmp_path, **options):
    fmu = controllers.trajectory(
        tmp_path / "t.fmu", POINTS, names=["L", "R"], units=["rad", "m"], move_time=MOVES, dwell_time=WAITS, **options
    )
    return run(fmu).start()


def test_a_motion_rests_in_its_points_and_is_the_polynomial_of_degree_five_between(run, tmp_path):
    # Rest in the points: 0..0.1, 0.9..1.2, 1.7..; the polynomial by its six conditions at the ends of the first move
    slave = moving(run, tmp_path)
    powers = np.arange(6)
    rows = [
        np.array([t**p, p * t ** max(p - 1, 0), p * (p - 1) * t ** max(p - 2, 0)]) for t in (0.0, 0.8) for p in powers
    ]
    conditions = np.array(rows).reshape(2, 6, 3).transpose(0, 2, 1).reshape(6, 6)
    factors = np.linalg.solve(conditions, [0.0, 0, 0, 0.5, 0, 0])
    times = [0.05, 0.25, 0.5, 0.61, 0.85, 0.95, 1.2, 1.75, 3.0]
    found = over(slave, times, ["L.q_d"])[:, 0]
    for t, value in zip(times[1:5], found[1:5], strict=True):
        assert value == pytest.approx(np.polyval(factors[::-1], t - 0.1), abs=1e-12)
    assert found[[0, 5, 6, 7, 8]] == pytest.approx([0.0, 0.5, 0.5, 0.2, 0.2], abs=1e-12)


def test_speeds_and_accelerations_are_the_derivatives(run, tmp_path):
    h = 1e-3
    times = np.arange(0, 2200) * h
    names = [f"{joint}.{part}_d" for joint in "LR" for part in "qua"]
    values = over(moving(run, tmp_path, speed=1.3, start=0.05), times, names)
    for q, u, a in (values[:, :3].T, values[:, 3:].T):
        assert np.gradient(q, h)[1:-1] == pytest.approx(u[1:-1], abs=1e-4 * 10)
        assert np.abs(np.gradient(u, h)[1:-1] - a[1:-1]).max() < 0.5  # its third derivative jumps at a move's ends
        assert np.abs(np.gradient(u, h)[1:-1] - a[1:-1]).mean() < 2e-3


def test_a_cycle_repeats_exactly(run, tmp_path):
    fmu = controllers.trajectory(
        tmp_path / "t.fmu", [0.0, 1.0, 0.0], names=["x"], move_time=0.25, dwell_time=[0.0, 0.25, 0.25], cycle=True
    )
    found = over(run(fmu).start(), np.arange(0, 33) / 16, ["x.q_d", "x.u_d"])
    assert found[:16] == pytest.approx(found[16:32])
    assert found[:, 0].max() == 1.0


@pytest.mark.parametrize(
    ("points", "options", "text"),
    [
        ([[0, 0]], {}, "two points or more"),
        ([[0], [1]], {}, "shape"),
        ([[0, 0], [1, 1]], {"move_time": 0.0}, "positive"),
        ([[0, 0], [1, 1]], {"move_time": [1.0, 1.0]}, "move_time must be one number or 1"),
        ([[0, 0], [1, 1]], {"cycle": True}, "end where it begins"),
    ],
)
def test_motions_that_cannot_be_are_refused(tmp_path, points, options, text):
    with pytest.raises(FmuError, match=text):
        controllers.trajectory(tmp_path / "t.fmu", points, names=["L", "R"], **options)


@pytest.mark.parametrize(
    ("names", "points", "remedy"),
    [("LR", [[0, 0], [1, 1]], r'names=\["L", "R"\]'), ("tool", [[0, 0], [1, 1]], r'names=\["tool1", "tool2"\]')],
)
def test_one_name_for_several_columns_is_refused_with_names_that_do(tmp_path, names, points, remedy):
    with pytest.raises(FmuError, match=f"names='{names}' is one name, and the points have 2 columns; .*{remedy}"):
        controllers.trajectory(tmp_path / "t.fmu", points, names=names)


T = [0.0, 0.5, 0.8, 2.0]
Y = [1.0, 3.0, -1.0, 1.0]
LOOK = np.linspace(0.0, 2.0, 41)


def test_straight_lines_are_numpys(run, tmp_path):
    slave = run(controllers.signal(tmp_path / "s.fmu", T, Y)).start()
    assert over(slave, LOOK, ["y"])[:, 0] == pytest.approx(np.interp(LOOK, T, Y), abs=1e-12)


@pytest.mark.parametrize("periodic", [False, True])
def test_a_cubic_and_its_rate_are_scipys(run, tmp_path, periodic):
    options = {"interpolation": "cubic", "periodic": periodic, "units": {"road": "m"}}
    slave = run(controllers.signal(tmp_path / "s.fmu", T, {"road": Y}, **options)).start()
    spline = CubicSpline(T, Y, bc_type="periodic" if periodic else "not-a-knot")
    times = np.linspace(0.0, 5.0, 41)[:-1] if periodic else LOOK
    found, at = over(slave, times, ["road", "road.rate"]), times % 2.0 if periodic else times
    assert found == pytest.approx(np.column_stack([spline(at), spline(at, 1)]), abs=1e-10)
    assert (slave.variables["road"].unit, slave.variables["road.rate"].unit) == ("m", "m/s")


def test_beyond_the_table_its_ends_are_held(run, tmp_path):
    slave = run(controllers.signal(tmp_path / "s.fmu", [0.0, 1.0], [2.0, 5.0], delay=0.5, scale=2.0)).start()
    found = over(slave, [0.0, 0.25, 1.0, 1.75], ["y", "y.rate"])
    assert found.tolist() == [[4.0, 0.0], [4.0, 0.0], [7.0, 6.0], [10.0, 0.0]]


@pytest.mark.parametrize(
    ("times", "values", "options", "text"),
    [
        ([0, 0], [1, 2], {}, "increase"),
        ([0, 1], [1, 2, 3], {}, "one finite number for each of the 2 times"),
        ([0, 1], [1, 2], {"interpolation": "square"}, "linear, monotone or cubic"),
        ([0, 1, 2], [1, 2, 3], {"interpolation": "cubic", "periodic": True}, "must end with"),
    ],
)
def test_tables_that_are_none_are_refused(tmp_path, times, values, options, text):
    with pytest.raises(FmuError, match=text):
        controllers.signal(tmp_path / "s.fmu", times, values, **options)
