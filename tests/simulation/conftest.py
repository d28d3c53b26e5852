"""The four-bar that the tests of this folder run, and one result."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar


@pytest.fixture(scope="module")
def system():
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    return lw.compile(case.mechanism)


@pytest.fixture(scope="module")
def sprung():
    """With a spring and damper in a tree joint."""
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    case.mechanism.add_force(lw.SpringDamper("B", stiffness=0.3, damping=0.1, free=0.2))
    return lw.compile(case.mechanism)


@pytest.fixture(scope="module")
def result(sprung):
    return lw.simulate(sprung, 0.5, t_eval=np.linspace(0.0, 0.5, 11), inputs={"A": lambda t: 1.0 - t, "D": 0.25})
