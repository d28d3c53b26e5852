# cffi objects have no types of their own; linkwork.core.native gives the core a typed face.
from typing import Any

ffi: Any
lib: Any
