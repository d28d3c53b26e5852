"""Many states of one mechanism: rows of a batch, interpreted and compiled, against single evaluations of the peers."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

import linkwork as lw
from bench import exact
from bench.contest import judged
from bench.contestants import DIRECT_MODES, TREE_MODES, mujoco, pinocchio
from bench.core import time_core
from bench.mechanisms import CHECKOUT, Missing, Scene, random_tree
from bench.one_state import NAME, by_one_state
from bench.report import Cell, Goal, Report
from bench.session import Session
from bench.state_loads import fastest
from bench.timing import Contestant, Timing, difference

ROWS = 4096
COPIES, STEPS = 1000, 1000
LONGEST_COMPILED = 50_000  # distinct steps, as of those that are compiled by themselves
METHODS = {"rk4": 10, "semi": 10, "rosenbrock": 2}  # steps that are measured of each
ROBOTS = {"Robotiq 2F-85": "robotiq_2f85", "Cassie": "cassie"}
AIMS = {"four-bar": 0.08, "Robotiq 2F-85": 0.06, "Cassie": 0.25, "chain of 6": 0.35}  # of one state to the peer
AIMS |= {"chain of 30": 0.4, "chain of 300": 0.4, "tree of 300": 0.4}
AIMS |= {"100 four-bars in series": 0.12, "ladder of 100": 0.25}
Work = Callable[[lw.Batch], Any]


def described(peers: ModuleType) -> dict[str, tuple[dict[str, Any], str]]:
    """Neutral descriptions by name, and what Linkwork takes for their pins."""
    return {
        "chain of 6": (peers.chain(6), "revolute"),
        "four-bar": (peers.fourbars(1), "revolute"),
        "10 four-bars in series": (peers.fourbars(10), "revolute"),
        "ladder of 3": (peers.ladder(3), "spherical"),
    }


def longer(peers: ModuleType) -> dict[str, tuple[dict[str, Any], str]]:
    """As `described`, of many bodies."""
    return {
        "chain of 30": (peers.chain(30), "revolute"),
        "chain of 300": (peers.chain(300), "revolute"),
        "tree of 300": (random_tree(peers.chain(300)), "revolute"),
        "100 four-bars in series": (peers.fourbars(100), "revolute"),
        "ladder of 100": (peers.ladder(100), "spherical"),
    }


def robots() -> Iterator[tuple[str, lw.Model]]:
    """Robots with loops, from the folder next to the checkout."""
    for name, file in ROBOTS.items():
        path = CHECKOUT.parent / "shared" / "models" / "as_mechanisms" / f"{file}.json"
        if not path.exists():
            raise Missing(f"there is no {path.name} among the models next to the checkout")
        yield name, lw.compile(lw.load(path))


def forward_of_mujoco(peers: ModuleType, name: str) -> Contestant:
    """`mj_forward` of a robot in its first pose, without contacts."""
    import mujoco as library

    path = CHECKOUT.parent / "shared" / "models" / f"{ROBOTS[name]}_nomesh.xml"
    model = library.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= library.mjtDisableBit.mjDSBL_CONTACT
    data = library.MjData(model)
    return lambda: {"mj_forward": Timing(peers.mj_time(model, data), data.qacc.copy())}


def near(model: lw.Model, q: np.ndarray, u: np.ndarray) -> lw.Batch:
    """States that differ from one by rounding errors, of one thread."""
    batch = model.batch(ROWS, threads=1)
    batch.q = q + 1e-13 * np.random.default_rng(0).normal(size=batch.q.shape)
    batch.u = u
    return batch


def rows_of(batch: lw.Batch, work: Work, name: str) -> dict[str, Timing]:
    """The time of a row, and the numbers of the last one."""
    seconds, found = fastest(partial(work, batch), 5)
    return {name: Timing(1e6 * seconds / ROWS, np.asarray(found)[-1])}


def by_tapes(model: lw.Model, q: np.ndarray, u: np.ndarray, work: Work, name: str) -> list[Contestant]:
    """A batch whose tapes are interpreted, and another one whose tapes are compiled."""
    interpreted, compiled = near(model, q, u), near(model, q, u)
    for batch in (interpreted, compiled):
        work(batch)
    if any(t.distinct > LONGEST_COMPILED for tapes in compiled.tapes for t in tapes.recorded):
        return [partial(rows_of, interpreted, work, name)]
    for tapes in compiled.tapes:
        tapes.compile()
        if tapes.not_compiled:
            raise Missing(f"tapes are not compiled: {tapes.not_compiled}")
    return [partial(rows_of, interpreted, work, name), partial(rows_of, compiled, work, f"{name}, compiled")]


def accelerations(batch: lw.Batch) -> np.ndarray:
    return batch.accelerations()


def jacobians(batch: lw.Batch) -> np.ndarray:
    return batch.jacobian()


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    session = Session(options)
    report = Report("many_states", "Many states", ("linkwork", "numpy", "pin", "mujoco"))
    report.text(
        f"CPU time of one state, us, on one core, best of {session.rounds} rounds in turn; in brackets the error to "
        "the largest acceleration, of the chain against the core's. Peers and the core evaluate single states, "
        f"`Batch.accelerations` {ROWS} of them, by tapes that are interpreted, and compiled. Of one state, compiled: "
        "the rates with the feedback of the loops, residuals and coordinates of cut joints, as runs ask for them."
    )
    rows: list[list[Cell]] = []
    ratios: dict[str, float] = {}
    single: list[Goal] = []
    for name, (neutral, pins) in described(session.peers).items():
        scene = Scene.of(neutral, name, pins)
        q, u, tau = scene.motion
        n = scene.system.sizes.nu

        def loaded(batch: lw.Batch, tau: np.ndarray = tau, n: int = n) -> np.ndarray:
            batch.tau[:, : tau.size] = tau
            return batch.accelerations()

        modes = DIRECT_MODES if neutral["pins"] else TREE_MODES
        contestants = [*pinocchio(session.peers, neutral, modes), *mujoco(session.peers, neutral)]
        contestants.append(partial(time_core, session.driver, scene))
        contestants.append(by_one_state(scene.system, q, u, tau))
        contestants += by_tapes(scene.system, q, u, loaded, "batch")
        best = session.take_turns(contestants, name)
        truth = exact.accelerations(neutral) if neutral["pins"] else best["accelerations"].udot
        found = {who: judged(timing, truth) for who, timing in best.items() if timing.udot.size == truth.size}
        pin = min((found[mode] for mode in modes.values() if mode in found), default=None)
        by = ("MuJoCo", "accelerations", NAME, "batch", "batch, compiled")
        cells = [pin, *(found.get(one) for one in by)]
        rows.append([name, *(None if one is None else str(one) for one in cells)])
        if pin is not None and "batch, compiled" in found:
            ratios[name] = found["batch, compiled"].us / pin.us
        if pin is not None and NAME in found and name in AIMS:
            single.append(Goal(f"{name}: one state, compiled, to Pinocchio", found[NAME].us / pin.us, AIMS[name]))
    report.table(["mechanism", "Pinocchio", "MuJoCo", "core", NAME, "batch", "batch, compiled"], rows)
    report.text("The same by tapes alone: accelerations, matrices of the derivatives by the states (Jacobians).")
    heading, alone, goals = by_tapes_alone(session)
    report.table(heading, alone)
    report.text(
        "Mechanisms of many bodies; one state by the kernels where these are faster. Tapes of more than 50 000 "
        "distinct operations are not compiled."
    )
    many, of_many = of_many_bodies(session)
    report.table(["mechanism", "Pinocchio", "core", NAME, "ratio", "batch", "batch, compiled"], many)
    report.text(
        f"{COPIES} four-bars for 1 s, in steps of 1 ms: CPU time of all, s, largest gap of a loop at the end, m. "
        "`mujoco.rollout` takes steps of Euler's method on one thread, `Batch.rollout` of Runge and Kutta's of order 4 "
        "and of Euler's."
    )
    moved = rollouts(session)
    report.table(["by", "s", "gap"], moved)
    report.text(
        f"{ROWS} states of a biped with six loops, Disney's of Gepetto's example-parallel-robots (26 bodies), "
        "by `Batch.rollout` in steps of 0.1 ms: CPU time of a step of one state, us, and such steps in a second on one "
        "core, in double precision. The nearest published work is Kamino (Newton 1.8, arXiv 2603.16536): 4096 DR Legs, "
        "which have six nested loops as well, on one GPU, in single precision, by Euler's method, with constraints to "
        "1e-4; it has another model of the robot, and contacts."
    )
    report.table(["method", "us", "steps/s", "us, compiled", "steps/s, compiled"], biped_rollouts(session))
    report.text(session.gaps)
    report.goals([*single, *goals, *of_many, *aims(ratios), *rollout_goals(moved)])
    report.save()


def by_tapes_alone(session: Session) -> tuple[list[str], list[list[Cell]], list[Goal]]:
    """Accelerations and Jacobians of robots and others, and a gradient by parameters."""
    heading = ["mechanism", "states", "MuJoCo", NAME, "single, by Python", "batch", "compiled", "Jacobians", "compiled"]
    heading.append("difference")
    models = {name: Scene.of(neutral, name, pins).system for name, (neutral, pins) in described(session.peers).items()}
    for name, model in robots():
        models[name] = model
    rows: list[list[Cell]] = []
    goals: list[Goal] = []
    for name, model in models.items():
        start = model.assemble()
        q, u = np.asarray(start.q), np.asarray(start.u)
        found = session.take_turns(by_tapes(model, q, u, accelerations, "batch"), name)
        cells: list[Cell] = [_us(found, "batch"), _us(found, "batch, compiled")]
        others = [forward_of_mujoco(session.peers, name)] if name in ROBOTS else []
        single = session.take_turns([partial(_single, model, q, u), by_one_state(model, q, u), *others], name)
        small = model.sizes.states < 40
        if small:
            matrices = session.take_turns(by_tapes(model, q, u, jacobians, "J"), name)
            cells += [_us(matrices, "J"), _us(matrices, "J, compiled")]
            cells.append(difference(matrices["J"].udot, model.jacobian(q, u)))
        else:
            cells += [None, None, None]
        theirs, own = _us(single, "mj_forward"), _us(single, NAME)
        rows.append([name, str(model.sizes.states), theirs, own, _us(single, "single"), *cells])
        if theirs and own:
            goals.append(Goal(f"{name}: one state, compiled, to mj_forward", own / theirs, AIMS[name]))
    return heading, rows, goals


def of_many_bodies(session: Session) -> tuple[list[list[Cell]], list[Goal]]:
    """Long mechanisms: one state, as a run asks for it, and a batch."""
    rows: list[list[Cell]] = []
    goals: list[Goal] = []
    for name, (neutral, pins) in longer(session.peers).items():
        scene = Scene.of(neutral, name, pins)
        modes = DIRECT_MODES if neutral["pins"] else TREE_MODES
        contestants = [*pinocchio(session.peers, neutral, modes), partial(time_core, session.driver, scene)]
        q, u, _ = scene.motion
        contestants.append(by_one_state(scene.system, *scene.motion))
        contestants += by_tapes(scene.system, q, u, accelerations, "batch")
        best = session.take_turns(contestants, name)
        theirs = min(best[mode].us for mode in modes.values() if mode in best)
        core, own = _us(best, "accelerations"), _us(best, NAME)
        least = min(one for one in (core, own) if one is not None)
        batch = [_us(best, "batch"), _us(best, "batch, compiled")]
        rows.append([name, theirs, core, own, least / theirs, *batch])
        goals.append(Goal(f"{name}: one state to Pinocchio", least / theirs, AIMS[name]))
    return rows, goals


def rollouts(session: Session) -> list[list[Cell]]:
    """CPU time and gaps of many four-bars over a second."""
    neutral = session.peers.fourbars(1)
    rows: list[list[Cell]] = [["mujoco.rollout", *mujoco_rollout(session.peers, neutral)]]
    model = Scene.of(neutral, "four-bar", "revolute").system
    for name, method in (("", "rk4"), (", compiled", "rk4"), (", compiled", "semi")):
        batch = model.batch(COPIES, threads=1)
        batch.q, batch.u = neutral["q"], neutral["v"]
        batch.assemble()
        for _ in range(2):  # from the second one on by tapes
            batch.rollout(1e-3, 2, method=method)
        for tapes in batch.tapes if name else ():
            tapes.compile()
        begin = time.process_time()
        batch.rollout(1e-3, STEPS, every=STEPS, method=method)
        spent = time.process_time() - begin
        rows.append(
            [f"Batch.rollout, {method}{name}", spent, float(np.abs(model.loop_residual(batch.q, batch.u)).max())]
        )
    return rows


def biped() -> lw.Model:
    """The robot, from the folder next to the checkout."""
    path = CHECKOUT.parent / "shared" / "models" / "gepetto" / "disney_robot" / "robot.urdf"
    if not path.exists():
        raise Missing("there is no disney_robot among the models next to the checkout")
    return lw.compile(lw.load(path))


def biped_rollouts(session: Session) -> list[list[Cell]]:
    """CPU time of a step of one state by each method, and steps in a second, interpreted and compiled."""
    model = session.attempt("biped", biped)
    rows: list[list[Cell]] = []
    for method in METHODS if model is not None else ():
        cells: list[Cell] = [method]
        for is_compiled in (False, True):
            seconds = session.attempt(f"biped, {method}", partial(step_time, model, method, is_compiled))
            cells += [None, None] if seconds is None else [1e6 * seconds, f"{1 / seconds:.0f}"]
        rows.append(cells)
    return rows


def step_time(model: lw.Model, method: str, is_compiled: bool) -> float:
    """CPU time of a step of one row, of states that differ by rounding errors."""
    start = model.assemble()
    batch, steps = near(model, np.asarray(start.q), np.asarray(start.u)), METHODS[method]
    for _ in range(2):  # from the second one on by tapes
        batch.rollout(1e-4, 1, method=method)
    for tapes in batch.tapes if is_compiled else ():
        if all(tape.distinct < LONGEST_COMPILED for tape in tapes.recorded):
            tapes.compile()
    seconds, _ = fastest(partial(batch.rollout, 1e-4, steps, every=steps, method=method), 3)
    return seconds / steps / ROWS


def mujoco_rollout(peers: ModuleType, neutral: dict[str, Any]) -> tuple[float, float]:
    """The time, and the distance of the points that each pin joins."""
    import mujoco as library
    from mujoco import rollout

    model, data = peers.mj_model(neutral)
    size = library.mj_stateSize(model, library.mjtState.mjSTATE_FULLPHYSICS)
    start = np.empty(size)
    library.mj_getState(model, data, start, library.mjtState.mjSTATE_FULLPHYSICS)
    begin = time.process_time()
    states, _ = rollout.rollout(model, data, np.tile(start, (COPIES, 1)), nstep=STEPS)
    spent = time.process_time() - begin
    library.mj_setState(model, data, states[-1, -1], library.mjtState.mjSTATE_FULLPHYSICS)
    library.mj_forward(model, data)
    sites = [library.mj_name2id(model, library.mjtObj.mjOBJ_SITE, name) for name in ("s0a", "s0b")]
    return spent, float(np.linalg.norm(data.site_xpos[sites[0]] - data.site_xpos[sites[1]]))


def rollout_goals(rows: list[list[Cell]]) -> list[Goal]:
    """The ratios of the compiled ones to MuJoCo, whose method is Euler's."""
    (_, theirs, _), *others = rows
    return [
        Goal(f"{name}, to mujoco.rollout", own / theirs, 1 / 60)
        for name, own, _ in others
        if isinstance(name, str) and "compiled" in name and isinstance(own, float) and isinstance(theirs, float)
    ]


def _us(found: dict[str, Timing], name: str) -> float | None:
    return found[name].us if name in found else None


def _single(model: lw.Model, q: np.ndarray, u: np.ndarray) -> dict[str, Timing]:
    seconds, found = fastest(lambda: [model.accelerations(q, u) for _ in range(1000)][-1], 3)
    return {"single": Timing(1e3 * seconds, np.asarray(found))}


def aims(ratios: dict[str, float]) -> list[Goal]:
    """Ratios of compiled rows to Pinocchio's single evaluations."""
    return [Goal(f"{name}: a compiled row to Pinocchio", ratio, 0.1) for name, ratio in ratios.items()]
