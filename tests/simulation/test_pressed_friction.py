"""Dry friction by the joint's own reaction, against dense equations with all multipliers, closed forms and SciPy.

The reference of planar mechanisms keeps x, y and the angle of every body and both forces of every pin: M a = Q + J'l,
J a = g, and a moment -s mu r |l_i| between the bodies of pin i, solved by SciPy for all unknowns at once.
"""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root

import linkwork as lw
from linkwork.errors import LinkworkError, MechanismError
from support.cases import four_bar

NAMES = "ABCD"


class PlanarFourBar:
    """The four-bar of support.cases in its plane, x and z, with angles about y: axes (c, -s) and (s, c) of a bar."""

    mass = np.array([1.0, 2.0, 1.5])
    length = np.array([0.4, 1.0, 0.8])
    axial = np.array([2e-4, 4e-4, 3e-4])
    aside = (0.0, 0.05, 0.0)
    pins = (  # body and place along it, -1: the ground with x
        ((-1, 0.0), (0, 0.0)),
        ((0, 0.4), (1, 0.0)),
        ((1, 1.0), (2, 0.0)),
        ((-1, 1.1), (2, 0.8)),
    )

    def __init__(self, q: dict[str, float], u: dict[str, float]) -> None:
        self.angle = np.cumsum([q[name] for name in "ABC"])
        self.rate = np.cumsum([u[name] for name in "ABC"])
        self.inertia = self.mass * self.length**2 / 12 + self.axial / 2
        self.slip = np.array([u["A"], u["B"], u["C"], self.rate[2]])
        self.M = np.diag([value for k in range(3) for value in (self.mass[k], self.mass[k], self.inertia[k])])
        self.Q = np.array([value for k in range(3) for value in (0.0, -9.81 * self.mass[k], 0.0)])
        self.J, self.g = np.zeros((8, 9)), np.zeros(8)
        for i, pin in enumerate(self.pins):
            for sign, (body, along) in zip((-1.0, 1.0), pin, strict=True):
                if body < 0:
                    continue
                d, up = along - self.length[body] / 2, -self.aside[body]
                c, s, w = math.cos(self.angle[body]), math.sin(self.angle[body]), self.rate[body]
                arm = np.array([d * c + up * s, -d * s + up * c])
                self.J[2 * i : 2 * i + 2, 3 * body : 3 * body + 2] += sign * np.eye(2)
                self.J[2 * i : 2 * i + 2, 3 * body + 2] += sign * np.array([arm[1], -arm[0]])
                self.g[2 * i : 2 * i + 2] += sign * w**2 * arm
        self.turn = np.zeros((9, 4))
        for i, pin in enumerate(self.pins):
            for sign, (body, _) in zip((-1.0, 1.0), pin, strict=True):
                if body >= 0:
                    self.turn[3 * body + 2, i] += sign

    def solve(self, load, stuck=()) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Angular accelerations of the pins, their forces' sizes, and moments, for moments by `load(sizes)`."""
        stuck = list(stuck)
        G = self.turn[:, stuck].T
        n = len(stuck)

        def equations(x):
            a, force, hold = x[:9], x[9:17], x[17:]
            size = np.hypot(force[::2], force[1::2])
            moment = load(size)
            moment[stuck] = 0.0
            return np.concatenate(
                [
                    self.M @ a - self.Q - self.J.T @ force - self.turn @ moment - G.T @ hold,
                    self.J @ a - self.g,
                    G @ a,
                ]
            )

        K = np.block(
            [
                [self.M, -self.J.T, -G.T],
                [self.J, np.zeros((8, 8 + n))],
                [G, np.zeros((n, 8 + n))],
            ]
        )
        start = np.linalg.lstsq(K, np.concatenate([self.Q, self.g, np.zeros(n)]), rcond=None)[0]
        if n <= 1:
            found = root(equations, start, tol=1e-14, method="hybr")
            x = found.x
            for _ in range(30):  # the last digits: moments follow the forces
                size = np.hypot(x[9:17:2], x[10:17:2])
                moment = load(size)
                moment[stuck] = 0.0
                x = np.linalg.solve(K, np.concatenate([self.Q + self.turn @ moment, self.g, np.zeros(n)]))
            assert np.abs(equations(x)).max() < 1e-9
        else:
            x = start
        size = np.hypot(x[9:17:2], x[10:17:2])
        moment = load(size)
        moment[stuck] = x[17:]
        return self.turn.T @ x[:9], size, moment


def pressed_four_bar(mu: float, radius: float, **more) -> lw.Mechanism:
    mech = four_bar().mechanism.copy()
    for name in NAMES:
        mech.add_force(lw.Friction(name, mu=mu, radius=radius, name=f"f_{name}", **more))
    return mech


def random_state(model: lw.Model, rng: np.random.Generator) -> lw.State:
    return model.assemble(q={"A": rng.uniform(-3.1, 3.1), "B": rng.uniform(0, 1)}, u={"A": rng.normal() * 5})


@pytest.mark.parametrize("method", ["rcr", "embedding", "multipliers", "dca"])
def test_accelerations_of_a_four_bar(method):
    """At random states, with all hinges slipping: accelerations, pressing forces and loads."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        mu, radius = rng.uniform(0.05, 0.4), rng.uniform(0.005, 0.05)
        more = {"coulomb": 0.1, "viscous": 0.02, "static": 0.2, "static_mu": 0.6, "stribeck": 2.0}
        model = lw.compile(pressed_four_bar(mu, radius, **more), method=method)
        state = random_state(model, rng)
        q, u = ({name: state[f"{name}.{what}"] for name in NAMES} for what in "qu")
        plane = PlanarFourBar(q, u)
        weight = np.exp(-((plane.slip / 2.0) ** 2))

        def load(size, mu=mu, radius=radius, plane=plane, weight=weight):
            slides, most = 0.1 + mu * radius * size, 0.2 + 0.6 * radius * size
            return -np.sign(plane.slip) * (slides + (most - slides) * weight) - 0.02 * plane.slip

        a, size, moment = plane.solve(load)
        found = model.accelerations(state)
        assert found == pytest.approx(a[:3], abs=1e-9 * np.abs(a).max())
        assert [state[f"f_{name}.pressing"] for name in NAMES] == pytest.approx(size, rel=1e-9)
        assert [state[f"f_{name}.force"] for name in NAMES] == pytest.approx(moment, rel=1e-9, abs=1e-12)
        for name in NAMES:
            F = state[f"{name}.reaction.force"] if f"{name}.reaction.force" in model.variables else None
            if F is not None:
                N = math.hypot(F[0], F[2])
                assert state[f"f_{name}.pressing"] == pytest.approx(N, rel=1e-10)
