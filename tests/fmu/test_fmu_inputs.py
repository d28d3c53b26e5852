"""FMUs with chosen inputs: those that are listed act as before, and the others stay at their start values."""

import zipfile
from xml.etree import ElementTree

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import ExportError
from support.interface_file import by_xml, of_fmu
from support.zoo import zoo

VERSIONS = ("2.0", "3.0")


def inputs_of(path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
    return [v.get("name") for v in root.find("ModelVariables") if v.get("causality") == "input"]


def two_masses() -> lw.Mechanism:
    """Masses of 2 kg and 4 kg on rails, without weight; a force acts on the first."""
    mech = lw.Mechanism("two_masses", gravity=(0, 0, 0))
    for name, mass in (("a", 2.0), ("b", 4.0)):
        mech.add_body(name, mass=mass, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint(f"{name}_rail", lw.Prismatic((1, 0, 0)), "ground", name, at=(0, 0, 0))
    mech.add_force(lw.Wrench("a", name="push"))
    return mech


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ([], []),
        (["j0"], ["j0.tau"]),
        ("push.F", ["push.F[1]", "push.F[2]", "push.F[3]"]),
        (["push.F[2]", "latch"], ["push.F[2]", "latch.command"]),
        (["j2.tau[1]"], ["j2.tau[1]"]),
    ],
)
@pytest.mark.thin(5)
def test_the_chosen_inputs_are_listed(version, chosen, expected, tmp_path, needs):
    needs("fmpy")
    from fmpy.validation import validate_fmu

    path = lw.export_fmu(zoo(), tmp_path / "a.fmu", fmi=version, inputs=chosen)
    assert inputs_of(path) == expected
    assert validate_fmu(str(path)) == []
    interface, root = of_fmu(path)
    if version == "3.0":
        assert interface == by_xml(root)


def test_all_by_default(tmp_path):
    mech = lw.compile(zoo())
    known = [v.name for v in mech.variables if v.kind == "input"]
    assert inputs_of(lw.export_fmu(mech, tmp_path / "a.fmu")) == known
    owners = sorted({name.split(".")[0] for name in known})
    assert inputs_of(lw.export_fmu(mech, tmp_path / "b.fmu", inputs=owners)) == known


@pytest.mark.parametrize("more", [{"arrays": True}, {"outputs": ["energy"]}, {"sources": True}])
def test_goes_with_other_choices(more, tmp_path, needs):
    needs("fmpy")
    from fmpy.validation import validate_fmu

    path = lw.export_fmu(zoo(), tmp_path / "a.fmu", inputs=["push", "j1.tau"], **more)
    vector = ["push.F", "push.T"] if "arrays" in more else [f"push.{f}[{i}]" for f in "FT" for i in (1, 2, 3)]
    assert inputs_of(path) == ["j1.tau", *vector]
    assert validate_fmu(str(path)) == []
    interface, root = of_fmu(path)
    assert interface == by_xml(root)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("j0.tao", "inputs: the mechanism has no variable 'j0.tao': did you mean 'j0.tau'"),
        ("j0.q", "inputs: 'j0.q' is no input"),
        ("pusch", "did you mean 'push'"),
    ],
)
def test_unknown_names(name, words, tmp_path):
    with pytest.raises(ExportError, match=words):
        lw.export_fmu(zoo(), tmp_path / "a.fmu", inputs=[name])
    assert not (tmp_path / "a.fmu").exists()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_runs_with_the_inputs_it_has(version, kind, tmp_path, needs):
    """x = F t^2 / (2 m) for the mass that is pushed; nothing else can be, and rests."""
    fmpy = needs("fmpy")
    path = lw.export_fmu(two_masses(), tmp_path / "a.fmu", fmi=version, inputs=["push.F[1]"])
    signal = np.array([(0.0, 3.0), (2.0, 3.0)], dtype=[("time", float), ("push.F[1]", float)])
    result = fmpy.simulate_fmu(
        str(path), fmi_type=kind, stop_time=2.0, output_interval=0.5, input=signal, output=["a_rail.q", "b_rail.q"]
    )
    assert result["a_rail.q"] == pytest.approx(3.0 / 4.0 * result["time"] ** 2, abs=1e-6)
    assert result["b_rail.q"] == pytest.approx(np.zeros(5), abs=1e-12)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_impulse_that_is_left_out_keeps_its_start(version, tmp_path, needs):
    """The kick of the mechanism, 6 N s on 2 kg, acts where its input is left out."""
    fmpy = needs("fmpy")
    mech = two_masses()
    mech.add_transition("kick", lw.Impulse("a", force=(6.0, 0, 0)), when=lw.Time(0.5))
    path = lw.export_fmu(mech, tmp_path / "a.fmu", fmi=version, inputs=[])
    result = fmpy.simulate_fmu(str(path), stop_time=1.0, output_interval=0.25, output=["a_rail.u"])
    assert result["a_rail.u"][-1] == pytest.approx(3.0, rel=1e-9)


@pytest.mark.parametrize("version", VERSIONS)
def test_passes_the_check(version, tmp_path, needs):
    needs("fmpy")
    path = lw.export_fmu(two_masses(), tmp_path / "a.fmu", fmi=version, inputs=["push.F[1]"])
    report = lw.check_fmu(path, progress=False)
    assert report.passed, str(report)


def test_a_system_is_silent_on_what_the_fmu_leaves_out(tmp_path, needs):
    """The default FMU has inputs that nothing drives, and the run names them; that with one port does not."""
    needs("fmpy")
    from linkwork import cosim

    def notices(**choice):
        path = lw.export_fmu(two_masses(), tmp_path / "plant.fmu", **choice)
        system = cosim.System("pair")
        system.add("one", path)
        system.add("other", path)
        system.connect("one.b_rail.q", "other.push.F[1]", convert_units=False)
        return cosim.run(system, 0.1, inputs={"one.push.F[1]": 1.0}, progress=False).notices

    assert any("held at their start values" in notice for notice in notices())
    assert notices(inputs=["push.F[1]"]) == []
