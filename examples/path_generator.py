"""A four-bar whose coupler point passes through target points: its lengths are found by exact derivatives."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from drawing import AMBER, BLUE, GREY, INK, OUT, RED, dress, legend, save, sheet

import linkwork as lw

AXIS = (0, 1, 0)  # the plane of motion is x-z
CRANK, COUPLER, ROCKER, BASE = 0.4, 1.0, 0.8, 0.9  # m, of the linkage to begin with
POINT = (0.5, 0.3)  # m, along the coupler and across it
ANGLES = np.linspace(-1.0, -1.0 + 2 * np.pi, 24, endpoint=False)  # of the crank at the targets, rad
KNOWN = {"crank": 0.35, "coupler": 1.1, "rocker": 0.75, "along": 0.6, "across": 0.2}  # m, the linkage of the targets

LENGTHS = {  # the parameters that each length moves
    "crank": {"B.parent_frame.position[1]": 1.0, "crank.com[1]": 0.5},
    "coupler": {"C.parent_frame.position[1]": 1.0, "coupler.com[1]": 0.5},
    "rocker": {"D.child_frame.position[1]": 1.0, "rocker.com[1]": 0.5},
    "along": {"tip.point[1]": 1.0},
    "across": {"tip.point[3]": 1.0},
}
BOUNDS = {"crank": (0.1, 0.8), "coupler": (0.5, 1.5), "rocker": (0.3, 1.5), "along": (0.0, 1.0), "across": (-0.5, 0.9)}


def mechanism() -> lw.Mechanism:
    """Crank A-B, coupler B-C with the point tip, rocker C-D; joints A and D are on the ground."""
    mech = lw.Mechanism("path_generator")
    for name, mass, length in (("crank", 1.0, CRANK), ("coupler", 2.0, COUPLER), ("rocker", 1.5, ROCKER)):
        mech.add_body(name, mass=mass, com=(length / 2, 0, 0), inertia=lw.inertia.rod(mass, length))
    hinge = lw.Revolute(axis=AXIS)
    mech.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((CRANK, 0, 0)))
    mech.add_joint("C", hinge, "coupler", "rocker", parent_frame=lw.Frame((COUPLER, 0, 0)))
    foot, end = lw.Frame((BASE, 0, 0)), lw.Frame((ROCKER, 0, 0))
    mech.add_joint("D", hinge, "ground", "rocker", parent_frame=foot, child_frame=end)  # closes the loop
    mech.add_point("tip", "coupler", (POINT[0], 0.0, POINT[1]))
    mech.start(q={"A": ANGLES[0], "B": 0.6, "C": 1.9})
    return mech


def coupler_point(crank: float, coupler: float, rocker: float, along: float, across: float) -> np.ndarray:
    """Place (poses, 2) of the coupler point at the angles of the crank, by the law of cosines, m."""
    joint = crank * np.stack([np.cos(ANGLES), -np.sin(ANGLES)], axis=1)
    rest = np.array([BASE, 0.0]) - joint
    square = (rest**2).sum(axis=1)
    turn = np.arctan2(-rest[:, 1], rest[:, 0])
    turn -= np.arccos((square + coupler**2 - rocker**2) / (2 * np.sqrt(square) * coupler))
    c, s = np.cos(turn), np.sin(turn)
    return joint + along * np.stack([c, -s], axis=1) + across * np.stack([s, c], axis=1)


def found(targets: np.ndarray) -> lw.Design:
    """Find the lengths for which the coupler point passes through the targets."""

    def distances(values: Mapping[str, np.ndarray]) -> np.ndarray:
        left: np.ndarray = values["tip.r"][:, [0, 2]] - targets
        return left.ravel()

    return lw.design(mechanism(), BOUNDS, distances, of=["tip.r"], q={"A": ANGLES}, combinations=LENGTHS)


def plot(design: lw.Design, targets: np.ndarray, path: Path) -> None:
    """Draw the targets, both paths, the linkage found, and the course of the search."""
    start = coupler_point(**design.start)
    figure = sheet(10.0, 4.4)
    plane, course = figure.subplots(1, 2, width_ratios=(1.5, 1.0))
    dress(plane, "Path of the coupler point", "x [m]", "z [m]", aspect="equal")
    plane.plot(*np.vstack([start, start[:1]]).T, "--", color=GREY, label="start")
    tip = design.outputs["tip.r"][:, [0, 2]]
    plane.plot(*np.vstack([tip, tip[:1]]).T, color=BLUE, label="found")
    plane.plot(*targets.T, "o", color=RED, markersize=4, markerfacecolor="white", label="targets")
    state = design.model.assemble(q={"A": ANGLES[0]})
    joints = [(0.0, 0.0), *(design.model.point(state, body)[[0, 2]] for body in ("coupler", "rocker")), (BASE, 0.0)]
    plane.plot(*np.array(joints).T, "o-", color=AMBER, linewidth=2, markersize=5, markerfacecolor="white")
    legend(plane, "lower right")
    dress(course, "Search", "evaluation", "root mean square distance [m]")
    distance = np.sqrt(2 * design.costs / len(targets))
    course.semilogy(np.arange(1, len(distance) + 1), np.maximum(distance, 1e-17), "o-", color=INK, markersize=4)
    save(figure, path, "Lengths of a four-bar from 24 target points, by derivatives through the closed loop.")


def main(out: Path = OUT) -> lw.Design:
    """Find the linkage of the targets, print its lengths, and draw."""
    targets = coupler_point(**KNOWN)
    design = found(targets)
    print(design)
    error = max(abs(design[name] - length) for name, length in KNOWN.items())
    print(f"largest error of a length {error:.1e} m")
    plot(design, targets, out / "path_generator.png")
    return design


if __name__ == "__main__":
    main()
