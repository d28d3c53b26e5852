"""Published URDF models with loops: accelerations are those of Pinocchio with dense constraints, at random states."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import LinkworkError
from support.checkout import beside
from support.driving import by_joint
from support.placement import vector

pinocchio_urdf = pytest.importorskip("support.pinocchio_urdf")

GEPETTO = (
    "5bar_linkage",
    "battobot_6d",
    "cassie_like",
    "digit_like_2legs",
    "disney_robot",
    "robot_delta",
    "talos_like",
    "true_talos_2_legs",
    "wl16_like",
)
GRBDA = ("four_bar", "mini_cheetah", "mit_humanoid", "planar_leg_linkage", "six_bar")
MODELS = [*(f"gepetto/{name}/robot.urdf" for name in GEPETTO), *(f"grbda_{name}.urdf" for name in GRBDA)]


def compared(peer: Any, mech: lw.Mechanism, model: lw.Model, seed: int) -> float | None:
    """The largest difference of accelerations relative to the largest one at a random closed state."""
    rng = np.random.default_rng(seed)
    found = peer.closed_state(rng, 0.3 if seed % 2 else 0.05)
    if found is None or not peer.is_regular(found[0]):
        return None
    q, v = found
    tau = rng.uniform(-1.0, 1.0, peer.model.nv)
    joints = mech.report.names["joint"]
    values = {joints[name]: value for name, value in peer.by_joint(q, v).items() if name in joints}
    state = model.assemble(q={n: x for n, (x, _) in values.items()}, u={n: x for n, (_, x) in values.items()})
    loads = {joints[name]: x for name, (_, x) in peer.by_joint(q, tau).items() if name in joints}
    mine = by_joint(model, model.accelerations(state, tau=loads))
    expected = {
        joints[name]: a for name, (_, a) in peer.by_joint(q, peer.accelerations(q, v, tau)).items() if name in joints
    }
    scale = max(np.abs(a).max() for a in expected.values())
    return max(np.abs(vector(mine[name]) - a).max() for name, a in expected.items()) / scale


@pytest.mark.parametrize("states", [3, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::linkwork.errors.LinkworkWarning")
def test_accelerations_are_those_of_pinocchio(name: str, states: int) -> None:
    path = beside(f"models/{name}")
    peer, mech = pinocchio_urdf.PinocchioUrdf(path), lw.load(path)
    for element in (entry.element for entry in mech.report.of("approximated") if entry.element != "start"):
        link = element.removeprefix("link '").removesuffix("' > inertia")
        peer.set_inertia(link, mech.bodies[mech.report.names["link"][link]])
    model = lw.compile(mech)
    found = (compared(peer, mech, model, seed) for seed in range(4 * states))
    seen = list(islice((difference for difference in found if difference is not None), states))
    assert len(seen) == states
    assert max(seen) < 1e-9


@pytest.mark.slow
def test_a_model_that_cannot_be_closed_is_read_and_refused_with_its_gaps() -> None:
    mech = lw.load(beside("models/gepetto/kangaroo_like_2legs/robot.urdf"))
    assert sum(joint.cut for joint in mech.joints.values()) >= 12
    with pytest.raises(LinkworkError, match="cannot be closed"):
        lw.compile(mech).assemble()
