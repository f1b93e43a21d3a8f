"""Passes over logits as differentiable operations: a pass finds its gradients together with its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

FIRST_ONLY = (
    "the contrastive losses have first derivatives only: call `backward` or `grad` without"
    " `create_graph=True`, or pass the similarity as a plain function for a dense loss"
)
NO_FORWARD_MODE = (
    "the contrastive losses have no forward-mode derivatives (`jvp`, `jacfwd`, `hessian`): use"
    " `torch.func.grad` or `vjp`, or pass the similarity as a plain function for a dense loss"
)


class Swept(NamedTuple):
    """One value for each anchor, (n,), and the gradient of Σ weight · value for each input."""

    rows: Tensor
    gradients: tuple[Tensor | None, ...] | None


class Sweep(Protocol):
    """A pass over all logits. Inputs that are None have no gradient; without weights none has."""

    def __call__(self, inputs: Sequence[Any], weights: Tensor | float | None, /) -> Swept:
        """Values and, given one weight for all anchors or one for each, gradients."""


def differentiable(sweep: Sweep, weight: float | None, *inputs: Tensor | None) -> Tensor:
    """Give Σ weight · value, (), or the values themselves, (n,), if there is no weight.

    With a weight the gradients are found in the forward pass; without, they take a second one.
    """
    if torch._C._are_functorch_transforms_active():
        present = [index for index, tensor in enumerate(inputs) if tensor is not None]
        outputs = _Transformable.apply(  # type: ignore[no-untyped-call]
            _Compact(sweep, len(inputs), present), weight, *(inputs[index] for index in present)
        )
        transformed: Tensor = outputs[0]
        return transformed
    value: Tensor = _Swept.apply(sweep, weight, *inputs)  # type: ignore[no-untyped-call]
    return value


class _Swept(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, sweep: Sweep, weight: float | None, *inputs: Tensor | None) -> Tensor:
        ctx.sweep, ctx.weight = sweep, weight
        if weight is None:
            ctx.save_for_backward(*inputs)
            return sweep(inputs, None).rows
        rows, gradients = sweep(inputs, weight if any(ctx.needs_input_grad) else None)
        ctx.save_for_backward(*(gradients or ()))
        return rows.sum() * weight

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError(FIRST_ONLY)
        gradients = _gradients(ctx.sweep, ctx.weight, grads[0], ctx.saved_tensors)
        wanted = ctx.needs_input_grad[2:]
        return None, None, *(g if want else None for g, want in zip(gradients, wanted, strict=True))


def _gradients(sweep: Sweep, weight: float | None, grad: Tensor, saved: Sequence[Any]) -> Sequence[Any]:
    if weight is None:
        return sweep(saved, grad).gradients or ()
    # New tensors even if `grad` is 1: autograd may keep them as `.grad` and add to them in place, and the
    # saved gradients may be needed again.
    return tuple(None if gradient is None else gradient * grad for gradient in saved)


# `torch.func` needs saved tensors among the outputs, none of them None, and a rule for `vmap`: a second form
# of the same operation, which takes longer to call.


class _Compact:
    """A sweep that is given only the inputs that are not None."""

    def __init__(self, sweep: Sweep, inputs: int, present: Sequence[int]) -> None:
        self.sweep, self.inputs, self.present = sweep, inputs, present

    def __call__(self, inputs: Sequence[Any], weights: Tensor | float | None, /) -> Swept:
        full: list[Tensor | None] = [None] * self.inputs
        for index, tensor in zip(self.present, inputs, strict=True):
            full[index] = tensor
        rows, gradients = self.sweep(full, weights)
        return Swept(rows, gradients and tuple(gradients[index] for index in self.present))


class _Transformable(torch.autograd.Function):
    @staticmethod
    def forward(sweep: Sweep, weight: float | None, *inputs: Tensor) -> tuple[Any, ...]:
        rows, gradients = sweep(inputs, weight)
        return (rows,) if weight is None else (rows.sum() * weight, *(gradients or ()))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.sweep, ctx.weight, *tensors = inputs
        ctx.mark_non_differentiable(*output[1:])
        ctx.save_for_backward(*tensors, *output[1:])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        # Transforms always ask for a graph of the gradients: only their own derivative is refused.
        inputs = len(ctx.needs_input_grad) - 2
        gradients = _FirstOnly.apply(ctx.sweep, ctx.weight, inputs, grads[0], *ctx.saved_tensors)  # type: ignore[no-untyped-call]
        return None, None, *gradients

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        raise RuntimeError(NO_FORWARD_MODE)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        return _one_by_one(_Transformable, info.batch_size, in_dims, inputs)


class _FirstOnly(torch.autograd.Function):
    """Gradients that depend on the inputs of the sweep, and have no derivative."""

    @staticmethod
    def forward(
        sweep: Sweep, weight: float | None, inputs: int, grad: Tensor, *saved: Tensor
    ) -> tuple[Any, ...]:
        return tuple(_gradients(sweep, weight, grad, saved[:inputs] if weight is None else saved[inputs:]))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(FIRST_ONLY)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        return _one_by_one(_FirstOnly, info.batch_size, in_dims, inputs)


def _one_by_one(function: Any, count: int, in_dims: Sequence[Any], inputs: Sequence[Any]) -> Any:
    """Rule for `vmap`: one member of the batch after the other."""
    members = []
    for i in range(count):
        member = [x if dim is None else x.select(dim, i) for x, dim in zip(inputs, in_dims, strict=True)]
        members.append(function.apply(*member))
    outputs = tuple(torch.stack(parts) for parts in zip(*members, strict=True))
    return outputs, (0,) * len(outputs)
