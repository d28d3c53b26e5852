"""A plugin of pytest that records the processor time of each test: `./run test --cost`.

On a machine with other work, elapsed time means little. The processor time of a test is that of its process and of
the processes that it started and waited for; set-up and tear-down of fixtures count for the test that caused them.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from .checkout import TOP

FILE = TOP / "build" / "test_cost.csv"
SHOWN = 40


def processor_time() -> float:
    """Seconds that this process and its children have computed."""
    return sum(os.times()[:4])


class Cost:
    """The seconds of each test, collected where the results of all processes come together."""

    def __init__(self) -> None:
        self.before = processor_time()
        self.seconds: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self) -> Iterator[None]:
        report = yield
        now = processor_time()
        report.processor_time, self.before = now - self.before, now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += getattr(report, "processor_time", 0.0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not self.seconds:
            return
        write(FILE, self.seconds)
        terminalreporter.section(f"processor time, of {sum(self.seconds.values()):.0f} s; all of it is in {FILE}")
        for title, costs in (("folder", by_folder(self.seconds)), ("test", self.seconds)):
            for name, seconds in costs.most_common(SHOWN):
                terminalreporter.write_line(f"{seconds:8.1f} s  {title} {name}")


def by_folder(seconds: Counter[str]) -> Counter[str]:
    folders: Counter[str] = Counter()
    for test, cost in seconds.items():
        folders[str(Path(test.partition("::")[0]).parent)] += cost
    return folders


def write(path: Path, seconds: Counter[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("test", "seconds"))
        writer.writerows((test, f"{cost:.3f}") for test, cost in seconds.most_common())


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Cost(), "linkwork-cost")
