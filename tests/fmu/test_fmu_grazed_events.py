"""Stops and values that are passed and passed back within one step of the FMU's solver, against closed forms."""

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from support.grazed import Graze, random_graze

fmpy = pytest.importorskip("fmpy")


@pytest.mark.parametrize("event", ["stop", "coordinate", "distance"])
@pytest.mark.parametrize("runs", [20, pytest.param(500, marks=pytest.mark.slow)])
def test_none_is_missed(runs: int, event: str, tmp_path: Path) -> None:
    """One FMU serves all motions of an event: they differ by parameters and start values."""
    rng = np.random.default_rng(runs)
    path = lw.export_fmu(random_graze(rng, event, 1.0).mechanism(), tmp_path / "graze.fmu", "3.0")
    description, folder = fmpy.read_model_description(str(path)), fmpy.extract(str(path))
    instance = fmpy.instantiate_fmu(folder, description, "CoSimulation")
    for _ in range(runs):
        graze, solver = random_graze(rng, event, 1.0), str(rng.choice(["dopri5", "rodas5p"]))
        instance.reset()
        end = 1.4 * graze.turn
        result = fmpy.simulate_fmu(
            folder,
            model_description=description,
            fmu_instance=instance,
            fmi_type="CoSimulation",
            stop_time=end,
            output_interval=end / rng.integers(1, 6),
            relative_tolerance=graze.tolerance(solver),
            start_values=parameters(graze, solver),
            output=["z.q", "events"],
        )
        assert result["events"][-1] >= 1, graze
        assert result["z.q"].max() <= graze.bound + 1e-9, graze
    instance.freeInstance()


def parameters(graze: Graze, solver: str) -> dict[str, float]:
    position, speed = graze.start
    bound = {"stop": {"event.upper": graze.bound}, "distance": {"event.value": 2.0 - graze.bound}}
    return {
        "solver": {"dopri5": 1, "rodas5p": 2}[solver],
        "gravity[3]": -graze.gravity,
        "z.stiffness": graze.rate**2,
        "z.q_start": position,
        "z.u_start": speed,
        **bound.get(graze.event, {"event.value": graze.bound}),
    }
