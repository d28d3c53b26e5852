"""Results: columns by name, written and read back without loss, plotted."""

import json

import numpy as np
import pandas as pd
import pytest

from linkwork.cosim.recording.result import Result, Statistics
from linkwork.cosim.recording.selection import chosen
from linkwork.errors import CosimError
from support.cosim import Live

UNITS = {"b.y": "rad/s", "a.x[1,1]": "m"}


def a_result(n: int = 12) -> Result:
    return Result(
        "live",
        0.1 * np.arange(n),
        Live.expected(n),
        UNITS,
        events=[(0.3, "a"), (0.30000000000000004, "b")],
        notices=['it\'s all, well: "said"'],
        statistics=Statistics(steps=11, rejected=2),
        aborted=True,
    )


def test_columns_by_name():
    result = a_result()
    assert len(result) == 12
    assert "a.on" in result
    assert "a.off" not in result
    assert result["a.on"].dtype == bool
    assert result.units["b.y"] == "rad/s"
    assert result.units["a.on"] == ""
    assert repr(result) == "Result('live': 12 rows, 7 columns, 0 to 1.1 s, aborted)"
    assert repr(Result("no", [], {})) == "Result('no': 0 rows, 0 columns, empty)"
    with pytest.raises(CosimError, match=r"no variable 'a.om' in the result of 'live': did you mean .*'a.on'"):
        result["a.om"]


def test_other_rows_keep_what_was_noticed():
    rows = a_result().resample([0.2, 0.4])
    assert (list(rows.notices), rows.aborted) == (list(a_result().notices), True)


def test_a_table_of_pandas():
    table = a_result().to_dataframe()
    assert table.index.name == "time"
    assert list(table.columns) == a_result().names
    assert table["a.on"].dtype == bool
    assert table.loc[0.0, "a.count"] == 2**53


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_written_and_read_back_it_is_the_same_to_the_bit(suffix, tmp_path):
    result, path = a_result(), tmp_path / f"out.{suffix}"
    getattr(result, f"to_{suffix}")(path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    again = Result.read(path)
    np.testing.assert_array_equal(again.t, result.t)
    assert again.names == result.names
    for name in result.names:
        assert again[name].dtype.kind == result[name].dtype.kind
        np.testing.assert_array_equal(again[name], result[name])
    if suffix == "parquet":
        assert again.about() == result.about()
        assert again.units == result.units


def test_other_programs_read_it(tmp_path):
    result = a_result()
    result.to_csv(tmp_path / "out.csv")
    table = pd.read_csv(tmp_path / "out.csv", index_col="time")
    pd.testing.assert_frame_equal(table, result.to_dataframe(), check_dtype=False)
    result.to_parquet(tmp_path / "out.parquet")
    table = pd.read_parquet(tmp_path / "out.parquet").set_index("time")
    pd.testing.assert_frame_equal(table, result.to_dataframe(), check_dtype=False)


def test_csv_of_others_is_read(tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text('time, plant.u, "a,b"\n0, 1, on\n0.5, 2.5, off\n')
    result = Result.read(path)
    assert result.names == ["plant.u", "a,b"]
    assert result["plant.u"].tolist() == [1.0, 2.5]
    assert result["a,b"].tolist() == ["on", "off"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.csv", None, "there is no file .*none.csv"),
        ("out.txt", "", "name it"),
        ("out.csv", "t,x\n0,1\n", "no column 'time'; it has: t, x"),
        ("out.csv", "", "cannot be read as a result"),
        ("out.parquet", "PAR1", "cannot be read as a result"),
        ("out.csv", b"\xff\xfe\x00", "cannot be read as a result"),
    ],
)
def test_what_is_no_result_is_refused(name, content, said, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(CosimError, match=said):
        Result.read(tmp_path / name)


def test_nothing_is_left_where_it_cannot_be_written(tmp_path):
    for write in (a_result().to_csv, a_result().to_parquet):
        with pytest.raises(CosimError, match="there is no folder"):
            write(tmp_path / "no" / "out")
    assert not list(tmp_path.iterdir())


def test_about_is_plain_data():
    assert json.loads(json.dumps(a_result().about()))["events"] == [[0.3, "a"], [0.30000000000000004, "b"]]


# ---- plots


def test_a_plot_has_a_panel_for_each_unit_and_lines_at_events(tmp_path):
    figure = a_result().plot(["b.*", "a.on", "a.count"], tmp_path / "out.png")
    assert (tmp_path / "out.png").stat().st_size > 5000
    first, *others = figure.axes
    assert "rad/s" in first.get_ylabel()
    assert {axes.get_ylabel() for axes in others} == {"value"}
    named = {line.get_label(): line for axes in figure.axes for line in axes.lines}
    assert named["b.y"].get_drawstyle() == "default"
    assert named["a.on"].get_drawstyle() == "steps-post"
    at = [line.get_xdata()[0] for line in first.lines if list(line.get_ydata()) == [0, 1]]
    assert at == [0.3]  # the other one is no further than rounding


def test_all_but_texts_are_plotted_by_default():
    labels = {line.get_label() for axes in a_result().plot().axes for line in axes.lines}
    assert set(a_result().names) - {"a.mode"} <= labels
    assert "a.mode" not in labels


# ---- names


def test_brackets_in_names_are_no_patterns():
    names = ["r[1]", "r[2]", "r1", "I[1,2]"]
    assert chosen("r[1]", names) == ["r[1]"]
    assert chosen("r[*", names) == ["r[1]", "r[2]"]
    assert chosen(["r?", "*"], names) == ["r1", "r[1]", "r[2]", "I[1,2]"]
    with pytest.raises(CosimError, match="no variable 'r\\[3\\]'; did you mean"):
        chosen("r[3]", names)
