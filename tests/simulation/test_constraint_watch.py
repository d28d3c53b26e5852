"""Constraints are compared with the tolerances at every accepted step: a run never ends with one that is violated."""

import numpy as np
import pytest

import linkwork as lw
from support.dead_points import cam, slider_crank
from support.latched import exported
from support.random_mechanisms import FAMILIES, well_posed

SOLVERS = ["dopri5", "rodas5p", "DOP853", "Radau", "BDF", "LSODA", "ida"]


def from_rest(acceleration=2.0):
    """Locked at its dead point while its motion is at rest there: what it violates shows only as it gets away."""
    mech = cam((0.0, 1.0), 0.0, driven=False, start=0.0)
    mech.prescribe("a", lw.Motion((0.0, 0.0, acceleration / 2)))
    mech.add_transition("latch", lw.Lock("b"), when=lw.Time(0.0))
    return mech


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rtol", [1e-8, 1e-4])
def test_with_every_solver(solver, rtol):
    with pytest.raises(lw.SolverError, match=r"t = \S+ s .* is violated by") as caught:
        lw.simulate(from_rest(), 1.0, solver=solver, rtol=rtol, max_step=0.01)
    error = caught.value
    assert "'latch'" in str(error)
    assert "'a_drive'" in str(error)
    assert error.result.t[-1] < 0.6 * max(1e4 * rtol, 3e-4) ** 0.25  # residuals up to 1e-5 always pass
    for name in ("a_drive", "cam"):
        assert np.abs(error.result[f"{name}.residual"]).max() < 2e3 * rtol


def test_with_multipliers():
    with pytest.raises(lw.SolverError, match="is violated by"):
        lw.simulate(from_rest(), 1.0, solver="ida", formulation="ggl")


@pytest.mark.parametrize("method", ["auto", "multipliers", "dca", "embedding"])
def test_with_every_method(method):
    with pytest.raises(lw.SolverError, match="'latch'"):
        lw.simulate(lw.compile(from_rest(), method=method), 1.0)


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_in_fmus(kind, tmp_path):
    fmpy = pytest.importorskip("fmpy")
    fmu, messages = exported(from_rest(), "3.0", tmp_path), []
    options = {"fmi_type": kind, "stop_time": 1.5, "output_interval": 0.01, "relative_tolerance": 1e-8}
    with pytest.raises(fmpy.fmi1.FMICallException):
        fmpy.simulate_fmu(str(fmu.path), logger=lambda *given: messages.append(str(given)), **options)
    assert any("is violated by" in one and "'latch'" in one for one in messages)


# ---- each kind by its name ----


def watched(mech, **given):
    """The block of an assembled mechanism, watched from there on."""
    system = lw.compile(mech)
    block, state = system.block(), system.assemble(**given)
    system.enter(block, state)
    block.watch_constraints(1e-8, 1e-8)
    block.check_constraints()
    return system, block


def test_a_loop_a_motion_and_a_distance():
    mech = slider_crank(10.0, driven=True)
    mech.add_body("bob", mass=1.0, com=(0, 0, 0), inertia=np.eye(3) * 0.01, origin=(0, 1, 0))
    mech.add_joint("F", lw.Planar((0, 0, 1)), "ground", "bob", at=(0, 1, 0))
    mech.add_distance("cord", bodies=("ground", "bob"), points=((0, 0, 0), (0, 0, 0)))
    system, block = watched(mech)
    for joint, name in (("A", "'A_drive'"), ("B", "loop closed by joint"), ("F", "distance 'cord'")):
        q = block["q"].copy()
        index = [n.startswith(f"{joint}.q") for n in system.q_names].index(True)
        moved = q.copy()
        moved[index + (joint == "F")] += 1e-4
        block.put("q", moved)
        with pytest.raises(lw.SolverError, match=name):
            block.check_constraints()
        block.put("q", q)
        block.check_constraints()


def test_a_lock_without_a_coordinate():
    mech = lw.Mechanism("ball", gravity=(0, 0, 0))
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=np.eye(3) * 0.1)
    mech.add_joint("S", lw.Spherical(), "ground", "rod", at=(0, 0, 0))
    mech.add_transition("latch", lw.Lock("S", speeds=[2]), when=lw.Time(0.0))
    _, block = watched(mech)
    block.start_events()
    block.watch_constraints(1e-8, 1e-8)
    block.check_constraints()
    block.put("u", np.array([0.0, 1e-3, 0.0]))
    with pytest.raises(lw.SolverError, match="lock 'latch' is violated"):
        block.check_constraints()


# ---- sound runs ----


@pytest.mark.parametrize("rtol", [1e-2, 1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize("solver", ["dopri5", "LSODA"])
def test_sound_runs_pass(solver, rtol):
    for mech in (slider_crank(10.0, driven=True), slider_crank(10.0, driven=False, gravity=9.81)):
        result = lw.simulate(mech, 2.0, solver=solver, rtol=rtol)
        assert result.t[-1] == 2.0


@pytest.mark.parametrize("family", FAMILIES)
def test_random_mechanisms_pass(family):
    scene = well_posed(FAMILIES[family][0], 0)
    mech = scene.mechanism
    mech.start(q=scene.q, u=scene.u)
    for rtol in (1e-2, 1e-5):
        assert lw.simulate(mech, 0.3, rtol=rtol).t[-1] == 0.3


def test_loops_without_feedback_may_drift():
    mech = slider_crank(10.0, driven=False, gravity=9.81)
    assert lw.simulate(mech, 5.0, rtol=1e-4, loop_gain=0.0).t[-1] == 5.0


def test_a_start_that_is_open_by_a_little_closes():
    system = lw.compile(slider_crank(10.0, driven=False))
    state = system.assemble()
    opened = system.state(np.add(state.q, [0.0, 1e-3, 0.0]), state.u)
    result = lw.simulate(system, 1.0, state=opened, rtol=1e-10)
    gaps = result[f"loop.{system.loop_names[0]}.residual"]
    assert gaps[0] > 1e-5 > gaps[-1]
