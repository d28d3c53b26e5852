"""The picture of a system: nothing overlaps, arrows go from port to port and around boxes."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from linkwork.cosim import Connection, System
from linkwork.errors import CosimError
from support.described_fmus import variable, write_fmu

picture = pytest.importorskip("linkwork.draw.block_diagram")
from linkwork.draw.block_layout import Box, Layout  # noqa: E402


def loop(folder: Path) -> System:
    """A plant and its controller."""
    plant = [variable("body.v", "output", unit="rad"), variable("tau", "input", start="0", unit="N")]
    control = [variable("speed", "input", start="0", unit="deg"), variable("force", "output", unit="N")]
    system = System("A plant with its controller")
    system.add("plant", write_fmu(folder / "plant.fmu", plant))
    system.add("control", write_fmu(folder / "control.fmu", control))
    system.connect("plant.body.v", "control.speed")
    system.connect("control.force", "plant.tau", factor=-2.5, offset=1.0)
    return system


def texts(figure) -> list[str]:
    return [one.get_text() for one in figure.axes[0].texts]


def test_names_ports_files_and_what_happens_on_the_way_are_shown(tmp_path: Path) -> None:
    said = texts(loop(tmp_path).draw())
    for name in ("A plant with its controller", "plant", "control", "plant.fmu", "control.fmu"):
        assert said.count(name) == 1
    for name in ("body.v", "tau", "speed", "force", "rad → deg", "× −2.5 + 1"):
        assert said.count(name) == 1


def test_units_are_not_converted_where_that_is_not_wanted(tmp_path: Path) -> None:
    system = loop(tmp_path)
    system.connections[0] = Connection("plant.body.v", "control.speed", convert_units=False)
    assert not any("→" in one for one in texts(system.draw()))
    system.connections[0] = Connection("control.force", "control.speed")
    assert "N ≠ deg" in texts(system.draw())


def test_names_outside_are_shown(tmp_path: Path) -> None:
    system = loop(tmp_path)
    system.connections.pop()
    system.external_inputs = [Connection("wind", "plant.tau", 3.0)]
    system.external_outputs = [Connection("control.force", "wind")]
    assert texts(system.draw()).count("wind") == 2
    assert "× 3" in texts(system.draw())


def test_fmus_need_not_be_there_and_long_names_are_shortened(tmp_path: Path) -> None:
    system = System("two")
    system.add("a" * 80, tmp_path / "no.fmu")
    said = texts(system.draw())
    assert "no.fmu" in said
    assert any("…" in one and len(one) < 40 for one in said)
    with pytest.raises(CosimError, match="no components to draw"):
        System("none").draw()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_it_is_saved(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"loop{suffix}"
    loop(tmp_path).draw(path)
    assert path.stat().st_size > 1000


def test_feedback_goes_around_below(tmp_path: Path) -> None:
    boxes = [Box("a", 80.0, ["u"], ["y"]), Box("b", 80.0, ["u"], ["y"])]
    layout = Layout(boxes, [(("a", "y"), ("b", "u")), (("b", "y"), ("a", "u"))], {})
    assert [box.layer for box in boxes] == [0, 1]
    forward, back = (points for _, _, points in layout.ways())
    lowest = min(box.top - box.height for box in boxes)
    assert min(y for _, y in forward) > lowest
    assert min(y for _, y in back) < lowest


def chain(n: int) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    return [((f"c{i}", "y"), (f"c{i + 1}", "u")) for i in range(n - 1)]


@pytest.mark.slow
def test_long_chains_are_laid_out_with_and_without_feedback() -> None:
    for more in ([], [(("c2999", "y"), ("c0", "u"))]):
        boxes = [Box(f"c{i}", 80.0, ["u"], ["y"]) for i in range(3000)]
        layout = Layout(boxes, [*chain(3000), *more], {})
        assert [box.layer for box in boxes] == list(range(3000))
        assert len(list(layout.ways())) == 2999 + len(more)


def test_what_is_too_large_for_pixels_is_refused_and_can_be_saved_otherwise(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(picture, "MOST_PIXELS", 650.0)
    system = System("chain")
    for i in range(20):
        system.add(f"c{i}", tmp_path / "no.fmu")
    for i in range(19):
        system.connect(f"c{i}.y", f"c{i + 1}.u")
    system.draw(tmp_path / "chain.svg")
    assert (tmp_path / "chain.svg").stat().st_size > 1000
    with pytest.raises(CosimError, match=r"too large for chain.png; save it as .svg"):
        system.draw(tmp_path / "chain.png")


def test_layers_are_those_of_the_longest_way() -> None:
    boxes = {name: Box(name, 80.0, ["u", "v"], ["y"]) for name in "abcd"}
    edges = [("a", "b", "u"), ("b", "c", "u"), ("c", "d", "u"), ("a", "d", "v")]
    Layout(boxes.values(), [((one, "y"), (two, port)) for one, two, port in edges], {})
    assert {name: box.layer for name, box in boxes.items()} == {"a": 0, "b": 1, "c": 2, "d": 3}


EDGES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(0, 2)), max_size=24)


@settings(max_examples=80)
@given(st.integers(1, 12), EDGES)
@example(5, [(0, 1, 0), (0, 1, 0), (1, 2, 0), (4, 0, 0), (4, 2, 0)])  # a line below all boxes
@example(4, [(2, 1, 0), (2, 0, 2), (0, 1, 0), (3, 3, 2), (2, 3, 1)])  # one above
def test_nothing_overlaps_and_arrows_end_at_their_ports(count: int, drawn: list[tuple[int, int, int]]) -> None:
    boxes = {f"c{i}": Box(f"c{i}", 60.0 + 7 * i) for i in range(count)}
    edges = []
    for number, (start, end, output) in enumerate(drawn):
        source, target = (f"c{start % count}", f"y{output}"), (f"c{end % count}", f"u{number}")
        if source[1] not in boxes[source[0]].outputs:
            boxes[source[0]].outputs.append(source[1])
        boxes[target[0]].inputs.append(target[1])
        edges.append((source, target))
    layout = Layout(boxes.values(), edges, {target: 30.0 for _, target in edges})
    ways = list(layout.ways())
    assert sorted((source, target) for source, target, _ in ways) == sorted(edges)
    rectangles = {name: (box.x, box.top - box.height, box.x + box.width, box.top) for name, box in boxes.items()}
    places = list(rectangles.values())
    assert not any(overlap(one, two) for i, one in enumerate(places) for two in places[:i])
    for source, target, points in ways:
        first, last = boxes[source[0]], boxes[target[0]]
        assert points[0] == (first.x + first.width, first.port(source[1], True))
        assert points[-1] == (last.x, last.port(target[1], False))
        assert points[-1][0] - points[-2][0] >= 30.0  # space for the label
        for one, two in pairwise(points):
            assert one[0] == two[0] or one[1] == two[1]
            piece = (*map(min, one, two), *map(max, one, two))
            assert not any(overlap(piece, box) for box in places)
            assert piece[0] >= -1e-9
            assert piece[2] <= layout.width + 1e-9
            assert layout.bottom - 1e-9 <= piece[1]
            assert piece[3] <= layout.top + 1e-9


def overlap(one: tuple[float, ...], two: tuple[float, ...]) -> bool:
    """Whether rectangles (left, bottom, right, top) share more than an edge."""
    slack = 1e-6
    across = one[0] < two[2] - slack and two[0] < one[2] - slack
    return across and one[1] < two[3] - slack and two[1] < one[3] - slack
