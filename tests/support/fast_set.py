"""Which tests every run takes, and which only `./run test --slow`.

`@pytest.mark.slow` puts a test into the slow set. `@pytest.mark.thin(n)` puts most cases of a parametrized test there:
one n-th stays fast, but no fewer than LEAST, and as many values of each parameter as can be occur in it. Each test is
in one of both sets, and CI runs both. `@pytest.mark.thin(n, kept=m)` is for products of parameters, in which pairs of
values find no more faults than the values: so only one m-th of its cases are tests at all. The choice depends on the
cases alone, so that all processes of a run agree.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping

import pytest

LEAST = 3


def mark_slow_cases(items: list[pytest.Item]) -> set[pytest.Item]:
    """Mark as slow what `thin` leaves out of the fast set; return what it leaves out of both."""
    families: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("thin") is not None and hasattr(item, "callspec"):
            families[item.nodeid.partition("[")[0]].append(item)
    dropped = set[pytest.Item]()
    for cases in families.values():
        thin = cases[0].get_closest_marker("thin")
        kept = chosen(cases, thin.kwargs.get("kept", 1))
        dropped.update(set(cases) - set(kept))
        for case in set(kept) - set(chosen(kept, thin.args[0] // thin.kwargs.get("kept", 1))):
            case.add_marker(pytest.mark.slow)
    return dropped


def chosen(cases: list[pytest.Item], n: int) -> list[pytest.Item]:
    """One n-th of the cases of a test, in which as many values of each parameter as can be occur."""
    numbers = representatives([case.callspec.indices for case in cases], n)
    return [case for number, case in enumerate(cases) if number in numbers]


def representatives(cases: list[Mapping[str, int]], n: int) -> set[int]:
    """Choose one n-th of cases, given by the indices of their parameters, in which as many values as can be occur.

    >>> sorted(representatives([{"seed": seed} for seed in range(12)], 3))
    [0, 3, 6, 9]
    >>> grid = [{"family": f, "method": m} for f in range(4) for m in range(4)]
    >>> chosen = representatives(grid, 4)
    >>> [len({grid[k][name] for k in chosen}) for name in ("family", "method")]
    [4, 4]
    """
    count, parameters = max(-(-len(cases) // n), min(len(cases), LEAST)), len({name for case in cases for name in case})
    if parameters == 1:
        return {k * len(cases) // count for k in range(count)}
    order = random.Random(1).sample(range(len(cases)), len(cases))
    fast, seen = set[int](), set[tuple[str, int]]()
    for new in range(parameters, -1, -1):  # those that bring most values first
        for number in order:
            values = set(cases[number].items())
            if len(fast) < count and number not in fast and len(values - seen) >= new:
                fast.add(number)
                seen |= values
    return fast
