"""Jumps of the speeds: against the dense solution, on long and thin chains, and by identities."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.core.native import threads
from support.driven import TIME
from support.impulse_oracle import ImpulseOracle, poses_at, velocities_at
from support.impulses import changed, entered, gap_of_jump, jump_of, origin_velocities, speed_number
from support.random_changes import changed_cases, random_change

X, Y, Z = np.eye(3)
SEEDS = range(90)


@pytest.fixture(scope="module", params=SEEDS)
def change(request):
    return random_change(request.param)


class TestRandomChanges:
    @pytest.mark.thin(15, kept=2)
    @pytest.mark.parametrize("method", ["auto", "dca"])
    @pytest.mark.parametrize("by_velocities", [False, True])
    def test_the_dense_solution(self, change, by_velocities, method):
        gaps = gap_of_jump(change, method, by_velocities=by_velocities)
        assert max(gaps.values()) < 1e-11, gaps

    @pytest.mark.thin(9)
    def test_nothing_happens_twice(self, change):
        """Changed speeds have their targets: the same change once more does nothing."""
        system = changed(change)
        jump = jump_of(change, system)
        block = entered(system, change.scene.q, change.scene.u)
        block.put("u", jump.after[: system.sizes.nu])
        again = block.jump({speed_number(system, h.joint, h.element): 0.0 for h in change.held})
        assert again.after == pytest.approx(jump.after, abs=1e-10 * max(1.0, np.abs(jump.after).max(initial=0.0)))


@pytest.mark.slow
@settings(max_examples=30, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(changed_cases())
def test_couplings_drives_and_distances(drawn):
    _, change = drawn
    gaps = gap_of_jump(change, time=TIME)
    assert max(gaps.values()) < 1e-10, gaps


# ---- long and thin ----


def rods(count, thickness=0.0, length=0.3):
    """A chain of rods on hinges about y and z in turn, the first on the ground."""
    mech = lw.Mechanism("rods", gravity=(0, 0, 0))
    inertia = np.diag([thickness, 1.0, 1.0]) * length**2 / 12
    for k in range(count):
        mech.add_body(f"rod{k}", mass=1.0, com=(length / 2, 0, 0), inertia=inertia)
        frame = lw.Frame((length, 0, 0)) if k else lw.Frame()
        below = f"rod{k - 1}" if k else "ground"
        mech.add_joint(f"A{k}", lw.Revolute(axis=(Z, Y)[k % 2]), below, f"rod{k}", parent_frame=frame)
    return mech


def ladder(cells):
    """Square cells in a row, each of two rails and a rung that closes it; all hinges are parallel."""
    mech = lw.Mechanism("ladder", gravity=(0, 0, 0))
    inertia = lw.inertia.rod(1.0, 1.0)
    below = {"low": "ground", "high": "ground"}
    for k in range(cells):
        for side, height in (("low", 0.0), ("high", 1.0)):
            rail = f"{side}{k}"
            mech.add_body(rail, mass=1.0, com=(0.5, 0, 0), inertia=inertia, origin=(k, height, 0))
            mech.add_joint(f"{rail}_hinge", lw.Revolute(axis=Z), below[side], rail, at=(k, height, 0))
            below[side] = rail
        mech.add_body(
            f"rung{k}", mass=1.0, com=(0, 0.5, 0), inertia=lw.inertia.rod(1.0, 1.0, axis="y"), origin=(k + 1, 0, 0)
        )
        mech.add_joint(f"rung{k}_foot", lw.Revolute(axis=Z), f"low{k}", f"rung{k}", at=(k + 1, 0, 0))
        mech.add_joint(f"rung{k}_head", lw.Revolute(axis=Z), f"high{k}", f"rung{k}", at=(k + 1, 1, 0))
    return mech


def dense(system, q, u, held):
    oracle = ImpulseOracle(system.mechanism, poses_at(system, q), held=[(name, 0, 0.0) for name in held])
    return oracle.jump(velocities_at(system, q, u)), oracle


@pytest.mark.parametrize("thickness", [0.0, 1e-8, 1e-4, 1.0])
def test_thin_rods(thickness):
    """Without thickness as well: no hinge lets a rod turn about itself."""
    rng = np.random.default_rng(1)
    system = lw.compile(rods(24, thickness))
    q, u = rng.uniform(-1, 1, (2, 24))
    block = system.block()
    block.put("q", q)
    block.put("u", u)
    jump = block.jump({speed_number(system, name): -u[speed_number(system, name)] for name in ("A3", "A10", "A11")})
    expected, _ = dense(system, q, u, ("A3", "A10", "A11"))
    wanted = np.array([expected.u[name] for name in system.joint_names])
    found = jump.after[[speed_number(system, name) for name in system.joint_names]]
    assert found == pytest.approx(wanted, abs=1e-11 * np.abs(wanted).max())
    impulses = np.array([expected.impulse[name] for name in system.mechanism.joints])
    assert jump.reaction == pytest.approx(impulses, abs=1e-10 * np.abs(impulses).max())


@pytest.mark.parametrize("cells", [3, 40])
def test_ladders(cells):
    """One degree of freedom a cell, all rows of all loops but three redundant in part; the middle hinge locks."""
    system = lw.compile(ladder(cells))
    rng = np.random.default_rng(cells)
    state = system.assemble()
    u = np.array(system.inverse_dynamics(state, rng.normal(size=system.sizes.nu)))  # any
    block = entered(system, system.by_joint(state.q), system.by_joint(u))
    smooth = block.jump({})
    block.put("u", smooth.after[: system.sizes.nu])
    lock = f"low{cells // 2}_hinge"
    jump = block.jump({speed_number(system, lock): -smooth.after[speed_number(system, lock)]})
    expected, oracle = dense(system, state.q, smooth.after[: system.sizes.nu], (lock,))
    wanted = np.array([expected.u[name] for name in system.joint_names])
    found = jump.after[[speed_number(system, name) for name in system.joint_names]]
    assert found == pytest.approx(wanted, abs=1e-10 * np.abs(wanted).max())
    reaction = dict(zip(system.mechanism.joints, jump.reaction, strict=True))
    assert np.abs(oracle.imbalance(expected, reaction, {}, np.zeros((3 * cells, 6)))).max() < 1e-10


# ---- identities ----


def test_coarse_graining_keeps_momentum():
    """Free particles become a chain that floats: motion along the chain's free directions is kept."""
    rng = np.random.default_rng(3)
    mech = lw.Mechanism("chain", gravity=(0, 0, 0))
    for k in range(26):
        mech.add_body(f"b{k}", mass=rng.uniform(1, 2), com=rng.normal(size=3), inertia=np.diag([1.0, 1.2, 1.4]))
        frames = {"parent_frame": lw.Frame((1.0, 0, 0)) if k else lw.Frame()}
        kind = lw.Spherical() if k else lw.Free()
        mech.add_joint(f"A{k}", kind, f"b{k - 1}" if k else "ground", f"b{k}", **frames)
    system = lw.compile(mech)
    block = system.block()
    q = np.array(system.assemble().q)
    block.put("q", q)
    v = rng.normal(size=(26, 6))
    oracle = ImpulseOracle(mech, poses_at(system, q))
    jump = block.jump({}, before=origin_velocities(mech, oracle.poses, v))
    after = velocities_at(system, q, jump.after)
    assert oracle.momentum(after) == pytest.approx(oracle.momentum(v), abs=1e-11 * np.abs(oracle.momentum(v)).max())
    assert oracle.kinetic(np.ravel(after)) < oracle.kinetic(np.ravel(v))
    assert np.abs(oracle.lost_momentum(v, after)).max() < 1e-11 * np.abs(oracle.mass @ np.ravel(v)).max()


def test_what_contradicts_itself_is_told():
    """Both rails of a cell turn alike: they cannot stop at different speeds."""
    system = lw.compile(ladder(1))
    block = entered(system, system.by_joint(system.assemble().q), system.by_joint(np.zeros(system.sizes.nu)))
    held = [speed_number(system, f"{side}0_hinge") for side in ("low", "high")]
    assert block.jump(dict.fromkeys(held, 1.0)).lack < 1e-13
    assert block.jump(dict(zip(held, (1.0, 2.0), strict=True))).lack > 0.1


def test_a_motion_that_is_prescribed_starts_at_once():
    mech = lw.Mechanism("drive")
    mech.add_body("wheel", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("axle", lw.Revolute(axis=Z), "ground", "wheel", at=(0, 0, 0))
    mech.prescribe("axle", lw.Motion((0.0, 3.0)))
    system = lw.compile(mech)
    jump = system.block().jump({})
    assert jump.after[0] == pytest.approx(3.0)
    assert jump.reaction[0] == pytest.approx(np.r_[0, 0, 3.0, 0, 0, 0])


def test_threads_change_no_bit():
    system = lw.compile(rods(300))
    rng = np.random.default_rng(5)
    q, u = rng.uniform(-1, 1, (2, 300))
    block = system.block()
    block.put("q", q)
    block.put("u", u)
    found = []
    for count in (1, 2, 5, 1):
        threads(count)
        found.append(block.jump({7: -u[7], 100: 1.0}))
    assert all((one.after == found[0].after).all() for one in found)
    assert all((one.reaction == found[0].reaction).all() for one in found)


def test_the_state_stays():
    change = random_change(8)
    system = changed(change)
    block = entered(system, change.scene.q, change.scene.u)
    kept = {name: block[name].copy() for name in ("q", "u", "acceleration", "body_velocity")}
    block.jump({0: 1.0})
    assert all((block[name] == values).all() for name, values in kept.items())
    with pytest.raises(lw.LinkworkError, match="not finite"):
        block.jump({0: np.nan})


# ---- redundant constraints ----


def turned_four_bar(orientation):
    """A planar four-bar whose plane is turned in space: three of its six rows are redundant."""
    mech = lw.Mechanism("four_bar", gravity=(0, 0, 0))
    ends = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8}
    for name, length in ends.items():
        mech.add_body(name, mass=length, com=(length / 2, 0, 0), inertia=lw.inertia.rod(length, length))
    hinge, tip = lw.Revolute(Y), lw.Frame((0.8, 0, 0))
    mech.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame((0, 0, 0), orientation))
    mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((0.4, 0, 0)))
    mech.add_joint("C", hinge, "coupler", "rocker", parent_frame=lw.Frame((1.0, 0, 0)))
    foot = lw.Frame(orientation @ [0.9, 0, 0], orientation)
    mech.add_joint("D", hinge, "ground", "rocker", parent_frame=foot, child_frame=tip)
    mech.start(q={"A": -1.0, "B": 0.6, "C": 1.9}, u={"A": -2.0})
    return mech


@pytest.mark.parametrize("method", ["rcr", "embedding", "multipliers"])
def test_shares_of_redundant_constraints_turn_with_the_mechanism(method):
    turn = Rotation.from_rotvec([0.3, -0.8, 1.1]).as_matrix()
    push = np.random.default_rng(5).normal(size=(3, 6))
    found = []
    for orientation in (np.eye(3), turn):
        model = lw.compile(turned_four_bar(orientation), method=method)
        block = model.block()
        model.enter(block, model.assemble())
        along = np.einsum("ij,bkj->bki", orientation, push.reshape(3, 2, 3)).reshape(3, 6)
        wrench = block.jump({}, along).reaction.reshape(4, 2, 3)
        found.append(wrench @ orientation)
    assert found[1] == pytest.approx(found[0], abs=1e-10)
