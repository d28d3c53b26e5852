"""Rollouts of a model as a differentiable function of PyTorch, whose backward pass sweeps back through the steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from linkwork._util.keywords import checks_keywords
from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError
from linkwork.model.rollout_function import NO_FORWARD_DERIVATIVES, NO_SECOND_DERIVATIVES, RolloutFunction
from linkwork.torch.tensors import Mapped, numbers_of, tensor_of

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.model.state import State

with optional_import("functions of PyTorch", "torch", "torch"):
    import torch


class _States(Mapped):
    """States at all times that are kept."""

    @staticmethod
    def forward(rollouts: RolloutFunction, *given: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(rollouts.values(*map(numbers_of, given)))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.rollouts = inputs[0]
        ctx.save_for_backward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Any, ...]:
        given = ctx.saved_tensors
        joined = _Pullback.apply(ctx.rollouts, *given, grad_outputs[0])
        return None, *ctx.rollouts.split(joined, tuple(given[1].shape))

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        raise MechanismError(NO_FORWARD_DERIVATIVES)


class _Pullback(Mapped):
    """Derivatives by all arguments, of their last one as weights of the states."""

    @staticmethod
    def forward(rollouts: RolloutFunction, *given: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(rollouts.pullback(*map(numbers_of, given)))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Any, ...]:
        raise MechanismError(NO_SECOND_DERIVATIVES)

    jvp = backward


class Rollouts:
    """Rollouts as a function of PyTorch, made by `rollout`.

    Attributes
    ----------
    arguments
        Names of the numbers of each argument: `x`, `tau`, `p`.
    shape
        Of the result of one row: times that are kept, and states.
    """

    def __init__(self, rollouts: RolloutFunction) -> None:
        self._rollouts = rollouts
        self.arguments, self.shape = rollouts.arguments, rollouts.shape

    def __repr__(self) -> str:
        return f"Rollouts({self._rollouts.signature})"

    def __call__(self, x: Any, tau: Any = None, p: Any = None) -> Any:
        """Return the states at all times that are kept (..., times, n).

        Parameters
        ----------
        x
            States at the start (..., n).
        tau
            Loads of each step (..., steps, n), or (..., 1, n) that hold throughout; by default none.
        p
            Parameters (..., n); by default those of the model.
        """
        given = self._rollouts.shaped({"x": x, "tau": tau, "p": p}, tensor_of, torch.broadcast_to)
        return _States.apply(self._rollouts, *given)


@checks_keywords
def rollout(
    model: Model,
    step: float,
    steps: int,
    state: State | None = None,
    *,
    every: int = 1,
    parameters: Iterable[str] = (),
    threads: int = 0,
) -> Rollouts:
    """Return steps of fixed size of a model as a differentiable function of PyTorch.

    Leading dimensions of its arguments are a batch. States are those of `Batch.rollout`; the backward pass takes the
    steps again from checkpoints and sweeps back through them, `Batch.differentiable_rollout`: gradients are exact to
    rounding. There are neither second nor forward derivatives.

    Parameters
    ----------
    model
        Of the mechanism.
    step
        s.
    steps
        How many.
    state
        The time at the start, transitions, inputs of motions and revolutions of cut joints are as at it; by default at
        the assembled start.
    every
        States are kept after so many steps each.
    parameters
        Names of parameters that are arguments; all others are constants. Where they change the geometry, the states
        must close the loops.
    threads
        As of `Model.batch`.

    Returns
    -------
    Rollouts
        Of tensors of float64 on the CPU, `f(x, tau, p)`: `x`, the states at the start [q; u; states of elements];
        `tau`, loads of each step (..., steps, n) or (..., 1, n), by default none; `p`, the parameters one behind the
        other, by default those of the model. Its result is (..., 1 + steps // every, n), from the states at the start
        on.

    Examples
    --------
    >>> import linkwork as lw
    >>> import linkwork.torch
    >>> import torch
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> fall = linkwork.torch.rollout(lw.compile(mech), 1e-2, 10, every=10)
    >>> x = torch.tensor([0.5, 0.0], dtype=torch.float64, requires_grad=True)
    >>> fall(x)[-1, 0].backward()
    >>> x.grad.round(decimals=4)
    tensor([0.9643, 0.0988], dtype=torch.float64)
    """
    return Rollouts(RolloutFunction(model, step, steps, state, every, parameters, threads))
