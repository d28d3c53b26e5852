"""Meshes from files: formats, units, thinning, equal ones, files that cannot be read."""

import base64
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import trimesh

import linkwork as lw
from linkwork.errors import LinkworkError
from linkwork.view.meshes import ShapeTable, read_mesh

BOX = trimesh.creation.box(extents=(0.4, 0.2, 0.1))
BALL = trimesh.creation.icosphere(subdivisions=5, radius=0.5)  # 20480 triangles


def mechanism(folder: Path, *shapes: lw.shape.Shape) -> lw.Mechanism:
    mech = lw.Mechanism("pendulum")
    mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.folder = folder
    for shape in shapes:
        mech.add_shape("arm", shape)
    return mech


@pytest.mark.parametrize("suffix", [".stl", ".obj", ".ply", ".glb", ".gltf", ".dae"])
def test_every_format_gives_the_same_box(tmp_path, suffix) -> None:
    path = tmp_path / f"box{suffix}"
    if suffix == ".gltf":
        for name, data in BOX.export(file_type="gltf").items():
            (tmp_path / (path.name if name.endswith(".gltf") else name)).write_bytes(data)
    else:
        BOX.export(path)
    mesh, total = read_mesh(path, (1.0, 2.0, 1.0))
    assert total == len(mesh.triangles) == 12
    assert len(mesh.vertices) == 8
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), (0.4, 0.4, 0.1), rtol=1e-6)
    assert volume(mesh) == pytest.approx(0.4 * 0.4 * 0.1, rel=1e-6)


def volume(mesh) -> float:
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def test_ascii_stl_and_upper_case_suffixes(tmp_path) -> None:
    (tmp_path / "box.STL").write_text(BOX.export(file_type="stl_ascii"))
    assert volume(read_mesh(tmp_path / "box.STL")[0]) == pytest.approx(0.008, rel=1e-6)


def test_a_mirrored_mesh_is_not_inside_out(tmp_path) -> None:
    BOX.export(tmp_path / "box.stl")
    assert volume(read_mesh(tmp_path / "box.stl", (1.0, -1.0, 1.0))[0]) == pytest.approx(0.008, rel=1e-6)


def test_the_unit_of_a_collada_file_counts(tmp_path) -> None:
    BOX.export(tmp_path / "box.dae")
    text = (tmp_path / "box.dae").read_text()
    metre = '<unit meter="0.01" name="centimeter"/>'
    assert "<unit" not in text  # that is metres
    assert "</asset>" in text
    (tmp_path / "small.dae").write_text(text.replace("</asset>", f"{metre}</asset>"))
    sizes = [np.ptp(read_mesh(tmp_path / name)[0].vertices, axis=0) for name in ("box.dae", "small.dae")]
    np.testing.assert_allclose(sizes[1], 0.01 * sizes[0], rtol=1e-6)


def test_a_large_mesh_is_thinned_and_that_is_told(tmp_path) -> None:
    BALL.export(tmp_path / "ball.stl")
    mesh, total = read_mesh(tmp_path / "ball.stl", most_triangles=2000)
    assert total == 20480
    assert 1000 < len(mesh.triangles) <= 2000
    assert volume(mesh) == pytest.approx(4 / 3 * np.pi / 8, rel=0.01)
    table = ShapeTable(mechanism(tmp_path, lw.shape.mesh("ball.stl")), most_triangles=2000)
    assert table.warnings == [
        f"mesh 'ball.stl': {len(mesh.triangles):,} of 20 480 triangles are shown".replace(",", " ")
    ]


def test_many_meshes_share_their_triangles(tmp_path) -> None:
    BALL.export(tmp_path / "ball.stl")
    table = ShapeTable(mechanism(tmp_path, *(lw.shape.mesh("ball.stl", scale=k + 1) for k in range(40))))
    assert len(table.meshes) == 40
    assert sum(len(mesh.triangles) for mesh in table.meshes) <= 200_000
    assert len(table.warnings) == 40


def test_equal_meshes_are_kept_once(tmp_path) -> None:
    BOX.export(tmp_path / "a.stl")
    BOX.export(tmp_path / "b.obj", include_normals=False)
    shapes = [lw.shape.mesh(name, scale=scale) for name, scale in (("a.stl", 1), ("b.obj", 1), ("a.stl", 2))]
    table = ShapeTable(mechanism(tmp_path, *shapes))
    assert not table.warnings
    assert [one["mesh"] for one in table.of("arm")] == [0, 0, 1]
    packed = table.packed()
    vertices = np.frombuffer(gzip.decompress(base64.b64decode(packed[1]["vertices"])), "<f4").reshape(-1, 3)
    np.testing.assert_allclose(np.ptp(vertices, axis=0), (0.8, 0.4, 0.2), rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("none.stl", None, "there is no such file"),
        ("part.step", b"", "meshes are files .stl"),
        ("empty.stl", b"", "it is damaged or no .stl file|it has no triangles"),
        ("noise.glb", bytes(range(256)), "it is damaged or no .glb file"),
        ("noise.obj", b"f 1 2 3\n", "it is damaged or no .obj file|it has no triangles"),
        ("text.dae", b"<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]><COLLADA/>", "entities are refused"),
        ("nan.stl", b"solid a\nfacet normal 0 0 1\nouter loop\n" + b"vertex nan 0 0\n" * 3, "it has no triangles"),
        ("cut.stl", BOX.export(file_type="stl")[:300] + b"\xff", "it is damaged or no .stl file|it has no triangles"),
    ],
)
def test_what_cannot_be_read_is_a_warning(tmp_path, name, data, message) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(LinkworkError, match=message):
        read_mesh(tmp_path / name)
    table = ShapeTable(mechanism(tmp_path, lw.shape.mesh(name), lw.shape.mesh(name), lw.shape.sphere(0.1)))
    assert [one["type"] for one in table.of("arm")] == ["sphere"]
    assert len(table.warnings) == 1
    assert table.warnings[0].startswith(f"mesh {name!r} is not shown: ")


def test_a_gltf_reads_nothing_outside_of_its_folder(tmp_path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    files = BOX.export(file_type="gltf")
    for name, data in files.items():
        if name.endswith(".gltf"):
            described = json.loads(data)
            for buffer in described["buffers"]:
                buffer["uri"] = f"../{buffer['uri']}"
            (inner / "box.gltf").write_text(json.dumps(described))
        else:
            (tmp_path / name).write_bytes(data)
    with pytest.raises(LinkworkError, match="damaged"):
        read_mesh(inner / "box.gltf")


def test_a_missing_package_is_a_warning(tmp_path, monkeypatch) -> None:
    BOX.export(tmp_path / "box.stl")
    monkeypatch.setitem(__import__("sys").modules, "trimesh", None)
    table = ShapeTable(mechanism(tmp_path, lw.shape.mesh("box.stl")))
    assert table.of("arm") == []
    assert "pip install 'linkwork[mesh]'" in table.warnings[0]


def test_primitives_are_as_the_viewer_reads_them() -> None:
    frame = lw.Frame((0, 0, 1))
    mech = mechanism(Path(), lw.shape.box((1, 2, 3), frame=frame), lw.shape.capsule(0.1, 0.5, colour="#102030"))
    where = {"r": [0.0, 0.0, 1.0], "Q": [1.0, 0.0, 0.0, 0.0]}
    here = {"r": [0.0, 0.0, 0.0], "Q": [1.0, 0.0, 0.0, 0.0]}
    assert ShapeTable(mech).of("arm") == [
        {"type": "box", "size": [1.0, 2.0, 3.0], "frame": where},
        {"type": "capsule", "radius": 0.1, "length": 0.5, "frame": here, "colour": "#102030"},
    ]
    assert ShapeTable(mech).of("ground") == []
