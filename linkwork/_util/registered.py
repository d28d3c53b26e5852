"""Methods that are declared where users find them and implemented in a folder above.

Results and models have `.plot`, `.draw` and `.page` but know no pictures: the class declares the method with its
signature and documentation, and the folder that draws names the function that does it in its dictionary `IMPLEMENTS`.
`linkwork/__init__.py` names these folders. A function is imported when it is called.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from inspect import Signature

_Declared = TypeVar("_Declared", bound=Callable[..., Any])

_folders: list[str] = []


def implemented_in(*folders: str) -> None:
    """Name the folders, by their dotted names, whose dictionaries `IMPLEMENTS` have the functions."""
    _folders.extend(folders)


def registered(declared: _Declared) -> _Declared:
    """Decorate a method or function that a folder above implements.

    The function gets all arguments, those left out with the defaults of the declaration, which alone states them. The
    body of the declaration is `raise NotImplementedError`; it is never reached.

    Raises
    ------
    NotImplementedError
        On a call, if no folder implements it.

    Examples
    --------
    >>> from linkwork.results.in_time import TimeResult
    >>> implementation("linkwork.results.in_time.TimeResult.plot")
    'linkwork.draw.result_plot.plot_result'
    >>> TimeResult.plot.__doc__.splitlines()[0]
    'Plot columns over time, a panel for each unit and magnitude; events are thin lines.'
    """
    place = f"{declared.__module__}.{declared.__qualname__}"

    @functools.wraps(declared)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            given = _signature(declared).bind(*args, **kwargs)
        except TypeError:
            declared(*args, **kwargs)  # raises the same with the name of the method
            raise
        given.apply_defaults()
        module, _, name = implementation(place).rpartition(".")
        return getattr(import_module(module), name)(*given.args, **given.kwargs)

    return call  # type: ignore[return-value]


@functools.cache
def _signature(declared: Callable[..., Any]) -> Signature:
    from inspect import signature  # slow to import, and needed on a call alone

    return signature(declared)


def implementation(place: str) -> str:
    """Return the dotted name of the function that implements a declaration, by its dotted name."""
    found = implementations().get(place)
    if found is None:
        folders = ", ".join(_folders) or "no folder"
        raise NotImplementedError(f"nothing implements {place}: its function is missing in IMPLEMENTS of {folders}")
    return found


@functools.cache
def implementations() -> dict[str, str]:
    """Return all functions by what they implement."""
    tables: list[dict[str, str]] = [import_module(folder).IMPLEMENTS for folder in _folders]
    return {place: function for table in tables for place, function in table.items()}
