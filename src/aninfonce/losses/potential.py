"""Scalar heads that absorb how the candidates are distributed."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.functional import gelu, linear

from aninfonce._validation import check_count


class CandidatePotential(nn.Module):
    """A small network β from (n, d) to (n,), added to the logit of each candidate.

    InfoNCE learns the log-ratio log p(z⁺|z)/p(z⁻) up to a function of the anchor. The part of it that
    depends on the candidate alone, from p(z⁻) and the normaliser of p(z⁺|z), has no place in −½ΔᵀΛ̂Δ and
    would bend the embedding. β takes it up. It starts at zero: no effect until it learns one.

    Example:
        >>> import torch
        >>> CandidatePotential(3)(torch.randn(5, 3))
        tensor([0., 0., 0., 0., 0.], grad_fn=...)

    Args:
        dim: Number of dimensions d.
        width: Units of each of the two hidden layers.

    """

    def __init__(self, dim: int, width: int = 64) -> None:
        super().__init__()
        self.dim = check_count(dim, "dim")
        check_count(width, "width")
        last = nn.Linear(width, 1)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.layers = nn.Sequential(
            nn.Linear(dim, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), last
        )

    def forward(self, z: Tensor) -> Tensor:
        """(n, d) to (n,)."""
        if z.shape[-1] != self.dim:
            raise ValueError(
                f"`z` must have {self.dim} column(s) for `dim={self.dim}`, got shape {tuple(z.shape)}"
            )
        *hidden, last = (layer for layer in self.layers if isinstance(layer, nn.Linear))
        # In the precision of `z`, which a loss chooses, whatever that of the parameters.
        for layer in hidden:
            z = gelu(linear(z, layer.weight.to(z.dtype), layer.bias.to(z.dtype)))
        return linear(z, last.weight.to(z.dtype), last.bias.to(z.dtype)).squeeze(-1)
