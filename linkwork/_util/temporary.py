"""Temporary folders that go with the objects to which they belong."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from weakref import finalize


class TemporaryFolder:
    """A folder that is removed with the last reference to this object, and at the latest at the end of the process.

    Unlike those of `tempfile` it may live as long as a user likes, without a warning that nobody has closed it.
    """

    def __init__(self, prefix: str, parent: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        finalize(self, shutil.rmtree, self.path, ignore_errors=True)
