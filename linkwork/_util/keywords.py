"""Keyword arguments of the public face: an unknown one is an error that names the nearest known one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from linkwork._util.names import suggest
from linkwork._util.synonyms import SYNONYMS

_Target = TypeVar("_Target", bound=Callable[..., Any])


def checks_keywords(target: _Target) -> _Target:
    """Decorate a public function or class: unknown keyword arguments are refused before the call (of its constructor).

    Examples
    --------
    >>> @checks_keywords
    ... def spring(stiffness: float, damping: float = 0.0) -> float:
    ...     return stiffness
    >>> spring(stiffnes=3.0)
    Traceback (most recent call last):
        ...
    TypeError: spring has no argument 'stiffnes': did you mean 'stiffness'?
    >>> spring(k=3.0)
    Traceback (most recent call last):
        ...
    TypeError: spring has no argument 'k': did you mean 'stiffness'?
    """
    if isinstance(target, type):
        made_by = "__new__" if "__new__" in vars(target) else "__init__"
        setattr(target, made_by, _checked(getattr(target, made_by), target.__name__))
        return target
    checked: _Target = _checked(target, target.__name__)  # type: ignore[assignment]
    return checked


def checks_keywords_with(other: Callable[..., Any]) -> Callable[[_Target], _Target]:
    """Decorate a function that passes further keyword arguments on: those that neither of the two knows are refused.

    >>> @checks_keywords
    ... def spring(stiffness: float, damping: float = 0.0) -> float:
    ...     return stiffness
    >>> @checks_keywords_with(spring)
    ... def springs(count: int, **options: float) -> float:
    ...     return count * spring(**options)
    >>> springs(2, stiffness=3.0)
    6.0
    >>> springs(2, stiffnes=3.0)
    Traceback (most recent call last):
        ...
    TypeError: springs has no argument 'stiffnes': did you mean 'stiffness'?
    """

    def decorate(target: _Target) -> _Target:
        checked: _Target = _checked(target, target.__name__, known_arguments(other))  # type: ignore[assignment]
        return checked

    return decorate


def known_arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the arguments that a function takes by name.

    >>> known_arguments(lambda t, *rest, gain=1.0, **more: t)
    ('t', 'gain')
    """
    parameters = inspect.signature(function).parameters.values()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(one.name for one in parameters if one.kind in by_name and one.name not in ("self", "cls"))


def _checked(function: Callable[..., Any], name: str, more: Sequence[str] = ()) -> Callable[..., Any]:
    known = tuple(dict.fromkeys((*known_arguments(function), *more)))
    quick = frozenset(known)

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not quick.issuperset(kwargs):
            check_keywords(name, kwargs, known)
        return function(*args, **kwargs)

    return call


def check_keywords(function: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse keyword arguments that a function does not know.

    >>> check_keywords("simulate", ["rtol", "t_final"], ["t_end", "rtol"])
    Traceback (most recent call last):
        ...
    TypeError: simulate has no argument 't_final': did you mean 't_end'?
    """
    for name in given:
        if name not in known:
            meant = [other for other in SYNONYMS.get(name.lower(), ()) if other in known]
            hint = f"did you mean {' or '.join(map(repr, meant))}?" if meant else suggest(name, known)
            raise TypeError(f"{function} has no argument {name!r}: {hint}")
