"""FMPy runs the archives that are written here."""

from pathlib import Path

import numpy as np
import pytest

from linkwork.cosim import Jacobi, System, run

simulation = pytest.importorskip("fmpy.ssp.simulation")
ssd = pytest.importorskip("fmpy.ssp.ssd")
FMU2Slave = pytest.importorskip("fmpy.fmi2").FMU2Slave

STEP, STOP = 1.0 / 64, 2.0


@pytest.fixture(scope="module")
def pair(mass, tmp_path_factory) -> Path:
    """Two masses, each pushed by the other's place and speed."""
    system = System("pair")
    for name in ("left", "right"):
        system.add(name, mass("2.0"))
    system.connect("left.A.u", "right.A.tau", convert_units=False)
    system.connect("right.A.q", "left.A.tau", convert_units=False)
    system.add_parameter_set("light", {"right.A.q_start": 0.0})
    system.add_parameter_set("heavy", {"right.A.q_start": 0.0, "left.A.q_start": -0.2, "left.block.mass": 3.0})
    return system.save(tmp_path_factory.mktemp("ssp") / "pair.ssp")


@pytest.mark.parametrize("chosen", ["light", "heavy"])
def test_fmpy_gives_what_our_jacobi_master_gives(pair, chosen: str) -> None:
    """FMPy holds inputs over a step as Jacobi does, but from zero on: connected outputs must begin there."""
    parameters = ssd.read_ssv(str(pair), f"resources/{chosen}.ssv")
    theirs = simulation.simulate_ssp(str(pair), stop_time=STOP, step_size=STEP, parameter_set=parameters)
    ours = run(System.load(pair), STOP, master=Jacobi(STEP), parameter_sets=chosen)
    assert len(theirs) == len(ours.t) - 1  # their row of time t holds the state after the step from t
    for name in ("left.A.u", "right.A.q"):
        assert np.abs(theirs[name]).max() > 0.02
        np.testing.assert_allclose(ours[name][1:], theirs[name], rtol=0, atol=1e-6)
