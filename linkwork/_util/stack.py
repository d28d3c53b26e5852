"""Where the package was called from."""

from __future__ import annotations

import sys

_PACKAGE = __name__.partition(".")[0]


def levels_of_package() -> int:
    """Return the number of frames up to the first one outside the package, as `warnings.warn` counts them."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    return level
