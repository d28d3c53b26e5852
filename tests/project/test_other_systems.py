"""What other systems need of a checkout: names that Windows has, text with the same bytes, a workflow that is valid."""

import re
import subprocess
import sys
import tomllib
from collections import Counter

import pytest

from support.checkout import TOP

WORKFLOW = TOP / ".github" / "workflows" / "ci.yml"
ON_WINDOWS = r'[^<>:"|?*\\\x00-\x1f]*[^<>:"|?*\\\x00-\x1f. ]'
DEVICES = r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?"


@pytest.fixture(scope="module")
def tracked() -> dict[str, str]:
    """How git stores each file, by its path."""
    done = subprocess.run(["git", "-C", str(TOP), "ls-files", "-s"], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("needs a checkout of git")
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {path: kept.split()[0] for kept, path in rows}


def test_windows_has_the_names(tracked) -> None:
    assert len(tracked) > 500
    parts = {part for path in tracked for part in path.split("/")}
    assert [part for part in parts if not re.fullmatch(ON_WINDOWS, part) or re.fullmatch(DEVICES, part)] == []
    assert [path for path in tracked if len(path) > 120] == []  # of the 260 characters of a path
    assert [path for path, times in Counter(map(str.lower, tracked)).items() if times > 1] == []


def test_no_file_is_a_link(tracked) -> None:
    assert [path for path, mode in tracked.items() if mode not in ("100644", "100755")] == []


def test_text_has_the_same_bytes_everywhere(tracked) -> None:
    paths = [path for path in tracked if (TOP / path).is_file()]
    command = ["git", "-C", str(TOP), "check-attr", "--stdin", "-z", "eol"]
    sent = "\0".join(paths).encode()
    said = subprocess.run(command, input=sent, capture_output=True, check=True).stdout.decode().split("\0")
    eol = dict(zip(said[0::3], said[2::3], strict=False))
    assert {path for path in paths if eol[path] != "lf"} == set()
    kept = [path for path in paths if b"\r\n" in (TOP / path).read_bytes() and not path.endswith((".png", ".gif"))]
    assert kept == []


def test_the_workflow_is_valid(needs) -> None:
    needs("check_jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(WORKFLOW)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_workflow_tries_all_wheels(needs) -> None:
    jobs = needs("yaml").safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    tried = jobs["wheel"]["strategy"]["matrix"]
    kinds = {re.match(r"[a-z]+", system).group() for system in tried["os"]}
    assert kinds == {"ubuntu", "windows", "macos"}
    assert any("arm" in system for system in tried["os"])
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f">={tried['python'][0]}" == project["requires-python"]
    script = (TOP / "run").read_text(encoding="utf-8")
    called = {
        found[1]
        for job in jobs.values()
        for step in job["steps"]
        if (found := re.match(r"\./run --yes (\w+)", step.get("run", "")))
    }
    assert called == {"test", "wheels", "docs"}
    assert all(f"\n  {command}) " in script for command in called)
