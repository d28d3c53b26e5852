"""Terminals and icons of FMUs."""

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

import linkwork as lw
from linkwork.fmu.export.fmu import Experiment, describe_system
from linkwork.fmu.export.terminals import MOST_TERMINALS, terminal_files
from support.graphs import long_mechanism
from support.random_changes import random_change
from support.random_mechanisms import FAMILIES, well_posed
from support.random_transitions import as_transitions

XML = "terminalsAndIcons/terminalsAndIcons.xml"
PNG = b"\x89PNG\r\n\x1a\n"


def driven() -> lw.Mechanism:
    """A joint of several coordinates, a drive, a wrench, and transitions, one of them a pin."""
    mech = lw.Mechanism("driven")
    for name in ("left", "right"):
        mech.add_body(name, mass=1.0, com=(0.1, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("ball", lw.Spherical(), "ground", "left", at=(0, 0, 0))
    mech.add_joint("hinge", lw.Revolute((0, 1, 0)), "ground", "right", at=(1, 0, 0))
    mech.add_force(lw.Wrench("left", name="push"))
    mech.prescribe("hinge", lw.Motion((0.0, 1.0)))
    mech.add_transition("pin", lw.Pin("left", "right", lw.Spherical()), when=lw.Command())
    mech.add_transition("kick", lw.Impulse("left", force=(1, 0, 0)), when=lw.Time(1.0))
    return mech


def files_of(system, outputs=None, fmi="3.0"):
    content = describe_system(system, outputs, Experiment())
    return content, terminal_files(content, system, fmi)


def terminals(files):
    root = ElementTree.fromstring(files[XML])
    return {t.get("name"): {m.get("memberName"): m.get("variableName") for m in t} for t in root.iter("Terminal")}


def test_members_are_what_belongs_together():
    _, files = files_of(lw.compile(driven()))
    found = terminals(files)
    assert found["hinge"] == {"q": "hinge.q", "u": "hinge.u", "tau": "hinge.tau"}
    assert found["hinge_drive"] == {name: f"hinge_drive.{name}" for name in ("q_in", "u_in", "a_in", "load")}
    assert set(found["ball"]) == {
        *(f"q[{i}]" for i in range(1, 5)),
        *(f"{k}[{i}]" for k in ("u", "tau") for i in (1, 2, 3)),
    }
    moved = [f"{what}[{i + 1}]" for what, count in (("r", 3), ("Q", 4), ("v", 3), ("w", 3)) for i in range(count)]
    applied = [f"{what}[{i}]" for what in "FT" for i in (1, 2, 3)]
    of_force = {name: f"push.{name}" for name in (*applied, "power")}
    assert found["push"] == of_force | {name: f"left.{name}" for name in moved}
    assert found["pin"]["command"] == "pin.command"
    assert found["pin"]["active"] == "pin.active"
    assert found["kick"]["impulse.f[1]"] == "kick.impulse.f[1]"


def mechanisms():
    yield driven()
    for name in ("planar_4R", "sprung_moving_slider_crank", "three_spatial_legs"):
        yield well_posed(FAMILIES[name][0], 0).mechanism
    for seed in range(6):
        yield as_transitions(random_change(seed)).mechanism


def test_members_are_inputs_and_outputs_of_the_fmu_and_names_are_unique():
    for mech in mechanisms():
        system = lw.compile(mech)
        for outputs in (None, ["energy"]):
            content, files = files_of(system, outputs)
            every = content.each("parameter", "input", "output", "local", "independent")
            causality = {entry.variable.name: entry.causality for entry in every}
            root = ElementTree.fromstring(files[XML])
            names = [t.get("name") for t in root.iter("Terminal")]
            assert len(names) == len(set(names))
            for terminal in root.iter("Terminal"):
                members = [m.get("memberName") for m in terminal]
                assert members
                assert len(members) == len(set(members))
                assert {causality[m.get("variableName")] for m in terminal} <= {"input", "output"}


def test_terminals_follow_the_schema(needs):
    needs("fmpy")
    import fmpy
    from lxml import etree

    schema = Path(fmpy.__file__).parent / "schema" / "fmi3" / "fmi3TerminalsAndIcons.xsd"
    check = etree.XMLSchema(etree.parse(str(schema)))
    for mech in mechanisms():
        _, files = files_of(lw.compile(mech))
        check.assertValid(etree.fromstring(files[XML]))


def test_what_is_in_the_archive(fmu):
    with zipfile.ZipFile(fmu.path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    if fmu.version == "2.0":
        assert files["model.png"].startswith(PNG)
        assert not any(name.startswith("terminalsAndIcons/") for name in files)
        return
    assert "model.png" not in files
    assert files["terminalsAndIcons/icon.png"].startswith(PNG)  # wherever there is an icon.svg
    picture = ElementTree.fromstring(files["terminalsAndIcons/icon.svg"])
    width, height = picture.get("viewBox").split()[2:]
    assert width == height
    assert ElementTree.fromstring(files[XML]).get("fmiVersion") == "3.0"


@pytest.mark.parametrize("loops", [False, True])
def test_large_mechanisms_have_so_many_terminals(loops):
    _, files = files_of(lw.compile(long_mechanism(1_000, loops)))
    assert len(terminals(files)) == MOST_TERMINALS
    assert sum(map(len, files.values())) < 600_000
