"""InfoNCE for pairs that move: a linear map of the anchor instead of the anchor itself."""

from __future__ import annotations

from typing import Unpack

from torch import Tensor, nn

from aninfonce.losses.modules import InfoNCE, InfoNCEOptions
from aninfonce.losses.potential import CandidatePotential
from aninfonce.similarities import LinearStep


class LinearDynamics(InfoNCE):
    """InfoNCE with the critic −½‖Mᵀh(x) − h(x⁺)‖² + β(x⁺) and a trainable matrix M.

    Rows of a recording whose latents follow z⁺ = Az + noise have log p(z⁺|z)/p(z⁺) = zᵀSz⁺ + a(z) + b(z⁺),
    where S is symmetric only if nothing rotates. −½ΔᵀΛ̂Δ has a symmetric S; this critic can have any. With β
    it can represent what h(x)ᵀMh(x⁺) can, but leaves less for β to learn. Embeddings are not normalised by
    default. `aninfonce.alignment.linear_modes` finds what moves, and how.

    Example:
        >>> import torch
        >>> loss = LinearDynamics(3)
        >>> z0, z1 = torch.randn(2, 8, 3)
        >>> loss(z0, z1).backward()
        >>> loss.operator.shape
        torch.Size([3, 3])

    Args:
        dim: Number of dimensions d.
        potential: True for a `CandidatePotential`, False for none, or as in `InfoNCE`.
        **settings: As in `InfoNCE`, except `symmetric`: time has one direction.

    References:
        Laiz et al., "Self-supervised contrastive learning performs non-linear system identification" (2025).

    """

    def __init__(
        self, dim: int, *, potential: bool | nn.Module = True, **settings: Unpack[InfoNCEOptions]
    ) -> None:
        if settings.get("symmetric", False):
            raise ValueError("`symmetric` must be False: the way back has another M, got True")
        settings.setdefault("normalize", False)
        head = CandidatePotential(dim) if potential is True else potential
        super().__init__(LinearStep(dim), potential=None if isinstance(head, bool) else head, **settings)

    @property
    def operator(self) -> Tensor:
        """M, (d, d): h(x⁺) is expected near h(x) @ M."""
        assert isinstance(self.similarity, LinearStep)
        return self.similarity.operator
