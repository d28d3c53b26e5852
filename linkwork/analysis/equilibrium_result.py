"""What a search for poses of rest has found."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork._util.keywords import checks_keywords
from linkwork._util.named import NamedValues
from linkwork._util.text import aligned, tidy
from linkwork.model.named_variables import NamedVariables
from linkwork.results.base import Columns, ResultBase, TableResult

if TYPE_CHECKING:
    from linkwork._util.picture import Picture
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

_OF_EACH = ("stable", "energy", "residual")  # columns of the table
_STABILITY = {True: "stable", False: "unstable", None: "marginal"}
Loads = Mapping[str, float | FloatArray]


@checks_keywords
@dataclass(frozen=True, eq=False)
class Equilibrium(ResultBase, NamedVariables, NamedValues[str]):
    """A pose of rest, or a steady motion. `found[name]` is any variable in it, such as "A.q" or "coupler.r".

    A loop over it gives the names that a loop over its `State` gives.

    Attributes
    ----------
    state
        Pose, speeds, and which stops are touched.
    residual
        The largest force that is left, relative to the size of the forces.
    stable
        True or False; None where small motions neither grow nor come back (`free` names such directions), and where a
        stop is touched without load.
    eigenvalues
        Of small motions, 1/s, sorted by frequency: two for each degree of freedom that is not held and has mass.
    frequencies
        Of the modes without damping and gyroscopic loads, Hz, one for each degree of freedom with mass, in the order of
        their squares; not a number where a mode does not oscillate, and where it also grows, as loads that follow a
        body may make it. Without damping 2 pi times it is the imaginary part of an eigenvalue.
    modes
        (nu, n), columns: speeds of the tree joints in each mode, the largest weighed one 1.
    stiffness
        (dof, dof) along `basis`, with the curvature of the constraints, N/m.
    basis
        (nu, dof): motions of the tree joints, orthonormal with angles counted in lengths of the mechanism,
        those of geared rotors divided by the ratio.
    motor_loads
        What the motors asked for must give, N or N m, by name; of an actuator the force of its input.
    holding
        Loads on the coordinates held, N or N m, that keep them in place, by name.
    contacts
        Loads of stops on their coordinates, N or N m, by name of the transition: positive at lower bounds, negative at
        upper ones.
    inputs
        All constant inputs, those of the motors included, as `simulate` takes them.
    free
        Names of coordinates that move without any load, one text for each direction.
    energy
        Potential energy of gravity and springs, J; None in a singular pose.
    units
        Of `motor_loads`, `holding` and `contacts`.
    """

    state: State
    residual: float
    stable: bool | None
    eigenvalues: NDArray[np.complex128]
    frequencies: FloatArray
    modes: FloatArray
    stiffness: FloatArray
    basis: FloatArray
    motor_loads: Loads
    holding: Loads
    contacts: Mapping[str, float]
    inputs: Mapping[str, Any]
    free: tuple[str, ...]
    energy: float | None
    units: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def model(self) -> ModelBase:
        """The compiled mechanism."""
        return self.state.model

    @property
    def tau(self) -> dict[str, Any]:
        """The inputs that are loads, as `Model.accelerations` and `Model.reactions` take them."""
        motions = self.model.numbering.motions
        return {name: value for name, value in self.inputs.items() if name not in motions}

    def __getitem__(self, name: str) -> float | FloatArray:
        return self.model.value(name, self.state, tau=self.tau)

    def save(self, path: str | os.PathLike[str], columns: Columns = None) -> None:
        """Write the state, ``.json`` or ``.npz``; as `State.save`. There are no `columns`."""
        self.state.save(path)

    def draw(self, path: str | os.PathLike[str] | None = None) -> Picture:
        """Draw the mechanism in this pose; as `Model.draw`."""
        from linkwork.model.model import Model

        assert isinstance(self.model, Model)
        return self.model.draw(path, self.state)

    def __repr__(self) -> str:
        kind = "Equilibrium" if not np.any(self.state.u) else "Steady motion"
        head = f"{kind} of {self.model.mechanism.name!r}: {_STABILITY[self.stable]}, residual {self.residual:.1e}"
        rows = [(name, tidy(value)) for name, value in zip(self.model.q_names, self.state.q, strict=True)]
        rows += [(name, tidy(u)) for name, u in zip(self.model.u_names, self.state.u, strict=True) if u]
        for what, loads in (("motor", self.motor_loads), ("holds", self.holding), ("stop", self.contacts)):
            rows += [(f"{what} {name}", f"{_listed(load)} {self.units[name]}") for name, load in loads.items()]
        rows += [("free", text) for text in self.free]
        if self.frequencies.size:
            shown = ", ".join("-" if np.isnan(f) else f"{f:.4g}" for f in self.frequencies[:6])
            rows.append(("frequencies", f"{shown} Hz{' ...' if self.frequencies.size > 6 else ''}"))
        return "\n".join([head, *aligned(rows)])

    def to_dict(self) -> dict[str, Any]:
        """Return the pose, its loads and its stability as plain data."""
        model, state = self.model, self.state
        return {
            "name": model.mechanism.name,
            "stable": self.stable,
            "residual": self.residual,
            "q": dict(zip(model.q_names, state.q.tolist(), strict=True)),
            "u": dict(zip(model.u_names, state.u.tolist(), strict=True)),
            "energy": self.energy,
            "frequencies": [None if np.isnan(one) else one for one in self.frequencies.tolist()],
            "motor_loads": _plain(self.motor_loads),
            "holding": _plain(self.holding),
            "contacts": _plain(self.contacts),
            "inputs": _plain(self.inputs),
            "free": list(self.free),
        }


@checks_keywords
class Equilibria(TableResult, Sequence[Equilibrium]):
    """Distinct poses of rest, that of least energy first.

    Attributes
    ----------
    starts
        Number of starts of the search.
    hits
        By how many searches each pose was reached.
    """

    def __init__(self, found: Sequence[Equilibrium], hits: Sequence[int], starts: int) -> None:
        self._found, self.hits, self.starts = tuple(found), tuple(hits), starts

    @overload
    def __getitem__(self, index: int) -> Equilibrium: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Equilibrium]: ...
    def __getitem__(self, index: int | slice) -> Equilibrium | Sequence[Equilibrium]:
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self._found)

    def _table(self) -> dict[str, list[Any]]:
        poses = self._found
        columns: dict[str, list[Any]] = {name: [getattr(one, name) for one in poses] for name in _OF_EACH}
        columns["hits"] = list(self.hits)
        for k, name in enumerate(poses[0].model.q_names if poses else ()):
            columns[name] = [float(one.state.q[k]) for one in poses]
        return columns

    def __repr__(self) -> str:
        head = f"{len(self)} equilibria from {self.starts} starts"
        if not self._found:
            return head
        names = self._found[0].model.q_names[:6]
        rows = [["", "energy, J", "hits", *names]]
        for one, hits in zip(self._found, self.hits, strict=True):
            energy = "-" if one.energy is None else f"{one.energy:.6g}"
            rows.append([_STABILITY[one.stable], energy, str(hits), *map(tidy, one.state.q[:6])])
        return "\n".join([head, *aligned(rows, ">")])


def _listed(value: float | FloatArray) -> str:
    return ", ".join(map(tidy, np.atleast_1d(value)))


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(value).tolist() for name, value in values.items()}
