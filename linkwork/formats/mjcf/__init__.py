"""Robots in MuJoCo's format MJCF, read through MuJoCo's own compiler.

MuJoCo resolves defaults, classes, includes, attached models and inertias of shapes; `read` takes the compiled model.
The file is checked before (`scan`), as a C library parses it, and shapes without a part in the inertia are dropped
before it is compiled (`compiled`), so that missing mesh files do not matter.
"""

from linkwork.formats.mjcf.reader import read
from linkwork.formats.mjcf.writer import write

__all__ = ["read", "write"]
