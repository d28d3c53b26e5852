"""The base class of built-in controllers that have a C file: the class is its reference and declares its variables."""

from __future__ import annotations

from typing import ClassVar

from linkwork.controllers.controller import Controller
from linkwork.controllers.native.structure import Structure


class NativeController(Controller):
    """A controller whose FMU runs the law of ``fmu_src/controllers``, which gives the same bits as the class.

    Attributes
    ----------
    depends_on_time
        Whether its outputs depend on time directly.
    """

    depends_on_time: ClassVar[bool] = False

    def structure(self) -> Structure:
        """Return sizes and numbers for the C file; the variables come from their declarations."""
        return Structure()
