"""Failures of IDA on compiled equations, and what SUNDIALS has made for them."""

import ctypes.util
import gc
import math
import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from linkwork.errors import SolverError
from linkwork.solvers import solve
from linkwork.solvers.ida import compiled
from linkwork.solvers.ida import sundials as libraries
from support.compiled_equations import NOT_HERE, STOP, chain_problem, decay


def failing(problem, text, t_end=2.0, **options):
    with pytest.raises(SolverError, match=f"ida stopped at t = .*{text}") as caught:
        solve(problem, t_end, "ida", 1e-8, **options)
    assert len(str(caught.value).splitlines()) == 1
    return caught.value.result


@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 2.0, 11)])
@pytest.mark.parametrize("bad", [np.array([math.nan]), np.array([math.inf]), NOT_HERE], ids=["nan", "inf", "status"])
def test_a_residual_that_ends_shortens_the_steps(made, bad, t_eval):
    tried = []

    def residual(t, y, ydot):
        tried.append(t)
        return bad if t > 1.0 else ydot + y

    problem, _ = decay(residual=residual)
    solution = failing(problem, "domain of the derivative", t_eval=t_eval)
    assert made
    assert solution.t_end == pytest.approx(1.0, rel=1e-9)
    assert solution.y_end == pytest.approx([math.exp(-1.0)], rel=1e-6)
    assert sum(t > 1.0 for t in tried) > 10
    if t_eval is not None:
        assert solution.t == pytest.approx(t_eval[:6] if solution.t_end >= 1.0 else t_eval[:5])


def test_a_residual_with_a_gap_is_stepped_over(made):
    count = iter(range(10**9))
    problem, _ = decay(residual=lambda t, y, ydot: np.array([math.nan]) if next(count) == 50 else ydot + y)
    assert solve(problem, 1.0, "ida", 1e-8).y_end == pytest.approx([math.exp(-1.0)], rel=1e-6)
    assert made


@pytest.mark.parametrize("t_eval", [None, [2.0]])
def test_a_residual_that_says_stop(made, t_eval):
    """A text of its own: nothing is wrong with the steps or the matrix."""
    problem, _ = decay(residual=lambda t, y, ydot: STOP if t > 1.0 else ydot + y)
    solution = failing(problem, "asked to stop", t_eval=t_eval)
    assert made
    assert 0.5 < solution.t_end <= 1.0


@pytest.mark.parametrize("t_eval", [None, [2.0]])
def test_a_matrix_without_inverse(made, t_eval):
    def matrix(t, y, ydot, cj):
        return [[1.0 + cj]] if t < 1.0 else [[0.0]]

    problem, _ = decay(matrix=matrix)
    solution = failing(problem, "singular there.*it has no inverse", t_eval=t_eval)
    assert made
    assert 0.9 < solution.t_end <= 2.0


def test_a_matrix_without_inverse_at_the_start(library):
    problem, _ = decay(matrix=lambda t, y, ydot, cj: [[0.0]])
    assert failing(problem, "singular there").t_end == 0.0


def test_start_values_that_do_not_fit(library):
    problem, _ = decay(derivative=lambda t, y: y)
    assert failing(problem, "equation 0 has the largest residual, 2").t_end == 0.0


# ---- what SUNDIALS has made


def test_what_was_made_is_freed_with_the_run(library, monkeypatch):
    """Also after a run that fails, as soon as its exception is gone."""
    freed = []
    free = compiled._free
    monkeypatch.setattr(compiled, "_free", lambda *made: (freed.append(1), free(*made))[1])
    for _ in range(3):
        solve(decay()[0], 1.0, "ida", 1e-6)
    failing(decay(residual=lambda t, y, ydot: ydot + y if t < 1.0 else y * math.nan)[0], "domain")
    gc.collect()
    assert len(freed) == 4


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_many_runs_take_no_memory(library):
    """An IDA on 60 bodies has more than 100 kB of vectors; 300 would be seen."""
    problem = chain_problem(60)

    def resident():
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def run(times):
        for _ in range(times):
            solve(problem, 1e-6, "ida", 1e-4, t_eval=[1e-6])

    run(30)
    before = resident()
    run(300)
    assert resident() - before < 5e6


def test_libraries_of_another_release_are_not_taken(library):
    path = ctypes.util.find_library("sundials_ida") if library.major == 6 else None
    path = path or next(
        str(p) for p in (Path(find_spec("sksundae").origin).parent.parent / "scikit_sundae.libs").glob("*_ida-*")
    )
    assert libraries._open(path, library.major) is not None
    assert libraries._open(path, 13 - library.major) is None
    assert libraries._open("libno_such_thing.so", library.major) is None
    assert libraries._open(ctypes.util.find_library("m"), library.major) is None
