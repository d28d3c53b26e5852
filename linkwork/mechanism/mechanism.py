"""The description of a mechanism, as users have it: kept in files and looked at."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from linkwork._util.keywords import checks_keywords
from linkwork._util.picture import Picture
from linkwork._util.registered import registered
from linkwork.errors import LinkworkError
from linkwork.mechanism import json_io, reading
from linkwork.mechanism.drives import WithDrives


@checks_keywords
class Mechanism(WithDrives):
    """Bodies, joints, couplings, distances, forces, transitions, points of interest, outputs, states, shapes, starts.

    Each method refuses at once what does not fit: names that are taken or unknown, numbers of another size or not
    finite, values that no part can have. The `MechanismError` names the part and the remedy; nothing is changed then.

    Parameters
    ----------
    name
        ASCII letters, digits, blanks inside and signs such as ``-`` and ``/``.
    gravity
        Acceleration of free fall in world axes, (3,), m/s^2.

    Attributes
    ----------
    bodies, joints
        `Body` and `Joint` by name, in the order in which they were added.
    couplings, distances, transitions, points, measures, outputs, states
        `Coupling`, `Distance`, `Transition`, `PointOfInterest`, `Measure`, `Output` and `ElementState` by name,
        likewise.
    forces
        In the order in which they were added.
    shapes
        Lists of shapes by name of their body, or "ground".
    folder
        Of the file that the mechanism was read from: relative paths of meshes start there. None: a mechanism that was
        not read from a file; they start from the current directory.
    start_q, start_u
        Start guesses of coordinates and speeds by name of the joint, arrays (nq,) and (nu,).
    taken
        Names and joints that the forces have.
    report, names
        Of a mechanism from another format (`linkwork.load`): the fidelity report, and the names of the file with those
        here, by kind of element. Otherwise None and empty.

    Examples
    --------
    >>> from linkwork.mechanism import Revolute, inertia
    >>> mech = Mechanism("pendulum")
    >>> mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
    >>> mech.add_joint("hinge", Revolute(axis=(0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    >>> mech.start(q={"hinge": 0.3})
    >>> mech
    Mechanism('pendulum': 1 body, 1 joint, 0 forces)
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the mechanism as dictionaries, lists, strings and numbers, as they stand in a file."""
        return json_io.to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Mechanism:
        """Return the mechanism that `to_dict` gave, with the same bits.

        Parameters
        ----------
        data
            Dictionaries, lists, strings and numbers, as they are in a file.

        Returns
        -------
        Mechanism
            The mechanism.

        Raises
        ------
        MechanismError
            On data that describe no mechanism; the text names the place in `data`, the mistake and the remedy.

        Examples
        --------
        >>> mech = Mechanism("empty", gravity=(0, 0, 0))
        >>> Mechanism.from_dict(mech.to_dict()) == mech
        True
        """
        return reading.from_dict(cls, data)

    @registered
    def save(self, path: str | PathLike[str], *, strict: bool = False) -> Any:
        """Write the mechanism to a file, as `linkwork.save` does: JSON, URDF or MJCF, by the suffix.

        Parameters
        ----------
        path
            A file .json, .urdf, or .xml or .mjcf for MJCF; a file of that name is replaced in one step, or left as it
            was.
        strict
            True: refuse, and write nothing, if something cannot be written exactly.

        Returns
        -------
        Report
            The fidelity report: what became of each part of the mechanism.

        Raises
        ------
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> mech = Mechanism("empty")
        >>> with TemporaryDirectory() as folder:
        ...     report = mech.save(Path(folder, "empty.json"))
        ...     Mechanism.load(Path(folder, "empty.json")) == mech
        True
        """
        raise NotImplementedError

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Mechanism:
        """Read a mechanism from JSON.

        Parameters
        ----------
        path
            The file, which `save` wrote or which was written by hand.

        Returns
        -------
        Mechanism
            The mechanism.

        Raises
        ------
        MechanismError
            On a file that describes no mechanism; the text names file, line and column, the mistake and the remedy.
        OSError
            If the file cannot be read.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> mech = Mechanism("empty")
        >>> with TemporaryDirectory() as folder:
        ...     report = mech.save(Path(folder, "empty.json"))
        ...     Mechanism.load(Path(folder, "empty.json")) == mech
        True
        """
        return json_io.load(cls, path)

    @registered
    def draw(self, path: str | PathLike[str] | None = None, state: Any = None) -> Picture:
        """Draw the mechanism at a state of its model, and save the picture if a path is given.

        Parameters
        ----------
        path
            A file .svg, .png or .pdf to write; the last two need matplotlib.
        state
            A `State` of the mechanism as it is now. By default the assembled start; a start that cannot be assembled is
            drawn with open loops, at the start values as they are.

        Returns
        -------
        Picture
            Notebooks show it; `.svg` is its text, and `.save(path)` writes it.

        Raises
        ------
        MechanismError
            If the mechanism cannot be compiled, or the state belongs to another one.
        LinkworkError
            On another suffix, and if the file cannot be written.
        ImportError
            If matplotlib is needed and is not installed.

        Examples
        --------
        >>> from linkwork.mechanism import Revolute, inertia
        >>> mech = Mechanism("pendulum")
        >>> mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
        >>> mech.add_joint("hinge", Revolute(axis=(0, 1, 0)), "ground", "arm", at=(0, 0, 0))
        >>> mech.draw().svg[:4]
        '<svg'
        """
        raise NotImplementedError

    @registered
    def page(self, path: str | PathLike[str], **options: Any) -> Path:
        """Write an HTML page that shows and simulates the mechanism; it opens in any browser, without a network.

        Its parameters and inputs can be changed in the page, and its bodies pulled.

        Parameters
        ----------
        path
            The .html file to write.
        **options
            As of `linkwork.page`, such as `title`, `t_end` and `rtol`.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        MechanismError
            If the mechanism cannot be compiled.
        LinkworkError
            If the viewer has not been built.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> from linkwork.mechanism import Revolute, inertia
        >>> mech = Mechanism("pendulum")
        >>> mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=inertia.rod(2.0, 1.0))
        >>> mech.add_joint("hinge", Revolute(axis=(0, 1, 0)), "ground", "arm", at=(0, 0, 0))
        >>> path = mech.page("pendulum.html", t_end=5.0)  # doctest: +SKIP
        """
        raise NotImplementedError

    @registered
    def _page_part(self, request: Any) -> Any:
        raise NotImplementedError

    @registered
    def _repr_html_(self) -> str | None:
        """Return the page for notebooks; None where there is none."""
        raise NotImplementedError

    def _repr_svg_(self) -> str | None:
        """Return the picture for notebooks; None where there is none."""
        try:
            return self.draw().svg
        except LinkworkError:
            return None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]
