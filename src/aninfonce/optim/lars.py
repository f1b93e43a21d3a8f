"""LARS: momentum whose step is a fixed share of each layer's own weights, for large batches of images."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from aninfonce._validation import check_number
from aninfonce.optim.groupwise import GroupwiseOptimizer


class Lars(GroupwiseOptimizer):
    """Stochastic gradient descent with momentum and a rate for each layer.

    The step of a matrix or kernel has `trust` times the length of its weights, before momentum and `lr`.
    Biases and the scales of normalisation layers step along their gradients, without weight decay, as in
    SimCLR.

    Example:
        >>> weight = torch.nn.Parameter(torch.eye(2))
        >>> optimizer = Lars([weight], lr=1.0, trust=0.1, weight_decay=0.0)
        >>> weight.grad = 1000 * torch.eye(2)
        >>> optimizer.step()
        >>> weight.diagonal()
        tensor([0.9000, 0.9000], grad_fn=...)

    Args:
        params: tensors, or groups of them.
        lr: learning rate.
        momentum: of the running sum of steps.
        weight_decay: added to the gradient, times the weights.
        trust: length of a step relative to that of the weights.

    References:
        You et al., "Large batch training of convolutional networks" (2017).

    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 0.3,
        *,
        momentum: float = 0.9,
        weight_decay: float = 1e-6,
        trust: float = 1e-3,
    ) -> None:
        options = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay, "trust": trust}
        for name, value in options.items():
            check_number(value, name, minimum=0.0)
        super().__init__(params, options)

    def _update(self, group: dict[str, Any]) -> None:
        for parameter in group["params"]:
            if parameter.grad is not None:
                self._move(parameter, group)

    def _move(self, parameter: Tensor, group: dict[str, Any]) -> None:
        direction = parameter.grad
        assert direction is not None
        if parameter.ndim > 1:
            direction = direction.add(parameter, alpha=group["weight_decay"])
            length, size = direction.norm(), parameter.norm()
            # A layer of zeros, or one without gradient, takes the plain step.
            share = torch.where((length > 0) & (size > 0), group["trust"] * size / length, 1.0)
            direction = direction * share
        state = self.state[parameter]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(parameter)
        state["momentum"].mul_(group["momentum"]).add_(direction)
        parameter.add_(state["momentum"], alpha=-group["lr"])
