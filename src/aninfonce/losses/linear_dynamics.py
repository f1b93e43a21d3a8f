"""InfoNCE for pairs that move: a linear map of the anchor in the place of a distance."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor, nn

from aninfonce.losses._prepare import check_views
from aninfonce.losses.modules import InfoNCE, InfoNCEOptions
from aninfonce.losses.potential import CandidatePotential
from aninfonce.similarities import LinearStep


class LinearDynamics(InfoNCE):
    """InfoNCE with the critic −½‖Mᵀh(x) − h(x⁺)‖² + β(x⁺) and a trainable matrix M.

    Rows of a recording whose latents follow z⁺ = Az + noise have log p(z⁺|z)/p(z⁺) = zᵀSz⁺ + a(z) + b(z⁺),
    where S is symmetric only if nothing rotates. −½ΔᵀΛ̂Δ has a symmetric S; this has any: beside β, it says
    what h(x)ᵀMh(x⁺) says, but leaves less for β to learn. Embeddings are not normalised by default.
    `aninfonce.alignment.linear_modes` reads off what moves, and how.

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
        **settings: As in `InfoNCE`, but for `symmetric`: time has one direction.

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

    @torch.no_grad()
    def start_at(self, z0: Tensor, z1: Tensor) -> None:
        """Let M be the linear prediction of some positives from their anchors.

        Beside M = I, an encoder takes what turns by more than a right angle for noise, and loses it.

        Args:
            z0: embeddings of anchors (N, d), by the encoder as it starts; N above d.
            z1: of their positives (N, d).

        """
        assert isinstance(self.similarity, LinearStep)
        check_views(z0, z1)
        self.similarity.check_width(z0=z0)
        inputs = torch.cat([z0, z0.new_ones(len(z0), 1)], dim=1).double()
        found = torch.linalg.lstsq(inputs.cpu(), z1.double().cpu(), driver="gelsd").solution
        self.similarity.operator.copy_(found[:-1])
        self.similarity.offset.copy_(found[-1])

    @property
    def operator(self) -> Tensor:
        """M, (d, d): h(x⁺) is expected near h(x) @ M."""
        assert isinstance(self.similarity, LinearStep)
        return self.similarity.operator
