"""A falling chain whose tip is pinned to the ground at an instant: the chain becomes a loop, a five-bar linkage.

The second example of Mukherjee and Anderson (Multibody System Dynamics 18, 2007, section 5.2). The jump is compared
with a balance of momentum in numpy.
"""

from pathlib import Path

import numpy as np
from drawing import OUT, save_page
from falling_chain import JOINTS, LENGTH, angles_at, chain, corners, plot, rods, tell_energy, tell_rates

import linkwork as lw

WHEN, END = 0.7, 1.0  # s


def mechanism() -> lw.Mechanism:
    """The chain, and the pin at its tip; where it is on the ground is found at the event."""
    mech = chain("pin")
    tip = lw.Frame((LENGTH, 0, 0))
    mech.add_transition("tip", lw.Pin("link4", "ground", lw.Revolute((0, 0, 1)), parent_frame=tip), when=lw.Time(WHEN))
    return mech


def by_momentum(result: lw.Result) -> tuple[np.ndarray, np.ndarray]:
    """Joint rates after the tip is pinned, and the impulse of the ground on it, N s, by momentum in numpy."""
    chain_of_rods, angles = rods(), angles_at(result, WHEN)
    rows = chain_of_rods.jacobian(angles)  # the tip must stand still
    rates, impulse = chain_of_rods.jump(angles, np.cumsum(result.events[0].u_before), rows)
    return np.diff(rates, prepend=0.0), impulse


def tips(result: lw.Result) -> np.ndarray:
    """Place of the tip over time, (nt, 2), m."""
    return np.array([corners(angles)[-1] for angles in np.cumsum([result[f"{j}.q"] for j in JOINTS], axis=0).T])


def main(out: Path = OUT) -> tuple[lw.Result, np.ndarray]:
    """Let it fall, compare the jump with that of momentum, and draw; returns the latter's rates as well."""
    result = lw.simulate(mechanism(), END, rtol=1e-10, max_step=0.01)
    event = result.events[0]
    rates, impulse = by_momentum(result)
    tell_rates(event)
    ours = -event.impulses["tip"][3:5]  # the ground is the pin's child
    print("impulse on the tip ({:.4f}, {:.4f}) mN s, ".format(*(1e3 * ours)), end="")
    print("by momentum ({:.4f}, {:.4f})".format(*(1e3 * impulse)))
    print(f"rates compared with those by momentum: {np.abs(event.u_after - rates).max():.1e} rad/s")
    pinned = tips(result)[result.t > WHEN]
    print(f"tip stays within {np.abs(pinned - pinned[0]).max():.1e} m")
    tell_energy(result)
    caption = f"Four links of 1 m and 7.86 g fall from rest; the tip is pinned at {WHEN} s."
    plot(result, "tip is pinned", out / "pin.png", caption)
    save_page(result, out / "pin.html")
    return result, rates


if __name__ == "__main__":
    main()
