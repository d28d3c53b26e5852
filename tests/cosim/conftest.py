"""FMUs of small systems, exported once."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw


def sliding_mass() -> lw.Mechanism:
    """A mass on a spring with a damper, without weight: a = tau - 40 q - u."""
    mech = lw.Mechanism("mass", gravity=(0, 0, 0))
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("A", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("A", stiffness=40.0, damping=1.0))
    mech.start(q={"A": 0.1})
    return mech


@pytest.fixture(scope="session")
def mass(tmp_path_factory) -> Callable[..., Path]:
    """The FMU of a mass on a spring, by the version of FMI; with arrays, where it is asked for."""
    folder = tmp_path_factory.mktemp("fmus")
    made = {}

    def fmu(version: str = "2.0", arrays: bool = False) -> Path:
        key = f"mass{version[0]}{'_arrays' if arrays else ''}"
        if key not in made:
            outputs = ["A.q", "A.u", "block.r"]
            made[key] = lw.export_fmu(
                sliding_mass(), folder / f"{key}.fmu", fmi=version, outputs=outputs, arrays=arrays
            )
        return made[key]

    return fmu
