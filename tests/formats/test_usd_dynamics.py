"""Mechanisms written as USD, against dense equations that know what was written but not how it is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.formats.to_mechanism import to_mechanism
from support.maximal import Maximal
from support.moving import largest_difference, moving
from support.usd_files import UsdMechanism

pytest.importorskip("pxr")

from linkwork.formats import usd


def four_bar(rng: np.random.Generator) -> UsdMechanism:
    """A planar loop in an oblique plane, closed by a joint that is excluded from the articulation."""
    mech = UsdMechanism()
    plane = Rotation.random(rng=rng).as_matrix()
    points = [plane @ [0.0, *point] for point in ((0, 0), (0.1, 0.4), (0.6, 0.5), (0.7, 0.0))]
    for name in ("crank", "coupler", "rocker"):
        mech.body(rng, name)
    ends = [(None, "crank"), ("crank", "coupler"), ("coupler", "rocker"), (None, "rocker")]
    for name, (body0, body1), point in zip("ABCD", ends, points, strict=True):
        inner = "uniform bool physics:excludeFromArticulation = true" if name == "D" else ""
        mech.joint(name, "Revolute", body0, body1, point, plane, inner)
    return mech


def nested_loops(rng: np.random.Generator) -> UsdMechanism:
    """Loops in loops with one degree of freedom: hinges, slides, balls, and joints of chosen freedoms."""
    mech = UsdMechanism()
    names = ("base", "driver", "link1", "slider", "link2", "link3", "cart", "cartlink", "effector", "clevis")
    for name in names:
        mech.body(rng, name)
    for name, kind, body0, body1 in (
        ("root", "Fixed", None, "base"),
        ("motor", "Revolute", "base", "driver"),
        ("link1_1", "Spherical", "driver", "link1"),
        ("link1_2", "universal", "link1", "slider"),
        ("link2_1", "Spherical", "slider", "link2"),
        ("link2_2", "Revolute", "clevis", "link2"),
        ("link3_1", "universal", "slider", "link3"),
        ("link3_2", "Spherical", "link3", "cartlink"),
        ("base_slider", "cylindrical", "base", "slider"),
        ("base_clevis", "Revolute", "base", "clevis"),
        ("base_cart", "Prismatic", "base", "cart"),
        ("cart_cartlink", "Fixed", "cart", "cartlink"),
        ("cartlink_effector", "Spherical", "cartlink", "effector"),
        ("driver_effector", "cartesian", "driver", "effector"),
    ):
        mech.joint(name, kind, body0, body1, rng.uniform(-0.5, 0.5, 3), Rotation.random(rng=rng).as_matrix())
    return mech


def floating_pair(rng: np.random.Generator) -> UsdMechanism:
    """Two bodies that float, and slide on each other."""
    mech = UsdMechanism()
    mech.body(rng, "one")
    mech.body(rng, "two")
    mech.joint("plane", "planar", "one", "two", rng.uniform(-0.5, 0.5, 3), Rotation.random(rng=rng).as_matrix())
    return mech


def system_of(mech: UsdMechanism, model: lw.Model, state: lw.State, gravity: np.ndarray, exact: bool) -> Maximal:
    bodies = {
        name: moving(
            model,
            state,
            name,
            float(np.float32(body.mass)),
            np.float32(body.com).astype(float),
            body.inertia,
        )
        for name, body in mech.bodies.items()
    }
    system = Maximal(bodies, gravity)
    for joint in mech.joints:
        joint.bind(system, exact)
    return system


@pytest.mark.parametrize("make", [four_bar, nested_loops, floating_pair])
@pytest.mark.parametrize("seed", [1, 2])
def test_accelerations(tmp_path: Path, make, seed: int) -> None:
    rng = np.random.default_rng(seed)
    written = make(rng)
    path = tmp_path / "mechanism.usda"
    path.write_text(written.text('metersPerUnit = 1\nupAxis = "Z"'))
    mech = to_mechanism(usd.read(path), merge_fixed=False)
    model = lw.compile(mech)
    for _ in range(4):
        tree = [name for name, at in model.numbering.u.items() if at.start < at.stop <= model.numbering.nu]
        speeds = {name: rng.uniform(-1, 1, mech.joints[name].kind.nu) for name in tree}
        state = model.assemble(u={name: value if len(value) > 1 else value[0] for name, value in speeds.items()})
        system = system_of(written, model, state, np.array(mech.gravity), make is four_bar)
        # The axes of the planar loop are exactly parallel again; in the file they are in single precision.
        limit = 1e-5 if make is four_bar else 1e-9
        assert system.residual() < limit / 10
        assert system.residual_rate() < limit
        assert largest_difference(model, state, system, {name: name for name in written.bodies}) < limit
