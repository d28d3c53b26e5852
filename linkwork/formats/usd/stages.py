"""USD stages: opened only where every file they are composed of lies in the folder of the first."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linkwork._util.checks import shortened
from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError
from linkwork.formats.report import Report
from linkwork.formats.visuals import REMEDY

MAX_BYTES = 64_000_000
MAX_DEPTH = 200
MAX_LAYERS = 500
MAX_PRIMS = 300_000

_TEXT = b"#usda"
_STRINGS = re.compile(rb'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*', re.DOTALL)


def open_stage(path: Path, report: Report, root: Path | None = None) -> Any:
    """Open a USD file.

    Parameters
    ----------
    path
        The file. Layers that it names are sublayers, references and payloads; those that are missing are reported.
    report
        Gets an entry for each missing layer.
    root
        In which they must lie, or in a folder in it; None: the folder of the file.

    Returns
    -------
    Usd.Stage
        At its default time, with all payloads loaded.
    """
    with optional_import("USD files", "usd-core", "usd"):
        from pxr import Usd
    if path.suffix == ".usdz":
        raise MechanismError(
            f"{path}: packages .usdz are not opened: unpack it, it is a ZIP file, and read its .usd file"
        )
    with path.open("rb"):
        pass  # an OSError names the file, where USD would only say that it did not open
    with usd_errors(path):
        _check_layers(path.resolve(), report, root)
        stage = Usd.Stage.Open(str(path.resolve()))
    if stage is None:
        raise MechanismError(f"{path}: USD cannot open it")
    return stage


@contextmanager
def usd_errors(path: Path) -> Iterator[None]:
    """Raise errors of USD as MechanismError, with the name of the file."""
    from pxr import Tf

    try:
        yield
    except Tf.ErrorException as error:
        raise MechanismError(f"{path}: no USD file: {_reason(error)}") from None


def _check_layers(first: Path, report: Report, root: Path | None) -> None:
    """Follow the names of layers, composing nothing, and refuse what is not in the folder."""
    from pxr import Ar, Sdf

    folder, resolver = first.parent if root is None else root.resolve(), Ar.GetResolver()
    seen, waiting = {first}, [first]
    composed = 0
    while waiting:
        file = waiting.pop()
        _check_text(file)
        layer = Sdf.Layer.FindOrOpen(str(file))
        if layer is None:
            raise MechanismError(f"{file}: USD cannot open it")
        composed += _count_arcs(layer)
        if composed > MAX_PRIMS:
            raise MechanismError(f"{file}: more than {MAX_PRIMS} references, which no robot needs")
        for asset in sorted(layer.GetCompositionAssetDependencies()):
            if not asset:
                continue
            where = f"{file}: the layer {shortened(asset)}"
            name, arguments = Sdf.Layer.SplitIdentifier(asset)
            if "://" in name or arguments or "[" in name:
                raise MechanismError(f"{where} is not opened: put a file of its own into {folder}, and name that")
            found = resolver.Resolve(resolver.CreateIdentifier(name, layer.resolvedPath)).GetPathString()
            place = Path(found or file.parent / name).resolve()
            if not place.is_relative_to(folder):
                raise MechanismError(f"{where} lies outside {folder}, and no other files are opened: {REMEDY}")
            if not found:
                report.left_out(f"layer {asset!r}", f"there is no such file in {folder}; what it describes is missing")
            elif place not in seen:
                seen.add(place)
                waiting.append(place)
                if len(seen) > MAX_LAYERS:
                    raise MechanismError(f"{first}: more than {MAX_LAYERS} layers, which no robot needs")


def _check_text(file: Path) -> None:
    """Refuse files that are too large, and texts nested so deep that the parser would not come back."""
    size = file.stat().st_size
    if size > MAX_BYTES:
        raise MechanismError(f"{file}: {size / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB are read")
    with file.open("rb") as stream:
        if stream.read(len(_TEXT)) != _TEXT:
            return
        text = _STRINGS.sub(b"", stream.read())
    depth = deepest = 0
    for bracket in re.findall(rb"[\[({})\]]", text):
        depth += 1 if bracket in b"[({" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise MechanismError(f"{file}: nested in more than {MAX_DEPTH} levels, which no robot needs")


def _count_arcs(layer: Any) -> int:
    """Count the prims that a layer composes from its own ones: references to itself multiply them."""
    from pxr import Sdf

    arcs: dict[str, list[str]] = {}

    def visit(path: Any) -> None:
        if not path.IsPrimPath() and not path.IsPrimVariantSelectionPath():
            return
        spec = layer.GetPrimAtPath(path)
        if spec is None:
            return
        targets = [child.path for child in spec.nameChildren]
        for listed in (spec.referenceList, spec.payloadList):
            items = [*listed.prependedItems, *listed.appendedItems, *listed.addedItems, *listed.explicitItems]
            targets += [
                item.primPath or layer.GetPrimAtPath(Sdf.Path.absoluteRootPath.AppendChild(layer.defaultPrim)).path
                for item in items
                if not item.assetPath and (item.primPath or layer.defaultPrim)
            ]
        for listed in (spec.inheritPathList, spec.specializesList):
            targets += [*listed.prependedItems, *listed.appendedItems, *listed.addedItems, *listed.explicitItems]
        arcs[str(path)] = [str(target) for target in targets]

    layer.Traverse(Sdf.Path.absoluteRootPath, visit)
    return _expanded(arcs)


def _expanded(arcs: dict[str, list[str]]) -> int:
    """Return how many prims there are when every arc brings a copy of its target; circles end at themselves."""
    sizes: dict[str, int] = {}
    for start in arcs:
        stack = [(start, False)]
        on_way: set[str] = set()
        while stack:
            name, done = stack.pop()
            if done:
                on_way.discard(name)
                sizes[name] = min(MAX_PRIMS + 1, 1 + sum(sizes.get(target, 1) for target in arcs.get(name, ())))
            elif name not in sizes and name not in on_way:
                on_way.add(name)
                stack.append((name, True))
                stack += [(target, False) for target in arcs.get(name, ()) if target not in sizes]
    return max(sizes.values(), default=0)


def _reason(error: Exception) -> str:
    """Return the text of an error of USD without the places in its source."""
    found = re.findall(r": '(.*?)'\s*(?:$|\n)", str(error), re.DOTALL)
    return shortened(found[0] if found else str(error).strip())
