"""`python -m bench`: the benchmarks, each of which prints its tables and saves them in bench/results."""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path

from bench.mechanisms import PEERS, Missing
from bench.timing import limit_memory, pin_to_one_core

BENCHMARKS = {
    "forward_dynamics": "chains, trees and a four-bar against Pinocchio's C++, which is compiled once (minutes)",
    "closed_loops": "ladders and four-bars in series against Pinocchio and MuJoCo, and larger ladders alone",
    "many_states": "rows of a batch by tapes, interpreted and compiled, against single evaluations of the peers",
    "derivatives": "matrices by coordinates, speeds and loads against Pinocchio's analytic ones (minutes to compile)",
    "linear_models": "linear models of 4 to 64 loops: time and growth",
    "long_runs": "runs by compiled tapes and by kernels, a four-bar against Pinocchio with SciPy's DOP853",
    "assembly": "position assembly of 2 to 300 loops that share joints: time and growth",
    "inverse_kinematics": "poses of a Gough-Stewart platform and of a limb with a closed loop: time, steps, accuracy",
    "kinematics": "kinematic sweeps and identification: time of a row, growth with loops and rows",
    "dca": "jumps of chains and ladders by divide and conquer, with one thread and two",
    "dae": "chains as implicit equations by IDA: growth, schemes, the coupling against a program in C (minutes)",
    "start_up": "import, compile and export in a fresh process",
    "simulation": "runs of the examples by each solver, next to those of another installation (--other)",
    "events": "samples of a digital controller, bounces, and limits that are not reached",
    "results_access": "columns of a million rows: time and memory; one call, a short run, a study; large files",
    "state_loads": "a load in Python in each evaluation; a study against compiling each point",
    "forces": "friction by reactions, formulas and long tables: time and instructions (minutes)",
    "motor_loads": "inverse dynamics of a delta robot over 1000 rows, against its closed form",
    "sweep": "a sweep of a four-bar by one process, by two and by a cluster of two workers",
    "fmu": "Co-Simulation against Pinocchio with SciPy, Model Exchange against the core; size, export, start",
    "pages": "size, first frame and frames of pages in Chromium; the core as WebAssembly",
    "cosim": "communication steps of two FMUs by each master, against the same calls in a bare loop",
}


def main() -> int:
    """Run the requested benchmarks. One with a missing requirement reports it, and the others still run."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Benchmarks on one core.",
        epilog="\n".join(f"{name}: {about}" for name, about in BENCHMARKS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--peers", type=Path, help=f"folder of the peers' scripts (${PEERS}, else ../shared/peers)")
    parser.add_argument("--other", metavar="PYTHON", help="the Python of another installation, for 'simulation'")
    parser.add_argument("--rounds", type=int, default=5, help="more help on a busy machine (default: %(default)s)")
    options = parser.parse_args()
    if unknown := set(options.names) - set(BENCHMARKS):
        parser.error(f"there is no {', '.join(sorted(unknown))} among {', '.join(BENCHMARKS)}")
    pin_to_one_core()
    limit_memory()
    lacking = False
    for name in options.names or BENCHMARKS:
        try:
            importlib.import_module(f"bench.{name}").main(options)
        except Missing as missing:
            print(f"{name} left out: {missing}", file=sys.stderr)
            lacking = True
    return int(lacking)


if __name__ == "__main__":
    sys.exit(main())
