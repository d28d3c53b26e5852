"""Curves through given points for joints along paths: quintic splines, counted by the length along them.

A spline is of degree five between two points, with four continuous derivatives, over the sum of the distances between
them. A closed one is periodic; an open one has no curvature and no rate of curvature at its ends, beyond which it is
straight. Its pieces are split until Gauss's rule of eight points gives their lengths to rounding, by which the core
finds the place that has a length (csrc/math/path_kernel.h).
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray

MOST_POINTS = 500
SAMPLES = 8  # of a piece
_LENGTH = 3e-15  # relative: to what lengths of pieces are exact
_MOST_HALVINGS = 12
_PLACE, _WEIGHT = np.polynomial.legendre.leggauss(8)


class PathFrame(NamedTuple):
    """A place on a path: position (3,), frame (3, 3), x along the tangent, and the rotation (3,) of it per m."""

    position: FloatArray
    frame: FloatArray
    rotation: FloatArray
    curvature: FloatArray


class Path:
    """A curve through points (n, 3), z of the axes in which they are given as the axis of its frames."""

    def __init__(self, points: FloatArray, *, closed: bool) -> None:
        self.closed = closed
        knots = np.vstack([points, points[:1]]) if closed else points
        sizes = np.linalg.norm(np.diff(knots, axis=0), axis=1)
        pieces = [
            half
            for size, piece in zip(sizes, _spline(knots, sizes, closed), strict=True)
            for half in _split(size, piece)
        ]
        self.sizes = np.array([size for size, _ in pieces])
        self.coefficients = np.array([piece for _, piece in pieces])  # (pieces, 6, 3)
        lengths = _lengths(self.sizes, self.coefficients)
        self.starts = np.concatenate([[0.0], np.cumsum(lengths)])
        self.length = float(self.starts[-1])

    @property
    def numbers(self) -> FloatArray:
        """The numbers of the path as the core takes them."""
        rows = np.column_stack([self.starts[:-1], self.sizes, self.coefficients.reshape(len(self.sizes), -1)])
        return np.concatenate([[len(self.sizes), self.closed, self.length], rows.ravel()])

    @cached_property
    def samples(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Lengths (n,), points (n, 3) and tangents (n, 3) of places on all pieces, the ends included."""
        share = np.arange(SAMPLES) / SAMPLES
        a = np.append(np.multiply.outer(self.sizes, share).ravel(), self.sizes[-1])
        which = np.append(np.repeat(np.arange(len(self.sizes)), SAMPLES), len(self.sizes) - 1)
        points, slopes = (_values(self.coefficients[which], a, order) for order in (0, 1))
        lengths = self.starts[which] + _lengths(a, self.coefficients[which])
        return lengths, points, slopes / np.linalg.norm(slopes, axis=1)[:, None]

    def at(self, s: float) -> PathFrame:
        """Return the place at a length."""
        if self.closed:
            s -= self.length * np.floor(s / self.length)
        within = min(max(s, 0.0), self.length)
        k = min(max(int(np.searchsorted(self.starts, within, side="right")) - 1, 0), len(self.sizes) - 1)
        size, piece = self.sizes[k], self.coefficients[k]
        along = within - self.starts[k]
        a = size * along / (self.starts[k + 1] - self.starts[k])
        for _ in range(20):
            step = (_length(a, piece) - along) / np.linalg.norm(_value(piece, a, 1))
            a -= step
            if abs(step) < 1e-15 * size:
                break
        c, c1, c2 = (_value(piece, a, order) for order in range(3))
        speed = np.linalg.norm(c1)
        t = c1 / speed
        dt = (c2 - (c2 @ t) * t) / speed**2 * (s == within)
        n = np.array([0.0, 0.0, 1.0]) - t[2] * t
        dn = -dt[2] * t - t[2] * dt
        z, size = n / np.linalg.norm(n), np.linalg.norm(n)
        dz = (dn - (dn @ z) * z) / size
        frame, rate = (
            np.column_stack([t, np.cross(z, t), z]),
            np.column_stack([dt, np.cross(dz, t) + np.cross(z, dt), dz]),
        )
        spin = rate @ frame.T
        rotation = np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]]) / 2.0
        return PathFrame(c + (s - within) * t, frame, rotation, dt)

    def nearest(self, point: FloatArray) -> float:
        """Return the length at which the path is nearest to a point."""
        lengths, points, _ = self.samples
        s = float(lengths[np.argmin(np.linalg.norm(points - point, axis=1))])
        for _ in range(60):
            here = self.at(s)
            away = here.position - point
            step = float(away @ here.frame[:, 0]) / max(1.0 + float(away @ here.curvature), 0.2)
            s -= step
            if abs(step) < 1e-14 * self.length:
                break
        return s


def _value(piece: FloatArray, a: float, order: int) -> FloatArray:
    found: FloatArray = _values(piece[None], np.array([a]), order)[0]
    return found


def _values(pieces: FloatArray, a: FloatArray, order: int) -> FloatArray:
    """Derivatives of pieces (n, 6, 3) at a (n,), (n, 3)."""
    out = np.zeros((len(pieces), 3))
    for k in range(5, order - 1, -1):
        factor = float(np.prod([k - j for j in range(order)]))
        out = out * a[:, None] + factor * pieces[:, k]
    return out


def _lengths(a: FloatArray, pieces: FloatArray) -> FloatArray:
    """Lengths (n,) of pieces (n, 6, 3) up to a (n,)."""
    at = 0.5 * np.multiply.outer(a, 1.0 + _PLACE)
    slopes = _values(np.repeat(pieces, len(_PLACE), axis=0), at.ravel(), 1)
    found: FloatArray = 0.5 * a * (np.linalg.norm(slopes, axis=1).reshape(at.shape) @ _WEIGHT)
    return found


def _length(a: float, piece: FloatArray) -> float:
    return float(_lengths(np.array([a]), piece[None])[0])


def _split(size: float, piece: FloatArray, depth: int = 0) -> list[tuple[float, FloatArray]]:
    """Return the piece, or its halves where they have another length together."""
    half = 0.5 * size
    shifted = np.array([_value(piece, half, order) for order in range(6)])
    shifted /= np.array([1.0, 1.0, 2.0, 6.0, 24.0, 120.0])[:, None]
    whole, halves = _length(size, piece), _length(half, piece) + _length(half, shifted)
    if abs(whole - halves) <= _LENGTH * whole or depth == _MOST_HALVINGS:
        return [(size, piece)]
    return _split(half, piece, depth + 1) + _split(half, shifted, depth + 1)


def _spline(points: FloatArray, sizes: FloatArray, closed: bool) -> FloatArray:
    """Return coefficients (pieces, 6, 3) of the spline, whose first four derivatives are continuous.

    Of a piece of size h with slopes d and second derivatives e at its ends:
    c3 = (10 r - 4 s + w) / h^3, c4 = (-15 r + 7 s - 2 w) / h^4, c5 = (6 r - 3 s + w) / h^5 with
    r = p1 - p0 - d0 h - e0 h^2 / 2, s = (d1 - d0 - e0 h) h, w = (e1 - e0) h^2 / 2.
    """
    pieces = len(sizes)
    knots = pieces if closed else pieces + 1
    c = np.zeros((pieces, 6, 2 * knots + pieces))  # by slopes, second derivatives, and chords
    for k, h in enumerate(sizes):
        d0, e0, d1, e1, chord = (np.zeros(c.shape[2]) for _ in range(5))
        d0[k], d1[(k + 1) % knots], e0[knots + k], e1[knots + (k + 1) % knots], chord[2 * knots + k] = (1.0,) * 5
        r, s, w = chord - d0 * h - e0 * (h * h / 2), (d1 - d0 - e0 * h) * h, (e1 - e0) * (h * h / 2)
        c[k, 1], c[k, 2] = d0, e0 / 2
        c[k, 3] = (10 * r - 4 * s + w) / h**3
        c[k, 4] = (-15 * r + 7 * s - 2 * w) / h**4
        c[k, 5] = (6 * r - 3 * s + w) / h**5
    third = 6 * c[:, 3] + 24 * c[:, 4] * sizes[:, None] + 60 * c[:, 5] * sizes[:, None] ** 2
    fourth = 24 * c[:, 4] + 120 * c[:, 5] * sizes[:, None]
    if closed:
        rows = np.concatenate([third - 6 * np.roll(c[:, 3], -1, axis=0), fourth - 24 * np.roll(c[:, 4], -1, axis=0)])
    else:
        first, last = np.zeros((2, c.shape[2]))
        first[knots], last[2 * knots - 1] = 1.0, 1.0
        ends = np.stack([first, last, 6 * c[0, 3], third[-1]])
        rows = np.concatenate([third[:-1] - 6 * c[1:, 3], fourth[:-1] - 24 * c[1:, 4], ends])
    chords = np.diff(points, axis=0)
    found = np.linalg.solve(rows[:, : 2 * knots], -rows[:, 2 * knots :] @ chords)
    coefficients = c @ np.concatenate([found, chords])
    coefficients[:, 0] = points[:-1]
    return np.asarray(coefficients)
