"""An FMU of ours in both versions, with events, inputs and parameters."""

from pathlib import Path

import pytest

import linkwork as lw
from support.latched import pendulum


@pytest.fixture(scope="session")
def latched(tmp_path_factory) -> dict[str, Path]:
    """A pendulum that latches by itself and opens on command, by version."""
    mech = pendulum(latch=(lw.Lock("hinge"), lw.Crossing("hinge.q", 1.0)), open=(lw.Unlock("hinge"), lw.Command()))
    folder = tmp_path_factory.mktemp("latched")
    outputs = ["hinge.q", "hinge.u", "arm.r", "latch.active"]
    return {v: lw.export_fmu(mech, folder / f"pendulum{v[0]}.fmu", v, outputs) for v in ("2.0", "3.0")}
