"""A double pendulum: a tree without loops. Its motion is chaotic, its energy stays."""

from pathlib import Path

import linkwork as lw

OUT = Path(__file__).resolve().parent.parent / "out"
MASS, LENGTH = 1.0, 0.5  # kg, m


def mechanism() -> lw.Mechanism:
    """Two rods; each hangs along -z when its angle is zero."""
    mech = lw.Mechanism("double_pendulum")
    inertia = lw.inertia.rod(MASS, LENGTH, axis="z")
    for name in ("upper", "lower"):
        mech.add_body(name, mass=MASS, com=(0, 0, -LENGTH / 2), inertia=inertia)
    hinge = lw.Revolute(axis=(0, 1, 0))
    mech.add_joint("A", hinge, "ground", "upper", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "upper", "lower", parent_frame=lw.Frame((0, 0, -LENGTH)))
    mech.start(q={"A": 2.0, "B": 0.5})
    return mech


def main(out: Path = OUT) -> lw.Result:
    """Simulate ten seconds, print how well energy is kept, and plot angles and energies."""
    result = lw.simulate(mechanism(), t_end=10.0, solver="DOP853", rtol=1e-11)
    energy = result["energy.kinetic"] + result["energy.potential"]
    print(result)
    print(f"energy {energy[0]:.6f} J, largest change {abs(energy - energy[0]).max():.1e} J")
    out.mkdir(exist_ok=True)
    result.plot(["A.q", "B.q", "energy.kinetic", "energy.potential"], out / "double_pendulum.png")
    print(f"saved {out.name}/double_pendulum.png")
    print(f"saved {result.page(out / 'double_pendulum.html')}")
    return result


if __name__ == "__main__":
    main()
