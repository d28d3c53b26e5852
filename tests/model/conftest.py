"""Systems and scenes that the tests of this folder share."""

import pytest

import linkwork as lw
from support.cases import four_bar
from support.random_mechanisms import TREES_AND_LOOPS, tree_or_loop


@pytest.fixture
def system():
    return lw.compile(four_bar().mechanism)


@pytest.fixture
def state(system):
    case = four_bar()
    return system.assemble(q=case.q, u=case.u)


@pytest.fixture(params=TREES_AND_LOOPS)
def scene(request):
    return tree_or_loop(request.param)
