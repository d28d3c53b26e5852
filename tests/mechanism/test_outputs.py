"""Outputs by formulas in the description: checks, names, units, files."""

import pytest

import linkwork as lw
from support.bodies import refused, with_bodies


@pytest.fixture
def mech():
    made = with_bodies("crank", "rocker")
    made.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "crank", at=(0, 0, 0))
    made.add_joint("ball", lw.Spherical(), "crank", "rocker", at=(1, 0, 0))
    made.add_point("tip", "crank", (1, 2, 3), axis=(0, 3, 4))
    made.add_output("reach", "tip.r[1] + l", parameters={"l": 0.5})
    return made


def units_of(mech):
    return {v.name: v.unit for v in lw.compile(mech).variables}


def test_outputs_are_kept_and_found(mech):
    mech.add_output("both", "reach*map(ball.u[2])", tables={"map": lw.LookupTable((0, 1), (2, 3))}, unit="m")
    assert mech.outputs["reach"].parameters == {"l": 0.5}
    assert "2 outputs" in repr(mech)
    assert list(mech.copy().outputs) == ["reach", "both"]
    units = units_of(mech)
    assert (units["reach"], units["reach.l"], units["both"], units["both.map[2]"]) == ("m", "m", "m", "1")


def test_files_hold_them_with_the_same_bits(mech, tmp_path):
    mech.add_output("both", "reach*map(A.q)", tables={"map": lw.LookupTable((0, 1), (2, 3))}, parameters={}, unit="m")
    mech.add_transition("latch", lw.Lock("A"), when=lw.Crossing("both", 0.3))
    mech.add_output("held", "latch.active*reach")
    mech.add_transition("free", lw.Unlock("A"), when=lw.Crossing("held", -0.3, direction=-1))
    mech.save(tmp_path / "m.json")
    loaded = lw.Mechanism.load(tmp_path / "m.json")
    assert loaded == mech
    assert loaded.outputs == mech.outputs
    assert lw.compile(loaded).model_bytes == lw.compile(mech).model_bytes
    assert "outputs" not in with_bodies("crank").to_dict()


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("tip.r[4]", ("the name 'tip.r[4]' is unknown", "did you mean 'tip.r[")),
        ("rech", ("output 'bad'", "'rech' is unknown", "'reach'")),
        ("bad", ("'bad' is unknown",)),
        ("reach + A.q", ("one unit", "'reach' has m", "'A.q' has rad")),
        ("sin(tip.r[1])", ("sin takes an angle",)),
        ("", ("is empty",)),
        ("2*", ("ends early",)),
    ],
)
def test_mistakes_in_formulas_are_named(mech, formula, words):
    with refused(*words):
        mech.add_output("bad", formula)
    assert list(mech.outputs) == ["reach"]


def test_mistakes_in_outputs_are_named(mech):
    with refused("output 'o'", "the result has the unit m, and N is needed"):
        mech.add_output("o", "reach", unit="N")
    with refused("output 'o'", "unit"):
        mech.add_output("o", "reach", unit="furlong")
    with refused("output 'o'", "no formula uses the parameter 'k'"):
        mech.add_output("o", "reach", parameters={"k": 1.0})
    with refused("output 'o'", "parameter 'reach' has a name that means something else"):
        mech.add_output("o", "reach", parameters={"reach": 1.0})
    with refused("there is an output 'reach' already"):
        mech.add_point("reach", "crank", (0, 0, 0))
    with refused("there is a body 'crank' already"):
        mech.add_output("crank", "reach")
    for name in ("time", "energy", "gravity", "events"):
        with refused(f"output {name!r}", "rename it"):
            mech.add_output(name, "reach")
    assert list(mech.outputs) == ["reach"]


def test_outputs_of_what_is_gone_are_refused(mech):
    mech.add_output("both", "reach*A.q")
    mech.add_transition("latch", lw.Lock("A"), when=lw.Crossing("both", 0.3))
    del mech.outputs["both"]
    with refused("transition 'latch'", "no variable 'both'"):
        lw.compile(mech)
    del mech.transitions["latch"]
    del mech.points["tip"]
    with refused("output 'reach'", "'tip.r[1]' is unknown"):
        lw.compile(mech)


def test_an_output_reads_only_those_before_it(mech):
    mech.add_output("twice", "2*reach")
    mech.outputs["reach"] = mech.outputs.pop("reach")
    with refused("output 'twice'", "'reach' is unknown"):
        lw.compile(mech)


def test_parts_with_names_of_variables_of_all(mech):
    """A body may be called energy; its variables differ from those of the whole."""
    made = lw.Mechanism("named")
    made.add_body("energy", mass=2.0, com=(0, 0, 0), inertia=lw.inertia.sphere(2.0, 0.1))
    made.add_joint("left-hip", lw.Prismatic((1, 0, 0)), "ground", "energy", at=(0, 0, 0))
    made.start(u={"left-hip": 3.0})
    made.add_output("difference", "energy.kinetic - energy.mass*'left-hip'.u^2/2")
    assert lw.simulate(made, 0.1)["difference"] == pytest.approx(0.0, abs=1e-12)


def test_crossings_of_variables_are_checked(mech):
    for quantity, *words in (
        ("tip.r[4]", "no variable 'tip.r[4]'", "did you mean"),
        ("rech", "no variable 'rech'"),
        ("ball.q[2]", "of a quaternion"),
        ("A.x", "no coordinate or speed 'A.x'"),
        ("time", "give Time(t)"),
    ):
        with refused("transition 'latch'", *words):
            mech.add_transition("latch", lw.Lock("A"), when=lw.Crossing(quantity, 0.3))
    mech.add_transition("latch", lw.Lock("A"), when=lw.Crossing("reach", 0.3))
    assert units_of(mech)["latch.value"] == "m"
    with refused("at the same event"):
        mech.add_transition("free", lw.Unlock("A"), when=lw.Crossing("reach", 0.3))


@pytest.mark.parametrize("suffix", ["urdf", "xml"])
def test_files_of_robots_leave_them_out(mech, tmp_path, suffix):
    report = mech.save(tmp_path / f"m.{suffix}")
    assert any("reach" in str(line) or "output" in str(line) for line in str(report).splitlines())
