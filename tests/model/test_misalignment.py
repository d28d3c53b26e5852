"""Loops that miss their closure by a little: the error names the joint, the error of its axis, and the remedy."""

import dataclasses
import re

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.rounded_loops import bennett, rounded

TILT = re.compile(r"would close if joint '\w+' were Spherical: .*axes (.*)in (.*) are off by (\S+) rad")
OFFSET = re.compile(r"would close if joint '(\w+)' were Cylindrical: along its axis, the loop misses by (\S+) m")


def tilted(about, angle):
    """A small rotation about an axis, as a quaternion."""
    return [np.cos(angle / 2), *np.sin(angle / 2) * np.asarray(about, float)]


def moved(mech, name, side, *, by=(0, 0, 0), rotation=None):
    joint = mech.joints[name]
    frame = getattr(joint, side)
    turn = np.eye(3) if rotation is None else lw.Frame(rotation=rotation).rotation
    changed = lw.Frame(frame.position + by, turn @ frame.rotation)
    mech.joints[name] = dataclasses.replace(joint, **{side: changed})


def message(mech):
    with pytest.raises(lw.AssemblyError, match="cannot be closed") as refused:
        lw.compile(mech).assemble()
    return str(refused.value)


@pytest.mark.parametrize("joint", "ABCD")
@pytest.mark.parametrize("side", ["parent_frame", "child_frame"])
def test_the_joint_whose_axis_is_tilted(joint, side):
    """By 1e-3 rad, no rounding, in one of its bodies: there, it misses the axis of the body's other joint."""
    case = four_bar()
    moved(case.mechanism, joint, side, rotation=tilted((1, 0, 0), 1e-3))
    case.mechanism.start(q=case.q)
    found = TILT.search(message(case.mechanism))
    assert found
    body = getattr(case.mechanism.joints[joint], side.removesuffix("_frame"))
    assert body in found[2]
    assert f"'{joint}'" in found[1]
    assert float(found[3]) == pytest.approx(1e-3, rel=0.02)


@pytest.mark.parametrize("offset", [1e-3, -3e-4])
def test_an_offset_along_the_axis(offset):
    case = four_bar()
    moved(case.mechanism, "B", "parent_frame", by=(0, offset, 0))
    case.mechanism.start(q=case.q)
    found = OFFSET.search(message(case.mechanism))
    assert found
    assert float(found[2]) == pytest.approx(abs(offset), rel=1e-3)


def test_the_remedies_help():
    for kind, by, rotation in (
        (lw.Spherical(), (0, 0, 0), tilted((1, 0, 0), 1e-3)),
        (lw.Cylindrical((0, 1, 0)), (0, 1e-3, 0), None),
    ):
        case = four_bar()
        moved(case.mechanism, "D", "parent_frame", by=by, rotation=rotation)
        case.mechanism.joints["D"] = dataclasses.replace(case.mechanism.joints["D"], kind=kind)
        case.mechanism.start(q={"A": -0.7, "B": 0.13, "C": 2.2})
        lw.compile(case.mechanism).assemble()


@pytest.mark.parametrize("change", [{"by": (5.0, 0, 0)}, {"rotation": tilted((1, 0, 0), 0.3)}, {"by": (0, 0.5, 0)}])
def test_large_errors_are_no_matter_of_digits(change):
    case = four_bar()
    moved(case.mechanism, "D", "parent_frame", **change)
    case.mechanism.start(q=case.q)
    assert "would close" not in message(case.mechanism)


def test_guesses_and_motions_of_the_call_are_kept():
    """Another branch, chosen by the call; the crank is prescribed."""
    case = four_bar()
    moved(case.mechanism, "D", "child_frame", rotation=tilted((0, 0, 1), 2e-3))
    case.mechanism.prescribe("A", lw.Motion((0.3, 1.0)))
    with pytest.raises(lw.AssemblyError) as refused:
        lw.compile(case.mechanism).assemble(q={"D": -1.0}, time=0.5)
    found = TILT.search(str(refused.value))
    assert found
    assert "if joint 'D' were Spherical: its axes" in found[0]
    assert "'rocker'" in found[2]
    assert float(found[3]) <= 2.1e-3


def test_the_tolerance_that_accepts_rounded_numbers():
    """Of lengths and twists that fit each other, which no direction of an axis says."""
    loop = rounded(bennett(np.random.default_rng(24)), 3)
    offered = re.search(r"assemble\(tolerance=(\S+)\) accepts it", message(loop))
    assert offered
    model = lw.compile(loop)
    assert 1e-9 < model.loop_residual(model.assemble(tolerance=float(offered[1]))).max() < float(offered[1])


@pytest.mark.parametrize("size", [0.1, 0.01, 0.001])
def test_the_tolerance_offered_to_small_loops(size):
    """That of loops of about a metre counts less for them: the one that is offered is accepted."""
    loop = rounded(bennett(np.random.default_rng(24)), 3)
    for name, joint in loop.joints.items():
        ends = [lw.Frame(size * frame.position, frame.rotation) for frame in (joint.parent_frame, joint.child_frame)]
        loop.joints[name] = dataclasses.replace(joint, parent_frame=ends[0], child_frame=ends[1])
    offered = re.search(r"assemble\(tolerance=(\S+)\) accepts it", message(loop))
    assert offered
    lw.compile(loop).assemble(tolerance=float(offered[1]))


def test_no_tolerance_is_offered_for_large_gaps():
    case = four_bar()
    moved(case.mechanism, "D", "parent_frame", by=(0, 1e-3, 0))
    case.mechanism.start(q=case.q)
    assert "tolerance=" not in message(case.mechanism)
