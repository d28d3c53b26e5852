"""The peers' libraries on a neutral mechanism, as contestants for `timing.in_turn`.

Pinocchio's algorithms are named as the peers' driver in C++ has them. Its `lcaba` iterates towards the closed loops;
the number of iterations is part of its name. The driver is built by each compiler; the better build counts.
MuJoCo's loops are soft, as stiff as it allows.
"""

from __future__ import annotations

import os
from functools import partial
from types import ModuleType
from typing import Any

from bench.mechanisms import Missing
from bench.timing import Contestant, Timing

TREE_MODES = {"aba": "aba, LOCAL", "aba_world": "aba, WORLD"}
DIRECT_MODES = {"cd:1e-12:1:1e-12": "constraintDynamics"}
LOOP_MODES = DIRECT_MODES | {"lcaba:1e-8:1:1e-12": "lcaba 1", "lcaba:1e-6:3:1e-12": "lcaba 3"}
COMPILERS = ("g++", "clang++")
LOOP_PEERS = (*LOOP_MODES.values(), "MuJoCo")


def pinocchio(peers: ModuleType, neutral: dict[str, Any], modes: dict[str, str]) -> list[Contestant]:
    """Pinocchio's algorithms in the peers' C++ driver, once for each compiler, under the same names."""
    return [partial(_pinocchio, peers, neutral, modes, compiler) for compiler in COMPILERS]


def _pinocchio(peers: ModuleType, neutral: dict[str, Any], modes: dict[str, str], compiler: str) -> dict[str, Timing]:
    """Time the driver as one compiler builds it; nothing above the capacity of its tensors."""
    if len(neutral["q"]) > peers.PIN_MAX_NV:
        return {}
    os.environ["CXX"] = compiler  # the driver is built by it, and kept
    results = peers.run_pin_cpp(neutral, list(modes), "con" if neutral["pins"] else "aba")
    for mode in modes:
        if "us" not in results.get(mode, {}):
            raise Missing(f"Pinocchio's C++ driver gives no {mode}: {results.get(mode, {}).get('error', 'no output')}")
    return {name: Timing(results[mode]["us"], results[mode]["qdd"]) for mode, name in modes.items()}


def mujoco(peers: ModuleType, neutral: dict[str, Any]) -> list[Contestant]:
    """MuJoCo with sparse and with dense Jacobians, of which the faster counts; the models are built here, once."""
    return [partial(_mujoco, peers, *peers.mj_model(neutral, jacobian=kind)) for kind in ("sparse", "dense")]


def _mujoco(peers: ModuleType, model: Any, data: Any) -> dict[str, Timing]:
    return {"MuJoCo": Timing(peers.mj_time(model, data), data.qacc.copy())}
