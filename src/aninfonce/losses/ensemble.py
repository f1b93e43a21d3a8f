"""One encoder, several kinds of pairs, each with its own Λ̂."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, Unpack

import torch
from torch import Tensor, nn

from aninfonce._validation import check_count
from aninfonce.losses.functional import Components
from aninfonce.losses.modules import AnInfoNCE, InfoNCEOptions
from aninfonce.similarities._positive import PositiveMap

Kind = TypeVar("Kind")


class EnsembleAnInfoNCE(nn.Module):
    """Sum of n AnInfoNCE losses on n kinds of pairs, for example n sets of augmentations.

    Each kind has its own Λ̂, so that a factor which varies strongly in one kind can be learned from
    another where it does not.

    Example:
        >>> import torch
        >>> loss = EnsembleAnInfoNCE(3, 2)
        >>> z0, z1 = torch.randn(2, 2, 8, 3)  # two views, two kinds, eight pairs
        >>> loss(z0, z1).backward()
        >>> loss.concentration.shape
        torch.Size([2, 3])

    Args:
        dim: Number of dimensions d.
        n: Number of kinds of pairs.
        initial: Starting value of every Λ̂, a number or (d,).
        positive_map: Λ̂ = exp(raw), or "softplus".
        potential: Give each loss its own candidate potentials.
        **settings: As in `InfoNCE`.

    References:
        Rusak et al., "InfoNCE: identifying the gap between theory and practice" (2025), Appendix B.3.

    """

    def __init__(
        self,
        dim: int,
        n: int,
        *,
        initial: float | Tensor = 1.0,
        positive_map: PositiveMap = "exp",
        potential: bool = False,
        **settings: Unpack[InfoNCEOptions],
    ) -> None:
        super().__init__()
        self.losses = nn.ModuleList(
            AnInfoNCE(dim, initial=initial, positive_map=positive_map, potential=potential, **settings)
            for _ in range(check_count(n, "n"))
        )

    @property
    def concentration(self) -> Tensor:
        """The diagonals of all Λ̂, (n, d)."""
        return torch.stack([loss.concentration for loss in self._members()])

    def forward(
        self,
        z0: Sequence[Tensor] | Tensor,
        z1: Sequence[Tensor] | Tensor,
        negatives: Sequence[Tensor] | Tensor | None = None,
    ) -> Tensor:
        """Sum the losses over the kinds.

        Args:
            z0: Anchors of each kind: n tensors (N, d), or one (n, N, d).
            z1: Positives of each kind, likewise.
            negatives: Further negatives of each kind: n tensors (N, K, d) or (M, d).

        Returns:
            A scalar; (N,) for `reduction="none"` and kinds of equal size.

        """
        terms = [loss(*views) for loss, *views in self._each(z0, z1, negatives)]
        return torch.stack(terms).sum(dim=0)

    def components(
        self,
        z0: Sequence[Tensor] | Tensor,
        z1: Sequence[Tensor] | Tensor,
        negatives: Sequence[Tensor] | Tensor | None = None,
    ) -> Components:
        """Alignment and uniformity terms summed over the kinds; arguments as in `forward`."""
        terms = [loss.components(*views) for loss, *views in self._each(z0, z1, negatives)]
        return Components(*(torch.stack(part).sum(dim=0) for part in zip(*terms, strict=True)))

    def param_groups(self, lr: float, *, potential_lr: float | None = None) -> list[dict[str, Any]]:
        """Trainable parameters for an optimizer, as in `InfoNCE`."""
        return [
            group for loss in self._members() for group in loss.param_groups(lr, potential_lr=potential_lr)
        ]

    def _each(
        self,
        z0: Sequence[Tensor] | Tensor,
        z1: Sequence[Tensor] | Tensor,
        negatives: Sequence[Tensor] | Tensor | None,
    ) -> Iterator[tuple[Any, ...]]:
        """Each loss with its own views and negatives."""
        members = self._members()
        hard: Sequence[Tensor | None] = [None] * len(members) if negatives is None else list(negatives)
        for name, views in (("z0", z0), ("z1", z1), ("negatives", hard)):
            if len(views) != len(members):
                raise ValueError(
                    f"`{name}` must hold one tensor for each of {len(members)} kinds, got {len(views)}"
                )
        return zip(members, z0, z1, hard, strict=True)

    def _members(self) -> list[AnInfoNCE]:
        return [loss for loss in self.losses if isinstance(loss, AnInfoNCE)]


class AlternatingLoss(nn.Module):
    """Mean of one AnInfoNCE per kind, for batches in which the kinds of pairs take turns.

    Row i belongs to kind i mod n, and is contrasted with rows of its kind only.

    Example:
        >>> import torch
        >>> loss = AlternatingLoss(EnsembleAnInfoNCE(3, 2))
        >>> z0, z1 = torch.randn(2, 16, 3)  # two views of sixteen pairs, eight of each kind
        >>> loss(z0, z1).backward()

    Args:
        ensemble: the losses, one per kind of pairs.

    """

    def __init__(self, ensemble: EnsembleAnInfoNCE) -> None:
        super().__init__()
        self.ensemble = ensemble

    def forward(self, z0: Tensor, z1: Tensor) -> Tensor:
        """Two views, (N, d) each, to a scalar."""
        count = len(self.ensemble.losses)
        total: Tensor = self.ensemble(*([z[kind::count] for kind in range(count)] for z in (z0, z1)))
        return total / count


def members(loss: nn.Module) -> list[AnInfoNCE]:
    """List the parts of a loss that have a Λ̂, itself or one for each kind of pairs; none if it has no Λ̂.

    Example:
        >>> len(members(AnInfoNCE(3))), len(members(AlternatingLoss(EnsembleAnInfoNCE(3, 2))))
        (1, 2)

    """
    if isinstance(loss, AlternatingLoss):
        return loss.ensemble._members()
    return [loss] if isinstance(loss, AnInfoNCE) else []


def by_kind(loss: nn.Module, kinds: Sequence[Kind]) -> Iterator[tuple[nn.Module, Kind]]:
    """Give each kind of pairs together with its own loss: one part for each of several, all for a single one.

    Example:
        >>> [type(part).__name__ for part, _ in by_kind(AlternatingLoss(EnsembleAnInfoNCE(3, 2)), "ab")]
        ['AnInfoNCE', 'AnInfoNCE']

    """
    parts: Sequence[nn.Module] = members(loss) if len(kinds) > 1 else [loss]
    return zip(parts, kinds, strict=True)
