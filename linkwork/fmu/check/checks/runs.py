"""Whole runs of the default experiment by FMPy."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import has_cvode, runnable
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, error, note
from linkwork.fmu.check.sampling import step_length

_STEPS = 200
_NAMES = {"ME": "ModelExchange", "CS": "CoSimulation"}


@check(
    "simulation", "FMPy runs the default experiment, 200 steps of it at most, and all results are finite", dynamic=True
)
def simulation(fmu: Fmu) -> Iterator[Finding]:
    """Run it in each interface."""
    import numpy as np
    from fmpy import instantiate_fmu, platform, read_model_description, simulate_fmu, supported_platforms

    folder = str(fmu.folder)
    # For Linux on ARM, FMPy runs only FMUs that are instantiated before.
    uncounted = platform not in supported_platforms(folder)
    given = fmu.description.experiment
    start, step = given["startTime"] or 0.0, step_length(fmu.description)
    stop = min(start + _STEPS * step, given["stopTime"] if given["stopTime"] is not None else start + 100 * step)
    variables = fmu.description.variables
    clocked = [v.name for v in variables if "clocks" in v.given]  # which cannot be read while their clocks are inactive
    outputs = [v.name for v in variables if v.causality == "output" and v.name not in clocked and v.type != "Clock"]
    for kind in runnable(fmu, "ME", "CS"):
        instance = None
        if uncounted:
            instance = instantiate_fmu(folder, read_model_description(folder, validate=False), _NAMES[kind])
        result = simulate_fmu(
            folder,
            validate=False,
            fmu_instance=instance,
            solver="CVode" if has_cvode() else "Euler",
            fmi_type=_NAMES[kind],
            stop_time=stop,
            step_size=step,
            output_interval=step,
            relative_tolerance=given["tolerance"],
            output=outputs if clocked else None,
        )
        if instance is not None:
            instance.freeInstance()
        for name in result.dtype.names:
            wrong = ~np.isfinite(np.asarray(result[name], dtype=float)).reshape(len(result), -1).all(axis=1)
            if wrong.any():
                yield error(f"{kind}: {name} is not finite from t = {result['time'][wrong.argmax()]:g} on")
                break
        if result["time"][-1] < stop - 1.5 * step:
            yield note(f"{kind}: the run ends at t = {result['time'][-1]:g}, before {stop:g}")
