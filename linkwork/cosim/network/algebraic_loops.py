"""Algebraic loops: inputs that depend on themselves through direct feedthrough.

With u the inputs on a loop and g(u) what the outputs make of them, u = g(u) is sought. Most loops are false ones, of
dependencies that an FMU does not declare: g' is nilpotent then, and as many iterations u <- g(u) as there are inputs
end at the solution. Otherwise Newton's method finds the zero of r(u) = g(u) - u: its matrix comes from the FMUs'
directional derivatives or from differences, is kept from one communication point to the next, and is corrected by
Broyden's rank-one update, J += (dr - J du) du' / (du' du), in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from linkwork.cosim.fmu.instance import FloatArray, Instance
from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.network.evaluation_order import Node
from linkwork.cosim.network.transfers import PortLink
from linkwork.errors import CosimError, FmuError
from linkwork.fmu.description import REAL

MOST_ITERATIONS = 50
MOST_HALVINGS = 8
TOLERANCE = 1e-10  # of the residual, relative to nominal value and size of an input
DIFFERENCE = 2.0**-26  # of an input, for differences
GOOD = 0.5  # what a step must leave of the residual at most, for its matrix to be kept


class Derivative(NamedTuple):
    """The derivative of inputs on the loop by one instance's inputs on it, through its outputs."""

    instance: Instance
    unknowns: Ports
    knowns: Ports
    rows: tuple[tuple[slice, slice, float], ...]  # part of the unknowns, part of the loop's inputs, factor
    columns: tuple[tuple[slice, slice], ...]  # part of the knowns, part of the loop's inputs


class Loop:
    """One algebraic loop of a network."""

    def __init__(
        self,
        inputs: Sequence[Node],  # the inputs on the loop
        instances: Mapping[str, Instance],  # all instances of the network, by name
        port_links: Sequence[PortLink],  # all connections of the network
        # ``transfer(instance, time)`` brings the values of connected outputs and external inputs to an instance's
        # inputs.
        transfer: Callable[[Instance, float], None],
    ) -> None:
        self.inputs = tuple(inputs)
        self._port_links, self._transfer = port_links, transfer
        self.instances = [instances[name] for name in dict.fromkeys(name for name, _ in inputs)]
        self.evaluations = 0
        self._parts: list[tuple[FloatArray, slice, slice]] = []  # ports' values, part of these, part of u
        self._where: dict[Node, slice] = {}
        nominal: list[float] = []
        for name, variable in self.inputs:
            value_type, place = instances[name].inputs.places[variable]
            if value_type == REAL:
                size = place.stop - place.start
                part = slice(len(nominal), len(nominal) + size)
                self._parts.append((instances[name].inputs.real, place, part))
                self._where[name, variable] = part
                nominal += [instances[name].model.variable(variable).nominal] * size
        self._nominal = np.array(nominal)
        self._matrix: FloatArray | None = None
        self._derivatives: list[Derivative] | None = None
        self._by_differences = not all(one.model.abilities.directional for one in self.instances)

    def solve(self, time: float) -> int:
        """Solve it; return how many evaluations that took."""
        self.evaluations = 0
        start = self._values()
        for instance in self.instances:
            self._transfer(instance, time)
        if self._matrix is None and self._iterate(time):
            return self.evaluations
        if self._nominal.size and not self._newton(start, time):
            self._matrix = None
            if not self._newton(start, time):
                self._fail(time)
        elif not self._nominal.size:
            self._fail(time)
        return self.evaluations

    def _iterate(self, time: float) -> bool:
        """The plain iteration; return whether it has ended."""
        most = len(self.inputs) + 2 if self._nominal.size else MOST_ITERATIONS
        for _ in range(most):
            before, others = self._values(), self._others()
            after = self._evaluate(time)
            if self._small(after - before, before) and self._others() == others:
                return True
            if not np.all(np.isfinite(after)):
                return False
        return False

    def _newton(self, start: FloatArray, time: float) -> bool:
        """Newton's method from a start; return whether it has converged."""
        u, others = start, self._others()
        r = self._residual(u, time)
        fresh = False
        for _ in range(MOST_ITERATIONS):
            if self._small(r, u) and self._others() == others:
                return True
            if self._matrix is None or self._others() != others:
                others = self._others()
                self._matrix, fresh = self._jacobian(u, r, time), True
            step = _solution(self._matrix, -r)
            if step is None:
                return False
            after, r_after = self._shortened(u, r, step, time) if fresh else (u + step, self._residual(u + step, time))
            if fresh or _norm(r_after / self._nominal) <= GOOD * _norm(r / self._nominal):
                self._update(after - u, r_after - r)
                u, r, fresh = after, r_after, False
            else:  # the matrix is of another place
                self._matrix = None
                r = self._residual(u, time)
        return False

    def _shortened(self, u: FloatArray, r: FloatArray, step: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
        """The end of a step, shorter as long as the residual grows."""
        size = _norm(r / self._nominal)
        for _ in range(MOST_HALVINGS):
            r_after = self._residual(u + step, time)
            if _norm(r_after / self._nominal) < size or self._small(r_after, u + step):
                break
            step = step / 2
        return u + step, r_after

    def _update(self, du: FloatArray, dr: FloatArray) -> None:
        assert self._matrix is not None
        x, y = du / self._nominal, dr / self._nominal
        if np.all(np.isfinite(y)) and (square := float(x @ x)) > 0:
            scaled = self._matrix * (self._nominal / self._nominal[:, None])
            scaled += np.outer(y - scaled @ x, x / square)
            self._matrix = scaled * (self._nominal[:, None] / self._nominal)

    def _small(self, r: FloatArray, u: FloatArray) -> bool:
        return bool(np.all(np.abs(r) <= TOLERANCE * (self._nominal + np.abs(u))))

    # ---- evaluations

    def _values(self) -> FloatArray:
        u = np.empty(self._nominal.size)
        for values, place, part in self._parts:
            u[part] = values[place]
        return u

    def _others(self) -> list[tuple[bytes, list[str]]]:
        """The values that are not real; they take part by plain iteration."""
        return [(one.inputs.whole.tobytes(), one.inputs.text.copy()) for one in self.instances]

    def _residual(self, u: FloatArray, time: float) -> FloatArray:
        for values, place, part in self._parts:
            values[place] = u[part]
        return self._evaluate(time) - u

    def _evaluate(self, time: float) -> FloatArray:
        """Give the FMUs their inputs; bring what their outputs are then back to the inputs."""
        self.evaluations += 1
        for instance in self.instances:
            instance.write(instance.inputs)
        for instance in self.instances:
            instance.read(instance.outputs)
        for instance in self.instances:
            self._transfer(instance, time)
        return self._values()

    # ---- the matrix

    def _jacobian(self, u: FloatArray, r: FloatArray, time: float) -> FloatArray:
        """The derivative of r; the FMUs have been given u."""
        if not self._by_differences:
            try:
                return self._by_directions()
            except FmuError:  # not in this mode, or not by these variables
                self._by_differences = True
        columns = []
        for k, size in enumerate(DIFFERENCE * (self._nominal + np.abs(u))):
            near = u.copy()
            near[k] += size
            columns.append((self._residual(near, time) - r) / (near[k] - u[k]))
        return np.column_stack(columns)

    def _by_directions(self) -> FloatArray:
        if self._derivatives is None:
            self._derivatives = [one for instance in self.instances if (one := self._derivative_of(instance))]
        matrix = -np.eye(self._nominal.size)
        for one in self._derivatives:
            seed = np.zeros(one.knowns.real.size)
            for known, part in one.columns:
                for k in range(known.stop - known.start):
                    seed[:] = 0.0
                    seed[known.start + k] = 1.0
                    change = one.instance.directional(one.unknowns, one.knowns, seed)
                    for unknown, row, factor in one.rows:
                        matrix[row, part.start + k] += factor * change[unknown]
        return matrix

    def _derivative_of(self, instance: Instance) -> Derivative | None:
        name, model = instance.name, instance.model
        port_links = [
            port_link
            for port_link in self._port_links
            if port_link.owner == name
            and port_link.source.places[port_link.output][0] == REAL
            and (port_link.taker, port_link.input) in self._where
        ]
        mine = [node for node in self._where if node[0] == name]
        if not port_links or not mine:
            return None
        unknowns = instance.ports(
            [model.variable(output) for output in dict.fromkeys(port_link.output for port_link in port_links)]
        )
        knowns = instance.ports([model.variable(variable) for _, variable in mine])
        rows = tuple(
            (
                unknowns.places[port_link.output][1],
                self._where[port_link.taker, port_link.input],
                port_link.factor,
            )
            for port_link in port_links
        )
        columns = tuple((knowns.places[variable][1], self._where[name, variable]) for name, variable in mine)
        return Derivative(instance, unknowns, knowns, rows, columns)

    def _fail(self, time: float) -> None:
        names = ", ".join(".".join(node) for node in self.inputs)
        before = self._values()
        residual = np.abs(self._evaluate(time) - before)
        how = (
            f"; its residual is {residual.max():.3g}"
            if residual.size
            else ", and values that are not real do not converge"
        )
        raise CosimError(
            f"the algebraic loop through the inputs {names} is not solved at t = {time:.9g} s{how}; it may have no "
            "solution there: look at gains and signs on it, begin nearer to a solution (start values of these inputs), "
            "or break it by a delay or filter in one of the FMUs"
        )


def _norm(values: FloatArray) -> float:
    size = float(np.linalg.norm(values))
    return size if np.isfinite(size) else np.inf


def _solution(matrix: FloatArray, r: FloatArray) -> FloatArray | None:
    """Solve; None if the matrix is singular or not finite."""
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(r))):
        return None
    try:
        step = np.asarray(np.linalg.solve(matrix, r), dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    return step if np.all(np.isfinite(step)) else None
