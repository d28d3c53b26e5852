"""Mechanisms for gradients through steps of fixed size, and their sensitivities carried forward step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

import linkwork as lw
from linkwork.core.native import Stage

from .array_functions import driven, motorised
from .cases import four_bar
from .differences import offsets
from .joint_types import plunger, skater
from .poses import Array
from .random_mechanisms import random_tree, tree_or_loop


def gripper() -> lw.Mechanism:
    """Two fingers on four-bars, whose cranks a gear couples, with springs in the couplers and a motor on one crank."""
    mech = lw.Mechanism("two fingers")
    for side, y in (("left", 0.0), ("right", -0.2)):
        for name, length in (("crank", 0.1), ("finger", 0.12), ("follower", 0.1)):
            inertia = lw.inertia.rod(0.2, length)
            mech.add_body(f"{side}_{name}", mass=0.2, com=(length / 2, 0, 0), inertia=inertia)
        axis = lw.Revolute((0, 1, 0))
        mech.add_joint(f"{side}_A", axis, "ground", f"{side}_crank", parent_frame=lw.Frame((0, y, 0)))
        tip = lw.Frame((0.1, 0, 0))
        mech.add_joint(f"{side}_B", axis, f"{side}_crank", f"{side}_finger", parent_frame=tip)
        foot = lw.Frame((0.05, y, 0.02))
        mech.add_joint(f"{side}_C", axis, "ground", f"{side}_follower", parent_frame=foot)
        end = lw.Frame((0.055, 0, 0))
        mech.add_joint(f"{side}_D", axis, f"{side}_finger", f"{side}_follower", parent_frame=end, child_frame=tip)
        mech.add_force(lw.SpringDamper(f"{side}_B", stiffness=0.3, damping=0.002, free=0.2))
    mech.add_coupling("gear", {"left_A": 1.0, "right_A": -1.0}, offset=2.0)
    mech.start(q={"left_A": 1.0, "right_A": -1.0})
    return mech


def balls() -> lw.Mechanism:
    """A tree with quaternions."""
    kinds = ("revolute", "spherical", "free")
    return random_tree(np.random.default_rng(4), 4, kinds, springs=1).mechanism


class Rolled(NamedTuple):
    """A mechanism, and parameters of it."""

    make: Callable[[], lw.Mechanism]
    parameters: tuple[str, ...]


CASES = {
    "four_bar": Rolled(lambda: four_bar().mechanism, ("coupler.mass", "crank.com", "B.parent_frame.position[1]")),
    "gripper": Rolled(gripper, ("left_finger.mass", "left_B.stiffness", "left_B.free")),
    "balls": Rolled(balls, ("b2.mass", "b3.com")),
    "motor": Rolled(motorised, ("motor.resistance", "C.damping", "coupler.inertia")),
    "driven": Rolled(driven, ("rod.mass", "gravity")),
    "cut_ball": Rolled(lambda: skater("S"), ()),
    "cut_cardan": Rolled(lambda: plunger("U"), ()),
    "spatial": Rolled(lambda: tree_or_loop("spatial_7R_springs").mechanism, ("b1.mass",)),
    "platform": Rolled(lambda: tree_or_loop("three_planar_legs").mechanism, ("b2.com",)),
    "moving": Rolled(lambda: tree_or_loop("sprung_moving_slider_crank").mechanism, ("p1.stiffness", "b3.mass")),
}


def forward(
    model: lw.Model, state: lw.State, x: Array, loads: Array, step: float, names: Sequence[str]
) -> tuple[Array, Array]:
    """States (steps + 1, n) of the classical method, and their derivatives by the start, loads and parameters.

    The kernels' derivatives of the rates, by complex steps at each stage, carry them from step to step.
    """
    block, numbering = model.block(), model.numbering
    block.count_revolutions(model.arguments.turns(state))
    n, n_loads = x.size, loads.shape[1]
    first = model.fields["qdot"].first
    rates = np.arange(first, first + n).astype(np.uint32)
    states = offsets(block, "q", "u", "element_state")
    own = [model.column(name) for name in names]
    parameters = np.concatenate([np.empty(0), *(np.arange(c.first, c.first + c.count) for c in own)])
    tau = offsets(block, "tau")[:1] + np.arange(n_loads)
    knowns = np.concatenate([states, tau, parameters]).astype(np.uint32)
    sizes = n, loads.size, parameters.size
    inputs = model.arguments.with_motions(state, model.arguments.no_loads)

    def slope(time: float, y: Array, moved: Array, k: int) -> tuple[Array, Array]:
        inputs[:n_loads] = loads[k]
        block.enter(y[: numbering.nq], y[numbering.nq :], inputs, time)
        block.evaluate(Stage.DERIVATIVES)
        value = block.reals[rates].copy()
        matrix = block.jacobian(rates, knowns)
        along = matrix[:, :n] @ moved
        along[:, n + k * n_loads : n + (k + 1) * n_loads] += matrix[:, n : n + n_loads]
        along[:, n + loads.size :] += matrix[:, n + n_loads :]
        return value, along

    moved = np.eye(n, sum(sizes))
    found, slopes = [x], [moved]
    for k in range(len(loads)):
        time = state.time + k * step
        k1, m1 = slope(time, x, moved, k)
        k2, m2 = slope(time + step / 2, x + step / 2 * k1, moved + step / 2 * m1, k)
        k3, m3 = slope(time + step / 2, x + step / 2 * k2, moved + step / 2 * m2, k)
        k4, m4 = slope(time + step, x + step * k3, moved + step * m3, k)
        x = x + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        moved = moved + step / 6 * (m1 + 2 * m2 + 2 * m3 + m4)
        found.append(x)
        slopes.append(moved)
    return np.array(found), np.array(slopes)
