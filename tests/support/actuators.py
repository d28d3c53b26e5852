"""Actuators by their definition, and scenes that have some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import linkwork as lw

from .builder import Scene
from .placement import plain, vector
from .poses import Array
from .random_mechanisms import Maker


def actuators(mechanism: lw.Mechanism) -> list[Any]:
    return [force for force in mechanism.forces if hasattr(force, "gears")]


def on_speeds(mechanism: lw.Mechanism, actuator: Any, like: Mapping[str, Any]) -> dict[str, Array]:
    """The gears of an actuator along the speeds of its joints, whose numbers are `like` those given."""
    found: dict[str, Array] = {}
    for name, gear in actuator.gears.items():
        joint, _, index = name.rstrip("]").partition("[")
        found.setdefault(joint, np.zeros(np.size(like[joint])))[int(index or 1) - 1] += gear
    return found


def state_of(mechanism: lw.Mechanism, actuator: Any, q: Mapping[str, Any], u: Mapping[str, Any]) -> tuple[float, float]:
    """Length and rate; without coordinates to sum the length is zero."""
    gears = on_speeds(mechanism, actuator, u)
    rate = sum(float(vector(u[joint]) @ gear) for joint, gear in gears.items())
    if any(np.size(q[joint]) != np.size(u[joint]) for joint in gears):
        return 0.0, rate
    return sum(float(vector(q[joint]) @ gear) for joint, gear in gears.items()), rate


def force_of(actuator: Any, length: float, rate: float, given: float) -> float:
    value = given if actuator.input_range is None else min(max(given, actuator.input_range[0]), actuator.input_range[1])
    force = actuator.gain * value + actuator.offset - actuator.stiffness * length - actuator.damping * rate
    return force if actuator.force_range is None else min(max(force, actuator.force_range[0]), actuator.force_range[1])


def with_actuators(
    mechanism: lw.Mechanism,
    q: Mapping[str, Any],
    u: Mapping[str, Any],
    tau: Mapping[str, Any],
    inputs: Mapping[str, float],
) -> dict[str, Any]:
    """Loads of all joints: those given, and those of the actuators."""
    total = {name: np.array(vector(tau.get(name, np.zeros(np.size(value)))), float) for name, value in u.items()}
    for actuator in actuators(mechanism):
        force = force_of(actuator, *state_of(mechanism, actuator, q, u), inputs.get(f"{actuator.name}.input", 0.0))
        for joint, gear in on_speeds(mechanism, actuator, u).items():
            total[joint] += gear * force
    return {name: plain(value) for name, value in total.items()}


def random_inputs(rng: np.random.Generator, mechanism: lw.Mechanism, size: float = 2.0) -> dict[str, float]:
    return {f"{one.name}.input": float(rng.normal(scale=size)) for one in actuators(mechanism)}


def actuated(make: Maker, count: int = 4) -> Maker:
    """The same with actuators on one to three speeds of random joints, the cut ones among them; half have limits."""

    def made(rng: np.random.Generator) -> Scene:
        scene = make(rng)
        joints = scene.mechanism.joints
        with_length, others = ([], [])  # type: tuple[list[str], list[str]]
        for name, joint in joints.items():
            names = [name] if joint.kind.nu == 1 else [f"{name}[{k + 1}]" for k in range(joint.kind.nu)]
            (with_length if joint.kind.quaternion is None else others).extend(names)
        for k in range(count):
            stiff = bool(with_length) and (k % 2 == 0 or not others)
            chosen = with_length if stiff else [*with_length, *others]
            names = rng.choice(chosen, min(len(chosen), 1 + k % 3), replace=False)
            gears = {str(name): float(rng.uniform(0.2, 2.0) * rng.choice([-1, 1])) for name in names}
            gain, offset, stiffness, damping = rng.uniform(0.2, 2.0, 4)
            limits = {"input_range": (-0.5, 1.0), "force_range": (-1.0, 0.8)} if k >= count / 2 else {}
            scene.mechanism.add_force(
                lw.Actuator(f"m{k + 1}", gears, gain, offset, stiffness * stiff, damping, **limits)  # type: ignore[arg-type]
            )
        return scene

    return made
