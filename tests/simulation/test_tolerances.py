"""Tolerances asked for and errors obtained, of the solvers by backward differences, on published mechanisms."""

import functools

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.dae_backends import needs_ida
from support.published import andrews_squeezer, ladder, msl_four_bar
from support.quarter_car import quarter_car_multilink

FACTOR = 30.0  # as docs/dae.md states, of rtol or the error of dopri5, whichever is larger
CASES = {
    "four_bar": (four_bar, 2.0),
    "ladder": (lambda: ladder(3), None),
    "quarter_car": (quarter_car_multilink, None),
    "andrews_squeezer": (andrews_squeezer, None),
    "msl_four_bar": (msl_four_bar, None),
}


@functools.cache
def reference(name):
    """The mechanism, what runs need, and states of a tight tolerance."""
    make, t_end = CASES[name]
    case = make()
    case.mechanism.start(q=case.q, u=case.u)
    t_end = t_end or float(case.t[-1])
    options = {"inputs": getattr(case, "inputs", {}), "t_eval": np.linspace(0.0, t_end, 101)}
    exact = lw.simulate(case.mechanism, t_end, solver="DOP853", rtol=1e-12, **options).y
    return case.mechanism, t_end, options, exact


@functools.cache
def error(name, rtol, solver, formulation="ode"):
    """The largest error of a state, in parts of 1 + its size."""
    mechanism, t_end, options, exact = reference(name)
    result = lw.simulate(mechanism, t_end, rtol=rtol, solver=solver, formulation=formulation, **options)
    return float((np.abs(result.y - exact) / (1.0 + np.abs(exact))).max())


@needs_ida
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "rtol", [1e-4, 1e-7, *(pytest.param(rtol, marks=pytest.mark.slow) for rtol in (1e-3, 1e-5, 1e-6, 1e-8))]
)
@pytest.mark.parametrize(("solver", "formulation"), [("BDF", "ode"), ("ida", "ode"), ("ida", "ggl")])
@pytest.mark.thin(24, kept=6)
def test_backward_differences(name, rtol, solver, formulation):
    assert error(name, rtol, solver, formulation) < FACTOR * max(rtol, error(name, rtol, "dopri5"))


# ---- automatic absolute tolerances ----

LEG = lw.SpringDamper(
    bodies=("ground", "plate"), points=((0.4, 0.3, 0), (0.4, 0.3, 0)), stiffness=4e5, damping=6e3, free=0.7, name="leg"
)
MOUNT_FRAMES = (lw.Frame((0.4, 0.3, 0.7)), lw.Frame((0.4, 0.3, 0)))
MOUNT = lw.Bushing(("ground", "plate"), MOUNT_FRAMES, (1e5, 1e5, 1e5, 1e3, 1e3, 1e3), name="mount")
CORD = lw.Tendon(
    bodies=("ground", "plate", "ground"), points=((0, 0, 0), (0.3, 0, 0.1), (1, 0, 1)), stiffness=1e4, name="cord"
)


@pytest.mark.parametrize("force", [LEG, MOUNT, CORD, lw.Wrench("plate", (0.4, 0, 0), name="push"), None])
@pytest.mark.parametrize("joint", [lw.Free(), lw.Planar((0, 1, 0)), lw.Prismatic("z")])
def test_joints_in_centres_of_mass_that_start_at_zero(force, joint):
    """No joint and no coordinate has a length: points of forces and the size of the body have."""
    mech = lw.Mechanism("plate")
    mech.add_body("plate", mass=25.0, com=(0, 0, 0), inertia=np.diag([1.2, 1.3, 2.0]), origin=(0, 0, 0.7))
    mech.add_joint("pose", joint, "ground", "plate", at=(0, 0, 0.7))
    if force:
        mech.add_force(force)
    inputs = {"push.F": (0, 0, 100.0)} if isinstance(force, lw.Wrench) else {}
    run = lw.simulate(mech, 0.1, inputs=inputs)
    exact = lw.simulate(mech, 0.1, inputs=inputs, rtol=1e-12, atol=1e-12, solver="DOP853", t_eval=run.t)
    assert run.statistics.steps < 500
    assert run.y == pytest.approx(exact.y, abs=1e-7 * max(1.0, np.abs(exact.y).max()))


@pytest.mark.parametrize("scale", [1e-6, 1e-3])
def test_points_of_forces_are_lengths_of_a_small_mechanism(scale):
    """The same motion at another length."""

    def motion(scale: float) -> tuple[np.ndarray, int]:
        mech = lw.Mechanism("plate", gravity=(0, 0, -9.81 * scale))
        mech.add_body("plate", mass=1.0, com=(0, 0, 0), inertia=np.diag([0.05, 0.06, 0.1]) * scale**2)
        mech.add_joint("pose", lw.Planar((0, 1, 0)), "ground", "plate", at=(0, 0, 0))
        ends = ((0.3 * scale, 0, -0.2 * scale), (0.3 * scale, 0, 0))
        mech.add_force(lw.SpringDamper(bodies=("ground", "plate"), points=ends, stiffness=300.0, free=0.2 * scale))
        run = lw.simulate(mech, 2.0, t_eval=[1.0, 2.0])
        return run["plate.r"] / scale, run.statistics.steps

    (usual, steps), (small, taken) = motion(1.0), motion(scale)
    assert small == pytest.approx(usual, abs=1e-6)
    assert taken < 2 * steps
