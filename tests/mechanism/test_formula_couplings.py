"""Couplings and drives by formulas in descriptions: terms that follow, refusals, files and equations."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.analysis.explain import equation

X = [0.0, 1.0, 2.0, 3.0]
SMOOTH = {"interpolation": "monotone", "outside": "extend"}
E = {"e": (0.02, "m")}


@pytest.fixture
def mech():
    mech = lw.Mechanism("cam")
    for name in ("disc", "follower", "ball"):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("cam", lw.Revolute("z"), "ground", "disc", at=(0, 0, 0))
    mech.add_joint("table", lw.Planar("z"), "ground", "follower", at=(0, 0, 0))
    mech.add_joint("socket", lw.Spherical(), "ground", "ball", at=(0, 0, 0))
    return mech


def test_coordinates_that_a_formula_reads_become_terms(mech):
    mech.add_coupling("c", {"table[2]": 2.0}, formula="table.q[1] - e*sin(cam.q)", parameters=E)
    one = mech.couplings["c"]
    assert list(one.terms) == ["table[2]", "table[1]", "cam"]
    assert list(one.given_terms) == ["table[2]"]
    assert one.motion is None
    names = [v.name for v in lw.compile(mech).variables if v.name.startswith("c.")]
    powers = [f"c.table[2].coefficient[{k}]" for k in range(1, 5)]
    assert sorted(names) == sorted(["c.offset", "c.e", *powers, "c.residual", "c.load"])


def test_a_formula_that_reads_time_is_a_motion(mech):
    mech.add_coupling("c", formula="table.q[1] - e*sin(w*time)", parameters={**E, "w": 2.0})
    assert mech.couplings["c"].motion == lw.Motion()
    assert "c.q_in" in [one.name for one in lw.compile(mech).variables]


@pytest.mark.parametrize("motion", [None, lw.Motion((0.0, 0.1))])
def test_files_keep_them(mech, motion, tmp_path):
    lift = lw.LookupTable(X, [0.0, 0.1, 0.2, 0.0], **SMOOTH)
    mech.add_coupling(
        "c",
        {"table[2]": [1.0, 0.5]},
        0.3,
        motion,
        formula="table.q[1] - e*sin(cam.q) - lift(cam.q)",
        parameters=E,
        tables={"lift": lift},
    )
    mech.prescribe("table[3]", "a*sin(w*time)", parameters={"a": (0.1, "rad"), "w": 3.0})
    mech.save(tmp_path / "c.json")
    again = lw.Mechanism.load(tmp_path / "c.json")
    assert again.couplings == mech.couplings
    assert lw.compile(again).model_bytes == lw.compile(mech).model_bytes


def test_equations(mech):
    mech.add_coupling("c", {"table[2]": 2.0}, 0.1, formula="table.q[1] -  e*sin(cam.q)", parameters=E)
    mech.prescribe("cam", "w*time", name="d", parameters={"w": 3.0})
    assert equation(mech, "c") == "2 table[2] + table.q[1] - e*sin(cam.q) = 0.1"
    assert equation(mech, "d") == "cam - (w*time) = 0, and its inputs"
    text = lw.compile(mech).explain()
    assert "table.q[1] - e*sin(cam.q)" in str(text)


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("table.q[1] - e*cam.u", "'cam.u' is a speed"),
        ("table.q[1] - e*abs(cam.q)", "'abs' has no slope in some places"),
        ("table.q[1] - e*min(cam.q, 2*cam.q)", "'min' has no slope"),
        ("table.q[1] - if(cam.q < 2*cam.q, e, 2*e)", "has no slope"),
        ("table.q[1] - e*cm.q", "'cm.q' is unknown: did you mean 'cam.q'"),
        ("table.q[1] - cam.q*e^2", "a difference needs one unit"),
        ("cam.q - time/e", "needs one unit"),
        ("e*sin(socket.q[2])", "turns by a quaternion"),
        ("e*sin(e/e)", "reads no coordinate"),
        ("e + ", "value is missing"),
    ],
)
def test_formulas_that_do_not_fit_are_refused_with_the_place(mech, formula, words):
    with pytest.raises(lw.MechanismError, match=f"coupling 'c'.*{words}"):
        mech.add_coupling("c", formula=formula, parameters=E)
    assert not mech.couplings


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "a table without slopes at its rows: .* interpolation='monotone'"),
        ({"interpolation": "monotone"}, "holds outside, where its slope at 0 and 3 is not zero: let it extend"),
    ],
)
def test_tables_with_kinks_are_refused(mech, given, words):
    table = lw.LookupTable(X, [0.0, 0.1, 0.2, 0.1], **given)
    with pytest.raises(lw.MechanismError, match=words):
        mech.add_coupling("c", formula="table.q[1] - lift(cam.q)", tables={"lift": table})
    flat = lw.LookupTable(X, [0.0, 0.0, 0.1, 0.1], interpolation="monotone")
    mech.add_coupling("c", formula="table.q[1] - lift(cam.q)", tables={"lift": flat})


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "or give a formula"),
        ({"terms": {}, "formula": "cam.q"}, "terms must be a dictionary"),
        ({"terms": {"cam": 1.0}, "parameters": E}, "those of a formula: give one"),
        ({"formula": "offset*cam.q", "parameters": {"offset": 1.0}}, "'offset' means something else"),
        ({"formula": "cam.q", "parameters": E}, "no formula uses the parameter 'e'"),
        ({"formula": 3}, "must be a text"),
    ],
)
def test_calls_that_do_not_fit_are_refused(mech, given, words):
    with pytest.raises(lw.MechanismError, match=words):
        mech.add_coupling("c", **given)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("table.q[3]", "a motion is a function of time: couple coordinates by add_coupling"),
        ("a) + (b", "the name 'a' is unknown"),
        ("sin(t)", "the name 't' is unknown"),
        ("time", "the result has the unit s, and rad is needed"),
    ],
)
def test_motions_that_do_not_fit_are_refused(mech, text, words):
    with pytest.raises(lw.MechanismError, match=f"coupling 'cam_drive'.*{words}"):
        mech.prescribe("cam", text)
    assert not mech.couplings
    with pytest.raises(lw.MechanismError, match="those of a formula: give one"):
        mech.prescribe("cam", lw.Motion(), parameters=E)


def test_joints_that_are_gone_are_named(mech):
    mech.add_coupling("c", formula="table.q[1] - e*sin(cam.q)", parameters=E)
    del mech.joints["cam"]
    with pytest.raises(lw.MechanismError, match=r"coupling 'c'.*'cam'"):
        lw.compile(mech)
