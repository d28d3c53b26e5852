"""The script `run`: it asks before it installs, shows how far it is, and an interrupted set-up does no harm.

Programs that would install something are replaced by scripts that note how they were called.
"""

import os
import pty
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support.checkout import TOP

NOTE = '#!/bin/sh\necho "$0 $*" >>"$(dirname "$0")/../calls"\n'
# A python3 whose virtual environments hold a python that only answers, and that waits on request.
PYTHON = """
case "$1 $2" in
  "-m venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python; [ ! -e slow ] || exec sleep 60 ;;
  "-m pip") echo "[1/2] Building C object"; echo "[2/2] Linking" ;;
esac
exit 0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the script and programs that install nothing; `absent` holds the packages that are missing."""
    if not shutil.which("bash"):
        pytest.skip("needs the program bash")
    for name in ("run", "pyproject.toml"):
        shutil.copy(TOP / name, tmp_path)
    programs = {"apt-get": 'case "$*" in *install*) [ -e broken ] || : >absent ;; esac\n', "sudo": '"$@"\n'}
    programs |= {"id": "echo 0\n", "python3": PYTHON}
    (tmp_path / "bin").mkdir()
    for name, body in programs.items():
        (tmp_path / "bin" / name).write_text(NOTE + body if name != "id" else "#!/bin/sh\n" + body)
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "absent").write_text("libnonesuch-dev\nnonesuch\n")
    (tmp_path / "calls").touch()
    return tmp_path


def environment(folder: Path, **more: str) -> dict[str, str]:
    usual = {name: value for name, value in os.environ.items() if name != "CI"}
    return usual | {"PATH": f"{folder / 'bin'}:{usual['PATH']}"} | more


def call(folder: Path, code: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Call functions of the script where the input is no terminal."""
    command = ["bash", "-c", f"source ./run\nmissing_here() {{ cat absent; }}\n{code}"]
    options = {"cwd": folder, "env": environment(folder, **more), "stdin": subprocess.DEVNULL}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)


def call_at_terminal(folder: Path, code: str, answer: str, **more: str) -> tuple[int, str]:
    """Call functions of the script at a terminal, where `answer` is typed."""
    terminal, end = pty.openpty()
    command = ["bash", "-c", f"source ./run\nmissing_here() {{ cat absent; }}\n{code}"]
    streams = {"stdin": end, "stdout": end, "stderr": end}
    process = subprocess.Popen(command, cwd=folder, env=environment(folder, **more), **streams)
    os.close(end)
    os.write(terminal, answer.encode())
    shown = b""
    try:
        while part := os.read(terminal, 1024):
            shown += part
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    return process.wait(timeout=60), shown.decode()


def installed(folder: Path) -> bool:
    return "install" in (folder / "calls").read_text()


@pytest.mark.parametrize(
    ("setting", "answer", "asks", "installs"),
    [
        ({}, "n\n", True, False),
        ({}, "y\n", True, True),
        ({}, "\n", True, True),
        ({"CI": "true"}, "n\n", False, True),
        ({"YES": "1"}, "n\n", False, True),
    ],
)
def test_system_packages_are_installed_after_a_question(folder, setting, answer, asks, installs):
    assign = "; ".join(f"{name}={value}" for name, value in setting.items() if name == "YES")
    more = {name: value for name, value in setting.items() if name != "YES"}
    code, shown = call_at_terminal(folder, f"{assign}\nprovide missing_here", answer, **more)
    assert ("install these Debian packages: libnonesuch-dev nonesuch?" in shown) is asks
    assert installed(folder) is installs
    assert code == (0 if installs else 1)


@pytest.mark.parametrize("setting", [{}, {"CI": "true"}])
def test_without_a_terminal_nothing_is_asked(folder, setting):
    done = call(folder, "provide missing_here", **setting)
    assert done.returncode == 0
    assert installed(folder)


def test_packages_that_cannot_be_installed_are_named(folder):
    (folder / "broken").touch()
    (folder / "bin" / "apt-get").write_text(f"{NOTE}exit 1\n")
    done = call(folder, "provide missing_here")
    assert done.returncode == 1
    assert "missing, as Debian names them: libnonesuch-dev nonesuch" in done.stderr
    calls = (folder / "calls").read_text()
    assert "--no-install-recommends libnonesuch-dev\n" in calls  # each alone, so that one does not prevent the others
    assert "--no-install-recommends nonesuch\n" in calls


SET_UP = """
missing_to_build() { :; }
listed() { :; }
missing_to_test() { :; }
missing_to_build_dae() { cat absent; }
"""


def test_tests_are_set_up_without_sundials(folder):
    (folder / "bin" / "apt-get").write_text(f"{NOTE}exit 1\n")
    done = call(folder, f"{SET_UP}setup_tests")
    assert done.returncode == 0, done.stderr
    assert "left out: scikits.odes, which needs libsundials-dev" in done.stderr
    assert "-e .[test-without-dae]" in (folder / "calls").read_text() + (folder / ".venv" / "calls").read_text()


def test_ci_names_what_it_needs(folder):
    (folder / "bin" / "apt-get").write_text(f"{NOTE}exit 1\n")
    done = call(folder, f"{SET_UP}setup_tests", CI="true")
    assert done.returncode == 1
    assert "provide libsundials-dev" in done.stderr


def test_yes_goes_before_or_after_the_command(folder):
    for arguments in (["--yes", "help"], ["help", "--yes"], ["-y", "help"]):
        done = subprocess.run(["bash", "run", *arguments], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0
        assert "--yes" in done.stdout


def test_compilation_shows_how_far_it_is(folder):
    code, shown = call_at_terminal(folder, 'watched log sh -c "echo [3/80] cc a.c; echo Collecting numpy"', "")
    assert code == 0
    assert "compiling 3 of 80" in shown
    assert "Collecting numpy" in shown
    assert (folder / "log").read_text() == "[3/80] cc a.c\nCollecting numpy\n"


def test_the_output_of_a_failed_command_is_shown(folder):
    done = call(folder, 'watched log sh -c "echo no such header; exit 3"')
    assert done.returncode == 1
    assert "no such header" in done.stderr
    assert "is in log" in done.stderr


def test_an_interrupted_set_up_is_made_again(folder):
    (folder / "slow").touch()
    command = ["bash", "-c", f"source ./run\n{SET_UP}setup"]
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment(folder),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # where the tests run in the background
    )
    unfinished = folder / "build" / "venv-unfinished"
    end = time.monotonic() + 30.0
    while not (folder / ".venv" / "bin" / "python").exists() and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, shown = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in shown
    assert unfinished.exists()
    (folder / "slow").unlink()
    done = call(folder, f"{SET_UP}setup")
    assert done.returncode == 0, done.stderr
    assert not unfinished.exists()
    assert (folder / "calls").read_text().count("-m venv") == 2
    assert call(folder, f"{SET_UP}setup").returncode == 0  # nothing is left to do
    assert (folder / "calls").read_text().count("-m venv") == 2
