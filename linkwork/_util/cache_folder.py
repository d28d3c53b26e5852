"""Where compiled libraries are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Return the folder: LINKWORK_CACHE of the environment, or one in the user's cache."""
    chosen = os.environ.get("LINKWORK_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData/Local") / "linkwork/cache"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/linkwork"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "linkwork"
