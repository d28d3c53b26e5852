"""A network learns the friction of a bearing from the motion of a four-bar, through its equations of motion.

The friction of the crank's bearing is a function of its speed that the model has not got. `lw.torch.function` gives the
derivatives of the states with exact gradients, so that steps of a method of integration can be differentiated: a
network is fitted such that short runs with its torque end where the measured motion does.
"""

from __future__ import annotations

from dataclasses import dataclass

import four_bar
import numpy as np
import torch

import linkwork as lw
import linkwork.torch

STEP, SAMPLES = 0.01, 81  # s, between two of them
SPEEDS = (-9.0, -5.0, 5.0, 9.0)  # rad/s, of the crank at the start of each motion
SCALE = 10.0  # rad/s, of the argument of the network
COULOMB, RAMP, VISCOUS = 0.8, 2.0, 0.05  # N m, rad/s, N m s/rad, of the bearing that is measured


@dataclass(frozen=True)
class Learned:
    """The network, and the friction by it and as it is (n,) over speeds (n,)."""

    network: torch.nn.Module
    speeds: np.ndarray
    by_network: np.ndarray
    exact: np.ndarray


def measured() -> np.ndarray:
    """States (motions, samples, 6) of the mechanism with its friction."""
    mech = four_bar.mechanism()
    values = {"coulomb": COULOMB, "ramp": RAMP, "viscous": VISCOUS}
    mech.add_force(lw.Force("A", "-coulomb*tanh(u/ramp) - viscous*u", parameters=values))
    model = lw.compile(mech)
    t = STEP * np.arange(SAMPLES)
    runs = [lw.simulate(model, t[-1], model.assemble(u={"A": u}), t_eval=t, rtol=1e-10) for u in SPEEDS]
    names = [*model.q_names, *model.u_names]
    return np.array([np.column_stack([run[name] for name in names]) for run in runs])


def learn(states: np.ndarray) -> torch.nn.Module:
    """Fit a network such that a step from each sample ends at the next one."""
    model = lw.compile(four_bar.mechanism())
    f = lw.torch.function(model)
    at = f.arguments["x"].index("A.u")
    loads = torch.zeros(len(f.arguments["tau"]), dtype=torch.float64)
    loads[f.arguments["tau"].index("A.tau")] = 1.0
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Linear(1, 6), torch.nn.Tanh(), torch.nn.Linear(6, 1)).double()

    def derivatives(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = f(0.0, x, network(x[:, at : at + 1] / SCALE) * loads)
        return result

    def after_a_step(x: torch.Tensor) -> torch.Tensor:
        a = derivatives(x)
        b = derivatives(x + STEP / 2 * a)
        c = derivatives(x + STEP / 2 * b)
        d = derivatives(x + STEP * c)
        return x + STEP / 6 * (a + 2 * b + 2 * c + d)

    before, after = (torch.tensor(part.reshape(-1, part.shape[-1])) for part in (states[:, :-1], states[:, 1:]))
    search = torch.optim.LBFGS(network.parameters(), max_iter=100, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        search.zero_grad()
        missed = ((after_a_step(before) - after) / STEP).square().mean()
        missed.backward()
        return missed

    search.step(loss)
    return network


def main() -> Learned:
    """Learn the friction, and print how far it is from that of the measured motion."""
    states = measured()
    network = learn(states)
    u = states[..., 3]
    speeds = np.linspace(u.min(), u.max(), 101)
    with torch.no_grad():
        found = network(torch.tensor(speeds[:, None]) / SCALE)[:, 0].numpy()
    exact = -COULOMB * np.tanh(speeds / RAMP) - VISCOUS * speeds
    print(f"friction between {u.min():.1f} and {u.max():.1f} rad/s: {np.abs(exact).max():.3f} N m at most")
    print(f"largest error of the network: {np.abs(found - exact).max():.4f} N m")
    return Learned(network, speeds, found, exact)


if __name__ == "__main__":
    main()
