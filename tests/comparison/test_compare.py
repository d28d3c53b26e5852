"""Comparisons from Python: rows, reference, failures, tables and plots."""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.comparison import ComparisonRun
from linkwork.comparison import reference as reference_module
from linkwork.comparison.comparison import HEADINGS
from linkwork.comparison.measure import Errors
from support.cases import four_bar
from support.closed_form import oscillator
from support.small import pendulum

LINES = ["rcr/dopri5", "multipliers/DOP853", "dca/LSODA", "embedding/Radau"]


@pytest.fixture(scope="module")
def found():
    return lw.compare(four_bar().mechanism, 1.0, runs=LINES, rtol=[1e-7, 1e-4], columns=["coupler.r", "A.u"], repeat=1)


@pytest.fixture
def broken(monkeypatch):
    """`broken(solver, error)`: runs with this solver that are not tight raise the error."""

    def choose(solver: str, error: BaseException) -> None:
        simulate = reference_module.simulate

        def other(system, t_end, **options):
            if options["solver"] == solver:
                raise error
            return simulate(system, t_end, **options)

        monkeypatch.setattr(reference_module, "simulate", other)

    return choose


def test_rows_by_run_and_tolerance(found):
    assert [(row.run, row.rtol) for row in found.rows] == [(run, rtol) for run in LINES for rtol in (1e-4, 1e-7)]
    assert not any(row.failed for row in found.rows)
    assert [row.rtol for row in found.of("dca/LSODA")] == [1e-4, 1e-7]
    assert repr(found) == "Comparison('four_bar_of_record': 8 rows of 4 runs)"


def test_errors_follow_the_tolerance(found):
    for row in found.rows:
        assert row.error_floor < row.error < 30 * row.rtol
        assert row.error <= max(row.error_q, row.error_u) * 3  # a point's path is some coordinates long
        assert 0 < row.residual < row.rtol
        assert 0 < row.energy_drift < 10 * row.rtol
        assert row.cpu_time > 0


def test_counts_are_those_of_a_run(found):
    (row, _) = found.of("embedding/Radau")
    system = lw.compile(four_bar().mechanism, "embedding")
    counted = lw.simulate(system, 1.0, solver="Radau", rtol=1e-4).statistics
    assert (row.steps, row.rejected, row.evaluations) == (counted.steps, None, counted.evaluations)
    assert row.jacobian_evaluations == counted.jacobian_evaluations > 0


def test_the_reference_is_made_differently(found):
    assert found.reference.origin == "auto/DOP853 at rtol 1e-10"
    assert found.reference.checked_by == "multipliers/dopri5 at rtol 1e-10"
    chosen = lw.compare(pendulum(), 0.5, runs=["RK45"], rtol=1e-3, reference="multipliers/dopri5", repeat=1)
    assert chosen.reference.origin == "multipliers/dopri5 at rtol 1e-6"
    assert chosen.reference.checked_by == "auto/DOP853 at rtol 1e-6"


def test_a_result_as_reference():
    t = np.linspace(0.0, 1.0, 6)
    exact = lw.simulate(pendulum(), 1.0, rtol=1e-12, t_eval=t)
    found = lw.compare(pendulum(), 1.0, runs=["dopri5"], rtol=1e-5, reference=exact, repeat=1)
    rough = lw.simulate(pendulum(), 1.0, rtol=1e-5, t_eval=t)
    assert found.rows[0].error_q == pytest.approx(
        np.abs(rough["A.q"] - exact["A.q"]).max() / np.abs(exact["A.q"]).max()
    )
    assert "not known" in str(found)


def test_a_system_stands_for_its_mechanism():
    system = lw.compile(pendulum())
    given = lw.compare(system, 0.5, runs="dopri5", rtol=1e-5, repeat=1).rows[0]
    assert given.error == lw.compare(pendulum(), 0.5, runs="dopri5", rtol=1e-5, repeat=1).rows[0].error


def test_inputs_reach_all_runs():
    """A torque that holds the rod level: nothing moves, in no run."""
    held = lw.compare(pendulum(), 1.0, runs=["dopri5", "Radau"], rtol=1e-4, inputs={"A": -0.5 * 9.81}, repeat=1)
    assert held.reference.result["A.q"] == pytest.approx(0.0, abs=1e-9)
    assert all(row.error <= row.error_floor for row in held.rows)
    assert "<= 4.4e-16" in str(held)


# ---- failures


def test_a_run_that_fails_is_a_row(broken):
    partial = lw.simulate(pendulum(), 0.1)
    broken("RK45", lw.SolverError("step by step it broke", partial))
    found = lw.compare(pendulum(), 0.5, runs=["RK45", "dopri5"], rtol=1e-5, repeat=1)
    failed, good = found.rows
    assert failed.failed
    assert (failed.message, failed.error, failed.cpu_time) == ("step by step it broke", None, None)
    assert failed.steps == partial.statistics.steps
    assert not good.failed
    assert "auto/RK45 at rtol 1e-5 failed: step by step it broke" in str(found)
    assert repr(found).endswith("2 rows of 2 runs, 1 failed)")


def test_a_run_that_blows_up_is_a_row():
    mech = pendulum(damping=-1e3)
    calm = lw.simulate(pendulum(), 1.0, t_eval=np.linspace(0.0, 1.0, 5))
    found = lw.compare(mech, 1.0, runs=["dopri5"], rtol=1e-4, reference=calm, repeat=1)
    assert found.rows[0].failed
    assert "dopri5 stopped at t" in found.rows[0].message
    assert "no run came to its end" in str(found)


def test_a_backend_that_is_not_there_is_a_row(broken):
    broken("LSODA", ImportError("LSODA needs a package"))
    found = lw.compare(pendulum(), 0.5, runs=["LSODA", "RK45"], rtol=1e-5, repeat=1)
    assert found.rows[0].message == "LSODA needs a package"


def test_a_method_that_cannot_take_it_is_a_row():
    mech = four_bar().mechanism
    mech.bodies["coupler"] = replace(mech.bodies["coupler"], mass=0.0, inertia=np.zeros((3, 3)))
    found = lw.compare(mech, 0.1, runs=["dca/dopri5", "rcr/dopri5"], rtol=1e-4, repeat=1)
    assert "method 'dca' cannot take" in found.rows[0].message


def test_a_reference_that_fails_ends_it(broken):
    broken("DOP853", lw.SolverError("too stiff"))
    with pytest.raises(
        lw.SolverError, match=r"the reference, auto/DOP853 at rtol 1e-8, failed: too stiff.*Give another"
    ):
        lw.compare(pendulum(), 0.5, runs=["RK45"], rtol=1e-5)


def test_the_next_check_serves_where_one_fails(broken):
    broken("dopri5", lw.SolverError("no"))
    found = lw.compare(pendulum(), 0.5, runs=["RK45"], rtol=1e-5, repeat=1)
    assert (found.reference.checked_by, found.reference.errors) == ("", None)


def test_rows_before_an_interrupt_stay(broken):
    broken("RK45", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt) as stopped:
        lw.compare(pendulum(), 0.5, runs=["Radau", "RK45", "RK23"], rtol=1e-5, repeat=1)
    so_far = stopped.value.comparison
    assert [row.run for row in so_far.rows] == ["auto/Radau"]
    assert "auto/Radau" in str(so_far)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"rtol": []}, "rtol must be numbers"),
        ({"rtol": [1e-3, 0.0]}, "rtol must be numbers between 0 and 1"),
        ({"rtol": [1e-3, np.nan]}, "rtol must be finite"),
        ({"rtol": "small"}, "rtol"),
        ({"t_end": 0.0}, "t_end must be a positive time"),
        ({"t_end": np.inf}, "t_end must be finite"),
        ({"columns": []}, "columns is empty"),
        ({"columns": ["A.qq"]}, "there is no variable 'A.qq': did you mean 'A.q'"),
        ({"repeat": 0}, "repeat must be a whole number"),
        ({"repeat": 1.5}, "repeat must be a whole number"),
        ({"t_eval": [0.0, 0.5]}, "t_eval must rise from 0 or later to t_end = 1 s"),
        ({"t_eval": [0.0, 0.5, 0.5, 1.0]}, "t_eval must rise"),
        ({"reference": "auto/DOP85"}, "did you mean 'dop853'"),
        ({"reference": 3}, "reference must be a Result or a run"),
        ({"runs": ["rcr/dopri"]}, "did you mean 'dopri5'"),
        ({"inputs": {"B": 1.0}}, "there is no driven joint 'B'"),
    ],
)
def test_wrong_arguments_are_named(options, said):
    with pytest.raises(lw.MechanismError) as error:
        lw.compare(pendulum(), **{"t_end": 1.0, "runs": ["dopri5"], **options})
    assert said in str(error.value)


def test_references_that_do_not_fit():
    with pytest.raises(lw.MechanismError, match="another mechanism than 'pendulum'"):
        lw.compare(pendulum(), 1.0, reference=lw.simulate(oscillator(), 1.0))
    short = lw.simulate(pendulum(), 0.5)
    with pytest.raises(lw.MechanismError, match="the times of the reference must rise"):
        lw.compare(pendulum(), 1.0, reference=short)
    with pytest.raises(lw.MechanismError, match="leave t_eval out"):
        lw.compare(pendulum(), 0.5, reference=short, t_eval=[0.0, 0.5])
    with pytest.raises(lw.MechanismError, match="compare takes a Mechanism, not dict"):
        lw.compare({}, 1.0)


# ---- results


def test_as_text(found):
    heading, names, *rows = str(found).splitlines()
    assert heading == "four_bar_of_record: 1 s, errors of coupler.r, A.u, of all coordinates q and of all speeds u"
    assert names.split("  ")[1:2] == ["run"]
    assert all(name in names for name in HEADINGS)
    assert [row.split()[:2] for row in rows[:2]] == [["rcr/dopri5", "1e-4"], ["rcr/dopri5", "1e-7"]]
    assert "by multipliers/dopri5 at rtol 1e-10" in rows[-2]
    assert max(map(len, str(found).splitlines())) <= 120


def test_as_csv(found, tmp_path):
    found.to_csv(tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    assert [float(row["error"]) for row in read] == [row.error for row in found.rows]
    assert read[-1]["rejected"] == ""
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        found.to_csv(tmp_path / "no" / "a.csv")


def test_as_json(found):
    read = json.loads(json.dumps(found.to_dict()))
    assert [row["error"] for row in read["rows"]] == [row.error for row in found.rows]
    assert read["reference"]["error"] == found.reference.errors.columns
    assert read["columns"] == ["coupler.r", "A.u"]


def test_as_dataframe(found, needs):
    needs("pandas")
    table = found.to_dataframe()
    assert table["run"].tolist() == [row.run for row in found.rows]
    assert table["steps"].min() > 0


def test_plot(found, needs, tmp_path):
    needs("matplotlib")
    figure = found.plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()[:36]) == (
        "CPU time of a run [ms]",
        "largest error of coupler.r, A.u [SI ",
    )
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert list(lines)[:4] == LINES
    for run in LINES:
        rows = found.of(run)
        np.testing.assert_allclose(lines[run].get_xdata(), [1e3 * row.cpu_time for row in rows])
        np.testing.assert_allclose(lines[run].get_ydata(), [row.error for row in rows])
    assert (
        len({line.get_marker() for line in lines.values()}) == len({line.get_color() for line in lines.values()}) == 4
    )


def test_plot_of_what_the_reference_cannot_tell(needs):
    """Errors of nothing stand hollow on the floor; a run that failed is in the legend alone."""
    needs("matplotlib")
    found = lw.compare(pendulum(), 1.0, runs=["RK23"], rtol=[1e-3, 1e-5], inputs={"A": -0.5 * 9.81}, repeat=1)
    found.rows.append(lw.comparison.ComparisonRow("auto/BDF", 1e-3, message="it broke"))
    (axes,) = found.plot().axes
    assert axes.get_lines()[0].get_ydata() == pytest.approx([found.floor] * 2)
    assert axes.get_lines()[1].get_markerfacecolor() == "white"
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["auto/RK23", "auto/BDF (failed)", "error of the reference"]
    assert axes.get_ylabel() == "largest error of states [SI units; relative above 1]"


def test_nothing_to_plot(needs):
    needs("matplotlib")
    found = lw.Comparison("it", 1.0, rows=[lw.comparison.ComparisonRow("auto/BDF", 1e-3, message="it broke")])
    with pytest.raises(lw.LinkworkError, match="no run came to its end"):
        found.plot()


def test_progress_is_told(capsys):
    lw.compare(pendulum(), 0.1, runs=[ComparisonRun("auto", "RK45")], rtol=[1e-3, 1e-4], repeat=1, progress=True)
    said = capsys.readouterr().err
    assert "1 of 2 done; auto/RK45 at rtol 1e-4" in said
    assert said.endswith("\r")
    lw.compare(pendulum(), 0.1, runs=["RK45"], rtol=1e-3, repeat=1)
    assert capsys.readouterr().err == ""


def test_motions_that_amplify_are_told():
    """The two tight runs part in chaos; no error is claimed then."""
    broad = lw.compare(pendulum(), 0.5, runs=["RK45"], rtol=1e-5, repeat=1)
    assert "amplifies" not in str(broad)
    broad.reference = replace(broad.reference, errors=Errors(0.5, 0.5, 0.5))
    assert "this motion amplifies what even tight runs differ by" in str(broad)
    assert str(broad).count("<= 1.0e+00") == 3


def test_what_a_dae_run_asks_for(monkeypatch):
    """Formulation and scheme reach `simulate`, with rows at the times compared and then at every step."""
    simulate, asked = reference_module.simulate, []

    def other(system, t_end, **options):
        if options["solver"] != "ida":
            return simulate(system, t_end, **options)
        asked.append((options.pop("formulation"), options.pop("scheme", None), options["t_eval"] is None))
        return simulate(system, t_end, **{**options, "solver": "RK45"})

    monkeypatch.setattr(reference_module, "simulate", other)
    monkeypatch.setattr("linkwork.comparison.measure.ENOUGH", 0.0)
    found = lw.compare(pendulum(), 0.2, runs=["chou3/ida", "ggl/ida"], rtol=1e-4, repeat=1)
    assert asked == [("chou", 3, False), ("chou", 3, True), ("ggl", None, False), ("ggl", None, True)]
    assert [row.run for row in found.rows] == ["chou3/ida", "ggl/ida"]
