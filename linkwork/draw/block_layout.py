"""Where boxes and arrows of a block diagram go, in points (1/72 inch), y upwards.

Boxes stand in layers by the longest path to them, feedback excepted. An output with all its arrows is a net; between
two layers each net has a vertical track of its own, it crosses a layer on a passage between the boxes, and feedback
goes around below.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

ROW, HEAD, FOOT, GAP = 20.0, 36.0, 6.0, 26.0
TRACK, MARGIN, LANE = 9.0, 18.0, 12.0
SWEEPS, LAST = 48, 16  # rounds of moving up and down; the last ones keep the order

Port = tuple[str, str]
Points = list[tuple[float, float]]


@dataclass
class Box:
    """A component, or a name outside of the system (`bare`), with the ports that are connected."""

    name: str
    width: float
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    bare: bool = False
    layer: int = 0
    x: float = 0.0  # of its left edge
    top: float = 0.0

    @property
    def height(self) -> float:
        """From top to bottom."""
        return ROW if self.bare else HEAD + FOOT + ROW * max(len(self.inputs), len(self.outputs))

    def port(self, name: str, output: bool) -> float:
        """The height of a port."""
        row = (self.outputs if output else self.inputs).index(name)
        return self.top - ROW * (row + 0.5) - (0.0 if self.bare else HEAD)


@dataclass
class Passage:
    """Where a net crosses a layer."""

    net: Net
    layer: int
    top: float = 0.0
    height: float = ROW


@dataclass
class Net:
    """An output and the inputs connected to it."""

    source: Port
    forward: list[Port] = field(default_factory=list)
    back: list[Port] = field(default_factory=list)
    passages: dict[int, Passage] = field(default_factory=dict)
    below: float = 0.0  # the height at which its feedback goes around


class Layout:
    """The places of all boxes and the ways of all arrows.

    Parameters
    ----------
    boxes
        All boxes; the order of their ports is changed so that arrows cross less.
    edges
        Source and target port of each arrow.
    labels
        Width of the label of each arrow that has one, by target port.
    """

    def __init__(self, boxes: Iterable[Box], edges: Sequence[tuple[Port, Port]], labels: Mapping[Port, float]) -> None:
        self.boxes = {box.name: box for box in boxes}
        self._labels = labels
        back = _layers(self.boxes, edges)
        self.nets = self._make_nets(edges, back)
        self._leaving = {name: [net for net in self.nets if net.source[0] == name] for name in self.boxes}
        self._arriving: dict[str, list[tuple[Net, str]]] = {name: [] for name in self.boxes}
        for net in self.nets:
            for name, port in net.forward:
                self._arriving[name].append((net, port))
        self._layers: list[list[Box | Passage]] = [[] for _ in range(1 + max(box.layer for box in self.boxes.values()))]
        for box in self.boxes.values():
            self._layers[box.layer].append(box)
        for net in self.nets:
            for passage in net.passages.values():
                self._layers[passage.layer].append(passage)
        self._arrange()
        self._channels = self._nets_by_channel()
        self._tracks: dict[tuple[int, int, bool], float] = {}  # x by net, channel, whether feedback arrives
        self.width = self._place_columns()

    @property
    def bottom(self) -> float:
        """The lowest height that is used."""
        lowest = min(one.top - one.height for layer in self._layers for one in layer)
        return min([lowest, *(net.below for net in self.nets if net.back)])

    @property
    def top(self) -> float:
        """The highest height that is used."""
        return max(one.top for layer in self._layers for one in layer)

    def ways(self) -> Iterable[tuple[Port, Port, Points]]:
        """The corners of each arrow."""
        for number, net in enumerate(self.nets):
            for target in net.forward:
                yield net.source, target, self._forward(number, net, target)
            for target in net.back:
                yield net.source, target, self._around(number, net, target)

    def _make_nets(self, edges: Sequence[tuple[Port, Port]], back: set[tuple[str, str]]) -> list[Net]:
        nets: dict[Port, Net] = {}
        for source, target in edges:
            net = nets.setdefault(source, Net(source))
            (net.back if (source[0], target[0]) in back else net.forward).append(target)
        for net in nets.values():
            first = self.boxes[net.source[0]].layer
            last = max((self.boxes[name].layer for name, _ in net.forward), default=first)
            net.passages = {layer: Passage(net, layer) for layer in range(first + 1, last)}
        return list(nets.values())

    # ---- heights

    def _arrange(self) -> None:
        for layer in self._layers:
            _stack(layer, [0.0] * len(layer))
        for sweep in range(SWEEPS):
            order = self._layers if sweep % 2 == 0 else list(reversed(self._layers))
            for layer in order:
                requested = {id(one): self._request(one) for one in layer}
                if sweep < SWEEPS - LAST:
                    layer.sort(key=lambda one: -requested[id(one)] - _middle(one))
                _stack(layer, [requested[id(one)] for one in layer])
            if sweep < SWEEPS - LAST:
                self._sort_ports()
        lowest = min(one.top - one.height for layer in self._layers for one in layer)
        around = sorted((net for net in self.nets if net.back), key=lambda net: (self._span(net), self._start(net)))
        for number, net in enumerate(around):
            net.below = lowest - LANE * (number + 1.5)

    def _span(self, net: Net) -> int:
        return self.boxes[net.source[0]].layer - min(self.boxes[name].layer for name, _ in net.back)

    def _start(self, net: Net) -> float:
        return self.boxes[net.source[0]].port(net.source[1], True)

    def _request(self, one: Box | Passage) -> float:
        """By how much it had better be higher, for straight arrows."""
        if isinstance(one, Passage):
            ends = [self._height(one.net, one.layer - 1), *self._ends(one.net, one.layer)]
            return sum(ends) / len(ends) - _middle(one)
        shifts = [end - self._start(net) for net in self._leaving[one.name] for end in self._ends(net, one.layer)]
        shifts += [self._height(net, one.layer - 1) - one.port(port, False) for net, port in self._arriving[one.name]]
        return sum(shifts) / len(shifts) if shifts else 0.0

    def _ends(self, net: Net, layer: int) -> list[float]:
        """The heights at which a net arrives at the layer after `layer`."""
        ends = [self.boxes[name].port(port, False) for name, port in net.forward if self.boxes[name].layer == layer + 1]
        return [*ends, *([_middle(net.passages[layer + 1])] if layer + 1 in net.passages else [])]

    def _height(self, net: Net, layer: int) -> float:
        """The height at which a net leaves a layer."""
        if layer in net.passages:
            return _middle(net.passages[layer])
        return self._start(net)

    def _sort_ports(self) -> None:
        """Ports in the order of what they are connected to; feedback is below."""
        for box in self.boxes.values():
            places = {net.source[1]: self._ends(net, box.layer) for net in self._leaving[box.name]}
            mean = {port: -sum(ends) / len(ends) for port, ends in places.items() if ends}
            box.outputs.sort(key=lambda port: mean.get(port, math.inf))
            starts = {port: -self._height(net, box.layer - 1) for net, port in self._arriving[box.name]}
            box.inputs.sort(key=lambda port: starts.get(port, math.inf))

    # ---- columns

    def _place_columns(self) -> float:
        x = self._place_channel(-1, 0.0)
        for number, layer in enumerate(self._layers):
            boxes = [one for one in layer if isinstance(one, Box)]
            width = max(box.width for box in boxes)
            for box in boxes:
                box.x, box.width = x, width if not box.bare else box.width
                if box.bare and box.outputs:
                    box.x = x + width - box.width  # names outside stand next to their arrows
            x = self._place_channel(number, x + width)
        return x

    def _nets_by_channel(self) -> dict[int, list[int]]:
        """Numbers of the nets in the channel after each layer."""
        channels: dict[int, list[int]] = {}
        for number, net in enumerate(self.nets):
            arriving = {self.boxes[name].layer - 1 for name, _ in net.back}
            for channel in {self.boxes[net.source[0]].layer, *net.passages} | arriving:
                channels.setdefault(channel, []).append(number)
        return channels

    def _place_channel(self, channel: int, x: float) -> float:
        """Give each net in the channel after a layer its track, from the left; return where the next layer begins."""
        through, arriving = [], []
        for number in self._channels.get(channel, ()):
            net = self.nets[number]
            source = self.boxes[net.source[0]].layer
            if source == channel or channel in net.passages:
                ends = [*self._ends(net, channel), *([net.below] if net.back and source == channel else [])]
                start = self._height(net, channel)
                falls = sum(ends) / len(ends) < start
                through.append((falls, start if falls else -start, number))
            if any(self.boxes[name].layer == channel + 1 for name, _ in net.back):
                arriving.append((net.below, number))
        tracks = [(number, False) for _, _, number in sorted(through)] + [(n, True) for _, n in sorted(arriving)]
        for place, (number, back) in enumerate(tracks):
            self._tracks[number, channel, back] = x + MARGIN + TRACK * place
        ends_here = [end for number in self._channels.get(channel, ())
                     for end in (*self.nets[number].forward, *self.nets[number].back)
                     if self.boxes[end[0]].layer == channel + 1]  # fmt: skip
        labels = [self._labels.get(end, 0.0) for end in ends_here]
        return x + (MARGIN * 1.6 + TRACK * len(tracks) + max(labels, default=0.0) if tracks else MARGIN)

    # ---- ways

    def _forward(self, number: int, net: Net, target: Port) -> Points:
        box, layer = self.boxes[net.source[0]], self.boxes[net.source[0]].layer
        points = [(box.x + box.width, self._height(net, layer))]
        for channel in range(layer, self.boxes[target[0]].layer):
            x, there = self._tracks[number, channel, False], points[-1][1]
            passage = net.passages.get(channel + 1)
            is_end = self.boxes[target[0]].layer == channel + 1
            end = self.boxes[target[0]].port(target[1], False) if is_end or passage is None else _middle(passage)
            points += [(x, there), (x, end)]
        return [*points, (self.boxes[target[0]].x, points[-1][1])]

    def _around(self, number: int, net: Net, target: Port) -> Points:
        box, end = self.boxes[net.source[0]], self.boxes[target[0]]
        y, last = box.port(net.source[1], True), end.port(target[1], False)
        down, up = self._tracks[number, box.layer, False], self._tracks[number, end.layer - 1, True]
        return [(box.x + box.width, y), (down, y), (down, net.below), (up, net.below), (up, last), (end.x, last)]


def _middle(one: Box | Passage) -> float:
    return one.top - one.height / 2


def _stack(layer: Sequence[Box | Passage], requested: Sequence[float]) -> None:
    """Move boxes and passages of a layer up or down by the shifts requested, in their order and with gaps between."""
    tops = [one.top + shift for one, shift in zip(layer, requested, strict=True)]
    places: list[float] = []
    for one, top in zip(layer, tops, strict=True):
        if places:
            above = layer[len(places) - 1]
            gap = GAP if isinstance(one, Box) and isinstance(above, Box) else GAP / 3
            top = min(top, places[-1] - above.height - gap)
        places.append(top)
    common = sum(top - place for top, place in zip(tops, places, strict=True)) / max(1, len(places))
    for one, place in zip(layer, places, strict=True):
        one.top = place + common


def _layers(boxes: Mapping[str, Box], edges: Sequence[tuple[Port, Port]]) -> set[tuple[str, str]]:
    """Set the layer of each box; return the pairs of boxes between which arrows are feedback."""
    each: dict[str, dict[str, None]] = {name: {} for name in boxes}
    for (source, _), (target, _) in edges:
        each[source][target] = None
    after = {name: [*targets] for name, targets in each.items()}
    fed = {target for targets in after.values() for target in targets}
    back: set[tuple[str, str]] = set()
    order: list[str] = []
    done: set[str] = set()
    for name in sorted(boxes, key=lambda name: name in fed):
        if name not in done:
            _visit(name, after, back, done, order)
    for name in reversed(order):
        for target in after[name]:
            if (name, target) not in back:
                boxes[target].layer = max(boxes[target].layer, boxes[name].layer + 1)
    return back


def _visit(
    first: str, after: Mapping[str, list[str]], back: set[tuple[str, str]], done: set[str], order: list[str]
) -> None:
    """Depth first: an arrow to a box that is still open is feedback; a box is in order after all that follow."""
    under_way = {first: iter(after[first])}
    while under_way:
        name, targets = next(reversed(under_way.items()))
        target = next(targets, None)
        if target is None:
            del under_way[name]
            done.add(name)
            order.append(name)
        elif target in under_way:
            back.add((name, target))
        elif target not in done:
            under_way[target] = iter(after[target])
