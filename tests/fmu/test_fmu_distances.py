"""FMUs of mechanisms with distances."""

import numpy as np
import pytest

import linkwork as lw
from support.random_mechanisms import well_posed
from support.spanned import SPANNED
from support.unpacked import Unpacked, unpack

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
KINDS = pytest.mark.parametrize(("kind", "tolerance"), [("ModelExchange", 1e-10), ("CoSimulation", 1e-9)])


def scene(name):
    made = well_posed(SPANNED[name], seed=3)
    made.mechanism.start(q=made.q, u=made.u)
    return made.mechanism


def bob():
    mech = lw.Mechanism("bob")
    mech.add_body("ball", mass=2.0, com=(0, 0, 0), inertia=0.01 * np.eye(3), origin=(0.6, 0, -0.8))
    mech.add_joint("F", lw.Free(), "ground", "ball", at=(0, 0, 0))
    mech.add_distance("rod", bodies=("ground", "ball"), points=((0, 0, 0), (0, 0, 0)))
    mech.start(q={"F": [0.6, 0, -0.8, 1, 0, 0, 0]})
    return mech


SCENES = {"bob": bob, "cam and rod": lambda: scene("cam and rod"), "five-bar": lambda: scene("across a five-bar")}


def exported(mech, version, folder) -> Unpacked:
    system = lw.compile(mech)
    path = lw.export_fmu(system, folder / "held.fmu", version)
    return Unpacked(path, unpack(path), version, system)


@VERSION
@pytest.mark.parametrize("name", SCENES)
@KINDS
def test_runs_in_fmpy_as_in_python(name, version, kind, tolerance, needs, tmp_path):
    fmpy = needs("fmpy")
    from fmpy.validation import validate_fmu

    fmu = exported(SCENES[name](), version, tmp_path)
    assert validate_fmu(str(fmu.path)) == []
    names = [*fmu.system.q_names, *fmu.system.u_names]
    names += [f"{distance}.{what}" for distance in fmu.system.distance_names for what in ("force", "residual")]
    result = fmpy.simulate_fmu(
        str(fmu.path), fmi_type=kind, stop_time=1.0, output_interval=0.05, relative_tolerance=tolerance, output=names
    )
    expected = lw.simulate(fmu.system, 1.0, rtol=1e-11, t_eval=result["time"])
    for each in names:
        scale = max(1.0, np.abs(expected[each]).max())
        assert np.abs(result[each] - expected[each]).max() < 2e-6 * scale, each


@VERSION
def test_the_model_description(version, tmp_path, needs):
    fmpy = needs("fmpy")
    fmu = exported(bob(), version, tmp_path)
    model = fmpy.read_model_description(str(fmu.path), validate=True)
    found = {variable.name: variable for variable in model.modelVariables}
    own = {name: (found[name].causality, found[name].unit) for name in found if name.startswith("rod.")}
    ends = {f"rod.points[{end},{k}]": ("parameter", "m") for end in (1, 2) for k in (1, 2, 3)}
    assert own == ends | {
        "rod.length": ("parameter", "m"),
        "rod.residual": ("output", "m"),
        "rod.force": ("output", "N"),
    }
    assert float(found["rod.length"].start) == 1.0


@VERSION
def test_the_length_is_a_parameter(version, tmp_path):
    """Set before the start, which is assembled with it."""
    fmu = exported(bob(), version, tmp_path)
    instance = fmu.new("CS")
    instance.set([fmu.reference("rod.length")], [2.0])
    instance.initialize()
    place = instance.get([fmu.reference(f"ball.r[{k}]") for k in (1, 2, 3)])
    assert np.linalg.norm(place) == pytest.approx(2.0, rel=1e-9)
    assert instance.get([fmu.reference("rod.residual")]) == pytest.approx([0.0], abs=1e-9)
    instance.free()


@VERSION
def test_a_length_that_cannot_be_is_explained(version, tmp_path):
    fmu = exported(bob(), version, tmp_path)
    instance = fmu.new("CS")
    instance.set([fmu.reference("rod.length")], [-1.0])
    with pytest.raises(AssertionError):
        instance.initialize()
    assert any("length of distance 'rod' is not positive" in text for _, _, text in instance.messages)
    instance.free()
