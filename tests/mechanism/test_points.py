"""Points of interest and measures in the description: checks, names, files."""

import pytest

import linkwork as lw
from support.bodies import refused, with_bodies


@pytest.fixture
def mech():
    made = with_bodies("crank", "rocker")
    made.add_point("tip", "crank", (1, 2, 3), axis=(0, 3, 4))
    made.add_point("plain", "rocker", (0, 0, 1))
    made.add_point("wall", "ground", (2, 0, 0), axis=(1, 0, 0))
    return made


def test_points_and_measures_are_kept_and_found(mech):
    mech.add_measure("gap", "distance", ("tip", "plain"))
    mech.add_measure("tilt", "angle", ["tip", "wall"])
    assert mech.points["tip"].axis == pytest.approx((0, 0.6, 0.8), abs=1e-16)
    assert mech.points["plain"].axis is None
    assert mech.measures["tilt"].points == ("tip", "wall")
    assert "3 points, 2 measures" in repr(mech)
    copied = mech.copy()
    copied.add_point("more", "crank", (0, 0, 0))
    assert "more" not in mech.points


def test_files_hold_them_with_the_same_bits(mech, tmp_path):
    mech.add_measure("gap", "distance", ("tip", "plain"))
    mech.save(tmp_path / "m.json")
    loaded = lw.Mechanism.load(tmp_path / "m.json")
    assert loaded == mech
    assert loaded.points == mech.points
    assert loaded.measures == mech.measures
    assert "points" not in with_bodies("crank").to_dict()


def test_mistakes_in_points_are_named(mech):
    with refused("point 'p'", "no body 'crenk'", "did you mean 'crank'"):
        mech.add_point("p", "crenk", (0, 0, 0))
    with refused("point 'p'", "position", "3 numbers"):
        mech.add_point("p", "crank", (0, 0))
    with refused("point 'p'", "finite"):
        mech.add_point("p", "crank", (0, 0, float("nan")))
    with refused("point 'p'", "axis is zero"):
        mech.add_point("p", "crank", (0, 0, 0), axis=(0, 0, 0))
    with refused("there is a body 'crank' already"):
        mech.add_point("crank", "crank", (0, 0, 0))
    with refused("there is a point 'tip' already"):
        mech.add_body("tip", 1.0, (0, 0, 0), lw.inertia.sphere(1.0, 0.1))
    assert list(mech.points) == ["tip", "plain", "wall"]


def test_mistakes_in_measures_are_named(mech):
    with refused("measure 'm'", "no quantity 'distence'", "did you mean 'distance'"):
        mech.add_measure("m", "distence", ("tip", "wall"))
    with refused("measure 'm'", "no point 'tipp'", "did you mean 'tip'"):
        mech.add_measure("m", "distance", ("tipp", "wall"))
    with refused("measure 'm'", "two points of interest"):
        mech.add_measure("m", "distance", "tip")
    with refused("measure 'm'", "'plain' has no axis"):
        mech.add_measure("m", "angle", ("tip", "plain"))
    with refused("measure 'm'", "both points are on 'crank'"):
        mech.add_measure("m", "distance", ("tip", "tip"))
    assert not mech.measures


def test_points_of_bodies_that_are_gone_are_refused(mech):
    mech.add_measure("gap", "distance", ("tip", "plain"))
    del mech.points["plain"]
    with refused("measure 'gap'", "no point 'plain'"):
        lw.compile(mech)


def test_mistakes_in_files_are_located(mech):
    data = mech.to_dict()
    data["points"][1]["axes"] = [1, 0, 0]
    with refused("points[1]", "'axes'", "did you mean 'axis'"):
        lw.Mechanism.from_dict(data)
