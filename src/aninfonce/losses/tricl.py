"""TriCL: contrast of inner products with an importance for each dimension, and decorrelation."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from aninfonce._validation import check_choice, check_number
from aninfonce.losses._prepare import check_views, to_working
from aninfonce.losses.functional import info_nce_components
from aninfonce.losses.spectral import decorrelation, spectral_contrastive
from aninfonce.similarities import Scaled


class TriCLComponents(NamedTuple):
    """The three terms of TriCL; their sum is the loss."""

    alignment: Tensor
    uniformity: Tensor
    decorrelation: Tensor


class TriCL(nn.Module):
    """Tri-factor contrastive learning as its paper defines it: z0ᵀSz1 in every term, S trained.

    A contrastive loss on the scaled inner product, plus a weight times the mean squared entry of
    ZᵀZ/N − I over both views. Embeddings are not normalised by default: rows of unit length cannot have
    the second moment I.

    Example:
        >>> import torch
        >>> loss = TriCL(3)
        >>> z0, z1 = torch.randn(2, 8, 3)
        >>> loss(z0, z1).backward()
        >>> loss.scale
        tensor([1..., 1..., 1...], grad_fn=...)

    Args:
        dim: Number of dimensions d.
        form: "infonce" for NT-Xent's candidates (both views as anchors, 2N − 1 logits), or "spectral".
        temperature: Divides the similarity in the InfoNCE form.
        decorrelation_weight: Weight of the decorrelation.
        initial: Starting value of the diagonal of S, a number or (d,).
        normalize: Scale the embeddings to unit length first.
        gather_distributed: Use the embeddings of all processes.

    References:
        Zhang et al., "Tri-factor contrastive learning" (2023).

    """

    def __init__(
        self,
        dim: int,
        *,
        form: Literal["infonce", "spectral"] = "infonce",
        temperature: float = 1.0,
        decorrelation_weight: float = 1.0,
        initial: float | Tensor = 1.0,
        normalize: bool = False,
        gather_distributed: bool = False,
    ) -> None:
        super().__init__()
        check_choice(form, "form", ("infonce", "spectral"))
        self.form = form
        self.temperature = check_number(temperature, "temperature", minimum=0, exclusive=True)
        self.decorrelation_weight = check_number(decorrelation_weight, "decorrelation_weight", minimum=0)
        self.similarity = Scaled(dim, initial)
        self.normalize = normalize
        self.gather_distributed = gather_distributed

    @property
    def scale(self) -> Tensor:
        """The diagonal of S, (d,): the importance of each dimension."""
        return self.similarity.scale

    def forward(self, z0: Tensor, z1: Tensor) -> Tensor:
        """Two views, (N, d) each, to a scalar."""
        return torch.stack(self.components(z0, z1)).sum()

    def components(self, z0: Tensor, z1: Tensor) -> TriCLComponents:
        """Alignment, uniformity and weighted decorrelation, which sum to the loss."""
        check_views(z0, z1)
        self.similarity.check_width(z0=z0)
        z0, z1 = to_working(z0, self.normalize), to_working(z1, self.normalize)
        if self.form == "spectral":
            contrast = spectral_contrastive(
                z0, z1, scale=self.scale, gather_distributed=self.gather_distributed
            )
        else:
            contrast = info_nce_components(
                z0,
                z1,
                similarity=self.similarity,
                temperature=self.temperature,
                symmetric=True,
                candidates="both",
                gather_distributed=self.gather_distributed,
            )
        penalty = decorrelation(torch.cat([z0, z1]), gather_distributed=self.gather_distributed)
        return TriCLComponents(*contrast, self.decorrelation_weight * penalty)

    def param_groups(self, lr: float) -> list[dict[str, Any]]:
        """Trainable parameters for an optimizer: S at `lr`, without weight decay."""
        return [{"params": list(self.parameters()), "lr": lr, "weight_decay": 0.0}]
