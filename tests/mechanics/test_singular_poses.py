"""Poses in which the motion branches, seen exactly: several loops at once, every method, at rest and in motion."""

import numpy as np
import pytest

import linkwork as lw
from support.methods import CLUSTER_METHODS, METHODS

G = 9.81


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


@pytest.mark.parametrize("method", CLUSTER_METHODS)
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


def test_multipliers_do_not_ask_the_speeds():
    with pytest.raises(lw.SingularityError, match=r"multipliers cannot select a branch; take method 'rcr'"):
        lw.compile(windows_in_line(2), "multipliers").assemble(u=along_the_windows(2))


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
