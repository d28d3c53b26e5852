"""What `rtol` gives: the table of the documents, measured again."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from support.builder import scaled
from support.cases import pendulum, windows
from support.random_mechanisms import FAMILIES
from support.sizes import SCALES, heavier, sized

DOCUMENT = Path(__file__).parents[2] / "docs" / "simulation.md"
TOLERANCES = (1e-6, 1e-8, 1e-10)
MECHANISMS = [
    "planar_4R",
    "planar_5R",
    "planar_4R_cut_inside",
    "slider_crank",
    "double_slider",
    "spatial_7R",
    "spatial_6R_1P",
    "spatial_6R_2P",
    "spherical_4R",
    "bennett_4R",
    "sarrus_6R",
    "closed_chain_8R",
    "closed_chain_12R",
    "planar_8R",
    "moving_planar_4R",
    "moving_slider_crank",
    "hard_points_4R",
    "loop_on_loop",
    "side_by_side",
    "three_planar_legs",
]
T = np.linspace(0.0, 0.5, 11)


def of_the_document(row: str) -> list[float]:
    """The numbers in a row of its tables, from the second column on."""
    line = next(line for line in DOCUMENT.read_text("utf-8").splitlines() if line.startswith(f"| {row} |"))
    return [float(number) for number in re.findall(r"(?<=\| )[\d.e+-]+", line)[-3:]]


@functools.cache
def errors_of(name: str, seed: int = 5) -> np.ndarray:
    """Largest errors of the coordinates in parts of rtol, at each tolerance and size."""
    scene = FAMILIES[name][0](np.random.default_rng(seed))
    errors, exact = [], None
    for length, mass in [(1.0, 1.0), *SCALES]:
        model = lw.compile(heavier(scaled(scene.mechanism, length), mass))
        state = model.assemble(**{k: sized(scene.mechanism, v, length) for k, v in (("q", scene.q), ("u", scene.u))})
        nq = model.numbering.nq
        if exact is None:
            exact = lw.simulate(model, T[-1], state=state, t_eval=T, solver="DOP853", rtol=1e-13).y[:, :nq]
        runs = [lw.simulate(model, T[-1], state=state, t_eval=T, rtol=rtol) for rtol in TOLERANCES]
        sizes = [length if runs[0].units[n] == "m" else 1.0 for n in model.q_names]
        found = [np.abs(run.y[:, :nq] / sizes - exact).max() for run in runs]
        errors.append([error / rtol for error, rtol in zip(found, TOLERANCES, strict=True)])
    return np.array(errors).T


def benchmark_errors(name: str) -> list[float]:
    """Largest errors over 10 s of A01, and of A02 with so many windows, in parts of rtol, at each tolerance."""
    t = np.linspace(0.0, 10.0, 101)
    if name == "A01":
        case = pendulum()
        exact = case.motion["A"]
    else:
        count = int(name.split()[-2])
        case = windows(count)
        rate2 = 9.81 * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
        rates = lambda _, y: [y[1], rate2 * np.sin(y[0])]  # noqa: E731
        theta = solve_ivp(rates, (0.0, 10.0), [0.0, 1.0], "DOP853", t, rtol=1e-13, atol=1e-13).y[0]
        exact = np.pi / 2 - theta
    first = next(iter(case.motion))
    model = lw.compile(case.mechanism)
    state = model.assemble(q=case.q, u=case.u)
    runs = [lw.simulate(model, 10.0, state=state, t_eval=t, rtol=rtol)[f"{first}.q"] for rtol in TOLERANCES]
    return [np.abs(run - exact).max() / rtol for run, rtol in zip(runs, TOLERANCES, strict=True)]


def close_to(measured: float, documented: float) -> bool:
    """At most what is documented, with reserve for the rounding of other processors, and not much less."""
    return 0.3 * documented < measured <= documented


@pytest.mark.slow
def test_the_table_of_random_mechanisms() -> None:
    errors = np.array([errors_of(name) for name in MECHANISMS])
    for k, rtol in enumerate(TOLERANCES):
        median, largest, change = of_the_document(f"{rtol:.0e}".replace("e-0", "e-"))
        assert close_to(np.median(errors[:, k]), median)
        assert close_to(errors[:, k].max(), largest)
        assert close_to((errors[:, k].max(1) / errors[:, k].min(1)).max(), change)


@pytest.mark.parametrize("name", ["A01", "A02, 2 windows", "A02, 40 windows"])
def test_the_table_of_benchmarks(name: str) -> None:
    for measured, documented in zip(benchmark_errors(name), of_the_document(name), strict=True):
        assert close_to(measured, documented)
