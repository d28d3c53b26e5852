"""Bushings against a potential of rotation vectors by SciPy, closed forms, and the balance of energy."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw

PAIR = lw.Frame(), lw.Frame()
STIFFNESS = (800.0, 700.0, 300.0, 9.0, 8.0, 5.0)
MASS, INERTIA, COM = 2.0, np.diag([0.1, 0.2, 0.25]), np.array([0.1, 0.05, -0.02])


def body_on_mount(stiffness=STIFFNESS, damping=(0.0,) * 6, frames=PAIR, com=COM) -> lw.Mechanism:
    mech = lw.Mechanism("mount", gravity=(0, 0, 0))
    mech.add_body("body", mass=MASS, com=com, inertia=INERTIA)
    mech.add_joint("F", lw.Free(), "ground", "body")
    mech.add_force(lw.Bushing(("ground", "body"), frames, stiffness, damping, name="mount"))
    return mech


def random_matrix(rng, size: float) -> np.ndarray:
    root = rng.standard_normal((6, 6))
    return size * (root @ root.T + np.eye(6))


def random_frame(rng) -> lw.Frame:
    return lw.Frame(rng.uniform(-0.3, 0.3, 3), Rotation.random(random_state=rng).as_matrix())


class TestLaw:
    @pytest.mark.parametrize("seed", range(20))
    def test_two_bodies_by_the_gradient_of_the_potential(self, seed) -> None:
        """Central differences of d and r by the motions of both bodies, as SciPy finds r."""
        rng = np.random.default_rng(seed)
        mech = lw.Mechanism("two", gravity=(0, 0, 0))
        for name in "ab":
            mech.add_body(name, mass=MASS, com=COM, inertia=INERTIA)
            mech.add_joint(f"F{name}", lw.Free(), "ground", name)
        frames = random_frame(rng), random_frame(rng)
        K, D = random_matrix(rng, 10.0), random_matrix(rng, 1.0)
        preload = rng.standard_normal(6)
        mech.add_force(lw.Bushing(("a", "b"), frames, K, D, preload, name="mount"))
        poses = [(rng.uniform(-0.5, 0.5, 3), Rotation.random(random_state=rng)) for _ in "ab"]
        speeds = rng.uniform(-1, 1, (2, 6))  # angular velocity and velocity, world axes
        model = lw.compile(mech)
        start = {}
        for name, (r, turn) in zip("ab", poses, strict=True):
            start[f"F{name}"] = np.concatenate([r, np.roll(turn.as_quat(), 1)])
        state = model.assemble(q=start)
        order = list(model.u_names)
        u = np.zeros(len(order))
        for k, name in enumerate("ab"):
            turn = poses[k][1]
            at = order.index(f"F{name}.u[1]")
            u[at : at + 3] = turn.inv().apply(speeds[k, :3])
            u[at + 3 : at + 6] = turn.inv().apply(speeds[k, 3:])
        a = model.accelerations(np.asarray(state.q), u)

        def x(step) -> np.ndarray:
            moved = []
            for (r, turn), by, frame in zip(poses, step.reshape(2, 6), frames, strict=True):
                R = (Rotation.from_rotvec(by[:3]) * turn).as_matrix()
                moved.append((r + by[3:] + R @ frame.position, R @ frame.rotation))
            (p, A), (q, B) = moved
            return np.concatenate([A.T @ (q - p), Rotation.from_matrix(A.T @ B).as_rotvec()])

        h = 1e-6
        J = np.column_stack([(x(h * e) - x(-h * e)) / (2 * h) for e in np.eye(12)])
        load = J.T @ preload - J.T @ (K @ x(np.zeros(12)) + D @ (J @ speeds.ravel()))
        for k, name in enumerate("ab"):
            turn, (torque, force) = poses[k][1], load.reshape(2, 2, 3)[k]
            w, v = turn.inv().apply(speeds[k, :3]), turn.inv().apply(speeds[k, 3:])
            t, f = turn.inv().apply(torque), turn.inv().apply(force)  # about the body's origin, body axes
            across = np.cross(COM, np.eye(3)).T  # c x
            about = INERTIA - MASS * across @ across
            M = np.block([[about, MASS * across], [-MASS * across, MASS * np.eye(3)]])
            spin = np.cross(w, about @ w) + MASS * np.cross(COM, np.cross(w, v))
            pull = MASS * (np.cross(w, v) + np.cross(w, np.cross(w, COM)))
            exact = np.linalg.solve(M, np.concatenate([t - spin, f - pull]))
            at = order.index(f"F{name}.u[1]")
            np.testing.assert_allclose(a[at : at + 6], exact, rtol=1e-6, atol=1e-6 * np.abs(exact).max())

    @pytest.mark.parametrize("degrees", [0.0, 1e-4, 0.5, 1.0, 1.2, 90.0, 170.0, -179.0])
    def test_a_twist_about_an_axis(self, degrees) -> None:
        angle = np.radians(degrees)
        model = lw.compile(body_on_mount(com=(0, 0, 0)))
        state = model.assemble(q={"F": [0, 0, 0, np.cos(angle / 2), 0, 0, np.sin(angle / 2)]})
        np.testing.assert_allclose(model.value("mount.rotation", state), [0, 0, angle], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(model.value("mount.torque", state), [0, 0, -5.0 * angle], rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(model.value("energy.potential", state), 2.5 * angle**2, rtol=1e-12)

    def test_a_stretch_has_the_axes_of_the_first_frame(self) -> None:
        frames = lw.Frame((0.1, 0, 0), Rotation.from_euler("z", 90, degrees=True).as_matrix()), lw.Frame()
        model = lw.compile(body_on_mount(frames=frames))
        state = model.assemble(q={"F": [0.1, 0.2, 0.0, np.sqrt(0.5), 0, 0, np.sqrt(0.5)]})
        np.testing.assert_allclose(model.value("mount.displacement", state), [0.2, 0, 0], atol=1e-15)
        np.testing.assert_allclose(model.value("mount.force", state), [-160.0, 0, 0], atol=1e-12)

    def test_energy_is_kept_through_large_turns(self) -> None:
        mech = body_on_mount(
            (100.0, 200.0, 300.0, 4.0, 5.0, 6.0), frames=(lw.Frame((0, 0, 0.1)), lw.Frame((0.2, 0, 0)))
        )
        preloaded = replace(mech.forces[0], preload=(3.0, -2.0, 1.0, 0.3, 0.2, -0.1))
        mech.forces = [preloaded]
        mech.start(u={"F": [2.0, -3.0, 4.0, 0.1, 0.2, 0.3]})
        result = lw.simulate(mech, 3.0, rtol=1e-12)
        t = np.linspace(0.0, 3.0, 601)
        values = result.at(t)
        energy = values["energy.kinetic"] + values["energy.potential"]
        assert max(np.abs(values[f"mount.rotation[{k}]"]).max() for k in (1, 2, 3)) > 0.5
        np.testing.assert_allclose(energy, energy[0], rtol=1e-9)

    def test_damping_takes_what_is_missing(self) -> None:
        mech = body_on_mount(damping=(3.0, 2.0, 1.0, 0.2, 0.3, 0.1))
        mech.start(u={"F": [1.0, -2.0, 1.0, 0.3, 0.2, 0.1]})
        result = lw.simulate(mech, 60.0)
        assert result["energy.kinetic"][-1] < 1e-6 * result["energy.kinetic"][0]


class TestLinear:
    def test_frequencies(self) -> None:
        found = lw.equilibrium(body_on_mount(com=(0, 0, 0)))
        exact = np.sqrt(np.array(STIFFNESS) / [MASS, MASS, MASS, 0.1, 0.2, 0.25])
        np.testing.assert_allclose(np.sort(found.frequencies), np.sort(exact) / (2 * np.pi), rtol=1e-9)

    def test_derivatives_against_differences(self) -> None:
        rng = np.random.default_rng(3)
        mech = body_on_mount(random_matrix(rng, 10.0), random_matrix(rng, 1.0), (random_frame(rng), random_frame(rng)))
        model = lw.compile(mech)
        state = model.assemble(q={"F": [0.1, 0.2, -0.1, 0.9, 0.1, -0.3, 0.2]}, u={"F": [0.3, 0.1, -0.2, 1, 2, 3]})
        linear = lw.linearize(model, state, states="full")
        x = np.concatenate([state.q, state.u])
        rows = [k for k, name in enumerate(linear.states) if ".u" in name]

        def udot(x) -> np.ndarray:
            return model.accelerations(x[: len(state.q)], x[len(state.q) :])

        for k in range(len(x)):
            step = 1e-6 * np.eye(len(x))[k]
            slope = (udot(x + step) - udot(x - step)) / 2e-6
            np.testing.assert_allclose(linear.A[rows, k], slope, rtol=1e-5, atol=1e-5)


class TestMechanisms:
    @staticmethod
    def four_bar() -> lw.Mechanism:
        """Its rocker stands on a mount instead of a hinge."""
        mech, hinge = lw.Mechanism("four_bar"), lw.Revolute((0, 1, 0))
        for name, mass, size in (("crank", 1.0, 0.4), ("coupler", 2.0, 1.0), ("rocker", 1.5, 0.8)):
            mech.add_body(
                name, mass=mass, com=(size / 2, 0, 0), inertia=lw.inertia.cylinder(mass, 0.02, size, axis="x")
            )
        mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0))
        mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((0.4, 0, 0)))
        mech.add_joint("C", hinge, "coupler", "rocker", parent_frame=lw.Frame((1.0, 0, 0)))
        mech.add_joint(
            "D", hinge, "ground", "rocker", parent_frame=lw.Frame((1.1, 0, 0)), child_frame=lw.Frame((0.8, 0, 0))
        )
        frames = lw.Frame((0.2, 0, 0)), lw.Frame((0.1, 0, 0.02))
        mech.add_force(lw.Bushing(("crank", "rocker"), frames, STIFFNESS, (1.0,) * 6, name="mount"))
        mech.start(q={"A": 0.7}, u={"A": 2.0})
        return mech

    def test_all_methods(self) -> None:
        found = []
        for method in ("rcr", "embedding", "multipliers", "dca"):
            model = lw.compile(self.four_bar(), method=method)
            found.append(model.accelerations(model.assemble()))
        for one in found[1:]:
            np.testing.assert_allclose(one, found[0], rtol=1e-10)

    def test_files_and_parameters(self, tmp_path) -> None:
        mech = self.four_bar()
        lw.save(mech, tmp_path / "four_bar.json")
        again = lw.load(tmp_path / "four_bar.json")
        assert again.to_dict() == mech.to_dict()
        assert json.loads((tmp_path / "four_bar.json").read_text())["forces"][0]["type"] == "bushing"
        model = lw.compile(again)
        softer = model.with_parameters({"mount.stiffness[1,1]": 400.0, "mount.stiffness[1,5]": 3.0})
        state = softer.assemble()
        x = np.concatenate([softer.value(f"mount.{one}", state) for one in ("displacement", "rotation")])
        K = np.diag(STIFFNESS)
        K[0, 0], K[0, 4], K[4, 0] = 400.0, 3.0, 3.0
        at_rest = softer.assemble(u={"A": 0.0})
        np.testing.assert_allclose(softer.value("mount.force", at_rest), -(K @ x)[:3], rtol=1e-12)

    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({"stiffness": (1, 2, 3)}, "stiffness"),
            ({"stiffness": (1, 2, 3, 4, 5, -6)}, "no negative eigenvalue"),
            ({"stiffness": np.triu(np.ones((6, 6)))}, "must be symmetric"),
            ({"frames": (lw.Frame(),)}, "two frames"),
            ({"frames": ((0, 0, 0), (0, 0, 0))}, "must be lw.Frame"),
            ({"bodies": ("a", 3)}, "names of two bodies"),
        ],
    )
    def test_refusals(self, given, text) -> None:
        with pytest.raises(lw.MechanismError, match=text):
            lw.Bushing(**{"bodies": ("a", "b"), "frames": PAIR, "stiffness": STIFFNESS} | given)


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_fmus_take_changed_stiffness(fmi, tmp_path, needs) -> None:
    fmpy = needs("fmpy")
    mech = lw.Mechanism("mounted")
    mech.add_body("arm", mass=1, com=(0.3, 0, 0), inertia=np.diag([0.3, 0.4, 0.5]))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "arm", at=(0, 0, 0))
    frames = lw.Frame((0.4, 0, 0)), lw.Frame((0.3, 0.1, 0))
    mech.add_force(
        lw.Bushing(("ground", "arm"), frames, (200, 100, 50, 3, 4, 5), (1, 2, 3, 0.1, 0.2, 0.3), name="mount")
    )
    path = lw.export_fmu(mech, tmp_path / "mounted.fmu", fmi=fmi)
    changed = {"mount.stiffness[1,1]": 300.0, "mount.stiffness[2,6]": 4.0, "mount.stiffness[6,6]": 9.0}
    seen = ["A.q", "mount.force[1]", "mount.torque[3]", "mount.rotation[3]", "energy.potential"]
    options = {"stop_time": 0.5, "output_interval": 0.05, "relative_tolerance": 1e-9, "output": seen}
    result = fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", start_values=changed, **options)
    expected = lw.simulate(mech, 0.5, parameters=changed, rtol=1e-12).at(result["time"])
    for name in seen:
        np.testing.assert_allclose(result[name], expected[name], rtol=1e-6, atol=1e-6, err_msg=name)
