"""Bad and hostile MJCF files are refused by name, and nothing of a model is overlooked."""

import os
import random
import re
import subprocess
import sys

import mujoco
import numpy as np
import pytest

from linkwork.errors import LinkworkError, MechanismError
from linkwork.formats.mjcf import read
from linkwork.formats.mjcf.fields import LEFT_OUT, READ, WITHOUT_EFFECT, field_names, is_known
from linkwork.formats.to_mechanism import to_mechanism
from support.mjcf_files import ACTUATORS, EQUALITIES, FILES, FRICTION, JOINTS

BODY = '<body name="b"><joint name="j"/>{}<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'


def written(folder, text, name="robot.xml"):
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    return path


def model(inside="", body="", before=""):
    return f"<mujoco>{before}<worldbody>{BODY.format(body)}</worldbody>{inside}</mujoco>"


def texts(report, outcome):
    return {entry.element: entry.text for entry in report.of(outcome)}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("<mujoco>", "line 1: no well-formed XML"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><mujoco/>', "document types and entities are refused"),
        (model(before='<include file="/etc/passwd"/>'), "leaves the folder of the model.*copy the file"),
        (model(before='<include file="../other.xml"/>'), "leaves the folder"),
        (model(before='<asset><model name="m" file="../other.xml"/></asset>'), "leaves the folder"),
        (model(before='<include file="robot.xml"/>'), "includes itself"),
        (model(body='<site pos="0 nan 0"/>'), "line 1: site: pos must be finite, not '0 nan 0'"),
        (model(body='<site pos="0 1e999 0"/>'), "pos must be finite"),
        (model(body='<replicate count="1000"><replicate count="1000"><site/></replicate></replicate>'), "300000 elem"),
        (model(before='<size nkey="900000000"/>'), "nkey must be at most 100000"),
        (model(body="<body>" * 300 + "</body>" * 300), "more than 200 levels"),
        (model(body='<body name="b"/>'), "MuJoCo cannot compile it: .*repeated name 'b'"),
        (model(inside='<equality><connect body1="b" body2="no" anchor="0 0 0"/></equality>'), "MuJoCo cannot compile"),
        (model(body='<wheel name="w"/>'), "MuJoCo cannot compile it.*unrecognized element"),
        (model(body='<joint axis="0 0 0"/>'), "MuJoCo cannot compile it"),
        ("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "mass and inertia of moving bodies"),
    ],
)
def test_refusals(text, match, tmp_path):
    with pytest.raises(MechanismError, match=match):
        read(written(tmp_path, text))


def test_files_that_include_each_other_in_a_circle_are_refused(tmp_path):
    written(tmp_path, '<mujocoinclude><include file="b.xml"/></mujocoinclude>', "a.xml")
    written(tmp_path, '<mujocoinclude><include file="a.xml"/></mujocoinclude>', "b.xml")
    with pytest.raises(MechanismError, match="includes itself, directly or by other files"):
        read(written(tmp_path, model(before='<include file="a.xml"/>')))


def test_links_out_of_the_folder_are_refused(tmp_path):
    written(tmp_path, "<mujocoinclude/>", "outside.xml")
    (tmp_path / "robot").mkdir()
    os.symlink(tmp_path / "outside.xml", tmp_path / "robot" / "inside.xml")
    with pytest.raises(MechanismError, match="leaves the folder of the model, by a link"):
        read(written(tmp_path, model(before='<include file="inside.xml"/>'), "robot/robot.xml"))


def test_an_included_file_is_a_part_of_the_model(tmp_path):
    written(tmp_path, f"<mujocoinclude>{BODY.format('')}</mujocoinclude>", "parts/arm.xml")
    text = '<mujoco><worldbody><include file="parts/arm.xml"/></worldbody></mujoco>'
    assert list(read(written(tmp_path, text)).links) == ["b"]


MESH = '<asset><mesh name="m" file="missing.stl"/></asset>'


def test_missing_meshes_do_not_matter_where_inertias_are_stated(tmp_path):
    robot = read(written(tmp_path, model(before=MESH, body='<geom type="mesh" mesh="m"/>')))
    assert robot.links["b"].mass == 1.0
    assert texts(robot.report, "left out")["body 'b' > geom > mesh 'missing.stl'"] == "there is no such file"


def test_missing_meshes_without_mass_do_not_matter(tmp_path):
    body = '<body name="b"><joint/><geom type="mesh" mesh="m" mass="0"/><geom size="1" mass="3"/></body>'
    assert read(written(tmp_path, f"<mujoco>{MESH}<worldbody>{body}</worldbody></mujoco>")).links["b"].mass == 3.0


def test_a_missing_mesh_that_an_inertia_needs_is_named_with_the_remedy(tmp_path):
    body = '<body name="b"><joint/><geom type="mesh" mesh="m"/></body>'
    with pytest.raises(MechanismError, match=r"missing\.stl.*inertia of 'b'.*<inertial>"):
        read(written(tmp_path, f"<mujoco>{MESH}<worldbody>{body}</worldbody></mujoco>"))


def test_a_mesh_in_the_folder_gives_its_inertia(tmp_path):
    written(tmp_path, TETRAHEDRON, "shapes/m.obj")
    asset = '<compiler meshdir="shapes"/><asset><mesh name="m" file="m.obj"/></asset>'
    body = '<body name="b"><joint/><geom type="mesh" mesh="m" density="6"/></body>'
    robot = read(written(tmp_path, f"<mujoco>{asset}<worldbody>{body}</worldbody></mujoco>"))
    assert robot.links["b"].mass == pytest.approx(1.0)
    np.testing.assert_allclose(robot.links["b"].com, [0.25] * 3)


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

# A mesh "m" outside of the folder of the model, which has the folder "robot".
OUTSIDE = (
    '<asset><mesh name="m" file="../shapes/m.obj"/></asset>',
    '<compiler meshdir="../shapes"/><asset><mesh file="m.obj"/></asset>',
    '<compiler assetdir="../shapes"/><include file="assets.xml"/>',
)


@pytest.mark.parametrize("asset", OUTSIDE)
def test_a_mesh_outside_of_the_folder_does_not_matter_where_the_inertia_is_stated(asset, tmp_path):
    (tmp_path / "robot").mkdir()
    written(tmp_path, '<mujocoinclude><asset><mesh file="m.obj"/></asset></mujocoinclude>', "robot/assets.xml")
    body = (
        '<body name="b"><joint/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/><geom type="mesh" mesh="m"/></body>'
    )
    path = written(tmp_path, f"<mujoco>{asset}<worldbody>{body}</worldbody></mujoco>", "robot/robot.xml")
    assert read(path).links["b"].mass == 2.0


@pytest.mark.parametrize("asset", OUTSIDE)
def test_a_mesh_outside_of_the_folder_is_not_opened_for_an_inertia(asset, tmp_path):
    written(tmp_path, TETRAHEDRON, "shapes/m.obj")
    (tmp_path / "robot").mkdir()
    written(tmp_path, '<mujocoinclude><asset><mesh file="m.obj"/></asset></mujocoinclude>', "robot/assets.xml")
    body = '<body name="b"><joint/><geom type="mesh" mesh="m"/></body>'
    path = written(tmp_path, f"<mujoco>{asset}<worldbody>{body}</worldbody></mujoco>", "robot/robot.xml")
    with pytest.raises(
        MechanismError, match=r"leaves the folder of the model: copy the file.*or give 'b' an <inertial>"
    ):
        read(path)


def test_textures_and_height_fields_outside_of_the_folder_do_not_matter(tmp_path):
    asset = (
        '<asset><texture type="2d" name="t" file="/no/t.png"/><hfield name="h" file="../h.png" size="1 1 1 1"/></asset>'
    )
    assert read(written(tmp_path, model(before=asset))).links["b"].mass > 0.0


@pytest.mark.parametrize(
    ("text", "outcome", "element", "match"),
    [
        (FRICTION, "approximated", "joint 'e' > frictionloss", "along axes of the body"),
        (FRICTION, "approximated", "joint 'b' > actuatorgravcomp", "beside the actuators"),
        (JOINTS.replace('type="ball"', 'type="ball" range="0 40"'), "left out", "'b' > range", "no limits of an angle"),
        (JOINTS.replace("gravity=", 'density="1.2" gravity='), "left out", "option > density", "fluid"),
        (JOINTS.replace("gravity=", 'timestep="0.01" gravity='), "left out", "option > timestep", "solver"),
        (EQUALITIES, "left out", "equality 'joint_a'", "is off at the start"),
        (EQUALITIES, "approximated", "solref", "held exactly.*time constant 0.02 s"),
        (EQUALITIES.replace("0.1 0.7 0 0 0", "0 1 0 2 0").replace('coef="0.5"', 'coef="1"/><joint joint="a" coef="1"'),
         "left out", "equality 'tendon_t1_t2'", "no powers of a sum"),
        (ACTUATORS.replace('kv="4"', 'kv="4" delay="0.01" nsample="5"'), "left out", "'speed'", "delayed by 0.01 s"),
        (ACTUATORS.replace('damping="0.5" springlength', 'range="0 1" limited="true" springlength'),
         "left out", "'cord' > range", "not bounded"),
        (ACTUATORS.replace("<actuator>", '<sensor><jointpos joint="a"/></sensor><actuator>'), "left out", "sensor", ""),
        (ACTUATORS.replace("<worldbody>", '<worldbody><body name="hand" mocap="true"/>'),
         "approximated", "'hand' > mocap", "fixed in the world"),
    ],
)  # fmt: skip
def test_what_is_not_taken_is_reported(text, outcome, element, match, tmp_path):
    found = texts(read(written(tmp_path, text)).report, outcome)
    assert any(element in name and re.search(match, why) for name, why in found.items()), found


def test_flags_of_options(tmp_path):
    for flag, none in (("gravity", "gravity"), ("spring", "stiffness"), ("damper", "damping"), ("limit", "limits")):
        text = JOINTS.replace("<worldbody>", f'<option><flag {flag}="disable"/></option><worldbody>')
        robot = read(written(tmp_path, text.replace('ref="15"', 'ref="15" range="-9 20"')))
        values = robot.gravity if none == "gravity" else [getattr(joint, none) for joint in robot.joints.values()]
        assert not np.any([bool(np.any(value)) for value in values])
    still = FRICTION.replace("<option", '<option><flag frictionloss="disable"/></option><option')
    assert not any(joint.friction for joint in read(written(tmp_path, still)).joints.values())
    off = EQUALITIES.replace("<worldbody>", '<option><flag equality="disable"/></option><worldbody>')
    robot = read(written(tmp_path, off))
    assert not robot.couplings
    assert not any(joint.closes for joint in robot.joints.values())


def test_keyframes_give_start_values(tmp_path):
    text = model("<keyframe><key name='low' qpos='0.1' qvel='0.3'/><key name='high' qpos='0.2'/></keyframe>")
    path = written(tmp_path, text)
    assert read(path).joints["j"].start == 0.1
    assert read(path).joints["j"].start_u == 0.3
    assert read(path, "high").joints["j"].start == 0.2
    with pytest.raises(MechanismError, match="there is no keyframe 'hihg': did you mean 'high'"):
        read(path, "hihg")


def test_every_field_of_mujocos_model_has_its_place():
    """A later MuJoCo with a new field fails here, until the reader takes or reports it."""
    fields = field_names(mujoco.MjModel.from_xml_string(ACTUATORS))
    assert len(fields) > 400
    assert [field for field in fields if not is_known(field)] == []
    stated = READ | WITHOUT_EFFECT | {one.field for one in LEFT_OUT}
    assert len(stated) == len(READ) + len(WITHOUT_EFFECT) + len({one.field for one in LEFT_OUT})
    assert stated - set(fields) - {"buffer", "names", "paths"} == set()


def test_without_mujoco_the_error_names_the_extra(tmp_path):
    path = written(tmp_path, model())
    code = "import pathlib, sys; sys.modules['mujoco'] = None\nfrom linkwork.formats.mjcf import read\n"
    code += f"read(pathlib.Path({str(path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: MJCF files need mujoco-core: pip install 'linkwork[mjcf]'" in done.stderr


def mutated(text, rng):
    """A file with some numbers, words or elements changed, doubled or gone."""
    for _ in range(rng.randint(1, 3)):
        kind = rng.randrange(5)
        parts = re.findall(r'"[^"]*"|<[^<>]*>|[^"<>]+|.', text, re.S)
        at = rng.randrange(len(parts))
        if kind == 0:
            parts[at] = ""
        elif kind == 1:
            parts.insert(at, parts[rng.randrange(len(parts))])
        elif kind == 2:
            parts[at] = re.sub(r"-?\d+\.?\d*", rng.choice(["0", "-1", "1e300", "nan", "1e-300", "x", "99"]), parts[at])
        elif kind == 3:
            parts[at] = '"' + rng.choice(["a", "b", "", "0 0", "1 2 3 4", "../x", "true", "world"]) + '"'
        else:
            place = rng.randrange(len(text))
            parts = [text[:place], chr(rng.randrange(1, 500)), text[place + rng.randrange(3) :]]
        text = "".join(parts)
    return text


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_refused_or_read(name, tmp_path):
    rng = random.Random(5)
    outcomes = set()
    for _ in range(60):
        path = tmp_path / "robot.xml"
        path.write_text(mutated(FILES[name], rng), encoding="utf-8")
        try:
            to_mechanism(read(path))
            outcomes.add("read")
        except LinkworkError:
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}
