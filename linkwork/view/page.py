"""Pages: one offline HTML file with a 3-D scene, plots and, for a mechanism, the simulator."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast, overload

from linkwork._util.checks import length, number, positive, shortened, whole_number
from linkwork._util.files import atomic_path
from linkwork._util.keywords import checks_keywords
from linkwork.errors import LinkworkError, MechanismError
from linkwork.view import payload
from linkwork.view.document import CORE, asset, document, payload_of
from linkwork.view.part import Pageable, PagePart, PageRequest


class PageOptions(TypedDict, total=False):
    """Options of `page`."""

    title: str | None
    labels: Sequence[str] | None
    columns: str | Iterable[str] | None
    max_rows: int | None
    live: bool
    t_end: float | None
    rtol: float
    atol: float | None


@overload
def page(
    shown: Pageable | Sequence[Pageable], path: str | os.PathLike[str], **options: Unpack[PageOptions]
) -> Path: ...
@overload
def page(shown: Pageable | Sequence[Pageable], path: None = None, **options: Unpack[PageOptions]) -> str: ...
@checks_keywords
def page(
    shown: Pageable | Sequence[Pageable],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    labels: Sequence[str] | None = None,
    columns: str | Iterable[str] | None = None,
    max_rows: int | None = None,
    live: bool = False,
    t_end: float | None = None,
    rtol: float = 1e-8,
    atol: float | None = None,
) -> Path | str:
    """Write mechanisms and results as a page: one HTML file that opens in any browser, without a network.

    A result becomes a recorded run, with a 3-D scene and plots of its columns. Several results are overlaid. A
    mechanism brings its simulator: the page runs it, its parameters and inputs can be changed, and its bodies pulled.

    Parameters
    ----------
    shown
        A result of `simulate` or of `cosim.run`, a mechanism, a model, or several of them, of which at most one is a
        mechanism or model.
    path
        The .html file to write; a file that is there is replaced. None: the text is returned.
    title
        Title of the page; by default the name of the mechanism.
    labels
        A label for each of several results; by default their names, numbered where they are alike.
    columns
        Names or patterns such as ``*.q`` of the columns of results that can be plotted; poses are always there. By
        default all but derivatives, velocities of bodies and points, and impulses.
    max_rows
        Most rows of a run; rows are left out evenly, those at events stay, and the page reports it. By default as many
        as make about 0.5 MB, at most 5000.
    live
        Whether the first result brings the simulator of its mechanism, with its parameters and first state. Inputs are
        zero until they are changed in the page.
    t_end
        End of the run that the page simulates, s; by default that of the result, or 10.
    rtol, atol
        Accuracy of the simulator, as of `simulate`.
    """
    if path is not None:
        _check_path(Path(path))
    chosen = [columns] if isinstance(columns, str) else None if columns is None else list(columns)
    end = None if t_end is None else positive(t_end, "t_end", " s: a page simulates from 0 s on")
    rows = None if max_rows is None else whole_number(max_rows, "max_rows", 2)
    request = PageRequest(None, chosen, rows, bool(live), end, *_tolerances(rtol, atol))
    text = document(_payload(_objects(shown), title, labels, request))
    if path is None:
        return text
    with atomic_path(path) as part:
        part.write_text(text, encoding="utf-8", newline="\n")
    return Path(path)


def page_of(shown: Pageable, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write the page of a model; see `Model.page`."""
    return page(shown, path, **options)


def page_of_result(
    result: Pageable, path: str | os.PathLike[str], columns: str | Iterable[str] | None = None, **options: Any
) -> Path:
    """Write the page of a result; see `TimeResult.page`."""
    return page(result, path, columns=columns, **options)


def _check_path(path: Path) -> None:
    if path.suffix.lower() != ".html" and not os.path.isdir(path):
        raise LinkworkError(f"{path}: a page is an .html file")


def _objects(shown: Any) -> list[Pageable]:
    found = list(shown) if isinstance(shown, list | tuple) else [shown]
    for one in found:
        if not hasattr(one, "_page_part") or isinstance(one, type):
            raise MechanismError(f"page takes results, mechanisms and models, not {one!r:.80}")
    if not found:
        raise MechanismError("page: there is nothing to show; give a result or a mechanism")
    return cast("list[Pageable]", found)


def _payload(
    shown: Sequence[Pageable], title: str | None, labels: Sequence[str] | None, request: PageRequest
) -> payload.Payload:
    names = _labels(shown, labels)
    requests = (replace(request, label=label, live=request.live and k == 0) for k, label in enumerate(names))
    parts = [one._page_part(asked) for one, asked in zip(shown, requests, strict=True)]
    lives = [part for part in parts if part.live is not None]
    if len(lives) > 1:
        raise MechanismError(f"a page simulates one mechanism, not {len(lives)}: give results of the others")
    data = payload_of(parts[0].scene["name"] if title is None else str(title))
    for part in parts:
        _add(data, part)
    if labels is None:
        _number_labels(data["runs"])
    if data["live"] is not None or any(scene["model"] for scene in data["scenes"]):
        data["core"] = asset(CORE)
    if request.columns is not None and not data["runs"]:
        raise MechanismError("columns are chosen of results; the simulator in a page has all: leave columns out")
    return data


def _add(data: payload.Payload, part: PagePart) -> None:
    """Add a part; a scene that is there already is shared."""
    scene = _scene_number(data, part)
    if part.run is not None:
        data["runs"].append({**part.run, "scene": scene})
    if part.live is not None:
        data["live"] = {**part.live, "scene": scene}


def _scene_number(data: payload.Payload, part: PagePart) -> int:
    scene = _renumbered(part.scene, [_mesh_number(data["meshes"], mesh) for mesh in part.meshes])
    for k, known in enumerate(data["scenes"]):
        if _drawn_in(known) == _drawn_in(scene):
            known["units"] |= scene["units"]
            known["model"] = known["model"] or scene["model"]
            return k
    data["scenes"].append(scene)
    return len(data["scenes"]) - 1


def _drawn_in(scene: payload.Scene) -> dict[str, Any]:
    """Return a scene without the units and the model that runs of one mechanism add to it."""
    return {**scene, "units": None, "model": None}


def _mesh_number(meshes: list[Any], mesh: Any) -> int:
    """Return the number of a mesh of the page, which is added if it is not there."""
    if mesh not in meshes:
        meshes.append(mesh)
    return meshes.index(mesh)


def _renumbered(scene: payload.Scene, numbers: Sequence[int]) -> payload.Scene:
    """Return a scene whose shapes name the meshes of the page, `numbers`, instead of those of their part."""

    def shapes(of: list[Any]) -> list[Any]:
        return [{**one, "mesh": numbers[one["mesh"]]} if one["type"] == "mesh" else one for one in of]

    bodies: list[payload.Body] = [{**body, "shapes": shapes(body["shapes"])} for body in scene["bodies"]]
    return {**scene, "bodies": bodies, "groundShapes": shapes(scene["groundShapes"])}


def _labels(shown: Sequence[Pageable], labels: Sequence[str] | None) -> Sequence[str | None]:
    if labels is None:
        return [None] * len(shown)
    found = [labels] if isinstance(labels, str) else labels
    if length(found) != len(shown) or not all(isinstance(one, str) for one in found):
        raise MechanismError(f"labels must be a list of {len(shown)}, a text for each object, not {shortened(labels)}")
    return list(found)


def _number_labels(runs: Sequence[payload.RecordedRun]) -> None:
    """Number the labels of runs that are alike."""
    labels = [run["label"] for run in runs]
    for k, (run, label) in enumerate(zip(runs, labels, strict=True)):
        if labels.count(label) > 1:
            run["label"] = f"{label} {labels[: k + 1].count(label)}"


def _tolerances(rtol: float, atol: float | None) -> tuple[float, float | None]:
    found = number(rtol, "rtol"), None if atol is None else number(atol, "atol")
    if not found[0] > 0.0 or not (found[1] is None or found[1] >= 0.0):
        raise LinkworkError(f"rtol must be positive and atol not negative, not {rtol!r} and {atol!r}")
    return found
