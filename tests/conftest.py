"""Shared by all tests: optional dependencies, which CI must have, and the set of tests of every run."""

import importlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import hypothesis
import pytest

from linkwork._util import files
from support.checkout import TOP
from support.fast_set import mark_slow_cases
from support.remembered import remembering

IN_CI = os.environ.get("CI", "").lower() in ("1", "true")

hypothesis.settings.register_profile("untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("untimed")


@pytest.fixture(scope="session", autouse=True)
def time_is_saved() -> Iterator[None]:
    """FMUs are compressed less than a user's; what only repeats is remembered."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "WHOLE", 1)
        remembering(patch)
        yield


@pytest.fixture(autouse=True)
def the_working_directory_stays() -> Iterator[None]:
    """The test that leaves the process in another folder fails, not those after it."""
    here = os.getcwd()
    yield
    there = os.getcwd()
    os.chdir(here)
    assert there == here


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The top folder of the checkout."""
    return TOP


@pytest.fixture(scope="session")
def needs() -> Callable[[str], ModuleType]:
    """`fmpy = needs("fmpy")`: the module, or a skip that names it (in CI a failure)."""

    def module(name: str) -> ModuleType:
        try:
            return importlib.import_module(name)
        except ImportError as error:
            pytest.skip(f"needs the Python package {name}: {error}")

    return module


@pytest.fixture(scope="session")
def needs_program() -> Callable[[str], str]:
    """`valgrind = needs_program("valgrind")`: its path, or a skip that names it (in CI a failure)."""

    def program(name: str) -> str:
        path = shutil.which(name)
        if path is None:
            pytest.skip(f"needs the program {name}")
        return path

    return program


@pytest.fixture(scope="session")
def fmpy_and_gcc(needs: Callable[[str], ModuleType], needs_program: Callable[[str], str]) -> None:
    """For files whose FMUs are compiled from C and run by FMPy."""
    needs("fmpy")
    needs_program("gcc")


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure; an expected failure is reported as skipped too, and stays."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid}: nothing may be skipped in CI. {reason}"


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    dropped = mark_slow_cases(items)
    config.hook.pytest_deselected(items=list(dropped))
    items[:] = [item for item in items if item not in dropped]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo):
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    report = yield
    _fail_if_skipped(report)
    return report
