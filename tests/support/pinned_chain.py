"""A planar chain whose links are pinned to others and released again, and its jumps by one dense matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import linkwork as lw

Z, POINT = (0, 0, 1), np.array([0.4, 0.3])
MASS, INERTIA = 1.2, 0.2


@dataclass
class PinnedChain:
    """Links of length 1 on hinges along z, the first on the ground; `pins` four-bars that may be closed.

    Neighbouring four-bars share a hinge. `kick{k}` is an impulse on link k.
    """

    links: int
    pins: int
    kicks: tuple[int, ...] = ()

    def ends(self, pin: int) -> tuple[int, int]:
        """Links that a pin joins, -1 the ground."""
        inner = min(2 * pin - 1, self.links - 4)
        return inner, inner + 3

    def mechanism(self) -> lw.Mechanism:
        mech = lw.Mechanism("chain")
        for k in range(self.links):
            mech.add_body(f"link{k}", mass=MASS, com=(0.5, 0, 0), inertia=np.diag([0.1, INERTIA, INERTIA]))
            frame = lw.Frame((1.0 if k else 0.0, 0, 0))
            mech.add_joint(f"J{k}", lw.Revolute(Z), name_of(k - 1), f"link{k}", parent_frame=frame)
        for k in range(self.pins):
            inner, outer = map(name_of, self.ends(k))
            pin = lw.Pin(inner, outer, lw.Revolute(Z), child_frame=lw.Frame((*POINT, 0)))
            mech.add_transition(f"pin{k}", pin, when=lw.Command())
            mech.add_transition(f"free{k}", lw.Release(f"pin{k}"), when=lw.Command())
        for k in self.kicks:
            mech.add_transition(f"kick{k}", lw.Impulse(f"link{k}", force=(0.3, 1.0, 0), point=(1, 0, 0)), when=lw.Command())
        return mech

    def start(self, seed: int) -> dict[str, float]:
        """Angles of a crooked pose."""
        rng = np.random.default_rng(seed)
        return {f"J{k}": (-1) ** k * rng.uniform(0.5, 1.1) for k in range(self.links)}

    def after(self, q: Any, u: Any, closed: set[int], kicks: tuple[int, ...]) -> Any:
        """Speeds of the hinges after impulses, with these pins closed: momentum balance of all links at once."""
        n = self.links
        turn = np.cumsum(q)
        along = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)

        def rows(link: int, point: Any) -> Any:
            """(2, n) of the velocity of a point of a link by the links' angular velocities."""
            found = np.zeros((2, n))
            if link >= 0:
                found[:, :link] = across[:link].T
                found[:, link] = point[0] * across[link] - point[1] * along[link]
            return found

        def inner_point(inner: int, outer: int) -> Any:
            """The point of a pin in its inner body, in which the world's axes serve for the ground."""
            way = along[max(inner, 0) : outer].sum(axis=0) + POINT[0] * along[outer] + POINT[1] * across[outer]
            return np.array([way @ along[inner], way @ across[inner]]) if inner >= 0 else way

        mass = np.diag(np.full(n, INERTIA))
        for k in range(n):
            com = rows(k, (0.5, 0.0))
            mass += MASS * com.T @ com
        applied = np.zeros(n)
        for k in kicks:
            applied += rows(k, (1.0, 0.0)).T @ np.array([0.3, 1.0])
        before = np.cumsum(u)
        held = [rows(outer, POINT) - rows(inner, inner_point(inner, outer)) for inner, outer in map(self.ends, sorted(closed))]
        J = np.concatenate(held) if held else np.zeros((0, n))
        free = before + np.linalg.solve(mass, applied)
        by_rows = np.linalg.solve(mass, J.T)
        turning = free - by_rows @ np.linalg.solve(J @ by_rows, J @ free)
        return np.diff(turning, prepend=0.0)


def name_of(link: int) -> str:
    return f"link{link}" if link >= 0 else "ground"
