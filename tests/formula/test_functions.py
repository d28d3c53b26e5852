"""Functions of formulas in the core, which has its own, against those of Python."""

import math

import numpy as np
import pytest

import linkwork as lw


def values(function, *columns):
    """What the core finds for arguments x, and y."""
    mech = lw.Mechanism("functions")
    for name in ("x", "y"):
        mech.add_body(f"body_{name}", mass=1.0, com=(0, 0, 0), inertia=1e3 * np.eye(3))
        mech.add_joint(name, lw.Revolute("z"), "ground", f"body_{name}")
    mech.add_force(lw.Force("x", f"one*{function}", parameters={"one": 1.0}, name="f"))
    model = lw.compile(mech)
    rows = zip(*(column.tolist() for column in np.broadcast_arrays(*columns)), strict=True)
    return np.array([model.state(np.array([*row, 0.0])[:2], np.zeros(2))["f.force"] for row in rows])


RNG = np.random.default_rng(1)
WIDE, NEAR = RNG.uniform(-700.0, 700.0, 60), RNG.uniform(-2.0, 2.0, 60)


@pytest.mark.parametrize(
    "x", [WIDE, NEAR, np.array([0.0, -0.0, 709.7, -708.0, 1e-300, 1.0, -1.0])], ids=["wide", "near", "ends"]
)
@pytest.mark.parametrize("name", ["exp", "sinh", "cosh", "tanh"])
def test_of_any_number(name, x):
    expected = [getattr(math, name)(one) for one in x.tolist()]
    assert values(f"{name}(x.q)", x) == pytest.approx(expected, rel=1e-15, abs=0.0)


def test_logarithm():
    x = np.array([*np.exp(WIDE), *np.exp(NEAR), 1.0, 5e-324, 1.7e308])
    assert values("log(x.q)", x) == pytest.approx([math.log(one) for one in x.tolist()], rel=1e-15, abs=0.0)


def test_powers():
    x, y = np.exp(RNG.uniform(-20.0, 20.0, 80)), RNG.uniform(-30.0, 30.0, 80)
    expected = [math.pow(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert values("x.q^y.q", x, y) == pytest.approx(expected, rel=1e-15, abs=0.0)


def test_where_nothing_is_left():
    assert values("exp(x.q)", np.array([-800.0, -1e300])).tolist() == [0.0, 0.0]
    assert values("tanh(x.q)", np.array([40.0, -1e300])).tolist() == [1.0, -1.0]
    assert values("x.q^y.q", np.array([0.0, 2.0]), np.array([0.5, -2000.0])).tolist() == [0.0, 0.0]
