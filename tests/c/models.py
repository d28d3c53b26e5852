"""Writes models for C drivers and fuzzers: `PYTHONPATH=tests python tests/c/models.py MODELS RESOURCES CONTROLLERS`.

Serialised ones as files of the first folder; below the others, for each FMU of a mechanism and of a
controller, a folder of its resources.
"""

import re
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork import controllers
from support.cases import Case, five_bar_with_three_legs, four_bar, windows
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.linkages import bar
from support.random_changes import random_change
from support.random_mechanisms import FAMILIES, random_tree, well_posed
from support.random_transitions import as_transitions
from support.small import pendulum
from support.spanned import SPANNED

EVENTS = (0.02, 0.05)  # s; the drivers' runs are short

ABOUT = {  # solved with multipliers: a tree, redundant loops, clusters, joints of several speeds, couplings, distances
    "joint": ("tree_12", "four_bar", "coupled", "ten_windows"),
    "centroid": ("outboard_trees", "PUCS_cut_2", "gear_branches", "distances_1"),
    "origin": ("loop_on_loop", "closed_by_free", "cam_on_cut_joint"),
}


def with_transitions() -> dict[str, lw.Mechanism]:
    """Random changes as transitions: locks, stops, pins, impulses, and their reversals."""
    drawn = {seed: as_transitions(random_change(seed)) for seed in (0, 3, 8, 10, 23, 44)}
    for one in drawn.values():
        one.mechanism.start(q=one.change.scene.q, u=one.change.scene.u)
    return {f"transitions_{seed}": one.mechanism for seed, one in drawn.items()}


def mechanisms() -> dict[str, lw.Mechanism]:
    """A four-bar, coupled loops, trees and one mechanism of each family of loops, by name."""
    cases = {"three_legs": five_bar_with_three_legs(), "ten_windows": windows(10)}
    for case in cases.values():
        case.mechanism.start(q=case.q, u=case.u)  # at zero all bars of the windows are in line
    cases["four_bar"] = four_bar()
    cases["latched"] = latched()
    cases["pressed"] = pressed()
    cases["formulas"] = by_formulas()
    cases["coupled_formulas"] = coupled_by_formulas()
    scenes = {f"tree_{n}": random_tree(np.random.default_rng(n), n, springs=n // 3) for n in (1, 3, 12)}
    scenes |= {name: well_posed(make, seed=1) for name, (make, _) in FAMILIES.items()}
    spanned = ("free bodies on three", "geared branches and rods", "moving slider crank")
    scenes |= {f"distances_{k}": well_posed(SPANNED[name], seed=1) for k, name in enumerate(spanned)}
    found = {name: given.mechanism for name, given in (cases | scenes).items()}
    return found | {"parallelogram": parallelogram()} | with_transitions()


def pressed() -> Case:
    """A four-bar with friction by the reactions of its hinges, one of them regularised."""
    scene = four_bar()
    for joint, smooth in (("A", None), ("B", None), ("C", 0.1), ("D", None)):
        friction = lw.Friction(
            joint, mu=0.2, static_mu=0.3, radius=0.02, stribeck=0.1, smooth=smooth, name=f"mu_{joint}"
        )
        scene.mechanism.add_force(friction)
    return scene


def parallelogram() -> lw.Mechanism:
    """A four-bar that is folded, at a change point, where all coordinates are zero."""
    mech, hinge = lw.Mechanism("parallelogram"), lw.Revolute("z")
    for name, length in (("crank", 1.0), ("coupler", 2.0), ("rocker", 1.0)):
        bar(mech, name, length)
    mech.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((1, 0, 0)))
    mech.add_joint("C", hinge, "coupler", "rocker", parent_frame=lw.Frame((2, 0, 0), np.diag((-1.0, -1.0, 1.0))))
    foot, tip = lw.Frame((2, 0, 0)), lw.Frame((1, 0, 0))
    mech.add_joint("D", hinge, "ground", "rocker", parent_frame=foot, child_frame=tip)
    mech.start(q={"A": 0.3, "B": -0.3, "C": 0.3})
    return mech


def by_formulas() -> Case:
    """A four-bar with forces by formulas, in which each operation occurs, outputs and a transition by one of these."""
    scene = four_bar()
    given = (  # away from kinks, so that differences agree with derivatives
        "k*q - d*u*abs(u) + a*min(sin(D.q), 3 + cos(B.q), 5 + tan(C.q/9)) + "
        "a*max(asin(s), 4 + acos(s), atan(s) + atan2(q, w))/w",
        "a*(exp(s) + log(s) + sqrt(s) + sinh(s)*cosh(s) + tanh(s) + s^2.5 + s^4 + s^3 + s^2 + floor(s + 0.3))",
        "if(q < D.q + 20*w, a*sign(q + 20*w), a) + a*mod(p + s, 0.8) + if(u <= 100*v, a*p, -a)",
    )
    values = {"k": 3.0, "d": (0.1, "N.m.s2/rad2"), "a": (2.0, "N.m"), "s": 0.5, "w": (1.0, "rad"), "v": (1.0, "rad/s")}
    for number, text in enumerate(given):
        used = {name: value for name, value in values.items() if re.search(rf"\b{name}\b", text)}
        inputs = ("p",) if re.search(r"\bp\b", text) else ()
        scene.mechanism.add_force(lw.Force("AD"[number % 2], text, parameters=used, inputs=inputs, name=f"f{number}"))
    knots, columns = (-7.0, -3.1, 0.2, 4.0, 8.3), (-90.0, 1.3, 80.0)
    tables = {
        "gas": lw.LookupTable(knots, (3, 1, 4, 1, 3), interpolation="monotone", periodic=True),
        "map": lw.LookupTable(knots, np.sin(np.outer(knots, columns)), y=columns, interpolation="monotone"),
        "line": lw.LookupTable(columns, (1, 3, 2), outside="extend"),
        "plane": lw.LookupTable(knots, np.cos(np.outer(knots, columns)), y=columns, outside="error"),
    }
    looked_up = "gas(D.q) + map(D.q, u) + line(10*time) + plane(D.q, u)"
    scene.mechanism.add_force(lw.Force("A", looked_up, tables=tables, name="motor"))
    ends = {"bodies": ("ground", "coupler"), "points": ((0, 0, 1), (0.1, 0, 0))}
    scene.mechanism.add_force(
        lw.Force(**ends, formula="c*(length - l) + d*rate", parameters={"c": 20, "l": 0.5, "d": 1})
    )
    scene.mechanism.add_force(
        lw.Force(body="rocker", force=("c*sin(w*time)", "0", "e*D.u"), parameters={"c": 1, "w": 3, "e": 1}, name="wind")
    )
    mech = scene.mechanism
    frames = lw.Frame((0.1, 0, 0)), lw.Frame.from_axes(x=(0, 0, 1), y=(0, 1, 0))
    mech.add_force(lw.Bushing(("crank", "rocker"), frames, np.eye(6) + 1.0, (0.1,) * 6, name="mount"))
    mech.add_state("i", "(v - R*i - k*A.u)/L", 0.1, "A", {"R": 2.0, "L": 0.1, "k": 0.3}, inputs=("v",))
    mech.add_force(lw.Force("D", "k*i", parameters={"k": (0.3, "N.m/A")}, name="driven"))
    mech.add_output("power", "f0.force*A.u + D.t[3]*D.u + energy.kinetic/s", parameters={"s": 1.0}, unit="W")
    table = {"line": lw.LookupTable(columns, (1, 3, 2), outside="extend")}
    mech.add_output(
        "sum", "line(power/w) + coupler.r[1]/l*A.a/a", parameters={"w": 9.0, "l": 1.0, "a": 2.0}, tables=table
    )
    mech.add_transition("limit", lw.Lock("B"), when=lw.Crossing("sum", 1e6, 0))
    return scene


def coupled_by_formulas() -> Case:
    """The same four-bar, whose crank lifts a follower by a formula and turns a wheel by a table, and a driven one."""
    scene = four_bar()
    mech = scene.mechanism
    for name, kind in (("slide", lw.Prismatic("z")), ("turn", lw.Revolute("x")), ("driven", lw.Revolute("y"))):
        mech.add_body(f"{name}_body", mass=0.3, com=(0.1, 0, 0), inertia=0.01 * np.eye(3))
        mech.add_joint(name, kind, "ground", f"{name}_body", at=(2, 0, 0))
    smooth = "slide.q - e*(sin(A.q)*exp(cos(D.q)) + log(s + tanh(A.q)^2) + atan2(sin(D.q), s)/w + s^(A.q/w)/(s + 2))"
    mech.add_coupling("lifts", formula=smooth, parameters={"e": (0.1, "m"), "s": 1.5, "w": (1.0, "rad")})
    table = lw.LookupTable(np.linspace(-7, 7, 9), np.sin(np.arange(9)), interpolation="monotone", outside="extend")
    mech.add_coupling("turns", {"turn": (1.0, 0.2)}, formula="-lift(A.q)", tables={"lift": table})
    mech.prescribe("driven", "a*sin(f*time)", parameters={"a": (0.2, "rad"), "f": (3.0, "rad/s")})
    return scene


def latched() -> Case:
    """A four-bar whose last joint opens and closes, with a stop, a latch, an impulse and joints that stick."""
    scene = four_bar()
    mech, (first, second) = scene.mechanism, EVENTS
    mech.start(q=scene.q, u=scene.u)
    mech.add_transition("open", lw.Release("D"), when=lw.Time(first))
    mech.add_transition("latch", lw.Lock("B"), when=lw.Command())
    mech.add_transition("bump", lw.Stop("A", lower=scene.q["A"] - 0.02, restitution=0.5))
    mech.add_transition("kick", lw.Impulse("crank", force=(0.0, 0.0, 0.1)), when=lw.Command())
    mech.add_transition("pin", lw.Pin("rocker", "ground", lw.Spherical(), lw.Frame((0.1, 0, 0))), when=lw.Time(second))
    for joint, limit in (("A", 0.03), ("C", 10.0), ("D", 0.02)):
        mech.add_force(lw.Friction(joint, limit, 1.2 * limit, 0.1, 0.01, name=f"friction_{joint}"))
    mech.add_force(lw.Brake("B", "c*(1 + sin(w*time))", parameters={"c": 0.01, "w": 40.0}))
    mech.add_transition("pass", lw.Unlock("B"), when=lw.Crossing("B.q", scene.q["B"] + 0.1, 0))
    return scene


def models() -> dict[str, bytes]:
    """All of these by clusters, some with multipliers and by divide and conquer."""
    given = mechanisms()
    several = JOINT_FAMILIES | GEAR_FAMILIES
    found = {name: lw.compile(mechanism).model_bytes for name, mechanism in given.items()}
    for reference, names in ABOUT.items():
        for name in names:
            mechanism = given[name] if name in given else well_posed(several[name][0], seed=1).mechanism
            found[f"{name}_{reference}"] = lw.compile(mechanism, "multipliers", reference).model_bytes
            found[f"{name}_dca"] = lw.compile(mechanism, "dca").model_bytes
    return found


def resources(mechanism: lw.Mechanism, **options: object) -> dict[str, bytes]:
    """The resources that an FMU of it carries."""
    return resources_of(lambda path: lw.export_fmu(mechanism, path, fmi="3.0", **options))


def resources_of(write: Callable[[Path], Path]) -> dict[str, bytes]:
    """The resources of an FMU that a function writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "it.fmu")
        with zipfile.ZipFile(path) as archive:
            found = [name for name in archive.namelist() if name.startswith("resources/")]
            return {Path(name).name: archive.read(name) for name in found}


def fmus() -> dict[str, dict[str, bytes]]:
    """The resources of some FMUs: of all states, of minimal ones, with arrays."""
    given = mechanisms()
    plain = ("four_bar", "latched", "formulas", "tree_3", "tree_12", "coupled", "outboard_trees", "spatial_7R")
    found = {name: resources(given[name]) for name in plain}
    found["four_bar_minimal"] = resources(given["four_bar"], states="minimal", arrays=True)
    found["spatial_7R_minimal"] = resources(given["spatial_7R"], states="minimal")
    found["tree_12_arrays"] = resources(given["tree_12"], arrays=True)
    return found


def controller_fmus() -> dict[str, dict[str, bytes]]:
    """The resources of the built-in controllers in C."""
    latches = {"a": "H1", "b": {"angle": "x", "speed": "H1.u", "target": 0.2}}
    linear = lw.linearize(pendulum(), inputs=["A.tau"])
    written = {
        "pid": ((), {"kp": 2.0, "ki": 1.0, "kd": 0.1, "sample_time": 0.05}),
        "state_feedback": ((linear, 1.0, 1.0), {}),
        "skyhook": ((), {}),
        "latch_supervisor": ((latches,), {"window": 0.5, "hold_time": 0.1}),
        "trajectory": (
            ([[0.0, 1.0], [1.0, 2.0], [0.0, 1.0]],),
            {"names": ["a", "b"], "dwell_time": 0.1, "cycle": True},
        ),
        "signal": (([0.0, 0.3, 1.0], {"y": [0.0, 1.0, 0.0]}), {"interpolation": "cubic", "periodic": True}),
    }
    return {
        name: resources_of(lambda path, name=name, given=given: getattr(controllers, name)(path, *given[0], **given[1]))
        for name, given in written.items()
    }


def main(folder: Path, of_fmus: Path, of_controllers: Path) -> None:
    """Write each model to its file, and the resources of each FMU to its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in models().items():
        (folder / f"{name}.model").write_bytes(model)
    for parent, written in ((of_fmus, fmus()), (of_controllers, controller_fmus())):
        for name, files in written.items():
            (parent / name).mkdir(parents=True, exist_ok=True)
            for file, data in files.items():
                (parent / name / file).write_bytes(data)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
