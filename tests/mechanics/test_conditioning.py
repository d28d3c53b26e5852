"""How well a loop's closure is conditioned, differentiated: exact wherever it is smooth."""

import numpy as np
import pytest

from linkwork.core.native import Stage
from support.differences import LIMIT, along, offsets, relative
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.methods import compiled
from support.random_mechanisms import FAMILIES, well_posed

MADE = FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES
NAMES = ["planar_4R", "planar_5R", "spatial_7R", "slider_crank", "loop_on_loop", "coupled", "three_planar_legs"]
NAMES += ["RSSR", "RCCC", "universal_cut", "gear_in_loop", "gear_on_cut_joint"]


@pytest.mark.parametrize("method", ["rcr", "embedding", "multipliers"])
@pytest.mark.parametrize("name", NAMES)
def test_by_states_and_geometry(name, method):
    scene = well_posed(MADE[name][0], 2)
    system = compiled(scene.mechanism, method)
    state = system.assemble(q=scene.q, u=scene.u)
    block = system.block()
    system.enter(block, state)
    unknowns, knowns = offsets(block, "loop_conditioning"), offsets(block, "q", "parent_position")

    def read():
        block.put("u", state.u, Stage.NONE)
        block.evaluate(Stage.OUTPUTS)
        return block.reals[unknowns]

    found = {}
    for known in knowns:
        found[known] = along(block, known, read, 2e-4)
        read()
        exact = block.directional_derivative(unknowns, np.array([known]), np.ones(1))
        assert relative(exact, found[known]) < LIMIT, known
    assert np.abs(list(found.values())).max() > 0.01
