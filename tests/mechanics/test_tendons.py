"""Forces along lines and between frames, and tendons: closed forms, SciPy, balances of energy and power."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw

POINTS = ((0.1, 0.2, 1.3), (0.2, 0.05, 0.1), (0.1, 0, -0.1), (0.3, 0.2, 0.1), (1.4, 0.1, 0.4))
LINE = {"bodies": ("ground", "b0", "b2", "b1", "ground"), "points": POINTS, "factors": (1.0, -0.5, 2.0, 0.75)}
METHODS = ("rcr", "embedding", "multipliers", "dca")


def four_bar(*forces) -> lw.Mechanism:
    """A closed chain with hinges that are nearly parallel to y, and a free body."""
    mech = lw.Mechanism("bars")
    ends = ((0.0, 0.0, 0.0), (0.4, 0.0, 0.3), (1.2, 0.0, 0.4), (1.0, 0.0, 0.0))
    for k, (start, end) in enumerate(pairwise(ends)):
        middle = (np.array(end) - start) / 2
        mech.add_body(f"b{k}", 1.0 + k, middle, np.diag((0.1, 0.2, 0.15)), origin=start)
        parent = f"b{k - 1}" if k else "ground"
        mech.add_joint(f"j{k}", lw.Revolute("y"), parent, f"b{k}", at=start)
    mech.add_joint("j3", lw.Revolute("y"), "ground", "b2", at=ends[3])
    for force in forces:
        mech.add_force(force)
    return mech


def chain(*forces) -> lw.Mechanism:
    mech = lw.Mechanism("chain")
    axes = ((0, 1, 0), (0.6, 0, 0.8), (0, 0, 1))
    for k, axis in enumerate(axes):
        mech.add_body(f"b{k}", 1.0 + k, (0.2, 0.05, 0.02), np.diag((0.1, 0.2, 0.15)), origin=(0.5 * k, 0, 0))
        mech.add_joint(f"j{k}", lw.Revolute(axis), f"b{k - 1}" if k else "ground", f"b{k}", at=(0.5 * k, 0, 0))
    for force in forces:
        mech.add_force(force)
    return mech


def points_of(q: np.ndarray) -> np.ndarray:
    """The points of the line on the chain, by rotations of SciPy."""
    axes, found = ((0, 1, 0), (0.6, 0, 0.8), (0, 0, 1)), []
    poses = {"ground": (np.zeros(3), Rotation.identity())}
    at, turn = np.zeros(3), Rotation.identity()
    for k, axis in enumerate(axes):
        at = at + turn.apply([0.5 if k else 0.0, 0, 0])
        turn = turn * Rotation.from_rotvec(q[k] * np.array(axis))
        poses[f"b{k}"] = at, turn
    for body, point in zip(LINE["bodies"], POINTS, strict=True):
        origin, own = poses[body]
        found.append(origin + own.apply(point))
    return np.array(found)


def length_of(q: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(points_of(q), axis=0), axis=1) @ LINE["factors"])


@pytest.mark.parametrize("seed", range(10))
def test_a_line_loads_joints_by_the_gradient_of_its_length(seed):
    """Q = -T dl/dq, with differences of lengths from SciPy's rotations."""
    rng = np.random.default_rng(seed)
    model = lw.compile(chain(lw.Force(**LINE, formula="p + a*length + b*rate", inputs=("p",),
                                      parameters={"a": 3.0, "b": 2.0}, name="line")))  # fmt: skip
    plain = lw.compile(chain())
    q, u, h = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3), 1e-4
    steps = [[length_of(q + k * h * one) for k in (-2, -1, 1, 2)] for one in np.eye(3)]
    gradient = np.array([(a - 8 * b + 8 * c - d) / (12 * h) for a, b, c, d in steps])
    length, rate = length_of(q), gradient @ u
    tension = 7.0 + 3.0 * length + 2.0 * rate
    loads = {"line.p": 7.0}
    assert model.value("line.length", q, u) == pytest.approx(length, rel=1e-13)
    assert model.value("line.rate", q, u) == pytest.approx(rate, rel=1e-9)
    assert model.value("line.force", q, u, tau=loads) == pytest.approx(tension, rel=1e-9)
    expected = plain.accelerations(q, u, tau=-tension * gradient)
    assert model.accelerations(q, u, tau=loads) == pytest.approx(expected, rel=1e-8, abs=1e-8)
    held = lw.compile(chain(lw.Force(**LINE, formula="p", parameters={"p": tension}, name="line")))
    more = held.inverse_dynamics(q, u, np.zeros(3)) - plain.inverse_dynamics(q, u, np.zeros(3))
    assert more == pytest.approx(tension * gradient, rel=1e-8, abs=1e-8)


def test_all_methods_agree_on_loops():
    rope = lw.Tendon(
        bodies=("ground", "b1", "b2", "b0"), points=((0.3, 0.1, 1), (0.2, 0, 0.1), (0.1, 0.1, 0), (0.1, 0, 0)),
        stiffness=200.0, damping=3.0, free=1.1, name="rope",
    )  # fmt: skip
    plain, mech = four_bar(), four_bar(rope)
    found = []
    for method in METHODS:
        model = lw.compile(mech, method=method)
        state = model.assemble(u={"j0": 1.3})
        found.append(model.by_joint(model.accelerations(state))["j0"])
    assert np.ptp(found) < 1e-11
    assert abs(found[0] - lw.compile(plain).by_joint(lw.compile(plain).accelerations(state.q, state.u))["j0"]) > 0.1


def test_power_is_tension_times_rate():
    """The kinetic energy of a loop changes by -T l' where nothing else does work."""
    mech = four_bar(lw.Tendon(bodies=("ground", "b1", "b2"), points=((0.3, 0.1, 1), (0.2, 0, 0.1), (0.1, 0.1, 0)),
                              gain=50.0, name="winch"))  # fmt: skip
    mech.gravity = (0, 0, 0)
    run = lw.simulate(mech, 1.0, inputs={"winch.input": lambda t: 1.0 + t}, rtol=1e-11, atol=1e-12,
                      t_eval=np.linspace(0, 1, 2001))  # fmt: skip
    work = -np.trapezoid(run["winch.force"] * run["winch.rate"], run.t)
    gained = run["energy.kinetic"][-1] - run["energy.kinetic"][0]
    assert gained == pytest.approx(work, rel=1e-6)
    assert gained > 0.1


def test_energy_is_kept_by_a_spring_along_a_line():
    mech = four_bar(lw.Tendon(bodies=("ground", "b1", "b2"), points=((0.3, 0.1, 1), (0.2, 0, 0.1), (0.1, 0.1, 0)),
                              stiffness=90.0, free=(0.9, 1.4), pushes=True, name="band"))  # fmt: skip
    run = lw.simulate(mech, 3.0, rtol=1e-11, atol=1e-12)
    stretch = np.maximum(0.0, run["band.length"] - 1.4) + np.minimum(0.0, run["band.length"] - 0.9)
    whole = run["energy.kinetic"] + run["energy.potential"] + 45.0 * stretch**2
    assert np.abs(stretch).max() > 0.01
    assert np.ptp(whole) < 1e-8


def hoist(**given) -> lw.Mechanism:
    """A block on a movable pulley: the rope runs down to it and up again, twice the distance."""
    mech = lw.Mechanism("hoist")
    mech.add_body("block", mass=10.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("slide", lw.Prismatic("z"), "ground", "block", at=(0, 0, 0))
    rope = {"bodies": ("ground", "block", "ground"), "points": ((0, 0, 2), (0, 0, 0), (0, 0, 2))}
    mech.add_force(lw.Tendon(**rope, **given, name="rope"))
    return mech


def test_a_movable_pulley_halves_the_tension():
    rest = lw.equilibrium(hoist(stiffness=5e3, damping=200.0, free=4.1))
    stretch = 10.0 * 9.81 / 2 / 5e3
    assert rest["rope.force"] == pytest.approx(10.0 * 9.81 / 2, rel=1e-10)
    assert rest["slide.q"] == pytest.approx(2.0 - (4.1 + stretch) / 2, rel=1e-10)
    assert rest.frequencies == pytest.approx([np.sqrt(4 * 5e3 / 10.0) / (2 * np.pi)], rel=0.05)
    model = lw.compile(hoist(stiffness=5e3, free=4.1))
    linear = lw.linearize(model, model.assemble(q={"slide": rest["slide.q"]}), inputs=[])
    assert linear.A[1, 0] == pytest.approx(-4 * 5e3 / 10.0, rel=1e-12)


def test_a_slack_rope_does_nothing_and_then_decelerates():
    """It falls freely to a length of 4.4 m, then swings by the frequency of the spring."""
    mech = hoist(stiffness=5e3, free=4.4)
    run = lw.simulate(mech, 0.6, rtol=1e-10, atol=1e-12, t_eval=np.linspace(0, 0.6, 601))
    fall = np.sqrt(2 * 0.2 / 9.81)
    free = run.t < fall
    assert np.abs(run["slide.q"][free] + 9.81 / 2 * run.t[free] ** 2).max() < 1e-8
    assert run["rope.force"].min() == 0.0
    omega, drop = np.sqrt(4 * 5e3 / 10.0), 9.81 * 10 / (4 * 5e3)
    t = run.t[(~free) & (run.t < fall + 0.05)] - fall
    by_hand = -0.2 - drop + drop * np.cos(omega * t) - 9.81 * fall / omega * np.sin(omega * t)
    assert run["slide.q"][(~free) & (run.t < fall + 0.05)] == pytest.approx(by_hand, abs=1e-7)


def test_a_tendon_on_joints_counts_in_metres():
    mech = chain(lw.Tendon({"j0": 0.05, "j2": -0.02}, stiffness=400.0, damping=1.0, preload=6.0, name="belt"))
    model = lw.compile(mech)
    q, u = np.array([0.3, 0.1, -0.2]), np.array([0.4, 0.0, 1.0])
    length, rate = 0.05 * 0.3 + 0.02 * 0.2, 0.05 * 0.4 - 0.02
    assert model.value("belt.length", q, u) == pytest.approx(length)
    assert model.value("belt.force", q, u) == pytest.approx(-(400.0 * length + rate + 6.0))
    units = {"length": "m", "stiffness": "N/m", "j0.gear": "m/rad", "force": "N"}
    assert {name: model.column(f"belt.{name}").unit for name in units} == units
    plain = lw.compile(chain())
    expected = plain.accelerations(q, u, tau=-(400.0 * length + rate + 6.0) * np.array([0.05, 0, -0.02]))
    assert model.accelerations(q, u) == pytest.approx(expected, rel=1e-12)


def test_points_and_factors_are_parameters_of_runs_and_outputs():
    mech = chain(lw.Force(**LINE, formula="a*length", parameters={"a": 3.0}, name="line"))
    mech.add_output("reach", "line.points[2,1] + line.factors[3]*0 + line.length", {})  # of the second point
    model = lw.compile(mech)
    assert model.value("reach", [0.1, 0.2, 0.3], np.zeros(3)) == pytest.approx(
        0.2 + length_of(np.array([0.1, 0.2, 0.3]))
    )
    run = lw.simulate(mech, 0.01, parameters={"line.points[2,1]": 0.35, "line.factors[4]": 0.5})
    other = {**LINE, "points": (POINTS[0], (0.35, 0.05, 0.1), *POINTS[2:]), "factors": (1.0, -0.5, 2.0, 0.5)}
    again = lw.simulate(chain(lw.Force(**other, formula="a*length", parameters={"a": 3.0}, name="line")), 0.01)
    assert run["line.length"][0] == again["line.length"][0]
    assert np.array_equal(run["j2.q"], again["j2.q"])


@pytest.mark.parametrize("formulation", ["ggl"])
def test_the_dae_has_the_same_motion(formulation):
    rope = lw.Tendon(bodies=("ground", "b1", "b2"), points=((0.3, 0.1, 1), (0.2, 0, 0.1), (0.1, 0.1, 0)),
                     stiffness=90.0, damping=2.0, free=0.9, name="band")  # fmt: skip
    mech = four_bar(rope)
    runs = [
        lw.simulate(mech, 0.5, rtol=1e-9, atol=1e-10, **given)
        for given in ({}, {"solver": "ida", "formulation": formulation})
    ]
    assert runs[0]["j0.q"][-1] == pytest.approx(runs[1]["j0.q"][-1], abs=1e-6)


class TestRefusals:
    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"bodies": ("ground",), "points": ((0, 0, 0),)}, "two bodies or more"),
            ({"bodies": ("b0", "b0", "ground"), "points": POINTS[:3], "factors": (1, 0)}, "connects two bodies"),
            ({"bodies": ("b0", "ground"), "points": POINTS[:3]}, "points"),
            ({"bodies": ("b0", "ground"), "points": POINTS[:2], "factors": (1, 2)}, "one for each piece"),
            ({"bodies": ("b0", "nobody", "ground"), "points": POINTS[:3]}, "nobody"),
        ],
    )
    def test_lines(self, given, words):
        with pytest.raises(lw.MechanismError, match=words):
            chain(lw.Force(**given, formula="1*length", parameters={}))

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({}, "give stiffness= or damping= or gain="),
            ({"stiffness": -1.0}, "must not be negative"),
            ({"stiffness": 1.0, "free": (2.0, 1.0)}, "free must be a length"),
            ({"stiffness": 1.0, "input_range": (0, 1)}, "input_range= goes with gain="),
            ({"gain": 1.0, "force_range": (1, 1)}, "less than the upper limit"),
            ({"gain": 1.0, "factors": (1.0,)}, "factors= goes with bodies="),
            ({"gain": 1.0, "pushes": 1}, "pushes must be True or False"),
        ],
    )
    def test_tendons(self, given, words):
        with pytest.raises(lw.MechanismError, match=words):
            lw.Tendon({"j0": 1.0}, **given)


# ---- between frames ----


def two_free(*forces) -> lw.Mechanism:
    mech = lw.Mechanism("two", gravity=(0, 0, 0))
    for name in "ab":
        mech.add_body(name, mass=2.0, com=(0.1, 0.05, 0), inertia=np.diag((0.1, 0.2, 0.25)))
        mech.add_joint(f"F{name}", lw.Free(), "ground", name)
    for force in forces:
        mech.add_force(force)
    return mech


@pytest.mark.parametrize("seed", range(5))
def test_isotropic_springs_between_frames_are_a_bushing(seed):
    """Whose torque is that of the rotation vector where all stiffnesses of rotation are the same."""
    rng = np.random.default_rng(seed)
    frames = tuple(lw.Frame(rng.uniform(-0.3, 0.3, 3), Rotation.random(random_state=rng).as_matrix()) for _ in "ab")
    pair = {"bodies": ("a", "b"), "frames": frames}
    by_formula = lw.Force(
        **pair,
        force=tuple(f"-k*displacement[{k}] - d*velocity[{k}]" for k in (1, 2, 3)),
        torque=tuple(f"-c*rotation[{k}]" for k in (1, 2, 3)),
        parameters={"k": 300.0, "d": 4.0, "c": 7.0},
        name="mount",
    )
    mount = lw.Bushing(**pair, stiffness=(300.0,) * 3 + (7.0,) * 3, damping=(4.0,) * 3 + (0.0,) * 3, name="mount")
    models = [lw.compile(two_free(one)) for one in (by_formula, mount)]
    q = {
        f"F{name}": np.r_[rng.uniform(-1, 1, 3), Rotation.random(random_state=rng).as_quat(scalar_first=True)]
        for name in "ab"
    }
    u = {f"F{name}": rng.uniform(-1, 1, 6) for name in "ab"}
    states = [model.assemble(q=q, u=u) for model in models]
    found = [model.accelerations(state) for model, state in zip(models, states, strict=True)]
    assert found[0] == pytest.approx(found[1], rel=1e-12, abs=1e-12)
    for what in ("displacement", "rotation"):
        assert states[0][f"mount.{what}"] == pytest.approx(states[1][f"mount.{what}"], abs=1e-13)


def test_momentum_is_kept_by_forces_between_frames():
    swirl = {"force": ("p", "-p*2", "k*displacement[1]"), "torque": ("p*l", "0", "-c*angular_velocity[3]")}
    frames = lw.Frame((0.1, 0, 0)), lw.Frame((0, 0.2, 0))
    force = lw.Force(
        bodies=("a", "b"), frames=frames, **swirl, inputs=("p",), parameters={"k": 3.0, "l": (0.2, "m"), "c": 0.1}
    )
    run = lw.simulate(two_free(force), 1.0, inputs={"force.p": 2.0}, rtol=1e-11, atol=1e-12)
    momentum = sum(2.0 * (run[f"{name}.v"] + np.cross(run[f"{name}.w"], _com(run, name))) for name in "ab")
    spin = np.zeros(3)
    for name in "ab":
        turn = Rotation.from_quat(run[f"{name}.Q"][-1], scalar_first=True)
        w = run[f"{name}.w"][-1]
        r, v = (
            run[f"{name}.r"][-1] + turn.apply([0.1, 0.05, 0]),
            run[f"{name}.v"][-1] + np.cross(w, turn.apply([0.1, 0.05, 0])),
        )
        inertia = turn.as_matrix() @ np.diag((0.1, 0.2, 0.25)) @ turn.as_matrix().T
        spin = spin + inertia @ w + 2.0 * np.cross(r, v)
    assert np.abs(momentum).max() < 1e-9
    assert np.abs(spin).max() < 1e-9
    assert np.abs(run["a.w"][-1]).max() > 0.1


def _com(run, name):
    return Rotation.from_quat(run[f"{name}.Q"], scalar_first=True).apply([0.1, 0.05, 0])
