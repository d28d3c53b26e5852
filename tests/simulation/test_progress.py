"""The line on a terminal that shows how far a run is."""

import io
from types import SimpleNamespace

import numpy as np
import pytest

import linkwork as lw
from linkwork._util import progress
from linkwork._util.progress import Progress, ProgressUpdate


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A terminal, and a clock on which each look takes 1.5 s."""
    stream, clock = Terminal(), iter(1.5 * k for k in range(10_000_000))
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    return stream


@pytest.mark.parametrize(("solver", "inputs"), [("dopri5", None), ("dopri5", {"A": np.sin}), ("DOP853", None)])
def test_progress_on_a_terminal(system, terminal, solver, inputs):
    lw.simulate(system, 2.5, t_start=0.5, solver=solver, inputs=inputs, rtol=1e-12)
    lines = terminal.getvalue().split("\r")
    shown = [line for line in lines if line.strip()]
    assert len(shown) > 3
    assert all(line.rstrip().endswith("s of 2.5 s") for line in shown)
    parts = [float(line.split("%")[0]) for line in shown]
    assert parts == sorted(parts)
    assert 0.0 < parts[0] < 50.0 < parts[-1] <= 100.0
    assert lines[-1] == ""
    assert lines[-2] == max(map(len, shown)) * " "  # wiped at the end


def test_progress_does_not_change_the_result(system, terminal):
    shown = lw.simulate(system, 0.5)
    assert terminal.getvalue()
    silent = lw.simulate(system, 0.5, progress=False)
    assert np.array_equal(shown.y, silent.y)


def test_progress_is_wiped_before_an_error(system, terminal):
    with pytest.raises(lw.SolverError):
        lw.simulate(system, 100.0, max_steps=200)
    assert terminal.getvalue().endswith("  \r")


def test_progress_only_where_it_is_wanted(system, terminal):
    lw.simulate(system, 1.0, progress=False)
    assert terminal.getvalue() == ""


def test_no_progress_into_a_file(system, capsys):
    lw.simulate(system, 1.0)
    assert capsys.readouterr().err == ""


def test_a_function_gets_the_updates(system, capsys):
    updates = []
    lw.simulate(system, 0.5, rtol=1e-12, progress=updates.append)
    assert updates
    assert all(one.text.endswith("s of 0.5 s") for one in updates)
    assert all(0.0 <= one.fraction <= 1.0 for one in updates)
    assert capsys.readouterr().err == ""


def test_a_count_and_a_spinner_on_one_line(terminal):
    with Progress(None) as shown:
        shown.count(1, 4, "linking")
        shown.show("reading")
        shown.note("a file is missing")
        shown.show("writing")
    assert terminal.getvalue() == (
        "\r   25.0%  1 of 4 done; linking\r  /  reading                  "
        "\r                              \rnote: a file is missing\n\r  -  writing\r            \r"
    )


def test_an_update_prints_as_one_line():
    assert str(ProgressUpdate("checks")) == "checks"
    assert str(ProgressUpdate("half", 0.5)) == " 50.0%  half"
