"""Driven mechanisms that lock up: the error names drive, joint, coordinate and time, which position analysis knows."""

import re

import numpy as np
import pytest

import linkwork as lw
from support.lock_ups import LINKAGES, four_bar, pin, rod, slider_crank

TOLD = re.compile(
    r"The mechanism locks up: drives? (.*) cannot move joints? (.*) beyond (.*), reached at t = (\S+) s, where its"
)


def locked(mech, t_end=8.0, **options):
    """Drives, joints, values of the coordinates and time in the message of the run that fails."""
    with pytest.raises(lw.SolverError) as stopped:
        lw.simulate(mech, t_end, progress=False, **{"rtol": 1e-5, **options})
    found = TOLD.search(str(stopped.value))
    assert found, str(stopped.value)
    assert isinstance(stopped.value.__cause__, lw.AssemblyError)
    assert stopped.value.result.t.size
    values = [float(value) for value in re.findall(r"= (\S+)", found[3])]
    return found[1], found[2], values, float(found[4])


@pytest.mark.parametrize("name", LINKAGES)
def test_at_the_end_of_the_range(name):
    linkage = LINKAGES[name]()
    speed = 0.5
    drive, joint, (value,), time = locked(linkage.driven_at(speed))
    assert (drive, joint) == (f"'{linkage.driven}_drive'", f"'{linkage.driven}'")
    assert value == pytest.approx(linkage.limit, abs=1e-7)
    assert time == pytest.approx((linkage.limit - linkage.output(linkage.crank)) / speed, abs=1e-7)


def test_the_limit_of_a_crank_rocker_is_its_triangle():
    """Crank and coupler in line: sides 0.8 and 1.1 and 1.0 - 0.4, by the law of cosines."""
    angle = np.arccos((0.8**2 + 1.1**2 - 0.6**2) / (2 * 0.8 * 1.1))
    _, _, (value,), _ = locked(four_bar().driven_at(1.0))
    assert value == pytest.approx(np.pi - angle, abs=1e-7)


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "RK45", "LSODA", "BDF", "Radau"])
def test_with_every_kind_of_solver(solver):
    linkage = slider_crank()
    _, _, (value,), time = locked(linkage.driven_at(0.5), solver=solver, rtol=1e-3)
    assert value == pytest.approx(np.sqrt(1.1**2 - 0.1**2), abs=1e-7)
    assert time == pytest.approx((value - linkage.output(linkage.crank)) / 0.5, abs=1e-6)


@pytest.mark.parametrize("cut", "ABCS")
def test_whichever_joint_is_cut(cut):
    from support.builder import cut_at

    linkage = slider_crank()
    mech = cut_at(linkage.mechanism, cut)
    mech.prescribe("S", lw.Motion(amplitude=0.5, frequency=0.1, phase=0.0, polynomial=(linkage.output(1.0),)))
    mech.start(q={"A": 1.0})
    _, _, (value,), time = locked(mech)
    assert value == pytest.approx(np.sqrt(1.2), abs=1e-7)
    rise = (np.sqrt(1.2) - linkage.output(1.0)) / 0.5
    assert time == pytest.approx(np.arcsin(rise) / (0.2 * np.pi), abs=1e-6)


def test_a_motion_given_as_a_function():
    linkage = four_bar()
    mech = linkage.driven_at(0.0)
    drive, _, (value,), _ = locked(mech, inputs={"D_drive": lambda t: (0.3 * t**2, 0.6 * t, 0.6)})
    assert drive == "'D_drive'"
    assert value == pytest.approx(linkage.limit, abs=1e-7)


def test_a_drive_through_a_gear():
    """The motor's shaft turns three times as far as the rocker that it drives."""
    linkage = four_bar()
    mech = linkage.mechanism
    mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_joint("motor", lw.Revolute((0, 1, 0)), "ground", "rotor", at=(0, 0, 0))
    mech.add_coupling("gear", {"motor": 1.0, "D": -3.0})
    mech.prescribe("motor", lw.Motion((3 * linkage.output(0.7), 1.0)))
    mech.start(q={"A": 0.7})
    drive, joint, (value,), _ = locked(mech)
    assert (drive, joint) == ("'motor_drive'", "'motor'")
    assert value == pytest.approx(3 * linkage.limit, abs=1e-6)


def five_bar(speeds):
    """Two cranks 1 m long whose ends, 2 m apart on the ground, are joined by two rods of 1.3 m; and a fan."""
    mech = lw.Mechanism("five_bar")
    for name in ("left", "right", "one", "other", "fan"):
        rod(mech, name, 1.3 if name in ("one", "other") else 1.0)
    pin(mech, "L", "ground", (0, 0), "left")
    pin(mech, "R", "ground", (2, 0), "right")
    pin(mech, "P", "left", (1, 0), "one")
    pin(mech, "Q", "right", (1, 0), "other")
    pin(mech, "M", "one", (1.3, 0), "other", (1.3, 0))
    pin(mech, "fan", "ground", (5, 0), "fan")
    mech.prescribe("fan", lw.Motion((0.0, 10.0)))
    mech.prescribe("L", lw.Motion((np.pi / 2, speeds[0])))
    mech.prescribe("R", lw.Motion((np.pi / 2 - 0.1, -speeds[1])))
    mech.start(q={"P": -1.0, "Q": 1.0})
    return mech


def test_two_drives_against_each_other():
    """Both cranks turn outward until their ends are as far apart as the rods are long; the fan has no part in it."""
    drives, joints, values, time = locked(five_bar((0.2, 0.3)))
    assert (drives, joints) == ("'L_drive', 'R_drive'", "'L', 'R'")
    left, right = (np.array([x + np.cos(a), np.sin(a)]) for x, a in zip((0, 2), values, strict=True))
    assert np.hypot(*(right - left)) == pytest.approx(2.6, abs=1e-7)
    assert values == pytest.approx([np.pi / 2 + 0.2 * time, np.pi / 2 - 0.1 - 0.3 * time], abs=1e-7)


def test_the_drive_that_stands_still_still_has_its_part():
    drives, _, _, _ = locked(five_bar((0.3, 0.0)))
    assert drives == "'L_drive', 'R_drive'"


def test_with_equations_of_multipliers():
    pytest.importorskip("sksundae")
    _, _, (value,), _ = locked(four_bar().driven_at(0.5), solver="ida", formulation="ggl")
    assert value == pytest.approx(four_bar().limit, abs=1e-6)


def test_after_an_event():
    """A second loop is locked on the way; the drive locks later, as it does without."""
    linkage = four_bar()
    mech = linkage.driven_at(0.5)
    rod(mech, "arm", 0.3)
    pin(mech, "hinge", "ground", (3, 0), "arm")
    mech.add_transition("latch", lw.Lock("hinge"), when=lw.Time(1.0))
    drive, _, (value,), _ = locked(mech)
    assert drive == "'D_drive'"
    assert value == pytest.approx(linkage.limit, abs=1e-7)


def test_a_run_that_fails_otherwise_does_not_blame_the_drive():
    """Steps are used up while the drive is far from the end of its range."""
    with pytest.raises(lw.SolverError, match="max_steps is used up") as stopped:
        lw.simulate(four_bar().driven_at(0.01), 1.0, max_steps=3, progress=False)
    assert "locks up" not in str(stopped.value)


def test_a_drive_of_a_shaft_has_no_range():
    """A crank that turns on and on, past both dead centres of its slider, does not lock."""
    mech = slider_crank().mechanism
    mech.prescribe("A", lw.Motion((1.0, 6.0)))
    assert lw.simulate(mech, 3.0, rtol=1e-6, progress=False).t[-1] == 3.0


def nearly_a_parallelogram(angle):
    return four_bar(crank=0.5, coupler=1.0, rocker=0.5, base=1.0 + 1e-9, start=angle)


@pytest.mark.parametrize(("angle", "blamed"), [(2e-4, True), (1.0, False)])
def test_a_singular_pose_without_a_drive(angle, blamed):
    """All four joints in a line: the loop and its fastest joint are named, and elsewhere no loop is."""
    linkage = nearly_a_parallelogram(angle)
    mech = linkage.mechanism
    mech.start(q={"A": angle, "B": -angle}, u={"A": 0.2})

    def stop(t, state):
        if t > 0.0:
            raise lw.SolverError("stopped")
        return 1.0

    with pytest.raises(lw.SolverError) as stopped:
        lw.simulate(mech, 1e-6, events=[stop], progress=False)
    (loop,) = lw.compile(mech).loop_names
    told = f"the loop closed by joint '{loop}' is the nearest to a singular pose, with conditioning"
    assert (told in str(stopped.value)) == blamed
    if blamed:
        # The cranks turn alike, at 0.2, and the coupler against them.
        assert re.search(r"of its joints '[ABCD]' moves fastest, at 0\.2", str(stopped.value))
