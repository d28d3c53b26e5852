"""Failures of Co-Simulation are those of a run: lock-up and events without end by name; no trace of rejected steps."""

import re

import numpy as np
import pytest

import linkwork as lw
from support.fmi_calls import DISCARD, ERROR
from support.lock_ups import LINKAGES

LIMIT, Q_START, U_START, Q, U = 1, 2, 3, 6, 7


@pytest.mark.parametrize("name", list(LINKAGES)[:2])
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_a_lock_up_is_named(make, name, version):
    """By position analysis; the importer comes as near as it likes."""
    linkage, speed = LINKAGES[name](), 0.7
    end = (linkage.limit - linkage.output(linkage.crank)) / speed
    instance = make(linkage.driven_at(speed), version).new("CS")
    instance.initialize()
    assert instance.try_step(0.0, end + 1.0)[0] == DISCARD
    found = re.search(r"cannot move joint '(.*)' beyond (\S+)\.q = (\S+) \S+, reached at t = (\S+) s", instance.last)
    assert found, instance.last
    assert found[1] == found[2] == linkage.driven
    assert [float(found[3]), float(found[4])] == pytest.approx([linkage.limit, end], abs=1e-6)
    assert instance.step(0.0, 0.99 * end) == 0.99 * end


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_bounces_without_end_are_an_error(make, version):
    """Between walls that are next to each other."""
    mech = lw.Mechanism("wedge", gravity=(0, 0, 0))
    mech.add_body("puck", mass=1, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("x", lw.Prismatic((1, 0, 0)), "ground", "puck", at=(0, 0, 0))
    mech.add_transition("walls", lw.Stop("x", lower=0.0, upper=1e-15, restitution=1.0))
    mech.start(u={"x": 1000.0})
    instance = make(mech, version).new("CS")
    instance.initialize()
    assert instance.try_step(0.0, 0.1)[0] == ERROR
    assert "without end" in instance.last
    assert "'walls'" in instance.last


def test_a_rejected_step_leaves_no_trace(fake):
    found = []
    for rejected in (True, False):
        instance = fake.new("CS")
        instance.set([LIMIT, Q_START, U_START], [1.0, 0.0, 2.0])
        instance.initialize()
        instance.step(0.0, 0.1)
        if rejected:
            assert instance.try_step(0.1, 1.0)[0] == DISCARD
        else:
            instance.save()  # begins again, too
        instance.step(0.1, 0.4)
        found.append(instance.get([Q, U]))
    assert found[0] == found[1]
