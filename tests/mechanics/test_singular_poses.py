"""Poses in which the motion branches, seen exactly: several loops at once, every method, at rest and in motion."""

import numpy as np
import pytest

import linkwork as lw
from support.driving import by_joint, tree_joints, tree_only
from support.methods import METHODS
from support.oracle import Oracle
from support.placement import body_poses

G = 9.81
ABOUT = [("multipliers", reference) for reference in ("centroid", "origin")]


def windows_in_line(count):
    """Parallelograms in a row, legs of length 1 on hinges at a distance of 2, all bars along x."""
    mech = lw.Mechanism("windows", gravity=(0, 0, -G))
    hinge = lw.Revolute((0, 1, 0))
    for k in range(count + 1):
        mech.add_body(f"leg{k}", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0, axis="x"))
        mech.add_joint(f"A{k}", hinge, "ground", f"leg{k}", parent_frame=lw.Frame((2.0 * k, 0, 0)))
    for k in range(count):
        mech.add_body(f"rung{k}", mass=1.0, com=(1.0, 0, 0), inertia=lw.inertia.rod(1.0, 2.0, axis="x"))
        mech.add_joint(f"B{k}", hinge, f"leg{k}", f"rung{k}", parent_frame=lw.Frame((1.0, 0, 0)))
        ends = {"parent_frame": lw.Frame((2.0, 0, 0)), "child_frame": lw.Frame((1.0, 0, 0))}
        mech.add_joint(f"C{k}", hinge, f"rung{k}", f"leg{k + 1}", cut=True, **ends)
    return mech


def along_the_windows(count):
    return {f"A{k}": 1.0 for k in range(count + 1)} | {f"B{k}": -1.0 for k in range(count)}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_the_speeds_tell_the_branch(count, method):
    """All legs turn alike, and the rungs do not turn: their weight counts at the ends of the legs."""
    system = lw.compile(windows_in_line(count), method)
    state = system.assemble(u=along_the_windows(count))
    expected = G * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    assert system.accelerations(state)[: count + 1] == pytest.approx(np.full(count + 1, expected), rel=1e-7)
    assert system.value("loop.C0.conditioning", state) == 0.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_at_rest_nothing_does(count, method):
    with pytest.raises(lw.SingularityError, match=r"closed by .*'C0' is in a singular pose, where its motion branches"):
        lw.compile(windows_in_line(count), method).assemble()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_1e_4_rad_off_it_is_regular(count, method):
    """At rest the legs turn alike, as on their branch in motion."""
    system = lw.compile(windows_in_line(count), method)
    state = system.assemble(q={"A0": 1e-4})
    expected = G * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    assert system.accelerations(state)[: count + 1] == pytest.approx(np.full(count + 1, expected), rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_what_was_evaluated_before_does_not_matter(method):
    """Near the pose in line, after it, and in a new system."""
    system, new = (lw.compile(windows_in_line(2), method) for _ in range(2))
    u = along_the_windows(2)
    with pytest.raises(lw.SingularityError):
        system.accelerations(system.state(np.zeros(5), np.zeros(5)))
    beside = {name: 0.3 * speed for name, speed in u.items()}
    found = [each.accelerations(each.assemble(q=beside, u=u)) for each in (system, new)]
    assert np.array_equal(*found)


@pytest.mark.parametrize("speed", [1e-6, 1e-5, 1e-3, 1.0])
@pytest.mark.parametrize("angle", [1e-5, 1.37e-5, 1.9e-5])
def test_slow_close_to_a_change_point(angle, speed):
    """A parallelogram of uneven lengths: rounding divided by the square of the distance would leave six digits."""
    crank, coupler = 0.7313, 1.1371
    mech, hinge = lw.Mechanism("bars"), lw.Revolute((0, 1, 0))
    for name, x, length in (("a", 0, crank), ("b", crank, coupler), ("c", coupler, crank)):
        inertia = lw.inertia.rod(1.0, length, axis="x")
        mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=inertia, origin=(x, 0, 0))
    for name, parent, child, x in (("A", "ground", "a", 0), ("B", "a", "b", crank), ("C", "ground", "c", coupler)):
        mech.add_joint(name, hinge, parent, child, at=(x, 0, 0))
    mech.add_joint("D", hinge, "b", "c", at=(crank + coupler, 0, 0), cut=True)
    mech.start(q={"A": 0.5, "B": -0.5, "C": 0.5})
    system = lw.compile(mech)
    along = np.array([1.0, -1.0, 1.0])
    found = np.asarray(system.accelerations(system.state(angle * along, speed * along)))[0]
    assert found == pytest.approx(9.81 * 2 * crank / (5 / 3 * crank**2) * np.cos(angle), rel=1e-8)


def loaded_window():
    """A parallelogram on a carriage, with pendulums that branch off within and outside of its loop."""
    mech, hinge = lw.Mechanism("loaded window", gravity=(0, 0, -G)), lw.Revolute((0, 1, 0))

    def bar(name, mass, x, length):
        inertia = lw.inertia.rod(mass, length, axis="x")
        mech.add_body(name, mass=mass, com=(length / 2, 0, 0), inertia=inertia, origin=(x, 0, 0))

    for name, *numbers in [
        ("carriage", 2.0, 0.0, 1.5),
        ("arm", 0.3, 0.0, 0.4),
        ("crank", 1.0, 0.0, 0.7),
        ("rocker", 0.8, 1.1, 0.7),
        ("coupler", 0.6, 0.7, 1.1),
        ("hook", 0.2, 1.0, 0.3),
        ("hook2", 0.25, 1.3, 0.2),
        ("tail", 0.4, 0.7, 0.5),
        ("tail2", 0.1, 1.2, 0.3),
    ]:
        bar(name, *numbers)
    mech.add_joint("slide", lw.Prismatic((1, 0, 0)), "ground", "carriage")
    for name, parent, child, x in [
        ("arm", "carriage", "arm", 0.0),
        ("A", "carriage", "crank", 0.0),
        ("C", "carriage", "rocker", 1.1),
        ("B", "crank", "coupler", 0.7),
        ("hook", "coupler", "hook", 1.0),
        ("hook2", "hook", "hook2", 1.3),
        ("tail", "crank", "tail", 0.7),
        ("tail2", "tail", "tail2", 1.2),
    ]:
        mech.add_joint(name, hinge, parent, child, at=(x, 0, 0))
    mech.add_joint("D", hinge, "coupler", "rocker", at=(1.8, 0, 0), cut=True)
    return mech


@pytest.mark.parametrize("choice", [(method,) for method in METHODS] + ABOUT, ids="-".join)
@pytest.mark.parametrize("angle", [0.01, -0.05, 0.2, 0.6])
def test_what_hangs_on_a_loop_near_a_singular_pose(angle, choice):
    """Every method against the dense equations of all bodies."""
    mech = loaded_window()
    q = {"slide": 0.3, "arm": 0.4, "A": angle, "B": -angle, "C": angle, "hook": 0.9, "hook2": -0.5, "tail": 0.7}
    u = {"slide": 0.2, "arm": -0.6, "A": 1.3, "hook": 0.5, "hook2": 0.8, "tail": -0.4, "tail2": 0.9}
    system = lw.compile(mech, *choice)
    state = system.assemble(q=q, u=u)
    values = tree_only(system, by_joint(system, state.q))
    oracle = Oracle(mech, body_poses(mech, values, tree_joints(system)), values)
    expected = oracle.solve(by_joint(system, state.u)).udot
    found = by_joint(system, system.accelerations(state))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)  # what the interpolation leaves
