"""A process as data: validated settings that build one, from Python, JSON or YAML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Literal

import torch
from pydantic import (
    Field,
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
    model_validator,
)
from torch import Tensor

from aninfonce._seeds import stream
from aninfonce._settings import Settings
from aninfonce.distributions import (
    ApproximateFisherBingham,
    Conditional,
    FisherBingham,
    GeneralizedNormal,
    Laplace,
    Normal,
    Projected,
    ShapedNoise,
    Truncated,
    Uniform,
    VonMisesFisher,
)
from aninfonce.distributions.shaped import Form
from aninfonce.mixing import Identity, InvertibleMLP, Mixing
from aninfonce.processes.process import (
    Centred,
    ConditionalFactory,
    DataGeneratingProcess,
    HardNegatives,
    Marginal,
)
from aninfonce.spaces import Box, Euclidean, Space, Sphere


class AnisotropicLaw(Settings):
    """p(z⁺|z) ∝ exp(−½ΔᵀΛΔ) on the sphere; one number for all latents or one each."""

    kind: Literal["fisher-bingham", "approximate-fisher-bingham"] = "fisher-bingham"
    concentration: NonNegativeFloat | tuple[NonNegativeFloat, ...]

    def build(self, space: Space) -> ConditionalFactory:
        """Make what places the law at anchors (N, d)."""
        family = FisherBingham if self.kind == "fisher-bingham" else ApproximateFisherBingham
        return partial(family, concentration=_diagonal(self.concentration, space))


class Isotropic(Settings):
    """Von Mises–Fisher on the sphere."""

    kind: Literal["vmf"] = "vmf"
    concentration: NonNegativeFloat

    def build(self, space: Space) -> ConditionalFactory:
        """Make what places the law at anchors (N, d)."""
        return partial(VonMisesFisher, concentration=self.concentration)


class Noise(Settings):
    """Independent noise of the given scale: free in Rᵈ, truncated to a box, projected to a sphere."""

    kind: Literal["normal", "laplace", "generalized-normal"]
    scale: PositiveFloat
    shape: PositiveFloat | None = None

    @model_validator(mode="after")
    def _shape_goes_with_its_family(self) -> Noise:
        if (self.kind == "generalized-normal") != (self.shape is not None):
            raise ValueError(
                f"`shape` belongs to 'generalized-normal' alone, got shape={self.shape} for {self.kind!r}"
            )
        return self

    def build(self, space: Space) -> ConditionalFactory:
        """Make what places the law at anchors (N, d)."""
        base: Callable[[Tensor], GeneralizedNormal]
        if self.shape is not None:
            base = partial(GeneralizedNormal, scale=self.scale, shape=self.shape)
        else:
            base = partial(Normal if self.kind == "normal" else Laplace, scale=self.scale)
        return partial(_within, base=base, space=space)


class Shaped(Settings):
    """Noise of variance 1/Λ in each latent, of another form than the theory assumes; not for a box."""

    kind: Literal["shaped"] = "shaped"
    form: Form
    concentration: PositiveFloat | tuple[PositiveFloat, ...]

    def build(self, space: Space) -> ConditionalFactory:
        """Make what places the law at anchors (N, d)."""
        concentration = _diagonal(self.concentration, space)
        base = partial(ShapedNoise, concentration=concentration, form=self.form)
        return partial(_within, base=base, space=space)


Law = Annotated[AnisotropicLaw | Isotropic | Noise | Shaped, Field(discriminator="kind")]


class Negatives(Settings):
    """Hard negatives around each anchor."""

    law: Law
    count: PositiveInt = 1


class ProcessSettings(Settings):
    """Everything that defines a data generating process but its seed.

    >>> settings = ProcessSettings(
    ...     space="sphere", dim=4, conditional={"kind": "fisher-bingham", "concentration": (5, 5, 25, 25)}
    ... )
    >>> settings.build(seed=0).partitions()
    {'style': (0, 1), 'content': (2, 3)}

    Attributes:
        space: "sphere" (unit), "box" ([0, 1]ᵈ) or "unbounded".
        dim: number of latents.
        marginal: "uniform", or a law placed at a pole (sphere) or the origin (unbounded).
        pole: where on the sphere that law is placed: "north" is e₁, "south" is −e₁.
        conditional: what changes within a pair.
        negatives: hard negatives, if any.
        mixing: "mlp" as in the papers, or "identity".
        layers: linear layers of the mixing.
        candidates: matrices drawn for each of its layers.

    """

    space: Literal["sphere", "box", "unbounded"]
    dim: Annotated[int, Field(ge=2)]
    marginal: Literal["uniform"] | Law = "uniform"
    pole: Literal["north", "south"] = "north"
    conditional: Law
    negatives: Negatives | None = None
    mixing: Literal["mlp", "identity"] = "mlp"
    layers: PositiveInt = 3
    candidates: PositiveInt = 25_000

    @model_validator(mode="after")
    def _laws_fit_the_space(self) -> ProcessSettings:
        laws = [("conditional", self.conditional)]
        if self.marginal != "uniform":
            laws.append(("marginal", self.marginal))
        elif self.space == "unbounded":
            raise ValueError("`marginal` must be a law such as 'normal' on an unbounded space, got 'uniform'")
        if self.negatives is not None:
            laws.append(("negatives", self.negatives.law))
        for name, law in laws:
            if isinstance(law, AnisotropicLaw | Isotropic) and self.space != "sphere":
                raise ValueError(f"`{name}` {law.kind!r} lives on the sphere, got space {self.space!r}")
            if isinstance(law, Shaped) and self.space == "box":
                raise ValueError(f"`{name}` 'shaped' has no truncated form, got space 'box'")
            if isinstance(law, AnisotropicLaw | Shaped) and isinstance(law.concentration, tuple):
                size = len(law.concentration)
                if size != self.dim:
                    raise ValueError(
                        f"`{name}` must have {self.dim} concentrations, one per latent, got {size}"
                    )
        return self

    def build(self, seed: int = 0, mixing: Mixing | None = None) -> DataGeneratingProcess:
        """Make the process; `seed` draws the mixing, unless a `mixing` to share is given."""
        space = self._build_space()
        return DataGeneratingProcess(
            space,
            self._build_marginal(space),
            self.conditional.build(space),
            mixing if mixing is not None else self._build_mixing(seed),
            None
            if self.negatives is None
            else HardNegatives(self.negatives.law.build(space), self.negatives.count),
        )

    def _build_space(self) -> Space:
        kinds: dict[str, type[Space]] = {"sphere": Sphere, "box": Box, "unbounded": Euclidean}
        return kinds[self.space](self.dim)

    def _build_marginal(self, space: Space) -> Marginal:
        if self.marginal == "uniform":
            return Uniform(space)
        centre = torch.zeros(self.dim)
        if isinstance(space, Sphere):
            centre[0] = 1.0 if self.pole == "north" else -1.0
        return Centred(self.marginal.build(space), centre)

    def _build_mixing(self, seed: int) -> Mixing:
        if self.mixing == "identity":
            return Identity()
        return InvertibleMLP(
            self.dim, self.layers, candidates=self.candidates, generator=stream(seed, "mixing")
        )


def _within(
    loc: Tensor, base: Callable[[Tensor], GeneralizedNormal | ShapedNoise], space: Space
) -> Conditional:
    """Place a law of Rᵈ at anchors (N, d) of a space: projected to a sphere, truncated to a box."""
    law = base(loc)
    if isinstance(space, Sphere):
        return Projected(law, space)
    if isinstance(space, Box):
        assert isinstance(law, GeneralizedNormal)
        return Truncated(law, space)
    return law


def _diagonal(concentration: float | Sequence[float], space: Space) -> Tensor:
    """Write Λ as one number for each latent (d,)."""
    return torch.as_tensor(concentration, dtype=torch.get_default_dtype()).expand(space.dim)
