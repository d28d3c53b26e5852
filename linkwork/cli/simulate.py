"""Simulate a mechanism in time.

It starts from the start values of its description, after its loops have been closed.
"""

from __future__ import annotations

import argparse

import linkwork as lw
from linkwork.cli.info import add_method
from linkwork.cli.inputs import add_loads, inputs_of
from linkwork.cli.mechanism_files import add_gap, add_mechanism, mechanism_of, start_of
from linkwork.cli.result_files import DATA, FILMS, MODELS, PAGES, PICTURES, add_output, check_files, give, keeping
from linkwork.cli.signatures import from_signature, given
from linkwork.simulation.dae.registry import formulation_names
from linkwork.simulation.simulate import simulate
from linkwork.solvers import solver_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = from_signature(parser, simulate)
    add("t_start", help="start of the run [s] (default: 0)")
    add("t_end", "--t-end", default=10.0, help="end of the run [s] (default: %(default)g)")
    every_help = "spacing of the output [s] (default: every step, and a twelfth of a turn)"
    parser.add_argument("--every", type=float, metavar="DT", help=every_help)
    add_method(parser)
    add("solver", metavar=None, help=SOLVER_HELP)
    names = ", ".join(formulation_names())
    text = f"{names}; those but the first are solved by ida (default: %(default)s)"
    add("formulation", metavar="NAME", help=text)
    add("scheme", help="of formulation chou: 1 to 4 (default: 4, linear cost)")
    for name in ("rtol", "atol", "first_step", "max_step"):
        add(name)
    add_gap(parser)
    add("loop_gain", type=float, metavar="K")
    add_loads(parser)
    columns_help = "what to write, plot and print, as A.q or coupler.r (default: all; plotted and printed: states)"
    parser.add_argument("--columns", nargs="+", metavar="NAME", help=columns_help)
    text = "write columns over time or a plot of them, or the motion as a page, a model or a film"
    add_output(parser, text, (*DATA, *PICTURES, *PAGES, *MODELS, *FILMS))


SOLVER_HELP = f"{', '.join(solver_names())} (default: %(default)s)"


def run(arguments: argparse.Namespace) -> int:
    """Simulate by the arguments; results before a failure or an interrupt are written as well."""
    system = lw.compile(mechanism_of(arguments), arguments.method)
    for name in arguments.columns or ():
        system.column(name)  # errors are reported before the run
    check_files(arguments.output)
    inputs, t_start = inputs_of(arguments), arguments.t_start or 0.0
    start, times = start_of(system, arguments, t_start), output_times(arguments.every, t_start, arguments.t_end)
    with keeping(arguments, arguments.columns):
        result = lw.simulate(system, state=start, inputs=inputs, t_eval=times, **given(arguments, "simulate"))
    return give(result, arguments, arguments.columns, columns=arguments.columns)


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
