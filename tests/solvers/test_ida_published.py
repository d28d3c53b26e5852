"""IDA on published differential-algebraic problems with reference solutions."""

import numpy as np
import pytest

from linkwork.solvers import solve
from support.dae_problems import Constrained, car_axis, pendulum, slider_crank
from support.published import facts

pytestmark = pytest.mark.usefixtures("backend")


def states(system: Constrained, t: np.ndarray, tolerance: float) -> np.ndarray:
    return solve(system.index_1(), t[-1], "ida", tolerance, t_eval=t).y


def test_pendulum_of_period_2() -> None:
    given = facts("pendulum_of_period_2")
    rows = np.array(given["rows"])
    y = states(pendulum(given["g"]), rows[:, 0], 1e-10)
    assert np.abs(y[:, :4] - rows[:, 1:5]).max() < 1e-6


def test_car_axis() -> None:
    given = facts("car_axis")
    track = given["trajectory"]
    y = states(car_axis(), np.array(track["t"]), 1e-10)
    assert np.abs(y[-1, :8] - given["published_reference"][:8]).max() < 1e-6
    for index, name in enumerate(("xl", "yl", "xr", "yr")):
        assert np.abs(y[:, index] - track[name]).max() < 1e-6


def test_car_axis_of_index_3() -> None:
    solution = solve(car_axis().index_3(), 3.0, "ida", 1e-9)
    assert np.abs(solution.y_end[:4] - facts("car_axis")["published_reference"][:4]).max() < 1e-4


def test_slider_crank() -> None:
    given = facts("ida_slider_crank")
    y = states(slider_crank(), np.array(given["t"]), 1e-8)[:, :3]
    assert np.abs(y - given["q_x_p"]).max() < 1e-5
