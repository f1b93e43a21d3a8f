"""InfoNCE losses as modules: a similarity, some settings, and the pure function."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, TypedDict, Unpack

import torch
from torch import Tensor, nn

from aninfonce._validation import check_choice, check_flag, check_number
from aninfonce.losses._batch import CANDIDATES, REDUCTIONS, Candidates, Reduction
from aninfonce.losses._prepare import to_working
from aninfonce.losses.functional import Components, info_nce, info_nce_components
from aninfonce.losses.potential import CandidatePotential
from aninfonce.similarities import Anisotropic, Dot, NegativeLp, PerAnchor
from aninfonce.similarities._positive import PositiveMap

# Whether all anchors share one Λ̂, or a head gives one to each.
Concentration = Literal["one", "per-anchor"]


class InfoNCEOptions(TypedDict, total=False):
    """Keyword arguments that all InfoNCE losses share; `InfoNCE` explains them."""

    temperature: float
    learn_temperature: bool
    symmetric: bool
    candidates: Candidates
    normalize: bool
    reduction: Reduction
    gather_distributed: bool


class InfoNCE(nn.Module):
    """InfoNCE with any similarity; by default the cosine, with the other anchors as negatives.

    Call it as `loss(z0, z1)` or `loss(z0, z1, negatives)` with z0, z1: (N, d). `info_nce` says which
    embeddings are the negatives for each choice of `candidates`.

    Example:
        >>> import torch
        >>> loss = InfoNCE(temperature=0.5, candidates="positives")
        >>> z0, z1 = torch.randn(2, 8, 3)
        >>> value = loss(z0, z1)
        >>> alignment, uniformity = loss.components(z0, z1)
        >>> torch.allclose(alignment + uniformity, value)
        True

    Args:
        similarity: From (N, d) and (M, d) to (N, M); the inner product if None.
        temperature: Divides the similarity.
        learn_temperature: Train the temperature, starting from `temperature`.
        symmetric: Also use the second view as anchors.
        candidates: Which in-batch embeddings are negatives; see `info_nce`.
        normalize: Scale the embeddings to unit length first.
        potential: A module from (n, d) to (n,) that is added to each candidate's logit; if symmetric, a
            pair of them, one for each direction. See `CandidatePotential`.
        reduction: "mean", "sum" or "none".
        gather_distributed: Use the embeddings of all processes as candidates.

    """

    def __init__(
        self,
        similarity: nn.Module | None = None,
        *,
        temperature: float = 1.0,
        learn_temperature: bool = False,
        symmetric: bool = False,
        candidates: Candidates = "anchors",
        normalize: bool = True,
        potential: nn.Module | tuple[nn.Module, nn.Module] | None = None,
        reduction: Reduction = "mean",
        gather_distributed: bool = False,
    ) -> None:
        super().__init__()
        check_number(temperature, "temperature", minimum=0, exclusive=True)
        check_choice(candidates, "candidates", CANDIDATES)
        check_choice(reduction, "reduction", REDUCTIONS)
        symmetric, normalize = check_flag(symmetric, "symmetric"), check_flag(normalize, "normalize")
        check_flag(learn_temperature, "learn_temperature")
        check_flag(gather_distributed, "gather_distributed")
        self.similarity = Dot() if similarity is None else similarity
        self._temperature = float(temperature)
        self.log_temperature = (
            nn.Parameter(torch.tensor(math.log(temperature))) if learn_temperature else None
        )
        self.symmetric = symmetric
        self.candidates: Candidates = candidates
        self.normalize = normalize
        self.potentials = nn.ModuleList(_per_direction(potential, symmetric))
        self.reduction: Reduction = reduction
        self.gather_distributed = gather_distributed

    @property
    def temperature(self) -> Tensor | float:
        """The current temperature: a number, or a () tensor if it is trained."""
        return self._temperature if self.log_temperature is None else self.log_temperature.exp()

    def forward(
        self,
        z0: Tensor,
        z1: Tensor,
        negatives: Tensor | None = None,
        *,
        negatives_log_ratio: Tensor | None = None,
        positives_log_ratio: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss.

        Args:
            z0: Anchors, (N, d).
            z1: Positives, (N, d).
            negatives: Further negatives, (N, K, d) for each anchor or (M, d) shared.
            negatives_log_ratio: Log-density ratio of hard negatives, (N, K) or (M,); see `info_nce`.
            positives_log_ratio: The same at the positives, (N,).

        Returns:
            A scalar; (N,) or, if symmetric, (2N,) for `reduction="none"`.

        """
        return info_nce(z0, z1, negatives, **self._options(negatives_log_ratio, positives_log_ratio))

    def components(
        self,
        z0: Tensor,
        z1: Tensor,
        negatives: Tensor | None = None,
        *,
        negatives_log_ratio: Tensor | None = None,
        positives_log_ratio: Tensor | None = None,
    ) -> Components:
        """Alignment and uniformity terms, which sum to the loss; arguments as in `forward`."""
        options = self._options(negatives_log_ratio, positives_log_ratio)
        return info_nce_components(z0, z1, negatives, **options)

    def _options(self, of_negatives: Tensor | None, of_positives: Tensor | None) -> dict[str, Any]:
        """Give the settings as the functions name them."""
        heads = self.potentials
        return {
            "similarity": self.similarity,
            "temperature": self.temperature,
            "symmetric": self.symmetric,
            "candidates": self.candidates,
            "normalize": self.normalize,
            "potential": (heads[0], heads[-1]) if len(heads) else None,
            "negatives_log_ratio": of_negatives,
            "positives_log_ratio": of_positives,
            "reduction": self.reduction,
            "gather_distributed": self.gather_distributed,
        }

    def param_groups(self, lr: float, *, potential_lr: float | None = None) -> list[dict[str, Any]]:
        """Trainable parameters for an optimizer: Λ̂ and temperature at `lr`, without weight decay.

        Example:
            >>> import torch
            >>> encoder, loss = torch.nn.Linear(5, 3), AnInfoNCE(3)
            >>> groups = [{"params": encoder.parameters()}, *loss.param_groups(lr=1e-2)]
            >>> optimizer = torch.optim.AdamW(groups, lr=1e-3)

        Args:
            lr: Learning rate of the similarity and the temperature.
            potential_lr: Learning rate of the potentials; the optimizer's own if None.

        Returns:
            Parameter groups; none if nothing is trainable.

        """
        heads = list(self.potentials.parameters())
        of_heads = set(map(id, heads))
        rest = [p for p in self.parameters() if id(p) not in of_heads]
        groups: list[dict[str, Any]] = []
        if rest:
            groups.append({"params": rest, "lr": lr, "weight_decay": 0.0})
        if heads:
            groups.append({"params": heads, **({} if potential_lr is None else {"lr": potential_lr})})
        return groups

    def extra_repr(self) -> str:
        """Show the settings."""
        return (
            f"temperature={float(self.temperature):g}, candidates={self.candidates!r},"
            f" symmetric={self.symmetric}, normalize={self.normalize}"
        )


class AnInfoNCE(InfoNCE):
    """InfoNCE with the similarity −½ΔᵀΛ̂Δ and a trainable diagonal Λ̂.

    The defaults are exact for uniform anchors on the unit sphere: one direction, the other anchors as
    negatives, embeddings scaled to unit length. Use `normalize=False` for embeddings in a box or in all of
    Rᵈ. Pass `param_groups` to the optimizer, or Λ̂ does not train.

    Example:
        >>> import torch
        >>> loss = AnInfoNCE(3)
        >>> z0, z1 = torch.randn(2, 8, 3)
        >>> loss(z0, z1).backward()
        >>> loss.concentration
        tensor([1., 1., 1.], grad_fn=...)
        >>> AnInfoNCE(3, concentration="per-anchor", potential=True).concentration_at(z0).shape
        torch.Size([8, 3])

    Args:
        dim: Number of dimensions d.
        concentration: "one" Λ̂ for all pairs, or "per-anchor" where steps depend on where they start: a small
            head gives Λ̂(z) of each anchor, see `PerAnchor`. The normaliser of Λ(z) depends on the anchor
            alone, and cancels; but positives are then not distributed as anchors are, so add a `potential`.
            In a symmetric loss both views share one head.
        initial: Starting value of Λ̂, a number or (d,).
        positive_map: Λ̂ = exp(raw), or "softplus".
        potential: True for one `CandidatePotential` per direction, or as in `InfoNCE`.
        **settings: As in `InfoNCE`.

    References:
        Rusak et al., "InfoNCE: identifying the gap between theory and practice" (2025).

    """

    def __init__(
        self,
        dim: int,
        *,
        concentration: Concentration = "one",
        initial: float | Tensor = 1.0,
        positive_map: PositiveMap = "exp",
        potential: bool | nn.Module | tuple[nn.Module, nn.Module] = False,
        **settings: Unpack[InfoNCEOptions],
    ) -> None:
        heads = (CandidatePotential(dim), CandidatePotential(dim)) if potential is True else potential
        if isinstance(heads, tuple) and not settings.get("symmetric", False):
            heads = heads[0]
        check_choice(concentration, "concentration", ("one", "per-anchor"))
        similarity = Anisotropic if concentration == "one" else PerAnchor
        super().__init__(
            similarity(dim, initial, positive_map),
            potential=None if isinstance(heads, bool) else heads,
            **settings,
        )

    @property
    def concentration(self) -> Tensor:
        """The diagonal of Λ̂, (d,), in the ½ convention; with a head per anchor, where it adds nothing."""
        assert isinstance(self.similarity, Anisotropic | PerAnchor)
        return self.similarity.concentration

    def concentration_at(self, z: Tensor) -> Tensor:
        """Λ̂ of each anchor, (n, d) to (n, d), in the ½ convention; the same for all if there is one Λ̂."""
        if isinstance(self.similarity, PerAnchor):
            return self.similarity.concentration_at(to_working(z, self.normalize))
        return self.concentration.to(z.dtype).expand(len(z), -1)


class NTXent(InfoNCE):
    """SimCLR's loss: the cosine, both views as anchors, all 2N − 2 other embeddings as negatives.

    Example:
        >>> import torch
        >>> z0, z1 = torch.randn(2, 8, 3)
        >>> torch.allclose(NTXent()(z0, z1), NTXent()(z1, z0))
        True

    Args:
        temperature: Divides the cosine.
        learn_temperature: Train the temperature.
        reduction: "mean", "sum" or "none".
        gather_distributed: Use the embeddings of all processes as candidates.

    References:
        Chen et al., "A simple framework for contrastive learning of visual representations" (2020).

    """

    def __init__(
        self,
        temperature: float = 0.5,
        *,
        learn_temperature: bool = False,
        reduction: Reduction = "mean",
        gather_distributed: bool = False,
    ) -> None:
        super().__init__(
            temperature=temperature,
            learn_temperature=learn_temperature,
            symmetric=True,
            candidates="both",
            reduction=reduction,
            gather_distributed=gather_distributed,
        )


class LpInfoNCE(InfoNCE):
    """InfoNCE with −‖Δ‖ₚᵖ, for latents in a box or in all of Rᵈ; no normalisation by default.

    `candidates="anchors+self"` counts candidates as the cl-ica code does.

    Example:
        >>> import torch
        >>> z0, z1 = torch.rand(2, 8, 3)
        >>> value = LpInfoNCE(1)(z0, z1)

    Args:
        p: 1 (Laplace), 2 (normal), 3, or any other number of at least 1.
        **settings: As in `InfoNCE`.

    References:
        Zimmermann et al., "Contrastive learning inverts the data generating process" (2021).

    """

    def __init__(self, p: float = 2, **settings: Unpack[InfoNCEOptions]) -> None:
        settings.setdefault("normalize", False)
        super().__init__(NegativeLp(p), **settings)


def _per_direction(
    potential: nn.Module | tuple[nn.Module, nn.Module] | None, symmetric: bool
) -> Iterator[nn.Module]:
    """One potential for each direction in use."""
    if potential is None:
        return
    heads = potential if isinstance(potential, tuple) else (potential,)
    if len(heads) != 1 + symmetric:
        raise ValueError(
            f"`potential` must hold one module for each direction, {1 + symmetric} with"
            f" symmetric={symmetric}, got {len(heads)}"
        )
    yield from heads
