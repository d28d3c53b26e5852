"""What an evaluation costs, for the tables of the examples."""

import time

import linkwork as lw


def cpu_time(system: lw.Model, least: float = 0.05, longest: float = 50.0, repeats: int = 3) -> float:
    """CPU time of one evaluation of all derivatives, s: the best of some simulations.

    They last at least `least` s on the processor, or simulate `longest` s.
    """
    state, t_end, spent = system.assemble(), 0.05, 0.0
    while spent < least and t_end < longest:
        t_end *= 2
        spent, evaluations = _measured(system, state, t_end)
    return min(spent, *(_measured(system, state, t_end)[0] for _ in range(repeats - 1))) / evaluations


def _measured(system: lw.Model, state: lw.State, t_end: float) -> tuple[float, int]:
    begin = time.process_time()
    result = lw.simulate(system, t_end, state=state, progress=False)
    return time.process_time() - begin, result.statistics.evaluations
