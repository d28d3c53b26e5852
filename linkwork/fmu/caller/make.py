"""The class of the FMU's version."""

from __future__ import annotations

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.description import Description


def instance_class(description: Description) -> type[FmuInstance]:
    """Return the class whose objects call FMUs of the version of this one; their libraries are not loaded yet."""
    from linkwork.fmu.caller.fmi2 import Fmi2Instance
    from linkwork.fmu.caller.fmi3 import Fmi3Instance

    return Fmi3Instance if description.fmi3 else Fmi2Instance
