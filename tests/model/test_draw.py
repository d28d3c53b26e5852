"""Pictures of mechanisms at a state, as text and in pixels."""

import sys
import zipfile
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import pytest

import linkwork as lw
from linkwork.draw.joint_symbols import joint_mark
from linkwork.draw.mechanism_picture import Labels, icon
from linkwork.draw.raster import rendered
from linkwork.draw.scene import drawn
from support.cases import four_bar
from support.random_mechanisms import FAMILIES, well_posed

SVG = "{http://www.w3.org/2000/svg}"


def title_of(svg):
    return ElementTree.fromstring(svg).find(f"{SVG}title").text


def pixels_of(path):
    return matplotlib.image.imread(path)


def test_a_mechanism_is_drawn_at_its_start_and_at_a_state(tmp_path):
    case = four_bar()
    model = lw.compile(case.mechanism)
    state = model.assemble(q=case.q)
    at_start, at_state = case.mechanism.draw(), case.mechanism.draw(tmp_path / "x.svg", state)
    assert title_of(at_start.svg) == "four_bar_of_record at its start"
    assert title_of(at_state.svg) == "four_bar_of_record at 0 s"
    assert (tmp_path / "x.svg").read_text() == at_state.svg == model.draw(state=state).svg != at_start.svg
    assert case.mechanism._repr_svg_() == model._repr_svg_() == at_start.svg == at_start._repr_svg_()


def test_bodies_are_drawn_where_the_state_has_them():
    case = four_bar()
    model = lw.compile(case.mechanism)
    state = model.assemble(q=case.q)
    for name, body in drawn(model, 10, state).bodies.items():
        np.testing.assert_allclose(body.com, model.point(state, name, case.mechanism.bodies[name].com), atol=1e-14)


def test_a_start_that_cannot_be_assembled_is_drawn_open():
    mech = four_bar().mechanism
    mech.add_distance("rod", ("ground", "coupler"), ((0, 0, 0), (0, 0, 0)), length=100.0)
    mech.start(q={"A": 0.4})
    svg = mech.draw().svg
    assert title_of(svg).endswith("at its start values, not assembled")
    assert svg == mech._repr_svg_()


def test_names_stand_next_to_their_points_apart_from_each_other_and_within_the_picture():
    labels = Labels(200.0, 100.0)

    def place(x, y):
        text = ElementTree.fromstring(labels.place("AB", np.array([x, y]), 5.0, "#000", "normal"))
        return np.array([float(text.get("x")), float(text.get("y"))])

    first, second, corner = place(100.0, 50.0), place(100.0, 50.0), place(1.0, 99.0)
    for name in (first, second):
        assert (np.abs(name - (100.0, 50.0)) < (20.0, 20.0)).all()
    assert (np.abs(first - second) >= (2 * 6.8, 13.0)).any()
    assert corner[0] >= 6.8
    assert corner[1] <= 100.0


def test_singular_starts_are_drawn():
    mech = lw.Mechanism("line")
    for name in ("a", "b", "c"):
        mech.add_body(name, 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0))
    hinge, far = lw.Revolute((0, 1, 0)), lw.Frame((1, 0, 0))
    mech.add_joint("A", hinge, "ground", "a", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "a", "b", parent_frame=far)
    mech.add_joint("C", hinge, "b", "c", parent_frame=far)
    mech.add_joint("D", hinge, "ground", "c", parent_frame=far, child_frame=far)
    assert mech.draw().svg


def test_nothing_is_shown_of_a_mechanism_that_cannot_be_compiled():
    mech = lw.Mechanism("empty")
    assert mech._repr_svg_() is None
    with pytest.raises(lw.MechanismError, match="has no bodies"):
        mech.draw()


def test_a_state_of_another_mechanism_is_refused(system, state):
    other = four_bar().mechanism
    other.gravity = (0, 0, -1)
    with pytest.raises(lw.MechanismError, match="this state is of another mechanism than 'four_bar_of_record'"):
        other.draw(state=state)
    with pytest.raises(lw.MechanismError, match="belongs to another"):
        lw.compile(other).draw(state=state)


def test_other_suffixes_are_refused(system, tmp_path):
    with pytest.raises(lw.LinkworkError, match=r"cannot be saved as 'x.gif'.*'.svg', '.png', '.pdf'"):
        system.draw(tmp_path / "x.gif")
    assert not list(tmp_path.iterdir())


# ---- pixels ----


@pytest.mark.parametrize(
    ("shape", "inside", "outside"),
    [
        ('<circle cx="10" cy="6" r="4" fill="#f00"/>', [(10, 6), (13, 6), (10, 9)], [(14.8, 6), (10, 11), (14, 10)]),
        ('<path d="M2 2h10v6H2Z" fill="#f00"/>', [(3, 3), (11, 7)], [(1, 3), (13, 3), (6, 9)]),
        ('<path d="M2 2L12 2l0 6L2 8Z" fill="#f00"/>', [(3, 3), (11, 7)], [(1, 3), (13, 3), (6, 9)]),
        ('<line x1="2" y1="5" x2="12" y2="5" stroke="#f00" stroke-width="2"/>', [(3, 5), (11, 5.4)], [(3, 7), (14, 5)]),
        (
            '<polyline points="2,2 10,2 10,10" fill="none" stroke="#f00" stroke-width="2"/>',
            [(3, 2), (10, 9)],
            [(5, 5), (3, 9)],
        ),
        (
            '<rect x="-5" y="-1" width="10" height="2" transform="translate(8 7) rotate(90.0)" fill="#f00"/>',
            [(8, 3), (8, 11)],
            [(4, 7), (12, 7)],
        ),
        (
            '<path d="M0 0L4 0" transform="translate(5 5) rotate(90.0)" stroke="#f00" stroke-width="2"/>',
            [(5, 8)],
            [(8, 5)],
        ),
        (
            '<line x1="0" y1="5" x2="20" y2="5" stroke="#f00" stroke-width="2" stroke-dasharray="5 5"/>',
            [(2, 5), (12, 5)],
            [(7, 5), (17, 5)],
        ),
    ],
)
def test_shapes_are_where_svg_has_them(tmp_path, shape, inside, outside):
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 12">{shape}</svg>'
    path = tmp_path / "x.png"
    path.write_bytes(rendered(svg, "png", 10.0))
    pixels = pixels_of(path)
    assert pixels.shape == (120, 200, 4)
    for x, y in inside:
        assert pixels[round(10 * y), round(10 * x)].tolist() == [1, 0, 0, 1], (x, y)
    for x, y in outside:
        assert pixels[min(119, round(10 * y)), round(10 * x), 3] == 0, (x, y)


@pytest.mark.parametrize("name", ["planar_4R_springs", "moving_slider_crank", "sprung_coupled"])
def test_pixels_show_the_picture(name, tmp_path):
    path = tmp_path / "x.png"
    picture = well_posed(FAMILIES[name][0], 1).mechanism.draw(path)
    width, height = (float(x) for x in ElementTree.fromstring(picture.svg).get("viewBox").split()[2:])
    pixels = pixels_of(path)
    assert pixels.shape[:2] == (2 * height, 2 * width)
    assert (pixels[..., 3] == 1.0).all()
    assert 0.005 < (pixels[..., :3] < 0.9).any(axis=2).mean() < 0.5
    for circle in ElementTree.fromstring(picture.svg).iter(f"{SVG}circle"):
        if circle.get("fill") == "#fff":  # a hinge: its ring is dark
            x, y, r = (2 * float(circle.get(name)) for name in ("cx", "cy", "r"))
            ring = [pixels[round(y + r * np.sin(a)), round(x + r * np.cos(a)), :3] for a in np.linspace(0, 6, 12)]
            assert np.mean(ring) < 0.6


def test_the_same_picture_gives_the_same_bytes(system, tmp_path):
    for form in ("png", "pdf"):
        assert rendered(icon(system), form, 2.0) == rendered(icon(system), form, 2.0)
    system.draw(tmp_path / "x.pdf")
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")


def test_user_settings_of_matplotlib_do_not_matter(system):
    svg = system.draw().svg
    before = rendered(svg, "png", 1.0)
    with matplotlib.rc_context({"lines.linewidth": 9, "axes.facecolor": "red", "font.family": "monospace"}):
        assert rendered(svg, "png", 1.0) == before


# ---- icons of FMUs ----


@pytest.mark.parametrize(("fmi", "place"), [("2.0", "model.png"), ("3.0", "terminalsAndIcons/icon.png")])
def test_the_icon_of_an_fmu_shows_the_mechanism(fmi, place, tmp_path):
    files = []
    for name in ("a.fmu", "b.fmu"):
        lw.export_fmu(four_bar().mechanism, tmp_path / name, fmi=fmi)
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    with zipfile.ZipFile(tmp_path / "a.fmu") as archive:
        (tmp_path / "icon.png").write_bytes(archive.read(place))
    pixels = pixels_of(tmp_path / "icon.png")
    assert pixels.shape == (256, 256, 4)
    assert 0.01 < (pixels[..., 3] > 0.5).mean() < 0.5


def test_without_matplotlib_the_icon_is_the_sign(system, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "linkwork.draw.raster", None)
    lw.export_fmu(four_bar().mechanism, tmp_path / "x.fmu", fmi="2.0")
    with zipfile.ZipFile(tmp_path / "x.fmu") as archive:
        (tmp_path / "icon.png").write_bytes(archive.read("model.png"))
    assert pixels_of(tmp_path / "icon.png").shape != (256, 256, 4)
    with pytest.raises(ImportError):
        system.draw(tmp_path / "x.png")
    assert system.draw(tmp_path / "x.svg")


def test_a_hinge_is_a_ring_from_its_end_and_a_box_along_its_axis_from_its_side() -> None:
    marks = [
        joint_mark("revolute", np.zeros(2), np.zeros(2), np.array(axis), 5.0)
        for axis in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    ]
    assert [("<circle" in mark, "<rect" in mark) for mark in marks] == [(True, False), (False, True), (False, True)]
    assert ["rotate(0.0)" in marks[1], "rotate(90.0)" in marks[2]] == [True, True]
