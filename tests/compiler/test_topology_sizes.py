"""Long mechanisms: no limit of recursion, and work that grows with their length and not with its square."""

import random
from functools import partial

import pytest

from linkwork.core.plan import Segment
from support.counting import lines_run
from support.graphs import long_mechanism, windows
from support.topologies import topology


@pytest.mark.slow
@pytest.mark.parametrize("loops", [False, True])
def test_ten_thousand_bodies(loops):
    result = topology(long_mechanism(10_001, loops))
    assert len(result.loops) == (5_000 if loops else 0)


@pytest.mark.parametrize("loops", [False, True])
def test_work_grows_with_the_length(loops):
    short, long = (lines_run(partial(topology, long_mechanism(size, loops))) for size in (501, 2_001))
    assert long < 5 * short  # four times the bodies, and a logarithm; sixteen times the work if it were quadratic


@pytest.mark.slow
@pytest.mark.parametrize("order", ["given", "shuffled"])
def test_ten_thousand_bodies_of_one_cluster(order):
    mech = windows(5_000, random.Random(1).shuffle if order == "shuffled" else lambda joints: None)
    result = topology(mech)
    assert len(result.loops) == 5_000
    assert [len(cluster.loops) for cluster in result.clusters] == [5_000]
    assert result.segments == (Segment(0, 0, 10_001),)
