"""Reflected inertia and limits of loads as parameters of FMUs."""

import numpy as np
import pytest

import linkwork as lw

STOP = 0.5


def driven(inertia: float = 0.0, most: float = 4.0) -> lw.Mechanism:
    mech = lw.Mechanism("driven")
    for name in ("upper", "lower"):
        mech.add_body(name, mass=1.0, com=(0.2, 0, 0), inertia=np.eye(3) * 0.02)
    mech.add_joint(
        "A", lw.Revolute((0, 1, 0)), "ground", "upper", at=(0, 0, 0), reflected_inertia=inertia, max_load=most
    )
    limits = (np.inf, 3.0)
    mech.add_joint("B", lw.Cylindrical((0, 1, 0)), "upper", "lower", at=(0.4, 0, 0), max_load=limits)
    return mech


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_parameters_of_drives(make, needs, version):
    """Loads above the limits, and parameters that the importer sets before the start."""
    fmpy = needs("fmpy")
    unpacked = make(driven(), version)
    variables = {v.name: v for v in fmpy.read_model_description(str(unpacked.path)).modelVariables}
    assert [float(variables[f"B.max_load[{k}]"].start) for k in (1, 2)] == [np.inf, 3.0]
    assert float(variables["A.reflected_inertia"].start) == 0.0
    assert float(variables["A.reflected_inertia"].min) == 0.0
    assert variables["A.reflected_inertia"].variability == "tunable"
    loads = {"A.tau": 20.0, "B.tau[1]": 1.0, "B.tau[2]": -9.0}
    signals = np.array([(0.0, *loads.values()), (STOP, *loads.values())], dtype=[(n, float) for n in ("time", *loads)])
    seen = ["A.q", "B.q[1]", "B.q[2]", "A.tau"]
    for given in ({}, {"A.reflected_inertia": 0.3, "A.max_load": 6.0}):
        result = fmpy.simulate_fmu(
            str(unpacked.path),
            fmi_type="ModelExchange",
            start_values=given,
            stop_time=STOP,
            output_interval=0.05,
            relative_tolerance=1e-9,
            input=signals,
            output=seen,
        )
        mech = driven(given.get("A.reflected_inertia", 0.0), given.get("A.max_load", 4.0))
        acting = {"A": mech.joints["A"].max_load[0], "B": (1.0, -3.0)}
        expected = lw.simulate(mech, STOP, inputs=acting, rtol=1e-10, t_eval=np.linspace(0.0, STOP, 11))
        for name in seen[:-1]:
            assert result[name] == pytest.approx(expected[name], abs=1e-5), name
        assert (result["A.tau"] == 20.0).all()
