"""Computes all results of mechanisms in files, by the installation that runs this: `python quantities.py FOLDER OUT`.

OUT is a file of NumPy, its arrays named "mechanism | method | quantity". What is refused or cannot be called is stored
as the text of the error. Values are in the order of joints and bodies in the description, whatever tree was chosen.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw

METHODS = ("auto", "rcr", "embedding", "multipliers", "dca")
LENGTH = 0.1  # of a run, s
GGL_LENGTH = 0.01
ROWS = 11  # of a run
LOAD = 3.0  # standard deviation of loads, N m or N


class Case:
    """A mechanism, compiled for one method, at its start under random loads, the same for every method."""

    def __init__(self, mechanism: lw.Mechanism, method: str, time: float) -> None:
        self.mechanism = mechanism
        self.time = time
        self.model = lw.compile(mechanism, method)
        self.state = self.model.assemble(time=time)
        self.rng = np.random.default_rng(0)
        self.kinds = {name: joint.kind for name, joint in mechanism.joints.items()}
        self.loads = {
            name: self.rng.normal(scale=LOAD, size=kind.nu or None) for name, kind in self.kinds.items() if kind.nu
        }
        self.loads = {name: load if load.size > 1 else float(load[0]) for name, load in self.loads.items()}

    def by_joint(self, array: Any) -> np.ndarray:
        """Values of all joints, cut ones too, in the order of the description."""
        return np.concatenate([np.zeros(0), *(np.ravel(one) for one in self.model.by_joint(array).values())])

    def states(self) -> np.ndarray:
        """Coordinates and speeds of all joints."""
        return np.concatenate([self.by_joint(self.state.q), self.by_joint(self.state.u)])

    def accelerations(self) -> np.ndarray:
        return self.by_joint(self.model.accelerations(self.state, tau=self.loads))

    def derivatives(self) -> np.ndarray:
        return np.concatenate([np.ravel(one) for one in self.model.derivatives(self.state, tau=self.loads)])

    def reactions(self) -> np.ndarray:
        return self.model.reactions(self.state, tau=self.loads)

    def jacobian(self) -> np.ndarray:
        return self.model.jacobian(self.state, tau=self.loads)

    def mass_matrix(self) -> np.ndarray:
        return self.model.mass_matrix(self.state)

    def inverse_dynamics(self) -> np.ndarray:
        udot = np.random.default_rng(1).normal(size=self.model.sizes.nu)
        return self.by_joint(self.model.inverse_dynamics(self.state, udot))

    def body_poses(self) -> np.ndarray:
        return np.concatenate([np.ravel(self.state[f"{body}.r"]) for body in self.mechanism.bodies] or [np.zeros(0)])

    def energy(self) -> np.ndarray:
        return np.array(self.model.energy(self.state))

    def linear_model(self) -> np.ndarray:
        """Of independent coordinates where these exist, else of all."""
        switched = bool(self.mechanism.transitions)
        found = lw.linearize(self.model, self.state, states="full" if switched else "minimal", tau=self.loads)
        return np.concatenate([np.ravel(getattr(found, name)) for name in "ABCD"])

    def _jump(self) -> Any:
        """After random impulses on all bodies, one speed of a joint being held."""
        block = self.model.block()
        self.model.enter(block, self.state)
        push = np.random.default_rng(2).normal(size=(len(self.mechanism.bodies), 6))
        moving = [name for name, kind in self.kinds.items() if kind.nu]
        changes = {self.model.numbering.u[moving[0]].start: 0.1} if moving else {}
        return block.jump(changes, push)

    def jump_speeds(self) -> np.ndarray:
        """Of all joints."""
        return self.by_joint(type(self.state.u).split(self._jump().after, self.model.numbering.nu))

    def jump_impulses(self) -> np.ndarray:
        """In joints and couplings; redundant constraints share theirs by convention."""
        found = self._jump()
        return np.concatenate([found.reaction.ravel(), found.coupling])

    def transition_speeds(self) -> np.ndarray:
        """After each transition alone, and the energy that is lost."""
        found = []
        for name in self.mechanism.transitions:
            after = self.model.jump(self.state, [name])
            found += [self.by_joint(after.state.u), np.array([after.energy_lost])]
        return np.concatenate([np.ravel(one) for one in found])

    def transition_impulses(self) -> np.ndarray:
        """The same of impulses."""
        found = [self.model.jump(self.state, [name]).impulses.values() for name in self.mechanism.transitions]
        return np.concatenate([np.ravel(one) for all_of in found for one in all_of])

    def ggl_residual(self) -> np.ndarray:
        """At states and rates at which nothing is closed or in balance, and its derivative."""
        from linkwork.simulation.dae.ggl import GGL

        block = self.model.block()
        self.model.enter(block, self.state)
        q, u = self.model.arguments.states(self.state, None)
        equations = GGL(self.model, block)
        y, ydot = equations.start(self.time, np.concatenate([q, u]))
        rng = np.random.default_rng(3)
        y, ydot = y + 0.05 * rng.normal(size=y.size), ydot + rng.normal(size=y.size)
        matrix = equations.jacobian(self.time, y, ydot, 7.0)
        return np.concatenate([equations.residual(self.time, y, ydot), matrix.ravel()])

    def run(self) -> np.ndarray:
        """Coordinates and speeds over time, and the times of events; commands come one after the other."""
        commands = [name for name, one in self.mechanism.transitions.items() if isinstance(one.when, lw.Command)]
        at = {name: self.time + LENGTH * (k + 1) / (len(commands) + 2) for k, name in enumerate(commands)}
        inputs = {f"{name}.command": (lambda t, start=start: t >= start) for name, start in at.items()}
        return self._columns(LENGTH, inputs=inputs)

    def ggl_run(self) -> np.ndarray:
        return self._columns(GGL_LENGTH, formulation="ggl", solver="ida")

    def _columns(self, length: float, **options: Any) -> np.ndarray:
        t = np.linspace(self.time, self.time + length, ROWS)
        result = lw.simulate(self.model, t[-1], self.state, t_eval=t, **options)
        names = [f"{joint}.{what}" for joint, kind in self.kinds.items() if kind.nu for what in "qu"]
        columns = [np.ravel(result[name]) for name in names]
        return np.concatenate([np.zeros(0), *columns, np.array([event.t for event in result.events])])


OF_TRANSITIONS = ("transition_speeds", "transition_impulses")
BY_METHOD = (
    *("states", "accelerations", "derivatives", "reactions", "jacobian", "jump_speeds", "jump_impulses"),
    *OF_TRANSITIONS,
)
ONCE = ("mass_matrix", "inverse_dynamics", "body_poses", "energy", "linear_model", "ggl_residual", "run", "ggl_run")


def computed(quantity: Callable[[], Any]) -> np.ndarray:
    """The array, or the error as a text."""
    try:
        return np.asarray(quantity())
    except Exception as error:
        return np.array(f"{type(error).__name__}: {error}")


def results_of(name: str, mechanism: lw.Mechanism, time: float) -> dict[str, np.ndarray]:
    """All quantities of a mechanism by all methods that take it."""
    found: dict[str, np.ndarray] = {}
    for method in METHODS:
        try:
            case = Case(mechanism, method, time)
        except Exception as error:
            found[f"{name} | {method} | model"] = np.array(f"{type(error).__name__}: {error}")
            continue
        for quantity in BY_METHOD + (ONCE if method == "auto" else ()):
            if quantity not in OF_TRANSITIONS or mechanism.transitions:
                found[f"{name} | {method} | {quantity}"] = computed(getattr(case, quantity))
    return found


def main(folder: Path, out: Path) -> None:
    """Compute and save all."""
    found: dict[str, np.ndarray] = {}
    for one in json.loads((folder / "list.json").read_text()):
        try:
            mechanism = lw.Mechanism.load(folder / one["file"])
        except Exception as error:
            found[f"{one['name']} | file | load"] = np.array(f"{type(error).__name__}: {error}")
            continue
        found |= results_of(one["name"], mechanism, one["time"])
    np.savez(out, **found)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(Path(sys.argv[1]), Path(sys.argv[2]))
