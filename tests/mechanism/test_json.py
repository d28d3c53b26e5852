"""JSON: out and in again with the same bits; each mistake in a file is named with its place."""

import json
import os
import re
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from linkwork.errors import MechanismError
from linkwork.mechanism import (
    Actuator,
    Fixed,
    Frame,
    Mechanism,
    Prismatic,
    Revolute,
    SpringDamper,
    Wrench,
    inertia,
    json_io,
)

VECTOR = hnp.arrays(float, 3, elements=st.floats(allow_nan=False, allow_infinity=False))
FLOAT = st.floats(allow_nan=False, allow_infinity=False)


def example():
    mech = Mechanism("slider", gravity=(0, -9.81, 0.1))
    mech.add_body(
        "crank", 1.0, (0.2, 0, -0.0), inertia.rod(1.0, 0.4), origin=(0.1, 0.2, 0.3), rotation=(0.8, 0.6, 0, 0)
    )
    mech.add_body("rod", 2.0 / 3.0, (0.5, 0, 0), inertia.rod(2.0, 1.0, axis="y"))
    mech.add_body("block", 0.1, (0, 0, 0), inertia.box(0.1, (1, 2, 3)))
    mech.add_joint("A", Revolute((1, 2, 3)), "ground", "crank", at=(0.7, 0.1, 0.3))
    mech.add_joint("B", Revolute((0, 0, 1)), "crank", "rod", parent_frame=Frame((0.4, 0, 0), (0.6, 0, 0.8, 0)))
    mech.add_joint("C", Fixed(), "rod", "block", child_frame=Frame((1, 0, 0)))
    mech.add_joint("D", Prismatic((1, 1, 0)), "block", "ground", at=(1, 2, 3), cut=True)
    mech.add_force(SpringDamper("A", stiffness=0.1, free=1e-300))
    points = ((0.1, -0.0, 1.0 / 3.0), (0, 0, 1e-300))
    mech.add_force(SpringDamper(bodies=("ground", "rod"), points=points, stiffness=10.0, free=0.7, name="cord"))
    mech.add_force(Wrench("block", (0, -0.0, 0.1), name="push"))
    mech.add_force(Actuator("grip", {"B": -1e-300, "A": 0.1}, offset=-0.0, damping=1.0 / 3.0, force_range=(-1, 2)))
    mech.add_force(Actuator("motor", {"D": 2}, gain=0.3, stiffness=7, input_range=(0, 0.1)))
    mech.start(q={"A": 0.6, "B": [0.1]}, u={"D": -0.0})
    return mech


def bits(mech):
    """Everything that `==` on floats would let pass: -0, the order of names."""
    return json.dumps(mech.to_dict())


def saved(tmp_path, change=None):
    path = tmp_path / "slider.json"
    data = example().to_dict()
    if change:
        change(data)
    path.write_text(json.dumps(data, indent=1))
    return path


def refused(*words):
    return pytest.raises(MechanismError, match="(?s)" + "".join(f"(?=.*{re.escape(word)})" for word in words))


class TestRoundTrip:
    def test_dict(self):
        mech = example()
        again = Mechanism.from_dict(mech.to_dict())
        assert again == mech
        assert bits(again) == bits(mech)

    def test_file(self, tmp_path):
        mech = example()
        mech.save(tmp_path / "a.json")
        again = Mechanism.load(str(tmp_path / "a.json"))
        assert bits(again) == bits(mech)
        again.save(tmp_path / "b.json")
        assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()

    def test_a_file_is_fit_to_read(self, tmp_path):
        example().save(tmp_path / "a.json")
        lines = (tmp_path / "a.json").read_text().splitlines()
        assert lines[1] == '  "linkwork": 1,'
        assert max(map(len, lines)) <= 120
        assert '      "com": [0.5, 0.0, 0.0],' in lines

    @given(gravity=VECTOR, com=VECTOR, place=VECTOR, spring=st.tuples(FLOAT, FLOAT, FLOAT), start=FLOAT, axis=VECTOR)
    def test_any_numbers(self, tmp_path_factory, gravity, com, place, spring, start, axis):
        mech = Mechanism("m", gravity=gravity)
        mech.add_body("b", 1.0 / 3.0, com, inertia.sphere(1.0, 0.3), origin=com)
        kind = Revolute(axis) if axis.any() else Fixed()
        mech.add_joint("J", kind, "ground", "b", parent_frame=Frame(place))
        if axis.any():
            mech.add_force(SpringDamper("J", *spring))
            mech.add_force(SpringDamper(bodies=("b", "ground"), points=(com, place), damping=start))
            mech.add_force(Wrench("b", axis))
            mech.start(q={"J": start})
        path = tmp_path_factory.getbasetemp() / "any.json"
        mech.save(path)
        assert bits(Mechanism.load(path)) == bits(mech)

    @given(hnp.arrays(float, 4, elements=st.floats(-1, 1)))
    def test_any_rotation_and_inertia(self, quaternion):
        if np.linalg.norm(quaternion) < 1e-3:
            return
        frame = Frame((0, 0, 0), quaternion / np.linalg.norm(quaternion))
        mech = Mechanism("m")
        turned = frame.rotation @ inertia.box(1.0, (1, 2, 3)) @ frame.rotation.T
        mech.add_body("b", 1.0, (0, 0, 0), turned, rotation=frame.rotation)
        mech.add_joint("J", Revolute(quaternion[:3] + 1.5), "ground", "b", at=(1, 2, 3))
        assert bits(Mechanism.from_dict(mech.to_dict())) == bits(mech)

    def test_a_file_by_hand_may_use_the_short_forms(self, tmp_path):
        text = """{"linkwork": 1, "name": "hand",
          "bodies": [{"name": "arm", "mass": 1, "com": [0, 0, 0], "origin": [1, 0, 0],
                      "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "rotation": [0, 0, 0, 1]}],
          "joints": [{"name": "A", "type": "revolute", "axis": [0, 2, 0], "parent": "ground", "child": "arm",
                      "at": [0, 0, 0]}]}"""
        (tmp_path / "hand.json").write_text("\ufeff" + text, encoding="utf-8")
        mech = Mechanism.load(tmp_path / "hand.json")
        np.testing.assert_allclose(mech.joints["A"].child_frame.position, (1, 0, 0))
        assert mech.gravity.tolist() == [0, 0, -9.81]


class TestSaving:
    def test_a_failure_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "a.json"
        path.write_text("precious")

        def full(_):
            raise OSError("no space left")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="no space left"):
            example().save(path)
        assert path.read_text() == "precious"
        assert list(tmp_path.iterdir()) == [path]

    def test_mode_and_links_stay(self, tmp_path):
        (tmp_path / "real.json").write_text("")
        (tmp_path / "real.json").chmod(0o640)
        (tmp_path / "link.json").symlink_to("real.json")
        example().save(tmp_path / "link.json")
        assert (tmp_path / "link.json").is_symlink()
        assert stat.S_IMODE((tmp_path / "real.json").stat().st_mode) == 0o640
        assert Mechanism.load(tmp_path / "real.json") == example()


class TestBrokenText:
    def test_every_truncation_names_file_and_place(self, tmp_path):
        text = saved(tmp_path).read_text()
        path = tmp_path / "cut.json"
        for end in range(0, len(text) - 1, 7):
            path.write_text(text[:end])
            with refused(str(path), "line", "column"):
                Mechanism.load(path)

    def test_cut_in_half(self, tmp_path):
        path = saved(tmp_path)
        text = path.read_text()
        path.write_text(text[: text.index('"B"') + 1])
        with refused("slider.json, line", "ends early", "restore it"):
            Mechanism.load(path)

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"", ("line 1, column 1", "ends early")),
            (b"\xff\xfe", ("byte 0", "UTF-8")),
            (b"[" * 100000, ("this is no mechanism",)),
            (b"[1]", ("no Linkwork mechanism", '"linkwork": 1')),
            (b'{"a": 1,\n "a": 2}', ("'a' stands twice",)),
            (b'{"a" 1}', ("line 1, column 6", "correct it")),
            (b"9" * 5000, ("this is no mechanism",)),
        ],
    )
    def test_other_content(self, tmp_path, content, words):
        path = tmp_path / "bad.json"
        path.write_bytes(content)
        with refused("bad.json", *words):
            Mechanism.load(path)

    def test_missing_file(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="none"):
            Mechanism.load(tmp_path / "none.json")


def put(*path, value):
    """Return a change that sets the value at a path."""

    def change(data):
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = value

    return change


def drop(*path):
    def change(data):
        for step in path[:-1]:
            data = data[step]
        del data[path[-1]]

    return change


MISTAKES = {
    "newer version": (put("linkwork", value=2), '"linkwork"', ("version 2", "newer")),
    "version that is none": (put("linkwork", value=True), '"linkwork"', ("version True",)),
    "unknown key": (put("colour", value=1), '"colour"', ("'colour'",)),
    "misspelt key": (put("bodies", 1, "mas", value=1), '"mas"', ("bodies[1].mas", "'mas'", "did you mean 'mass'")),
    "no bodies": (drop("bodies"), None, ("'bodies' of 'slider' is missing",)),
    "bodies as an object": (put("bodies", value={}), '"bodies"', ("must be a list",)),
    "body as a number": (put("bodies", 1, value=7), None, ("bodies[1]", "object")),
    "no mass": (drop("bodies", 1, "mass"), None, ("bodies[1]", "'mass' of 'rod' is missing")),
    "hardly a body": (put("bodies", 1, value={"com": [0, 0, 0]}), None, ("'name', 'mass', 'inertia' are missing",)),
    "bad mass": (put("bodies", 1, "mass", value=-1), None, ("bodies[1]", "body 'rod'", "negative")),
    "NaN": (put("bodies", 1, "com", value=[0, np.nan, 0]), None, ("body 'rod'", "finite")),
    "infinity": (put("gravity", value=[0, np.inf, 0]), None, ("gravity", "finite")),
    "bad name": (put("name", value="a.b"), None, ("mechanism 'a.b'",)),
    "name that is none": (put("bodies", 1, "name", value=[1]), None, ("bodies[1]", "must be a string")),
    "unknown type": (put("joints", 0, "type", value="revolut"), '"type"', ("'A'", "did you mean 'revolute'")),
    "type that is none": (put("joints", 0, "type", value=["revolute"]), '"type"', ("unknown type",)),
    "no type": (drop("joints", 0, "type"), None, ("joints[0]", "must be a joint", '"type"')),
    "no axis": (drop("joints", 0, "axis"), None, ("'axis' of 'A' is missing",)),
    "axis of a fixed joint": (put("joints", 2, "axis", value=[0, 0, 1]), '"axis"', ("'axis'", "not known")),
    "zero axis": (put("joints", 0, "axis", value=[0, 0, 0]), None, ("joint 'A'", "axis is zero")),
    "unknown body": (put("joints", 0, "child", value="cranc"), None, ("joint 'A'", "did you mean 'crank'")),
    "body that is no name": (put("joints", 0, "child", value=None), None, ("joint 'A'", "None")),
    "short frame": (put("joints", 1, "parent_frame", "position", value=[1]), None, ("joints[1].parent_frame", "3")),
    "frame as a list": (put("joints", 1, "parent_frame", value=[1, 2, 3]), '"parent_frame"', ("object",)),
    "joint of two places": (put("joints", 1, "at", value=[1, 2, 3]), None, ("joint 'B'", "not both")),
    "cut as text": (put("joints", 1, "cut", value="no"), None, ("joint 'B'", "True or False")),
    "unknown force": (put("forces", 0, "type", value="rope"), '"type"', ("forces[0].type", "'wrench'")),
    "force nowhere": (put("forces", 0, "joint", value="Z"), None, ("forces[0]", "no joint 'Z'")),
    "text for stiffness": (put("forces", 0, "stiffness", value="stiff"), None, ("joint 'A'", "stiffness")),
    "spring nowhere": (put("forces", 1, "bodies", value=["rod", "Z"]), None, ("forces[1]", "'cord'", "no body 'Z'")),
    "spring of one point": (put("forces", 1, "points", value=[[0, 0, 0]]), None, ("forces[1]", "2 x 3 numbers")),
    "spring without points": (drop("forces", 1, "points"), None, ("forces[1]", "'points' of 'cord' is missing")),
    "spring in two places": (put("forces", 1, "joint", value="A"), '"joint"', ("forces[1].joint", "not known")),
    "wrench nowhere": (put("forces", 2, "body", value="blok"), None, ("forces[2]", "'push'", "did you mean 'block'")),
    "wrench of a length": (put("forces", 2, "length", value=1), '"length"', ("forces[2].length", "not known")),
    "force of a taken name": (put("forces", 2, "name", value="cord"), None, ("forces[2]", "'cord' already")),
    "start nowhere": (put("start", "q", "Z", value=1), '"Z"', ("start.q.Z", "'Z'")),
    "start of a kind": (put("start", "w", value={}), '"w"', ("start.w",)),
    "start as a list": (put("start", "u", value=[1]), '"u"', ("start.u", "object")),
    "start of the wrong size": (put("start", "q", "A", value=[1, 2]), None, ("start", "joint 'A'")),
}


@pytest.mark.parametrize(("change", "key", "words"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_a_file(tmp_path, change, key, words):
    path = saved(tmp_path, change)
    with refused("slider.json, line", "column", *words) as caught:
        Mechanism.load(path)
    if key:
        line, column = map(int, re.search(r"line (\d+), column (\d+)", str(caught.value)).groups())
        before = path.read_text().splitlines()[line - 1][: column - 1]
        assert before.endswith(f"{key}: ")
    with refused(*words):
        Mechanism.from_dict(json.loads(path.read_text()))


def test_the_place_of_a_body_is_its_line(tmp_path):
    path = tmp_path / "m.json"
    example().save(path)
    path.write_text(path.read_text().replace('"mass": 0.1', '"mass": -0.1'))
    with refused("bodies[2]", "body 'block'") as caught:
        Mechanism.load(path)
    line = int(re.search(r"line (\d+)", str(caught.value)).group(1))
    assert '"block"' in "".join(path.read_text().splitlines()[line - 1 : line + 1])


def laid_out(value, indent=""):
    """The layout of files by its rule: what fits on one line of 120 characters is on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= 120 or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + "  "
    keys = (
        [f"{json.dumps(key, ensure_ascii=False)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    )
    items = value.values() if isinstance(value, dict) else value
    parts = [inner + key + laid_out(item, inner) for key, item in zip(keys, items, strict=True)]
    return "\n".join(["{["[isinstance(value, list)], ",\n".join(parts), indent + "}]"[isinstance(value, list)]])


NUMBERS = st.lists(FLOAT | st.integers(), max_size=9)
ITEMS = st.dictionaries(
    st.text(max_size=30), st.recursive(NUMBERS | st.text(max_size=80) | FLOAT, st.lists), max_size=6
)


@given(st.lists(ITEMS, max_size=4))
def test_layout(items):
    assert json_io._formatted(items) == laid_out(items)


def test_forces_of_a_mechanism_that_was_read_can_be_edited(tmp_path):
    mech = Mechanism.load(saved(tmp_path))
    with pytest.raises(MechanismError, match="a SpringDamper already"):
        mech.add_force(SpringDamper("A", stiffness=1.0))
    del mech.forces[0]
    mech.add_force(SpringDamper("A", stiffness=1.0))
    assert mech.forces[-1].stiffness == 1.0
