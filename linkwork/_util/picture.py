"""A picture that notebooks show and files hold."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from linkwork._util.files import atomic_path
from linkwork._util.names import suggest
from linkwork._util.registered import registered
from linkwork.errors import LinkworkError

_SCALE = 2.0  # pixels for each unit of the picture
_FORMS = (".svg", ".png", ".pdf")


@dataclass(frozen=True)
class Picture:
    """A picture, as vector graphics."""

    svg: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture as .svg, .png or .pdf; the last two need matplotlib."""
        suffix = Path(path).suffix.lower()
        if suffix not in _FORMS:
            raise LinkworkError(f"a picture cannot be saved as {Path(path).name!r}: {suggest(suffix, _FORMS)}")
        content = self.svg.encode() if suffix == ".svg" else rendered(self.svg, suffix[1:], _SCALE, "white")
        with atomic_path(path, LinkworkError) as part:
            part.write_bytes(content)

    def _repr_svg_(self) -> str:
        return self.svg


@registered
def rendered(svg: str, form: str, scale: float, background: str = "none") -> bytes:
    """Return a picture as the bytes of a file, "png" or "pdf", with so many pixels for each unit of the picture."""
    raise NotImplementedError
