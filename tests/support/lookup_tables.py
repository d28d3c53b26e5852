"""Lookup tables as the core evaluates them, and what SciPy makes of the same rows."""

from typing import Any

import numpy as np
from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

import linkwork as lw
from linkwork.core.native import Stage


class CoreTable:
    """A table as a function, by a force whose inputs are its arguments."""

    def __init__(self, table: lw.LookupTable, parameters: dict[str, Any] | None = None) -> None:
        names = ("x", "y")[: table.arguments]
        mech = lw.Mechanism("wheel", gravity=(0, 0, 0))
        mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
        mech.add_force(lw.Force("A", f"gas({', '.join(names)})", tables={"gas": table}, inputs=names, name="f"))
        model = lw.compile(mech)
        self.model = model.with_parameters(parameters) if parameters else model
        self.block = self.model.block()
        self.names = [f"f.{name}" for name in names]

    def __call__(self, *at: float) -> float:
        self.enter(*at)
        self.block.evaluate(Stage.ACCELERATIONS)
        return float(self.block["joint_formula_force"][0])

    def enter(self, *at: float) -> None:
        loads = self.model.arguments.loads(dict(zip(self.names, map(float, at), strict=True)))
        self.block.enter(np.zeros(1), np.zeros(1), loads)

    def slope(self, by: str, *at: float) -> float:
        """The derivative of the value by a variable, such as "f.x" or "f.gas[2]", by complex step."""
        self.enter(*at)
        references = {v.name: np.array([v.reference], np.uint32) for v in self.model.variables}
        return float(self.block.directional_derivative(references["f.force"], references[by], np.ones(1))[0])


def slopes(x: Any, values: Any) -> Any:
    """Along the first axis at all rows."""
    return PchipInterpolator(x, values).derivative()(x)


def bicubic(x: Any, y: Any, values: Any, u: float, v: float) -> float:
    """A monotone table of two arguments: cubics along x through values and slopes of cubics along y."""
    along_x, along_y = slopes(x, values), slopes(y, values.T).T
    mixed = 0.5 * (slopes(x, along_y) + slopes(y, along_x.T).T)
    ends, rates = (CubicHermiteSpline(y, *of, axis=1)(v) for of in ((values, along_y), (along_x, mixed)))
    return float(CubicHermiteSpline(x, ends, rates)(u))
