"""Makes instances of the FMU's version."""

from __future__ import annotations

from collections.abc import MutableSequence

from linkwork.fmu.caller.instance import FmuInstance


def make_instance(
    version: str,
    name: str,
    messages: MutableSequence[str],
    *,
    least: int = 1,
    traced: bool = False,
    plain: bool = False,
) -> FmuInstance:
    """Make an instance; its library is not loaded yet.

    Parameters
    ----------
    version
        Of FMI: begins with ``"2."`` or ``"3."``.
    name
        Its own name.
    messages
        Takes what it logs.
    least
        The lowest status of a message that is kept.
    traced
        All calls pass through FMPy's methods, so that the traceback of a crash names the function.
    plain
        Messages of FMI 2.0 have no arguments, and a percent sign is part of the text.
    """
    if version.startswith("3"):
        from linkwork.fmu.caller.fmi3 import Fmi3Instance

        return Fmi3Instance(name, messages, least=least, traced=traced)
    from linkwork.fmu.caller.fmi2 import Fmi2Instance

    return Fmi2Instance(name, messages, least=least, traced=traced, plain=plain)
