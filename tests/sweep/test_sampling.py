"""Points: combinations, strata, tables; invalid sweeps are refused."""

import itertools

import numpy as np
import pytest

from linkwork.cosim.sweep import Points, grid, latin, table
from linkwork.errors import CosimError


def test_a_grid_has_every_combination_once() -> None:
    values = {"a.x": [1.0, 2.5], "a.n": [1, 2, 3], "b.on": [True, False], "b.name": ["u", "v"]}
    points = grid(values)
    assert [tuple(one.values()) for one in points] == list(itertools.product(*values.values()))
    assert [type(value) for value in points[3].values()] == [float, int, bool, str]


@pytest.mark.parametrize("samples", [1, 7, 100])
def test_a_latin_hypercube_meets_each_stratum_once(samples) -> None:
    points = latin({"a.x": (-1.0, 3.0), "a.y": (1e-3, 1e3, "log")}, samples, seed=5)
    x, y = points.columns["a.x"], points.columns["a.y"]
    everyone = np.arange(samples)
    assert np.array_equal(np.sort(np.floor((x + 1) / 4 * samples)), everyone)
    assert np.array_equal(np.sort(np.floor((np.log10(y) + 3) / 6 * samples)), everyone)


def test_the_same_seed_gives_the_same_points() -> None:
    ranges = {"a.x": (0.0, 1.0), "a.y": (0.0, 1.0)}
    assert latin(ranges, 20, seed=1).digest == latin(ranges, 20, seed=1).digest
    assert latin(ranges, 20, seed=1).digest != latin(ranges, 20, seed=2).digest


def test_a_product_keeps_both_factors() -> None:
    slow, fast = grid({"a.x": [1, 2, 3]}), latin({"a.y": (0.0, 1.0)}, 4)
    both = slow * fast
    assert len(both) == 12
    assert all(both[4 * i + j] == slow[i] | fast[j] for i in range(3) for j in range(4))


def test_tables_are_read_from_wherever_they_are(tmp_path, needs) -> None:
    columns = {"a.x": [0.1, 0.2], "a.n": [1, 2], "b.name": ["u", "v w"], "b.on": [True, False]}
    path = tmp_path / "points.csv"
    needs("pandas").DataFrame(columns).to_csv(path, index=False)
    read = [table(path), table(columns), table(needs("pandas").DataFrame(columns))]
    assert {one.digest for one in read} == {Points(columns).digest}
    assert list(read[0]) == [{name: values[i] for name, values in columns.items()} for i in range(2)]


def test_a_digest_tells_values_names_and_types_apart() -> None:
    all_of = [
        {"a.x": [1.0, 2.0]},
        {"a.x": [1, 2]},
        {"a.y": [1.0, 2.0]},
        {"a.x": ["1", "2"]},
        {"a.x": [1.0, 2.0 + 4e-16]},
    ]
    assert len({Points(one).digest for one in all_of}) == len(all_of)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: grid({}), "needs a parameter"),
        (lambda: grid({"a.x": []}), "for each point"),
        (lambda: grid({"a.x": [1.0, float("nan")]}), "a.x has no value, or an infinite one, at point 1"),
        (lambda: grid({"a.x": [1.0, "b"]}), "several types"),
        (lambda: grid({f"a.x{i}": range(100) for i in range(5)}), "too many"),
        (lambda: grid({"a.x": [1]}) * grid({"a.x": [2]}), "a.x is swept twice"),
        (lambda: latin({"a.x": (2.0, 1.0)}, 3), "to a greater one"),
        (lambda: latin({"a.x": (0.0, 1.0, "log")}, 3), "above zero"),
        (lambda: latin({"a.x": (0.0, 1.0)}, 0), "at least one point"),
        (lambda: table({"a.x": [1, 2], "a.y": [1]}), "for each point"),
        (lambda: table("nowhere.csv"), "there is no file nowhere.csv"),
    ],
)
def test_what_is_no_set_of_points_is_refused(make, text) -> None:
    with pytest.raises(CosimError, match=text):
        make()


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a.x\n", "is empty"),
        ("a.x,a.y\n1,2\n3\n", "point 1 .* 1 values"),
        ("a.x,a.x\n1,2\n", "twice"),
        ("a.x,a.y\n1,\n", "empty"),
    ],
)
def test_a_table_with_holes_is_refused(tmp_path, content, text) -> None:
    (tmp_path / "points.csv").write_text(content)
    with pytest.raises(CosimError, match=text):
        table(tmp_path / "points.csv")
