"""Optional packages: where one is missing, the error names the extra that installs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def optional_import(
    purpose: str,  # what needs the package, in the plural: "plots"
    package: str,  # the package's name for the reader: "matplotlib"
    extra: str,  # the extra of Linkwork that installs it: "viz"
) -> Iterator[None]:
    """Import an optional package inside this context.

    Examples
    --------
    >>> with optional_import("plots", "nonesuch", "viz"):
    ...     import nonesuch
    Traceback (most recent call last):
        ...
    ImportError: plots need nonesuch: pip install 'linkwork[viz]'
    """
    try:
        yield
    except ImportError as missing:
        raise ImportError(
            f"{purpose} need {package}: pip install 'linkwork[{extra}]'", name=missing.name, path=missing.path
        ) from missing
