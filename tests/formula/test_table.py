"""Lookup tables: their rows checked, and their values as SciPy's interpolators have them."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator, RegularGridInterpolator

import linkwork as lw
from linkwork import LookupTable
from support.lookup_tables import CoreTable, bicubic

INTERPOLATIONS = ("linear", "monotone")


def rows(seed: int, n: int = 9) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    return np.cumsum(random.uniform(0.1, 1.0, n)), random.normal(size=n).round(1)  # rounded: some are equal


def core(*arguments: Any, **options: Any) -> CoreTable:
    return CoreTable(LookupTable(*arguments, **options))


def inside(x: Any, count: int = 40) -> Any:
    return np.concatenate([x, np.linspace(x[0], x[-1], count)])


@pytest.mark.parametrize("seed", range(5))
def test_one_argument_is_as_in_scipy(seed: int) -> None:
    x, values = rows(seed)
    linear, cubic = (core(x, values, interpolation=kind) for kind in INTERPOLATIONS)
    peer = PchipInterpolator(x, values)
    for at in inside(x):
        assert linear(at) == pytest.approx(np.interp(at, x, values), abs=1e-13)
        assert cubic(at) == pytest.approx(peer(at), abs=1e-12)


@pytest.mark.parametrize("n", [2, 3])
def test_few_rows_are_enough(n: int) -> None:
    x, values = rows(1, n)
    cubic, peer = core(x, values, interpolation="monotone"), PchipInterpolator(x, values)
    for at in inside(x):
        assert cubic(at) == pytest.approx(peer(at), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_cubic_is_c1_and_exceeds_no_row(seed: int) -> None:
    x, values = rows(seed)
    for periodic in (False, True):
        if periodic:
            values[-1] = values[0]
        cubic = core(x, values, interpolation="monotone", periodic=periodic, outside="extend")
        step = 1e-7
        for knot in x:
            before, after = ((cubic(knot + s * step) - cubic(knot)) / (s * step) for s in (-1, 1))
            assert before == pytest.approx(after, abs=1e-4)
        for k in range(len(x) - 1):
            between = [cubic(at) for at in np.linspace(x[k], x[k + 1], 30)]
            assert min(between) >= min(values[k : k + 2]) - 1e-12
            assert max(between) <= max(values[k : k + 2]) + 1e-12


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_outside(interpolation: Any) -> None:
    x, values = rows(2)
    held, extended, refused = (
        core(x, values, interpolation=interpolation, outside=outside) for outside in ("hold", "extend", "error")
    )
    slopes = np.diff(values)[[0, -1]] / np.diff(x)[[0, -1]]
    if interpolation == "monotone":
        slopes = PchipInterpolator(x, values).derivative()(x[[0, -1]])
    for at, end, slope in ((x[0] - 0.7, 0, slopes[0]), (x[-1] + 0.7, -1, slopes[1])):
        assert held(at) == pytest.approx(values[end], abs=1e-13)
        assert extended(at) == pytest.approx(values[end] + slope * (at - x[end]), abs=1e-12)
        with pytest.raises(
            lw.MechanismError, match=re.escape(f"table 'f.gas' is left at t = 0 s: its argument is {at:.6g}")
        ):
            refused(at)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_a_periodic_table_is_that_of_three_periods(interpolation: Any) -> None:
    x, values = rows(3)
    values[-1] = values[0]
    period = x[-1] - x[0]
    table = core(x, values, interpolation=interpolation, periodic=True)
    long_x = np.concatenate([x[:-1] - period, x[:-1], x + period])
    long = core(long_x, np.concatenate([values[:-1], values[:-1], values]), interpolation=interpolation)
    for at in inside(x):
        for shift in (0.0, -3 * period, 5 * period):
            assert table(at + shift) == pytest.approx(long(at), abs=1e-11)


def grid(seed: int) -> tuple[Any, Any, Any]:
    (x, _), (y, _) = rows(seed, 6), rows(seed + 10, 5)
    return x, y, np.random.default_rng(seed).normal(size=(6, 5)).round(1)


@pytest.mark.parametrize("seed", range(3))
def test_two_arguments_are_as_in_scipy(seed: int) -> None:
    x, y, values = grid(seed)
    linear, cubic = (core(x, values, y=y, interpolation=kind) for kind in INTERPOLATIONS)
    flat = RegularGridInterpolator((x, y), values)
    curved = RegularGridInterpolator((x, y), values, method="pchip") if len(y) >= 4 else None
    for at in inside(x, 7):
        for other in inside(y, 7):
            assert linear(at, other) == pytest.approx(flat((at, other)).item(), abs=1e-12)
    for at in x:  # on grid lines both are cubics of one argument
        for other in inside(y, 7):
            assert cubic(at, other) == pytest.approx(curved((at, other)).item(), abs=1e-11)
    for other in y:
        for at in inside(x, 7):
            assert cubic(at, other) == pytest.approx(curved((at, other)).item(), abs=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_cubics_of_two_arguments_have_mixed_slopes(seed: int) -> None:
    x, y, values = grid(seed)
    table = core(x, values, y=y, interpolation="monotone")
    for at, other in np.random.default_rng(0).uniform((x[0], y[0]), (x[-1], y[-1]), (40, 2)):
        assert table(at, other) == pytest.approx(bicubic(x, y, values, at, other), abs=1e-12)


def test_a_product_of_two_cubics_is_their_table() -> None:
    x, f = rows(4, 6)
    y, g = rows(5, 5)
    both = core(x, np.outer(f, g), y=y, interpolation="monotone", outside="extend")
    one, other = (core(at, value, interpolation="monotone", outside="extend") for at, value in ((x, f), (y, g)))
    for u in np.linspace(x[0] - 1, x[-1] + 1, 13):
        for v in np.linspace(y[0] - 1, y[-1] + 1, 11):
            assert both(u, v) == pytest.approx(one(u) * other(v), abs=1e-11)


def test_arguments_of_a_table_are_alike() -> None:
    x, y, values = grid(7)
    table = core(x, values, y=y, interpolation="monotone")
    swapped = core(y, values.T, y=x, interpolation="monotone")
    for u, v in np.random.default_rng(1).uniform((x[0], y[0]), (x[-1], y[-1]), (30, 2)):
        assert table(u, v) == pytest.approx(swapped(v, u), abs=1e-12)


def test_linear_tables_of_two_arguments_extend_as_scipy_does() -> None:
    x, y, values = grid(8)
    table = core(x, values, y=y, outside="extend")
    peer = RegularGridInterpolator((x, y), values, bounds_error=False, fill_value=None)
    for u in (x[0] - 1.0, x[2], x[-1] + 0.5):
        for v in (y[0] - 0.5, y[1], y[-1] + 2.0):
            assert table(u, v) == pytest.approx(peer((u, v)).item(), abs=1e-11)


def test_one_of_two_arguments_may_be_periodic() -> None:
    x, y, values = grid(9)
    values[-1] = values[0]
    for kind in INTERPOLATIONS:
        table = core(x, values, y=y, periodic=(True, False), interpolation=kind)
        here, there = (table(x[0] + 0.3 + k * (x[-1] - x[0]), y[1] + 0.1) for k in (0, 4))
        assert here == pytest.approx(there, abs=1e-11)


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_derivatives_by_arguments(interpolation: Any) -> None:
    x, y, values = grid(2)
    table = core(x, values, y=y, interpolation=interpolation)
    at, other, step = x[1] + 0.05, y[2] + 0.05, 1e-6
    by_x = (table(at + step, other) - table(at - step, other)) / (2 * step)
    by_y = (table(at, other + step) - table(at, other - step)) / (2 * step)
    assert table.slope("f.x", at, other) == pytest.approx(by_x, abs=1e-7)
    assert table.slope("f.y", at, other) == pytest.approx(by_y, abs=1e-7)


def test_the_derivative_of_a_cubic_is_exact() -> None:
    x, values = rows(6)
    table, peer = core(x, values, interpolation="monotone", outside="extend"), PchipInterpolator(x, values)
    for at in [*inside(x), x[0] - 1.0, x[-1] + 2.0]:
        exact = peer.derivative()(np.clip(at, x[0], x[-1]))
        assert table.slope("f.x", at) == pytest.approx(exact, abs=1e-12)


# ---- values are parameters ----


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_slopes_follow_changed_values(interpolation: Any) -> None:
    x, values = rows(3)
    others = rows(4)[1]
    changed = CoreTable(LookupTable(x, values, interpolation=interpolation), {"f.gas": others})
    expected = core(x, others, interpolation=interpolation)
    assert [changed(at) for at in inside(x)] == [expected(at) for at in inside(x)]


def test_one_value_of_two_arguments_is_changed_by_its_name() -> None:
    x, y, values = grid(4)
    changed = CoreTable(LookupTable(x, values, y=y, interpolation="monotone"), {"f.gas[3,2]": 0.6})
    values[2, 1] = 0.6
    expected = core(x, values, y=y, interpolation="monotone")
    for at, other in np.random.default_rng(0).uniform((x[0], y[0]), (x[-1], y[-1]), (20, 2)):
        assert changed(at, other) == expected(at, other)


def test_a_periodic_table_stays_closed() -> None:
    """Its last row is no variable of its own."""
    x, values = rows(3)
    values[-1] = values[0]
    table = CoreTable(LookupTable(x, values, interpolation="monotone", periodic=True), {"f.gas[1]": 2.0})
    values[[0, -1]] = 2.0
    expected = core(x, values, interpolation="monotone", periodic=True)
    assert [table(at) for at in inside(x)] == [expected(at) for at in inside(x)]
    names = [v.name for v in table.model.variables if v.name.startswith("f.gas")]
    assert names == [f"f.gas[{k + 1}]" for k in range(len(x) - 1)]


def test_derivatives_by_values() -> None:
    x, values = rows(1, 6)
    table, step = core(x, values, interpolation="monotone"), 1e-6
    at = x[2] + 0.3 * (x[3] - x[2])
    for k in range(len(x)):
        ends = []
        for sign in (-1, 1):
            moved = values.copy()
            moved[k] += sign * step
            ends.append(core(x, moved, interpolation="monotone")(at))
        assert table.slope(f"f.gas[{k + 1}]", at) == pytest.approx((ends[1] - ends[0]) / (2 * step), abs=1e-7)


# ---- rows that are refused ----


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([0, 1, 2], [1, math.nan, 2]), {}, "the value in row 2 is nan: give a number"),
        (([0, math.inf], [1, 2]), {}, "the abscissa in row 2 is inf: give a number"),
        (([0, 2, 1], [1, 2, 3]), {}, "the abscissae must increase: row 3 has 1 after 2"),
        (([0, 1, 1], [1, 2, 3]), {}, "the abscissae must increase: row 3 has 1 after 1"),
        (([0, 1], [1, 2, 3]), {}, "2 values are needed, one for each row, and there are 3"),
        (([0, 1], [[1, 2], [1, 2]]), {}, "2 values are needed, one for each row, and there are 2 x 2"),
        (([0], [1]), {}, "at least 2 rows are needed"),
        (([0, 1], None), {}, "the values must be numbers, not None"),
        (([0, 1], ["a", "b"]), {}, "the values must be numbers, not ['a', 'b']"),
        (([0, 1], [[1, 2], [3]]), {}, "the values must be numbers, not 2 rows of different lengths"),
        (([0, 1], [[1, 2], [3, math.nan]]), {"y": [0, 1]}, "the value in row 2 of x and row 2 of y is nan"),
        (([0, 1], [[1, 2], [3, 4]]), {"y": [1, 0]}, "the abscissae must increase: row 2 has 0 after 1"),
        (([0, 1], [[1], [3]]), {"y": [1]}, "at least 2 rows of y are needed"),
        (([0, 1], [1, 2]), {"interpolation": "spline"}, "there is no interpolation 'spline'"),
        (([0, 1], [1, 2]), {"outside": "clamp"}, "there is no outside 'clamp'"),
        (([0, 1], [1, 2]), {"periodic": True}, "end as they begin, and row 1 has 1, row 2 2"),
        (([0, 1], [1, 2]), {"periodic": (True, True)}, "periodic must be True or False"),
        (([0, 1], [1, 2]), {"unit": "mm"}, "the unit 'mm'"),
        (([0, 1], [1, 2]), {"argument_units": ["m", "s"]}, "has 1 argument, and argument_units has 2"),
    ],
)
def test_wrong_tables_are_refused_with_the_row(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(lw.MechanismError) as refused:
        LookupTable(*arguments, name="table 'gas'", **options)
    assert str(refused.value).startswith("table 'gas'")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("angle,pressure\n0,1\n1,2\n", (2,)),
        ("0,1\n1,2", (2,)),
        ("\n angle , p\n0, 1\n\n1,2\n", (2,)),
        ('"0","1"\n"1","2"\n', (2,)),
        ("\ufeff0,1\r\n1,2\r\n", (2,)),
        ("speed,0,10\n0,1,2\n5,2,3\n7,1,1\n", (3, 2)),
    ],
)
def test_files_are_read(text: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    path = tmp_path / "gas.csv"
    path.write_text(text, encoding="utf-8")
    table = LookupTable(path)
    assert table.values.shape == shape
    assert table.values.flat[0] == 1.0
    assert (table.y is None) == (len(shape) == 1)
    with pytest.raises(lw.MechanismError, match="leave out values and y"):
        LookupTable(path, [1.0, 2.0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows"),
        ("a,b\n", "has no rows"),
        ("a,b\n1,2\n", "at least 2 rows are needed"),
        ("1\n2\n", "has one column"),
        ("1,2\n2,3,4\n", "line 2 has 3 cells, not 2"),
        ("a,b\n\n1,2\n2,x\n", "line 4 has 'x', which is no number"),
        ("1,2\n2,nan\n", "the value in row 2 is nan"),
        ("n,0,1\n0,1\n5,2,3\n", "line 2 has 2 cells, not 3"),
        ("a,b,c\n1,2,3\n4,5,6\n", "line 1 has 'b', which is no number"),
    ],
)
def test_wrong_files_are_refused_with_the_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "gas.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(lw.MechanismError) as refused:
        LookupTable(path)
    assert message in str(refused.value)
    with pytest.raises(lw.MechanismError, match="cannot be read"):
        LookupTable(tmp_path / "none.csv")


def test_arrays_are_copies_that_cannot_be_written() -> None:
    x = np.array([0.0, 1.0])
    table = LookupTable(x, [1.0, 2.0])
    x[0] = 5.0
    assert table.x[0] == 0.0
    assert not any(array.flags.writeable for array in (table.x, table.values))
