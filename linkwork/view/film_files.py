"""Files of films: animated .gif, .webp and .png through Pillow, .mp4 through ffmpeg, and numbered pictures."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork._util.files import atomic_path, check_target
from linkwork._util.names import quoted
from linkwork._util.optional import optional_import
from linkwork.errors import LinkworkError

Frame = NDArray[np.uint8]
Writer = Callable[[Path, Iterator[Frame], float, int], None]

_NUMBERED = re.compile(r"%0?\d*d")
_COLOURS = 128  # of a .gif
MAX_BYTES = 4_000_000_000  # of frames that are kept


def writer_of(path: Path) -> Writer:
    """Return the function that writes a film to a file: path, frames (height, width, 3), fps, number of frames.

    A film that cannot be written is refused here, before its frames are drawn.
    """
    suffix = path.suffix.lower()
    check_target(path, LinkworkError)
    if suffix not in WRITERS:
        raise LinkworkError(f"{path}: films are {quoted(WRITERS)}, or pictures with numbers such as 'run_%04d.png'")
    if _NUMBERED.search(path.name):
        if suffix != ".png":
            raise LinkworkError(f"{path}: numbered pictures are .png files")
        return _write_numbered
    if suffix == ".mp4":
        _ffmpeg()
    return WRITERS[suffix].write


def check_film(path: Path) -> None:
    """Refuse a film that cannot be written, for want of a package or of ffmpeg, before a run."""
    writer_of(path)
    if path.suffix.lower() != ".mp4":
        _pillow()
    with optional_import("films", "matplotlib", "film"):
        import matplotlib  # noqa: F401


def _write_gif(path: Path, frames: Iterator[Frame], fps: float, count: int) -> None:
    """Write a .gif whose frames have the same colours, those of the first one, so that still parts stay equal."""
    image = _pillow()
    first = next(frames)
    palette = image.fromarray(first).quantize(_COLOURS, method=image.Quantize.MEDIANCUT)
    colours = np.array(palette.getpalette()).reshape(-1, 3)
    colours[colours.sum(axis=1).argmax()] = 255  # the paper, which the palette has nearly
    palette.putpalette(colours.ravel().tolist())
    rest = (image.fromarray(one).quantize(palette=palette, dither=image.Dither.NONE) for one in frames)
    _save_all(path, palette, rest, duration=_durations(fps, count, 10), optimize=False, disposal=1)


def _write_webp(path: Path, frames: Iterator[Frame], fps: float, count: int) -> None:
    images = _kept(path, frames, count)
    _save_all(path, images[0], images[1:], duration=_durations(fps, count, 1), quality=85, method=2)


def _write_png(path: Path, frames: Iterator[Frame], fps: float, count: int) -> None:
    images = _kept(path, frames, count)
    _save_all(path, images[0], images[1:], duration=_durations(fps, count, 1))


def _kept(path: Path, frames: Iterator[Frame], count: int) -> list[Any]:
    """Return all frames as images, as Pillow takes them for these formats."""
    image, found = _pillow(), []
    for frame in frames:
        if frame.nbytes * count > MAX_BYTES:
            raise LinkworkError(
                f"{path}: {count} frames of this size take {frame.nbytes * count / 1e9:.1f} GB of memory; write a .gif "
                "or .mp4, or lower fps or size"
            )
        found.append(image.fromarray(frame))
    return found


def _write_numbered(path: Path, frames: Iterator[Frame], fps: float, count: int) -> None:
    """Write a .png for each frame, numbered from 1."""
    image = _pillow()
    for k, frame in enumerate(frames, start=1):
        name = _NUMBERED.sub(lambda found, k=k: found[0] % k, path.name)  # type: ignore[misc]
        with atomic_path(path.with_name(name), LinkworkError) as part:
            image.fromarray(frame).save(part)


def _write_mp4(path: Path, frames: Iterator[Frame], fps: float, count: int) -> None:
    """Write an .mp4 of H.264 with colours that all players know."""
    first = next(frames)
    height, width, _ = first.shape
    with atomic_path(path, LinkworkError) as part, TemporaryFile() as messages:
        command = [
            *(_ffmpeg(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24"),
            *("-s", f"{width}x{height}", "-r", f"{fps:.10g}", "-i", "-", "-an", "-c:v", "libx264", "-crf", "20"),
            *("-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4", str(part)),
        ]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=messages)
        assert process.stdin is not None
        try:
            for frame in chain([first], frames):
                process.stdin.write(frame.tobytes())
            process.stdin.close()
        except BrokenPipeError:  # its message states the reason
            pass
        except BaseException:
            process.kill()
            raise
        finally:
            code = process.wait()
        if code:
            messages.seek(0)
            text = " ".join(messages.read().decode(errors="replace").split())
            raise LinkworkError(f"cannot write {path}: ffmpeg failed: {text[-500:]}")


def _save_all(path: Path, first: Any, rest: Iterable[Any], **options: Any) -> None:
    with atomic_path(path, LinkworkError) as part:
        first.save(part, save_all=True, append_images=rest, loop=0, **options)


def _durations(fps: float, count: int, unit: int) -> list[int]:
    """Return the ms of each frame in whole units, whose sum stays at the time.

    >>> _durations(30.0, 4, 10)
    [30, 40, 30, 30]
    """
    ends = np.round(np.arange(1, count + 1) * 1000.0 / fps / unit).astype(int) * unit
    durations: list[int] = np.diff(ends, prepend=0).tolist()
    return durations


def _pillow() -> Any:
    with optional_import("films", "Pillow", "film"):
        from PIL import Image
    return Image


def _ffmpeg() -> str:
    """Return the program ffmpeg: on the path, or that of the package imageio-ffmpeg."""
    found = shutil.which("ffmpeg")
    if found is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe

            found = str(get_ffmpeg_exe())
        except (ImportError, RuntimeError):
            raise LinkworkError(
                ".mp4 films need the program ffmpeg, which is not on the path: install it (apt install ffmpeg, brew "
                "install ffmpeg, winget install ffmpeg, or pip install imageio-ffmpeg), or write a .gif or .webp"
            ) from None
    return found


class Kind(NamedTuple):
    """A kind of file: its writer, and how many frames a second it can have."""

    write: Writer
    most_fps: float


WRITERS = {
    ".mp4": Kind(_write_mp4, 240.0),
    ".gif": Kind(_write_gif, 50.0),  # viewers show shorter frames for a tenth of a second
    ".webp": Kind(_write_webp, 240.0),
    ".png": Kind(_write_png, 240.0),
}
