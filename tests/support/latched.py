"""A pendulum and what may happen to it, and FMUs of mechanisms with transitions."""

from __future__ import annotations

from pathlib import Path

import linkwork as lw

from .fmi_calls import Instance
from .unpacked import Unpacked, unpack


def pendulum(**transitions: tuple) -> lw.Mechanism:
    """A rod that falls from the horizontal; each transition by name: its action, and when it happens or None."""
    mech = lw.Mechanism("pendulum", gravity=(0, 0, -9.81))
    mech.add_body("arm", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0, axis="x"))
    mech.add_joint("hinge", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    for name, (action, when) in transitions.items():
        mech.add_transition(name, action, when=when)
    return mech


def exported(mech: lw.Mechanism, version: str, folder: Path) -> Unpacked:
    """The FMU of a mechanism, which FMPy accepts without a message."""
    from fmpy.validation import validate_fmu

    system = lw.compile(mech)
    path = lw.export_fmu(system, folder / f"{mech.name}.fmu", version)
    assert validate_fmu(str(path)) == []
    return Unpacked(path, unpack(path), version, system)


def started(fmu: Unpacked, kind: str, **options: bool) -> Instance:
    """An instance in Continuous-Time or Step Mode."""
    instance = fmu.new(kind, **options)
    instance.set_up(tolerance=1e-10)
    instance.must("ExitInitializationMode")
    if kind == "ME" or options:
        instance.update()
        instance.must("EnterContinuousTimeMode" if kind == "ME" else "EnterStepMode")
    return instance
