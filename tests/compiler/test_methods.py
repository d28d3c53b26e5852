"""The method of each cluster, and refusals; the methods agree with each other."""

import pickle

import numpy as np
import pytest

import linkwork as lw
from support.cases import five_bar_with_three_legs, four_bar, windows
from support.driving import by_joint, largest_difference
from support.published import ladder
from support.random_mechanisms import FAMILIES, tower_of_four_bars, well_posed


def chosen(mech, method="auto"):
    return [choice.method for choice in lw.compile(mech, method=method).choices]


def gear_train(count):
    """Wheels on the ground, each in gear with the one before."""
    mech = lw.Mechanism("train")
    for k in range(count):
        mech.add_body(f"wheel{k}", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
        mech.add_joint(f"W{k}", lw.Revolute((0, 0, 1)), "ground", f"wheel{k}", at=(k, 0, 0))
        if k:
            mech.add_coupling(f"gear{k}", {f"W{k - 1}": 1.0, f"W{k}": 2.0})
    return mech


class TestExpectations:
    @pytest.mark.parametrize(
        ("scene", "expected"),
        [
            (four_bar, (4, 6, 1, 1)),
            (five_bar_with_three_legs, (8, 12, 2, 2)),
            (lambda: ladder(3), (14, 18, 2, 2)),
            (lambda: windows(100), (301, 600, 1, 1)),
            (lambda: ladder(300, deep=True), (1202, 1800, 2, 2)),
        ],
        ids=["four_bar", "five_bar", "ladder", "windows", "long ladder"],
    )
    def test_counted_at_the_start(self, scene, expected):
        """Planar loops and Hooke ladders, whether their neutral pose is closed, in line or open."""
        case = scene()
        case.mechanism.start(q=case.q)
        assert lw.compile(case.mechanism).expected == [expected]

    def test_couplings_take_freedoms(self):
        assert lw.compile(gear_train(5)).expected == [(5, 4, 5, 1)]


class TestAuto:
    @pytest.mark.parametrize("loops", [1, 3, 40, 300])
    def test_ladders_go_ear_by_ear(self, loops):
        assert chosen(ladder(loops).mechanism) == ["rcr"]

    @pytest.mark.parametrize("count", [2, 5, 20])
    def test_gear_trains_are_embedded(self, count):
        """Without loops no columns are eliminated; one matrix leaves a single degree of freedom at once."""
        assert chosen(gear_train(count)) == ["embedding"]

    def test_each_cluster_by_itself(self):
        mech = gear_train(4)
        mech.add_body("rod", mass=1.0, com=(0.1, 0, 0), inertia=lw.inertia.rod(1.0, 0.3, axis="x"))
        for name, parent, x in (("A", "ground", 0.0), ("B", "ground", 0.3)):
            mech.add_joint(name, lw.Revolute((0, 1, 0)), parent, "rod", at=(x, 9, 0))
        assert sorted(chosen(mech)) == ["embedding", "rcr"]


class TestWishes:
    def test_by_the_name_of_any_joint(self):
        scene = well_posed(tower_of_four_bars(3), 1)
        system = lw.compile(scene.mechanism)
        names = list(scene.mechanism.joints)
        topology = system.topology
        some = names[topology.loops[topology.clusters[1].loops[0]].joint]
        other = names[topology.links[topology.clusters[2].links[0]].joint]
        wish = {some: "embedding", other: "rcr"}
        assert chosen(scene.mechanism, wish) == ["rcr", "embedding", "rcr"]
        system = lw.compile(scene.mechanism, method=wish)
        state = system.assemble(q=scene.q, u=scene.u)
        expected = scene.oracle.solve(scene.u).udot
        assert largest_difference(by_joint(system, system.accelerations(state)), expected) < 1e-11

    @pytest.mark.parametrize(
        ("method", "text"),
        [
            ({"X": "rcr"}, r"method 'rcr': there is no joint 'X'"),
            ({"A": "newton"}, r"there is no method 'newton' among auto, rcr, embedding, multipliers, dca"),
            ({"A": "multipliers"}, r"'multipliers' takes the whole mechanism"),
            ({"A": "rcr", "C": "embedding"}, r"joints 'A' and 'C' are in loops that are solved together"),
            ({"lone": "rcr"}, r"joint 'lone' is on no loop and in no coupling"),
        ],
    )
    def test_refused(self, method, text):
        mech = four_bar().mechanism
        mech.add_body("more", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint("lone", lw.Revolute((0, 0, 1)), "ground", "more", at=(0, 0, 0))
        with pytest.raises(lw.MechanismError, match=text):
            lw.compile(mech, method=method)

    @pytest.mark.parametrize("method", ["embedding", {"near3": "embedding"}])
    def test_too_many_loops_for_one_matrix(self, method):
        text = r"'embedding' cannot take the loops closed by 'far0'.*: 1200 equations are too many.*use 'auto'"
        with pytest.raises(lw.MechanismError, match=text):
            lw.compile(ladder(200).mechanism, method=method)


@pytest.mark.parametrize("method", ["rcr", "embedding", {"A": "embedding"}, "multipliers"])
def test_kept_by_pickling(method):
    system = lw.compile(four_bar().mechanism, method=method)
    again = pickle.loads(pickle.dumps(system))
    assert (again.method, again.reference) == (system.method, system.reference) == (method, "auto")
    assert again.model_bytes == system.model_bytes


def test_a_dictionary_changed_later():
    wish = {"A": "embedding"}
    system = lw.compile(four_bar().mechanism, method=wish)
    wish["A"] = "rcr"
    assert system.method == {"A": "embedding"}


@pytest.mark.parametrize("loops", [3, 100])
def test_methods_agree(loops):
    """Embedded clusters are assembled loop by loop as well, where they are large."""
    scene = ladder(loops)
    found = []
    for method in ("rcr", "embedding"):
        system = lw.compile(scene.mechanism, method=method)
        state = system.assemble(q=scene.q, u=scene.u)
        found.append(by_joint(system, system.accelerations(state)))
    assert largest_difference(*found) < 1e-11


@pytest.mark.parametrize("family", ["coupled", "three_spatial_legs", "loop_on_loop", "spherical_4R"])
def test_embedding_against_the_oracle(family):
    scene = well_posed(FAMILIES[family][0], 2)
    system = lw.compile(scene.mechanism, method="embedding")
    state = system.assemble(q=scene.q, u=scene.u)
    found = by_joint(system, system.accelerations(state))
    assert largest_difference(found, scene.oracle.solve(scene.u).udot) < 1e-11
