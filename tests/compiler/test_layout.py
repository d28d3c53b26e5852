"""The tables of whole numbers in a serialised model, read back one by one."""

import pytest
from hypothesis import given, settings

from linkwork.mechanism import Universal
from linkwork.model.compiled import compile_mechanism
from support.graphs import ladder, mechanism
from support.model_bytes import HEADER, read_model
from support.random_graphs import coupled_mechanisms

VERSION = 18
METHODS = {"auto": 0, "multipliers": 1, "dca": 4}


def check_layout(mech, method="auto"):
    compiled = compile_mechanism(mech, method)
    graph, numbering, data = compiled.topology, compiled.numbering, compiled.model_bytes
    model = read_model(data)
    tables = {name: table.tolist() for name, table in model.tables.items()}
    names = list(mech.joints)
    loop_steps = [(number, step) for number, cluster in enumerate(graph.clusters) for step in cluster.loop_steps]
    couplings = mech.couplings.values()

    assert HEADER.unpack_from(data)[:3] == (b"LWMODEL\0", VERSION, len(data))
    assert model.counts["method"] == METHODS[method]
    for size in ("nq", "nu", "nq_cut", "nu_cut"):
        assert model.counts[size] == getattr(numbering, size)
    assert tables["links"] == [[k.body, k.joint, k.parent, k.reversed] for k in graph.links]
    starts = [[numbering.q[name].start, numbering.u[name].start] for name in names]
    assert [row[1:] for row in tables["joints"]] == starts
    assert [row[:4] for row in tables["loops"]] == [[k.joint, k.parent, k.child, k.root] for k in graph.loops]
    assert all(i in graph.clusters[row[4]].loops for i, row in enumerate(tables["loops"]))
    places = [(root, tuple(range(first, first + count))) for root, first, count, _ in tables["clusters"]]
    assert places == [(cluster.root, cluster.links) for cluster in graph.clusters]
    assert [row[3] for row in tables["clusters"]] == compiled.native.table("cluster")[:, 3].tolist()
    assert tables["segments"] == [[s.cluster, s.first, s.count] for s in graph.segments]
    assert tables["ears"] == [[number, step.loop, len(step.links)] for number, step in loop_steps]
    assert tables["ear_links"] == [[link] for _, step in loop_steps for link in step.links]
    assert tables["couplings"] == [[place.cluster] for place in (*graph.couplings, *graph.distances)]
    assert tables["distances"] == [list(place.ends) for place in graph.distances]
    assert tables["terms"] == [
        [number, range(numbering.nu_all)[numbering.u[names[joint]]][element]]
        for number, place in enumerate(graph.couplings)
        for joint, element in place.terms
    ]
    coefficients = [list(term.coefficients) for one in couplings for term in one.terms.values()]
    assert model.parameters["coupling_coefficient"].tolist() == coefficients
    distances = mech.distances.values()
    offsets = [*(one.offset for one in couplings), *(one.length for one in distances)]
    assert model.parameters["coupling_offset"][:, 0].tolist() == offsets
    points = [[*one.points[0], *one.points[1]] for one in distances]
    assert model.parameters["distance_points"].tolist() == points
    assert model.names == [*mech.bodies, *names, *mech.couplings, *mech.distances]
    return model


@given(coupled_mechanisms())
@settings(max_examples=100)
def test_random_mechanisms(mech):
    check_layout(mech)


@pytest.mark.parametrize("method", ["multipliers", "dca"])
@pytest.mark.parametrize("deep", [True, False])
def test_ladder_with_methods(deep, method):
    check_layout(ladder(5, deep), method)


def test_terms_of_tree_and_cut_joints():
    pairs = [("ground", "a"), ("a", "b"), ("b", "ground", {"cut": True})]
    mech = mechanism("ab", [(f"J{i}", *pair) for i, pair in enumerate(pairs)])
    mech.add_body("c", 1.0, (0, 0, 0), mech.bodies["a"].inertia)
    mech.add_joint("U", Universal((1, 0, 0), (0, 1, 0)), "ground", "c", at=(0, 0, 0))
    mech.add_coupling("gear", {"J2": 2.0, "U[2]": (0, 0, 0, 1)}, offset=0.5)
    model = check_layout(mech)
    assert model.tables["terms"].tolist() == [[0, 4], [0, 3]]  # J0, J1 and U in the tree, then J2
