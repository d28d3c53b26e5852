"""Tensors as arguments and results of functions of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError

with optional_import("functions of PyTorch", "torch", "torch"):
    import torch


class Mapped(torch.autograd.Function):
    """Functions of arguments that are alike in all leading dimensions."""

    if TYPE_CHECKING:

        @classmethod
        def apply(cls, *args: Any) -> Any:
            """Return the result of `forward`."""

    @classmethod
    def vmap(cls, info: Any, in_dims: Sequence[int | None], *given: Any) -> tuple[Any, int]:
        """Let the dimension of a `torch.vmap` be the first one of all arguments."""
        moved = [
            one
            if not isinstance(one, torch.Tensor)
            else one.expand(info.batch_size, *one.shape)
            if dim is None
            else one.movedim(dim, 0)
            for one, dim in zip(given, in_dims, strict=True)
        ]
        return cls.apply(*moved), 0


def numbers_of(tensor: torch.Tensor) -> Any:
    """Return the array of a tensor."""
    return tensor.detach().numpy()


def tensor_of(name: str, value: Any) -> torch.Tensor:
    """Return a tensor, or numbers as one; `name` is that of the argument, for errors."""
    tensor = value if isinstance(value, torch.Tensor) else torch.as_tensor(value, dtype=torch.float64)
    if tensor.dtype != torch.float64:
        raise MechanismError(f"{name} has numbers of type {tensor.dtype}; give torch.float64, as {name}.double() does")
    if tensor.device.type != "cpu":
        raise MechanismError(f"{name} is on device {tensor.device}; give it on the CPU, as {name}.cpu() does")
    return tensor
