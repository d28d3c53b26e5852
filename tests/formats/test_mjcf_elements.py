"""Tendons, springs and actuators of MJCF files have the forces and states of MuJoCo; the rest has its reason."""

import mujoco
import numpy as np
import pytest

import linkwork as lw
from support.mjcf_elements import ELEMENTS, LEFT, text_by, text_of
from support.mujoco_peer import MujocoPeer, by_joint

EXPECTED = {"site"}  # of what is reported: sites are no outputs


def loaded(text: str, tmp_path) -> tuple[MujocoPeer, lw.Mechanism]:
    path = tmp_path / "robot.xml"
    path.write_text(text)
    return MujocoPeer(path), lw.load(path)


def reported(mech: lw.Mechanism) -> dict[str, str]:
    """What is approximated or left out, but sites and contacts."""
    found = [one for outcome in ("approximated", "left out") for one in mech.report.of(outcome)]
    return {one.element: one.text for one in found if one.element.split(" ")[0] not in EXPECTED}


def inputs_of(peer: MujocoPeer, mech: lw.Mechanism, ctrl: np.ndarray) -> dict[str, float]:
    """The inputs of actuators, in MuJoCo's order; several of one have names of their own."""
    model, found = peer.model, {}
    for actuator in range(model.nactuator):
        name = mech.report.names["actuator"][peer.name("actuator", actuator)]
        first, count = model.actuator_ctrladr[actuator], model.actuator_ctrlnum[actuator]
        own = [one for one in mech.forces if getattr(one, "name", "") == name]
        names = getattr(own[0], "inputs", None) or ("input",)
        known = ("set_position", "set_velocity", "feedforward", "voltage")
        spec = int(model.actuator_ctrlspec[actuator])
        order = [one for bit, one in enumerate(known) if spec >> bit & 1] if count > 1 else ["input"] * count
        found |= {f"{name}.{one}": ctrl[first + k] for k, one in enumerate(order) if one in names}
    return found


@pytest.mark.parametrize("name", ELEMENTS)
def test_forces_and_rates_are_those_of_mujoco(name, tmp_path):
    """Accelerations from MuJoCo's own mass matrix, passive and actuator forces, at random states."""
    peer, mech = loaded(text_of(name), tmp_path)
    peer.model.actuator_actearly[:] = 0  # MuJoCo's force by the activation at the end of a time step
    assert reported(mech) == {}
    model, random = lw.compile(mech), np.random.default_rng(3)
    states = [f"{one.name}.{state}" for one in mech.forces for state in getattr(one, "states", None) or ()]
    assert len(states) == peer.model.na
    acting = 0
    for _ in range(20):
        qpos = peer.moved(peer.model.qpos0, random.normal(size=peer.model.nv))
        qvel, ctrl = random.normal(size=peer.model.nv), random.normal(size=peer.model.nu)
        act = random.uniform(-0.3, 0.9, size=peer.model.na)
        peer.data.act[:] = act
        qacc = peer.accelerations(qpos, qvel, ctrl)
        acting += max(np.abs(one).max() for one in (peer.data.qfrc_passive, peer.data.qfrc_actuator)) > 0.0
        q, u, expected = by_joint(peer, mech, qpos, qvel, qacc)
        state, inputs = (
            model.assemble(q=q, u=u, elements=dict(zip(states, act, strict=True))),
            inputs_of(peer, mech, ctrl),
        )
        found = model.by_joint(model.accelerations(state, tau=inputs))
        scale = max(1.0, max(np.abs(value).max() for value in expected.values()))
        for joint, value in expected.items():
            np.testing.assert_allclose(np.atleast_1d(found[joint]), value, atol=1e-11 * scale, err_msg=joint)
        for number, one in enumerate(states):
            rate = limited(peer, number, act[number], peer.data.act_dot[number])
            assert model.value(f"der({one})", state, tau=inputs) == pytest.approx(rate, rel=1e-11, abs=1e-12)
    assert acting > 10


def limited(peer: MujocoPeer, number: int, act: float, rate: float) -> float:
    """The rate of an activation within its range; MuJoCo limits it as it integrates."""
    model = peer.model
    actuator = int(np.flatnonzero((model.actuator_actadr <= number) & (model.actuator_actadr >= 0))[-1])
    if not model.actuator_actlimited[actuator]:
        return rate
    low, high = model.actuator_actrange[actuator]
    return min(0.0, rate) if act >= high else max(0.0, rate) if act <= low else rate


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_out_has_its_reason(name, tmp_path):
    text, element, words = LEFT[name]
    path = tmp_path / "robot.xml"
    path.write_text(text_by(text))
    mech = lw.load(path)
    found = reported(mech)
    assert list(found) == [element]
    assert words in found[element]
    lw.compile(mech)


def test_a_keyframe_starts_activations(tmp_path):
    text = text_of("filter").replace("</mujoco>", '<keyframe><key act="0.3 0.4"/></keyframe></mujoco>')
    _, mech = loaded(text, tmp_path)
    assert reported(mech) == {}
    state = lw.compile(mech).assemble()
    assert (state["act1.activation"], state["act2.activation"]) == (0.3, 0.4)


def test_an_activation_follows_that_of_mujoco(tmp_path):
    """MuJoCo's exact filter has no error of its step for a constant input."""
    peer, mech = loaded(text_of("filter at a site"), tmp_path)
    peer.model.opt.timestep = 1e-3
    peer.set(peer.model.qpos0, None, [0.7])
    for _ in range(50):
        mujoco.mj_step(peer.model, peer.data)
    run = lw.simulate(mech, 0.05, inputs={"act1.input": 0.7}, rtol=1e-10, atol=1e-12)
    assert run["act1.activation"][-1] == pytest.approx(peer.data.act[0], rel=1e-9)


def test_the_range_of_a_sum_is_a_stop(tmp_path):
    """A pushed sum of two slides comes to rest, all of it, where its range ends."""
    path = tmp_path / "robot.xml"
    bodies = "".join(
        f'<body><joint name="{name}" type="slide" axis="1 0 0" damping="1"/><geom size="0.1" mass="1"/></body>'
        for name in "xy"
    )
    path.write_text(
        f'<mujoco><option gravity="0 0 0"/><worldbody>{bodies}</worldbody><tendon><fixed name="sum" limited="true" '
        'range="-1 0.5"><joint joint="x" coef="1"/><joint joint="y" coef="2"/></fixed></tendon>'
        '<actuator><motor name="push" tendon="sum"/></actuator></mujoco>'
    )
    mech = lw.load(path, limits=True)
    assert "tendon 'sum' > range" in {one.element for one in mech.report.of("taken")}
    run = lw.simulate(mech, 3.0, inputs={"push.input": 2.0})
    assert "sum_limit" in str(run.events[0])
    assert run["x.q"][-1] + 2 * run["y.q"][-1] == pytest.approx(0.5, abs=1e-9)
