"""A closed leg moves its foot with the least squares of torques, found by direct collocation with exact Hessians.

The leg is the five-bar of `five_bar` with two motors. `lw.casadi.function` gives the accelerations of the closed loop
as a graph of CasADi. A simulation with the torques that are found follows the planned motion.
"""

from dataclasses import dataclass

import casadi
import five_bar
import numpy as np

import linkwork as lw
import linkwork.casadi

DURATION, INTERVALS = 0.4, 20  # s
MOTORS = ("L", "R")
FROM, TO = {"L": 2.2, "R": 0.94}, {"L": 1.7, "R": 0.6}  # rad
LIMIT = 6.0  # N m


@dataclass(frozen=True)
class Plan:
    """Times (n,), states (n, 8) and torques (n, 2) at the ends of the intervals; steps of IPOPT."""

    t: np.ndarray
    states: np.ndarray
    torques: np.ndarray
    steps: int


def plan() -> Plan:
    """Find the motion by the rule of Simpson in each interval, torques linear between the ends (Hermite, Simpson)."""
    model = lw.compile(five_bar.mechanism())
    start, end = (np.concatenate([s.q, s.u]) for s in (model.assemble(q=FROM), model.assemble(q=TO)))
    rates = lw.casadi.function(model)
    loads = [model.numbering.u[name].start for name in MOTORS]

    def derivatives(x: casadi.MX, torques: casadi.MX) -> casadi.MX:
        tau = casadi.MX.zeros(rates.size1_in("tau"))
        tau[loads] = torques
        return rates(0, x, tau, [])[0]

    problem, dt = casadi.Opti(), DURATION / INTERVALS
    x, torque = problem.variable(start.size, INTERVALS + 1), problem.variable(2, INTERVALS + 1)
    at_ends = [derivatives(x[:, k], torque[:, k]) for k in range(INTERVALS + 1)]
    for k in range(INTERVALS):
        middle = (x[:, k] + x[:, k + 1]) / 2 + dt / 8 * (at_ends[k] - at_ends[k + 1])
        between = derivatives(middle, (torque[:, k] + torque[:, k + 1]) / 2)
        problem.subject_to(x[:, k + 1] == x[:, k] + dt / 6 * (at_ends[k] + 4 * between + at_ends[k + 1]))
    problem.subject_to(x[:, 0] == start)
    # The loops stay closed: at the end the motors' angles and speeds decide the others.
    for joint in MOTORS:
        place, rate = model.numbering.q[joint].start, model.sizes.nq + model.numbering.u[joint].start
        problem.subject_to(x[place, INTERVALS] == end[place])
        problem.subject_to(x[rate, INTERVALS] == 0)
    problem.subject_to(problem.bounded(-LIMIT, casadi.vec(torque), LIMIT))
    problem.minimize(dt * casadi.sumsqr(torque))
    problem.set_initial(x, np.linspace(start, end, INTERVALS + 1).T)
    problem.solver("ipopt", {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"})
    found = problem.solve()
    times = np.linspace(0.0, DURATION, INTERVALS + 1)
    states, torques = (np.asarray(found.value(one)).T for one in (x, torque))
    return Plan(times, states, torques, found.stats()["iter_count"])


def follow(planned: Plan) -> lw.Result:
    """Simulate with the torques of the plan."""
    inputs = {name: (planned.t, planned.torques[:, k]) for k, name in enumerate(MOTORS)}
    model = lw.compile(five_bar.mechanism())
    return lw.simulate(model, DURATION, model.assemble(q=FROM), inputs=inputs, rtol=1e-9)


if __name__ == "__main__":
    planned = plan()
    result = follow(planned)
    print(f"{planned.steps} steps of IPOPT; torques up to {np.abs(planned.torques).max():.2f} N m")
    for name in MOTORS:
        q, u = (result[f"{name}.{what}"][-1] for what in "qu")
        print(f"{name} ends at {q:.4f} rad, {u:.4f} rad/s; asked: {TO[name]} rad")
