"""The page inside an FMU, and the mechanism's picture."""

import dataclasses
import re
import zipfile
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from linkwork.draw.mechanism_picture import COLOURS, icon, picture, view_of
from linkwork.draw.scene import drawn
from linkwork.fmu.export.documentation import MOST_ROWS, index_page
from linkwork.fmu.export.fmu import Experiment, describe_system
from linkwork.mechanism.joints import KINDS
from support.graphs import long_mechanism
from support.random_mechanisms import FAMILIES, well_posed

SVG = "{http://www.w3.org/2000/svg}"


def content_of(system, outputs=None):
    return describe_system(system, outputs, Experiment())


def page_of(system) -> ElementTree.Element:
    return ElementTree.fromstring(index_page(content_of(system), system))


def pendulum(**start) -> lw.Mechanism:
    mech = lw.Mechanism("pendulum")
    mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("hinge", lw.Revolute(axis=(0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    mech.start(**start)
    return mech


def test_the_page_is_in_the_fmu_and_well_formed(fmu):
    with zipfile.ZipFile(fmu.path) as archive:
        page = ElementTree.fromstring(archive.read("documentation/index.html"))
    words = " ".join(page.itertext())
    for word in ("crank", "coupler", "rocker", "Revolute", "A.tau", "loop.D.residual", "q_start", "loop_gain.position"):
        assert word in words
    assert page.find(f".//{SVG}svg") is not None
    equations = [" ".join("".join(e.itertext()).split()) for e in page.iter() if e.get("class") == "eq"]
    assert len(equations) > 2
    assert all("=" in equation for equation in equations)


@pytest.mark.parametrize("name", ["planar_4R", "sprung_moving_slider_crank", "three_spatial_legs", "coupled"])
def test_pages_of_random_mechanisms_are_well_formed_and_name_everything(name):
    system = lw.compile(well_posed(FAMILIES[name][0], 0).mechanism)
    cells = {cell.text for cell in page_of(system).iter("td")}
    assert cells >= {*system.mechanism.bodies, *system.mechanism.joints}


def test_evil_words_are_escaped():
    system = lw.compile(pendulum())
    content = dataclasses.replace(content_of(system), name="<b>&\"'", tool="</p><script>alert(1)</script>")
    page = ElementTree.fromstring(index_page(content, system))
    assert page.find("body/h1").text == "<b>&\"'"
    assert page.find(".//script") is None


def test_events_are_told():
    mech = pendulum()
    mech.add_transition("bump", lw.Stop("hinge", lower=-1.0))
    mech.add_transition("latch", lw.Lock("hinge"), when=lw.Time(0.7))
    words = " ".join(page_of(lw.compile(mech)).itertext())
    assert "Time(t=0.7)" in words
    assert "its bounds are met" in words
    assert "Events" not in " ".join(page_of(lw.compile(pendulum())).itertext())


def test_large_mechanisms_are_shortened():
    system = lw.compile(long_mechanism(2_000, True))
    text = index_page(content_of(system), system)
    page = ElementTree.fromstring(text)
    assert len(text) < 300_000
    assert max(len(table.findall("tr")) for table in page.iter("table")) == MOST_ROWS + 1
    assert "The first 200 of 2000." in text
    assert len(icon(system)) < 60_000


def test_inputs_are_found_behind_the_parameters():
    system = lw.compile(pendulum())
    tables = {title.text: table for title, table in titled(page_of(system))}
    content = content_of(system)
    for title, causality in (("Inputs", "input"), ("Outputs", "output"), ("Parameters and start values", "parameter")):
        names = [row.find("td").text for row in tables[title].findall("tr")[1:]]
        assert names == [entry.variable.name for entry in content.each(causality)][:MOST_ROWS]


def titled(page):
    return [(first, second) for first, second in pairwise(page.find("body")) if second.tag == "table"]


# ---- the picture ------------------------------------------------------------------------------------


def drawn_names(svg: str) -> set[str]:
    return {text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")}


@pytest.mark.parametrize("name", ["planar_4R", "moving_slider_crank", "outboard_trees", "spherical_4R"])
def test_small_mechanisms_are_drawn_whole(name):
    system = lw.compile(well_posed(FAMILIES[name][0], 1).mechanism)
    mech = system.mechanism
    names = drawn_names(picture(system))
    shown = {name for name, joint in mech.joints.items() if joint.kind.type_name != "free"}
    assert names >= {*mech.bodies, *shown}
    assert any(re.fullmatch(r"[\d.e-]+ m", name) for name in names)


def numbers_of(svg: str) -> np.ndarray:
    found = []
    for element in ElementTree.fromstring(svg).iter():
        if element.tag == f"{SVG}circle":
            found.append([float(element.get("cx")), float(element.get("cy"))])
    return np.array(found)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_every_joint_type_is_drawn_within_the_picture(name):
    kinds = {"fixed": lw.Fixed(), "revolute": lw.Revolute((0, 0, 1)), "prismatic": lw.Prismatic((1, 0, 0))}
    kinds |= {"universal": lw.Universal((1, 0, 0), (0, 1, 0)), "cylindrical": lw.Cylindrical((0, 0, 1))}
    kinds |= {"screw": lw.Screw((0, 0, 1), 0.1), "pin_in_slot": lw.PinInSlot((0, 0, 1), (1, 0, 0))}
    kinds |= {"curved_slide": lw.CurvedSlide((0, 0, 1), (1, 0, 0), 0.3)}
    kinds |= {"curved_slot": lw.CurvedSlot((0, 0, 1), (1, 0, 0), 0.3)}
    kinds |= {"planar": lw.Planar((0, 1, 0)), "spherical": lw.Spherical(), "free": lw.Free()}
    kinds |= {kind.type_name: kind([(0, 0, 0), (1, 0.2, 0)], (0, 0, 1)) for kind in (lw.PathSlide, lw.PathSlot)}
    mech = lw.Mechanism("one")
    mech.add_body("arm", mass=2.0, com=(0.5, 0.1, 0.2), inertia=lw.inertia.sphere(2.0, 0.1))
    mech.add_joint("J", kinds[name], "ground", "arm", parent_frame=lw.Frame())
    svg = picture(lw.compile(mech))
    root = ElementTree.fromstring(svg)
    width, height = map(float, root.get("viewBox").split()[2:])
    places = numbers_of(svg)
    assert ((places > 0) & (places < (width, height))).all()
    assert ("J" in drawn_names(svg)) == (name != "free")
    assert svg.count(COLOURS[0]) >= 1


def test_points_are_where_the_assembled_start_has_them(system):
    state, scene = system.assemble(), drawn(system, 100)
    for joint in scene.joints:
        np.testing.assert_allclose(*joint.places, atol=1e-8)
    for name, body in scene.bodies.items():
        assert len(body.points) == 2
        com = np.linalg.norm(body.com - state[f"{name}.r"])
        np.testing.assert_allclose(com, np.linalg.norm(system.mechanism.bodies[name].com), rtol=1e-12)


def test_a_start_that_cannot_be_assembled_has_no_picture(four_bar):
    mech = four_bar.copy()
    mech.add_distance("rod", ("ground", "coupler"), ((0, 0, 0), (0, 0, 0)), length=100.0)
    system = lw.compile(mech)
    assert picture(system) is None
    assert icon(system) is None
    assert "no picture" in index_page(content_of(system), system)


@pytest.mark.parametrize("normal", [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0.6, 0, 0.8)])
def test_what_turns_about_one_axis_is_seen_along_it(normal):
    normal = np.array(normal, dtype=float)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(9, 3))
    points -= np.outer(points @ normal, normal)
    view = view_of(points, [normal, -normal], np.array([0, 0, -9.81]))
    np.testing.assert_allclose(abs(view.toward @ normal), 1.0)
    for given in (points, points[:1] * 0, points[:1] + np.outer([0, 1], points[1])):  # flat, one point, one line
        view = view_of(given, [], np.array([0, 0, -9.81]))
        axes = np.stack([view.right, view.up, view.toward])
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-12)
        np.testing.assert_allclose(np.linalg.det(axes), 1.0)


def test_up_is_up():
    line = np.array([[0.0, 0, 0], [1, 0, 0]])
    view = view_of(line, [np.array([0.0, 1, 0])], np.array([0, 0, -9.81]))
    np.testing.assert_allclose(view(np.array([[1.0, 0, 0], [0, 0, 1]])), np.eye(2), atol=1e-12)
    view = view_of(line, [np.array([0.0, 0, 1])], np.array([0, -9.81, 0]))
    np.testing.assert_allclose(view(np.array([[1.0, 0, 0], [0, 1, 0]])), np.eye(2), atol=1e-12)
