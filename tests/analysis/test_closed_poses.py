"""No search ends where a joint that closes a loop is turned or reversed; far angles are as good as near ones."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.analysis.configuration_space import ConfigurationSpace
from support.linkages import four_bar, slider_crank

Z, X = (0, 0, 1), (1, 0, 0)
PITCH = 0.1
BENT = [(-1.2, 0.3, 0), (-0.4, 0, 0.1), (0.2, 0.2, 0), (0.9, -0.1, 0.2), (1.5, 0.4, 0.4)]
KINDS = {
    "fixed": lw.Fixed(),
    "prismatic": lw.Prismatic(Z),
    "revolute": lw.Revolute(Z),
    "cylindrical": lw.Cylindrical(Z),
    "planar": lw.Planar(Z),
    "screw": lw.Screw(Z, PITCH),
    "pin_in_slot": lw.PinInSlot(Z, X),
    "curved_slide": lw.CurvedSlide(Z, X, 0.4),
    "curved_slot": lw.CurvedSlot(Z, X, 0.4),
    "path_slide": lw.PathSlide(BENT, Z),
    "path_slot": lw.PathSlot(BENT, Z),
    "universal": lw.Universal(Z, X),
    "spherical": lw.Spherical(),
}
KIND = pytest.mark.parametrize("kind", KINDS)
FREE_AXES = {"fixed": "", "prismatic": "z", "revolute": "", "cylindrical": "z", "planar": "xy", "pin_in_slot": "x"}


def body_with(kind, carrier=None):
    """A body on a free joint, and the joint that closes the loop with the same frames."""
    mech = lw.Mechanism("body")
    mech.add_body("b", mass=1.0, com=(0.1, 0.2, -0.3), inertia=np.diag([1.0, 1.2, 1.4]))
    mech.add_joint("S", carrier or lw.Free(), "ground", "b", parent_frame=lw.Frame())
    mech.add_joint("W", kind, "ground", "b", parent_frame=lw.Frame(), cut=True)
    return mech


def misses(kind, pose):
    """How far position r and orientation R of the body are from what a joint allows."""
    r, R = pose
    if kind == "universal":
        turned = abs(R[2, 0])
    elif kind == "spherical":
        turned = 0.0
    elif kind in ("fixed", "prismatic"):
        turned = np.abs(R - np.eye(3)).max()
    else:
        turned = np.abs(R[:, 2] - np.array(Z)).max()
    if kind in ("curved_slide", "curved_slot"):
        angle = np.arctan2(r[0] / 0.4, 1.0 - r[1] / 0.4)
        off = abs(np.hypot(r[0], r[1] - 0.4) - 0.4) + abs(r[2])
        if kind == "curved_slide":
            turned = max(turned, abs(R[0, 0] - np.cos(angle)), abs(R[1, 0] - np.sin(angle)))
        return max(turned, off)
    if kind in ("path_slide", "path_slot"):
        path = KINDS[kind].path
        place = path.at(path.nearest(r))
        return np.linalg.norm(place.position - r) + (np.abs(R - place.frame).max() if kind == "path_slide" else turned)
    held = [k for k, axis in enumerate("xyz") if axis not in FREE_AXES.get(kind, "z" if kind == "screw" else "")]
    off = np.abs(r[held]).max(initial=0.0)
    if kind == "screw":
        revolutions = (r[2] / PITCH - np.arctan2(R[1, 0], R[0, 0])) / (2 * np.pi)
        off = max(off, 2 * np.pi * PITCH * abs(revolutions - round(revolutions)))
    return max(turned, off)


def random_poses(count, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield np.r_[rng.uniform(-1, 1, 3), Rotation.random(random_state=rng.integers(1 << 30)).as_quat()[[3, 0, 1, 2]]]


@KIND
def test_searches_from_any_pose_end_closed(kind):
    model = lw.compile(body_with(KINDS[kind]))
    space = ConfigurationSpace(model)
    found = 0
    for q in random_poses(150):
        near = space.closed(q)
        found += near.found
        pose = model.pose(model.state(near.q, np.zeros(6)), "b")
        assert not near.found or misses(kind, (np.asarray(pose.position), np.asarray(pose.rotation))) < 1e-9
    assert found >= 140


@KIND
def test_assembly_from_any_pose_ends_closed(kind):
    model = lw.compile(body_with(KINDS[kind]))
    half_turns = [np.r_[0, 0, 0, np.eye(4)[k]] for k in (1, 2, 3)]
    for q in [*random_poses(60, seed=1), *half_turns]:
        block = model.block()
        block.put("q_start", np.r_[q, block["q_start"][7:]])
        block.assemble(1e-9)
        pose = model.pose(model.state(block["q"], np.zeros(6)), "b")
        assert misses(kind, (np.asarray(pose.position), np.asarray(pose.rotation))) < 1e-8


@KIND
def test_violations_do_not_vanish_in_open_poses(kind):
    """Turns about several axes: rows have the size of the misalignment."""
    model = lw.compile(body_with(KINDS[kind]))
    block = model.block()
    block.put("q", np.eye(7)[3])
    length = np.abs(block.constraint_jacobian()[:, :3]).max(initial=0.0)
    turns = [np.deg2rad(angle) * axis for angle in (1, 60, 90, 119.9, 120, 150, 179) for axis in _axes()]
    for turn in turns:
        R = Rotation.from_rotvec(turn)
        block.put("q", np.r_[0, 0, 0, R.as_quat()[[3, 0, 1, 2]]])
        phi = block.constraints()[0]
        assert np.linalg.norm(phi) >= 0.3 * length * misses(kind, (np.zeros(3), R.as_matrix())) - 1e-12


def _axes():
    some = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1], [1, 1, 0], [-1, 1, 1], [0.3, -0.5, 0.8]], float)
    return some / np.linalg.norm(some, axis=1)[:, None]


@KIND
def test_rows_are_derivatives(kind):
    """In open poses, too, but for a screw, whose angle has a rate along its axis, and rows that follow from columns."""
    model = lw.compile(body_with(KINDS[kind]))
    space, h = ConfigurationSpace(model), 1e-6
    for q in random_poses(10, seed=2):
        if kind in ("screw", "curved_slide", "curved_slot", "path_slide", "path_slot"):
            near = space.closed(q)
            if not near.found:
                continue
            q = near.q
        space.enter(q)
        rows = space.block.constraint_jacobian()
        u = np.random.default_rng(0).normal(size=6)
        space.enter_speeds(u)
        rate = space.block.constraints()[1]
        for k in range(6):
            phi = []
            for sign in (h, -h):
                space.enter(space.displaced(q, sign * np.eye(6)[k]))
                phi.append(space.block.constraints()[0])
            assert (phi[0] - phi[1]) / (2 * h) == pytest.approx(rows[:, k], abs=1e-7 * (1 + np.abs(rows).max()))
        assert rate == pytest.approx(rows @ u, abs=1e-11 * (1 + np.abs(rows).max()))


@pytest.mark.parametrize("kind", ["fixed", "prismatic"])
def test_a_weld_or_a_slide_about_a_ball(kind):
    """One assembly mode and one equilibrium, unturned."""
    mech = body_with(KINDS[kind], lw.Spherical())
    (mode,) = lw.assembly_modes(mech, {}, starts=60)
    (rest,) = lw.equilibria(mech, starts=10)
    for pose in (mode, rest):
        assert abs(pose["S.q"][0]) == pytest.approx(1.0, abs=1e-9)


def test_a_robot_with_sixteen_poses():
    """Manseur and Doty, A robot manipulator with 16 real inverse kinematic solution sets, IJRR 8, 1989."""
    a, d, twist = (0.3, 1, 0, 1.5, 0, 0), (0, 0, 0.2, 0, 0, 0), np.deg2rad([90, 1, 90, 1, 90, 1])
    rows = [[-0.760117, -0.641689, 0.102262], [0.133333, 0, 0.991071], [-0.635959, 0.766965, 0.085558]]
    U, _, V = np.linalg.svd(rows)
    mech, last, frame = lw.Mechanism("robot"), "ground", lw.Frame()
    for i in range(6):
        mech.add_body(f"l{i}", mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3) * 0.1)
        mech.add_joint(f"J{i}", lw.Revolute(Z), last, f"l{i}", parent_frame=frame)
        c, s = np.cos(twist[i]), np.sin(twist[i])
        frame, last = lw.Frame((a[i], 0, d[i]), np.array([[1, 0, 0], [0, c, -s], [0, s, c]])), f"l{i}"
    target = lw.Frame((-1.140175, 0, 0), U @ V)
    mech.add_joint("H", lw.Fixed(), last, "ground", parent_frame=frame, child_frame=target, cut=True)
    modes = lw.assembly_modes(mech, {}, starts=400)
    assert len(modes) == 16
    for mode in modes:
        pose = mode.model.pose(mode, last)
        R = np.asarray(pose.rotation)
        assert R @ frame.rotation == pytest.approx(target.rotation, abs=1e-9)
        assert np.asarray(pose.position) + R @ frame.position == pytest.approx(np.array(target.position), abs=1e-9)


def test_inverse_kinematics_of_loops_closed_by_a_weld():
    """Seven hinges in space: each pose found has the last body where the weld puts it."""
    for seed in (1, 3):
        rng = np.random.default_rng(seed)
        mech, last, frame = lw.Mechanism("loop"), "ground", lw.Frame()
        for i in range(7):
            mech.add_body(f"l{i}", mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3) * 0.1)
            mech.add_joint(f"J{i}", lw.Revolute(Z), last, f"l{i}", parent_frame=frame)
            turn = Rotation.random(random_state=rng.integers(1 << 30)).as_matrix()
            frame, last = lw.Frame(tuple(rng.normal(size=3) * 0.4), turn), f"l{i}"
        q = {f"J{i}": float(rng.uniform(-2, 2)) for i in range(7)}
        bare = lw.compile(mech)
        pose = bare.pose(bare.assemble(q=q), last)
        R, r = np.asarray(pose.rotation), np.asarray(pose.position)
        weld = lw.Frame(tuple(r + R @ frame.position), R @ frame.rotation)
        mech.add_joint("W", lw.Fixed(), last, "ground", parent_frame=frame, child_frame=weld, cut=True)
        mech.start(q=q)
        model = lw.compile(mech)
        for value in rng.uniform(-3, 3, 4):
            found = lw.inverse_kinematics(model, {"J0.q": float(value)}, starts=12)
            if found.found:
                turned = np.asarray(model.pose(found.state, last).rotation)
                assert turned == pytest.approx(R, abs=1e-8)


def test_a_held_screw_keeps_its_value_without_revolutions():
    mech = body_with(KINDS["screw"])
    (mode,) = lw.assembly_modes(mech, {"W": 0.5}, starts=60)
    assert mode["W.q"] == pytest.approx(0.5, abs=1e-12)
    assert mode["S.q"][2] == pytest.approx(0.5 * PITCH, abs=1e-12)


# ---- after many revolutions ----

pytestmark = pytest.mark.filterwarnings("ignore::linkwork.DegreesWarning")
FAR = pytest.mark.parametrize("revolutions", [0, 1304, 159154, 20_000_000])
CRANK, ROD = 0.1, 0.3


@FAR
def test_kinematics_after_many_revolutions(revolutions):
    begin = 2 * np.pi * revolutions + 0.5
    model = lw.compile(slider_crank(CRANK, ROD, 0.0, {"A": begin}))
    digits = 8 * np.spacing(begin + 10)
    swept = lw.kinematics(model, "A.q", begin, begin + 7.0, rows=15)
    exact = CRANK * np.cos(swept["A.q"]) + np.sqrt(ROD**2 - (CRANK * np.sin(swept["A.q"])) ** 2)
    assert swept["S.q"] == pytest.approx(exact, abs=1e-12 + digits)
    back = lw.kinematics(model, "S.q", 0.38, 0.25, rows=5)
    assert len(back) == 5
    modes = lw.assembly_modes(model, {"A": begin + 0.3}, starts=20)
    assert len(modes) == 2
    assert lw.inverse_kinematics(model, {"A.q": begin + 1.0}).found
    assert lw.inverse_kinematics(model, {"S.q": 0.3}).found


@FAR
def test_dead_points_after_many_revolutions(revolutions):
    """A rocker swept through a whole range turns back where crank and coupler are in line."""
    begin = 2 * np.pi * revolutions + 1.0
    model = lw.compile(four_bar(0.4, 1.0, 0.8, 0.9, {"A": begin, "B": -0.5}))
    start = float(model.assemble()["D.q"])
    swept = lw.kinematics(model, "D.q", start, start + 3.0, rows=7)
    (end,) = swept.special_poses
    angles = [np.arccos((0.9**2 + 0.8**2 - length**2) / (2 * 0.9 * 0.8)) for length in (1.4, 0.6)]
    assert min(abs(abs(end.value) - angle) for angle in angles) < 1e-6
