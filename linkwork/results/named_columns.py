"""What all tables of columns by name share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NoReturn, TypeVar

from numpy.typing import NDArray

_Array = TypeVar("_Array", bound=NDArray[Any])


class NamedColumns(ABC):
    """A table whose columns have names: a loop over it gives these, and ``dict(table)`` all columns by name."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Names of the columns."""

    def keys(self) -> list[str]:
        """Return the names of the columns."""
        return self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __array__(self, *_: object, **__: object) -> NoReturn:
        """Refuse to become an array or a table, which would be one of the names alone."""
        kind = type(self).__name__
        raise TypeError(f"a {kind} is no array: to_dataframe() gives a table, [name] a column, dict() columns by name")


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
