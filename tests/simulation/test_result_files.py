"""A result as a CSV file, a table and a plot."""

import csv
import json
import sys

import numpy as np
import pytest

import linkwork as lw
from linkwork.results.files import WRITERS, write_csv
from support.cases import four_bar
from support.driving import reached
from support.random_mechanisms import FAMILIES, well_posed

# ---- CSV ----


def read(path):
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array([[float(value) for value in row] for row in rows])


def test_csv_keeps_all_digits(result, tmp_path):
    path = tmp_path / "all.csv"
    result.to_csv(path)
    header, table = read(path)
    assert header == ["time", *result.names]
    for name, values in zip(header, table.T, strict=True):
        assert np.array_equal(values, result[name]), name


def test_csv_of_some_columns(result, tmp_path):
    path = tmp_path / "some.csv"
    result.to_csv(path, ["coupler.r", "A.q", "time", "crank.inertia", "coupler.mass"])
    header, table = read(path)
    expected = ["time", "coupler.r[1]", "coupler.r[2]", "coupler.r[3]", "A.q"]
    expected += [f"crank.inertia[{i},{j}]" for i, j in ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3))]
    assert header == [*expected, "coupler.mass"]
    assert np.array_equal(table[:, 1:4], result["coupler.r"])
    assert np.array_equal(table[:, 5:11], result["crank.inertia"])


def test_csv_as_pandas_reads_it(result, tmp_path, needs):
    pandas = needs("pandas")
    path = tmp_path / "all.csv"
    result.to_csv(str(path))
    table = pandas.read_csv(path, index_col="time")
    pandas.testing.assert_frame_equal(table, result.to_dataframe(), rtol=1e-14, check_dtype=False)


def test_csv_replaces_the_file_at_once(result, tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    path.write_text("what stood there\n")

    def full_disk(file, content):
        write_csv(file, content)
        raise OSError("no space left on device")

    monkeypatch.setitem(WRITERS, ".csv", full_disk)
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
    assert list(table.columns) == result.names
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
    rows = np.isin(x, result.t)
    assert np.array_equal(x[rows], result.t)
    assert np.array_equal(y[rows], result["B.q"])


def test_plot_of_some_columns(result, tmp_path, needs):
    needs("matplotlib")
    path = tmp_path / "some.svg"
    figure = result.plot(["coupler.r", "A.f[1]", "crank.inertia", "loop.D.residual", "B.a"], path)
    assert path.read_text().lstrip().startswith("<?xml")
    panels = [(axes.get_ylabel(), [line.get_label() for line in axes.lines]) for axes in figure.axes]
    assert panels == [
        ("length [m]", ["coupler.r[1]", "coupler.r[2]", "coupler.r[3]"]),
        ("length [m]", ["loop.D.residual"]),  # much smaller
        ("force [N]", ["A.f[1]"]),
        ("value [kg·m²]", [f"crank.inertia[{k}]" for k in ("1,1", "1,2", "1,3", "2,2", "2,3", "3,3")]),
        ("angular acceleration\n[rad/s²]", ["B.a"]),
    ]
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


def test_csv_into_a_missing_folder_names_the_folder(tmp_path):
    result = lw.simulate(four_bar().mechanism, 0.1)
    with pytest.raises(FileNotFoundError, match=r"write .*a.csv: there is no folder .*absent"):
        result.to_csv(tmp_path / "absent" / "a.csv")


# ---- other formats, read by other programs ----

CHOSEN = ["coupler.r", "*.q"]
COLUMNS = ["coupler.r[1]", "coupler.r[2]", "coupler.r[3]", "A.q", "B.q", "C.q", "D.q"]


def test_json(result, tmp_path):
    result.save(tmp_path / "motion.json", CHOSEN)
    text = json.loads((tmp_path / "motion.json").read_text())
    assert text["name"] == "four_bar_of_record"
    assert text["time"] == result.t.tolist()
    assert list(text["columns"]) == COLUMNS
    assert text["units"] == {"time": "s", **dict.fromkeys(COLUMNS[:3], "m"), **dict.fromkeys(COLUMNS[3:], "rad")}
    for name, values in text["columns"].items():
        assert values == result[name].tolist()


def test_json_of_values_that_do_not_exist(tmp_path):
    """JSON has no NaN: strict readers refuse it."""
    with pytest.raises(LookupError) as failed:
        lw.simulate(four_bar().mechanism, 0.1, inputs={"A": lambda t: {0.0: 1.0}[t]})
    failed.value.result.save(tmp_path / "nan.json")
    assert "NaN" not in (tmp_path / "nan.json").read_text()
    json.loads((tmp_path / "nan.json").read_text())


def test_matlab(result, tmp_path):
    loadmat = pytest.importorskip("scipy.io").loadmat
    result.to_mat(tmp_path / "motion.mat", CHOSEN)
    found = loadmat(tmp_path / "motion.mat")
    assert np.array_equal(found["time"], result.t[:, None])
    assert [cell.item() for cell in found["names"][0]] == COLUMNS
    assert [cell.item() for cell in found["units"][0]] == 3 * ["m"] + 4 * ["rad"]
    assert np.array_equal(found["values"][:, :3], result["coupler.r"])
    assert found["name"].item() == "four_bar_of_record"


def test_parquet(result, tmp_path, needs):
    pandas = needs("pandas")
    parquet = pytest.importorskip("pyarrow.parquet")
    result.save(str(tmp_path / "motion.parquet"), CHOSEN)
    table = pandas.read_parquet(tmp_path / "motion.parquet").set_index("time")
    pandas.testing.assert_frame_equal(table, result.to_dataframe(CHOSEN))
    fields = {field.name: field.metadata[b"unit"] for field in parquet.read_schema(tmp_path / "motion.parquet")}
    assert fields["A.q"] == b"rad"


def test_results_of_mechanics_are_read_as_those_of_systems(result, tmp_path, needs):
    needs("pyarrow")
    result.save(tmp_path / "motion.parquet")
    again = lw.cosim.Result.read(tmp_path / "motion.parquet")
    assert again.names == result.names
    assert again.units == result.units
    assert np.array_equal(again["coupler.r"], result["coupler.r"])


def test_the_suffix_chooses_the_format(result, tmp_path):
    result.save(tmp_path / "motion.CSV", "A.q")
    assert (tmp_path / "motion.CSV").read_text().startswith("time,A.q\n")
    with pytest.raises(lw.MechanismError, match=r"name it \*.csv, \*.parquet, \*.json, \*.mat, .* or \*.pdf"):
        result.save(tmp_path / "motion.xlsx")
    with pytest.raises(lw.MechanismError, match="no variable 'A'"):
        result.save(tmp_path / "motion.csv", "A")
    assert not (tmp_path / "motion.csv").exists()


def test_tables_have_units(result, needs):
    needs("pandas")
    table = result.to_dataframe(["A.q", "loop.D.conditioning"])
    assert table.attrs["units"] == {"A.q": "rad", "loop.D.conditioning": result.units["loop.D.conditioning"]}
    assert list(result.to_dataframe("A.q").columns) == ["A.q"]


@pytest.mark.parametrize(
    ("module", "call"),
    [
        ("pandas", lambda result, path: result.to_dataframe()),
        ("pandas", lambda result, path: result.compare(result)),
        ("pyarrow", lambda result, path: result.to_parquet(path)),
    ],
)
def test_a_missing_package_is_named_with_its_extra(result, tmp_path, monkeypatch, module, call):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"need (pandas|PyArrow): pip install 'linkwork\[viz\]'"):
        call(result, tmp_path / "out.parquet")


def test_a_lone_name_is_one_column(result, needs):
    needs("matplotlib")
    figure = result.plot("A.q")
    assert [line.get_label() for axes in figure.axes for line in axes.lines] == ["A.q"]
