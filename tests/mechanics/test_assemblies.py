"""Divide and conquer: height of the tree of subassemblies, and bodies that are cut into parts to keep it low."""

from math import log2

import numpy as np
import pytest

import linkwork as lw
from support import graphs
from support.impulse_oracle import ImpulseOracle, poses_at, velocities_at
from support.impulses import entered, speed_number

RNG = np.random.default_rng(0)
ABOVE = {  # the number of the parent of each body, -1 the ground
    "chain": lambda k: k - 1,
    "star": lambda k: 0 if k else -1,
    "two levels of hubs": lambda k: (k - 1) // 40 if k else -1,
    "binary tree": lambda k: (k - 1) // 2 if k else -1,
    "comb": lambda k: k - 2 + k % 2 if k else -1,
    "star of chains": lambda k: max(0, k - 30) if k else -1,
    "random tree": lambda k: int(RNG.integers(k)) if k else -1,
    "long random tree": lambda k: int(RNG.integers(max(0, k - 5), k)) if k else -1,
}


def tree(count, above):
    names = [f"b{k}" for k in range(count)]
    return graphs.mechanism(names, [(f"j{k}", ([*names, "ground"])[above(k)], name) for k, name in enumerate(names)])


MADE = {name: lambda n, above=above: tree(n, above) for name, above in ABOVE.items()} | {
    "ladder": lambda n: graphs.ladder(n // 2, False),
    "deep ladder": lambda n: graphs.ladder(n // 2, True),
    "windows": lambda n: graphs.windows(n // 2),
    "loops in a row": lambda n: graphs.long_mechanism(n, True),
}


LARGE = [name for name in MADE if name != "star"]  # where a hub has thousands of spokes, compilation takes minutes


@pytest.mark.parametrize(
    ("name", "count"),
    [(name, count) for name in MADE for count in (30, 300)]
    + [pytest.param(name, 3000, marks=pytest.mark.slow) for name in LARGE],
)
def test_levels(name, count):
    system = lw.compile(MADE[name](count), "dca")
    assert system.levels <= 2 * log2(system.sizes.bodies) + 2


def wheel(spokes):
    """Spokes on a hub, each second one held to the next by a rod; the bodies on the hub are cut into parts with it."""
    mech = lw.Mechanism("wheel")
    mech.add_body("hub", mass=3.0, com=(0.02, 0.01, 0.1), inertia=np.diag([0.3, 0.35, 0.5]))
    mech.add_joint("axle", lw.Revolute((1, 0, 2)), "ground", "hub", parent_frame=lw.Frame())
    tip = np.array([0.6, 0.1, 0.0])
    places = [np.array([np.cos(0.7 * k), np.sin(0.7 * k), 0.1 * k]) for k in range(spokes)]
    for k, place in enumerate(places):
        mech.add_body(f"s{k}", mass=1 + 0.1 * k, com=(0.3, 0.02, 0.01 * k), inertia=np.diag([0.02, 0.04, 0.05]))
        mech.add_joint(f"h{k}", lw.Revolute((0.1 * k, 1, 0)), "hub", f"s{k}", parent_frame=lw.Frame(place))
    for k in range(0, spokes - 1, 2):
        length = np.linalg.norm(places[k + 1] - places[k])
        mech.add_distance(f"rod{k}", bodies=(f"s{k}", f"s{k + 1}"), points=(tip, tip), length=length)
    return mech


@pytest.mark.parametrize("spokes", [4, 5, 6, 13])
class TestHubs:
    def test_forward_dynamics(self, spokes):
        rng, found = np.random.default_rng(spokes), []
        tau = rng.normal(size=spokes + 1)
        for method in ("rcr", "dca"):
            system = lw.compile(wheel(spokes), method)
            state = system.assemble(u={"axle": 1.0, "h0": -0.7, "h2": 0.4})
            jacobian = system.jacobian(state)
            found.append((system.accelerations(state, tau=tau), jacobian @ system.derivatives(state, tau=tau)))
        for one, other in zip(*found, strict=True):
            assert other == pytest.approx(one, abs=1e-10 * np.abs(one).max())

    def test_jumps(self, spokes):
        system = lw.compile(wheel(spokes))
        state = system.assemble(u={"axle": 1.0, "h0": -0.7, "h2": 0.4})
        held = speed_number(system, "h1")
        jump = entered(system, system.by_joint(state.q), system.by_joint(state.u)).jump({held: -state["h1.u"]})
        oracle = ImpulseOracle(system.mechanism, poses_at(system, state.q), held=[("h1", 0, 0.0)])
        expected = oracle.jump(velocities_at(system, state.q, state.u))
        wanted = np.array([expected.u[name] for name in system.joint_names])
        found = jump.after[[speed_number(system, name) for name in system.joint_names]]
        assert found == pytest.approx(wanted, abs=1e-11 * np.abs(wanted).max())
