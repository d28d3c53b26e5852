"""The marks of joints and of the ground in a picture; r is the radius of a hinge."""

from __future__ import annotations

import numpy as np

from linkwork._util.checks import FloatArray

INK = "#333"


def joint_mark(type_name: str, parent: FloatArray, child: FloatArray, axis: FloatArray | None, r: float) -> str:
    """Return the mark of a joint between a place on its parent and one on its child; `axis` as the picture shows it."""
    (x, y), line = child, f'stroke="{INK}" stroke-width="{0.3 * r:.1f}"'
    ring = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="#fff" {line}/>'
    seen = 0.0 if axis is None else float(np.linalg.norm(axis))
    angle = 0.0 if axis is None or seen < 1e-9 else float(np.degrees(np.arctan2(axis[1], axis[0])))

    def box(long: float, wide: float) -> str:
        place = f'x="{-long / 2:.1f}" y="{-wide / 2:.1f}" width="{long:.1f}" height="{wide:.1f}"'
        turned = f'transform="translate({x:.1f} {y:.1f}) rotate({angle:.1f})"'
        return f'<rect {place} rx="{0.2 * r:.1f}" {turned} fill="#fff" {line}/>'

    match type_name:
        case "revolute":
            return ring if seen < 0.6 else box(3.2 * r, 1.4 * r)
        case "universal":
            cross = f'<path d="M{x - r:.1f} {y:.1f}h{2 * r:.1f}M{x:.1f} {y - r:.1f}v{2 * r:.1f}" {line}/>'
            return ring + cross
        case "spherical":
            return ring + f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{0.6 * r:.1f}" fill="{INK}"/>'
        case "prismatic":
            return _guide(parent, child, r) + box(3.4 * r, 2.2 * r)
        case "cylindrical":
            return _guide(parent, child, r) + box(3.4 * r, 2.2 * r) + _dot(x, y, 0.45 * r)
        case "screw":
            half = 1.7 * r
            thread = "".join(f"M{x:.1f} {-0.9 * r:.1f}l{0.5 * r:.1f} {1.8 * r:.1f}" for x in (-half / 2, 0.0, half / 2))
            turned = f'transform="translate({x:.1f} {y:.1f}) rotate({angle:.1f})"'
            return (
                _guide(parent, child, r) + box(3.4 * r, 2.2 * r) + f'<path d="{thread}" {turned} fill="none" {line}/>'
            )
        case "pin_in_slot":
            return _guide(parent, child, r) + ring + _dot(x, y, 0.45 * r)
        case "curved_slide" | "path_slide":
            arc = f"M{x - r:.1f} {y:.1f}a{1.2 * r:.1f} {1.2 * r:.1f} 0 0 1 {2 * r:.1f} 0"
            return _guide(parent, child, r) + box(3.0 * r, 2.2 * r) + f'<path d="{arc}" fill="none" {line}/>'
        case "curved_slot" | "path_slot":
            return _guide(parent, child, r) + ring + _dot(x, y, 0.45 * r)
        case "planar":
            return box(2.4 * r, 2.4 * r) + _dot(x, y, 0.45 * r)
        case "fixed":
            corner = f'x="{x - 0.8 * r:.1f}" y="{y - 0.8 * r:.1f}"'
            return f'<rect {corner} width="{1.6 * r:.1f}" height="{1.6 * r:.1f}" fill="{INK}"/>'
        case "free":
            return ""  # nothing is there
    raise TypeError(f"a joint of type {type_name!r} has no mark")


def support(place: FloatArray, axis: FloatArray | None, r: float) -> str:
    """Return the sign of the ground: below a joint, or next to the line along which it slides."""
    length = 0.0 if axis is None else float(np.linalg.norm(axis))
    angle = 0.0
    if axis is not None and length > 0.3:
        angle = float(np.degrees(np.arctan2(axis[1], axis[0])))
        angle = (angle + 90.0) % 180.0 - 90.0
        leg, drop = "", 1.2 * r
    else:
        leg, drop = f"M0 0L{-1.6 * r:.1f} {2.4 * r:.1f}M0 0L{1.6 * r:.1f} {2.4 * r:.1f}", 2.4 * r
    hatch = "".join(f"M{x * r:.1f} {drop:.1f}l{-0.8 * r:.1f} {0.9 * r:.1f}" for x in (-1.8, -0.6, 0.6, 1.8))
    path = f"{leg}M{-2.4 * r:.1f} {drop:.1f}H{2.4 * r:.1f}{hatch}"
    turned = f'transform="translate({place[0]:.1f} {place[1]:.1f}) rotate({angle:.1f})"'
    return f'<path d="{path}" {turned} fill="none" stroke="{INK}" stroke-width="{0.25 * r:.2f}"/>'


def _dot(x: float, y: float, r: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}" fill="{INK}"/>'


def _guide(parent: FloatArray, child: FloatArray, r: float) -> str:
    """The way from where the joint is zero to where it is."""
    (x1, y1), (x2, y2) = parent, child
    line = f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
    return line + f'stroke="{INK}" stroke-width="{0.3 * r:.1f}" stroke-dasharray="{r:.1f} {0.6 * r:.1f}"/>'
