"""States that are kept in files and shown to people."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.model.state_files import CUT, load_state, save_state
from linkwork.model.state_text import as_html, as_table, in_one_line
from linkwork.model.state_values import JointArray, StateValues

if TYPE_CHECKING:
    from linkwork.model.named_model import NamedModel


@dataclass(frozen=True, eq=False, repr=False)
class KeptState(StateValues):
    """A pose and a velocity of a system.

    Attributes
    ----------
    model
        Whose state it is.
    q
        Coordinates of the tree joints, (nq,), in the order of `model.q_names`.
    u
        Speeds of the tree joints, (nu,), in the order of `model.u_names`.
    time
        s; it matters where motions are prescribed.
    motion
        Inputs of these motions, (n_motion,), in the order of `model.numbering.motions`.
    discrete_state
        Numbers of the core, (n_discrete,), that transitions change: which joints are locked, open, at rest on stops.
    step_control
        Of a state at the end of a solver's step: size of the next step, s, norm of the last error, and the choice of
        method of solver "auto", (3,), with which a run continues as though it had not been cut; else None.
    changed_start_values
        Of a state from assembly: the given start values that it could not keep, each a
        `linkwork.model.changed_starts.ChangedStart` with the value asked and the value kept; empty where all are kept.

    Every variable is found by name as well: ``state["A.q"]``, ``state["coupler.r"]``, also those of cut joints and
    parameters. A loop over a state gives the names of all inputs, coordinates, speeds and outputs, and ``dict(state)``
    their values by name. The arrays are read-only; `Model.state` makes a state from others.
    """

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, every number to the bit.

        The file has the coordinates and speeds of tree and cut joints, with their revolutions, the time, the motions
        and the discrete state, and the name and the checksum of the model.

        Parameters
        ----------
        path
            Of the file: ``.json``, which people can read, or ``.npz`` of NumPy.

        Raises
        ------
        MechanismError
            If the suffix is another one.
        OSError
            If the file cannot be written; the text names the remedy.

        Examples
        --------
        >>> import linkwork as lw, os, tempfile
        >>> mech = lw.Mechanism("slider")
        >>> mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
        >>> mech.add_joint("S", lw.Prismatic((0, 0, 1)), "ground", "block", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> path = os.path.join(tempfile.mkdtemp(), "start.json")
        >>> model.assemble(q={"S": 0.1}).save(path)
        >>> lw.State.load(path, model)
        State('slider': t = 0 s, S.q = 0.1 m, S.u = 0 m/s)
        """
        save_state(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: NamedModel) -> Self:
        """Read a state that `save` has written.

        Parameters
        ----------
        path
            Of the file, ``.json`` or ``.npz``.
        model
            The model of which it is a state; a mechanism compiled again from the same description serves as well.

        Returns
        -------
        State
            The same numbers.

        Raises
        ------
        MechanismError
            If it is a state of another model, or no state; the text names both mechanisms.
        OSError
            If there is no such file.
        """
        found = load_state(path, model)
        for name in ("q", "u"):
            values = np.concatenate([found[name], found.pop(f"{name}{CUT}")])
            found[name] = JointArray.split(_frozen(values), len(found[name]))
        arrays = {name: _frozen(value) for name, value in found.items() if isinstance(value, np.ndarray)}
        return cls(model, **{**found, **arrays})

    def __repr__(self) -> str:
        return in_one_line(self)

    def __str__(self) -> str:
        return as_table(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def _frozen(values: FloatArray) -> FloatArray:
    """Return an array that cannot be changed."""
    values.flags.writeable = False
    return values
