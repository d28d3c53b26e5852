"""Systems as users have them: read from a file, saved, drawn."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from linkwork._util.keywords import checks_keywords
from linkwork.cosim.system.definition import SystemDefinition

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@checks_keywords
class System(SystemDefinition):
    """FMUs and the connections between them.

    >>> system = System("car")
    >>> _ = system.add("plant", "quarter_car.fmu", parameters={"strut.c": 900.0})
    >>> _ = system.add("skyhook", "skyhook.fmu")
    >>> _ = system.connect("plant.body.v", "skyhook.body_speed")
    >>> _ = system.connect("skyhook.force", "plant.strut.tau")
    >>> list(system.components), len(system.connections)
    (['plant', 'skyhook'], 2)
    """

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the system with its FMUs as an SSP 1.0 archive (``.ssp``).

        Raises
        ------
        CosimError
            If an FMU cannot be read or the file not be written.
        """
        from linkwork.cosim.ssp.write import write_ssp

        return write_ssp(self, Path(path))

    def draw(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Draw boxes for the components and arrows for the connections, and save the picture if a path is given.

        Raises
        ------
        CosimError
            If there is nothing to draw.
        """
        from linkwork.draw.block_diagram import draw_system

        return draw_system(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> System:
        """Read an SSP 1.0 archive, or take a single FMU as a system of one component.

        Raises
        ------
        CosimError
            If it cannot be read, or has features that are not supported.
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
