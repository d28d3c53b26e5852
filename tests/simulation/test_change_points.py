"""Rows of parallelograms (A02 of the IFToMM benchmarks) pass their change point on their branch.

All legs turn alike: the row moves like one pendulum, integrated here by SciPy.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from fmpy import simulate_fmu
from scipy.integrate import solve_ivp

import linkwork as lw
from support.dae_backends import needs_ida

TIMES = np.linspace(0.0, 1.0, 11)  # the change point is at 0.7177 s


def row(n: int) -> lw.Mechanism:
    mech = lw.Mechanism("row", gravity=(0, -9.81, 0))
    for k in range(n + 1):
        inertia = lw.inertia.rod(1, 1, axis="y")
        mech.add_body(f"v{k}", mass=1, com=(0, 0.5, 0), inertia=inertia, origin=(k, 0, 0))
        mech.add_joint(f"A{k}", lw.Revolute("z"), "ground", f"v{k}", at=(k, 0, 0))
    for k in range(n):
        mech.add_body(f"h{k}", mass=1, com=(0.5, 0, 0), inertia=lw.inertia.rod(1, 1), origin=(k, 1, 0))
        mech.add_joint(f"B{k}", lw.Revolute("z"), f"v{k}", f"h{k}", at=(k, 1, 0))
        mech.add_joint(f"C{k}", lw.Revolute("z"), f"h{k}", f"v{k + 1}", at=(k + 1, 1, 0))
    mech.start(u={"A0": -1.0})
    return mech


@cache
def model(n: int, method: str) -> lw.Model:
    return lw.compile(row(n), method)


def pendulum(n: int, t: np.ndarray) -> np.ndarray:
    """The angle of the legs from the vertical."""
    rate = ((n + 1) / 2 + n) / ((n + 1) / 3 + n) * 9.81
    found = solve_ivp(lambda t, y: [y[1], rate * np.sin(y[0])], (0, t[-1]), [0, 1], "DOP853", t, rtol=1e-13, atol=1e-14)
    return found.y[0]


def error(n: int, method: str, solver: str, rtol: float, t: np.ndarray = TIMES) -> float:
    result = lw.simulate(model(n, method), t[-1], t_eval=t, rtol=rtol, solver=solver)
    assert np.isfinite(result.y).all()
    angles = [result[f"A{k}.q"] for k in {0, n // 2, n}]
    return max(np.abs(np.exp(1j * angle) - np.exp(-1j * pendulum(n, t))).max() for angle in angles)


@pytest.mark.thin(5, kept=2)
@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7, 1e-9, 1e-11])
@pytest.mark.parametrize("n", [1, 2, 61, 62, 100])
def test_rows_of_any_number_at_any_tolerance(n, rtol):
    assert error(n, "auto", "auto", rtol) < 1e3 * rtol


@pytest.mark.thin(2)
@pytest.mark.parametrize("method", ["rcr", "embedding", "multipliers", "dca"])
@pytest.mark.parametrize("n", [3, 70])
def test_every_method(n, method):
    assert error(n, method, "auto", 1e-7) < 1e-4


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "RK45", "DOP853", "LSODA", "BDF", "Radau"])
def test_every_solver(solver):
    assert error(3, "auto", solver, 1e-7) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("n", [300, 1000])
def test_rows_of_many(n):
    assert error(n, "auto", "auto", 1e-7) < 1e-4


@pytest.mark.parametrize("about", ["joint", "centroid", "origin"])
def test_multipliers_keep_branch_and_energy_over_many_change_points(about):
    t = np.linspace(0, 9.75, 40)
    result = lw.simulate(lw.compile(row(1), "multipliers", about), t[-1], t_eval=t, rtol=1e-9)
    assert np.ptp(result["energy.kinetic"] + result["energy.potential"]) < 1e-5
    assert np.abs(np.exp(1j * result["A0.q"]) - np.exp(-1j * pendulum(1, t))).max() < 1e-4


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "RK45", "DOP853", "LSODA", "BDF", "Radau"])
def test_multipliers_with_every_solver(solver):
    assert error(2, "multipliers", solver, 1e-7) < 1e-4


@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-9, 1e-11])
def test_multipliers_at_any_tolerance(rtol):
    assert error(3, "multipliers", "auto", rtol) < 1e3 * rtol


@needs_ida
@pytest.mark.parametrize("method", ["auto", "multipliers"])
def test_the_solver_of_implicit_equations(method):
    assert error(3, method, "ida", 1e-7) < 1e-4


def in_line(n: int, turning: dict[str, float]) -> lw.Mechanism:
    """The row at its change point."""
    mech = row(n)
    mech.start(q={f"A{k}": -np.pi / 2 for k in range(n + 1)} | {f"B{k}": np.pi / 2 for k in range(n)}, u=turning)
    return mech


@pytest.mark.thin(3)
@pytest.mark.parametrize("method", ["auto", "multipliers"])
@pytest.mark.parametrize("n", [40, 62])
def test_start_at_the_change_point(n, method):
    """The speeds of all joints select the branch."""
    along = {f"A{k}": -1.0 for k in range(n + 1)} | {f"B{k}": 1.0 for k in range(n)}
    t = np.linspace(0, 0.5, 6)
    result = lw.simulate(lw.compile(in_line(n, along), method), t[-1], t_eval=t, rtol=1e-7)
    rate = ((n + 1) / 2 + n) / ((n + 1) / 3 + n) * 9.81
    falling = solve_ivp(
        lambda t, y: [y[1], rate * np.sin(y[0])], (0, 0.5), [np.pi / 2, 1], "DOP853", t, rtol=1e-13, atol=1e-14
    ).y[0]
    for leg in (0, n):
        assert np.abs(np.exp(1j * result[f"A{leg}.q"]) - np.exp(-1j * falling)).max() < 1e-5


@pytest.mark.parametrize("method", ["auto", "multipliers"])
def test_start_at_the_change_point_without_a_branch_is_refused_with_the_remedy(method):
    with pytest.raises(lw.SingularityError, match=r"'C0' and 61 more .* with the speeds of all joints along"):
        lw.compile(in_line(62, {}), method).assemble()


@needs_ida
@pytest.mark.parametrize("n", [1, 2, 3])
def test_differential_algebraic_equations(n):
    result = lw.simulate(model(n, "auto"), TIMES[-1], t_eval=TIMES, rtol=1e-5, solver="ida", formulation="ggl")
    for leg in (0, n):
        assert np.abs(np.exp(1j * result[f"A{leg}.q"]) - np.exp(-1j * pendulum(n, TIMES))).max() < 1e-4


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_multipliers_in_an_fmu(kind, tmp_path):
    path = tmp_path / "row.fmu"
    lw.export_fmu(lw.compile(row(2), "multipliers", "centroid"), path)
    result = simulate_fmu(
        path, stop_time=1.0, output_interval=0.1, relative_tolerance=1e-7, fmi_type=kind, output=["A0.q", "A2.q"]
    )
    expected = np.exp(-1j * pendulum(2, result["time"]))
    for name in ("A0.q", "A2.q"):
        assert np.abs(np.exp(1j * result[name]) - expected).max() < 1e-4
