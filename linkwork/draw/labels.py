"""Names in a picture, next to the named things and not on one another."""

from __future__ import annotations

from html import escape

import numpy as np

from linkwork._util.checks import FloatArray

LETTER, LINE = 6.8, 13.0  # of text at 12
_AROUND = [(np.cos(a), np.sin(a)) for a in np.radians([-45, -135, 45, 135, -90, 0, 180, 90])]


class Labels:
    """Occupied areas of a picture, as boxes: low and high corners."""

    def __init__(self, width: float, height: float) -> None:
        self._room = np.array([0.0, 0.0, width, height])
        self._taken: list[tuple[float, float, float, float]] = []

    def occupy(self, centre: FloatArray, wide: float, high: float) -> None:
        """Keep names off a box."""
        x, y = centre
        self._taken.append((x - wide / 2, y - high / 2, x + wide / 2, y + high / 2))

    def occupy_line(self, start: FloatArray, end: FloatArray, wide: float) -> None:
        """Keep names off a line."""
        steps = int(np.clip(np.linalg.norm(end - start) / 8, 1, 60))
        for share in np.linspace(0.0, 1.0, steps + 1):
            self.occupy(start + share * (end - start), wide, wide)

    def place(self, text: str, at: FloatArray, away: float, colour: str, style: str) -> str:
        """Return a name near a point, where it covers least."""
        wide, taken = LETTER * len(text), np.array([*self._taken, (0, 0, 0, 0)])
        boxes = []
        for further in (0.0, 7.0, 16.0, 28.0):
            for dx, dy in _AROUND:
                reach = np.array([(away + further + 3 + wide / 2) * dx, (away + further + LINE / 2) * dy])
                if abs(dx) > 0.5 and abs(dy) > 0.5:
                    reach = np.array([np.sign(dx) * (0.7 * away + 0.7 * further + wide / 2), reach[1]])
                x, y = at + reach
                box = (x - wide / 2, y - LINE / 2, x + wide / 2, y + LINE / 2)
                boxes.append((self._covered(box, taken) + 1.5 * further, box))
        _, best = min(boxes)
        self._taken.append(best)
        x, y = (best[0] + best[2]) / 2, best[3] - 3.0
        return (
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" font-style="{style}" fill="{colour}" stroke="#fff" '
            f'stroke-width="3" paint-order="stroke">{escape(text)}</text>'
        )

    def _covered(self, box: tuple[float, float, float, float], taken: FloatArray) -> float:
        """Area of what a box covers of those taken, (n, 4), and of what it leaves outside the picture."""
        sides = np.minimum(taken[:, 2:], box[2:]) - np.maximum(taken[:, :2], box[:2])
        within = np.minimum(self._room[2:], box[2:]) - np.maximum(self._room[:2], box[:2])
        outside = (box[2] - box[0]) * (box[3] - box[1]) - float(np.prod(np.maximum(within, 0.0)))
        return float(np.prod(np.maximum(sides, 0.0), axis=1).sum()) + 20.0 * outside
