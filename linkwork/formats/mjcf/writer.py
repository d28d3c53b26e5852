"""Writes MJCF files: bodies along a spanning tree, loops as equalities."""

from __future__ import annotations

from linkwork.formats.mjcf.file_parts import FileParts
from linkwork.formats.mjcf.tree import Tree
from linkwork.formats.mjcf.write_bodies import write_bodies
from linkwork.formats.mjcf.write_constraints import write_closures, write_couplings, write_distances
from linkwork.formats.mjcf.write_forces import write_forces
from linkwork.formats.mjcf.write_shapes import write_shapes
from linkwork.formats.mjcf.write_start import write_start
from linkwork.formats.report import Report
from linkwork.mechanism import Mechanism, Stop


def write(mech: Mechanism, report: Report) -> str:
    """Return a mechanism as the text of an MJCF file, and report what became of each part.

    Numbers are written with all their digits. Coordinates of the file are those of the mechanism, but for orientations,
    which MJCF counts in axes of the body.
    """
    parts = FileParts(mech, Tree(mech), report)
    write_bodies(parts)
    write_shapes(parts)
    write_closures(parts)
    write_couplings(parts)
    write_distances(parts)
    write_forces(parts)
    write_start(parts)
    _report_rest(parts)
    report.names = {"body": dict(parts.bodies), "joint": parts.joint_names}
    return parts.text()


def _report_rest(parts: FileParts) -> None:
    """Report what MJCF has not."""
    for name, transition in parts.mech.transitions.items():
        if not isinstance(transition.action, Stop):
            kind = type(transition.action).__name__
            parts.report.left_out(f"transition {name!r} > {kind}", "MJCF has no events: the structure stays as it is")
    for name in parts.mech.measures:
        parts.report.left_out(f"measure {name!r}", "an output that changes nothing; a sensor can measure it")
