"""A falling chain whose third joint locks at an instant: its rate becomes zero, and all other rates jump with it.

The first example of Mukherjee and Anderson (Multibody System Dynamics 18, 2007, section 5.1). The jump is compared with
a balance of momentum in numpy.
"""

from pathlib import Path

import numpy as np
from drawing import OUT, save_page
from falling_chain import JOINTS, angles_at, chain, plot, rods, tell_energy, tell_rates

import linkwork as lw

LOCKED, WHEN, END = "J3", 0.71768, 1.0  # s


def mechanism() -> lw.Mechanism:
    """The chain, and the lock of its third joint."""
    mech = chain("joint_lock")
    mech.add_transition("lock", lw.Lock(LOCKED), when=lw.Time(WHEN))
    return mech


def by_momentum(result: lw.Result) -> tuple[np.ndarray, float]:
    """Joint rates after the lock, and its angular impulse on link 3, N m s, by momentum in numpy."""
    row = np.zeros((1, len(JOINTS)))
    row[0, 1:3] = -1.0, 1.0  # link 3 must turn as link 2
    rates, impulses = rods().jump(angles_at(result, WHEN), np.cumsum(result.events[0].u_before), row)
    return np.diff(rates, prepend=0.0), float(impulses[0])


def main(out: Path = OUT) -> tuple[lw.Result, np.ndarray]:
    """Let it fall, compare the jump with that of momentum, and draw; returns the latter's rates as well."""
    result = lw.simulate(mechanism(), END, rtol=1e-10, max_step=0.01)
    event = result.events[0]
    rates, angular = by_momentum(result)
    tell_rates(event)
    print(f"angular impulse of the lock {1e3 * event.impulses[LOCKED][2]:.4f} mN m s, by momentum {1e3 * angular:.4f}")
    print(f"rates compared with those by momentum: {np.abs(event.u_after - rates).max():.1e} rad/s")
    tell_energy(result)
    caption = f"Four links of 1 m and 7.86 g fall from rest; {LOCKED} locks at {WHEN} s."
    plot(result, f"{LOCKED} locks", out / "joint_lock.png", caption)
    save_page(result, out / "joint_lock.html")
    return result, rates


if __name__ == "__main__":
    main()
