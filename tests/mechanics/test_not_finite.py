"""Numbers that are not finite leave nothing behind: once the state is sound again, all is as before, to the bit."""

import numpy as np
import pytest

from linkwork.core.native import Stage
from support.differences import offsets
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.methods import METHODS, compiled
from support.random_mechanisms import FAMILIES, well_posed
from support.spanned import SPANNED

# springs, couplings and loads ask for the coordinates and speeds of cut joints
NAMES = ("planar_4R_springs", "spatial_7R_springs", "spatial_6R_2P", "loop_on_loop", "RCCC", "stewart", "universal_cut")
NAMES += ("gear_in_loop", "cam_on_cut_joint", "free bodies on three")
MADE = {name: make for name, (make, _) in (FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES).items()} | SPANNED
COMPUTED = ("qdot", "udot", "acceleration", "u_cut", "body_position", "reaction_force", "energy_kinetic")


def scene_by(name, method):
    scene = well_posed(MADE[name], 1)
    system = compiled(scene.mechanism, method)
    block = system.block()
    system.enter(block, system.assemble(q=scene.q, u=scene.u))
    return block


def all_of_it(block, y):
    """Functions of the states, and their directional derivatives."""
    nq = block.model.sizes.nq
    block.put("q", y[:nq])
    block.put("u", y[nq:])
    unknowns, knowns = offsets(block, *COMPUTED), offsets(block, "q", "u", "time")
    block.evaluate(Stage.OUTPUTS)
    values = block.reals[unknowns].copy()
    along = np.random.default_rng(0).normal(size=knowns.size)
    return values, block.directional_derivative(unknowns, knowns, along)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", NAMES)
def test_equations_with_multipliers(name, method):
    block = scene_by(name, method)
    y = np.concatenate([block["q"], block["u"]])
    before = all_of_it(block, y)
    rows = 2 * block.model.constraint_rows
    wrong, slack = np.full(y.size + rows, np.nan), np.zeros(rows)
    block.dae_residual(0.0, wrong, wrong, slack)
    block.dae_jacobian(0.0, wrong, wrong, slack, 1.0)
    for found, expected in zip(all_of_it(block, y), before, strict=True):
        assert np.array_equal(found, expected)
