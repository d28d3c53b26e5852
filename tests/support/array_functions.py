"""Mechanisms and rows of arguments for functions of PyTorch and JAX, and what the core has for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

import linkwork as lw

from .cases import four_bar
from .chains import hung
from .poses import Array
from .random_mechanisms import random_tree


def driven() -> lw.Mechanism:
    """A crank with a motion by a formula of time, and a rod on it."""
    mech = lw.Mechanism("driven")
    for name in ("crank", "rod"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "crank", "rod", parent_frame=lw.Frame((1, 0, 0)))
    mech.prescribe("A", "a*sin(w*time)", parameters={"a": 0.3, "w": 2.0})
    return mech


def motorised() -> lw.Mechanism:
    """A four-bar with a motor, whose current is a state and whose voltage an input, and a wrench on the coupler."""
    mech = four_bar().mechanism
    mech.add_force(lw.DCMotor("A", resistance=0.5, inductance=2e-2, constant=0.1, gear=4.0, name="motor"))
    mech.add_force(lw.Wrench("coupler", name="push"))
    mech.add_force(lw.SpringDamper("C", stiffness=2.0, damping=0.1))
    return mech


# Mechanism, outputs, parameters.
CASES: dict[str, tuple[Callable[[], lw.Model], tuple[str, ...], tuple[str, ...]]] = {
    "chain": (lambda: hung(np.random.default_rng(3), 3), ("energy.kinetic", "b2.r"), ("b1.mass", "b2.com")),
    "tree": (
        lambda: lw.compile(random_tree(np.random.default_rng(3), 5, springs=2).mechanism),
        (),
        (),
    ),
    "four_bar": (
        lambda: lw.compile(four_bar().mechanism),
        ("coupler.v", "loop.D.conditioning"),
        ("coupler.mass", "crank.com"),
    ),
    "motor": (lambda: lw.compile(motorised()), ("motor.force",), ("motor.resistance", "C.damping")),
    "driven": (lambda: lw.compile(driven()), ("rod.v",), ("rod.mass",)),
}


def arguments(model: lw.Model, names: tuple[str, ...], rows: int = 3, seed: int = 0) -> dict[str, Array]:
    """Rows of the arguments: closed loops, any speeds and loads."""
    rng = np.random.default_rng(seed)
    start = model.assemble(time=0.4)
    n = model.numbering
    x = np.tile(np.concatenate([start.q, start.u, start.elements]), (rows, 1))
    x[:, n.nq :] += rng.normal(size=(rows, n.nu + len(n.elements)))
    own = np.concatenate([np.empty(0), *(np.ravel(model.value(name, start)) for name in names)])
    return {
        "t": np.full(rows, 0.4),
        "x": x,
        "tau": 0.1 * rng.normal(size=(rows, n.n_loads)),
        "p": own * rng.uniform(0.8, 1.2, (rows, own.size)),
    }


def of_the_core(
    model: lw.Model, names: tuple[str, ...], given: Mapping[str, Array], row: int
) -> tuple[lw.Model, lw.State, dict[str, Array]]:
    """The model with the parameters of a row, its state, and its loads by name."""
    n, parameters, first = model.numbering, {}, 0
    for name in names:
        column = model.column(name)
        values = given["p"][row, first : first + column.count]
        parameters[name] = values if column.vector else values[0]
        first += column.count
    own = model.with_parameters(parameters)
    q, u, elements = np.split(given["x"][row], [n.nq, n.nq + n.nu])
    state = own.state(q, u, time=float(given["t"][row]), elements=dict(zip(n.elements, elements, strict=True)))
    loads = {name: n.loads[name] for name in (*n.u, *n.forces) if name in n.loads}
    return own, state, {name: given["tau"][row, span] for name, span in loads.items()}
