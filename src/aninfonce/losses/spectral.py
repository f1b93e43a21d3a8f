"""Losses on second moments: the spectral contrastive loss and decorrelation."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from aninfonce._validation import check_matrix, check_vector
from aninfonce.losses._prepare import check_views, full_precision, to_working
from aninfonce.losses.functional import Components
from aninfonce.losses.gather import find_shard, gather_rows, global_value


def spectral_contrastive(
    z0: Tensor,
    z1: Tensor,
    *,
    scale: Tensor | None = None,
    normalize: bool = False,
    gather_distributed: bool = False,
) -> Components:
    """Minus twice the mean similarity of pairs, and the mean squared similarity of non-pairs.

    The similarity is z0ᵀz1, or z0ᵀSz1 with a diagonal S. Non-pairs are z0[i] and z1[j], j ≠ i. The sum
    over all of them is an inner product of two (d, d) moments, so the cost is O(N d²).

    Example:
        >>> import torch
        >>> alignment, uniformity = spectral_contrastive(torch.eye(4), torch.eye(4))
        >>> alignment + uniformity
        tensor(-2.)

    Args:
        z0: First view, (N, d), N ≥ 2.
        z1: Second view, (N, d).
        scale: Diagonal of S, (d,).
        normalize: Scale all embeddings to unit length first.
        gather_distributed: Use the embeddings of all processes, as in `info_nce`.

    Returns:
        The two terms; their sum is the loss.

    References:
        HaoChen et al., "Provable guarantees for self-supervised deep learning with spectral
        contrastive loss" (2021).

    """
    check_views(z0, z1)
    if scale is not None:
        check_vector(scale, "scale", length=z0.shape[1])
    shard = find_shard(len(z0), z0.device, gather_distributed)
    if shard.total < 2:
        raise ValueError(f"no anchor has a negative: got {shard.total} pair(s); give at least 2")
    with full_precision(z0.device):
        q, r = to_working(z0, normalize), to_working(z1, normalize)
        if scale is not None:
            q = q * scale.to(q.dtype)
        everyone = gather_rows(r, shard)
        paired = (q * r).sum(dim=1)
        unpaired = ((q.T @ q) * (everyone.T @ everyone)).sum() - paired.square().sum()
        share = shard.processes / shard.total
        return Components(
            global_value(-2 * share * paired.sum(), shard),
            global_value(share * unpaired / (shard.total - 1), shard),
        )


def decorrelation(z: Tensor, *, gather_distributed: bool = False) -> Tensor:
    """Mean squared entry of ZᵀZ/N − I: zero if the dimensions are uncorrelated and of unit scale.

    Example:
        >>> import torch
        >>> decorrelation(torch.eye(4) * 2)
        tensor(0.)

    Args:
        z: (N, d).
        gather_distributed: Use the embeddings of all processes, as in `info_nce`.

    Returns:
        A scalar.

    References:
        Zhang et al., "Tri-factor contrastive learning" (2023).

    """
    check_matrix(z, "z")
    shard = find_shard(len(z), z.device, gather_distributed)
    with full_precision(z.device):
        everyone = gather_rows(to_working(z, normalize=False), shard)
        moment = everyone.T @ everyone / shard.total
        return (moment - torch.eye(z.shape[1], dtype=moment.dtype, device=z.device)).square().mean()


class SpectralContrastive(nn.Module):
    """−2 E[z0ᵀz1] over pairs + E[(z0ᵀz1)²] over non-pairs of the two views.

    Example:
        >>> import torch
        >>> SpectralContrastive()(torch.eye(4), torch.eye(4))
        tensor(-2.)

    Args:
        normalize: Scale the embeddings to unit length first.
        gather_distributed: Use the embeddings of all processes.

    References:
        HaoChen et al., "Provable guarantees for self-supervised deep learning with spectral
        contrastive loss" (2021).

    """

    def __init__(self, *, normalize: bool = False, gather_distributed: bool = False) -> None:
        super().__init__()
        self.normalize = normalize
        self.gather_distributed = gather_distributed

    def forward(self, z0: Tensor, z1: Tensor) -> Tensor:
        """Two views, (N, d) each, to a scalar."""
        alignment, uniformity = self.components(z0, z1)
        return alignment + uniformity

    def components(self, z0: Tensor, z1: Tensor) -> Components:
        """Alignment and uniformity terms, which sum to the loss."""
        return spectral_contrastive(
            z0, z1, normalize=self.normalize, gather_distributed=self.gather_distributed
        )

    def param_groups(self, lr: float) -> list[dict[str, Any]]:
        """Nothing to train."""
        return []
