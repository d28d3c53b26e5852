"""What a simulation gives back: columns, tables, files, plots."""

import csv

import numpy as np
import pytest

import linkwork as lw
from support.builder import cut_at
from support.cases import four_bar
from support.driving import reached
from support.random_mechanisms import FAMILIES, well_posed


@pytest.fixture(scope="module")
def system():
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    case.mechanism.add_force(lw.SpringDamper("B", stiffness=0.3, damping=0.1, free=0.2))
    return lw.compile(case.mechanism)


@pytest.fixture(scope="module")
def result(system):
    return lw.simulate(system, 0.5, t_eval=np.linspace(0.0, 0.5, 11), inputs={"A": lambda t: 1.0 - t, "D": 0.25})


def loads_at(t):
    return {"A": 1.0 - t, "D": 0.25}


# ---- columns ----


def test_every_column_is_what_the_system_computes_there(system, result):
    for i in (0, 4, 10):
        q, u, tau = result.y[i, :3], result.y[i, 3:], loads_at(result.t[i])
        for name in result.names:
            expected = result.t[i] if name == "time" else system.value(name, q, u, tau=tau)
            assert result[name][i] == expected, name


def test_columns_of_states(system, result):
    assert result.y.shape == (11, 6)
    for k, name in enumerate([*system.q_names, *system.u_names]):
        assert np.array_equal(result[name], result.y[:, k])
    assert np.array_equal(result["time"], result.t)


def test_quantities_of_several_numbers(result):
    assert result["A.q"].shape == (11,)
    assert result["coupler.r"].shape == (11, 3)
    assert result["coupler.Q"].shape == (11, 4)
    for i in range(3):
        assert np.array_equal(result[f"coupler.r[{i + 1}]"], result["coupler.r"][:, i])


def test_names(system, result):
    assert result.names[0] == "time"
    kinds = {variable.name: variable.kind for variable in system.variables}
    assert {kinds[name] for name in result.names} == {"time", "input", "state", "derivative", "output"}
    assert set(kinds) - set(result.names) == {name for name, kind in kinds.items() if kind in ("parameter", "start")}
    assert {"A.q", "D.q", "der(A.u)", "coupler.r[2]", "A.tau", "loop.D.residual"} <= set(result.names)


def test_inputs_are_columns(result):
    assert result["A.tau"] == pytest.approx(1.0 - result.t, abs=0)
    assert np.array_equal(result["D.tau"], np.full(11, 0.25))
    assert np.array_equal(result["B.tau"], np.zeros(11))


def test_parameters_are_columns(system, result):
    assert np.array_equal(result["coupler.m"], np.full(11, 2.0))
    assert np.array_equal(result["gravity"], np.tile([0.0, 0.0, -9.81], (11, 1)))
    assert np.array_equal(result["B.q_free"], np.full(11, 0.2))
    assert np.array_equal(result["A.q_start"], np.full(11, -0.7))
    assert result["crank.I"].shape == (11, 6)


def test_columns_may_be_changed(result):
    for name in ("A.q", "coupler.r", "coupler.m", "gravity"):
        before = result[name]
        result[name][:] = 7.0
        assert np.array_equal(result[name], before)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("A.Q", "A.q"), ("coupler.R", "coupler.r"), ("cupler.r", "coupler.r"), ("energy.kinetc", "energy.kinetic")],
)
def test_unknown_columns(result, name, hint):
    for ask in (lambda: result[name], lambda: result.to_dataframe([name]), lambda: result.plot([name])):
        with pytest.raises(lw.MechanismError, match=f"no variable '{name}': did you mean '{hint}"):
            ask()


def test_derivatives_are_those_of_the_states(result):
    fine = lw.simulate(result.system, 0.5, t_eval=np.linspace(0.0, 0.5, 2001))
    for name in ("A.q", "C.u"):
        assert np.gradient(fine[name], fine.t)[5:-5] == pytest.approx(fine[f"der({name})"][5:-5], abs=1e-2)
    assert fine["B.a"] == pytest.approx(fine["der(B.u)"], abs=1e-4)


def test_no_rows():
    result = lw.simulate(four_bar().mechanism, 0.1, t_eval=[])
    assert result["A.q"].shape == (0,)
    assert result["coupler.r"].shape == (0, 3)
    assert result["coupler.m"].shape == (0,)
    assert result["gravity"].shape == (0, 3)
    assert "empty" in repr(result)


def test_repr(result):
    assert repr(result) == "Result('four_bar_of_record': 11 times, 0 to 0.5 s; reached t = 0.5)"


def test_what_a_run_has_cost(result):
    assert result.statistics.steps > 10
    assert result.statistics.evaluations > 6 * result.statistics.steps
    assert result.events == []
    assert result.message == "reached t = 0.5"


# ---- cut joints over several turns ----


def spinning(cut, t_eval=None, t_end=2.0, **options):
    """The crank of a four-bar without weight turns several times."""
    case = four_bar()
    mech = cut_at(case.mechanism, cut)
    mech.gravity = (0, 0, 0)
    mech.start(q=case.q, u={name: 5.0 * value for name, value in case.u.items()})
    return lw.simulate(mech, t_end, t_eval=t_eval, **options)


@pytest.mark.parametrize(
    "t_eval", [None, np.linspace(0.0, 2.0, 200), [0.0, 2.0], [2.0]], ids=["steps", "fine", "ends", "end"]
)
def test_angles_of_cut_joints_are_followed(t_eval):
    """Whatever rows are kept: the angle is that of the same mechanism cut elsewhere."""
    cut, tree = spinning("A", t_eval), spinning("D", t_eval)
    assert cut["A.q"][-1] < -4 * np.pi
    assert cut["A.q"][-1] == pytest.approx(tree["A.q"][-1], abs=1e-5)
    if t_eval is None or len(t_eval) > 10:
        assert np.abs(np.diff(cut["A.q"])).max() < 1.0


def test_angles_of_cut_joints_backward_in_time():
    case = four_bar()
    mech = cut_at(case.mechanism, "A")
    mech.gravity = (0, 0, 0)
    mech.start(q=case.q, u={name: 5.0 * value for name, value in case.u.items()})
    back = lw.simulate(mech, -2.0, t_eval=[0.0, -1.0, -2.0])
    every = lw.simulate(mech, -2.0)
    assert back["A.q"][-1] > 4 * np.pi
    assert back["A.q"][-1] == pytest.approx(every["A.q"][-1], abs=1e-6)
    assert np.abs(every["loop.A.residual"]).max() < 1e-6


def test_asking_for_columns_in_any_order_gives_the_same():
    first, second = spinning("A"), spinning("A")
    q, r = first["A.q"], first["coupler.r"]
    assert np.array_equal(second["coupler.r"], r)
    assert np.array_equal(second["A.q"], q)
    assert np.array_equal(second["A.q"], q)


# ---- runs that failed ----


def test_result_of_a_failed_run():
    with pytest.raises(lw.SolverError) as failed:
        lw.simulate(four_bar().mechanism, 100.0, max_steps=50)
    result = failed.value.result
    assert result.t[-1] < 100.0
    assert result.statistics.steps == len(result.t) - 1
    assert "max_steps" in repr(result)
    for name in result.names:
        assert np.isfinite(result[name]).all(), name
    assert result.to_dataframe().shape == (len(result.t), len(result.names) - 1)
    assert result.plot() is not None


def test_rows_without_accelerations_keep_their_states():
    """A load that is known for the run and not for one of the rows: what does not need it is there."""
    asked = []

    def forgetful(t):
        asked.append(t)
        if t == 0.0 and len(asked) > 10:
            raise LookupError("long ago")
        return 1.0

    result = lw.simulate(four_bar().mechanism, 0.2, inputs={"A": forgetful}, t_eval=[0.0, 0.123])
    assert np.isfinite(result["A.q"]).all()
    assert np.isfinite(result["B.u"]).all()
    assert np.isnan(result["A.tau"]).tolist() == [True, False]
    assert np.isnan(result["A.a"]).tolist() == [True, False]
    assert np.isnan(result["coupler.r"]).all(axis=1).tolist() == [True, False]


# ---- CSV ----


def read(path):
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array([[float(value) for value in row] for row in rows])


def test_csv_keeps_all_digits(result, tmp_path):
    path = tmp_path / "all.csv"
    result.to_csv(path)
    header, table = read(path)
    assert header == ["time", *(name for name in result.names if name != "time")]
    for name, values in zip(header, table.T, strict=True):
        assert np.array_equal(values, result[name]), name


def test_csv_of_some_columns(result, tmp_path):
    path = tmp_path / "some.csv"
    result.to_csv(path, ["coupler.r", "A.q", "time", "crank.I", "coupler.m"])
    header, table = read(path)
    expected = ["time", "coupler.r[1]", "coupler.r[2]", "coupler.r[3]", "A.q"]
    expected += [f"crank.I[{i},{j}]" for i, j in ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3))]
    assert header == [*expected, "coupler.m"]
    assert np.array_equal(table[:, 1:4], result["coupler.r"])
    assert np.array_equal(table[:, 5:11], result["crank.I"])


def test_csv_as_pandas_reads_it(result, tmp_path, needs):
    pandas = needs("pandas")
    path = tmp_path / "all.csv"
    result.to_csv(str(path))
    table = pandas.read_csv(path, index_col="time")
    pandas.testing.assert_frame_equal(table, result.to_dataframe(), rtol=1e-14, check_dtype=False)


def test_csv_replaces_the_file_at_once(result, tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_text("what stood there\n")
    original = np.savetxt

    def full_disk(file, *arguments, **options):
        original(file, *arguments, **options)
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savetxt", full_disk)
    with pytest.raises(OSError, match="no space"):
        result.to_csv(path)
    assert path.read_text() == "what stood there\n"
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]
    monkeypatch.undo()
    result.to_csv(path, ["A.q"])
    assert path.read_text().startswith("time,A.q\n")
    assert [file.name for file in tmp_path.iterdir()] == ["out.csv"]


def test_csv_of_unknown_columns_leaves_the_file(result, tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    with pytest.raises(lw.MechanismError):
        result.to_csv(path, ["nonsense"])
    assert path.read_text() == "old"


def test_csv_into_a_folder_that_is_not_there(result, tmp_path):
    with pytest.raises(FileNotFoundError):
        result.to_csv(tmp_path / "missing" / "out.csv")


def test_csv_of_no_rows(tmp_path):
    path = tmp_path / "empty.csv"
    lw.simulate(four_bar().mechanism, 0.1, t_eval=[]).to_csv(path, ["A.q"])
    assert path.read_text() == "time,A.q\n"


def test_csv_of_values_that_do_not_exist(tmp_path):
    def load(t):
        raise LookupError("never")

    with pytest.raises(LookupError) as failed:
        lw.simulate(four_bar().mechanism, 0.1, inputs={"A": load})
    path = tmp_path / "nan.csv"
    failed.value.result.to_csv(path, ["A.q", "A.tau"])
    header, _ = read(path)
    assert header == ["time", "A.q", "A.tau"]


# ---- tables ----


def test_dataframe(result, needs):
    needs("pandas")
    table = result.to_dataframe()
    assert table.index.name == "time"
    assert np.array_equal(table.index, result.t)
    assert list(table.columns) == [name for name in result.names if name != "time"]
    assert np.array_equal(table["D.q"], result["D.q"])
    some = result.to_dataframe(["coupler.r", "A.q"])
    assert list(some.columns) == ["coupler.r[1]", "coupler.r[2]", "coupler.r[3]", "A.q"]


# ---- plots ----


def test_plot_of_everything_of_interest(result, tmp_path, needs):
    needs("matplotlib")
    path = tmp_path / "motion.png"
    figure = result.plot(path=path)
    assert path.read_bytes().startswith(b"\x89PNG")
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["angle [rad]", "angular speed [rad/s]", "energy [J]"]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert [axes.get_xlabel() for axes in figure.axes[:-1]] == ["", ""]
    assert "four_bar_of_record" in figure.axes[0].get_title(loc="left")
    shown = [line.get_label() for line in figure.axes[0].lines]
    assert shown == ["A.q", "B.q", "C.q", "D.q"]
    x, y = figure.axes[0].lines[1].get_data()
    assert np.array_equal(x, result.t)
    assert np.array_equal(y, result["B.q"])


def test_plot_of_some_columns(result, tmp_path, needs):
    needs("matplotlib")
    path = tmp_path / "some.svg"
    figure = result.plot(["coupler.r", "A.f[1]", "crank.I", "loop.D.residual", "B.a"], path)
    assert path.read_text().lstrip().startswith("<?xml")
    panels = {axes.get_ylabel(): [line.get_label() for line in axes.lines] for axes in figure.axes}
    assert panels["length [m]"] == ["coupler.r[1]", "coupler.r[2]", "coupler.r[3]", "loop.D.residual"]
    assert panels["force [N]"] == ["A.f[1]"]
    assert panels["angular acceleration [rad/s²]"] == ["B.a"]
    assert panels["value [kg·m²]"] == [f"crank.I[{k}]" for k in ("1,1", "1,2", "1,3", "2,2", "2,3", "3,3")]
    for axes in figure.axes:
        assert axes.get_legend() is not None


def test_plot_with_a_cut_joint_without_coordinates(needs):
    needs("matplotlib")
    system, state = reached(well_posed(FAMILIES["closed_by_fixed"][0], 0))
    figure = lw.simulate(system, 0.01, state=state).plot()
    assert len(figure.axes) == 3


def test_plot_of_no_rows(needs):
    needs("matplotlib")
    assert lw.simulate(four_bar().mechanism, 0.1, t_eval=[]).plot().axes
