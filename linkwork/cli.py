"""The command line, ``linkwork COMMAND``: each command is written in the room of what it does.

Exit codes: 0 done; 1 failed, with one line on standard error that says why; 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import linkwork as lw
from linkwork.checking import command as check_command
from linkwork.comparison import command as compare_command
from linkwork.compiler.methods import METHODS
from linkwork.controllers import command as controller_command
from linkwork.cosim import command as run_command
from linkwork.cosim.sweep import command as sweep_command
from linkwork.explain import equation, groups
from linkwork.export import command as export_command
from linkwork.formulations.registry import formulation_names
from linkwork.freedoms import degrees_of_freedom
from linkwork.printing import aligned, picture
from linkwork.solvers import solver_names

if TYPE_CHECKING:
    from linkwork.inputs import Input
    from linkwork.result import Result
    from linkwork.state import State
    from linkwork.system import System

FILE_HELP = "a .json file, or a .py file that defines mechanism()"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with the given arguments (by default the process's own); return the exit code."""
    arguments = make_parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except KeyboardInterrupt:
        return 130  # as shells expect of a program that was interrupted
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # who read has gone; nothing more can be said
        return 1
    except (lw.LinkworkError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; each command knows its function as `run`."""
    parser = argparse.ArgumentParser(
        prog="linkwork",
        description="Closed-chain multibody dynamics: simulate a mechanism, export it, run it with other FMUs.",
        epilog="'linkwork COMMAND --help' tells more about a command.",
    )
    parser.add_argument("--version", action="version", version=f"linkwork {lw.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_info(commands)
    _add_simulate(commands)
    _add_compare(commands)
    _add_export(commands)
    _add_check(commands)
    _add_controller(commands)
    _add_run(commands)
    _add_sweep(commands)
    return parser


def _command(commands: Any, name: str, summary: str, details: str, example: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. {details}",
        epilog=f"example:\n  {example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


# ---- info -------------------------------------------------------------------------------------------


def _add_info(commands: Any) -> None:
    parser = _command(
        commands,
        "info",
        "show what a mechanism consists of",
        "Its bodies, joints, couplings, forces and\nloops, its degrees of freedom, and the assembled start.",
        "linkwork info examples/four_bar.py --explain",
    )
    parser.add_argument("mechanism", type=Path, help=FILE_HELP)
    parser.add_argument("--json", action="store_true", help="print the same as JSON, with --explain more of it")
    explain_help = "print its tree and cuts, and how and in what order its loops are solved, and why so"
    parser.add_argument("--explain", action="store_true", help=explain_help)
    _add_method(parser)
    parser.set_defaults(run=run_info)


def _add_method(parser: argparse.ArgumentParser) -> None:
    text = "how loops are solved (default: %(default)s, by expected cost)"
    parser.add_argument("--method", choices=("auto", *METHODS), default="auto", help=text)


def run_info(arguments: argparse.Namespace) -> int:
    """Print what a mechanism consists of."""
    system = lw.compile(export_command.load_mechanism(arguments.mechanism), arguments.method)
    if arguments.explain and not arguments.json:
        print(system.explain())
        return 0
    try:
        state = system.assemble()
    except lw.LinkworkError as error:
        raise lw.LinkworkError(f"{error} (--explain shows tree and loops all the same)") from error
    facts = describe(system, state)
    if arguments.explain:
        facts["method"], facts["groups"] = arguments.method, groups(system, state)
    print(json.dumps(facts, indent=2) if arguments.json else _as_text(facts, system))
    return 0


def describe(system: System, state: State) -> dict[str, Any]:
    """Gather the facts about a system and its assembled start, as JSON has them."""
    mech, links = system.mechanism, system.topology.links
    names = list(mech.joints)
    energy = system.energy(state)
    return {
        "name": mech.name,
        "gravity": mech.gravity.tolist(),
        "bodies": [{"name": body.name, "mass": body.mass} for body in mech.bodies.values()],
        "joints": [
            {
                "name": joint.name,
                "type": joint.kind.type_name,
                "parent": joint.parent,
                "child": joint.child,
                "cut": joint.name in system.loop_names,
            }
            for joint in mech.joints.values()
        ],
        "couplings": [{"name": name, "equation": equation(mech, name)} for name in mech.couplings],
        "forces": mech.to_dict()["forces"] if mech.forces else [],
        "loops": [
            {
                "cut": names[loop.joint],
                "joints": [names[j] for j in (*(links[k].joint for k in system.topology.around(loop)), loop.joint)],
            }
            for loop in system.topology.loops
        ],
        "distances": [
            {"name": one.name, "bodies": list(one.bodies), "length": one.length} for one in mech.distances.values()
        ],
        "transitions": mech.to_dict().get("transitions", []),
        "states": len(system.q_names) + len(system.u_names),
        "degrees_of_freedom": degrees_of_freedom(system, state),
        "start": {name: float(state[name]) for name in (*system.q_names, *system.u_names)},
        "loop_residual": float(system.loop_residual(state).max(initial=0.0)),
        "energy": {"kinetic": energy.kinetic, "potential": energy.potential},
    }


def _as_text(facts: dict[str, Any], system: System) -> str:
    lines = [
        f"{facts['name']}: degrees of freedom {facts['degrees_of_freedom']}, states {facts['states']}",
        "",
        f"bodies ({len(facts['bodies'])})",
        *aligned([(body["name"], f"{body['mass']:g} kg") for body in facts["bodies"]]),
        f"joints ({len(facts['joints'])})",
        *aligned([(j["name"], j["type"], f"{j['parent']} - {j['child']}", "cut" * j["cut"]) for j in facts["joints"]]),
    ]
    if facts["couplings"]:
        lines += [f"couplings ({len(facts['couplings'])})"]
        lines += aligned([(coupling["name"], coupling["equation"]) for coupling in facts["couplings"]])
    if facts["forces"]:
        lines += [f"forces ({len(facts['forces'])})", *(f"  {force!r}" for force in system.mechanism.forces)]
    if facts["loops"]:
        lines += [f"loops ({len(facts['loops'])})"]
        lines += aligned([(f"cut at {loop['cut']}:", " ".join(loop["joints"])) for loop in facts["loops"]])
    if facts["distances"]:
        lines += [f"distances ({len(facts['distances'])})"]
        rows = [(one["name"], f"{one['length']:g} m", " - ".join(one["bodies"])) for one in facts["distances"]]
        lines += aligned(rows)
    if facts["transitions"]:
        lines += [f"transitions ({len(facts['transitions'])})"]
        all_of = system.mechanism.transitions.values()
        lines += aligned([(one.name, repr(one.action), "" if one.when is None else repr(one.when)) for one in all_of])
    lines += ["assembled start"]
    rows = [(name, f"{_tidy(value): .6g}", system.column(name).unit) for name, value in facts["start"].items()]
    rows.append(("kinetic energy", f"{facts['energy']['kinetic']: .6g}", "J"))
    rows.append(("potential energy", f"{facts['energy']['potential']: .6g}", "J"))
    if facts["loops"]:
        rows.append(("loop residual", f"{facts['loop_residual']: .1e}", "m"))
    return "\n".join([*lines, *aligned(rows)])


def _tidy(value: float) -> float:
    """Without what only rounding has left."""
    return value if abs(value) > 1e-12 else 0.0


# ---- simulate ---------------------------------------------------------------------------------------


def _add_simulate(commands: Any) -> None:
    parser = _command(
        commands,
        "simulate",
        "simulate a mechanism in time",
        "It starts from the start values of its\ndescription, after its loops have been closed.",
        "linkwork simulate examples/four_bar.py --t-end 5 --columns A.q coupler.r --csv out.csv --plot out.png",
    )
    parser.add_argument("mechanism", type=Path, help=FILE_HELP)
    add = parser.add_argument
    add("--t-end", type=float, default=10.0, metavar="T", help="how long [s] (default: %(default)g)")
    add("--every", type=float, metavar="DT", help="spacing of the output [s] (default: every step)")
    _add_method(parser)
    add("--solver", default="dopri5", help=f"{', '.join(solver_names())} (default: %(default)s)")
    equations_help = f"{', '.join(formulation_names())}; those but the first need --solver ida (default: %(default)s)"
    add("--formulation", default="ode", metavar="NAME", help=equations_help)
    add("--scheme", type=int, metavar="N", help="of formulation chou: 1 to 4 (default: 4, linear cost)")
    add("--rtol", type=float, default=1e-8, help="accuracy wanted of the states (default: %(default)g)")
    load_help = "constant load in a joint or on a body [N.m or N], as 'A', 'S[2]', 'push.F[1]'; may be repeated"
    add("--input", type=_load, action="append", default=[], metavar="JOINT=LOAD", help=load_help)
    columns_help = "what to write and plot, as A.q or coupler.r (default: all in a file, states in a plot)"
    add("--columns", nargs="+", metavar="NAME", help=columns_help)
    add("--csv", type=Path, metavar="FILE", help="write columns over time as CSV")
    add("--plot", type=picture, metavar="FILE", help="save a plot: .png, .svg or .pdf (needs matplotlib)")
    add("--json", action="store_true", help="print the summary as JSON")
    parser.set_defaults(run=run_simulate)


def _load(text: str) -> tuple[str, float]:
    joint, _, value = text.partition("=")
    try:
        return joint, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not JOINT=LOAD, such as A=0.5") from None


def run_simulate(arguments: argparse.Namespace) -> int:
    """Simulate as the arguments say; what was computed before a failure is written all the same."""
    system = lw.compile(export_command.load_mechanism(arguments.mechanism), arguments.method)
    for name in arguments.columns or ():
        system.column(name)  # what is wrong is said before the run, not after it
    for path in (arguments.csv, arguments.plot):
        if path and not path.absolute().parent.is_dir():
            raise lw.LinkworkError(f"cannot write {path}: there is no folder {path.parent}")
    inputs: dict[str, Input] = dict(arguments.input)
    begin = time.perf_counter()
    try:
        result = lw.simulate(
            system,
            arguments.t_end,
            inputs=inputs,
            solver=arguments.solver,
            formulation=arguments.formulation,
            scheme=arguments.scheme,
            rtol=arguments.rtol,
            t_eval=_times(arguments.every, arguments.t_end),
        )
    except lw.LinkworkError as error:
        partial = getattr(error, "result", None)
        if isinstance(partial, lw.Result):
            _write(partial, arguments)
        raise
    wall = time.perf_counter() - begin
    _write(result, arguments)
    summary = summarise(result, wall, arguments.columns)
    print(json.dumps(summary, indent=2) if arguments.json else _summary_text(summary, arguments))
    return 0


def _times(every: float | None, t_end: float) -> list[float] | None:
    """Return multiples of `every` from 0 on, and the end."""
    if every is None:
        return None
    if not (every > 0 and t_end / every < 1e8):
        raise lw.MechanismError(f"--every must be a positive time, not {every:g} s")
    count = int(t_end / every * (1 + 1e-12))
    times = [k * every for k in range(count + 1)]
    return [*times[:-1], t_end] if t_end - times[-1] < 1e-9 * every else [*times, t_end]


def _write(result: Result, arguments: argparse.Namespace) -> None:
    if arguments.csv:
        result.to_csv(arguments.csv, arguments.columns)
    if arguments.plot:
        result.plot(arguments.columns, arguments.plot)


def summarise(result: Result, wall: float, columns: Sequence[str] | None) -> dict[str, Any]:
    """Return what a run came to, as JSON has it; `wall` in s, final values of `columns` or of the states."""
    system, statistics = result.system, result.statistics
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


def _summary_text(summary: dict[str, Any], arguments: argparse.Namespace) -> str:
    rows = [
        (name, " ".join(f"{v: .9g}" for v in (value if isinstance(value, list) else [value])))
        for name, value in summary["final"].items()
    ]
    steps = f"{summary['steps']} steps, {summary['evaluations']} evaluations, {1e3 * summary['wall_time']:.1f} ms"
    lines = [
        f"{summary['name']}: {summary['t_end']:g} s with {arguments.solver} at rtol {arguments.rtol:g}; {steps}",
        f"energy {summary['energy_start']:.9g} J at the start, {summary['energy_end']:.9g} J at the end; "
        f"loop residual at most {summary['loop_residual']:.1e} m",
        *_events_text(summary["events"]),
        f"at t = {summary['t_end']:g} s",
        *aligned(rows),
        *(f"wrote {path}" for path in (arguments.csv, arguments.plot) if path),
    ]
    return "\n".join(lines)


# ---- compare ----------------------------------------------------------------------------------------


def _add_compare(commands: Any) -> None:
    parser = _command(
        commands,
        "compare",
        "compare formulations and solvers on a mechanism",
        "It tells error, loop residuals,\nenergy drift, steps, evaluations and CPU time at each tolerance.",
        "linkwork compare examples/four_bar.py --t-end 1 --runs rcr/dopri5 DOP853 --csv out.csv --plot out.png",
    )
    parser.add_argument("mechanism", type=Path, help=FILE_HELP)
    compare_command.add_arguments(parser)
    load_help = "constant load in a joint or on a body, as 'simulate' takes it"
    parser.add_argument("--input", type=_load, action="append", default=[], metavar="JOINT=LOAD", help=load_help)
    parser.add_argument("--plot", type=picture, metavar="FILE", help="save error over CPU time: .png, .svg or .pdf")
    parser.set_defaults(run=compare_command.run)


# ---- export -----------------------------------------------------------------------------------------


def _add_export(commands: Any) -> None:
    parser = _command(
        commands,
        "export",
        "write a mechanism as an FMU",
        "It serves Model Exchange and Co-Simulation.",
        "linkwork export examples/four_bar.py -o four_bar.fmu --fmi 2.0 --outputs A.q coupler.r energy",
    )
    export_command.add_arguments(parser)
    parser.set_defaults(run=export_command.run)


# ---- check ------------------------------------------------------------------------------------------


def _add_check(commands: Any) -> None:
    parser = _command(
        commands,
        "check",
        "check an FMU, whoever made it",
        "Its archive, its model description,\nand in a process of its own what its library does.",
        "linkwork check four_bar.fmu --skip memory",
    )
    check_command.add_arguments(parser)
    parser.set_defaults(run=check_command.run)


# ---- run --------------------------------------------------------------------------------------------


def _add_run(commands: Any) -> None:
    parser = _command(
        commands,
        "run",
        "run a system of FMUs, or one FMU",
        "FMUs run in a process of their own, so\nthat a crash of one loses no results.",
        "linkwork run four_bar.fmu --stop-time 2 --set A.u_start=3 -o out.csv",
    )
    run_command.add_arguments(parser)
    parser.set_defaults(run=run_command.run)


# ---- sweep ------------------------------------------------------------------------------------------


def _add_sweep(commands: Any) -> None:
    parser = _command(
        commands,
        "sweep",
        "run a system of FMUs for many values of its parameters",
        "Each point runs in a process apart, here\nor on a Dask cluster; the same command goes on where it stopped.",
        "linkwork sweep car.ssp --grid plant.mode=1,2,3 --latin plant.m=0.5..2 plant.c=1..10:log --samples 200 -o out",
    )
    sweep_command.add_arguments(parser)
    parser.set_defaults(run=sweep_command.run)


# ---- controller -------------------------------------------------------------------------------------


def _add_controller(commands: Any) -> None:
    parser = _command(
        commands,
        "controller",
        "write a controller in Python as an FMU",
        "A file of your own, or a ready one;\nfor Co-Simulation beside the FMUs of mechanisms.",
        "linkwork controller pid -o pid.fmu --set kp=20 --set ki=5",
    )
    controller_command.add_arguments(parser)
    parser.set_defaults(run=controller_command.run)
