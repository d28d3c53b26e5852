"""Objects whose content is found by name, as in a dictionary: ``thing["A.q"]``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from typing import Any, Generic, NoReturn, TypeVar

from numpy.typing import NDArray

_Array = TypeVar("_Array", bound=NDArray[Any])
Name = TypeVar("Name")


class Named(ABC, Generic[Name]):
    """An object with content by name: a loop over it gives the names, and ``dict(thing)`` all of it by name.

    >>> class Pose(NamedValues[str]):
    ...     names = ["A.q", "B.q"]
    ...     def __getitem__(self, name):
    ...         return 0.5
    >>> "A.q" in Pose(), "C.q" in Pose(), len(Pose()), dict(Pose())
    (True, False, 2, {'A.q': 0.5, 'B.q': 0.5})
    """

    __slots__ = ()

    @property
    @abstractmethod
    def names(self) -> list[Name]:
        """The names that a loop gives."""

    @abstractmethod
    def __getitem__(self, name: Any) -> Any: ...

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    def _known(self) -> Collection[Name]:
        """All names that are found: those of a loop, and others for the same numbers."""
        return self.names

    def keys(self) -> list[Name]:
        """Return the names that a loop gives."""
        return list(self.names)

    def __iter__(self) -> Iterator[Name]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str | tuple) and name in self._known

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse to become an array or a table, which would be one of the names alone."""
        table = "to_dataframe() gives a table, " if hasattr(self, "to_dataframe") else ""
        raise TypeError(f"a {type(self).__name__} is no array: {table}[name] one value or column, dict() all by name")


class NamedValues(Named[Name]):
    """Values by name; there are as many as names."""

    __slots__ = ()

    def __len__(self) -> int:
        """Return the number of names."""
        return len(self.names)


class NamedColumns(Named[str]):
    """A table whose columns have names; its length is the number of rows."""

    __slots__ = ()


def read_only(values: _Array) -> _Array:
    """Return an array whose elements cannot be set: a value set in a column that is computed would be lost.

    >>> import numpy as np
    >>> read_only(np.zeros(2))[0] = 1.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    view = values.view()
    view.setflags(write=False)
    return view
