"""Linear algebra on one thread.

The matrices of a mechanism are small: threads of BLAS gain nothing, and cost up to ten times where other programs use
the processor, because they wait for one another in loops.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

_Target = TypeVar("_Target", bound=Callable[..., Any])


@functools.cache
def _controller() -> Any:
    import scipy.linalg  # noqa: F401 - brings its own BLAS, which must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def on_one_thread(function: _Target) -> _Target:
    """Decorate a function: BLAS uses one thread while it runs."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with _controller().limit(limits=1, user_api="blas"):
            return function(*args, **kwargs)

    return call  # type: ignore[return-value]
