"""The load of a joint is an input by the joint's name, and by that of its variable in results and FMUs."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw


def joint_of_two() -> lw.Mechanism:
    mech = lw.Mechanism("cardan")
    mech.add_body("rod", mass=2.0, com=(0.3, 0, 0), inertia=lw.inertia.rod(2.0, 0.6))
    mech.add_joint("U", lw.Universal((0, 0, 1), (0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    return mech


@pytest.mark.parametrize(
    "inputs",
    [
        {"U.tau": (0.5, -2.0)},
        {"U.tau[1]": 0.5, "U[2]": -2.0},
        {"U.tau[2]": -2.0, "U[1]": lambda t: 0.5},
        {"U.tau": lambda t, state: (0.5, -2.0)},
    ],
)
def test_both_names_drive_the_same_speeds(inputs: dict) -> None:
    found = lw.simulate(joint_of_two(), 0.2, inputs=inputs, t_eval=[0.0, 0.2])
    expected = lw.simulate(joint_of_two(), 0.2, inputs={"U": (0.5, -2.0)}, t_eval=[0.0, 0.2])
    np.testing.assert_allclose(found["U.q"], expected["U.q"], atol=1e-10)
    np.testing.assert_allclose(found["U.tau"], expected["U.tau"])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"U.tau": 0.0, "U[2]": 1.0}, "'U.tau' and 'U\\[2\\]' drive the same speed"),
        ({"V.tau": 1.0}, "no driven joint 'V.tau'"),
        ({"U.tau[3]": 1.0}, "no driven joint 'U.tau\\[3\\]'"),
        ({".tau": 1.0}, "no driven joint '.tau'"),
    ],
)
def test_names_that_do_not_fit_are_refused(inputs: dict, message: str) -> None:
    with pytest.raises(lw.MechanismError, match=message):
        lw.simulate(joint_of_two(), 0.1, inputs=inputs)
