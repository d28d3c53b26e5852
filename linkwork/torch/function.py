"""A model as a differentiable function of PyTorch, whose gradients are those of the kernels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from linkwork._util.keywords import checks_keywords
from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError
from linkwork.model.row_function import NO_SECOND_DERIVATIVES, RowFunction
from linkwork.torch.tensors import Mapped, numbers_of, tensor_of

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.model.state import State

with optional_import("functions of PyTorch", "torch", "torch"):
    import torch


class _Values(Mapped):
    """All results one behind the other."""

    @staticmethod
    def forward(rows: RowFunction, *given: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(rows.values(*map(numbers_of, given)))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.rows = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Any, ...]:
        given, needed = ctx.saved_tensors, ctx.needs_input_grad[1:]
        by = tuple(name for name, is_needed in zip(ctx.rows.arguments, needed, strict=True) if is_needed)
        matrices = _Jacobians.apply(ctx.rows, by, *given)
        product = (grad_outputs[0].unsqueeze(-2) @ matrices).squeeze(-2)
        parts = iter(
            product.split([one.shape[-1] for one, is_needed in zip(given, needed, strict=True) if is_needed], -1)
        )
        return None, *(next(parts) if is_needed else None for is_needed in needed)

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> torch.Tensor:
        tangents = {name: one for name, one in zip(ctx.rows.arguments, grad_inputs[1:], strict=True) if one is not None}
        matrices = _Jacobians.apply(ctx.rows, tuple(tangents), *ctx.saved_tensors)
        found: torch.Tensor = matrices @ torch.cat(list(tangents.values()), -1).unsqueeze(-1)
        return found.squeeze(-1)


class _Jacobians(Mapped):
    """Their matrices by the arguments that are named."""

    @staticmethod
    def forward(rows: RowFunction, by: tuple[str, ...], *given: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(rows.jacobians(by, *map(numbers_of, given)))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> tuple[Any, ...]:
        raise MechanismError(NO_SECOND_DERIVATIVES)

    jvp = backward


class Function:
    """A model as a function of PyTorch, made by `function`.

    Attributes
    ----------
    arguments
        Names of the numbers of each argument: `t`, `x`, `tau`, `p`.
    results
        Their sizes by name: `der_x`, and the outputs.
    """

    def __init__(self, rows: RowFunction) -> None:
        self._rows = rows
        self.arguments, self.results = rows.arguments, rows.results

    def __repr__(self) -> str:
        return f"Function({self._rows.signature})"

    def __call__(self, t: Any, x: Any, tau: Any = None, p: Any = None) -> Any:
        """Return `der_x`, or a tuple of it and the outputs.

        Parameters
        ----------
        t
            Time (...), s.
        x
            States (..., n).
        tau
            Loads (..., n); by default none.
        p
            Parameters (..., n); by default those of the model.
        """
        given = self._rows.shaped({"t": t, "x": x, "tau": tau, "p": p}, tensor_of, torch.broadcast_to)
        return self._rows.split(_Values.apply(self._rows, *given))


@checks_keywords
def function(
    model: Model,
    state: State | None = None,
    *,
    outputs: Iterable[str] = (),
    parameters: Iterable[str] = (),
    threads: int = 0,
) -> Function:
    """Return a model as a differentiable function of PyTorch: derivatives of its states, and variables.

    Leading dimensions of its arguments are a batch. Values of a row are those of `Model.derivatives`, to the bit but
    for the signs of zeros; gradients are exact to rounding, by Jacobians of all rows. There are no second derivatives.

    Parameters
    ----------
    model
        Of the mechanism.
    state
        Transitions, inputs of motions and revolutions of cut joints are as at it; by default at the assembled start.
    outputs
        Names of variables that are results as well.
    parameters
        Names of parameters that are arguments; all others are constants. Where they change the geometry, the states
        must close the loops.
    threads
        As of `Model.batch`.

    Returns
    -------
    Function
        Of tensors of float64 on the CPU, `f(t, x, tau, p)`: `t` (...), s; `x`, the states [q; u; states of elements];
        `tau`, loads of all joints, applied wrenches and inputs of actuators, by default none; `p`, the parameters one
        behind the other, by default those of the model. Its result is `der_x`, or with outputs a tuple of `der_x` and
        these, (...) or (..., n).

    Examples
    --------
    >>> import linkwork as lw
    >>> import linkwork.torch
    >>> import torch
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> f = linkwork.torch.function(lw.compile(mech))
    >>> x = torch.tensor([[0.5, 0.0], [1.5707963267948966, 2.0]], dtype=torch.float64, requires_grad=True)
    >>> f(0.0, x).sum().backward()
    >>> x.grad.round(decimals=3)
    tensor([[ -7.0550, 1.0000],
            [-14.7150, 1.0000]], dtype=torch.float64)
    """
    return Function(RowFunction(model, state, outputs, parameters, threads))
