"""Files that are no FMUs to be run: errors give the file's name, the defect and a remedy."""

import os
import re
import zipfile
from pathlib import Path

import pytest

from linkwork.cosim import Jacobi, System, run
from linkwork.errors import CosimError
from support.foreign import TOKEN, foreign, rewritten

pytestmark = pytest.mark.usefixtures("fmpy_and_gcc")


@pytest.fixture
def sound(tmp_path) -> Path:
    return foreign(tmp_path / "good.fmu")


def refused(path: Path, *texts: str) -> CosimError:
    """Run it; the error names the file and has all texts, as patterns."""
    system = System("bad")
    system.add("one", path)
    here = os.getcwd()
    with pytest.raises(CosimError) as caught:
        run(system, 1.0, master=Jacobi(0.25))
    assert os.getcwd() == here
    for text in (re.escape(path.name), *texts):
        assert re.search(text, str(caught.value)), caught.value
    assert "\n" not in str(caught.value)
    return caught.value


def test_no_such_file(tmp_path):
    (tmp_path / "plant.fmu").write_text("")
    refused(tmp_path / "plnat.fmu", "there is no FMU", "did you mean 'plant.fmu'")


def test_a_folder(tmp_path):
    refused(tmp_path, "is a folder", "an FMU is one file")


def test_no_zip(tmp_path):
    path = tmp_path / "text.fmu"
    path.write_text("hello")
    refused(path, "cannot be read", "not a zip file", "get it again")


def test_cut_in_half(sound, tmp_path):
    path = tmp_path / "half.fmu"
    path.write_bytes(sound.read_bytes()[: sound.stat().st_size // 2])
    refused(path, "cannot be read", "not a zip file")


def test_damaged_within(sound, tmp_path):
    path = tmp_path / "damaged.fmu"
    data = bytearray(sound.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 100] = bytes(100)
    path.write_bytes(data)
    refused(path, "cannot be unpacked", "CRC")


def test_a_zip_that_is_no_fmu(tmp_path):
    path = tmp_path / "photos.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("one.jpg", b"")
    refused(path, "cannot be read", "modelDescription.xml")


def test_a_model_description_that_is_no_xml(sound, tmp_path):
    path = rewritten(sound, tmp_path / "broken.fmu", "</fmiModelDescription>", "")
    refused(path, "cannot be read", "'linkwork check' lists the problems")


def test_scheduled_execution_only(sound, tmp_path):
    path = rewritten(sound, tmp_path / "se.fmu", "<CoSimulation ", "<ScheduledExecution ")
    refused(path, "is for Scheduled Execution alone", "export it for Co-Simulation or Model Exchange")


def test_fmi_1(sound, tmp_path):
    path = rewritten(sound, tmp_path / "old.fmu", 'fmiVersion="2.0"', 'fmiVersion="1.0"')
    refused(path, r"is of FMI 1\.0; export it for FMI 2\.0 or 3\.0")


def test_fmi_4(sound, tmp_path):
    path = rewritten(sound, tmp_path / "new.fmu", 'fmiVersion="2.0"', 'fmiVersion="4.0"')
    refused(path, r"is of FMI 4\.0; export it")


@pytest.mark.parametrize(("version", "other"), [("2.0", "win64"), ("3.0", "aarch64-darwin")])
def test_no_library_for_this_platform(version, other, tmp_path):
    path = foreign(tmp_path / "far.fmu", version, platform=other)
    refused(path, f"no library for this platform .*only for: {other}; export it for this one")


def test_a_library_that_is_none(tmp_path):
    path = foreign(tmp_path / "junk.fmu", binary=b"\x7fELF and nothing more")
    refused(path, r"instance 'one'", "its library cannot be loaded: .*(short|invalid)", "export it for this platform")


def test_a_library_that_lacks_a_function(tmp_path):
    path = foreign(tmp_path / "poor.fmu", "2.0", "LACKS_A_FUNCTION")
    refused(path, r"\(instance 'one'\)", "has no function fmi2GetStringStatus", "'linkwork check'")


def test_a_library_that_lacks_another_one(tmp_path, needs_program):
    import subprocess

    source = tmp_path / "needy.c"
    source.write_text("int deep_library_function(void);\nint fmi2DoStep(void) { return deep_library_function(); }\n")
    library = tmp_path / "needy.so"
    subprocess.run([needs_program("gcc"), "-shared", "-fPIC", "-Wl,-z,now", source, "-o", library], check=True)
    path = foreign(tmp_path / "needy.fmu", binary=library.read_bytes())
    error = refused(path, "cannot be loaded: .*undefined symbol: deep_library_function", "install what it depends on")
    assert "linkwork_fmu_" not in str(error)  # the folder is gone when a user reads this


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_a_wrong_token(version, sound, tmp_path):
    path = foreign(tmp_path / "token.fmu", version, token="{another}")
    refused(path, r"\(instance 'one'\)", "instantiate", "it reports: the token {another} is not that of the model")
    assert TOKEN != "{another}"


def test_zip_names_that_climb_out(sound, tmp_path):
    path = tmp_path / "climbs.fmu"
    path.write_bytes(sound.read_bytes())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("C:/evil.txt", b"evil")
    refused(path, "cannot be unpacked: .*drive")


def test_no_components():
    with pytest.raises(CosimError, match="'empty' has no components; add FMUs"):
        run(System("empty"), 1.0)
