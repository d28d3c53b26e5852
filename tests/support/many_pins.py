"""A planar chain whose links are pinned to others and released again, and its jumps by one dense matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import linkwork as lw

Z = (0, 0, 1)
PIN, TIP, KICK = np.array([0.4, 0.3]), np.array([1.0, 0.0]), np.array([0.3, 1.0])
MASS, INERTIA = 1.2, 0.2


@dataclass(frozen=True)
class ManyPins:
    """Links of length 1 on hinges along z, the first on the ground, and four-bars that pins close.

    Neighbouring four-bars share a hinge. The transitions are `pin{k}`, `free{k}`, and `kick`: an impulse on every
    twentieth link, so that all links move.
    """

    links: int
    pins: int

    def ends(self, pin: int) -> tuple[int, int]:
        """Links that a pin joins, -1 the ground."""
        inner = min(2 * pin - 1, self.links - 4)
        return inner, inner + 3

    @property
    def kicked(self) -> range:
        return range(self.links - 1, -1, -20)

    def mechanism(self, times: Mapping[str, float] | None = None) -> lw.Mechanism:
        """Transitions have a time, or else a command; the chain falls along -y."""
        mech = lw.Mechanism("chain", gravity=(0, -9.81, 0))

        def add(name: str, action: Any) -> None:
            at = (times or {}).get(name)
            mech.add_transition(name, action, lw.Command() if at is None else lw.Time(at))

        for k in range(self.links):
            mech.add_body(f"link{k}", mass=MASS, com=(0.5, 0, 0), inertia=np.diag([0.1, INERTIA, INERTIA]))
            frame = lw.Frame((1, 0, 0) if k else (0, 0, 0))
            mech.add_joint(f"J{k}", lw.Revolute(Z), name_of(k - 1), f"link{k}", parent_frame=frame)
        for k in range(self.pins):
            inner, outer = map(name_of, self.ends(k))
            add(f"pin{k}", lw.Pin(inner, outer, lw.Revolute(Z), child_frame=lw.Frame((*PIN, 0))))
            add(f"free{k}", lw.Release(f"pin{k}"))
        for k in self.kicked:
            add(f"kick{k}", lw.Impulse(f"link{k}", force=(*KICK, 0), point=(*TIP, 0)))
        return mech

    @property
    def kick(self) -> list[str]:
        return [f"kick{k}" for k in self.kicked]

    def start(self, seed: int) -> dict[str, float]:
        """Angles of a crooked pose."""
        rng = np.random.default_rng(seed)
        return {f"J{k}": (-1) ** k * rng.uniform(0.5, 1.1) for k in range(self.links)}

    def kicked_speeds(self, q: Any, u: Any, closed: Iterable[int]) -> Any:
        """Speeds of the hinges after the kick, with these pins closed: momentum of all links and pins at once.

        The unknowns are the angular velocities of the links in the world.
        """
        n, turn = self.links, np.cumsum(q)
        along = np.stack([np.cos(turn), np.sin(turn)], axis=1)
        across = np.stack([-along[:, 1], along[:, 0]], axis=1)

        def rows(link: int, point: Any) -> Any:
            """(2, n) of the velocity of a point of a link."""
            found = np.zeros((2, n))
            if link >= 0:
                found[:, :link] = across[:link].T
                found[:, link] = point[0] * across[link] - point[1] * along[link]
            return found

        def held(inner: int, outer: int) -> Any:
            """Of the distance between the ends of a pin; its point in the inner body is found from the outer one's."""
            way = along[max(inner, 0) : outer].sum(axis=0) + PIN[0] * along[outer] + PIN[1] * across[outer]
            point = np.array([way @ along[inner], way @ across[inner]])
            return rows(outer, PIN) - rows(inner, point)

        com = np.array([rows(k, 0.5 * TIP) for k in range(n)])
        mass = INERTIA * np.eye(n) + MASS * np.tensordot(com, com, ((0, 1), (0, 1)))
        applied = sum(rows(k, TIP).T @ KICK for k in self.kicked)
        J = np.concatenate([np.zeros((0, n)), *(held(*self.ends(k)) for k in closed)])
        solved = np.linalg.solve(mass, np.column_stack([applied, J.T]))
        free = np.cumsum(u) + solved[:, 0]
        turning = free - solved[:, 1:] @ np.linalg.solve(J @ solved[:, 1:], J @ free)
        return np.diff(turning, prepend=0.0)


def name_of(link: int) -> str:
    return f"link{link}" if link >= 0 else "ground"
