"""A slider-crank under gravity: three hinges and a slide close one loop; the slide has friction."""

from pathlib import Path

import linkwork as lw

CRANK, ROD = 0.1, 0.3  # m


def mechanism() -> lw.Mechanism:
    """Stretched out along x in its reference poses, where all joints are given by their point in the world."""
    mech = lw.Mechanism("slider_crank")
    mech.add_body("crank", mass=0.8, com=(CRANK / 2, 0, 0), inertia=lw.inertia.rod(0.8, CRANK))
    mech.add_body("rod", mass=0.6, com=(ROD / 2, 0, 0), inertia=lw.inertia.rod(0.6, ROD), origin=(CRANK, 0, 0))
    size = (0.06, 0.05, 0.05)
    mech.add_body("piston", mass=0.5, com=(0, 0, 0), inertia=lw.inertia.box(0.5, size), origin=(CRANK + ROD, 0, 0))
    hinge = lw.Revolute(axis=(0, 1, 0))
    mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", hinge, "crank", "rod", at=(CRANK, 0, 0))
    mech.add_joint("C", hinge, "rod", "piston", at=(CRANK + ROD, 0, 0))
    mech.add_joint("S", lw.Prismatic(axis=(1, 0, 0)), "ground", "piston", at=(CRANK + ROD, 0, 0))
    mech.add_force(lw.SpringDamper("S", damping=2.0))  # N.s/m
    mech.start(q={"A": -0.8}, u={"A": 30.0})  # the rest is found
    return mech


def main(out: Path = Path("out")) -> lw.Result:
    """Simulate half a second and print what the piston does."""
    result = lw.simulate(mechanism(), t_end=0.5)
    stroke = result["S.q"].max() - result["S.q"].min()
    print(result)
    print(f"stroke {stroke:.4f} m, piston speed up to {abs(result['S.u']).max():.2f} m/s")
    print(f"largest force in the crank's bearing {((result['A.f'] ** 2).sum(axis=1) ** 0.5).max():.0f} N")
    out.mkdir(exist_ok=True)
    print(f"saved {result.page(out / 'slider_crank.html')}")
    return result


if __name__ == "__main__":
    main()
