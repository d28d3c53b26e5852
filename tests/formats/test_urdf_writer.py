"""Mechanisms written as URDF: as Pinocchio reads them, and as Linkwork reads them again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.cli.mechanism_files import load_mechanism
from linkwork.errors import MechanismError
from linkwork.formats.urdf.elements import roll_pitch_yaw
from support.checkout import TOP
from support.driving import by_joint
from support.joint_families import ALL_KINDS, in_role
from support.poses import random_rotation
from support.random_mechanisms import FAMILIES, random_tree, well_posed
from support.urdf_round_trip import RoundTrip

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.errors.LinkworkWarning")

STANDARD = ("revolute", "prismatic", "universal", "cylindrical", "pin_in_slot", "fixed")
LETTERS = "RPUCEHTSF"  # all kinds of joints but the free one and those along circles
CLOSED = ["planar_4R", "slider_crank", "spatial_7R", "loop_on_loop", "moving_spatial_7R", "three_spatial_legs"]
CLOSED += ["fixed_in_loop", "closed_by_fixed", "coupled", "sprung_moving_slider_crank", "hard_points_6R_1P"]


# ---- as Pinocchio reads it ----


@pytest.mark.parametrize("seed", range(6))
def test_trees_are_those_of_pinocchio(seed: int, tmp_path: Path) -> None:
    """URDF's own joints and chains of them, in both directions."""
    pin = pytest.importorskip("pinocchio")
    scene = well_posed(lambda rng: random_tree(rng, 8, STANDARD), seed)
    scene.mechanism.gravity = (0, 0, -9.81)
    trip = RoundTrip(scene.mechanism, tmp_path)
    model = pin.buildModelFromXML(trip.path.read_text())
    q, v = pin.neutral(model), np.zeros(model.nv)
    for name, value in trip.values(scene.q).items():
        k = model.getJointId(name)
        one = model.nqs[k] == 1
        q[model.idx_qs[k] : model.idx_qs[k] + model.nqs[k]] = value if one else (np.cos(value), np.sin(value))
    for name, value in trip.values(scene.u, scene.q).items():
        v[model.idx_vs[model.getJointId(name)]] = value
    found = pin.aba(model, model.createData(), q, v, np.zeros(model.nv))
    ours = lw.compile(scene.mechanism)
    values = ours.by_joint(ours.accelerations(ours.assemble(q=scene.q, u=scene.u)))
    expected = trip.values({name: value for name, value in values.items() if np.size(value)}, scene.q)
    scale = max(abs(float(value)) for value in expected.values())
    for name, value in expected.items():
        assert abs(found[model.idx_vs[model.getJointId(name)]] - value) < 1e-12 * scale, name


def test_balls_are_hinges_of_one_tree_for_other_programs(tmp_path: Path) -> None:
    """Energies in Pinocchio at random angles are those of the balls, also of one whose parent is the outer body."""
    pin = pytest.importorskip("pinocchio")
    rng = np.random.default_rng(4)
    mech = lw.Mechanism("balls")
    for name in "abc":
        turn = random_rotation(rng)
        inertia = turn @ np.diag(rng.uniform(1, 1.9, 3)) @ turn.T
        mech.add_body(name, rng.uniform(1, 2), com=rng.normal(size=3), inertia=(inertia + inertia.T) / 2)
    for name, ends in {"S": ("ground", "a"), "T": ("c", "a"), "U": ("c", "b")}.items():
        frames = (lw.Frame(rng.normal(size=3), random_rotation(rng)) for _ in range(2))
        mech.add_joint(name, lw.Spherical(), *ends, parent_frame=next(frames), child_frame=next(frames))
    lw.save(mech, tmp_path / "balls.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "balls.urdf"))
    q, v, ours = pin.neutral(model), np.zeros(model.nv), lw.compile(mech)
    coordinates, speeds = {}, {}
    for name in mech.joints:
        angles, rates = rng.uniform(-1, 1, 3), rng.normal(size=3)
        for number in range(3):
            k = model.getJointId(f"{name}_{number + 1}")
            q[model.idx_qs[k] :][:2] = np.cos(angles[number]), np.sin(angles[number])
            v[model.idx_vs[k]] = rates[number]
        x, y, z = (Rotation.from_euler(axis, angle) for axis, angle in zip("xyz", angles, strict=True))
        turn, spin = x * y * z, (y * z).inv().apply([rates[0], 0, 0]) + z.inv().apply([0, rates[1], 0])
        spin += [0, 0, rates[2]]
        if name == "T":  # its parent is carried by its child
            turn, spin = turn.inv(), -turn.apply(spin)
        coordinates[name], speeds[name] = turn.as_quat(scalar_first=True), spin
    state, data = ours.assemble(q=coordinates, u=speeds), model.createData()
    assert pin.computeKineticEnergy(model, data, q, v) == pytest.approx(state["energy.kinetic"], rel=1e-12)
    lower, higher = (ours.assemble(q=coordinates | {"S": turned}) for turned in ((1, 0, 0, 0), coordinates["S"]))
    change = higher["energy.potential"] - lower["energy.potential"]
    found = pin.computePotentialEnergy(model, data, q)
    for number in range(3):
        q[model.idx_qs[model.getJointId(f"S_{number + 1}")] :][:2] = 1, 0
    assert found - pin.computePotentialEnergy(model, data, q) == pytest.approx(change, rel=1e-12)


# ---- as it is read again ----


@pytest.mark.parametrize("role", ["tree", "backward", "cut"])
@pytest.mark.parametrize("letter", LETTERS)
def test_all_kinds_of_joints_come_back(letter: str, role: str, tmp_path: Path) -> None:
    scene = well_posed(in_role(letter, role), 1)
    trip = RoundTrip(scene.mechanism, tmp_path)
    assert not trip.lost()
    assert trip.difference(scene.q, scene.u) < 1e-13


@pytest.mark.parametrize("family", CLOSED)
def test_loops_come_back(family: str, tmp_path: Path) -> None:
    scene = well_posed(FAMILIES[family][0], 0)
    trip = RoundTrip(scene.mechanism, tmp_path)
    assert not trip.lost("Wrench", "damping", "stiffness")
    if all("damping" not in entry and "stiffness" not in entry for entry in trip.lost()):
        assert trip.difference(scene.q, scene.u) < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_trees_of_all_kinds_come_back(seed: int, tmp_path: Path) -> None:
    scene = well_posed(lambda rng: random_tree(rng, 10, tuple(ALL_KINDS), reverse=0.0), seed)
    trip = RoundTrip(scene.mechanism, tmp_path)
    assert not trip.lost()
    assert trip.difference(scene.q, scene.u) < 1e-12


EXAMPLES = [
    "andrews_squeezer",
    "bouncing_pendulum",
    "coarse_graining",
    "cosim_balance",
    "cosim_pick_and_place",
    "cosim_skyhook",
    "cosim_solar_array",
    "cosim_split",
    "double_pendulum",
    "double_rocker",
    "drift",
    "five_bar",
    "four_bar",
    "gripper",
    "joint_lock",
    "n_body_pendulum",
    "pin",
    "planar_robot",
    "quarter_car",
    "slider_crank",
    "solar_array",
    "spatial_ladder",
]
NOT_IN_URDF = ("Wrench", "transition", "stop")  # at rest, without effect


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_come_back(name: str, tmp_path: Path) -> None:
    mech = load_mechanism(TOP / "examples" / f"{name}.py")
    trip, model = RoundTrip(mech, tmp_path), lw.compile(mech)
    assert not trip.lost(*NOT_IN_URDF)
    state = model.assemble()
    q, u = (
        {joint: value for joint, value in by_joint(model, array).items() if joint in mech.joints}
        for array in (state.q, state.u)
    )
    assert trip.difference(q, u) < 1e-13


# ---- loads, limits and couplings ----


def arm() -> lw.Mechanism:
    mech = lw.Mechanism("arm", gravity=(0, 0, -9.81))
    for name in ("a", "b", "c"):
        mech.add_body(name, mass=1.0, com=(0.1, 0.2, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "a", at=(0, 0, 0), reflected_inertia=0.3, max_load=7.0)
    mech.add_joint("B", lw.Prismatic((1, 0, 0)), "a", "b", at=(1, 0, 0))
    mech.add_joint("C", lw.Cylindrical((0, 0, 1)), "b", "c", at=(2, 0, 0), max_load=(1.0, 2.0))
    return mech


def test_loads_limits_and_couplings_come_back(tmp_path: Path) -> None:
    mech = arm()
    mech.add_force(lw.SpringDamper("A", stiffness=3.0, damping=0.1, free=0.2))
    mech.add_force(lw.SpringDamper("C", stiffness=(1.0, 2.0), damping=(0.1, 0.2), free=(0.3, 0.4)))
    mech.add_force(lw.SpringDamper(bodies=("ground", "c"), points=((0, 0, 1), (0.1, 0, 0)), stiffness=9.0, free=0.5))
    mech.add_force(lw.Friction("A", coulomb=0.5, viscous=0.3, name="friction"))
    mech.add_force(lw.Friction("A", coulomb=0.2, name="seal"))
    mech.add_force(lw.Friction("C[2]", coulomb=0.7, name="guide"))
    mech.add_transition("limit", lw.Stop("B", lower=-0.5, upper=0.25))
    mech.add_transition("one", lw.Stop("C", upper=0.75, coordinate=2))
    mech.add_coupling("gear", {"A": 2.0, "B": -4.0}, offset=0.5)
    mech.add_coupling("sum", {"A": 1.0, "B": 2.0, "C[1]": 3.0}, offset=0.25)
    trip = RoundTrip(mech, tmp_path)
    assert not trip.lost()
    again = trip.mechanism
    assert again.joints["A"].reflected_inertia == pytest.approx([0.3])
    assert again.joints["A"].max_load == pytest.approx([7.0])
    frictions = {force.joint: force for force in again.forces if isinstance(force, lw.Friction)}
    assert {joint: force.coulomb for joint, force in frictions.items()} == {"A": 0.7, "C_2": 0.7}
    assert [again.joints[name].max_load[0] for name in ("B", "C_1", "C_2")] == [np.inf, 1.0, 2.0]
    stops = {t.action.joint: (t.action.lower, t.action.upper) for t in again.transitions.values()}
    assert stops == {"B": (-0.5, 0.25), "C_2": (None, 0.75)}
    assert (
        trip.difference({"A": 0.2, "B": -0.025, "C": (0.1 / 3, 0.1)}, {"A": 1.0, "B": 0.5, "C": (-2 / 3, 0.3)}) < 1e-12
    )


def test_what_urdf_cannot_say_is_left_out_with_its_reason(tmp_path: Path) -> None:
    mech = arm()
    mech.gravity = (0, -9.81, 0)
    mech.add_distance("rod", ("ground", "c"), ((0, 0, 1), (0, 0, 0)))
    mech.add_coupling("cam", {"A": (1.0, 2.0), "B": -1.0})
    mech.add_force(lw.Wrench("c", name="push"))
    mech.add_transition("stop", lw.Stop("A", lower=-1, restitution=0.5))
    mech.start(q={"A": 0.1})
    mech.add_force(lw.Friction("A", coulomb=0.5, static=0.7, name="hinge"))
    mech.add_joint("D", lw.Revolute("z"), "ground", "c", cut=True)
    mech.add_force(lw.Friction("D", coulomb=0.5, name="pin"))
    report = lw.save(mech, tmp_path / "arm.urdf")
    assert {entry.element for entry in report.of("left out")} == {
        "gravity",
        "distance 'rod'",
        "coupling 'cam'",
        "Wrench 'push'",
        "start of joint 'A'",
        "Friction 'pin'",
    }
    assert [entry.element for entry in report.of("approximated")] == ["Friction 'hinge'", "stop 'stop'"]


def test_friction_of_a_ball_comes_back(tmp_path: Path) -> None:
    mech = lw.Mechanism("ball", gravity=(0, 0, -9.81))
    mech.add_body("a", mass=1.0, com=(0.1, 0.2, 0.3), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("S", lw.Spherical(), "ground", "a", at=(0, 0, 0))
    for speed in (1, 2, 3):
        mech.add_force(lw.Friction(f"S[{speed}]", coulomb=0.4, viscous=0.1, name=f"friction_{speed}"))
    trip = RoundTrip(mech, tmp_path)
    assert not trip.lost()
    assert trip.difference({"S": (1.0, 0, 0, 0)}, {"S": (0.3, -0.5, 0.7)}) < 1e-12
    mech.forces.pop()
    assert [one.element for one in lw.save(mech, tmp_path / "b.urdf").of("left out")] == [
        f"Friction 'friction_{speed}'" for speed in (1, 2)
    ]


@pytest.mark.parametrize("name", ["arm.json", "arm.urdf", "arm.xml", "arm.mjcf"])
def test_the_method_writes_what_the_function_does(tmp_path: Path, name: str) -> None:
    mech = lw.Mechanism("arm")
    mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("hinge", lw.Revolute("y"), "ground", "arm")
    reports = lw.save(mech, tmp_path / name), mech.save(tmp_path / f"own_{name}")
    assert (tmp_path / name).read_bytes() == (tmp_path / f"own_{name}").read_bytes()
    assert reports[0].format == reports[1].format
    with pytest.raises(lw.errors.MechanismError, match=r"arm\.usd: mechanisms are written as '\.json'"):
        mech.save(tmp_path / "arm.usd")


def test_strict_writes_nothing(tmp_path: Path) -> None:
    mech = arm()
    mech.gravity = (0, 0, 0)
    with pytest.raises(MechanismError, match="strict=True"):
        lw.save(mech, tmp_path / "arm.urdf", strict=True)
    assert not (tmp_path / "arm.urdf").exists()


def test_bodies_without_a_joint_are_refused(tmp_path: Path) -> None:
    mech = arm()
    mech.add_body("d", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    with pytest.raises(MechanismError, match="no joints to the ground"):
        lw.save(mech, tmp_path / "arm.urdf")


def test_a_body_with_the_name_world_keeps_it(tmp_path: Path) -> None:
    mech = lw.Mechanism("m")
    mech.add_body("world", mass=1.0, com=(0.1, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "world", at=(0, 0, 0))
    trip = RoundTrip(mech, tmp_path)
    assert list(lw.load(trip.path).bodies) == ["world"]
    assert trip.difference({"A": 0.3}, {"A": 1.0}) < 1e-14


# ---- angles ----


def rotation(roll: float, pitch: float, yaw: float) -> Any:
    return lw.Frame.from_euler((roll, pitch, yaw), "xyz").rotation


@pytest.mark.parametrize("off", [0.0, 1e-300, 1e-17, 1e-12, 1e-9, 1e-8, 1e-6, 1e-3])
@pytest.mark.parametrize("sign", [-1, 1])
def test_angles_are_exact_near_a_pitch_of_90_degrees(off: float, sign: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        given = rotation(rng.uniform(-3, 3), sign * (np.pi / 2 - off), rng.uniform(-3, 3))
        assert np.abs(rotation(*roll_pitch_yaw(given)) - given).max() < 1e-15


def test_angles_of_any_rotation_are_exact() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        given = random_rotation(rng)
        assert np.abs(rotation(*roll_pitch_yaw(given)) - given).max() < 2e-15
