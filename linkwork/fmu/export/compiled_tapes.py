"""Tapes of the rates of the states and of Jacobians, compiled for the platforms of an FMU: it asks them first."""

from __future__ import annotations

import importlib.util
import tempfile
import warnings
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import shortened
from linkwork._util.progress import Progress, ProgressOption
from linkwork._util.stack import levels_of_package
from linkwork.core.compiled_tapes import NotCompiledError, shared_library
from linkwork.core.sources import host_platform, source_dir
from linkwork.core.tapes import RatesInC, TapesOfMotion
from linkwork.errors import ExportError, ExportWarning, LinkworkError
from linkwork.fmu.export.cross_compile import compile_library, suffix

if TYPE_CHECKING:
    from linkwork.fmu.export.content import Content, Experiment
    from linkwork.model.model import Model
    from linkwork.simulation.result import Result

LIST = "resources/native/libraries.txt"
STATES = 1000  # along the motion
JACOBIAN_STATES = 200  # of these; a tape of derivatives takes several times as long to run and to record
MOST_RECORDED = 64  # of which those go in that serve most states
REFUSALS = 16  # after which no state is recorded
SOLVER_STEPS = 20_000  # of the default motion


def rates_source(system: Model, native: bool | Result, content: Content) -> bytes:
    """Return tapes of the rates along a motion, and of derivatives, as a file in C.

    Where derivatives have no tape that is short enough an `ExportWarning` has the reason.

    Parameters
    ----------
    system
        Of the FMU.
    native
        The motion; True: that from the default start, until the end of the default experiment.
    content
        Of the FMU, whose inputs, outputs and default experiment count.

    Raises
    ------
    ExportError
        If no state of the motion has a tape, with the reason, or `native` is no motion of this mechanism.
    """
    result = _motion(system, native, content.experiment)
    inputs, outputs = (np.array(content.offsets_of(kind), np.uint32) for kind in ("input", "output"))
    tapes = RatesInC(system.block().model, inputs, outputs)
    _record(tapes.rates, system, result, STATES)
    if not len(tapes.rates):
        why = tapes.rates.refusal
        raise ExportError(f"no tape of mechanism {system.mechanism.name!r}: {why}; leave native=True out")
    kinds = dict(zip(("rates", "outputs"), zip(tapes.jacobians, tapes.MOST_STEPS, strict=True), strict=True))
    for what, (jacobians, most) in kinds.items() if outputs.size else [("rates", kinds["rates"])]:
        _record(jacobians, system, result, JACOBIAN_STATES, most)
        if not 0 < jacobians.fewest_steps <= most:
            _warn_of_derivatives(what, jacobians, most)
    return tapes.source()


def _record(tapes: TapesOfMotion, system: Model, result: Result, states: int, most_steps: float = np.inf) -> None:
    """Record states of a motion that no tape serves, until there are many, or none, or they are too long."""
    block, refused = system.block(), 0
    for t in result.t[_spread(result.t.size, states)].tolist():
        system.enter(block, result.state(t))
        refused += not tapes.record(block)
        if len(tapes) == MOST_RECORDED or refused == REFUSALS or tapes.fewest_steps > most_steps:
            break


def _warn_of_derivatives(what: str, tapes: TapesOfMotion, most: int) -> None:
    long = f"{tapes.fewest_steps} operations are more than {most}"
    long += "; choose fewer outputs" if what == "outputs" else ""
    text = f"the FMU has no compiled derivatives of {what}, the core finds them by complex steps: "
    warnings.warn(ExportWarning(text + (long if tapes.fewest_steps else tapes.refusal)), stacklevel=levels_of_package())


def _spread(rows: int, states: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.unique(np.linspace(0, rows - 1, states).astype(np.intp))


def _motion(system: Model, native: bool | Result, experiment: Experiment) -> Result:
    from linkwork.simulation.result import Result

    if native is True:
        return _default_motion(system, experiment)
    if not isinstance(native, Result):
        raise ExportError(f"native must be True, False or a result of lw.simulate, not {shortened(native)}")
    if native.model.model_bytes != system.model_bytes:
        raise ExportError("native is a result of another mechanism; simulate the one that is exported")
    return native


def _default_motion(system: Model, experiment: Experiment) -> Result:
    """As far as it gets."""
    from linkwork.simulation.simulate import simulate

    if not system.sizes.states:
        raise ExportError(f"mechanism {system.mechanism.name!r} has no states, and so no rates; leave native=True out")
    try:
        return simulate(system, experiment.stop, rtol=experiment.tolerance, max_steps=SOLVER_STEPS, progress=False)
    except LinkworkError as problem:
        found: Result | None = getattr(problem, "result", None)
        if found is None or not found.t.size:
            raise ExportError(
                f"native=True records the motion from the default start, and there is none: {problem}; give a result "
                "of lw.simulate as native, or leave it out"
            ) from problem
        return found


def compiled_files(source: bytes, platforms: Iterable[str], progress: ProgressOption) -> dict[str, bytes]:
    """Return the libraries of platforms and their list, by path in the archive.

    Parameters
    ----------
    source
        From `rates_source`.
    platforms
        FMI 3 platform tuples. Those for which nothing here compiles are left out, with a warning.
    progress
        As of `lw.export_fmu`.

    Raises
    ------
    ExportError
        If nothing here compiles for any of them, or the compiler fails.
    """
    wanted, zig = list(platforms), importlib.util.find_spec("ziglang") is not None
    possible = wanted if zig else [name for name in wanted if name == host_platform()]
    remedy = "install the package ziglang: pip install 'linkwork[cross]'"
    with Progress(progress) as shown, tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
        try:
            found = {name: _library(source, name, Path(folder), shown if zig else None) for name in possible}
        except (NotCompiledError, OSError) as error:
            raise ExportError(f"the tapes cannot be compiled: {error}; {remedy}, or leave native=True out") from error
    if not found:
        raise ExportError(f"nothing here compiles for {', '.join(wanted)}; {remedy}, or leave native=True out")
    if missing := [name for name in wanted if name not in found]:
        text = f"the FMU has no compiled tapes for {', '.join(missing)}, where evaluations take longer; {remedy}"
        warnings.warn(ExportWarning(text), stacklevel=levels_of_package())
    lines = [f"{name} {zlib.crc32(data):08x} {len(data)}\n" for name, data in found.items()]
    files = {f"resources/native/{name}/rates{suffix(name)}": data for name, data in found.items()}
    return {LIST: "".join(lines).encode(), **files}


def _library(source: bytes, platform: str, folder: Path, progress: Progress | None) -> bytes:
    """Compile, by ziglang, or for this platform by the compiler of the system where `progress` is None."""
    own = folder / platform
    own.mkdir()
    written, library = own / "rates.c", own / f"rates{suffix(platform)}"
    written.write_bytes(source)
    if progress is None:
        shared_library(written, library, source_dir("csrc"))
        return library.read_bytes()
    return compile_library(platform, {"rates.c": written}, library, progress).read_bytes()
