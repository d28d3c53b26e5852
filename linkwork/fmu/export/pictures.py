"""What an FMU carries to look at. The folders that draw implement it: they know mechanisms and no FMUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork._util.registered import registered

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.model import Model

MOST_BODIES = 500  # that a picture shows


@registered
def picture(system: ModelBase, most: int = MOST_BODIES) -> str | None:
    """Return an `svg` element with names, axes and a scale; None where the start cannot be assembled."""
    raise NotImplementedError


@registered
def icon(system: ModelBase) -> str | None:
    """Return the same in a square, without words."""
    raise NotImplementedError


@registered
def icon_pixels(svg: str, width: int) -> bytes:
    """Return a square picture as PNG, so many pixels wide. Needs matplotlib."""
    raise NotImplementedError


@registered
def live_page(model: Model, t_end: float, rtol: float) -> str:
    """Return the HTML page that simulates a model."""
    raise NotImplementedError


@registered
def scene(model: Model) -> bytes | None:
    """Return the scene file of a model; None: it has too many bodies. The same model always gives the same bytes."""
    raise NotImplementedError
