"""Each rule about the files of an FMU finds the archive in which it is broken; what cannot be opened is an error."""

import os
import random
import re
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path
from xml.etree.ElementTree import SubElement

import pytest

from linkwork.errors import FmuError
from linkwork.fmu.check import check_fmu
from linkwork.fmu.check.elf import read_elf
from support.mutated import Edit, mutated, packed

VERSIONS = ("2.0", "3.0")
ICONS = "terminalsAndIcons/terminalsAndIcons.xml"
BUILD = "sources/buildDescription.xml"


def files_of(path: Path) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        return [(one.filename, archive.read(one)) for one in archive.infolist()]


def library(e: Edit) -> str:
    return next(name for name in e.files if name.startswith("binaries/"))


def removed(e: Edit, folder: str) -> None:
    for name in [one for one in e.files if one.startswith(folder)]:
        del e.files[name]


def moved(e: Edit, name: str, other: str) -> None:
    e.files[other] = e.files.pop(name)


def in_folder(e: Edit, folder: str) -> None:
    moved(e, library(e), f"binaries/{folder}/{library(e).rpartition('/')[2]}")


def icons(e: Edit, variable: str, *pictures: str, icon: bool = True, base: str = "") -> None:
    """Terminals and pictures in the place of those that there are."""
    shown = f'<TerminalGraphicalRepresentation iconBaseName="{base}"/>' if base else ""
    text = (
        "<fmiTerminalsAndIcons>" + "<GraphicalRepresentation><Icon/></GraphicalRepresentation>" * icon
        + f'<Terminals><Terminal name="t"><TerminalMemberVariable variableName="{variable}"/>{shown}</Terminal>'
        "</Terminals></fmiTerminalsAndIcons>"
    )  # fmt: skip
    for name in [name for name in e.files if name.startswith("terminalsAndIcons/")]:
        del e.files[name]
    e.files.update({ICONS: text.encode(), **{f"terminalsAndIcons/{name}.png": b"" for name in pictures}})


def build(identifier: str, *files: str, folder: str = ".") -> dict[str, bytes]:
    listed = "".join(f'<SourceFile name="{name}"/>' for name in files)
    text = (
        f'<fmiBuildDescription><BuildConfiguration modelIdentifier="{identifier}"><SourceFileSet>{listed}'
        f'<IncludeDirectory name="{folder}"/></SourceFileSet></BuildConfiguration></fmiBuildDescription>'
    )
    return {BUILD: text.encode(), "sources/model.c": b""}


def listed(e: Edit, *names: str) -> None:
    e.files["sources/model.c"] = b""
    for element in (e.root.find("ModelExchange"), e.root.find("CoSimulation")):
        group = SubElement(element, "SourceFiles")
        for name in names:
            SubElement(group, "File", name=name)


# Check, its text (None: nothing is found), the change, in which versions.
RULES = [
    (
        "documentation",
        "has no index.html",
        lambda e: moved(e, "documentation/index.html", "documentation/a.txt"),
        VERSIONS,
    ),
    ("documentation", "there is no documentation", lambda e: removed(e, "documentation/"), VERSIONS),
    ("icons", None, lambda e: icons(e, "hinge.q", "icon", "t", base="t"), ("3.0",)),
    ("icons", "names the variable 'hinge.w'", lambda e: icons(e, "hinge.w", "icon"), ("3.0",)),
    ("icons", "has no terminalsAndIcons/icon.png", lambda e: icons(e, "hinge.q"), ("3.0",)),
    ("icons", "has no terminalsAndIcons/icon.png", lambda e: icons(e, "hinge.q", icon=False), ("3.0",)),
    ("icons", "t.png, which is missing", lambda e: icons(e, "hinge.q", "icon", base="t"), ("3.0",)),
    ("icons", "no XML that can be read", lambda e: e.files.update({ICONS: b"<"}), ("3.0",)),
    ("sources", None, lambda e: e.files.update(build("pendulum", "model.c")), ("3.0",)),
    ("sources", "builds modelIdentifier 'other', not 'pendulum'", lambda e: e.files.update(build("other")), ("3.0",)),
    ("sources", "'none.c', which is not in sources/", lambda e: e.files.update(build("pendulum", "none.c")), ("3.0",)),
    ("sources", "include directory 'inc'", lambda e: e.files.update(build("pendulum", folder="inc")), ("3.0",)),
    ("sources", "no sources/buildDescription.xml", lambda e: e.files.update({"sources/a.c": b""}), ("3.0",)),
    ("sources", "no XML that can be read", lambda e: e.files.update({BUILD: b"<"}), ("3.0",)),
    ("sources", None, lambda e: listed(e, "model.c"), ("2.0",)),
    ("sources", "'none.c', which is not in sources/", lambda e: listed(e, "model.c", "none.c"), ("2.0",)),
    ("sources", "lists none in SourceFiles", listed, ("2.0",)),
    ("binaries", "neither binaries nor sources", lambda e: e.files.pop(library(e)), VERSIONS),
    ("binaries", "sources but no binaries", lambda e: moved(e, library(e), "sources/a.c"), VERSIONS),
    ("binaries", "binaries/x86-64-linux is no platform", lambda e: in_folder(e, "x86-64-linux"), VERSIONS),
    ("binaries", "binaries/linux64 is no platform", lambda e: in_folder(e, "linux64"), ("3.0",)),
    ("binaries", None, lambda e: in_folder(e, "x86_64-linux"), VERSIONS),
    (
        "binaries",
        "is built for x86_64; its folder is that of aarch64",
        lambda e: in_folder(e, "aarch64-linux"),
        VERSIONS,
    ),
    (
        "binaries",
        "pendulum.so is missing, which ModelExchange",
        lambda e: moved(e, library(e), library(e)[:-3] + "2.so"),
        VERSIONS,
    ),
    ("binaries", "has another suffix", lambda e: moved(e, library(e), library(e)[:-3] + ".dylib"), VERSIONS),
    ("binaries", "is no shared library of linux", lambda e: e.files.update({library(e): b"MZ"}), VERSIONS),
    (
        "binaries",
        "is no shared library of windows",
        lambda e: e.files.update({"binaries/x86_64-windows/pendulum.dll": b"\x7fELF"}),
        VERSIONS,
    ),
    ("exports", "cannot be read: it is no ELF file", lambda e: e.files.update({library(e): b"MZ"}), VERSIONS),
    ("exports", "damaged", lambda e: e.files.update({library(e): e.files[library(e)][:5000]}), VERSIONS),
]
CASES = [(version, *rule[:-1]) for rule in RULES for version in rule[-1]]


@pytest.mark.thin(2)
@pytest.mark.parametrize(("version", "check", "text", "change"), CASES)
def test_a_broken_rule_is_found(version, check, text, change, latched, tmp_path):
    assert check_fmu(latched[version], only=[check]).findings("error", "warning") == []
    report = check_fmu(mutated(latched[version], tmp_path, change), only=[check])
    if text is None:
        assert report[check].findings == []
    else:
        assert any(re.search(text, finding.text) for finding in report[check].findings), report


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("../outside.txt", "leads out of the archive"),
        ("/etc/outside.txt", "leads out of the archive"),
        ("C:/outside.txt", "leads out of the archive"),
        ("resources\\model.txt", "has a backslash"),
        ("resources/model.lwm", "holds 'resources/model.lwm' 2 times"),
    ],
)
def test_bad_file_names_are_found(name, text, latched, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # zipfile's, of the name that is there twice
        path = packed(tmp_path / "a.fmu", [*files_of(latched["3.0"]), (name, b"")])
    report = check_fmu(path, only=["archive"])
    assert any(text in finding.text for finding in report["archive"].findings), report
    assert not list(tmp_path.rglob("outside.txt"))


def test_a_folder_packed_instead_of_its_content(latched, tmp_path):
    path = packed(tmp_path / "a.fmu", [(f"model/{name}", data) for name, data in files_of(latched["2.0"])])
    report = check_fmu(path)
    assert "pack the content of that folder" in report["archive"].findings[0].text
    assert not report.passed


def test_what_is_no_archive_is_an_error(tmp_path):
    with pytest.raises(FmuError, match="there is no file"):
        check_fmu(tmp_path / "none.fmu")
    (tmp_path / "text.fmu").write_text("not a zip archive")
    with pytest.raises(FmuError, match="no zip archive"):
        check_fmu(tmp_path / "text.fmu")


METHODS = {"deflate": zipfile.ZIP_DEFLATED, "bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_altered_bytes_of_every_compression_are_an_error(method, tmp_path):
    content = bytes(random.Random(0).choices(range(40), k=20000))
    path = tmp_path / "altered.fmu"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("modelDescription.xml", content)
    data = bytearray(path.read_bytes())
    for place in range(100, len(data) - 300, 997):
        path.write_bytes(data[:place] + bytes(40) + data[place + 40 :])
        with pytest.raises(FmuError, match="no zip archive"):
            check_fmu(path)


@pytest.fixture
def compiled(tmp_path, needs_program):
    """A library from a line of C."""

    def compile(code: str, *flags: str) -> bytes:
        source, target = tmp_path / "a.c", tmp_path / "a.so"
        source.write_text(code)
        subprocess.run([needs_program("gcc"), "-shared", "-fPIC", source, "-o", target, *flags], check=True)
        return target.read_bytes()

    return compile


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("int fmi3GetVersion;", r"lacks \d+ functions: fmi3"),
        (
            "int pendulum_fmi3ActivateModelPartition, pendulum_fmi3CompletedIntegratorStep;",
            "which only static libraries may",
        ),
        ("int mine;", r"exports 1 symbols that are not of FMI \(mine\); hide them"),
    ],
)
def test_exports_of_a_library(code, text, compiled, latched, tmp_path):
    path = mutated(latched["3.0"], tmp_path, lambda e: e.files.update({library(e): compiled(code)}))
    assert any(re.search(text, one.text) for one in check_fmu(path, only=["exports"])["exports"].findings)


def test_needs_of_a_library(compiled, latched, tmp_path):
    (tmp_path / "libcurious.so.6").write_bytes(compiled("int b;", "-Wl,-soname,libcurious.so.6"))
    data = compiled("int a;", "-Wl,--no-as-needed", f"-L{tmp_path}", "-l:libcurious.so.6")
    path = mutated(latched["3.0"], tmp_path, lambda e: e.files.update({library(e): data}))
    (found,) = check_fmu(path, only=["needs"])["needs"].findings
    assert "needs libcurious.so.6, which not every system has" in found.text


def test_a_new_glibc_is_noted(compiled, latched, tmp_path):
    data = compiled("#include <math.h>\ndouble f(double x) { return exp(x) + pow(x, x); }", "-fno-builtin", "-lm")
    path = mutated(latched["3.0"], tmp_path, lambda e: e.files.update({library(e): data}))
    (found,) = check_fmu(path, only=["needs"])["needs"].findings
    assert re.search(r"needs glibc 2\.\d\d; built against 2.17", found.text)
    assert found.level == "note"


def test_elf_is_read_as_binutils_read_it(fmu_library, needs_program):
    library = read_elf(fmu_library)
    done = subprocess.run(
        [needs_program("readelf"), "-W", "--dyn-syms", "-d", "-V", fmu_library], capture_output=True, text=True
    )
    defined = re.findall(r"(?:FUNC|OBJECT) +(?:GLOBAL|WEAK) +DEFAULT +\d+ (\S+)", done.stdout)
    assert library.exports == {name.partition("@")[0] for name in defined}
    assert library.needs == re.findall(r"\(NEEDED\).*\[(.*)\]", done.stdout)
    versions = re.findall(r"Name: (GLIBC_\S+)", done.stdout)
    assert sorted(library.versions) == sorted(versions)
    assert library.glibc == max(tuple(map(int, one[6:].split("."))) for one in versions)


@pytest.fixture
def fmu_library() -> Path:
    from linkwork.core.sources import fmu_libraries

    return next(path for name, path in fmu_libraries().items() if name.endswith("linux"))


def test_names_with_backslashes_are_read_as_slashes(latched, tmp_path):
    """Tools on Windows write them: each is an error, and the other checks see the files."""
    path = packed(tmp_path / "a.fmu", [(name.replace("/", "\\"), data) for name, data in files_of(latched["3.0"])])
    report = check_fmu(path, only=["documentation", "life"])
    assert {finding.text.split(" has a ")[1] for finding in report["archive"].findings} == {"backslash; write '/'"}
    assert report["documentation"].findings == report["life"].findings == []
    assert report["life"].skipped is None


def test_a_locale_of_ascii_alone(latched, tmp_path):
    """Names of files and texts in UTF-8 are read and printed in any locale."""
    files = [*files_of(latched["3.0"]), ("documentation/b\u00fccher.txt", b"")]
    path = packed(tmp_path / "\u00e9.fmu", files)
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-m", "linkwork", "check", str(path), "--only", "life,documentation,names"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"PASSED" in done.stdout
