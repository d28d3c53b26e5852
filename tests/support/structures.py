"""Small mechanisms in which little or nothing can move."""

import numpy as np

import linkwork as lw

HINGE = lw.Revolute((0, 1, 0))


def _body(mech: lw.Mechanism, *names: str) -> None:
    for name in names:
        mech.add_body(name, mass=1.0, com=(0.2, 0, 0), inertia=lw.inertia.sphere(1.0, 0.2))


def pendulum() -> lw.Mechanism:
    mech = lw.Mechanism("pendulum")
    _body(mech, "arm")
    mech.add_joint("A", HINGE, "ground", "arm", at=(0, 0, 0))
    return mech


def triangle() -> lw.Mechanism:
    """Two bars between three hinges."""
    mech = lw.Mechanism("triangle")
    _body(mech, "a", "b")
    mech.add_joint("A", HINGE, "ground", "a", at=(0, 0, 0))
    mech.add_joint("B", HINGE, "a", "b", at=(1, 0, 1))
    mech.add_joint("C", HINGE, "b", "ground", at=(2, 0, 0))
    return mech


def braced_four_bar() -> lw.Mechanism:
    """A planar four-bar and a second coupler, across it."""
    mech = lw.Mechanism("braced")
    _body(mech, "crank", "coupler", "rocker", "brace")
    mech.add_joint("A", HINGE, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", HINGE, "crank", "coupler", at=(0, 0, 1))
    mech.add_joint("C", HINGE, "coupler", "rocker", at=(2, 0, 1.2))
    mech.add_joint("D", HINGE, "ground", "rocker", at=(2, 0, 0))
    mech.add_joint("E", HINGE, "crank", "brace", at=(0, 0, 0.6))
    mech.add_joint("F", HINGE, "brace", "rocker", at=(2, 0, 0.4))
    return mech


def spatial_ring(joints: int, seed: int = 1) -> lw.Mechanism:
    """One loop of hinges about axes in general position: up to six of them leave it no degree of freedom."""
    rng = np.random.default_rng(seed)
    mech = lw.Mechanism(f"ring_{joints}")
    bodies = [f"b{i}" for i in range(joints - 1)]
    _body(mech, *bodies)
    ends = ["ground", *bodies, "ground"]
    for i in range(joints):
        hinge, at = lw.Revolute(rng.normal(size=3)), rng.normal(size=3)
        mech.add_joint(f"J{i}", hinge, ends[i], ends[i + 1], at=at)
    return mech


def locked_gears() -> lw.Mechanism:
    """Two wheels on a gear, of which one is held."""
    mech = lw.Mechanism("gears")
    _body(mech, "a", "b")
    mech.add_joint("A", HINGE, "ground", "a", at=(0, 0, 0))
    mech.add_joint("B", HINGE, "ground", "b", at=(1, 0, 0))
    mech.add_coupling("gear", {"A": 1.0, "B": -2.0})
    mech.add_coupling("brake", {"B": 1.0}, offset=0.3)
    return mech


def flat_parallelogram(rates: dict[str, float] | None = None) -> lw.Mechanism:
    """Three equal bars and ground in one line, where parallelogram and antiparallelogram branches intersect."""
    mech = lw.Mechanism("flat")
    for name in "abc":
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    tip = lw.Frame((1, 0, 0))
    mech.add_joint("A", HINGE, "ground", "a", parent_frame=lw.Frame())
    mech.add_joint("B", HINGE, "a", "b", parent_frame=tip)
    mech.add_joint("C", HINGE, "b", "c", parent_frame=tip)
    mech.add_joint("D", HINGE, "c", "ground", parent_frame=tip, child_frame=tip, cut=True)
    mech.start(q={"A": 0.0, "B": 0.0, "C": np.pi}, u=rates)
    return mech
