"""Common part of the built-in controllers: each is written as an FMU, or made for a simulation in this process."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

from linkwork._util.keywords import check_keywords, known_arguments
from linkwork._util.names import suggest
from linkwork.controllers.controller import Controller
from linkwork.controllers.native.controller import NativeController
from linkwork.errors import FmuError, FmuNameError, LinkworkError

P = ParamSpec("P")
_Call = TypeVar("_Call", bound=Callable[..., Any])


def _checks_arguments(call: _Call) -> _Call:
    """Decorate the call of a built-in controller: wrong arguments are errors that name the public function."""

    @functools.wraps(call)
    def checked(self: BuiltIn[Any], *args: Any, **kwargs: Any) -> Any:
        signature = inspect.signature(self)
        if not any(one.kind is one.VAR_KEYWORD for one in signature.parameters.values()):
            check_keywords(self.__name__, kwargs, known_arguments(self))
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.__name__}: {error}") from None
        return call(self, *args, **kwargs)

    return checked  # type: ignore[return-value]


def _completed(text: str, further: str) -> str:
    """Return a docstring with the path as its first parameter, and further ones behind the others."""
    summary, title, rest = text.partition("Parameters\n----------\n")
    own, blank, sections = rest.partition("\n\n")
    named, stars, any_others = own.partition("\n**")
    return f"{summary}{title}path\n    Of the FMU.\n{named}{further}{stars}{any_others}{blank}{sections}"


class BuiltIn(Generic[P]):
    """A built-in controller: called with a path it writes the FMU; `controller` makes it for `connect`.

    Parameters
    ----------
    kind
        Its class, in the file that the FMU runs.
    settings
        From the arguments of the user to the settings of the class.
    """

    __name__: str  # of the public function
    _further = ""  # parameters behind those of `settings`, as in a docstring

    def __init__(self, kind: type[Controller], settings: Callable[P, dict[str, Any]]) -> None:
        self._kind = kind
        self._settings = settings
        functools.update_wrapper(self, settings)
        self.__doc__ = _completed(inspect.getdoc(settings) or "", self._further)
        own = inspect.signature(settings)
        path = inspect.Parameter("path", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="str | Path")
        self.__signature__ = own.replace(parameters=[path, *own.parameters.values()], return_annotation="Path")

    @_checks_arguments
    def __call__(self, path: str | Path, *args: P.args, **kwargs: P.kwargs) -> Path:
        """Write the FMU; return its path."""
        from linkwork.controllers.packaging import package

        return package(inspect.getfile(self._kind), path, settings=self._settings(*args, **kwargs))

    def controller(self, *args: P.args, **kwargs: P.kwargs) -> Controller:
        """Return the controller itself, with the same arguments but the path."""
        return made(self._kind, self._settings(*args, **kwargs))


class Native(BuiltIn[P]):
    """A built-in controller whose FMU is made of the C library, with the law of the function's name."""

    _kind: type[NativeController]
    _further = """
fmi
    Version of the standard, ``"2.0"`` or ``"3.0"``.
platforms
    Where it shall run: FMI 3 platform tuples such as ``"x86_64-windows"``. Default: on this platform. Libraries for
    others are compiled when they are first needed."""

    def __init__(self, kind: type[NativeController], settings: Callable[P, dict[str, Any]]) -> None:
        super().__init__(kind, settings)
        path, *own = self.__signature__.parameters.values()
        keyword = inspect.Parameter.KEYWORD_ONLY
        more = [
            inspect.Parameter("fmi", keyword, default="2.0", annotation="str"),
            inspect.Parameter("platforms", keyword, default=None, annotation="Iterable[str] | None"),
        ]
        last = [one for one in own if one.kind is one.VAR_KEYWORD]
        listed = [path, *(one for one in own if one not in last), *more, *last]
        self.__signature__ = self.__signature__.replace(parameters=listed)

    @_checks_arguments
    def __call__(  # type: ignore[override]  # a ParamSpec takes no further keywords
        self,
        path: str | Path,
        *args: Any,
        fmi: str = "2.0",
        platforms: Iterable[str] | None = None,
        **kwargs: Any,
    ) -> Path:
        """Write the FMU; return its path."""
        from linkwork.controllers.native.fmu import write_controller

        settings = self._settings(*args, **kwargs)
        try:
            controller = made(self._kind, settings)
        except LinkworkError:
            raise
        except Exception as error:  # settings may be anything
            raise FmuError(f"{self.__name__} cannot be made: {type(error).__name__}: {error}") from error
        return write_controller(controller, path, fmi, platforms)


def built_in(kind: type[Controller]) -> Callable[[Callable[P, dict[str, Any]]], BuiltIn[P]]:
    """Decorate the function that makes the settings of a class out of the arguments of the user."""
    return lambda settings: BuiltIn(kind, settings)


def native(kind: type[NativeController]) -> Callable[[Callable[P, dict[str, Any]]], Native[P]]:
    """Decorate likewise where the law is in C."""
    return lambda settings: Native(kind, settings)


_Kind = TypeVar("_Kind", bound=Controller)


def made(kind: type[_Kind], settings: Mapping[str, Any]) -> _Kind:
    """Return an instance with settings, as an FMU would make it."""
    found = kind(instance_name=kind.__name__, settings=json.loads(json.dumps(dict(settings))))
    unknown = [name for name in found.settings if name not in found.settings_read]
    if unknown:
        raise FmuNameError(f"{kind.__name__} has no setting {unknown[0]!r}; {suggest(unknown[0], found.settings_read)}")
    return found
