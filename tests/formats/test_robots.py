"""Published robots with loops: all formats, from the file to motion and FMU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.interpolate import CubicSpline

import linkwork as lw
from linkwork.mechanism import Actuator
from support.checkout import TOP

MODELS = TOP.parent / "shared" / "models"
INCONSISTENT = "kangaroo_like_2legs"
FILES = sorted(
    str(path.relative_to(MODELS))
    for pattern in ("*.xml", "*.urdf", "gepetto/*/robot.urdf", "cassie_sdf/*.sdf")
    for path in MODELS.glob(pattern)
    if INCONSISTENT not in str(path)
)
FOLDED = {"grbda_four_bar.urdf", "grbda_planar_leg_linkage.urdf"}  # at zero all links are on one line: a branch point

pytestmark = [
    pytest.mark.skipif(not MODELS.is_dir(), reason="needs the robots of ../shared/models"),
    pytest.mark.filterwarnings("ignore::linkwork.errors.LinkworkWarning"),
]


@pytest.mark.parametrize("file", FILES)
def test_all_loops_close_to_rounding(file: str) -> None:
    mech = lw.load(MODELS / file)
    model = lw.compile(mech)
    state = model.assemble()
    assert model.loop_residual(state).max(initial=0.0) < 1e-12
    assert np.isfinite(model.accelerations(state)).all()
    assert len(mech.report.of("taken")) >= len(mech.bodies) + len(mech.joints)


@pytest.mark.slow
def test_an_inconsistent_robot_is_refused_with_all_its_gaps() -> None:
    mech = lw.load(MODELS / "gepetto" / INCONSISTENT / "robot.urdf")
    with pytest.raises(lw.AssemblyError, match=r"cannot be closed.*\n.*worst first") as caught:
        lw.compile(mech).assemble()
    gaps = [one.gap for one in caught.value.closures]
    assert len(gaps) == len(lw.compile(mech).loop_names)
    assert 0.03 < max(gaps) < 0.06  # an independent least-squares solution leaves 4 cm


def energy_gap(result: lw.Result, driven: list[str]) -> float:
    """Largest part of the energy that loads and dampers do not explain, J."""
    power = np.zeros(len(result.t))
    for force in result.model.mechanism.forces:
        if (joint := getattr(force, "joint", None)) and result.model.mechanism.joints[joint].kind.nu:
            speeds = result[f"{joint}.u"].reshape(len(result.t), -1)
            power -= (np.asarray(force.damping) * speeds**2).sum(axis=1)
    power += sum(result[f"{joint}.tau"] * result[f"{joint}.u"] for joint in driven)
    energy = result["energy.kinetic"] + result["energy.potential"]
    return float(np.abs(energy - energy[0] - CubicSpline(result.t, power).antiderivative()(result.t)).max())


def test_cassie_falls_and_moves_its_legs() -> None:
    model = lw.compile(lw.load(MODELS / "cassie_nomesh.xml"))
    driven = [
        f"{side}-{name}" for side in ("left", "right") for name in ("hip-roll", "hip-pitch", "knee", "foot-crank")
    ]
    inputs = {joint: lambda t, k=k: 3.0 * np.sin(2 * np.pi * (1 + 0.1 * k) * t) for k, joint in enumerate(driven)}
    result = lw.simulate(model, 2.0, inputs=inputs, rtol=1e-8, t_eval=np.linspace(0, 2, 4001))
    assert max(result[f"loop.{name}.residual"].max() for name in model.loop_names) < 1e-9
    assert np.ptp(result["left-knee.q"]) > 0.3
    assert energy_gap(result, driven) < 1e-6 * result["energy.kinetic"].max()


@pytest.mark.slow
def test_the_fmu_of_cassie_passes_the_check_and_agrees(tmp_path: Path) -> None:
    fmpy = pytest.importorskip("fmpy")
    mech = lw.load(MODELS / "cassie_nomesh.xml")
    path = lw.export_fmu(mech, tmp_path / "cassie.fmu")
    report = lw.check_fmu(path)
    assert report.passed, str(report)
    times = np.linspace(0.0, 0.5, 11)
    signal = np.array([(0.0, 3.0), (1.0, 3.0)], dtype=[("time", float), ("'left-knee'.tau", float)])
    outputs = ["'left-knee'.q", "'left-shin'.q", "'cassie-pelvis'.r[3]"]
    found = fmpy.simulate_fmu(
        str(path), stop_time=0.5, output_interval=0.05, input=signal, output=outputs, relative_tolerance=1e-8
    )
    ours = lw.simulate(mech, 0.5, inputs={"left-knee": 3.0}, rtol=1e-9, t_eval=times)
    for name in outputs[:2]:
        np.testing.assert_allclose(found[name], ours[name.replace("'", "")], atol=1e-6)
    np.testing.assert_allclose(found[outputs[2]], ours["cassie-pelvis.r"][:, 2], atol=1e-6)


def motors(file: str, mech: lw.Mechanism) -> list[str]:
    """Joints with motors, by the file or by their names; a load on the axis of a slender rod would spin it up."""
    if (listed := (MODELS / file).with_suffix(".yaml")).exists():
        return sorted(yaml.safe_load(listed.read_text())["name_mot"])
    driven = {joint for force in mech.forces if isinstance(force, Actuator) for joint in force.joint_names}
    return sorted(driven | {name for name in mech.joints if "mot" in name or "hip" in name or "knee" in name})


@pytest.mark.slow
@pytest.mark.thin(2, kept=2)
@pytest.mark.parametrize("moves", ["falling", "driven"])
@pytest.mark.parametrize("file", [file for file in FILES if file not in FOLDED])
def test_robots_run_between_their_limits(file: str, moves: str) -> None:
    mech = lw.load(MODELS / file, limits=True, base="fixed")
    mass = sum(body.mass for body in mech.bodies.values())
    inputs = {}
    if moves == "driven":
        plain = [name for name in motors(file, mech) if mech.joints[name].kind.nu == 1 and not mech.joints[name].cut]
        inputs = {
            name: lambda t, k=k: 0.05 * mass * np.sin(2 * np.pi * (1 + 0.07 * k) * t) for k, name in enumerate(plain)
        }
    result = lw.simulate(mech, 2.0, inputs=inputs, rtol=1e-6)
    assert result.t[-1] == 2.0
    for transition in mech.transitions.values():
        stop = transition.action
        angle = result[f"{stop.joint}.q"]
        assert stop.lower is None or angle.min() > stop.lower - 1e-6
        assert stop.upper is None or angle.max() < stop.upper + 1e-6


TETRAHEDRON = "v 0 0 0\nv .1 0 0\nv 0 .1 0\nv 0 0 .1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
WITH_MESHES = {
    "r.xml": '<mujoco><compiler meshdir="../meshes"/><asset><mesh name="t" file="t.obj"/></asset><worldbody>'
    '<body name="b"><joint/><geom type="mesh" mesh="t"/></body></worldbody></mujoco>',
    "r.urdf": '<robot name="r"><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
    'ixz="0" iyz="0"/></inertial><visual><geometry><mesh filename="../meshes/t.obj"/></geometry></visual></link>'
    '<link name="w"/><joint name="j" type="continuous"><parent link="w"/><child link="b"/></joint></robot>',
}


@pytest.mark.parametrize("name", WITH_MESHES)
def test_meshes_beside_the_folder_of_the_file_are_read_from_a_folder_around_both(name, tmp_path):
    pytest.importorskip("mujoco")
    for folder in ("models", "meshes"):
        (tmp_path / folder).mkdir()
    (tmp_path / "meshes" / "t.obj").write_text(TETRAHEDRON)
    path = tmp_path / "models" / name
    path.write_text(WITH_MESHES[name])
    mech = lw.load(path, root=tmp_path)
    assert [one.path for one in mech.shapes["b"]] == ["../meshes/t.obj"]
    if name == "r.xml":  # MuJoCo needs the mesh for the inertia
        with pytest.raises(lw.LinkworkError, match="root="):
            lw.load(path)
    else:
        alone = lw.load(path)
        assert not alone.shapes.get("b")
        assert "root=" in str(alone.report)
    with pytest.raises(lw.LinkworkError, match="does not hold"):
        lw.load(path, root=tmp_path / "meshes")
    with pytest.raises(lw.LinkworkError, match="no folder"):
        lw.load(path, root=tmp_path / "nowhere")


def test_a_folder_around_the_file_is_the_limit(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "robot" / "models").mkdir(parents=True)
    (tmp_path / "other.xml").write_text("<mujoco/>")
    path = tmp_path / "robot" / "models" / "r.xml"
    path.write_text('<mujoco><include file="../../other.xml"/></mujoco>')
    with pytest.raises(lw.LinkworkError, match="leaves the folder"):
        lw.load(path, root=tmp_path / "robot")
