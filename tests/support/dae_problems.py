"""Differential-algebraic problems with known solutions, from their equations of motion, with exact Jacobians."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.solvers import Implicit, Problem

from .poses import Array
from .published import facts

TINY = 1e-40
Residual = Callable[[float, Array, Array], Array]


def complex_step(residual: Residual) -> Callable[[float, Array, Array, float], Array]:
    """dF/dy + cj dF/dy' of a residual that takes complex numbers, to rounding."""

    def jacobian(t: float, y: Array, ydot: Array, cj: float) -> Array:
        steps = 1j * TINY * np.eye(y.size)
        return np.array([residual(t, y + step, ydot + cj * step).imag / TINY for step in steps]).T

    return jacobian


def robertson(jacobian: bool = True, **options: Any) -> Problem:
    """Three reactions whose rates differ by 1e9; the third state follows from the sum."""

    def residual(t: float, y: Array, ydot: Array) -> Array:
        slow, fast, faster = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return np.array([ydot[0] + slow - fast, ydot[1] - slow + fast + faster, y.sum() - 1.0])

    implicit = Implicit(residual, complex_step(residual) if jacobian else None)
    return Problem(lambda t, y: np.array([-0.04, 0.04, 0.0]), 0.0, [1.0, 0.0, 0.0], implicit=implicit, **options)


@dataclass
class Constrained:
    """M v' = force(t, q, v) + G^T lam with q' = v and g(t, q) = 0; all functions take complex numbers.

    `rate` is dg/dt = G v + dg/dt|q and `gradient` is G, (m, n).
    """

    mass: Array
    force: Callable[[Any, Array, Array], Array]
    constraint: Callable[[Any, Array], Array]
    rate: Callable[[Any, Array, Array], Array]
    gradient: Callable[[Any, Array], Array]
    q: Array
    v: Array
    sizes: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.sizes = self.q.size, self.constraint(0.0, self.q).size

    def accelerations(self, t: float, q: Array, v: Array) -> tuple[Array, Array]:
        """v' and lam, from the second derivative of the constraints."""
        n, m = self.sizes
        gradient = self.gradient(t, q)
        rest = self.rate(t + 1j * TINY, q + 1j * TINY * v, v).imag / TINY
        matrix = np.block([[np.diag(self.mass), -gradient.T], [gradient, np.zeros((m, m))]])
        solution = np.linalg.solve(matrix, np.concatenate([self.force(t, q, v), -rest]))
        return solution[:n], solution[n:]

    def index_1(self, jacobian: bool = True, **options: Any) -> Problem:
        """Gear, Gupta and Leimkuhler's form with the integrals of both multipliers: states (q, v, Lam, Mu)."""
        n, m = self.sizes

        def residual(t: float, y: Array, ydot: Array) -> Array:
            q, v = y[:n], y[n : 2 * n]
            lam, mu = ydot[2 * n : 2 * n + m], ydot[2 * n + m :]
            gradient = self.gradient(t, q)
            motion = self.mass * ydot[n : 2 * n] - self.force(t, q, v) - gradient.T @ lam
            return np.concatenate([ydot[:n] - v - gradient.T @ mu, motion, self.constraint(t, q), self.rate(t, q, v)])

        def derivative(t: float, y: Array) -> Array:
            vdot, lam = self.accelerations(t, y[:n], y[n : 2 * n])
            return np.concatenate([y[n : 2 * n], vdot, lam, np.zeros(m)])

        implicit = Implicit(residual, complex_step(residual) if jacobian else None)
        return Problem(derivative, 0.0, np.concatenate([self.q, self.v, np.zeros(2 * m)]), implicit=implicit, **options)

    def index_3(self, jacobian: bool = True, *, suppress_v: bool = True, **options: Any) -> Problem:
        """The equations as they stand, states (q, v, lam); lam is out of the error test, and v if asked for."""
        n, m = self.sizes

        def residual(t: float, y: Array, ydot: Array) -> Array:
            q, v, lam = y[:n], y[n : 2 * n], y[2 * n :]
            motion = self.mass * ydot[n : 2 * n] - self.force(t, q, v) - self.gradient(t, q).T @ lam
            return np.concatenate([ydot[:n] - v, motion, self.constraint(t, q)])

        def derivative(t: float, y: Array) -> Array:
            return np.concatenate([y[n : 2 * n], self.accelerations(t, y[:n], y[n : 2 * n])[0], np.zeros(m)])

        algebraic = np.arange(2 * n + m) >= (n if suppress_v else 2 * n)
        implicit = Implicit(residual, complex_step(residual) if jacobian else None, algebraic=algebraic)
        lam = self.accelerations(0.0, self.q, self.v)[1]
        return Problem(derivative, 0.0, np.concatenate([self.q, self.v, lam]), implicit=implicit, **options)


def pendulum(g: float = 9.81, x: float = 1.0) -> Constrained:
    """Unit mass on a unit rod, y upwards, released at (x, -sqrt(1 - x^2))."""
    return Constrained(
        np.ones(2),
        lambda t, q, v: np.array([0.0, -g]),
        lambda t, q: np.array([q @ q - 1.0]) / 2.0,
        lambda t, q, v: np.array([q @ v]),
        lambda t, q: q[np.newaxis],
        np.array([x, -np.sqrt(1.0 - x * x)]),
        np.zeros(2),
    )


def car_axis() -> Constrained:
    """Two wheels, the left one at the origin, on springs under an axle; the right one rolls over a bumpy road."""
    given = facts("car_axis")
    p, y0 = given["parameters"], given["y0"]
    inertia, rest, length, pace = p["M"] * p["eps"] ** 2 / 2.0, p["L0"], p["L"], p["omega"]

    def road(t: Any) -> tuple[Any, Any, Any, Any]:
        y, ydot = p["r"] * np.sin(pace * t), p["r"] * pace * np.cos(pace * t)
        x = np.sqrt(length**2 - y * y)
        return x, y, -y * ydot / x, ydot

    def spring(d: Array) -> Array:
        size = np.sqrt(d @ d)
        return (rest - size) / size * d

    def force(t: Any, q: Array, v: Array) -> Array:
        weight = np.array([0.0, inertia * p["g"]])
        wheel = np.array(road(t)[:2])
        return np.concatenate([spring(q[:2]) - weight, spring(q[2:] - wheel) - weight])

    def constraint(t: Any, q: Array) -> Array:
        across = q[:2] - q[2:]
        return np.array([np.array(road(t)[:2]) @ q[:2], across @ across - length**2])

    def rate(t: Any, q: Array, v: Array) -> Array:
        x, y, xdot, ydot = road(t)
        first = np.array([xdot, ydot]) @ q[:2] + np.array([x, y]) @ v[:2]
        return np.array([first, 2.0 * (q[:2] - q[2:]) @ (v[:2] - v[2:])])

    def gradient(t: Any, q: Array) -> Array:
        across = 2.0 * (q[:2] - q[2:])
        return np.array([[*road(t)[:2], 0.0, 0.0], [*across, *-across]])

    start = [np.array([y0[name] for name in names.split()], dtype=float) for names in ("xl yl xr yr", "ul vl ur vr")]
    return Constrained(np.full(4, inertia), force, constraint, rate, gradient, *start)


def slider_crank() -> Constrained:
    """Coordinates (q, x, p): crank angle, slider, rod angle; a spring and damper between the midpoints of both bars."""
    given = facts("ida_slider_crank")
    p, start = given["parameters"], given["initial"]
    a = p["a"]

    def force(t: Any, q: Array, v: Array) -> Array:
        crank, x, rod = q
        d = np.array([x - np.cos(rod) / 2.0 - a / 2.0 * np.cos(crank), -np.sin(rod) / 2.0 - a / 2.0 * np.sin(crank)])
        along = np.array(
            [[a / 2.0 * np.sin(crank), 1.0, np.sin(rod) / 2.0], [-a / 2.0 * np.cos(crank), 0.0, -np.cos(rod) / 2.0]]
        )
        size = np.sqrt(d @ d)
        gradient = d @ along / size
        pull = p["k"] * (size - p["l0"]) + p["c"] * (gradient @ v)
        return np.array([0.0, p["F"], -p["F"] * np.sin(rod)]) - pull * gradient

    def gradient(t: Any, q: Array) -> Array:
        crank, _, rod = q
        return np.array([[a * np.sin(crank), 1.0, np.sin(rod)], [-a * np.cos(crank), 0.0, -np.cos(rod)]])

    return Constrained(
        np.array([p["J1"], p["m2"], p["J2"]]),
        force,
        lambda t, q: np.array([q[1] - np.cos(q[2]) - a * np.cos(q[0]), -np.sin(q[2]) - a * np.sin(q[0])]),
        lambda t, q, v: gradient(t, q) @ v,
        gradient,
        np.array([start[name] for name in ("q", "x", "p")]),
        np.array([start[name] for name in ("qd", "xd", "pd")]),
    )
