"""Powers of all forces and frictions: with those of gravity and of driving loads they change the kinetic energy.

The change of the kinetic energy is summed over the bodies, from accelerations of points of them.
"""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.poses import random_unit
from support.zoo import zoo

POINTS = np.vstack([np.zeros(3), np.eye(3)])
TAU = 0.7


def names_of(mech: lw.Mechanism) -> list[str]:
    """Return the powers of all forces; springs and dampers in joints have those of their joints."""
    return [f"{one.name}.power" if hasattr(one, "name") else f"{one.joint}.spring_power" for one in mech.forces]


def random_mechanism(rng: np.random.Generator, bodies: int) -> lw.Mechanism:
    """Return a random tree with a force of every kind, some of them on joints that are cut."""
    mech = lw.Mechanism("spread", gravity=rng.normal(size=3) * 9.81)
    frames = tuple(lw.Frame(rng.normal(size=3) * 0.2) for _ in range(2))
    kinds = (lw.Revolute((0, 0, 1)), lw.Prismatic((1, 0, 0)), lw.Universal((1, 0, 0), (0, 1, 0)), lw.Spherical())
    for k in range(bodies):
        size = {"mass": rng.uniform(0.5, 2.0), "com": rng.normal(size=3) * 0.3}
        mech.add_body(f"b{k}", **size, inertia=lw.inertia.box(1.0, (0.3, 0.2, 0.4)))
        parent = f"b{rng.integers(0, k)}" if k else "ground"
        kind = lw.Revolute(random_unit(rng)) if k < 2 else kinds[int(rng.integers(0, 4))]
        at = lw.Frame(rng.normal(size=3) * 0.4)
        mech.add_joint(f"J{k}", kind, parent, f"b{k}", parent_frame=at, reflected_inertia=0.1)
    mech.add_joint("cut", lw.Free(), f"b{bodies - 1}", "ground", cut=True)
    mech.add_force(lw.SpringDamper("cut", damping=0.4))
    mech.add_force(lw.Actuator("spin", {"cut[2]": 0.3}, gain=2.0, damping=0.2))
    mech.add_force(lw.SpringDamper("J0", stiffness=3.0, damping=0.4, free=0.2))
    ends = {"bodies": ("ground", f"b{bodies - 1}"), "points": rng.normal(size=(2, 3))}
    mech.add_force(lw.SpringDamper(**ends, stiffness=20.0, damping=2.0, free=0.3, name="cord"))
    mech.add_force(lw.Wrench("b1", rng.normal(size=3), name="push"))
    mech.add_force(lw.Actuator("servo", {"J0": 0.5, "J1": -2.0}, gain=3.0, stiffness=1.0, damping=0.2))
    mech.add_force(lw.Bushing(("b0", "b2"), frames, np.eye(6) + 0.5, (0.1,) * 6, preload=(1, 2, 3, 1, 2, 3)))
    mech.add_force(lw.Force("J1", "-k*q - d*u*abs(u)", parameters={"k": 2.0, "d": 0.3}, name="law"))
    mech.add_force(lw.Force(**ends, formula="k*length^2 + p", parameters={"k": 3.0}, inputs=("p",), name="jack"))
    at_point = {"force": ("a", "0", "-k*J0.q"), "torque": ("0", "b", "0"), "axes": "body"}
    numbers = {"a": 2.0, "b": 3.0, "k": 4.0}
    mech.add_force(lw.Force(body="b2", point=rng.normal(size=3), **at_point, parameters=numbers, name="thrust"))
    in_frames = {"force": ("-k*displacement[1]", "0", "a"), "torque": ("0", "-d*angular_velocity[2]", "0")}
    numbers = {"k": 2.0, "a": 1.0, "d": 0.2}
    mech.add_force(lw.Force(bodies=("b1", "ground"), frames=frames, **in_frames, parameters=numbers, name="mount"))
    way = {"bodies": ("ground", "b0", "b2"), "points": rng.normal(size=(3, 3)), "factors": (1.0, 0.5)}
    mech.add_force(lw.Tendon(**way, stiffness=9.0, free=0.1))
    mech.add_force(lw.GravityCompensation("b2", fraction=0.4, name="balance"))
    mech.add_force(lw.DCMotor("J1", resistance=0.5, inductance=0.1, constant=0.2, current=3.0, name="motor"))
    mech.add_force(lw.Friction("J0", coulomb=0.4, viscous=0.1, name="rub"))
    mech.add_force(lw.Friction("J0", mu=0.1, radius=0.02, name="pressed"))
    mech.add_force(lw.Friction({"J0": 1.0, "J1": -0.4}, coulomb=0.3, forward=0.2, name="between"))
    mech.add_force(lw.Friction("J1", coulomb=0.3, smooth=0.1, name="smooth"))
    mech.add_force(lw.Brake({"J0": 1.0}, "c*abs(time - t)", parameters={"c": (0.7, "N.m/s"), "t": 1.0}, name="brake"))
    mech.add_force(lw.Freewheel({"J0": -1.0}, capacity=0.7, name="ratchet"))
    return mech


def with_points(mech: lw.Mechanism) -> lw.Mechanism:
    for body in mech.bodies:
        for k, point in enumerate(POINTS):
            mech.add_point(f"{body}_{k}", body, point)
    return mech


def turned(Q: np.ndarray) -> np.ndarray:
    w, x, y, z = Q
    return np.eye(3) * (w * w - x * x - y * y - z * z) + 2 * (
        np.outer((x, y, z), (x, y, z)) + w * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    )


def powers_of_masses(model: lw.Model, value) -> tuple[float, float]:
    """Return the rate of the kinetic energy and the power of gravity, from the motion of points of the bodies."""
    rate = weight = 0.0
    for name, body in model.mechanism.bodies.items():
        R, w = turned(value(f"{name}.Q")), value(f"{name}.w")
        a = np.array([value(f"{name}_{k}.a") for k in range(4)])
        # a_k - a_0 = (A + w w') R e_k with A the cross product by the angular acceleration
        spin = (a[1:] - a[0]).T @ R.T
        alpha = np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]) / 2
        arm = R @ body.com
        v = value(f"{name}.v") + np.cross(w, arm)
        acceleration = a[0] + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        rate += body.mass * v @ acceleration + w @ (R @ body.inertia @ R.T) @ alpha
        weight += body.mass * v @ model.mechanism.gravity
    for name, joint in model.mechanism.joints.items():
        rotor = np.broadcast_to(joint.reflected_inertia, (joint.kind.nu,))
        if rotor.any():
            rate += float(np.sum(rotor * np.ravel(value(f"{name}.u")) * np.ravel(value(f"{name}.a"))))
    return rate, weight


def check(model: lw.Model, state: lw.State, tau: dict) -> None:
    def value(name: str):
        return model.value(name, state, tau=tau)

    given = [value(name) for name in names_of(model.mechanism)]
    rate, weight = powers_of_masses(model, value)
    driving = sum(float(tau[name] * value(f"{name}.u")) for name in tau if name in model.mechanism.joints)
    size = np.abs(given).sum() + abs(weight) + abs(driving)
    assert np.count_nonzero(given) > 0.8 * len(given) - 2
    assert abs(sum(given) + weight + driving - rate) < 1e-10 * size


@pytest.mark.parametrize("method", ["auto", "multipliers", "dca"])
@pytest.mark.parametrize("seed", range(8))
def test_powers_change_the_kinetic_energy(seed, method):
    rng = np.random.default_rng(seed)
    mech = with_points(random_mechanism(rng, int(rng.integers(3, 7))))
    model = lw.compile(mech, method=method)
    q = np.zeros(model.sizes.nq)
    for name, joint in mech.joints.items():
        if name in model.numbering.tree:
            own = rng.normal(size=joint.kind.nq)
            q[model.numbering.q[name]] = own / np.linalg.norm(own) if joint.kind.quaternion is not None else own
    state = model.state(q, rng.normal(size=model.sizes.nu), time=0.3)
    check(model, state, {"push.F": rng.normal(size=3), "push.T": rng.normal(size=3), "servo.input": 1.3, "jack.p": 2.0}
          | {"J0": TAU, "spin.input": 0.4})  # fmt: skip


def test_powers_of_a_mechanism_with_everything():
    mech = with_points(zoo())
    model = lw.compile(mech)
    rng = np.random.default_rng(1)
    loads = {name: rng.normal(size=span.stop - span.start) for name, span in model.numbering.forces.items()}
    free = [name for name in ("j0", "j2", "j3", "j4") if name in mech.joints]
    state = model.assemble(u={name: rng.normal(size=mech.joints[name].kind.nu) for name in free})
    check(model, state, {name: one if one.size > 1 else float(one[0]) for name, one in loads.items()})


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "Radau"])
def test_the_balance_of_a_run_closes(solver):
    """A four-bar with springs, a motor, and friction that sticks and slides in all hinges: work by a state."""
    mech = four_bar().mechanism
    first, *others = mech.joints
    for joint in mech.joints:
        mech.add_force(lw.Friction(joint, coulomb=0.05, static=0.06, viscous=0.01, name=f"f_{joint}"))
    mech.add_force(lw.SpringDamper(first, stiffness=0.3, damping=0.02))
    mech.add_force(lw.Force(others[0], "-k*q^3", parameters={"k": 0.2}, name="spring"))
    mech.add_force(lw.DCMotor(first, resistance=1.0, inductance=0.01, constant=0.1, name="motor"))
    weights = []
    for name, body in mech.bodies.items():
        mech.add_point(f"{name}_com", name, body.com)
        weights.append(f"{body.mass!r}*m*({' + '.join(f'g{i}*{name}_com.v[{i + 1}]' for i in range(3))})")
    numbers = {"m": (1.0, "kg")} | {f"g{i}": (float(one), "m/s2") for i, one in enumerate(mech.gravity)}
    used = {name: one for name, one in numbers.items() if any(f"{name}*" in weight for weight in weights)}
    mech.add_state("work", " + ".join([*names_of(mech), *weights]), unit="J", parameters=used)
    run = lw.simulate(mech, 3.0, inputs={"motor.voltage": lambda t: 2.0 * np.sin(3 * t)}, solver=solver,
                      rtol=1e-11, atol=1e-12)  # fmt: skip
    assert len(run.events) > 2
    size = np.abs(run["work"]).max()
    assert np.abs(run["energy.kinetic"] - run["energy.kinetic"][0] - run["work"]).max() < 1e-8 * max(1.0, size)


def test_what_sticks_has_no_power_and_what_slides_loses_some():
    mech = lw.Mechanism("slide", gravity=(0, 0, 0))
    mech.add_body("block", mass=2.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.Friction("S", coulomb=4.0, name="f"))
    model = lw.compile(mech)
    assert model.value("f.power", [0.0], [0.0], tau={"S": 3.0}) == 0.0
    assert model.value("f.force", [0.0], [0.0], tau={"S": 3.0}) == -3.0
    assert model.value("f.power", [0.0], [2.0]) == -8.0
    assert model.value("f.power", [0.0], [-2.0]) == -8.0


def test_formulas_and_files_know_powers():
    mech = lw.Mechanism("arm")
    mech.add_body("arm", mass=1.0, com=(0.5, 0, 0), inertia=np.eye(3))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("A", stiffness=3.0, damping=0.5))
    mech.add_force(lw.Friction("A", coulomb=0.2, name="rub"))
    mech.add_output("lost", "A.spring_power + rub.power", unit="W")
    again = lw.compile(lw.Mechanism.from_dict(mech.to_dict()))
    assert again.value("lost", [0.4], [2.0]) == pytest.approx(-(3.0 * 0.4 + 0.5 * 2.0) * 2.0 - 0.4, rel=1e-14)
    units = {one.name: one.unit for one in again.variables}
    assert units["A.spring_power"] == units["rub.power"] == "W"
