"""Files that are written as a whole."""

import errno
import os
import zipfile
from pathlib import Path

import pytest

from linkwork._util import files
from linkwork._util.files import atomic_path, check_target, make_folder, write_archive
from linkwork.errors import ExportError


def test_a_failed_write_leaves_the_old_file(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write(target, content=interrupted)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(os.name == "nt", reason="links and modes of Unix")
def test_links_and_permissions_stay(tmp_path):
    target, link = tmp_path / "a.txt", tmp_path / "link.txt"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with atomic_path(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_the_temporary_file_has_the_suffix(tmp_path):
    with atomic_path(tmp_path / "a.png") as part:
        assert part.suffix == ".png"
        assert part.parent == tmp_path.resolve()
        part.write_bytes(b"")


@pytest.mark.parametrize("error", [None, ExportError])
def test_failures_name_the_path_and_the_remedy(tmp_path, error):
    with pytest.raises(error or FileNotFoundError, match=r"write .*a.txt: there is no folder .*no; make it first"):
        write(tmp_path / "no" / "a.txt", error)
    with pytest.raises(error or IsADirectoryError, match="it is a folder; name a file"):
        write(tmp_path, error)
    with pytest.raises(error or OSError, match=r"cannot write .*a.txt: .*; free some space"):
        write(tmp_path / "a.txt", error, content=full)


@pytest.mark.skipif(os.name == "nt", reason="errors of Unix")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("file/a.txt", "write .*a.txt: .*file is no folder; choose another folder"),
        ("a" * 300 + ".txt", "write .*a.txt: .*; choose a shorter name"),
        ("a" * 300 + "/a.txt", "write .*a.txt: .*; choose a shorter name"),
        ("link/a.txt", "write .*a.txt: .*; a link leads to itself: choose another folder"),
    ],
)
def test_names_that_no_file_has(name, text, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "link")
    with pytest.raises(OSError, match=text):
        write(tmp_path / name)
    with pytest.raises(ExportError, match=text):
        check_target(tmp_path / name, ExportError)


@pytest.mark.skipif(os.name == "nt", reason="errors of Unix")
def test_folders_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    assert make_folder(tmp_path / "a" / "b", ExportError).is_dir()
    for name in ("file", "file/a/b"):
        with pytest.raises(ExportError, match=r"cannot write to .*: .*file is a file; choose another folder"):
            make_folder(tmp_path / name, ExportError)
    with pytest.raises(ExportError, match=r"cannot write to .*; choose a shorter name"):
        make_folder(tmp_path / ("a" * 300), ExportError)
    with pytest.raises(ExportError, match=r"cannot write to /proc/a: .*; choose another folder"):
        make_folder("/proc/a", ExportError)


def interrupted(part):
    part.write_text("half")
    raise KeyboardInterrupt


def full(part):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def write(path, error=None, content=lambda part: part.write_text("")):
    with atomic_path(path, error) as part:
        content(part)


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="a device of Unix")
def test_a_device_is_written_directly():
    with atomic_path("/dev/null") as part:
        part.write_text("gone")
    assert not Path("/dev/null").is_file()


def test_archives_depend_on_their_content_alone(tmp_path):
    content = {"a.txt": b"a", "binaries/x.so": b"x", "pieces.xml": [b"<a", b"/>"], "inner.fmu": b"zip"}
    for name in ("one.zip", "two.zip"):
        write_archive(tmp_path / name, {key: iter(v) if isinstance(v, list) else v for key, v in content.items()})
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert archive.read("pieces.xml") == b"<a/>"
        assert archive.getinfo("binaries/x.so").external_attr >> 16 == 0o755
        assert archive.getinfo("inner.fmu").compress_type == zipfile.ZIP_STORED


def test_libraries_are_written_as_zipfile_writes_them(tmp_path):
    """Though they are compressed once for all archives."""
    content = {f"binaries/{name}": name.encode() * 1000 for name in ("a.so", "b.so")} | {"binaries/empty.so": b""}
    for name in ("one.zip", "two.zip"):
        write_archive(tmp_path / name, content)
    with zipfile.ZipFile(tmp_path / "plain.zip", "w", zipfile.ZIP_DEFLATED) as plain:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o755 << 16
            plain.writestr(entry, data, compresslevel=files.WHOLE)
    expected = (tmp_path / "plain.zip").read_bytes()
    assert [(tmp_path / name).read_bytes() == expected for name in ("one.zip", "two.zip")] == [True, True]
    with zipfile.ZipFile(tmp_path / "two.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == content
