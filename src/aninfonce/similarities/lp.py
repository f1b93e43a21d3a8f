"""Negative powers of Lp distances."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from aninfonce._validation import check_number
from aninfonce.similarities.base import Similarity


class NegativeLp(Similarity):
    """−‖q − r‖ₚᵖ, the log-density of a generalised normal conditional (no factor ½).

    Example:
        >>> import torch
        >>> NegativeLp(1)(torch.zeros(1, 2), torch.tensor([[1.0, -2.0]]))
        tensor([[-3.]])

    Args:
        p: 1 (Laplace), 2 (normal), 3, or any other number of at least 1.

    References:
        Zimmermann et al., "Contrastive learning inverts the data generating process" (2021).

    """

    def __init__(self, p: float = 2) -> None:
        super().__init__()
        self.p = check_number(p, "p", minimum=1)
        self.form = "distance" if self.p == 2 else None

    def pair(self, q: Tensor, r: Tensor) -> Tensor:
        """−‖Δ‖ₚᵖ of matching rows: (..., d) to (...)."""
        return -_power((q - r).abs(), self.p).sum(dim=-1)

    def scale_of_columns(self, dtype: torch.dtype) -> float:
        """√2, for p = 2: there −‖Δ‖² is −½ of a squared distance."""
        return math.sqrt(2)

    def matrix(self, q: Tensor, r: Tensor) -> Tensor:
        """(N, d) and (M, d) to (N, M), with memory for (N, M) only."""
        if self.p == 2:
            return super().matrix(q, r)
        result: Tensor = _NegativeLpMatrix.apply(q, r, self.p)  # type: ignore[no-untyped-call]
        return result

    def extra_repr(self) -> str:
        """Show the power."""
        return f"p={self.p:g}"


def _power(x: Tensor, p: float) -> Tensor:
    """Raise x ≥ 0 to the power p, without `pow` where multiplications serve."""
    if p == 1:
        return x
    if p == 2:
        return x.square()
    return x.square() * x if p == 3 else x.pow(p)


class _NegativeLpMatrix(torch.autograd.Function):
    """Walks over the dimensions one by one; autograd would keep an (N, M) matrix of each."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, r: Tensor, p: float) -> Tensor:
        ctx.save_for_backward(q, r)
        ctx.p = p
        total, difference = q.new_zeros(len(q), len(r)), q.new_empty(len(q), len(r))
        for x, y in zip(q.T.contiguous(), r.T.contiguous(), strict=True):
            torch.sub(x[:, None], y, out=difference)
            total -= _power(difference.abs_(), p)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None]:
        q, r = ctx.saved_tensors
        grad_q, grad_r = torch.empty_like(q), torch.empty_like(r)
        slope, ones = torch.empty_like(grad), grad.new_ones(1, len(grad))
        for k, (x, y) in enumerate(zip(q.T.contiguous(), r.T.contiguous(), strict=True)):
            torch.sub(x[:, None], y, out=slope)
            _signed_power_(slope, ctx.p - 1)
            slope *= grad
            grad_q[:, k] = slope.sum(dim=1)
            grad_r[:, k] = torch.mm(ones, slope)[0]  # much faster than a sum over the slow axis
        return grad_q.mul_(-ctx.p), grad_r.mul_(ctx.p), None


def _signed_power_(x: Tensor, p: float) -> Tensor:
    """sign(x)·|x|ᵖ in place."""
    if p == 0:
        return x.sign_()
    if p == 1:
        return x
    if p == 2:
        return x.mul_(x.abs())
    size = _power(x.abs(), p)
    return x.sign_().mul_(size)
