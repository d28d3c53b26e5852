"""Times simulations of the examples in a process of its own, by the installation whose Python runs this file.

Each line of the standard input is a JSON object: example, solver, t_end, rtol, runs. The answer is a line with the
version, the least CPU time, s, the number of steps and that of evaluations; null where the solver is unknown.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import linkwork as lw


def main() -> None:
    """Answer each line."""
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples"))
    models: dict[str, lw.Model] = {}
    for line in sys.stdin:
        wanted = json.loads(line)
        name = wanted["example"]
        if name not in models:
            models[name] = lw.compile(importlib.import_module(name).mechanism())
        print(json.dumps(answer(models[name], wanted)), flush=True)


def answer(model: lw.Model, wanted: dict[str, Any]) -> tuple[str, float, int, int] | None:
    """Return what one line asks for."""
    times = []
    for _ in range(wanted["runs"]):
        begin = time.process_time()
        try:
            result = lw.simulate(model, wanted["t_end"], solver=wanted["solver"], rtol=wanted["rtol"])
        except lw.LinkworkError:
            return None
        times.append(time.process_time() - begin)
    return lw.__version__, min(times), result.statistics.steps, result.statistics.evaluations


if __name__ == "__main__":
    main()
