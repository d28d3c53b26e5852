"""The data that the library reads in addition to the model, and their agreement with the XML."""

import struct

import pytest

import linkwork as lw
from linkwork.fmu.export.instantiation_token import instantiation_token
from linkwork.fmu.export.model_description import in_chunks
from linkwork.model.independent_coordinates import IndependentCoordinates
from support.interface_file import by_xml, of_fmu
from support.zoo import zoo

TUNABLE = {
    *("gravity", "body_mass", "body_com", "body_inertia", "stiffness", "damping", "free_coordinate"),
    *("spring_points", "spring_stiffness", "spring_damping", "spring_free_length", "wrench_point"),
    *("actuator_gain", "actuator_offset", "actuator_stiffness", "actuator_damping", "force_gear"),
    *("actuator_input_range", "actuator_force_range"),
    *("friction_coulomb", "friction_static", "friction_stribeck", "friction_viscous", "brake_static"),
    *("friction_forward", "friction_backward", "brake_forward", "brake_backward"),
    *("bushing_points", "bushing_rotations", "bushing_stiffness", "bushing_damping", "bushing_preload"),
    *("formula_number", "lookup_value", "line_point", "line_factor", "point_formula_point"),
    *("frame_formula_points", "frame_formula_rotations"),
    *("restitution", "correction_gain", "reflected_inertia", "max_load"),
}


@pytest.fixture(scope="module")
def of_everything():
    return lw.compile(zoo())


def scalars(interface, root):
    """Offsets of all numbers by name, also of those in arrays."""
    found = {}
    for v in root.find("ModelVariables"):
        size = v.find("Dimension")
        first, name = interface.offsets[int(v.get("valueReference")) - 1], v.get("name")
        if size is None:
            found[name] = first
            continue
        opened, closed = (name[:-1], ")") if name.endswith(")") else (name, "")
        found |= {f"{opened}[{i + 1}]{closed}": first + i for i in range(int(size.get("start")))}
    return found


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("outputs", [None, ["energy", "j5.q", "der(j0.u)", "b3.r"]])
def test_agrees_with_the_xml(of_everything, tmp_path, arrays, outputs):
    path = lw.export_fmu(of_everything, tmp_path / "a.fmu", outputs=outputs, arrays=arrays)
    interface, root = of_fmu(path)
    assert interface == by_xml(root)
    assert bool(interface.arrays) == arrays
    assert any(interface.unknowns.values())


def test_is_the_same_for_both_versions(of_everything, tmp_path):
    """But for the value references: offsets in FMI 2.0."""
    old, new = (of_fmu(lw.export_fmu(of_everything, tmp_path / "a.fmu", fmi))[0] for fmi in ("2.0", "3.0"))
    assert old.offsets == []
    offset = dict(enumerate(new.offsets, start=1))
    assert old.knowns == sorted(offset[at] for at in new.knowns)
    assert old.unknowns == {offset[at]: sorted(offset[on] for on in known) for at, known in new.unknowns.items()}


@pytest.mark.parametrize("arrays", [False, True])
@pytest.mark.parametrize("outputs", [None, ["energy"]])
def test_references_count_the_variables_of_the_xml(of_everything, tmp_path, arrays, outputs):
    """Some importers take a value reference for the position of the variable."""
    interface, root = of_fmu(lw.export_fmu(of_everything, tmp_path / "a.fmu", outputs=outputs, arrays=arrays))
    references = [int(v.get("valueReference")) for v in root.find("ModelVariables")]
    assert references == list(range(1, len(interface.offsets) + 1))


def test_offsets_are_those_of_the_block_and_behind_it(of_everything, tmp_path):
    interface, root = of_fmu(lw.export_fmu(of_everything, tmp_path / "a.fmu"))
    expected = {v.name: v.reference for v in of_everything.variables}
    names = [
        "bump.indicator.lower",
        "bump.indicator.upper",
        "friction.indicator",
        "clamp.indicator",
        "between.indicator",
        "ratchet.indicator",
        "force.kink[1]",
        "belt.kink[1]",
        *(f"cable.kink[{i}]" for i in range(1, 6)),
        *(f"brake.kink[{i}]" for i in range(1, 4)),
        "solver",
        "tolerance",
    ]
    expected |= {name: of_everything.sizes.reals + i for i, name in enumerate(names)}
    assert scalars(interface, root) == expected


def test_arrays_hold_the_same_numbers(of_everything, tmp_path):
    one_by_one = of_fmu(lw.export_fmu(of_everything, tmp_path / "a.fmu"))
    interface, together = of_fmu(lw.export_fmu(of_everything, tmp_path / "b.fmu", arrays=True))
    assert scalars(*one_by_one) == scalars(interface, together)
    names = {v.get("name") for v in together.find("ModelVariables")}
    assert {"gravity", "j5.q", "der(j5.u)", "b1.r", "b1.com", "b1.inertia[1,2]", "push.F"} <= names
    assert {"j4.q[1]", "j4.q[3]", "j3.u[2]"} <= names  # m and rad


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_validates_with_everything(of_everything, tmp_path, needs, fmi):
    needs("fmpy")
    from fmpy.validation import validate_fmu

    for arrays in {False, fmi == "3.0"}:
        assert validate_fmu(str(lw.export_fmu(of_everything, tmp_path / "a.fmu", fmi, arrays=arrays))) == []


def test_starts_of_arrays(of_everything, tmp_path):
    interface, root = of_fmu(lw.export_fmu(of_everything, tmp_path / "a.fmu", arrays=True))
    state = of_everything.assemble()
    starts = {v.reference: v.start for v in of_everything.variables if v.start is not None}
    for name, values in (("q", state.q), ("u", state.u)):
        starts |= {of_everything.fields[name].first + i: value for i, value in enumerate(values)}
    for v in root.find("ModelVariables"):
        if v.find("Dimension") is not None and v.get("start"):
            first = interface.offsets[int(v.get("valueReference")) - 1]
            assert [float(x) for x in v.get("start").split()] == [
                starts[first + i] for i in range(len(v.get("start").split()))
            ]


def test_tunable_are_the_agreed_fields(of_everything):
    fields = of_everything.fields
    for v in of_everything.variables:
        (field,) = (name for name, f in fields.items() if f.span.start <= v.reference < f.span.stop)
        assert v.tunable == (field in TUNABLE), v.name


def test_variability_follows(of_everything, tmp_path):
    _, root = of_fmu(lw.export_fmu(of_everything, tmp_path / "a.fmu"))
    tunable = {v.name for v in of_everything.variables if v.tunable}
    found = {v.get("name"): v.get("variability") for v in root.find("ModelVariables")}
    assert {name for name, value in found.items() if value == "tunable"} == tunable
    assert found["solver"] == found["tolerance"] == found["b1.mass"].replace("tunable", "fixed") == "fixed"


def test_the_token_is_over_both_files():
    assert instantiation_token(b"model", b"interface") == instantiation_token(b"modelinter", b"face")
    assert instantiation_token(b"model", b"interface") != instantiation_token(b"model", b"interfacE")


@pytest.fixture
def minimal(four_bar, monkeypatch, tmp_path):
    """The four-bar with minimal states, A.q and A.u, as both versions."""
    system = lw.compile(four_bar)
    q, u = system.q_names.index("A.q"), system.u_names.index("A.u")
    monkeypatch.setattr(
        "linkwork.model.independent_coordinates.choose_independent_coordinates",
        lambda *_, **__: IndependentCoordinates((q,), (u,)),
    )
    return system, lambda **more: lw.export_fmu(system, tmp_path / "minimal.fmu", states="minimal", **more)


def test_minimal_states(minimal):
    system, export = minimal
    interface, root = of_fmu(export())
    place = {v.get("name"): int(v.get("valueReference")) for v in root.find("ModelVariables")}
    assert (interface.independent_q, interface.independent_u) == (
        [system.q_names.index("A.q")],
        [system.u_names.index("A.u")],
    )
    derivatives = [u for u in root.find("ModelStructure") if u.tag == "ContinuousStateDerivative"]
    assert [int(u.get("valueReference")) for u in derivatives] == [place["der(A.q)"], place["der(A.u)"]]
    variables = {v.get("name"): v for v in root.find("ModelVariables")}
    others = [name for name in (*system.q_names, *system.u_names) if not name.startswith("A.")]
    assert others
    for name in others:
        assert int(variables[name].get("valueReference")) == place[name]
        assert variables[name].get("causality") == "output"
        assert interface.unknowns[place[name]] == interface.knowns
        assert f"der({name})" not in variables
    states = {place["A.q"], place["A.u"]}
    assert states <= set(interface.knowns)
    assert not {place[name] for name in others} & {at for on in interface.unknowns.values() for at in on or ()}
    assert interface.unknowns == by_xml(root).unknowns


@pytest.mark.thin(2)
@pytest.mark.parametrize(
    "more", [{"fmi": "2.0"}, {"fmi": "3.0"}, {"fmi": "3.0", "arrays": True}, {"outputs": "energy"}]
)
def test_minimal_states_validate(minimal, needs, more):
    needs("fmpy")
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(minimal[1](**more))) == []


def test_wrong_wishes_are_refused(system, tmp_path):
    with pytest.raises(lw.LinkworkError, match="choose 'full' or 'minimal'"):
        lw.export_fmu(system, tmp_path / "a.fmu", states="some")
    with pytest.raises(lw.LinkworkError, match='states="minimal"'):
        lw.export_fmu(system, tmp_path / "a.fmu", independents=["A.q"])
    with pytest.raises(lw.LinkworkError, match="no arrays"):
        lw.export_fmu(system, tmp_path / "a.fmu", "2.0", arrays=True)


def test_start_values_out_of_bounds_are_refused(of_everything, tmp_path, monkeypatch):
    from linkwork.fmu.export import fmu

    monkeypatch.setattr(fmu, "SETTING_STARTS", (1.0, -1e-3))
    with pytest.raises(lw.LinkworkError, match=r"tolerance starts at -0\.001"):
        lw.export_fmu(of_everything, tmp_path / "a.fmu")


def test_pieces_are_the_whole():
    lines = [f"{i}\n" for i in range(10000)]
    pieces = list(in_chunks(lines))
    assert b"".join(pieces) == "".join(lines).encode()
    assert len(pieces) > 1


def test_numbers_are_words_of_the_least_byte_first(of_everything, tmp_path):
    import zipfile

    with zipfile.ZipFile(lw.export_fmu(of_everything, tmp_path / "a.fmu")) as archive:
        data = archive.read("resources/interface.lwi")
    assert struct.unpack_from("<8s3dII", data) == (b"LWFMUI04", 1.0, 1.0, 1.0, 0, 0)
