"""Results of systems between their rows: interpolated, sliced, joined, compared and saved."""

import json

import numpy as np
import pytest

from linkwork.cosim import Result
from linkwork.errors import CosimError


def a_result() -> Result:
    """A ball that hits the floor at 1 s, where it has two rows."""
    return Result(
        "fall",
        [0.0, 0.5, 1.0, 1.0, 2.0],
        {
            "ball.h": [1.0, 0.75, 0.0, 0.0, 2.0],
            "ball.v": [0.0, -1.0, -2.0, 2.0, 0.0],
            "ball.hits": [0, 0, 0, 1, 1],
            "ball.up": [False, False, False, True, True],
            "ball.mode": ["fall", "fall", "fall", "rise", "rise"],
            "ball.r[1]": [0.0, 1.0, 2.0, 2.0, 4.0],
            "ball.r[2]": [0.0, 0.0, 0.0, 0.0, 1.0],
        },
        {"ball.h": "m", "ball.v": "m/s", "ball.r[1]": "m", "ball.r[2]": "m"},
        events=[(1.0, "ball")],
    )


def test_numbers_are_on_a_line_and_the_others_are_held():
    result = a_result()
    assert result.at(0.75, ["ball.h", "ball.hits", "ball.mode"]) == {
        "ball.h": 0.375,
        "ball.hits": 0,
        "ball.mode": "fall",
    }
    values = result.at([0.75, 1.0, 1.5], "*")
    assert values["ball.v"].tolist() == [-1.5, 2.0, 1.0]  # after the event
    assert values["ball.up"].tolist() == [False, True, True]
    assert values["ball.r[1]"].tolist() == [1.5, 2.0, 3.0]
    assert result.state(1.0)["ball.mode"] == "rise"


def test_elements_are_a_quantity():
    result = a_result()
    assert result["ball.r"].shape == (5, 2)
    assert "ball.r" in result
    assert result.units["ball.r"] == "m"
    assert result.at(0.25, "ball.r")["ball.r"].tolist() == [0.5, 0.0]
    assert list(result) == result.names
    assert np.array_equal(result["time"], result.t)


def test_a_time_outside_is_refused():
    with pytest.raises(CosimError, match=r"result of 'fall': t = 3 s is outside the rows, 0 to 2 s"):
        a_result().at(3.0)
    with pytest.raises(CosimError, match="there are no rows"):
        Result("no", [], {"a.x": []}).at(0.0)


def test_slices_and_joints_of_them():
    result = a_result()
    early, late = result[:1.0], result[1.0:]
    assert early.t.tolist() == [0.0, 0.5, 1.0, 1.0]
    assert late.t.tolist() == [1.0, 2.0]
    assert late["ball.v"].tolist() == [2.0, 0.0]
    assert (len(early.events), len(late.events)) == (1, 0)
    joined = early.join(late)
    assert joined.t.tolist() == result.t.tolist()
    for name in result.names:
        assert joined[name].tolist() == result[name].tolist()
        assert joined[name].dtype.kind == result[name].dtype.kind
    assert result[0.25:0.75].t.tolist() == [0.25, 0.5, 0.75]
    with pytest.raises(CosimError, match=r"join takes results of the same columns; 'a.x' is in one"):
        result.join(Result("other", [2.0], {"a.x": [0.0]}))


def test_comparison():
    result = a_result()
    other = Result("other", [0.0, 2.0], {"ball.h": [1.0, 1.0], "ball.mode": ["fall", "fall"], "else.x": [0.0, 0.0]})
    table = result.compare(other)
    assert list(table.index) == ["ball.h", "ball.mode"]
    assert table.loc["ball.h"].tolist() == ["m", 1.0, 0.5, 1.0]
    assert table.loc["ball.mode", "difference"] == 1.0
    with pytest.raises(CosimError, match="no column in common"):
        result.compare(Result("none", [0.0, 1.0], {"a": [0.0, 0.0]}))


def test_json_and_matlab(tmp_path):
    loadmat = pytest.importorskip("scipy.io").loadmat
    result = a_result()
    result.save(tmp_path / "out.json")
    text = json.loads((tmp_path / "out.json").read_text())
    assert text["columns"]["ball.up"] == [False, False, False, True, True]
    assert text["columns"]["ball.mode"][-1] == "rise"
    assert text["events"] == [[1.0, "ball"]]
    result.save(tmp_path / "out.mat")
    found = loadmat(tmp_path / "out.mat")
    assert found["values"].shape == (5, 6)
    assert [cell.item() for cell in found["texts"][:, 0]] == result["ball.mode"].tolist()
    assert found["text_names"].item().item() == "ball.mode"
    with pytest.raises(CosimError, match="results cannot be written to"):
        result.save(tmp_path / "out.xlsx")


def test_columns_of_files_are_chosen(tmp_path):
    result = a_result()
    result.save(tmp_path / "out.parquet", ["ball.r", "ball.up"])
    assert Result.read(tmp_path / "out.parquet").names == ["ball.r[1]", "ball.r[2]", "ball.up"]
    assert result.to_dataframe("ball.?").attrs["units"] == {
        "ball.h": "m",
        "ball.v": "m/s",
        "ball.r[1]": "m",
        "ball.r[2]": "m",
    }


def test_a_notebook_shows_names_as_they_are():
    text = Result("a<b", [0.0, 1.0], {"<i>.x": [0.5, 1 / 3]}, {"<i>.x": "m"})._repr_html_()
    assert "a&lt;b" in text
    assert "<td>&lt;i&gt;.x</td><td>m</td><td>0.5</td><td>0.333333</td>" in text
