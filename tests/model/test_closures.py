"""The table of closures that cannot be satisfied together, against SciPy on equations written here."""

import numpy as np
import pytest
from scipy.optimize import least_squares

import linkwork as lw

Y = (0, 1, 0)
BALL = lw.inertia.sphere(1.0, 0.1)
FEET = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.2], [1.3, 1.0]])
HEADS = np.array([[0.3, 0.4], [0.7, 0.35], [0.35, 0.8], [0.8, 0.75]])
SHORT = 0.05


def add_body(mech, name):
    mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=BALL)


def at(x, z=0.0):
    return lw.Frame((x, 0, z))


def plate_on_rods(lengths):
    """A plate in the plane on four rods, one more than hold it; the rods' outer hinges B0 to B3 are cut."""
    mech = lw.Mechanism("plate")
    add_body(mech, "plate")
    mech.add_joint("guide", lw.Planar((0, -1, 0)), "ground", "plate", parent_frame=at(0), child_frame=at(0))
    for k in range(len(lengths)):
        add_body(mech, f"rod{k}")
        mech.add_joint(f"A{k}", lw.Revolute(Y), "ground", f"rod{k}", parent_frame=at(*FEET[k]), child_frame=at(0))
        angle = -np.arctan2(*(HEADS[k] - FEET[k])[::-1])
        mech.start_q[f"A{k}"] = np.array([angle])
    for k, length in enumerate(lengths):
        frames = {"parent_frame": at(length), "child_frame": at(*HEADS[k])}
        mech.add_joint(f"B{k}", lw.Revolute(Y), f"rod{k}", "plate", **frames)
    return mech


def add_four_bar(mech):
    """One that closes."""
    for name in "abc":
        add_body(mech, name)
    mech.add_joint("P", lw.Revolute(Y), "ground", "a", parent_frame=at(5), child_frame=at(0))
    mech.add_joint("Q", lw.Revolute(Y), "a", "b", parent_frame=at(1), child_frame=at(0))
    mech.add_joint("R", lw.Revolute(Y), "b", "c", parent_frame=at(1.5), child_frame=at(0))
    mech.add_joint("S", lw.Revolute(Y), "c", "ground", parent_frame=at(1), child_frame=at(6))


def failure(mech):
    system = lw.compile(mech)
    with pytest.raises(lw.AssemblyError) as caught:
        system.assemble()
    return caught.value


def independent_gaps(lengths, rods=range(4)):
    """Of some of the rods to a plate at [x, z, angle]."""

    def gaps(pose):
        c, s = np.cos(pose[2]), np.sin(pose[2])
        points = HEADS @ np.array([[c, s], [-s, c]]) + pose[:2]
        return (np.linalg.norm(points - FEET, axis=1) - lengths)[list(rods)]

    return np.abs(gaps(least_squares(gaps, np.zeros(3), xtol=1e-15, ftol=1e-15, gtol=1e-15).x))


def test_gaps_of_the_compromise():
    lengths = np.linalg.norm(HEADS - FEET, axis=1)
    lengths[2] -= SHORT
    mech = plate_on_rods(lengths)
    add_four_bar(mech)
    error = failure(mech)
    found = {gap.name: gap for gap in error.closures}
    expected = independent_gaps(lengths)
    assert expected.max() > 0.1 * SHORT
    assert [found[f"B{k}"].gap for k in range(4)] == pytest.approx(expected, rel=1e-5, abs=1e-9)
    assert [gap.name for gap in error.closures[:4]] == [f"B{k}" for k in np.argsort(-expected)]
    assert error.closures[4].name == "S"
    assert error.closures[4].gap < 1e-9
    assert found["B2"][1:] == ("joint", found["B2"].gap, pytest.approx(0.0, abs=1e-9), "m", "rod2", "plate")
    first, title, *rows, last = str(error).split("\n")
    assert "cannot be closed" in first
    assert "least-squares" in title
    assert [row.split("'")[1] for row in rows] == [gap.name for gap in error.closures]
    assert f"{error.closures[0].gap:.3g} m" in rows[0]
    assert "others close" in last
    others = [independent_gaps(lengths, [j for j in range(4) if j != k]).max() for k in range(4)]
    assert [f"'B{k}'" in last for k in range(4)] == [gap < 1e-9 for gap in others]
    assert "'B2'" in last
    assert "'S'" not in last


def test_the_one_that_is_too_short():
    """Two arms of 0.3 m and 0.4 m between hinges 1 m apart; the four-bar closes."""
    mech = lw.Mechanism("arms")
    add_four_bar(mech)
    for name, place in (("left", 0.0), ("right", 1.0)):
        add_body(mech, name)
        mech.add_joint(name, lw.Revolute(Y), "ground", name, parent_frame=at(place), child_frame=at(0))
    mech.add_joint("J", lw.Revolute(Y), "left", "right", parent_frame=at(0.3), child_frame=at(-0.4))
    mech.start_q["left"] = np.array([0.4])
    error = failure(mech)
    assert [gap.name for gap in error.closures] == ["J", "S"]
    assert error.closures[0].gap == pytest.approx(0.3, rel=1e-6)
    assert str(error).endswith("without 'J' the others close")


def test_misalignments():
    """Guides that are turned by 0.2 rad and by -0.1 rad: a third one holds the body."""
    mech = lw.Mechanism("guides")
    add_body(mech, "block")
    mech.add_joint("G", lw.Prismatic((1, 0, 0)), "ground", "block", parent_frame=lw.Frame(), child_frame=lw.Frame())
    for name, angle in (("H", 0.2), ("I", -0.1)):
        turned = lw.Frame((0, 0, 0), np.array([np.cos(angle / 2), 0, 0, np.sin(angle / 2)]))
        mech.add_joint(name, lw.Prismatic((1, 0, 0)), "ground", "block", parent_frame=turned, child_frame=lw.Frame())
    found = {gap.name: gap for gap in failure(mech).closures}
    assert found["H"].misalignment == pytest.approx(0.2, rel=1e-9)
    assert found["I"].misalignment == pytest.approx(0.1, rel=1e-9)


def test_couplings_and_distances():
    """A rod and a motion that contradict each other, each in its unit."""
    mech = lw.Mechanism("held")
    add_body(mech, "arm")
    mech.add_joint("A", lw.Revolute(Y), "ground", "arm", parent_frame=at(0), child_frame=at(0))
    mech.add_distance("rod", ("ground", "arm"), ((2, 0, 0), (1, 0, 0)), length=1.2)
    mech.add_coupling("gear", {"A": 2.0}, offset=3.0)
    error = failure(mech)
    found = {gap.name: gap for gap in error.closures}
    assert {(gap.kind, gap.unit) for gap in found.values()} == {("distance", "m"), ("coupling", "rad")}
    length = (1.0 + 1.2) / 2.0  # mean of the lengths between joints, in which angles are counted
    (angle,) = least_squares(
        lambda q: [np.hypot(2.0 - np.cos(q[0]), np.sin(q[0])) - 1.2, length * (2.0 * q[0] - 3.0) / 2.0],
        [0.5],
        xtol=1e-15,
    ).x
    assert found["gear"].gap == pytest.approx(abs(2.0 * angle - 3.0), rel=1e-5)
    assert found["rod"].gap == pytest.approx(np.hypot(2.0 - np.cos(angle), np.sin(angle)) - 1.2, rel=1e-5)
    assert found["rod"][-2:] == ("ground", "arm")


def test_long_tables_are_cut():
    mech = lw.Mechanism("many")
    for k in range(25):
        add_body(mech, f"b{k}")
        mech.add_joint(f"A{k}", lw.Revolute(Y), "ground", f"b{k}", parent_frame=at(0, k), child_frame=at(0))
        reach = 1.0 if k else 0.5
        mech.add_joint(f"B{k}", lw.Spherical(), "ground", f"b{k}", parent_frame=at(reach, k), child_frame=at(1))
    error = failure(mech)
    assert len(error.closures) == 25
    assert error.closures[0] == ("B0", "joint", pytest.approx(0.5), 0.0, "m", "ground", "b0")
    assert "\n  and 5 more\nwithout 'B0' the others close" in str(error)


def test_single_loops_need_no_table():
    mech = lw.Mechanism("one")
    add_body(mech, "arm")
    mech.add_joint("A", lw.Revolute(Y), "ground", "arm", parent_frame=at(0), child_frame=at(0))
    mech.add_joint("B", lw.Spherical(), "ground", "arm", parent_frame=at(0.5), child_frame=at(1))
    error = failure(mech)
    assert "\n" not in str(error)
    assert error.closures[0].gap == pytest.approx(0.5)
