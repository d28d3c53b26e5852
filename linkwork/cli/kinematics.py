"""The command line of kinematic analyses: one coordinate swept through its range."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import linkwork as lw
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.result_files import PICTURES, add_output, check_files, is_picture, wrote
from linkwork.cli.shared import aligned

if TYPE_CHECKING:
    from linkwork.analysis.kinematic_result import KinematicResult


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    add = parser.add_argument
    add("coordinate", metavar="COORDINATE", help="the swept coordinate, as A.q, motor.length or gap.length")
    add("q_start", type=float, metavar="FROM", help="beginning of the range [rad or m]")
    add("q_end", type=float, metavar="TO", help="end of the range [rad or m]")
    add("--rows", type=int, default=101, metavar="N", help="number of output poses (default: %(default)d)")
    add("--speed", type=float, default=1.0, metavar="U", help="of the coordinate [rad/s or m/s] (default: %(default)g)")
    add("--hold", nargs="+", default=[], metavar="NAME", help="coordinates that keep their values")
    add("--through", action="store_true", help="continue around dead points")
    record_help = "further functions of the pose to record, as tip.r or gap.length"
    add("--columns", nargs="+", default=[], metavar="NAME", help=record_help)
    add_output(parser, "write the columns or a plot of them", (".csv", *PICTURES))
    add("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Sweep by the arguments; rows before a failure are written as well."""
    mechanism = mechanism_of(arguments)
    check_files(arguments.output)
    try:
        result = lw.kinematics(
            mechanism,
            arguments.coordinate,
            arguments.q_start,
            arguments.q_end,
            rows=arguments.rows,
            columns=arguments.columns,
            u=arguments.speed,
            hold=arguments.hold,
            through=arguments.through,
        )
    except lw.SolverError as error:
        if isinstance(error.result, lw.KinematicResult) and len(error.result):
            _write(error.result, arguments.output)
        raise
    _write(result, arguments.output)
    facts = summarise(result)
    print(json.dumps(facts, indent=2) if arguments.json else _as_text(facts, arguments.output))
    return 0


def _write(result: KinematicResult, paths: list[Path]) -> None:
    for path in paths:
        if is_picture(path):
            result.plot(path=path)
        else:
            result.to_csv(path)


def summarise(result: KinematicResult) -> dict[str, Any]:
    """Gather the facts about a sweep, as JSON has them."""
    values, shown = result.values, [name for name in result if name.partition("[")[0].endswith(".q")]
    finite = result["conditioning"]
    return {
        "name": result.name,
        "coordinate": result.coordinate,
        "unit": result.units[result.coordinate],
        "rows": len(result),
        "from": float(values[0]),
        "to": float(values[-1]),
        "ended": result.ended,
        "special_poses": [
            {"kind": pose.kind, "value": pose.value, "name": pose.name, "q": _coordinates(pose.state)}
            for pose in result.special_poses
        ],
        "least_conditioning": float(finite.min()),
        "ranges": {
            name: {"unit": result.units[name], "min": float(result[name].min()), "max": float(result[name].max())}
            for name in shown
        },
    }


def _coordinates(state: lw.State) -> dict[str, float]:
    return dict(zip(state.model.q_names, state.q.tolist(), strict=True))


def _as_text(facts: dict[str, Any], paths: list[Path]) -> str:
    head = f"{facts['name']}: {facts['coordinate']} from {facts['from']:.9g} to {facts['to']:.9g} {facts['unit']}"
    lines = [f"{head}, {facts['rows']} rows; {facts['ended']}"]
    for pose in facts["special_poses"]:
        of = f" of {pose['name']!r}" if pose["name"] else ""
        lines.append(f"  {pose['kind']}{of} at {facts['coordinate']} = {pose['value']:.9g}")
    rows = [(name, f"{one['min']: .6g} to {one['max']:.6g}", one["unit"]) for name, one in facts["ranges"].items()]
    lines += ["ranges", *aligned(rows)]
    lines += [f"least conditioning {facts['least_conditioning']:.3g}"]
    return "\n".join([*lines, *wrote(paths)])
