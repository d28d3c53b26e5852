"""Attributes of objects that a user fills: one that is misspelt is an error, since it would have no effect."""

from __future__ import annotations

import inspect
from typing import Any

from linkwork._util.names import suggest


class KnownAttributes:
    """An object that takes values only for the attributes that its class, or a subclass, annotates or defines.

    >>> class Settings(KnownAttributes):
    ...     gain: float
    >>> settings = Settings()
    >>> settings.gain = 2.0
    >>> settings.gian = 2.0
    Traceback (most recent call last):
        ...
    AttributeError: Settings has no attribute 'gian': did you mean 'gain'?
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name) and name not in self.__dict__ and name not in _annotated(type(self)):
            public = [one for one in (*_annotated(type(self)), *dir(type(self))) if not one.startswith("_")]
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}: {suggest(name, public)}")
        super().__setattr__(name, value)


def _annotated(cls: type) -> dict[str, None]:
    return {name: None for one in cls.__mro__ for name in inspect.get_annotations(one)}
