"""What an object contributes to a page, and what may be asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from linkwork.view import payload


@dataclass(frozen=True)
class PageRequest:
    """What a page shall have.

    Attributes
    ----------
    label
        Of a run; None: the name of its mechanism or system.
    columns
        Names or patterns of columns besides the poses; None: those of most interest.
    max_rows
        Most rows of a run; None: as many as keep the page small.
    live
        Whether a run brings the simulator of its mechanism.
    t_end, rtol, atol
        Of the simulator: s, and its tolerances.
    """

    label: str | None = None
    columns: Sequence[str] | None = None
    max_rows: int | None = None
    live: bool = False
    t_end: float | None = None
    rtol: float = 1e-8
    atol: float | None = None


@dataclass(frozen=True)
class PagePart:
    """A scene with a recorded run of it, or with its simulator, or both.

    Attributes
    ----------
    scene
        With the units of all columns that the page knows.
    run, live
        Their `scene` is 0.
    meshes
        That the shapes of the scene name by their number.
    """

    scene: payload.Scene
    run: payload.RecordedRun | None = None
    live: payload.LiveModel | None = None
    meshes: list[Any] = field(default_factory=list)


class Pageable(Protocol):
    """A mechanism, a model or a result."""

    def _page_part(self, request: PageRequest) -> PagePart: ...
