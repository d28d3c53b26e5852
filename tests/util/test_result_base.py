"""The base of results: every kind has a summary, plain data and files by suffix."""

import json

import numpy as np
import pytest

import linkwork as lw
from linkwork.results.base import ResultBase, TableResult
from support.small import pendulum

FOUND = {
    "run": lambda: lw.simulate(pendulum(), 0.1),
    "kinematics": lambda: lw.kinematics(pendulum(), "A.q", 0.0, 1.0, rows=3),
    "equilibrium": lambda: lw.equilibrium(pendulum()),
    "equilibria": lambda: lw.equilibria(pendulum(), starts=2),
    "inverse kinematics": lambda: lw.inverse_kinematics(pendulum(), {"A": 0.5}),
    "path": lambda: lw.inverse_kinematics(pendulum(), {"A": [0.4, 0.5]}),
    "workspace": lambda: lw.workspace(pendulum(), of="rod.r[1]", by="A", points=3),
    "loads": lambda: lw.inverse_dynamics(pendulum(), {"A": (0.0, 0.0, 0.0)}, motors="A", t_eval=[0.0]),
    "study": lambda: lw.study(pendulum(), 0.1, {"rod.mass": [1.0, -1.0]}, columns="A.q", workers=1),
    "comparison": lambda: lw.compare(pendulum(), 0.1, runs=["dopri5"], rtol=[1e-4], repeat=1),
    "Jacobian": lambda: lw.parameter_jacobian(pendulum(), ["rod.mass"], ["energy.potential"]),
    "motors": lambda: lw.motor_jacobian(pendulum(), of="rod.r[1]", by="A"),
    "base parameters": lambda: lw.base_parameters(pendulum()),
    "co-simulation": lambda: lw.cosim.Result("fall", [0.0, 0.5], {"ball.v": [0.0, -4.9]}),
}


@pytest.mark.parametrize("kind", FOUND)
def test_a_result_states_itself(kind, tmp_path, needs):
    found = FOUND[kind]()
    assert isinstance(found, ResultBase)
    assert found.summary()
    assert json.loads(json.dumps(found.to_dict())) is not None
    if isinstance(found, TableResult):
        needs("pandas")
        import pandas

        found.save(tmp_path / "table.csv")
        table = found.to_dataframe()
        read = pandas.read_csv(tmp_path / "table.csv", index_col=table.index.name)
        assert list(read) == list(table)
        for name in table.select_dtypes("number"):
            np.testing.assert_array_equal(read[name], table[name])
    with pytest.raises(lw.LinkworkError):
        found.save(tmp_path / "table.xlsx")
