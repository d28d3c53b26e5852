"""Random networks of linear blocks, and the same as systems of FMUs."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.cosim import System

from .dense_network import Dense, Link
from .linear_fmus import TEMPERATURES, Block, N

_made = tempfile.TemporaryDirectory(prefix="networks_")
_models: dict[Path, Any] = {}  # FMUs that are unpacked already


def random_block(rng: np.random.Generator, feedthrough: float = 0.4, **options: Any) -> Block:
    """A block that does not grow; `feedthrough` is the share of outputs by inputs that are direct."""
    nx, nu, ny = rng.integers(0, N + 1), rng.integers(1, N + 1), rng.integers(1, N + 1)
    A = rng.normal(size=(nx, nx))
    A -= (np.linalg.eigvals(A).real.max(initial=0.0) + 0.2) * np.eye(nx)
    if options.get("discrete"):
        A /= 1.0 + np.abs(A).sum()
    D = rng.normal(size=(ny, nu)) * (rng.random((ny, nu)) < feedthrough)
    units = [[str(rng.choice([*TEMPERATURES])) for _ in range(n)] for n in (nu, ny)]
    B, C = rng.normal(size=(nx, nu)), rng.normal(size=(ny, nx))
    return Block(A, B, C, D, rng.normal(size=nx), rng.normal(size=nu), u_units=units[0], y_units=units[1], **options)


def random_network(
    rng: np.random.Generator, *, feedthrough: float = 0.4, plain: bool = False, external: bool = True, **options: Any
) -> Dense:
    """Blocks of all kinds, each input perhaps connected; its algebraic loops have a solution that is well-conditioned.

    `plain`: neither units nor factors nor offsets; `options` are those of all blocks.
    """
    while True:
        blocks = [random_block(rng, feedthrough, **(_kind(rng) | options)) for _ in range(rng.integers(1, 5))]
        links, free = [], {}
        for k, block in enumerate(blocks):
            for j in range(block.sizes[1]):
                if rng.random() < 0.75:
                    links.append(_link(rng, blocks, k, j, plain))
                elif external and rng.random() < 0.5:
                    free[k, j] = functools.partial(_wave, *rng.normal(size=3))
        dense = Dense(blocks, links, free)
        if np.linalg.cond(np.eye(len(dense.l)) - dense.L @ dense.D) < 100.0:
            return dense


def _kind(rng: np.random.Generator) -> dict[str, Any]:
    version = str(rng.choice(["2.0", "3.0"]))
    return {
        "version": version,
        "discrete": bool(rng.random() < 0.2),
        "interpolates": version == "2.0" and bool(rng.random() < 0.7),
        "directional": bool(rng.random() < 0.5),
        "told": str(rng.choice(["exact", "all", "nothing"])),
    }


def _link(rng: np.random.Generator, blocks: Sequence[Block], target: int, j: int, plain: bool) -> Link:
    source = int(rng.integers(len(blocks)))
    i = int(rng.integers(blocks[source].sizes[2]))
    if plain:
        return Link(source, i, target, j, convert=False)
    # Offsets between units are large: with a factor near 1 for them all, sizes stay comparable.
    return Link(source, i, target, j, float(rng.uniform(-1, 1)), float(rng.normal()), bool(rng.random() < 0.2))


def _wave(a: float, b: float, c: float, t: float) -> float:
    return float(a * np.sin(2.0 * b * t + c))


def system_of(dense: Dense) -> System:
    """The FMUs of a network, connected."""
    folder, system = Path(tempfile.mkdtemp(dir=_made.name)), System("network")
    for k, block in enumerate(dense.blocks):
        system.add(f"c{k}", block.write(folder / f"c{k}.fmu"), parameters=block.parameters())
    for link in dense.links:
        if dense.blocks[link.source].arrays:
            if link.i:
                continue
            source, target = f"c{link.source}.y", f"c{link.target}.u"
        else:
            source, target = f"c{link.source}.y[{link.i + 1}]", f"c{link.target}.u[{link.j + 1}]"
        system.connect(source, target, factor=link.factor, offset=link.offset, convert_units=link.convert)
    return system


def inputs_of(dense: Dense) -> dict[str, Any]:
    """External inputs, in the form that a run takes."""
    return {f"c{k}.u[{j + 1}]": function for (k, j), function in dense.external.items()}


def apart(result: Any, dense: Dense, u: Any, y: Any) -> float:
    """The largest difference of all that a run has recorded, relative to one and the largest value of a variable."""
    names = [
        [
            (f"c{k}.{name}[{j + 1}]", f"c{k}.{name}")
            for k, part in enumerate(slices)
            for j in range(part.stop - part.start)
        ]
        for name, slices in (("u", dense.u), ("y", dense.y))
    ]
    worst = 0.0
    for (label, array), column in zip(names[0] + names[1], np.hstack([u, y]).T, strict=True):
        name = next((one for one in (label, array) if one in result.names), None)
        if name is None:  # an unconnected input
            assert ".u" in label
            continue
        worst = max(worst, np.abs(result[name] - column).max() / (1.0 + np.abs(column).max()))
    return worst
