"""Chains as implicit equations solved by IDA: growth with the bodies, schemes, coupling against a program in C."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from bench import zigzag
from bench.core import build_driver
from bench.mechanisms import CHECKOUT, Missing, example
from bench.report import Cell, Goal, Report
from bench.timing import growth
from linkwork.errors import SolverError
from linkwork.simulation.dae.chou import Chain, Chou
from linkwork.solvers import Problem, Solution, solve
from linkwork.solvers.ida import backend_choice

SIZES = (100, 200, 500, 1000, 2000, 3000)
MEMORY_FROM = 500  # bodies; what fewer need is lost among the pages that Python holds anyway
TOLERANCE = 1e-7
GROWTH_END, COUPLING_END, GGL_END = 0.5, 1.0, 1.0  # s
SCHEMES_BODIES, SCHEMES_END = 100, 0.02  # s, short because scheme 2 takes seconds a Newton matrix
COUPLED = (1, 2, 3, 5, 10)
POINTS = 100
EXPONENT_AIM, MEMORY_AIM, SCHEMES_AIM, COUPLING_AIM = 1.1, 1.1, 50.0, 4.0
GGL = {"four-bar": "four_bar", "quarter car": "quarter_car", "ladder of 3": "spatial_ladder"}  # modules of examples

METHOD = f"""\
CPU time on one core, best of {{rounds}} rounds, of scheme 2 one run. Tolerances {TOLERANCE:g}, relative and
absolute, of each step. The chain is a zigzag of slabs that begins to move alike at any length (`bench/zigzag.py`).
Python and C: {{way}}."""


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    try:
        backend_choice.find_backend()
    except SolverError as error:
        raise Missing(str(error)) from None
    found = backend_choice.find_sundials()
    way = f"SUNDIALS {found.major} called directly" if found else "callbacks through Python"
    packages = ("linkwork", "numpy", "scikits-odes-sundials", "scikit-sundae")
    report = Report("dae", "Implicit equations by IDA", packages)
    report.text(METHOD.format(rounds=options.rounds, way=way))
    goals = [
        *grow(report, options.rounds),
        *compare_schemes(report),
        *compare_couplings(report, options.rounds),
    ]
    compare_formulations(report, options.rounds)
    report.goals(goals)
    report.save()


# ---- growth ----


def grow(report: Report, rounds: int) -> list[Goal]:
    """Scheme 4 on chains of many bodies, each in a process of its own for its memory."""
    best: dict[int, dict[str, float]] = {}
    for _ in range(rounds):
        for n in SIZES:
            found = in_process(n)
            if n not in best or found["cpu"] < best[n]["cpu"]:
                best[n] = found
    each = {n: found["cpu"] / found["residuals"] for n, found in best.items()}
    rows: list[list[Cell]] = []
    for n, found in best.items():
        counts = [str(found["steps"]), str(found["residuals"])]
        memory = [1e-6 * found["memory"], 1e-3 * found["memory"] / n]
        rows.append([str(n), found["cpu"], *counts, 1e6 * each[n] / n, *memory])
    report.text(
        f"## Growth of scheme 4\n\nA run of `simulate` of {GROWTH_END:g} s with 11 rows, states converted both ways; "
        "without compiling. Memory: growth of the peak of a process by description, compiling and run."
    )
    heading = ["bodies", "CPU [s]", "steps", "Newton iterations", "us an iteration and body"]
    report.table([*heading, "memory [MB]", "kB a body"], rows)
    ends, large = [SIZES[0], SIZES[-1]], [MEMORY_FROM, SIZES[-1]]
    span = f"{ends[0]} to {ends[1]} bodies"
    per_iteration = growth(ends, [each[n] for n in ends])[0]
    return [
        Goal(f"exponent of CPU time, {span}", growth(ends, [best[n]["cpu"] for n in ends])[0], EXPONENT_AIM),
        Goal(f"the same of an iteration, {span}", per_iteration, EXPONENT_AIM),
        Goal(
            f"exponent of memory, {large[0]} to {large[1]} bodies",
            growth(large, [best[n]["memory"] for n in large])[0],
            MEMORY_AIM,
        ),
    ]


def in_process(n: int) -> dict[str, float]:
    """Run a chain of n bodies in a new interpreter."""
    command = [sys.executable, "-m", "bench.dae", str(n)]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"the run of {n} bodies fails: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def run_alone(n: int) -> dict[str, float]:
    """Run a chain of n bodies once in this process, after one of few that loads all modules."""
    run_chain(lw.compile(zigzag.mechanism(2)), GROWTH_END)
    before = peak()
    system = lw.compile(zigzag.mechanism(n))
    cpu, result = run_chain(system, GROWTH_END)
    cost = result.statistics
    return {"cpu": cpu, "steps": cost.steps, "residuals": cost.evaluations, "memory": peak() - before}


def run_chain(system: lw.Model, end: float, scheme: int = 4) -> tuple[float, lw.Result]:
    """Return CPU time, s, and result of a run with few rows."""
    times = np.linspace(0.0, end, 11)
    begin = time.process_time()
    result = lw.simulate(  # which gives each step a tenth of the tolerance
        system, end, solver="ida", formulation="chou", scheme=scheme, rtol=10 * TOLERANCE, t_eval=times
    )
    return time.process_time() - begin, result


def peak() -> int:
    """Largest resident memory of this process so far, bytes; what its parent had does not count."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        raise Missing("there is no /proc/self/status, which gives the memory of a process") from None
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


# ---- schemes ----


def compare_schemes(report: Report) -> list[Goal]:
    """Schemes 2 to 4 on the same run; scheme 1 differs from 2 by 1400 residuals a matrix, which takes minutes."""
    system = lw.compile(zigzag.mechanism(SCHEMES_BODIES))
    reference = run_chain(system, SCHEMES_END)[1]
    best: dict[int, float] = {}
    rows: list[list[Cell]] = []
    for scheme in (4, 3, 2):
        for _ in range(1 if scheme == 2 else 5):
            cpu, result = run_chain(system, SCHEMES_END, scheme)
            best[scheme] = min(best.get(scheme, np.inf), cpu)
        cost, apart = result.statistics, np.abs(result.y - reference.y).max()
        counts = [str(cost.steps), str(cost.evaluations), str(cost.jacobian_evaluations)]
        rows.append([str(scheme), best[scheme], *counts, best[scheme] / best[4], f"{apart:.0e}"])
    report.text(f"## Schemes, {SCHEMES_BODIES} bodies\n\n{SCHEMES_END:g} s of the same motion.")
    heading = ["scheme", "CPU [s]", "steps", "residuals", "matrices", "to scheme 4", "states differ"]
    report.table(heading, rows)
    what = f"{SCHEMES_BODIES} bodies: time of scheme 4, of that of scheme 2"
    return [Goal(what, best[4] / best[2], 1 / SCHEMES_AIM)]


# ---- coupling ----


def compare_couplings(report: Report, rounds: int) -> list[Goal]:
    """`solve` against IDA in a C program, and with callbacks through Python."""
    driver = reason = None
    try:
        driver = build_driver("time_ida")
    except Missing as missing:
        reason = str(missing)
    goals: list[Goal] = []
    rows: list[list[Cell]] = []
    for n in COUPLED:
        chain = Chain.of(lw.compile(zigzag.mechanism(n)))
        best: dict[str, Run] = {}
        for _ in range(rounds):
            for name, run in contestants(chain, driver).items():
                keep(best, name, run)
        all_in_c, own, through = (best.get(name) for name in ("C", "own", "callbacks"))
        assert own is not None
        assert through is not None
        ratio = own.cpu / all_in_c.cpu if all_in_c else None
        steps = [str(run.steps) if run else None for run in (all_in_c, own)]
        apart = f"{np.abs(own.x - all_in_c.x).max():.0e}" if all_in_c else None
        times = [1e3 * run.cpu if run else None for run in (all_in_c, own, through)]
        rows.append([str(n), *times, *steps, ratio, through.cpu / own.cpu, apart])
        goals.append(Goal(f"coupling, {n} bodies: CPU time of that of C alone", ratio, COUPLING_AIM))
    report.text(
        f"## Coupling\n\n`solve` (scheme 4) against `bench/time_ida.c`, a program without Python that gives IDA the "
        f"two sweeps as its linear solver; {COUPLING_END:g} s with {POINTS} times of output, ms."
        + (f"\n\nLeft out: {reason}." if reason else "")
    )
    heading = ["bodies", "C", "solve", "callbacks in Python", "steps, C", "steps", "to C", "callbacks to solve"]
    report.table([*heading, "X differs"], rows)
    return goals


class Run:
    """CPU time, s, steps and X at the end."""

    def __init__(self, cpu: float, steps: int, x: np.ndarray) -> None:
        self.cpu, self.steps, self.x = cpu, steps, x


def keep(best: dict[str, Run], name: str, run: Callable[[], Run]) -> None:
    """Run and keep the faster."""
    done = run()
    if name not in best or done.cpu < best[name].cpu:
        best[name] = done


def contestants(chain: Chain, driver: Path | None) -> dict[str, Callable[[], Run]]:
    """Return the runs, which are timed alternately."""
    x, equations = start(chain)
    problem = Problem(equations.rates, 0.0, x, implicit=equations.implicit)
    found = {"own": lambda: solved(problem), "callbacks": lambda: through_python(problem)}
    return found if driver is None else {"C": lambda: alone(driver, chain, x), **found}


def start(chain: Chain) -> tuple[np.ndarray, Chou]:
    """Return X at the start and the equations."""
    system = lw.compile(zigzag.mechanism(chain.n))
    state, equations = system.assemble(), Chou(chain)
    return equations.unknowns(0.0, np.concatenate([state.q, state.u])), equations


def solved(problem: Problem) -> Run:
    """By the library."""
    times = np.linspace(0.0, COUPLING_END, POINTS + 1)
    begin = time.process_time()
    solution: Solution = solve(problem, COUPLING_END, "ida", TOLERANCE, TOLERANCE, t_eval=times)
    return Run(time.process_time() - begin, solution.statistics.steps, solution.y_end)


def through_python(problem: Problem) -> Run:
    """By the library as if it had not found SUNDIALS itself."""
    finder: Any = backend_choice.find_sundials
    backend_choice.find_sundials = lambda: None
    try:
        return solved(problem)
    finally:
        backend_choice.find_sundials = finder


def alone(driver: Path, chain: Chain, x: np.ndarray) -> Run:
    """By the program in C."""
    b = chain.bodies
    numbers = np.concatenate([np.ravel(a) for a in (b.mass, b.inertia, b.inner, b.centre, b.gravity, b.support, x)])
    text = "\n".join([str(chain.n), *(f"{number:.17g}" for number in numbers)])
    command = [str(driver), f"{TOLERANCE:g}", str(POINTS), f"{COUPLING_END:g}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"time_ida fails on {chain.n} bodies")
    cpu, steps, _residuals, _solves, *end = done.stdout.split()
    return Run(float(cpu), int(steps), np.array(end, dtype=float))


# ---- formulations ----


def compare_formulations(report: Report, rounds: int) -> None:
    """The stabilised implicit equations compared with the explicit ones."""
    ways: dict[str, dict[str, Any]] = {"ode, dopri5": {}, "ode, ida": {"solver": "ida"}}
    ways["ggl, ida"] = {"solver": "ida", "formulation": "ggl"}
    rows: list[list[Cell]] = []
    for what, module in GGL.items():
        try:
            system = lw.compile(example(module).mechanism())
        except ImportError as error:
            report.text(f"Left out: {what}, whose example needs {error.name}.")
            continue
        for way, choices in ways.items():
            best = np.inf
            for _ in range(min(rounds, 3)):
                begin = time.process_time()
                result = lw.simulate(system, GGL_END, rtol=1e-8, **choices)
                best = min(best, time.process_time() - begin)
            cost = result.statistics
            rows.append([what, way, 1e3 * best, str(cost.steps), str(cost.evaluations), str(cost.jacobian_evaluations)])
    report.text(f"## Formulations\n\n`simulate` of {GGL_END:g} s at rtol 1e-8, for information.")
    report.table(["mechanism", "formulation, solver", "CPU [ms]", "steps", "evaluations", "matrices"], rows)


if __name__ == "__main__":
    print(json.dumps(run_alone(int(sys.argv[1]))))
