"""Jumps of the speeds by divide and conquer against the dense solution, and by identities."""

import numpy as np
import pytest

import linkwork as lw
from support.impulses import changed, gap_of_jump, jump_of
from support.random_changes import random_change

SEEDS = range(90)


@pytest.fixture(scope="module", params=SEEDS)
def change(request):
    return random_change(request.param)


@pytest.mark.parametrize("given", [False, True], ids=["by speeds", "by velocities"])
def test_the_dense_solution(change, given):
    gaps = gap_of_jump(change, given=given)
    assert max(gaps.values()) < 1e-10, gaps
