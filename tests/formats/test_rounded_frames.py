"""Files of robots have rounded frames: loops are made exact when they are read, and the report says so."""

import json
import re
import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main
from linkwork.errors import InitializationWarning

LINK = (
    '<link name="{}"><inertial><origin xyz="{} 0 0"/><mass value="1"/>'
    '<inertia ixx="0.001" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/></inertial></link>'
)
LINKS = '<link name="base"/>' + "".join(LINK.format(*one) for one in (("a", 0.2), ("b", 0.5), ("c", 0.4)))
FOUR_BAR = """<robot name="four_bar">{links}
  <joint name="A" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/></joint>
  <joint name="B" type="continuous"><parent link="a"/><child link="b"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="D" type="continuous"><parent link="base"/><child link="c"/>
    <origin xyz="0.9 0 0" rpy="{half} 0 0"/><axis xyz="0 0 -1"/></joint>
  <loop name="C" type="revolute"><predecessor link="b"><origin xyz="1 {gap} 0"/></predecessor>
    <successor link="c"><origin xyz="0.8 0 0" rpy="-{half} 0 0"/></successor><axis xyz="0 1 0"/></loop>
</robot>"""


def four_bar(tmp_path, half="1.5707963267948966", gap="0"):
    path = tmp_path / "four_bar.urdf"
    path.write_text(FOUR_BAR.format(links=LINKS, half=half, gap=gap), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("rounded", "outcome"),
    [
        ({"half": "1.570796327"}, "taken"),
        ({"half": "1.5707963"}, "approximated"),
        ({"half": "1.5708"}, "approximated"),
        ({"gap": "1e-7"}, "approximated"),
        ({"gap": "1.7e-8"}, "approximated"),
    ],
)
def test_loops_of_rounded_files_are_exact(tmp_path, rounded, outcome):
    found = []
    for numbers in ({}, rounded):
        mech = lw.load(four_bar(tmp_path, **numbers))
        mech.start(q={"A": -1.0}, u={"A": -2.0})
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what the report says is not said again
            model = lw.compile(mech)
        assert not model.corrections
        state = model.assemble()
        assert (state["A.q"], state["A.u"]) == (-1.0, -2.0)
        found.append(
            [*state.q, *lw.simulate(model, 1.0)["A.q"][-1:], *lw.kinematics(model, "A", -1.0, -0.5)["B.q"][-1:]]
        )
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-5)
    lines = [entry for entry in mech.report.entries if entry.element.endswith("> frame")]
    assert lines
    assert {entry.outcome for entry in lines} == {outcome}
    assert all("loops move and close exactly" in entry.text for entry in lines)


def test_exact_files_are_as_they_are(tmp_path):
    mech = lw.load(four_bar(tmp_path))
    assert not [entry for entry in mech.report.entries if entry.element.endswith("> frame")]


def test_what_cannot_be_initialised_is_not_exported_without_a_word(tmp_path):
    """A gap of 1 mm is no rounding: the command line has the tolerance that accepts it."""
    path = four_bar(tmp_path, gap="1e-3")
    with pytest.warns(InitializationWarning, match="cannot be closed"):
        lw.export_fmu(lw.load(path), tmp_path / "four_bar.fmu", reference=False)


def test_the_command_line_accepts_a_gap(tmp_path, capsys):
    path = str(four_bar(tmp_path, gap="3e-4"))
    with pytest.raises(lw.AssemblyError):
        lw.compile(lw.load(path)).assemble()
    assert main(["simulate", path, "--t-end", "0.1", "--json"]) != 0
    capsys.readouterr()
    assert main(["simulate", path, "--t-end", "0.1", "--json", "--tolerance", "1e-3"]) == 0
    assert json.loads(capsys.readouterr().out)["t_end"] == 0.1
    assert main(["info", path, "--tolerance", "1e-3"]) == 0


CRANK = '<body name="c{0}" pos="{1}"><joint name="A{0}" axis="0 1 0"/>{2}{3}</body>'
ROD = '<geom type="capsule" fromto="0 0 0 0 0 .3" size=".01"/>'
COUPLER = """<body name="coupler" pos="0 0 .3"><joint name="B" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 .45 0 0" size=".01"/>{}</body>"""


def test_rods_beside_each_other_with_eight_digits(tmp_path):
    """Two points close each rod, as exporters write a hinge; the three rods fit each other but for their last digit."""
    pytest.importorskip("mujoco")
    points, sites, ends, connects = ("0 0 0", ".2 0 .05", ".45 0 -.02"), "", {}, ""
    for k in (1, 2):
        x, _, z = points[k].split()
        sites += "".join(f'<site name="on{k}{side}" pos="{x} {side} {z}"/>' for side in (0, 0.1))
        length = (0.3, 0.30000001)[k == 1]
        ends[k] = "".join(f'<site name="end{k}{side}" pos="0 {side} {length}"/>' for side in (0, 0.1))
        connects += "".join(f'<connect site1="end{k}{side}" site2="on{k}{side}"/>' for side in (0, 0.1))
    cranks = CRANK.format(0, points[0], ROD, COUPLER.format(sites))
    cranks += "".join(CRANK.format(k, points[k], ROD, ends[k]) for k in (1, 2))
    path = tmp_path / "rods.xml"
    path.write_text(f"<mujoco><worldbody>{cranks}</worldbody><equality>{connects}</equality></mujoco>")
    mech = lw.load(path)
    entries = [one for one in mech.report.of("approximated") if one.element.endswith("> frame")]
    assert entries
    assert all(re.search(r"moved by \d(\.\d)?e-09 m", one.text) for one in entries)
    model = lw.compile(mech)
    assert not model.corrections
    assert not model.assemble().changed_start_values
    result = lw.simulate(model, 0.2, inputs={"A0": 1.0})
    assert result["A0.q"][-1] > 0.05
    np.testing.assert_allclose(result["A2.q"], result["A0.q"], rtol=0, atol=1e-5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", InitializationWarning)
        lw.export_fmu(mech, tmp_path / "rods.fmu", reference=False)


def test_joints_that_close_an_open_pose_are_reported(tmp_path):
    """Stretched out, the bars miss each other by 0.3 m; with two points moved they meet."""
    path = four_bar(tmp_path)
    mech = lw.load(path)
    (entry,) = [str(one) for one in mech.report.of("approximated") if one.element == "start"]
    moved = {name: abs(lw.compile(mech).assemble()[f"{name}.q"]) for name in "ABD"}
    most = max(moved, key=moved.__getitem__)
    assert f"3 joints are moved, '{most}' most, by {moved[most]:.2g} rad" in entry
    path.write_text(path.read_text().replace('"1 0 0"', '"1.3 0 0.3"').replace('"0.8 0 0"', '"0.8 0.3 0"'))
    assert not lw.load(path).report.of("approximated")
