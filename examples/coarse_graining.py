"""A molecule from particles to rigid segments to a mechanism: what its momenta and its energy become.

Seven helices in a bundle, each in two halves, with strands from one to the next; all its atoms move as heat lets them.
First each segment is made rigid, by sums; then ball joints between the segments come all at once, by their impulses
(Mukherjee and Anderson 2007, section 5.3). One bridge between segments closes a loop. Units: nm, ps, u; kJ/mol.

With a folder as its argument, the same of rhodopsin, from `rhodopsin_26_segments.json` and
`rhodopsin_1u19_allatom.csv.gz` in it.
"""

import csv
import gzip
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from drawing import AMBER, BLUE, COLORS, GREY, INK, OUT, RED, dress, legend, save, seen, sheet
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

import linkwork as lw

HEAT = 0.0083145 * 310  # kJ/mol: Boltzmann's constant times the temperature
HELICES, RESIDUES, STRAND = 7, 24, 7  # residues of each helix and of each strand
RISE, TURN, RADIUS = 0.15, np.radians(100), 0.23  # nm and rad a residue, nm: of a helix
ATOMS = np.array([14.0, 12.0, 12.0, 16.0, 12.0, 1.0, 1.0, 1.0])  # u, of a residue: N, C, C, O and some more
STAGES = ("atoms", "rigid segments", "mechanism")


@dataclass
class Molecule:
    """As `lw.coarse_grain` takes it."""

    positions: np.ndarray
    velocities: np.ndarray
    masses: np.ndarray
    segments: np.ndarray
    joints: list[tuple[Any, ...]]


def backbone() -> list[np.ndarray]:
    """Places of the residues of each segment: up one helix, over a strand, down the next."""
    pieces: list[np.ndarray] = []
    for k in range(HELICES):
        foot = 1.1 * np.array([np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0]) * (k < 6)
        n = np.arange(RESIDUES)
        height = RISE * (n - RESIDUES / 2) * (-1) ** k
        helix = np.column_stack([RADIUS * np.cos(TURN * n), RADIUS * np.sin(TURN * n), height]) + foot
        if pieces:
            pieces.append(strand(pieces[-1][-1], helix[0]))
        pieces += [helix[: RESIDUES // 2], helix[RESIDUES // 2 :]]
    return pieces


def strand(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """An arc from one place to another, away from the middle of the molecule."""
    t = np.linspace(0, 1, STRAND + 2)[1:-1, None]
    away = np.sign(start[2]) * 1.0 * np.array([0, 0, 1])
    found: np.ndarray = start + (end - start) * t + 4 * t * (1 - t) * away
    return found


def molecule(seed: int = 7) -> Molecule:
    """The bundle of helices, with some scatter of its atoms, and velocities of its temperature."""
    rng = np.random.default_rng(seed)
    pieces = backbone()
    count = [len(ATOMS) * len(piece) for piece in pieces]
    positions = np.repeat(np.vstack(pieces), len(ATOMS), axis=0)
    positions += rng.normal(0, 0.12, positions.shape)
    masses = np.tile(ATOMS, len(positions) // len(ATOMS))
    velocities = rng.normal(size=positions.shape) * np.sqrt(HEAT / masses)[:, None]
    joints: list[tuple[Any, ...]] = [(k, k + 1, (pieces[k][-1] + pieces[k + 1][0]) / 2) for k in range(len(pieces) - 1)]
    joints.append((3, 9, lw.Universal((0, 0, 1), (1, 0, 0)), (pieces[3][5] + pieces[9][5]) / 2))
    return Molecule(positions, velocities, masses, np.repeat(np.arange(len(pieces)), count), joints)


def rhodopsin(folder: Path) -> Molecule:
    """The protein in 26 segments, from its atoms."""
    given = json.loads((folder / "rhodopsin_26_segments.json").read_text(encoding="utf-8"))
    with gzip.open(folder / "rhodopsin_1u19_allatom.csv.gz", "rt", encoding="utf-8") as file:
        atoms = list(csv.DictReader(line for line in file if not line.startswith("#")))
    ends = [body["last_residue"] for body in given["bodies"]]
    return Molecule(
        positions=np.array([[atom[key] for key in ("x", "y", "z")] for atom in atoms], float),
        velocities=np.array([[atom[key] for key in ("vx", "vy", "vz")] for atom in atoms], float),
        masses=np.array([given["element_masses"][atom["element"]] for atom in atoms]),
        segments=np.searchsorted(ends, [int(atom["resid"]) for atom in atoms]),
        joints=[(*(k - 1 for k in joint["between"]), joint["point"]) for joint in given["joints"]],
    )


def coarse_grained(given: Molecule) -> lw.CoarseGrained:
    parts = given.positions, given.velocities, given.masses, given.segments, given.joints
    return lw.coarse_grain(*parts, name="coarse_graining")


def mechanism() -> lw.Mechanism:
    """The bundle as it moves on after its joints came."""
    return coarse_grained(molecule()).mechanism


def changes(found: lw.CoarseGrained) -> dict[str, float]:
    """Largest relative change of the momenta from the atoms on."""
    stages = found.before.total, found.after.total
    return {
        what: max(float(np.linalg.norm(getattr(s, what) - of) / np.linalg.norm(of)) for s in stages)
        for what, of in (("linear", found.particles.linear), ("angular", found.particles.angular))
    }


def draw_molecule(axes: Axes, given: Molecule, found: lw.CoarseGrained) -> None:
    """Draw atoms in the colours of their segments, and rigid bodies from each joint to the centre of mass."""
    places, centres = seen(given.positions), seen(found.before.com).T
    for segment, centre in enumerate(centres):
        color = COLORS[segment % len(COLORS)]
        right, up = places[:, given.segments == segment]
        axes.scatter(right, up, s=5, color=color, alpha=0.22, linewidths=0)
        for a, b, *_, point in given.joints:
            if segment in (a, b):
                line = np.array([centre, seen(point)])
                axes.plot(*line.T, color=color, linewidth=4, solid_capstyle="round")
    axes.plot(*seen([joint[-1] for joint in given.joints]), "o", color=INK, markersize=4.5, label="joints")
    dress(axes, f"{len(given.masses)} atoms, {len(centres)} segments", "nm", "nm", aspect="equal")
    legend(axes, "upper left")


def draw_stages(momentum: Axes, energy: Axes, found: lw.CoarseGrained) -> None:
    """Draw the totals over the three stages."""
    stages = found.particles, found.before.total, found.after.total
    for what, color, unit in (("linear", BLUE, "u nm/ps"), ("angular", AMBER, "u nm²/ps")):
        sizes = [np.linalg.norm(getattr(stage, what)) for stage in stages]
        momentum.stairs(sizes, np.arange(4), baseline=None, color=color, linewidth=2.5, label=f"{what} [{unit}]")
        change = f"the same to {changes(found)[what]:.0e}"
        momentum.annotate(change, (1.5, sizes[0]), (0, -13), textcoords="offset points", ha="center", fontsize=8.5)
    dress(momentum, "Momentum stays", "", "magnitude", ylim=(0, None))
    momentum.margins(y=0.2)
    momentum.set_xticks(np.arange(3) + 0.5, STAGES)
    legend(momentum, "center right")
    kinetic = [stage.kinetic for stage in stages]
    bars = energy.bar(np.arange(3), kinetic, color=[GREY, BLUE, RED], width=0.6)
    energy.bar_label(bars, [f"{value:.0f}" for value in kinetic], fontsize=9, color=INK)
    dress(energy, "Kinetic energy is lost to what no longer moves", "", "energy [kJ/mol]", yscale="log")
    energy.set_ylim(kinetic[2] / 10, kinetic[0] * 3)
    energy.set_xticks(np.arange(3), STAGES)


def draw_speeds(axes: Axes, before: np.ndarray, after: np.ndarray, title: str, unit: str) -> None:
    """Draw how the speed of each segment changes."""
    one, other = np.linalg.norm(before, axis=1), np.linalg.norm(after, axis=1)
    number = np.arange(len(one))
    axes.vlines(number, one, other, color=GREY, linewidth=1.2)
    axes.plot(number, one, "o", color=BLUE, markersize=5, markerfacecolor="white", label="rigid segments")
    axes.plot(number, other, "o", color=RED, markersize=5, label="mechanism")
    dress(axes, title, "segment", unit, ylim=(0, 1.2 * max(one.max(), other.max())))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend(axes, "upper right", ncols=2)


def plot(given: Molecule, found: lw.CoarseGrained, path: Path) -> None:
    figure = sheet(14.0, 7.2)
    axes = figure.subplot_mosaic([["molecule", "momentum", "v"], ["molecule", "energy", "w"]])
    draw_molecule(axes["molecule"], given, found)
    draw_stages(axes["momentum"], axes["energy"], found)
    one, other = found.before, found.after
    draw_speeds(axes["v"], one.velocity, other.velocity, "Centres of mass", "speed [nm/ps]")
    draw_speeds(axes["w"], one.angular_velocity, other.angular_velocity, "Turning", "angular velocity [rad/ps]")
    loops = found.state.model.sizes.loops
    with_loops = ", one of which closes a loop" if loops == 1 else ""
    save(figure, path, f"Segments made rigid, then {len(given.joints)} joints that come all at once{with_loops}.")


def main(out: Path = OUT, folder: Path | None = None) -> lw.CoarseGrained:
    """Make the molecule a mechanism, check its momenta, and draw."""
    given = molecule() if folder is None else rhodopsin(folder)
    found = coarse_grained(given)
    print(found.state.model)
    for name, stage in zip(STAGES, (found.particles, found.before.total, found.after.total), strict=True):
        momenta = (np.linalg.norm(value) for value in (stage.linear, stage.angular))
        print(f"{name:15} kinetic energy {stage.kinetic:9.2f} kJ/mol, momenta", *(f"{size:9.3f}" for size in momenta))
    print("momenta kept to", " and ".join(f"{change:.0e}" for change in changes(found).values()))
    plot(given, found, out / ("coarse_graining.png" if folder is None else "rhodopsin.png"))
    return found


if __name__ == "__main__":
    main(folder=Path(sys.argv[1]) if len(sys.argv) > 1 else None)
