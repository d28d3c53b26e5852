"""Mechanisms drawn by hypothesis: all methods and cuts against the dense solution and each other, and identities.

Found examples are not kept, so that a run depends on nothing but the code; `LINKWORK_EXAMPLES` times as many are tried
on demand, each time others.
"""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import linkwork as lw
from linkwork.mechanism.springs import JointSpringDamper, PointSpringDamper
from support import agreement
from support.builder import cut_at
from support.joint_families import ALL_KINDS
from support.random_plans import Piece, Plan, cases, plans, ways_to_cut, worked_out

MORE = int(os.environ.get("LINKWORK_EXAMPLES", "0"))
METHODS = st.sampled_from(agreement.METHODS)


def examples(count):
    return settings(
        max_examples=count * max(MORE, 1),
        derandomize=not MORE,
        database=None,
        suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.large_base_example],
    )


@examples(8)
@given(cases(drives=0), METHODS)
def test_a_few(case, method):
    """All checks of this file, for the fast set."""
    agreement.check_methods(case)
    agreement.check_cuts(case)
    for check in (agreement.check_identities, agreement.check_inverse_dynamics, agreement.check_power):
        check(case, *method)
    for check in (agreement.check_jacobian, agreement.check_return, agreement.check_purity):
        check(case, *method)


def test_first_accelerations_of_a_branch_of_more_dimensions():
    """In parallel planes it moves, around its start it cannot; counting again leaves no loads of the poses tried."""
    crossed = Piece("flat", ("universal", "universal", "revolute", "revolute"))
    agreement.check_methods(worked_out(Plan((crossed,), springs=(0,))))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("driven", range(3))
def test_a_folded_loop_driven_at_its_own_joint_has_no_memory(driven, seed):
    """It cannot leave its pose, so poses tried around it are that pose again, and no evidence of a branch."""
    folded = Piece("folded", 4 * ("revolute",))
    case = worked_out(Plan((folded,), seed=seed, drives=(driven,)), 0.0)
    assert case.driven.given
    agreement.check_purity(case, "auto")


@pytest.mark.slow
@examples(80)
@given(cases())
def test_all_methods(case):
    """Accelerations of all joints, loads of drives and reactions."""
    agreement.check_methods(case)


@pytest.mark.slow
@examples(50)
@given(cases())
def test_all_cuts(case):
    agreement.check_cuts(case)


@pytest.mark.slow
@examples(50)
@given(cases(), METHODS)
def test_identities(case, method):
    """Residuals, energies, the mass matrix, derivatives of an exact state."""
    agreement.check_identities(case, *method)


@pytest.mark.slow
@examples(50)
@given(cases(), METHODS)
def test_inverse_dynamics_drives_the_same_motion(case, method):
    agreement.check_inverse_dynamics(case, *method)


@pytest.mark.slow
@examples(50)
@given(cases(drives=0), METHODS)
def test_power_is_the_rate_of_energy(case, method):
    agreement.check_power(case, *method)


@pytest.mark.slow
@examples(40)
@given(cases(), METHODS)
def test_jacobian_against_central_differences(case, method):
    agreement.check_jacobian(case, *method)


@pytest.mark.slow
@examples(50)
@given(cases(drives=0), METHODS)
def test_states_beside_closed_poses_come_back(case, method):
    agreement.check_return(case, *method)


@pytest.mark.slow
@examples(40)
@given(cases(least=0.0, folded=True), METHODS)
def test_answers_depend_on_the_state_only(case, method):
    """In singular poses and near them as well."""
    agreement.check_purity(case, *method)


@pytest.fixture(scope="module")
def drawn():
    found = []

    @examples(300)
    @given(plans())
    def draw(plan):
        found.append(worked_out(plan))

    draw()
    return found


@pytest.fixture(scope="module")
def accepted(drawn):
    return [case for case in drawn if case is not None]


@pytest.fixture(scope="module")
def compiled(accepted):
    rng = np.random.default_rng(0)
    return [lw.compile(cut_at(c.mechanism, *ways_to_cut(c.mechanism, rng, 1)[0])) for c in accepted]


@pytest.mark.slow
class TestWhatIsDrawn:
    """It covers what it is to cover."""

    def test_few_are_rejected(self, drawn):
        assert drawn.count(None) < 0.3 * len(drawn)

    def test_most_move(self, accepted):
        still = [case for case in accepted if case.solution.degrees_of_freedom == 0]
        assert len(still) < 0.2 * len(accepted)

    def test_all_joints_in_all_roles(self, compiled):
        seen = set()
        for system in compiled:
            kinds = [joint.kind.type_name for joint in system.mechanism.joints.values()]
            seen |= {(kinds[link.joint], "reversed" if link.reversed else "tree") for link in system.topology.links}
            seen |= {(kinds[joint], "cut") for joint in system.topology.cut_joints}
        assert seen == {(kind, role) for kind in ALL_KINDS for role in ("tree", "reversed", "cut")}

    def test_bodies_and_loops(self, compiled):
        assert {system.sizes.bodies for system in compiled} == set(range(1, 13))
        assert {system.sizes.loops for system in compiled} == set(range(5))

    def test_loops_share_joints_or_carry_each_other(self, compiled):
        clusters = [(system.topology, cluster) for system in compiled for cluster in system.topology.clusters]
        assert sum(len(cluster.loops) > 1 for _, cluster in clusters) > 20
        assert sum(cluster.root >= 0 for _, cluster in clusters) > 20

    def test_loads_gears_and_motions(self, accepted):
        assert sum(bool(case.scene.gears) for case in accepted) > 8
        assert sum(bool(case.driven.given) for case in accepted) > 8
        for kind in (JointSpringDamper, PointSpringDamper, lw.Wrench):
            assert sum(any(isinstance(force, kind) for force in case.mechanism.forces) for case in accepted) > 15

    def test_sizes(self, accepted):
        sizes = np.array([case.plan.size for case in accepted])
        assert sizes.min() < 0.02
        assert sizes.max() > 50.0
        assert (sizes == 1.0).any()
