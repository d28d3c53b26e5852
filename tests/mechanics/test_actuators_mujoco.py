"""Motors, servos, affine actuators and tendons against MuJoCo, which reads them from its own format."""

import dataclasses

import numpy as np
import pytest

import linkwork as lw

LINKS = ("turn", "slide", "swing", "ball", "last")
CHAIN = """
<mujoco><compiler angle="radian"/><option gravity="0.3 -0.2 -9.81"/><worldbody>{bodies}</worldbody>
<tendon><fixed name="cable"><joint joint="turn" coef="0.7"/><joint joint="slide" coef="-1.3"/>
<joint joint="last" coef="0.4"/></fixed></tendon><actuator>{actuators}</actuator></mujoco>"""
# What MuJoCo reads, and the same for Linkwork
ACTUATORS = {
    "motor": ('<motor name="m" joint="turn" gear="2.5"/>', lw.Actuator("m", {"turn": 2.5})),
    "limited_motor": (
        '<motor name="m" joint="slide" gear="-3" ctrlrange="-0.5 0.8" forcerange="-0.6 0.7"/>',
        lw.Actuator("m", {"slide": -3.0}, input_range=(-0.5, 0.8), force_range=(-0.6, 0.7)),
    ),
    "position": (
        '<position name="m" joint="swing" kp="30" kv="2" gear="1.4" ctrlrange="-0.4 0.4"/>',
        lw.Actuator("m", {"swing": 1.4}, gain=30, stiffness=30, damping=2, input_range=(-0.4, 0.4)),
    ),
    "position_limited": (
        '<position name="m" joint="slide" kp="20" gear="0.5" forcerange="-4 5"/>',
        lw.Actuator("m", {"slide": 0.5}, gain=20, stiffness=20, force_range=(-4, 5)),
    ),
    "velocity": (
        '<velocity name="m" joint="last" kv="4" gear="-2" forcerange="-7 7"/>',
        lw.Actuator("m", {"last": -2.0}, gain=4, damping=4, force_range=(-7, 7)),
    ),
    "affine": (
        '<general name="m" joint="turn" gainprm="3" biastype="affine" biasprm="0.5 -2 -0.3" gear="1.7"'
        ' ctrlrange="0 1" forcerange="-2 2"/>',
        lw.Actuator("m", {"turn": 1.7}, 3, 0.5, 2, 0.3, input_range=(0, 1), force_range=(-2, 2)),
    ),
    "tendon": (
        '<position name="m" tendon="cable" kp="15" kv="1.5" gear="2" forcerange="-9 9"/>',
        lw.Actuator(
            *("m", {"turn": 1.4, "slide": -2.6, "last": 0.8}),
            *(15, 0, 15, 1.5, None, (-9, 9)),
        ),
    ),
    "tendon_motor": (
        '<motor name="m" tendon="cable" gear="-1"/>',
        lw.Actuator("m", {"turn": -0.7, "slide": 1.3, "last": -0.4}),
    ),
    "ball_motor": (
        '<motor name="m" joint="ball" gear="0.3 -1.2 0.7" ctrlrange="-1 1"/>',
        lw.Actuator("m", {"ball[1]": 0.3, "ball[2]": -1.2, "ball[3]": 0.7}, input_range=(-1, 1)),
    ),
    "ball_velocity": (
        '<velocity name="m" joint="ball" kv="2.5" gear="0 1.5 -0.4"/>',
        lw.Actuator("m", {"ball[2]": 1.5, "ball[3]": -0.4}, gain=2.5, damping=2.5),
    ),
}
ALL = "all"


def chain(rng, texts):
    """A chain of five bodies in both programs, with random geometry."""
    mech = lw.Mechanism("chain", gravity=(0.3, -0.2, -9.81))
    bodies, origin, parent = "", np.zeros(3), "ground"
    for name in LINKS:
        at, com, axis = rng.uniform(-0.5, 0.5, (3, 3))
        half = rng.uniform(-0.2, 0.2, (3, 3))
        inertia, mass = half @ half.T + 0.1 * np.eye(3), rng.uniform(0.5, 2.0)
        axis /= np.linalg.norm(axis)
        full = " ".join(repr(float(inertia[i])) for i in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        kind = {"slide": "slide", "ball": "ball"}.get(name, "hinge")
        along = "" if kind == "ball" else f' axis="{_text(axis)}"'
        bodies += f'<body pos="{_text(at)}"><joint name="{name}" type="{kind}"{along}/>'
        bodies += f'<inertial pos="{_text(com)}" mass="{mass!r}" fullinertia="{full}"/>'
        origin = origin + at
        mech.add_body(name, mass=mass, com=com, inertia=inertia, origin=origin)
        joint = {"slide": lw.Prismatic, "hinge": lw.Revolute}.get(kind)
        joint_kind = lw.Spherical() if joint is None else joint(axis)
        mech.add_joint(name, joint_kind, parent, name, parent_frame=lw.Frame(at), child_frame=lw.Frame())
        parent = name
    return mech, CHAIN.format(bodies=bodies + "</body>" * len(LINKS), actuators=texts)


def _text(numbers):
    return " ".join(repr(float(x)) for x in numbers)


class Peer:
    """Accelerations and forces of MuJoCo. Coordinates and speeds of the chain are in the same order."""

    def __init__(self, mujoco, text):
        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)

    def accelerations(self, q, u, inputs):
        self.data.qpos[:], self.data.qvel[:], self.data.ctrl[:] = q, u, inputs
        self.mujoco.mj_forward(self.model, self.data)
        return self.data.qacc.copy()


def poses(rng, count):
    for _ in range(count):
        q = rng.normal(scale=0.6, size=8)
        q[3:7] /= np.linalg.norm(q[3:7])
        yield q, rng.normal(scale=1.5, size=7)


@pytest.fixture(params=[*ACTUATORS, ALL])
def both(request, needs):
    mujoco = needs("mujoco")
    chosen = list(ACTUATORS) if request.param == ALL else [request.param]
    texts = "".join(ACTUATORS[name][0].replace('name="m"', f'name="{name}"') for name in chosen)
    rng = np.random.default_rng(7)
    mech, text = chain(rng, texts)
    for name in chosen:
        mech.add_force(dataclasses.replace(ACTUATORS[name][1], name=name))
    return rng, lw.compile(mech), Peer(mujoco, text), chosen


def test_accelerations_and_forces(both):
    rng, model, peer, names = both
    limited = saturated = 0
    for q, u in poses(rng, 30):
        inputs = rng.normal(scale=1.0, size=len(names))
        tau = {f"{name}.input": value for name, value in zip(names, inputs, strict=True)}
        expected = peer.accelerations(q, u, inputs)
        found = model.accelerations(q, u, tau=tau)
        assert np.abs(found - expected).max() < 1e-10 * (1.0 + np.abs(expected).max())
        run = lw.simulate(model, 1e-9, state=model.state(q, u), inputs=tau)
        assert [run[f"{name}.force"][0] for name in names] == pytest.approx(peer.data.actuator_force, rel=1e-12)
        for force, limits in zip(peer.data.actuator_force, peer.model.actuator_forcerange, strict=True):
            limited += limits.any()
            saturated += limits.any() and force in limits
    assert limited == 0 or 0 < saturated < limited


def test_derivatives_are_those_of_mujoco(both):
    """Exact ones against central differences of MuJoCo, along states and inputs."""
    rng, model, peer, names = both
    q, u = next(poses(rng, 1))
    inputs, h = 0.3 * rng.normal(size=len(names)), 1e-6
    tau = {f"{name}.input": value for name, value in zip(names, inputs, strict=True)}
    exact = model.jacobian(q, u, tau=tau)[8:]
    for k in range(7):
        ends = [peer.accelerations(q, u + s * h * (np.arange(7) == k), inputs) for s in (1, -1)]
        difference = (ends[0] - ends[1]) / (2 * h)
        assert np.abs(exact[:, 8 + k] - difference).max() < 1e-6 * (1.0 + np.abs(exact).max())
    for k in (0, 1, 2, 7):
        ends = [peer.accelerations(q + s * h * (np.arange(8) == k), u, inputs) for s in (1, -1)]
        difference = (ends[0] - ends[1]) / (2 * h)
        assert np.abs(exact[:, k] - difference).max() < 1e-6 * (1.0 + np.abs(exact).max())
