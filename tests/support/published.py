"""Published mechanisms with reference motions, whose numbers are read from tests/data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import linkwork as lw

from .cases import pendulum, windows
from .checkout import DATA
from .placement import Value
from .poses import Array, quaternion_matrix, unit

X, Y, Z = np.eye(3)
Columns = Mapping[str, Array]


@dataclass
class Published:
    """A mechanism, its start, and its known motion: columns over t, observed in a result by `observe`."""

    mechanism: lw.Mechanism
    q: Mapping[str, Value]
    u: Mapping[str, Value]
    t: Array
    expected: Columns
    observe: Callable[[Any], Columns]
    inputs: Mapping[str, float] = field(default_factory=dict)

    def run(self, **options: Any) -> lw.Result:
        self.mechanism.start(q=self.q, u=self.u)
        return lw.simulate(self.mechanism, self.t[-1], t_eval=self.t, inputs=self.inputs, **options)

    def errors(self, result: Any) -> dict[str, float]:
        """Largest deviation of each column."""
        observed = self.observe(result)
        return {name: float(np.abs(observed[name] - column).max()) for name, column in self.expected.items()}


def facts(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text())


def table(name: str) -> dict[str, Array]:
    columns = np.genfromtxt(DATA / f"{name}.csv", delimiter=",", names=True)
    return {key: columns[key] for key in columns.dtype.names}


def moving_point(result: Any, body: str, point: Array) -> Array:
    """Where a point of a body is over time, (nt, 3)."""
    turned = [quaternion_matrix(quaternion) @ point for quaternion in result[f"{body}.Q"]]
    return result[f"{body}.r"] + turned


def ladder(rungs: int, deep: bool = False) -> Published:
    """Legs on Hooke joints H0, H1.., rungs on hinges near and far; every number of rungs moves alike.

    The loops are cut at the far hinges, or `deep` at all Hooke joints but the first.
    """
    given = facts("spatial_ladder")
    sizes, q1, q2, u1, u2 = given["parameters"], *given["initial"]
    side, legs = sizes["square_section"], rungs + 1
    mech = lw.Mechanism("ladder", gravity=(0, 0, -sizes["g"]))
    q, u = {}, {}
    for k in range(legs):
        mech.add_body(f"leg{k}", **_bar(sizes["total_leg_mass"] / legs, -sizes["leg_length"] * Z, side))
        foot = lw.Frame((sizes["rung_length"] * k, 0, 0))
        mech.add_joint(f"H{k}", lw.Universal(X, -Y), "ground", f"leg{k}", parent_frame=foot, cut=deep and k > 0)
        q[f"H{k}"], u[f"H{k}"] = np.array([q1, q2]), np.array([u1, u2])
    tip, end = lw.Frame((0, 0, -sizes["leg_length"])), lw.Frame((sizes["rung_length"], 0, 0))
    for k in range(rungs):
        mech.add_body(f"rung{k}", **_bar(sizes["total_rung_mass"] / rungs, sizes["rung_length"] * X, side))
        mech.add_joint(f"near{k}", lw.Revolute(-Y), f"leg{k}", f"rung{k}", parent_frame=tip)
        ends = {"parent_frame": end, "child_frame": tip}
        mech.add_joint(f"far{k}", lw.Revolute(-Y), f"rung{k}", f"leg{k + 1}", cut=not deep, **ends)
        q[f"near{k}"], q[f"far{k}"], u[f"near{k}"], u[f"far{k}"] = -q2, q2, -u2, u2
    columns = table("spatial_ladder")
    t = columns.pop("t")

    def observe(result: Any) -> Columns:
        last = f"H{rungs}"
        angles, rates = result[f"{last}.q"], result[f"{last}.u"]
        return {"q1": angles[:, 0], "q2": angles[:, 1], "q1dot": rates[:, 0], "q2dot": rates[:, 1]}

    return Published(mech, q, u, t, columns, observe)


def _bar(mass: float, along: Array, side: float) -> dict[str, Any]:
    """A bar of square section from the body's origin."""
    length = np.linalg.norm(along)
    return {"mass": mass, "com": along / 2, "inertia": _slender(mass, length, along, side**2 / 12, side**2 / 6)}


def _slender(mass: float, length: float, along: Array, thick: float, axial: float) -> Array:
    """Inertia of a bar, of whose section `thick` and `axial` are the moments across and along it by unit of mass."""
    line = np.outer(unit(along), unit(along))
    return mass * ((length**2 / 12 + thick) * (np.eye(3) - line) + axial * line)


def msl_four_bar() -> Published:
    """The spatial four-bar of the Modelica Standard Library: R, P, U and S, one degree of freedom."""
    given, columns = facts("msl_four_bar"), table("msl_four_bar")
    elbow, slide, top = np.array([0, 0.5, 0.1]), np.array([1.0, 0, 0]), np.array([1.0, 0.2, 0])
    mech = lw.Mechanism("msl_Fourbar1", gravity=(0, -9.80665, 0))
    ends = {"b1": (np.zeros(3), elbow), "b2": (slide, top), "b3": (top, elbow)}
    radius = 0.025
    for (name, (start, end)), mass in zip(ends.items(), given["body_masses"], strict=True):
        inertia = _slender(mass, np.linalg.norm(end - start), end - start, radius**2 / 4, radius**2 / 2)
        mech.add_body(name, mass=mass, com=(start + end) / 2, inertia=inertia)
    mech.add_joint("j1", lw.Revolute(X), "ground", "b1", at=(0, 0, 0))
    mech.add_joint("j2", lw.Prismatic(X), "ground", "b2", at=slide)
    mech.add_joint("universal", lw.Universal(Y, Z), "b2", "b3", at=top)
    mech.add_joint("spherical", lw.Spherical(), "b1", "b3", at=elbow)
    expected = {name: columns[name] for name in ("phi", "w")}
    start = {"j1": columns["w"][0]}
    return Published(
        mech, {"j1": 0.0}, start, columns["t"], expected, lambda result: {"phi": result["j1.q"], "w": result["j1.u"]}
    )


def andrews_squeezer() -> Published:
    """Seven bodies of the Test Set for IVP Solvers; its seven angles are the coordinates of the tree joints."""
    given = facts("andrews_squeezer")
    p = given["parameters"]
    mech = lw.Mechanism("andrews_squeezer", gravity=(0, 0, 0))
    coms = {1: (p["ra"], 0), 2: (-p["da"], 0), 3: (p["sb"], -p["sa"]), 4: (0, p["ea"] - p["e"]), 5: (p["ta"], p["tb"])}
    coms |= {6: (p["zf"] - p["fa"], 0), 7: (-p["ub"], -p["ua"])}
    for k, (x, y) in coms.items():
        moment = p[f"I{k}"]
        mech.add_body(f"K{k}", mass=p[f"m{k}"], com=(x, y, 0), inertia=np.diag([moment / 2, moment / 2, moment]))

    def pin(name: str, parent: str, at: Any, child: str, at_child: Any = (0, 0), cut: bool = False) -> None:
        frames = [lw.Frame((*point, 0)) for point in (at, at_child)]
        mech.add_joint(name, lw.Revolute(Z), parent, child, parent_frame=frames[0], child_frame=frames[1], cut=cut)

    anchor = (p["xa"], p["ya"])
    pin("beta", "ground", (0, 0), "K1")
    pin("theta", "K1", (p["rr"], 0), "K2")
    pin("gamma", "ground", (p["xb"], p["yb"]), "K3")
    pin("delta", "ground", anchor, "K5")
    pin("phi", "K5", (p["zt"], 0), "K4")
    pin("epsilon", "ground", anchor, "K7")
    pin("omega", "K7", (0, -p["u"]), "K6")
    for k, point in ((3, (0, -p["ss"])), (4, (0, -p["e"])), (6, (p["zf"], 0))):
        pin(f"E{k}", "K2", (-p["d"], 0), f"K{k}", point, cut=True)
    ends = (p["xc"], p["yc"], 0.0), (p["sd"], -p["sc"], 0.0)
    mech.add_force(lw.SpringDamper(bodies=("ground", "K3"), points=ends, stiffness=p["c0"], free=p["l0"]))
    names = given["names"]
    expected = {f"{n}.{kind}": value for kind, end in given["end"].items() for n, value in zip(names, end, strict=True)}
    return Published(
        mech,
        dict(zip(names, given["initial"], strict=True)),
        dict.fromkeys(names, 0.0),
        np.array([0.0, given["t_end"]]),
        expected,
        lambda result: {name: result[name][-1] for name in expected},
        inputs={"beta": p["mom"]},
    )


def iftomm_pendulum() -> Published:
    """A01 against the file: the mass in the plane."""
    case, columns = pendulum(), table("iftomm_pendulum")
    t = columns.pop("t")

    def observe(result: Any) -> Columns:
        place, speed = np.cos(result["A.q"]), np.sin(result["A.q"])
        return {"x": place, "y": speed, "vx": -speed * result["A.u"], "vy": place * result["A.u"]}

    return Published(case.mechanism, case.q, case.u, t, columns, observe)


def iftomm_windows(count: int) -> Published:
    """A02 against the file: past the poses in which all bars are in line; `count` is 2 or 40."""
    case, columns = windows(count), table("iftomm_windows")
    expected = {key: columns[f"{key}_N{count}"] for key in ("theta", "thetadot")}
    return Published(
        case.mechanism,
        case.q,
        case.u,
        columns["t"],
        expected,
        lambda result: {"theta": np.pi / 2 - result["A0.q"], "thetadot": -result["A0.u"]},
    )
