"""Systems as users have them: read from a file, saved, drawn."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork._util.keywords import checks_keywords
from linkwork._util.registered import registered
from linkwork.cosim.system.definition import SystemDefinition

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@checks_keywords
class System(SystemDefinition):
    """FMUs and the connections between them.

    Parameters
    ----------
    name
        Of the system.
    description
        A text for the reader.

    Examples
    --------
    >>> system = System("car")
    >>> _ = system.add("plant", "quarter_car.fmu", parameters={"strut.damping": 900.0})
    >>> _ = system.add("skyhook", "skyhook.fmu")
    >>> _ = system.connect("plant.body.v", "skyhook.body_speed")
    >>> _ = system.connect("skyhook.force", "plant.strut.tau")
    >>> list(system.components), len(system.connections)
    (['plant', 'skyhook'], 2)
    """

    @checks_keywords
    def save(self, path: str | os.PathLike[str], *, version: str | None = None, step: float | None = None) -> Path:
        """Write the system with its FMUs as an SSP archive (``.ssp``), which OMSimulator opens as well.

        Parameters
        ----------
        path
            The archive.
        version
            The version of SSP, ``"1.0"`` or ``"2.0"``. None: 2.0 if a connected variable or a parameter is an array or
            of a type that SSP 1.0 does not have, such as Float32 or Int64; otherwise 1.0.
        step
            The communication step that OMSimulator takes [s]; None: that of `run` by default.

        Examples
        --------
        >>> import linkwork as lw
        >>> from tempfile import TemporaryDirectory
        >>> from linkwork.cosim import System
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> with TemporaryDirectory() as folder:
        ...     fmu = lw.export_fmu(mech, f"{folder}/pendulum.fmu", outputs=["A.q"])
        ...     system = System("two")
        ...     left, right = system.add("left", fmu), system.add("right", fmu)
        ...     path = system.save(f"{folder}/two.ssp")
        ...     list(System.load(path).components)
        ['left', 'right']
        """
        from linkwork.cosim.ssp.write import write_ssp

        return write_ssp(self, Path(path), version, step)

    @registered
    def draw(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw boxes for the components and arrows for the connections, and save the picture if a path is given.

        Parameters
        ----------
        path
            The picture, in a format that its suffix names and matplotlib has; None: it is not saved.
        """
        raise NotImplementedError

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> System:
        """Read an archive of SSP 1.0 or 2.0, or take a single FMU as a system of one component.

        Parameters
        ----------
        path
            An ``.ssp``, or an ``.fmu``.

        Returns
        -------
        System
            The system; FMUs of an archive are unpacked for as long as it lives.
        """
        path = Path(path)
        if path.suffix.lower() == ".fmu":
            system = cls(path.stem)
            system.add(path.stem.replace(" ", "_"), path)
            return system
        from linkwork.cosim.ssp.contents import read_into

        system = cls("")
        read_into(system, path)
        return system
