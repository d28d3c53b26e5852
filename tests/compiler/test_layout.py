"""The tables of whole numbers in a serialised model, read back one by one."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings

from linkwork.compiler.numbering import number
from linkwork.compiler.serialise import EMBEDDING, MULTIPLIERS_ABOUT_ORIGIN, VERSION, Methods, serialise
from linkwork.compiler.topology import topology
from support.graphs import ladder, mechanism
from support.random_graphs import coupled_mechanisms

HEADER = struct.Struct("<8sIIQ")
COUNTS = "bodies joints loops clusters segments nq nu nq_cut nu_cut ears couplings terms method"


class Reader:
    """Takes table by table from the bytes of a model."""

    def __init__(self, data):
        self.data = data[HEADER.size :]

    def table(self, rows, columns, kind="<i4"):
        size = rows * columns * np.dtype(kind).itemsize
        taken, self.data = self.data[:size], self.data[size:]
        return np.frombuffer(taken, kind).reshape(rows, columns).tolist()


def check_layout(mech, methods=None):
    graph = topology(mech)
    numbering = number(mech, graph)
    data = serialise(mech, graph, numbering, methods)
    assert HEADER.unpack_from(data)[:3] == (b"LWMODEL\0", VERSION, len(data))
    reader = Reader(data)
    n = dict(zip(COUNTS.split(), reader.table(1, 13)[0], strict=True))
    assert n["method"] == (methods.mechanism if methods else 0)
    assert (n["nq"], n["nu"]) == (numbering.nq, numbering.nu)
    assert (n["nq_cut"], n["nu_cut"]) == (numbering.nq_cut, numbering.nu_cut)
    assert reader.table(n["bodies"], 4) == [[k.body, k.joint, k.parent, k.reversed] for k in graph.links]
    assert [row[1:] for row in reader.table(n["joints"], 3)] == [
        [numbering.q[name].start, numbering.u[name].start] for name in mech.joints
    ]
    loops = reader.table(n["loops"], 5)
    assert [row[:4] for row in loops] == [[k.joint, k.parent, k.child, k.root] for k in graph.loops]
    assert all(i in graph.clusters[row[4]].loops for i, row in enumerate(loops))
    clusters = reader.table(n["clusters"], 4)
    assert [(root, tuple(range(first, first + count))) for root, first, count, _ in clusters] == [
        (cluster.root, cluster.links) for cluster in graph.clusters
    ]
    assert tuple(row[3] for row in clusters) == (methods.clusters if methods else (0,) * n["clusters"])
    assert reader.table(n["segments"], 3) == [[s.cluster, s.first, s.count] for s in graph.segments]
    ears = reader.table(n["ears"], 3)
    ear_links = [link for (link,) in reader.table(sum(row[2] for row in ears), 1)]
    expected = [(number, ear) for number, cluster in enumerate(graph.clusters) for ear in cluster.ears]
    assert ears == [[number, ear.loop, len(ear.links)] for number, ear in expected]
    assert ear_links == [link for _, ear in expected for link in ear.links]
    assert reader.table(n["couplings"], 1) == [[place.cluster] for place in graph.couplings]
    names = list(mech.joints)
    assert reader.table(n["terms"], 2) == [
        [number, range(numbering.nu_all)[numbering.u[names[joint]]][element]]
        for number, place in enumerate(graph.couplings)
        for joint, element in place.terms
    ]
    rates = 3 + 10 * n["bodies"] + 14 * n["joints"] + 3 * numbering.nu_all
    reader.table(1, rates, "<f8")
    couplings = mech.couplings.values()
    assert reader.table(n["terms"], 4, "<f8") == [list(t.coefficients) for one in couplings for t in one.terms.values()]
    assert reader.table(n["couplings"], 1, "<f8") == [[one.offset] for one in couplings]
    reader.table(1, 2 + 2 * numbering.nq_all + 2 * numbering.nu_all, "<f8")
    assert reader.data.decode().split("\0") == [*mech.bodies, *mech.joints, *mech.couplings, ""]


@given(coupled_mechanisms())
@settings(deadline=None, max_examples=100)
def test_random_mechanisms(mech):
    check_layout(mech)


@pytest.mark.parametrize("deep", [True, False])
def test_ladder_with_methods(deep):
    check_layout(ladder(5, deep), Methods(MULTIPLIERS_ABOUT_ORIGIN, (EMBEDDING,)))


def test_terms_of_tree_and_cut_joints():
    pairs = [("ground", "a"), ("a", "b"), ("b", "ground")]
    mech = mechanism("ab", [(f"J{i}", *pair) for i, pair in enumerate(pairs)])
    mech.add_coupling("gear", {"J2": 2.0, "J0": (0, 0, 0, 1)}, offset=0.5)
    check_layout(mech)
