"""The version of the installed package."""

from functools import cache


@cache
def version() -> str:
    """Return it; "0" in a checkout that was never installed."""
    from importlib import metadata

    try:
        return metadata.version("linkwork")
    except metadata.PackageNotFoundError:
        return "0"
