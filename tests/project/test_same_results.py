"""The comparison of two installations finds what differs, and by how much."""

import numpy as np

from same_results.comparison import compare, difference, report
from same_results.quantities import results_of
from support.zoo import zoo


def test_all_quantities_of_a_mechanism_are_computed_and_the_same_twice():
    found = results_of("zoo", zoo(), 0.0)
    texts = [name for name, value in found.items() if value.dtype.kind == "U"]
    assert texts == [], {name: str(found[name]) for name in texts}
    again = compare(found, results_of("zoo", zoo(), 0.0))
    assert len(again.identical) == len(found)
    assert not again.unlike


def test_differences_are_relative_to_the_largest_number():
    assert difference(np.array([4.0, 1.0]), np.array([4.0, 1.5])) == 0.125
    assert difference(np.array([np.nan, 1.0]), np.array([np.nan, 1.0])) == 0.0
    assert difference(np.array([np.nan, 1.0]), np.array([2.0, 1.0])) == np.inf
    assert difference(np.zeros(2), np.zeros(2)) == 0.0


def test_what_cannot_be_compared_is_named():
    here = {"a": np.ones(2), "b": np.ones(2), "c": np.array("Wrong: x"), "d": np.array("Wrong: x"), "f": np.ones(1)}
    there = {"a": np.ones(3), "b": np.array("Wrong: x"), "c": np.array("Wrong: y"), "d": here["d"], "e": np.ones(1)}
    found = compare(here, there)
    assert list(found.unlike) == ["a", "b", "c", "f", "e"]
    assert found.refused == ["d"]
    assert "b: here: computed; there: Wrong: x" in report(found, 1e-12)


def test_the_report_names_the_largest_difference():
    here = {"four-bar | auto | run": np.ones(2), "four-bar | auto | jump": np.ones(2)}
    found = compare(here, here | {"four-bar | auto | run": np.array([1.0, 1.0 - 1e-3])})
    assert found.differing(1e-4) == ["four-bar | auto | run"]
    assert found.differing(1e-2) == []
    text = report(found, 1e-4)
    assert "1.0e-03  four-bar | auto | run" in text
    assert "2 arrays, 1 the same bit for bit" in text
