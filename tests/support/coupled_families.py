"""Mechanisms held by couplings: the families of gears, and loops and trees with couplings among their joints."""

from .gear_families import GEAR_FAMILIES
from .geared import geared
from .joint_families import JOINT_FAMILIES
from .random_mechanisms import FAMILIES

_MADE = FAMILIES | JOINT_FAMILIES
GEARED = {name: make for name, (make, _) in GEAR_FAMILIES.items()}
GEARED |= {
    f"{name} with {terms}": geared(_MADE[name][0], terms, degree=degree)
    for name, terms, degree in (
        *(("planar_5R", 2, 1), ("closed_chain_12R", 3, 2), ("planar_8R", 2, 4), ("moving_spatial_7R", 2, 1)),
        *(("three_planar_legs", 2, 1), ("three_spatial_legs", 3, 1), ("coupled", 2, 2), ("side_by_side", 2, 1)),
        *(("loop_on_loop", 2, 1), ("stewart", 2, 1), ("tripod_RUU", 2, 1), ("delta_US", 2, 3)),
    )
}
GEARED |= {
    f"{name} by {couplings} formulas of {terms}": geared(_MADE[name][0], terms, couplings=couplings, degree=0)
    for name, terms, couplings in (
        *(("planar_5R", 2, 1), ("closed_chain_12R", 3, 2), ("three_planar_legs", 2, 1), ("coupled", 2, 1)),
        *(("loop_on_loop", 3, 1), ("stewart", 2, 1), ("side_by_side", 2, 1), ("moving_spatial_7R", 2, 2)),
    )
}
GEARED["three couplings of 12R"] = geared(_MADE["closed_chain_12R"][0], 2, couplings=3)
GEARED["two couplings of legs"] = geared(_MADE["four_planar_legs"][0], 3, couplings=2, degree=2)
