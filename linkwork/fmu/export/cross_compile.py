"""Compiles the shared library of FMUs for platforms other than this one, by the compilers of the package ziglang."""

import hashlib
import importlib.metadata
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from linkwork._util.cache_folder import cache_folder
from linkwork._util.progress import Progress
from linkwork.core.sources import FLAGS, fmu_sources, source_dir
from linkwork.errors import ExportError

TARGETS = {
    "x86_64-linux": "x86_64-linux-gnu.2.17",
    "aarch64-linux": "aarch64-linux-gnu.2.17",
    "x86_64-windows": "x86_64-windows-gnu",
    "aarch64-windows": "aarch64-windows-gnu",
    "x86_64-darwin": "x86_64-macos.11.0",
    "aarch64-darwin": "aarch64-macos.11.0",
}
SUFFIXES = {"linux": ".so", "windows": ".dll", "darwin": ".dylib"}

# By suffix: the command of zig, and the language.
_COMPILERS = {".c": ("cc", "-std=c11"), ".cpp": ("c++", "-std=gnu++17")}
# Without debug information and the sanitizer, which zig adds by default.
_COMPILE = (*FLAGS, "-g0", "-fno-sanitize=undefined", "-fPIC", "-fvisibility=hidden", "-Wno-psabi")
_LINK = ("-shared", "-s")
# The same sources give the same bytes: no time of the build in libraries of Windows, no folder in those of macOS.
_LINK_FOR = {
    "linux": ("-Wl,--as-needed", "-ldl"),  # dlopen; glibc 2.17 has it there
    "windows": ("-Wl,/Brepro",),
    "darwin": ("-Wl,-install_name,@rpath/{name}",),
}
_SHOWN_LINES = 12


def cross_library(platform: str, progress: Progress) -> Path:
    """Return the library of a platform, compiled unless an earlier export did."""
    version = _zig_version(platform)
    sources = fmu_sources()
    library = cache_folder() / "libraries" / _key(sources, version) / platform / f"linkwork{suffix(platform)}"
    if not library.is_file():
        try:
            library.parent.mkdir(parents=True, exist_ok=True)
            # Next to its last place, so that it gets there in one step: another process may build the same.
            with tempfile.TemporaryDirectory(prefix=".building-", dir=library.parent) as folder:
                compile_library(platform, sources, Path(folder) / library.name, progress).replace(library)
        except OSError as error:
            raise ExportError(
                f"cannot keep the library for {platform} in {library.parent}: {error.strerror or error}; "
                "set the environment variable LINKWORK_CACHE to a folder that can be written"
            ) from error
    return library


def suffix(platform: str) -> str:
    """Return how the name of a shared library ends.

    >>> suffix("x86_64-windows")
    '.dll'
    """
    return SUFFIXES[platform.rpartition("-")[2]]


def _zig_version(platform: str) -> str:
    try:
        return importlib.metadata.version("ziglang")
    except importlib.metadata.PackageNotFoundError as error:
        raise ExportError(
            f"a library for {platform} is compiled by the package ziglang, which is missing; "
            "install it by: pip install 'linkwork[cross]'"
        ) from error


def _key(sources: Mapping[str, Path], version: str) -> str:
    """Name what the libraries depend on."""
    digest = hashlib.sha256(repr((version, _COMPILERS, _COMPILE, _LINK, _LINK_FOR, sorted(TARGETS.items()))).encode())
    for name, path in sources.items():
        text = path.read_bytes()
        digest.update(f"{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()[:20]


def compile_library(
    platform: str,  # one of `TARGETS`
    sources: Mapping[str, Path],  # files by name; only those in C and C++ are compiled
    library: Path,  # the file to write, in a folder of its own
    progress: Progress,  # shows the files that are done
    flags: Mapping[str, Sequence[str]] | None = None,  # of single sources, by name, in addition to those of all
    link: Sequence[str] = (),  # more arguments of the linker, such as libraries
) -> Path:
    """Compile sources for a platform, next to the library, and link them; return the library."""
    files = [name for name, path in sources.items() if path.suffix in _COMPILERS]
    # The mechanics take by far the longest, so they come first.
    files.sort(key=lambda name: "kernels" not in name)
    steps = len(files) + 1
    objects = [library.with_name(f"{i}.o") for i in range(len(files))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = {
            pool.submit(_compile, platform, sources[name], target, (flags or {}).get(name, ())): name
            for name, target in zip(files, objects, strict=True)
        }
        progress.count(0, steps, f"{platform}: {files[0]}")
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                job.result()
                progress.count(done, steps, f"{platform}: {jobs[job]}")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    own = [option.format(name=library.name) for option in _LINK_FOR[platform.rpartition("-")[2]]]
    _zig(platform, ["cc", *_LINK, *own, "-o", str(library), *map(str, objects), *link, "-lm"], "linking")
    progress.count(steps, steps, f"{platform}: linked")
    return library


def _compile(platform: str, source: Path, target: Path, flags: Sequence[str]) -> None:
    core = source_dir("csrc")
    folders = [f"-I{folder}" for folder in (core, core / "include", source_dir("fmu_src"))]
    compiler = _COMPILERS[source.suffix]
    _zig(platform, [*compiler, *_COMPILE, *folders, *flags, "-c", str(source), "-o", str(target)], source.name)


def _zig(platform: str, arguments: list[str], what: str) -> None:
    compiler, *others = arguments
    command = [sys.executable, "-m", "ziglang", compiler, "-target", TARGETS[platform], *others]
    caches = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), str(cache_folder() / "zig"))
    done = subprocess.run(
        command, env={**caches, **os.environ}, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        lines = (done.stderr or done.stdout or "it reported nothing").strip().splitlines()
        shown = "\n".join(f"  {line}" for line in lines[:_SHOWN_LINES])
        raise ExportError(f"the compiler failed for {platform} at {what}:\n{shown}")
