"""Muon: momentum whose direction is made orthogonal, for the hidden matrices of a network."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from aninfonce._products import is_quick, product
from aninfonce._validation import check_count, check_number
from aninfonce.optim.groupwise import GroupwiseOptimizer

# Coefficients of the quintic that pushes all singular values towards 1 in a few steps (Jordan et al. 2024).
_QUINTIC = (3.4445, -4.7750, 2.0315)


def orthogonalize(matrices: Tensor, steps: int = 5) -> Tensor:
    """Replace the singular values of each matrix by values near 1, by Newton–Schulz iterations.

    Example:
        >>> singular = torch.linalg.svdvals(orthogonalize(torch.eye(4)[None] * 3))
        >>> bool(((singular > 0.6) & (singular < 1.3)).all())
        True

    Args:
        matrices: (B, m, n), float32 or better.
        steps: iterations; 5 bring every singular value above 0.01 of the largest into 0.7–1.2.

    Returns:
        (B, m, n).

    """
    tall = matrices.shape[1] > matrices.shape[2]
    x = matrices.mT if tall else matrices
    x = x / torch.linalg.matrix_norm(x, keepdim=True).clamp_min(1e-12)
    # One by one where that is quicker than all at once.
    x = torch.stack([_iterate(part, steps) for part in x]) if is_quick(x[0], x[0]) else _iterate(x, steps)
    return x.mT if tall else x


def _iterate(x: Tensor, steps: int) -> Tensor:
    """Newton–Schulz iterations on one matrix, by `product`, or on a batch."""
    a, b, c = _QUINTIC
    for _ in range(steps):
        if x.ndim == 2:
            gram = product(x, x)
            polynomial = product(gram, gram).mul_(c).add_(gram, alpha=b)
            x = product(polynomial, x.T).add_(x, alpha=a)
        else:
            gram = x @ x.mT
            polynomial = torch.baddbmm(gram, gram, gram, beta=b, alpha=c)
            x = torch.baddbmm(x, polynomial, x, beta=a)
    return x


class Muon(GroupwiseOptimizer):
    """Step along the orthogonalised Nesterov momentum; matrices of one shape are handled in one batch.

    All arithmetic is in the precision of the parameters: `torch.optim.Muon` orthogonalises in bfloat16, which
    a CPU without such instructions runs many times slower.

    Example:
        >>> weight = torch.nn.Parameter(torch.eye(3))
        >>> optimizer = Muon([weight], lr=0.1)
        >>> weight.grad = torch.eye(3)
        >>> optimizer.step()
        >>> bool((weight.diagonal() < 1).all())
        True

    Args:
        params: tensors of two dimensions or more (those after the first are flattened), or groups of them.
        lr: learning rate; the size of a step does not depend on that of the gradient.
        momentum: of the running mean of gradients.
        iterations: Newton–Schulz steps.
        refresh: steps between two orthogonalisations of a matrix; the direction is kept in between.

    References:
        Jordan et al., "Muon: an optimizer for hidden layers in neural networks" (2024).

    """

    def __init__(
        self,
        params: Iterable[Tensor] | Iterable[dict[str, Any]],
        lr: float = 0.1,
        *,
        momentum: float = 0.95,
        iterations: int = 5,
        refresh: int = 1,
    ) -> None:
        check_number(lr, "lr", minimum=0.0)
        check_number(momentum, "momentum", minimum=0.0)
        check_count(iterations, "iterations")
        check_count(refresh, "refresh")
        options = {"lr": lr, "momentum": momentum, "iterations": iterations, "refresh": refresh, "taken": 0}
        super().__init__(params, options)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.ndim < 2:
                    shape = tuple(parameter.shape)
                    raise ValueError(f"`params` must have two dimensions or more, got one of shape {shape}")

    def _update(self, group: dict[str, Any]) -> None:
        batches: dict[tuple[torch.Size, torch.device, torch.dtype], list[Tensor]] = defaultdict(list)
        for parameter in group["params"]:
            if parameter.grad is not None:
                self._accumulate(parameter, group["momentum"])
                stale = "direction" not in self.state[parameter]
                if stale or group["taken"] % group["refresh"] == 0:
                    batches[parameter.shape, parameter.device, parameter.dtype].append(parameter)
        for batch in batches.values():
            self._turn(batch, group["momentum"], group["iterations"])
        for parameter in group["params"]:
            if parameter.grad is not None:
                parameter.add_(self.state[parameter]["direction"], alpha=-group["lr"])
        group["taken"] += 1

    def _accumulate(self, parameter: Tensor, momentum: float) -> None:
        """Take the gradient into the running mean."""
        assert parameter.grad is not None
        state = self.state[parameter]
        if "momentum" not in state:
            state["momentum"] = torch.zeros_like(parameter)
        state["momentum"].lerp_(parameter.grad, 1 - momentum)

    def _turn(self, batch: list[Tensor], momentum: float, iterations: int) -> None:
        """Find new directions for parameters of one shape."""
        nesterov = []
        for parameter in batch:
            assert parameter.grad is not None
            nesterov.append(parameter.grad.lerp(self.state[parameter]["momentum"], momentum).flatten(1))
        directions = orthogonalize(torch.stack(nesterov), iterations)
        rows, columns = directions.shape[1:]
        # A tall matrix keeps the size of its output if its step grows with the ratio of its sides.
        directions = directions * max(1.0, rows / columns) ** 0.5
        for parameter, direction in zip(batch, directions, strict=True):
            self.state[parameter]["direction"] = direction.view_as(parameter)
