"""The base class of built-in controllers that are written in C: the class declares their variables."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from linkwork.controllers.controller import Controller
from linkwork.controllers.native.file import controller_bytes
from linkwork.controllers.native.interface import Structure, interface_of
from linkwork.core.controllers import Law


class NativeController(Controller):
    """A controller whose law is in C, in FMUs and in this process."""

    law: ClassVar[str]  # its file in ``fmu_src/controllers``, the name of its function and of its library
    depends_on_time: ClassVar[bool] = False  # whether its outputs depend on time directly
    unsaved = ("_law", "_names")

    def structure(self) -> Structure:
        """Return sizes and numbers for the C file; the variables come from their declarations."""
        return Structure()

    def file(self) -> bytes:
        """Return ``resources/model.lwm`` of its FMU; the variables have their present values at the start."""
        return controller_bytes(self.law, self.structure(), interface_of(self, self.depends_on_time))

    @property
    def remembers(self) -> bool:
        """Return whether the law has a state."""
        return self._law.has_state

    def check(self) -> None:
        """Refuse parameters that the law cannot take."""
        self._enter()
        self._law.check()

    def outputs(self, t: float) -> None:
        """Set the outputs by the law."""
        self._enter()
        self._law.outputs(t)
        for k in self._computed:
            name = self._names[k]
            self[name] = type(self[name])(self._law.values[k])

    def update(self, t: float, dt: float) -> None:
        """Bring the state of the law over a step, with the values that `outputs` had."""
        self._law.update(t, dt)

    @cached_property
    def _law(self) -> Law:
        return Law(self.file())

    @cached_property
    def _names(self) -> list[str]:
        return [variable.name for variable in self.vars.values()]

    def _enter(self) -> None:
        self._law.values[:] = [self[name] for name in self._names]
