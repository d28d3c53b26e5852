"""The command line of simulations: a mechanism in; results, plots and a summary out."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import linkwork as lw
from linkwork._util.names import number_of
from linkwork.cli.info import add_method
from linkwork.cli.inputs import add_loads, inputs_of
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import DATA, FILMS, MODELS, PAGES, PICTURES, add_output, check_files, save
from linkwork.cli.shared import INTERRUPTED, add_gap, add_solver, add_tolerances, aligned, start_of
from linkwork.simulation.dae.registry import formulation_names

if TYPE_CHECKING:
    from linkwork.simulation.result import Result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = parser.add_argument
    add("--t-start", type=float, metavar="T", help="start of the run [s] (default: 0)")
    add("--t-end", type=float, default=10.0, metavar="T", help="end of the run [s] (default: %(default)g)")
    add(
        "--every",
        type=float,
        metavar="DT",
        help="spacing of the output [s] (default: every step, and a twelfth of a turn)",
    )
    add_method(parser)
    add_solver(parser)
    equations_help = f"{', '.join(formulation_names())}; those but the first are solved by ida (default: %(default)s)"
    add("--formulation", default="ode", metavar="NAME", help=equations_help)
    add("--scheme", type=int, metavar="N", help="of formulation chou: 1 to 4 (default: 4, linear cost)")
    add_tolerances(parser)
    add_gap(parser)
    add("--first-step", type=float, metavar="DT", help="first step of the solver [s] (default: chosen)")
    add("--max-step", type=float, metavar="DT", help="largest step of the solver [s] (default: no limit)")
    gain_help = "feedback on errors of loops [1/s], for formulation ode (default: as fast as the loops move)"
    add("--loop-gain", type=float, metavar="K", help=gain_help)
    add_loads(parser)
    columns_help = "what to write, plot and print, as A.q or coupler.r (default: all; plotted and printed: states)"
    add("--columns", nargs="+", metavar="NAME", help=columns_help)
    text = "write columns over time or a plot of them, or the motion as a page, a model or a film"
    add_output(parser, text, (*DATA, *PICTURES, *PAGES, *MODELS, *FILMS))
    add("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Simulate by the arguments; results before a failure or an interrupt are written as well."""
    system = lw.compile(mechanism_of(arguments), arguments.method)
    for name in arguments.columns or ():
        system.column(name)  # errors are reported before the run
    check_files(arguments.output)
    inputs = inputs_of(arguments)
    start = start_of(system, arguments, arguments.t_start or 0.0)
    begin = time.perf_counter()
    try:
        result = lw.simulate(
            system,
            arguments.t_end,
            t_start=arguments.t_start,
            state=start,
            inputs=inputs,
            solver=arguments.solver,
            formulation=arguments.formulation,
            scheme=arguments.scheme,
            rtol=arguments.rtol,
            atol=arguments.atol,
            first_step=arguments.first_step,
            max_step=arguments.max_step,
            loop_gain=arguments.loop_gain,
            t_eval=output_times(arguments.every, arguments.t_start or 0.0, arguments.t_end),
        )
    except (lw.LinkworkError, KeyboardInterrupt) as error:
        partial = getattr(error, "result", None)
        kept = _keep(partial, arguments) if isinstance(partial, lw.Result) and len(partial.t) else ""
        if isinstance(error, KeyboardInterrupt):
            print(f"interrupted{kept}", file=sys.stderr)
            return INTERRUPTED
        raise
    wall = time.perf_counter() - begin
    _write(result, arguments)
    summary = summarise(result, wall, arguments.columns)
    print(json.dumps(summary, indent=2) if arguments.json else _summary_text(summary, arguments))
    return 0


def output_times(every: float | None, t_start: float, t_end: float) -> list[float] | None:
    """Return times `every` s apart from the start on, and the end."""
    if every is None:
        return None
    span = abs(t_end - t_start)
    if not (every > 0 and span / every < 1e8):
        raise lw.MechanismError(f"--every must be a positive time, not {every:g} s")
    count = int(span / every * (1 + 1e-12))
    direction = 1.0 if t_end >= t_start else -1.0
    times = [t_start + direction * k * every for k in range(count + 1)]
    return [*times[:-1], t_end] if abs(t_end - times[-1]) < 1e-9 * every else [*times, t_end]


def _write(result: Result, arguments: argparse.Namespace) -> None:
    for path in arguments.output:
        save(result, path, arguments.columns)


def _keep(result: Result, arguments: argparse.Namespace) -> str:
    """Write a partial result; return where it is."""
    if not arguments.output:
        return f"; it had come to t = {result.t[-1]:.9g} s, and -o FILE would have kept the results"
    _write(result, arguments)
    return f"; results until t = {result.t[-1]:.9g} s are in {' and '.join(map(str, arguments.output))}"


def summarise(result: Result, wall: float, columns: Sequence[str] | None) -> dict[str, Any]:
    """Return what a run came to, as JSON has it; `wall` in s, final values of `columns` or of the states."""
    system, statistics = result.model, result.statistics
    energy = result["energy.kinetic"] + result["energy.potential"]
    gaps = [float(result[f"loop.{joint}.residual"].max()) for joint in system.loop_names]
    final = {name: result[name][-1].tolist() for name in columns or (*system.q_names, *system.u_names)}
    return {
        "name": system.mechanism.name,
        "message": result.message,
        "t_end": float(result.t[-1]),
        "wall_time": wall,
        "steps": statistics.steps,
        "evaluations": statistics.evaluations,
        "methods": statistics.methods,
        "switches": statistics.switches,
        "loop_residual": max(gaps, default=0.0),
        "energy_start": float(energy[0]),
        "energy_end": float(energy[-1]),
        "events": [
            {"t": event.t, "transitions": list(event.transitions), "energy_lost": event.energy_lost}
            for event in result.events
        ],
        "final": final,
    }


MOST_EVENTS = 20  # printed


def _events_text(events: list[dict[str, Any]]) -> list[str]:
    if not events:
        return []
    rows = [
        (f"{one['t']:.9g} s", ", ".join(one["transitions"]), f"{one['energy_lost']:.6g} J lost")
        for one in events[:MOST_EVENTS]
    ]
    more = len(events) - MOST_EVENTS
    return [f"events ({len(events)})", *aligned(rows), *([f"  ... {more} more"] if more > 0 else [])]


def _methods_text(summary: dict[str, Any], solver: str) -> str:
    """Return the solver, and the methods that took the steps where they have other names."""
    methods = summary["methods"]
    if list(methods) in ([], [solver]):
        return solver
    if len(methods) == 1:
        return f"{solver} ({next(iter(methods))})"
    parts = " and ".join(f"{steps} steps of {name}" for name, steps in methods.items())
    return f"{solver} ({parts}, {number_of(summary['switches'], 'switch', 'switches')})"


def _summary_text(summary: dict[str, Any], arguments: argparse.Namespace) -> str:
    rows = [
        (name, " ".join(f"{v: .9g}" for v in (value if isinstance(value, list) else [value])))
        for name, value in summary["final"].items()
    ]
    steps = f"{summary['steps']} steps, {summary['evaluations']} evaluations, {1e3 * summary['wall_time']:.1f} ms"
    methods = _methods_text(summary, arguments.solver)
    lines = [
        f"{summary['name']}: {summary['t_end']:g} s with {methods} at rtol {arguments.rtol:g}; {steps}",
        f"energy {summary['energy_start']:.9g} J at the start, {summary['energy_end']:.9g} J at the end; "
        f"loop residual at most {summary['loop_residual']:.1e} m",
        *_events_text(summary["events"]),
        f"at t = {summary['t_end']:g} s",
        *aligned(rows),
        *(f"wrote {path}" for path in arguments.output),
    ]
    return "\n".join(lines)
