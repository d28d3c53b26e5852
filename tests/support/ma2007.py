"""The chains of Mukherjee & Anderson (2007), 5.1 and 5.2: rods of which a joint locks, or the tip is pinned."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import linkwork as lw

from .checkout import DATA
from .poses import Array
from .published import facts

Z = (0.0, 0.0, 1.0)


@dataclass
class Ma2007:
    """A published case by name, `lock_A` or `pin_A`. Hinge `A1` is on the ground, rod `link1` on it, and so on."""

    name: str

    @cached_property
    def numbers(self) -> dict[str, Any]:
        return facts(f"ma2007_{self.name}")

    @cached_property
    def rows(self) -> Array:
        """(nt, 1 + 2 n): t, coordinates, speeds; at the event those after it."""
        return np.loadtxt(DATA / f"ma2007_{self.name}.csv", delimiter=",", skiprows=1)

    @property
    def event(self) -> str:
        return "tip" if self.numbers["tip_pinned"] else "latch"

    def chain(self) -> lw.Mechanism:
        """Without its event."""
        given = self.numbers
        mech = lw.Mechanism(self.name, gravity=(0.0, -given["gravity"], 0.0))
        carrier, frame = "ground", lw.Frame()
        masses = zip(given["link_lengths"], given["link_masses"], given["link_inertia_about_com"], strict=True)
        for k, (length, mass, inertia) in enumerate(masses, start=1):
            about = np.diag([0.01 * inertia, inertia, inertia])  # planar: the first two do not matter
            mech.add_body(f"link{k}", mass=mass, com=(length / 2, 0, 0), inertia=about)
            mech.add_joint(f"A{k}", lw.Revolute(Z), carrier, f"link{k}", parent_frame=frame)
            mech.start(q={f"A{k}": given["q0_relative"][k - 1]})
            carrier, frame = f"link{k}", lw.Frame((length, 0, 0))
        return mech

    def mechanism(self, time: float | None = None) -> lw.Mechanism:
        mech, given = self.chain(), self.numbers
        when = lw.Time(given["event_time"] if time is None else time)
        if given["tip_pinned"]:
            n = given["n"]
            frame = lw.Frame((given["link_lengths"][-1], 0, 0))
            mech.add_transition("tip", lw.Pin("ground", f"link{n}", lw.Revolute(Z), child_frame=frame), when=when)
        else:
            mech.add_transition("latch", lw.Lock(f"A{given['locked_joints_1based'][0]}"), when=when)
        return mech
