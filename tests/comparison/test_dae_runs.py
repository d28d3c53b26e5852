"""Runs that solve differential-algebraic equations, compared with those of ordinary ones."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.solvers.registry import ida_is_available
from support.cases import four_bar

CHOU = [f"chou{scheme}/ida" for scheme in (1, 2, 3, 4)]


@pytest.fixture(autouse=True)
def backend(needs):
    """Either backend serves; without any, the skip names the first."""
    if not ida_is_available():
        needs("scikits_odes_sundials")


def chain(bodies: int) -> lw.Mechanism:
    """A chain of rods on balls "S1", "S2" ..., released from the level while it turns."""
    mech = lw.Mechanism("chain")
    below = "ground"
    for k in range(bodies):
        name = f"rod{k + 1}"
        inertia = lw.inertia.rod(1.0, 0.5) + 0.01 * np.eye(3)
        mech.add_body(name, mass=1.0, com=(0.25, 0, 0), inertia=inertia, origin=(0.5 * k, 0, 0))
        mech.add_joint(f"S{k + 1}", lw.Spherical(), below, name, at=(0.5 * k, 0, 0))
        below = name
    mech.start(u={"S1": (0.3, 0.2, 1.0)})
    return mech


def test_loops_by_ggl():
    found = lw.compare(four_bar().mechanism, 1.0, runs=["ggl/ida", "rcr/dopri5"], rtol=[1e-5, 1e-8], repeat=1)
    assert not [row.message for row in found.rows if row.failed]
    for row in found.of("ggl/ida"):
        assert row.error < 1e4 * row.rtol
        assert row.residual < 1e2 * row.rtol
        assert row.energy_drift < 1e3 * row.rtol
        assert row.evaluations > row.steps > 0
    rough, fine = found.of("ggl/ida")
    assert fine.error < 0.1 * rough.error


def test_chains_by_chou():
    found = lw.compare(chain(3), 0.5, runs=[*CHOU, "auto/dopri5"], rtol=[1e-5, 1e-8], repeat=1)
    assert not [row.message for row in found.rows if row.failed]
    for run in CHOU:
        rough, fine = found.of(run)
        assert rough.error < 1e4 * rough.rtol
        assert fine.error < 0.1 * rough.error
    analytic, differences = found.of("chou2/ida")[0], found.of("chou1/ida")[0]
    assert analytic.evaluations < differences.evaluations  # differences of the residual make the Jacobian of scheme 1


def test_chou_is_for_chains_alone():
    found = lw.compare(four_bar().mechanism, 0.2, runs=["chou4/ida", "dopri5"], rtol=1e-5, repeat=1)
    failed, good = found.rows
    assert failed.failed
    assert not good.failed


def test_ggl_is_among_the_usual_runs():
    found = lw.compare(four_bar().mechanism, 0.2, rtol=1e-4, repeat=1)
    assert found.rows[-1].run == "ggl/ida"
    assert not found.rows[-1].failed
