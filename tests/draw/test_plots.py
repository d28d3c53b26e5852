"""Plots of results: panels by unit and magnitude, colours that stay, legends that can be read."""

import numpy as np
import pytest

plotting = pytest.importorskip("linkwork.draw.plotting")

from linkwork.cosim import Result  # noqa: E402
from linkwork.errors import LinkworkError  # noqa: E402

T = np.linspace(0.0, 1.0, 5)


def result_of(columns: dict[str, float], units: str | dict[str, str] = "m", **options) -> Result:
    """Straight lines up to given values."""
    given = dict.fromkeys(columns, units) if isinstance(units, str) else units
    return Result("lines", T, {name: top * T for name, top in columns.items()}, given, **options)


def lines_of(figure) -> dict[str, tuple[str, str]]:
    return {line.get_label(): (line.get_color(), line.get_linestyle()) for axes in figure.axes for line in axes.lines}


def panels_of(figure) -> list[list[str]]:
    return [[line.get_label() for line in axes.lines] for axes in figure.axes]


def test_columns_of_one_unit_and_magnitude_share_a_panel():
    columns = {"a": 1.0, "b": 1e3, "c": -5.0, "d": 0.0, "e": 1.0, "f": 1e-4}
    figure = result_of(columns, {"a": "m", "b": "m", "c": "m", "d": "m", "e": "N", "f": "m"}).plot()
    assert panels_of(figure) == [["b", "d"], ["a", "c"], ["f"], ["e"]]
    assert [axes.get_ylabel() for axes in figure.axes] == ["length [m]", "length [m]", "length [m]", "force [N]"]


def test_magnitudes_up_to_a_hundredfold_share_a_panel():
    assert panels_of(result_of({"a": 1.0, "b": 100.0}).plot()) == [["a", "b"]]
    assert panels_of(result_of({"a": 1.0, "b": 101.0}).plot()) == [["b"], ["a"]]


@pytest.mark.parametrize(("count", "sizes"), [(8, [8]), (9, [5, 4]), (20, [7, 7, 6])])
def test_a_panel_has_at_most_eight_curves(count, sizes):
    figure = result_of({f"x{k:02d}": 1.0 for k in range(count)}).plot()
    assert [len(axes.lines) for axes in figure.axes] == sizes
    assert all(len(axes.get_legend().get_texts()) == len(axes.lines) for axes in figure.axes)


def test_colours_stay_with_the_name_across_figures():
    names = {f"{joint}.{kind}": 1.0 for joint in "ABCDEF" for kind in "qu"}
    result = result_of(names, {name: "rad" if name.endswith("q") else "rad/s" for name in names})
    every = lines_of(result.plot())
    for chosen in (["F.q"], ["*.u"], ["C.q", "C.u"], ["E.u", "A.q"]):
        assert lines_of(result.plot(chosen)).items() <= every.items()
    assert len({every[f"{joint}.q"] for joint in "ABCDEF"}) == 6
    assert all(every[f"{joint}.q"] == every[f"{joint}.u"] for joint in "ABCDEF")


def test_no_two_curves_of_a_panel_look_the_same():
    for count in range(1, plotting.MOST_CURVES + 1):
        positions = {f"x{k}": 32 * k for k in range(count)}  # the same colour and dashes for all
        assert len(set(plotting.styles(list(positions), positions).values())) == count


def test_events_are_thin_lines_and_never_an_area():
    many = [(0.5 + 1e-6 * k, "a") for k in range(1000)]
    figure = result_of({"a": 1.0}, events=[(0.25, "a"), *many]).plot()
    times = [line.get_xdata()[0] for line in figure.axes[0].lines if line.get_label().startswith("_")]
    assert times == [0.25, 0.5]


def test_labels_and_legends_are_whole():
    """Everything drawn is inside the figure."""
    names = {"a.very.long.name.of.a.component.with.a.variable[1]": 1.0, "b": 2.0}
    crowd = {f"a.name{k}": 1.0 for k in range(8 * plotting.MOST_MEASURED + 1)}
    for columns, unit in ((names, "rad/s2"), (names, "N.m.s/rad"), (names, ""), (crowd, "rad/s2")):
        figure = result_of(columns, unit).plot()
        figure.draw_without_rendering()
        width, height = figure.bbox.width, figure.bbox.height
        for axes in figure.axes:
            for part in (axes.yaxis.label, axes.xaxis.label, axes.get_legend(), axes.title):
                box = part.get_window_extent()
                assert box.x0 >= 0
                assert box.x1 <= width + 1
                assert box.y0 >= 0
                assert box.y1 <= height + 1
        label = figure.axes[0].yaxis.label.get_window_extent()
        assert label.height <= figure.axes[0].get_window_extent().height


def test_a_second_column_in_place_of_the_file_is_refused_in_words():
    with pytest.raises(LinkworkError, match=r"cannot be saved as 'a\.u': .*several columns are a list"):
        result_of({"a.q": 1.0, "a.u": 1.0}).plot("a.q", "a.u")


def test_a_tall_picture_has_fewer_pixels_an_inch(tmp_path, monkeypatch):
    monkeypatch.setattr(plotting, "MOST_PIXELS", 400)
    result_of({f"x{k}": 1.0 for k in range(24)}).plot(path=tmp_path / "tall.png")
    content = (tmp_path / "tall.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[20:24], "big") == 400


def test_the_palette_is_one_for_colour_blind_readers():
    """Distances of the colours in CIE Lab stay large for the common forms of colour blindness (Machado 2009)."""
    deuteranopia = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    protanopia = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    codes = [[int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)] for color in plotting.COLORS]
    linear = np.where(np.array(codes) <= 0.04045, np.array(codes) / 12.92, ((np.array(codes) + 0.055) / 1.055) ** 2.4)
    for matrix in (np.eye(3), deuteranopia, protanopia):
        lab = to_lab(np.clip(linear @ np.transpose(matrix), 0, 1))
        distances = np.linalg.norm(lab[:, None] - lab[None], axis=2) + 1e3 * np.eye(len(lab))
        assert distances.min() > 15


def to_lab(rgb):
    """CIE Lab of linear sRGB, D65."""
    xyz = rgb @ np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]).T
    ratio = xyz / [0.9505, 1.0, 1.089]
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)
