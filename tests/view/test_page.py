"""The HTML file: whole, harmless, the same bytes for the same input, and it asks for nothing else."""

import json
from html.parser import HTMLParser

import numpy as np
import pytest

import linkwork as lw
from linkwork.view import document, notebook
from linkwork.view.document import json_text
from support.random_mechanisms import FAMILIES, well_posed
from support.view_pages import Scripts, columns_of, payload_of, requests_of, unpack

pytestmark = pytest.mark.usefixtures("assets")


def pendulum(name="pendulum", mass=2.0) -> lw.Mechanism:
    mech = lw.Mechanism(name)
    mech.add_body("arm", mass=mass, com=(0.5, 0, 0), inertia=lw.inertia.rod(mass, 1.0))
    mech.add_joint("hinge", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    return mech


@pytest.fixture(scope="module")
def result():
    return lw.simulate(pendulum(), 0.5)


def test_a_result_is_a_page(result, tmp_path):
    path = result.page(tmp_path / "run.html")
    assert path == tmp_path / "run.html"
    text = path.read_text(encoding="utf-8")
    data = payload_of(text)
    assert (data["format"], data["title"], data["version"]) == (1, "pendulum", lw.__version__)
    assert data["live"] is data["core"] is None
    (run,) = data["runs"]
    assert (run["label"], run["scene"], run["message"]) == ("pendulum", 0, "")
    found = columns_of(run)
    np.testing.assert_allclose(found["hinge.q"][-1], result["hinge.q"][-1], rtol=1e-6)
    units = data["scenes"][0]["units"]
    assert units["hinge.u"] == "rad/s"
    assert set(run["columns"]) == set(units)
    assert [path.name for path in tmp_path.iterdir() if path.name != "assets"] == ["run.html"]


def test_a_mechanism_brings_its_simulator(tmp_path):
    mech = pendulum()
    data = payload_of(mech.page(tmp_path / "a.html", t_end=3.0, title="Swing").read_text())
    assert data["title"] == "Swing"
    assert data["runs"] == []
    assert data["live"]["t_end"] == 3.0
    assert unpack(data["core"]) == b"\0asm\1\0\0\0"
    assert (
        lw.compile(mech).page(tmp_path / "b.html", t_end=3.0, title="Swing").read_bytes()
        == (tmp_path / "a.html").read_bytes()
    )
    text = (tmp_path / "a.html").read_text()
    assert unpack(Scripts(text).found["linkwork-worker"]) == b"postMessage(1);"
    assert "linkwork-worker" not in Scripts(lw.page(lw.simulate(mech, 0.1))).found


def test_the_same_input_gives_the_same_bytes(result):
    assert lw.page([result, pendulum()]) == lw.page([lw.simulate(pendulum(), 0.5), pendulum()])


def test_results_of_one_mechanism_share_a_scene(result):
    other = lw.simulate(pendulum(), 0.5, rtol=1e-4)
    data = payload_of(lw.page([result, other, lw.simulate(pendulum(mass=3.0), 0.5)]))
    assert [run["scene"] for run in data["runs"]] == [0, 0, 1]
    assert [run["label"] for run in data["runs"]] == ["pendulum 1", "pendulum 2", "pendulum 3"]
    assert len(data["scenes"]) == 2
    labels = ["fine", "coarse"]
    assert [run["label"] for run in payload_of(lw.page([result, other], labels=labels))["runs"]] == labels


def test_units_of_shared_scenes_are_those_of_all_runs(result):
    parts = [result, result]
    data = payload_of(lw.page(parts, columns=["hinge.a"]))
    assert data["scenes"][0]["units"]["hinge.a"] == "rad/s2"
    data = payload_of(lw.page([pendulum(), result], columns="hinge.a"))
    assert {"hinge.a", "hinge.q", "der(hinge.u)"} <= data["scenes"][0]["units"].keys()
    assert data["live"]["scene"] == data["runs"][0]["scene"] == 0


def test_a_result_with_its_simulator(result, tmp_path):
    data = payload_of(result.page(tmp_path / "x.html", live=True).read_text())
    assert len(data["runs"]) == len(data["scenes"]) == 1
    assert data["live"]["t_end"] == 0.5


# ---- what a page must never do


def test_a_page_asks_for_nothing(result):
    text = lw.page([result, pendulum()])
    assert requests_of(text) == []
    tags = Scripts(text).tags
    assert {tag for tag, _ in tags} <= {"html", "head", "meta", "title", "style", "body", "noscript", "p", "script"}
    policy = next(attrs["content"] for tag, attrs in tags if attrs.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["connect-src"] == "'none'"
    assert not [rule for rule in rules.values() if "http" in rule or "*" in rule]
    assert dict(tags[0][1])["lang"] == "en"
    assert [attrs for tag, attrs in tags if attrs.get("name") == "viewport"]


EVIL = "</script><script>alert(1)</script><!-- <b>&\"'\u2028 \U0001f980 ]]>"


def test_titles_and_labels_do_no_harm(result):
    text = lw.page([result, result], title=EVIL, labels=[EVIL, "é"])
    data = payload_of(text)
    assert data["title"] == data["runs"][0]["label"] == EVIL
    assert data["runs"][1]["label"] == "é"
    assert len([tag for tag, _ in Scripts(text).tags if tag == "script"]) == 3
    assert "alert(" not in Scripts(text).found[None]
    assert "<b>" not in text.replace(Scripts(text).found["linkwork"], "")


class Titles(HTMLParser):
    text, _inside = "", False

    def handle_starttag(self, tag, attrs):
        self._inside = tag == "title"

    def handle_data(self, data):
        self.text += data * self._inside

    def handle_endtag(self, tag):
        self._inside = False


def test_names_that_are_html_stay_names():
    mech = pendulum("a<b>&c")
    mech.add_body("</script>", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("<!--", lw.Free(), "ground", "</script>", at=(0, 0, 0))
    text = lw.page([lw.simulate(mech, 0.1), mech])
    data = payload_of(text)
    assert data["scenes"][0]["bodies"][1]["name"] == "</script>"
    assert "</script>.r[1]" in data["runs"][0]["columns"]
    titles = Titles()
    titles.feed(text)
    assert titles.text == "a<b>&c"
    assert text.count("</script>") == text.count("<script") == 4


def test_numbers_that_do_not_exist_are_refused_in_json():
    with pytest.raises(ValueError, match="JSON"):
        json_text({"x": float("nan")})
    assert json.loads(json_text(["<", "\u2028", "é"])) == ["<", "\u2028", "é"]
    assert json_text("\u2028é").isascii()


# ---- errors


def test_a_missing_viewer_names_the_remedy(result, assets, tmp_path):
    (assets / document.VIEWER).unlink()
    with pytest.raises(lw.LinkworkError, match=r"viewer\.js is missing: run './run setup'"):
        result.page(tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_rows": 1}, "max_rows must be a whole number of at least 2, not 1"),
        ({"max_rows": 2.5}, "max_rows must be a whole number"),
        ({"labels": ["a", "b"]}, "labels must be a list of 1, a text for each object"),
        ({"labels": 5}, "labels must be a list of 1, a text for each object, not 5"),
        ({"path": "run.png"}, "run.png: a page is an .html file"),
        ({"t_end": 0.0}, "t_end must be positive"),
        ({"t_end": "x"}, "t_end must be one number"),
        ({"rtol": 0.0}, "rtol must be positive"),
        ({"columns": "nonesuch"}, "no variable 'nonesuch'"),
    ],
)
def test_wrong_arguments(result, options, text):
    with pytest.raises(lw.LinkworkError, match=text):
        lw.page(result, **options)


@pytest.mark.parametrize("thing", [3, "run.html", None, lw.Result, [1]])
def test_what_is_no_result_is_refused(thing):
    with pytest.raises(lw.MechanismError, match="page takes results, mechanisms and models"):
        lw.page(thing)


def test_other_errors(result, tmp_path):
    with pytest.raises(lw.MechanismError, match="nothing to show"):
        lw.page([])
    with pytest.raises(lw.MechanismError, match="a page simulates one mechanism, not 2"):
        lw.page([pendulum(), pendulum()])
    with pytest.raises(lw.MechanismError, match="no rows"):
        lw.page(lw.simulate(pendulum(), 0.1, t_eval=[]))
    with pytest.raises(lw.MechanismError, match="columns are chosen of results"):
        lw.page(pendulum(), columns="hinge.q")
    with pytest.raises(lw.MechanismError, match="has no bodies"):
        lw.Mechanism("empty").page(tmp_path / "x.html")
    with pytest.raises(OSError, match="there is no folder"):
        result.page(tmp_path / "none" / "x.html")


def test_an_old_page_stays_if_the_new_one_fails(result, tmp_path):
    path = result.page(tmp_path / "x.html")
    before = path.read_bytes()
    with pytest.raises(lw.LinkworkError):
        result.page(path, columns="nonesuch")
    assert path.read_bytes() == before


# ---- size


def test_a_run_of_ten_bodies_and_a_thousand_rows_is_small():
    mech = well_posed(FAMILIES["planar_4R"][0], 0).mechanism
    for k in range(7):
        mech.add_body(f"rod{k}", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        parent = f"rod{k - 1}" if k else "ground"
        mech.add_joint(f"J{k}", lw.Revolute((0, 1, 0)), parent, f"rod{k}", parent_frame=lw.Frame((1.0 * bool(k), 0, 0)))
    run = lw.simulate(mech, 2.0, t_eval=np.linspace(0, 2, 1001))
    text = lw.page(run)
    assert payload_of(text)["runs"][0]["rows"] == 1001
    assert len(text) < 500_000  # without the viewer, which has about 300 kB


# ---- notebooks


class Frames(HTMLParser):
    source, sandbox = None, None

    def handle_starttag(self, tag, attrs):
        if tag == "iframe":
            self.source, self.sandbox = dict(attrs)["srcdoc"], dict(attrs)["sandbox"]


def framed(html: str) -> Frames:
    frames = Frames()
    frames.feed(html)
    return frames


def test_a_notebook_shows_the_page(result):
    mech = pendulum()
    for shown in (result, mech, lw.compile(mech)):
        frames = framed(shown._repr_html_())
        assert payload_of(frames.source)["title"] == "pendulum"
        assert frames.sandbox == "allow-scripts allow-downloads"
    assert "<table>" in result._repr_html_()
    assert mech._repr_svg_().startswith("<svg")


def test_a_notebook_has_tables_and_pictures_without_the_viewer(result, assets):
    (assets / document.VIEWER).unlink()
    assert result._repr_html_().startswith("<table>")
    assert pendulum()._repr_html_() is None
    assert lw.compile(pendulum())._repr_html_() is None


def test_a_page_that_is_too_large_for_a_notebook_is_a_note(result, monkeypatch):
    monkeypatch.setattr(notebook, "LARGEST", 1000)
    assert "too much for a notebook" in result._repr_html_()
    assert framed(result._repr_html_()).source is None


def test_nothing_is_shown_of_a_mechanism_that_cannot_be_compiled():
    assert lw.Mechanism("empty")._repr_html_() is None
