"""The scene that an FMU carries, and pages of co-simulation results."""

import json
import zipfile

import numpy as np
import pytest

import linkwork as lw
from linkwork.fmu.scene_place import PLACES
from linkwork.view.fmu_scene import joined
from linkwork.view.scene import scene_of
from linkwork.view.scene_file import mechanism_in, scene_file
from support.random_mechanisms import FAMILIES, well_posed
from support.renamed import NASTY, parts_of, renamed
from support.view_pages import columns_of, payload_of
from support.zoo import zoo

pytest.importorskip("fmpy")
from linkwork import cosim

pytestmark = pytest.mark.usefixtures("assets")


def pendulum(name="pendulum", body="arm", x=0.0) -> lw.Mechanism:
    mech = lw.Mechanism(name)
    mech.add_body(body, mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    frame = lw.Frame((x, 0, 0))
    mech.add_joint("left-hinge", lw.Revolute((0, 1, 0)), "ground", body, parent_frame=frame)
    return mech


def two_rods() -> lw.Mechanism:
    mech = lw.Mechanism("rods")
    for name in ("left", "right"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("A", hinge, "ground", "left", at=(0, 0, 0))
    mech.add_joint("B", hinge, "left", "right", parent_frame=lw.Frame((1, 0, 0)))
    mech.add_transition("pin", lw.Pin("ground", "right", hinge, child_frame=lw.Frame((1, 0, 0))), lw.Command())
    mech.add_transition("open", lw.Release("pin"), lw.Time(1.0))
    return mech


def member(family: str):
    return lambda: well_posed(FAMILIES[family][0], 2).mechanism


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_it_stands_where_the_standard_lets_it_and_is_the_same_each_time(tmp_path, fmi):
    one = lw.export_fmu(zoo(), tmp_path / "a.fmu", fmi)
    two = lw.export_fmu(zoo(), tmp_path / "b.fmu", fmi)
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as archive:
        content = json.loads(archive.read(PLACES[fmi]))
        described = archive.read("modelDescription.xml").decode()
        size = archive.getinfo(PLACES[fmi]).compress_size
        assert "documentation/live.html" not in archive.namelist()
        assert b"linkwork view" in archive.read("documentation/index.html")
    assert size < 4000
    assert content["format"] == 1
    for body in content["scene"]["bodies"]:
        for column in (*body["r"], *body["Q"]):
            assert f'name="{column}"' in described


def test_any_legal_name_is_found_in_the_fmu(tmp_path):
    mech = zoo()
    new = dict(zip(parts_of(mech), NASTY, strict=False))
    path = lw.export_fmu(renamed(mech, new), tmp_path / "nasty.fmu")
    result = cosim.run(cosim.System.load(path), 0.01, master=cosim.Jacobi(0.01))
    data = payload_of(result.page(tmp_path / "x.html").read_text(encoding="utf-8"))
    scene, known = data["scenes"][0], set(data["runs"][0]["columns"])
    assert [body["name"] for body in scene["bodies"]] == [new[name] for name in mech.bodies]
    columns = {name for body in scene["bodies"] for name in (*body["r"], *body["Q"])}
    columns |= {name for joint in scene["joints"] for name in (*joint["q"], *joint["f"], *joint["t"])}
    columns |= {scene["couplings"][0]["load"], *scene["residuals"], *scene["energies"]}
    columns |= {one["force"] for one in scene["springs"] if one["force"]}
    assert columns <= known


@pytest.mark.parametrize("make", [zoo, two_rods, *map(member, ("planar_4R", "coupled"))])
def test_the_mechanism_is_read_back_with_its_bits(tmp_path, make):
    model = lw.compile(make())
    path = lw.export_fmu(model, tmp_path / "a.fmu")
    mech, options, parameters = mechanism_in(path)
    assert lw.compile(mech, **options).with_parameters(parameters).model_bytes == model.model_bytes


def test_method_and_parameters_are_kept(tmp_path):
    model = lw.compile(well_posed(FAMILIES["planar_4R"][0], 0).mechanism, method="multipliers", reference="centroid")
    body = next(iter(model.mechanism.bodies))
    model = model.with_parameters({f"{body}.mass": 7.0, f"{body}.com": (0.1, 0.2, 0.3)})
    mech, options, parameters = mechanism_in(lw.export_fmu(model, tmp_path / "a.fmu"))
    assert options == {"method": "multipliers", "reference": "centroid"}
    assert lw.compile(mech, **options).with_parameters(parameters).model_bytes == model.model_bytes


def test_large_mechanisms_have_none():
    from support.graphs import long_mechanism

    assert scene_file(lw.compile(long_mechanism(2_100, True))) is None


def test_the_documentation_has_a_page_on_request(tmp_path):
    path = lw.export_fmu(pendulum(), tmp_path / "a.fmu", page=True, stop_time=3.0)
    with zipfile.ZipFile(path) as archive:
        data = payload_of(archive.read("documentation/live.html").decode())
        assert b'href="live.html"' in archive.read("documentation/index.html")
    assert data["live"]["t_end"] == 3.0
    assert path.read_bytes() == lw.export_fmu(pendulum(), tmp_path / "b.fmu", page=True, stop_time=3.0).read_bytes()


def test_fmus_without_a_scene_are_refused(tmp_path):
    scenes = {"a": None, "b": "{", "c": '{"format": 99}', "e": '{"format": 1, "scene": {}}'}
    for name, text in scenes.items():
        with zipfile.ZipFile(tmp_path / f"{name}.fmu", "w") as archive:
            if text is not None:
                archive.writestr(PLACES["3.0"], text)
    with pytest.raises(lw.LinkworkError, match="has no scene"):
        mechanism_in(tmp_path / "a.fmu")
    with pytest.raises(lw.LinkworkError, match="is no JSON"):
        mechanism_in(tmp_path / "b.fmu")
    with pytest.raises(lw.LinkworkError, match="of another format"):
        mechanism_in(tmp_path / "c.fmu")
    with pytest.raises(lw.LinkworkError, match=r"e\.fmu has no 'mechanism'; export the FMU again"):
        mechanism_in(tmp_path / "e.fmu")
    (tmp_path / "d.fmu").write_text("no zip")
    with pytest.raises(lw.LinkworkError, match="cannot be read"):
        mechanism_in(tmp_path / "d.fmu")


# ---- co-simulation


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    folder = tmp_path_factory.mktemp("system")
    system = cosim.System("pair")
    for name, x in (("one", 0.0), ("two", 3.0)):
        system.add(name, lw.export_fmu(pendulum(name, f"{name} arm", x), folder / f"{name}.fmu"))
    return system


def test_a_co_simulation_has_the_scenes_of_its_fmus(system, tmp_path):
    result = cosim.run(system, 0.5, master=cosim.Jacobi(0.01))
    data = payload_of(result.page(tmp_path / "run.html").read_text())
    (scene,), (run,) = data["scenes"], data["runs"]
    assert [body["name"] for body in scene["bodies"]] == ["one.one arm", "two.two arm"]
    assert [joint["parent"] for joint in scene["joints"]] == ["ground", "ground"]
    assert [joint["child"] for joint in scene["joints"]] == ["one.one arm", "two.two arm"]
    assert scene["joints"][1]["q"] == ["two.'left-hinge'.q"]
    found = columns_of(run)
    for body in scene["bodies"]:
        for column in (*body["r"], *body["Q"]):
            np.testing.assert_allclose(found[column], result[column], atol=1e-6)
    assert scene["units"]["one.'left-hinge'.q"] == "rad"
    np.testing.assert_allclose(found["two.'two arm'.r[1]"], 3.0)
    late = result[0.2:0.4]
    assert payload_of(late.page(tmp_path / "late.html").read_text())["runs"][0]["rows"] == len(late)


def test_one_fmu_keeps_the_names_of_its_parts(system):
    scene = scene_of(lw.compile(pendulum()))
    assert joined("x", {"plant": scene})["bodies"][0]["name"] == "arm"
    assert joined("x", {"plant": scene})["bodies"][0]["r"][0] == "plant.arm.r[1]"
    two = joined("x", {"a": scene, "b": scene})
    assert [joint["child"] for joint in two["joints"]] == ["a.arm", "b.arm"]
    assert two["size"] == scene["size"]


def test_poses_that_were_not_recorded_are_named(system, tmp_path):
    result = cosim.run(system, 0.1, master=cosim.Jacobi(0.01), columns=["*.q"])
    with pytest.raises(
        lw.CosimError, match=r"record poses, run\(\.\.\., columns=\['one\.\*\.r\[\?\]', 'one\.\*\.Q\[\?\]'"
    ):
        result.page(tmp_path / "x.html")
    patterns = ["one.*.r[?]", "one.*.Q[?]", "two.*.r[?]", "two.*.Q[?]"]
    recorded = cosim.run(system, 0.1, master=cosim.Jacobi(0.01), columns=patterns)
    assert recorded.page(tmp_path / "x.html").is_file()


def test_other_results_are_refused(system, tmp_path):
    with pytest.raises(lw.CosimError, match="no FMU of 'fall' carries a scene"):
        cosim.Result("fall", [0.0, 0.5], {"ball.v": [0.0, -4.9]}).page(tmp_path / "x.html")
    with pytest.raises(lw.CosimError, match="a page simulates mechanisms, not systems"):
        cosim.run(system, 0.1, master=cosim.Jacobi(0.01)).page(tmp_path / "x.html", live=True)


def test_a_saved_co_simulation_is_shown_with_its_system(system, tmp_path, monkeypatch):
    from linkwork.cli.main import main

    monkeypatch.chdir(tmp_path)
    result = cosim.run(system, 0.1, master=cosim.Jacobi(0.01))
    result.to_parquet("run.parquet")
    system.save(tmp_path / "pair.ssp")
    assert main(["view", "run.parquet", "--system", "pair.ssp", "-o", "a.html"]) == 0
    result.page("b.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_arrays_of_fmus_are_columns(tmp_path):
    fmu = lw.export_fmu(pendulum(), tmp_path / "a.fmu", arrays=True)
    result = cosim.run(cosim.System.load(fmu), 0.1, master=cosim.Jacobi(0.01))
    assert result.page(tmp_path / "x.html").is_file()
