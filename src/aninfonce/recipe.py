"""How the weights of a run are found, as data: the steps, their rates, and the fits that end them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from aninfonce._settings import Settings

Share = Annotated[float, Field(gt=0.0, lt=1.0)]
Momentum = Annotated[float, Field(ge=0.0, lt=1.0)]


class Unfolding(Settings):
    """How the sphere is unfolded: train in all of Rᵈ first, then map to the sphere and train on.

    Attributes:
        share: share of the steps that are trained in Rᵈ.
        again: shares of the steps at which the embedding is mapped to a round sphere once more.
        pairs: drawn to find the map.

    """

    share: Share = 0.5
    again: tuple[Share, ...] = ()
    pairs: Annotated[int, Field(ge=1000)] = 32_768


class Closing(Settings):
    """What is fitted on the frozen embedding after the last step.

    Attributes:
        pairs: drawn for the full metric whose eigenvectors align the axes, and for the sphere.
        concentration_pairs: drawn for the final Λ̂, and for the sphere.
        block: pairs that are each other's negatives in these fits.
        iterations: largest number in each fit.

    """

    pairs: Annotated[int, Field(ge=1000)] = 65_536
    concentration_pairs: Annotated[int, Field(ge=1000)] = 196_608
    block: Annotated[int, Field(ge=2)] = 1024
    iterations: PositiveInt = 15


class Recipe(Settings):
    """How the weights are found; the defaults are the recipe "fast".

    Attributes:
        name: the recipe that supplies the fields which are not given.
        whiten: put a fixed map in front of the encoder, estimated once on 16 384 inputs. True decorrelates
            them, which mixtures of few noise-free channels want; "scale" only gives each its own scale, which
            many noisy channels want, since decorrelating blows up their noise.
        input_dropout: share of the inputs that are left out at random in every step: keeps an encoder from
            learning noisy rows by heart.
        steps: number of optimiser steps.
        batch_size: pairs per step, over all processes together.
        growth: (share of the steps, batch size from there on).
        optimizer: "muon" for hidden matrices and Adam for the rest, "adam" for all, or "lars".
        muon_lr: rate for hidden matrices.
        muon_momentum: their momentum.
        muon_iterations: Newton–Schulz steps that orthogonalise it.
        muon_refresh: steps between two orthogonalisations. 2 is faster and less exact.
        lars_lr: rate of LARS, SimCLR's optimiser for large batches.
        lars_decay: its weight decay.
        adam_lr: rate of Adam on the rest of the encoder.
        adam_betas: its two decay rates.
        concentration_lr: rate of Adam on the loss's own parameters, Λ̂ first of all.
        warmup: steps over which all rates rise linearly.
        decay: how all rates fall to zero until the last step, or "none".
        unfold: the phase without the sphere; used for AnInfoNCE on the sphere.
        close: the closing fits; used for AnInfoNCE on the sphere.

    """

    name: Literal["fast", "paper"] = "fast"
    whiten: bool | Literal["scale"] = False
    input_dropout: Momentum = 0.0
    steps: PositiveInt = 2000
    batch_size: Annotated[int, Field(ge=2)] = 512
    growth: tuple[tuple[Share, PositiveInt], ...] = ((0.5, 1024),)
    optimizer: Literal["muon", "adam", "lars"] = "muon"
    muon_lr: PositiveFloat = 0.1
    muon_momentum: Momentum = 0.95
    muon_iterations: PositiveInt = 4
    muon_refresh: PositiveInt = 1
    lars_lr: PositiveFloat = 0.3
    lars_decay: NonNegativeFloat = 1e-6
    adam_lr: PositiveFloat = 8e-3
    adam_betas: tuple[Momentum, Momentum] = (0.9, 0.99)
    concentration_lr: PositiveFloat = 1e-2
    warmup: NonNegativeInt = 50
    decay: Literal["linear", "cosine", "none"] = "linear"
    unfold: Unfolding | None = Unfolding()
    close: Closing | None = Closing()

    @model_validator(mode="before")
    @classmethod
    def _start_from_the_named_recipe(cls, data: Any) -> Any:
        if isinstance(data, str):
            data = {"name": data}
        if isinstance(data, dict) and data.get("name") == "paper":
            return {**PAPER, **data}
        return data

    @property
    def largest_batch(self) -> int:
        """Pairs of the largest step."""
        return max([self.batch_size, *(size for _, size in self.growth)])


# Both papers: Adam with no schedule, and the logs' batch of the AnInfoNCE experiments.
PAPER: dict[str, Any] = {
    "name": "paper",
    "steps": 100_000,
    "batch_size": 1000,
    "growth": (),
    "optimizer": "adam",
    "adam_lr": 1e-4,
    "adam_betas": (0.9, 0.999),
    "concentration_lr": 1e-3,
    "warmup": 0,
    "decay": "none",
    "unfold": None,
    "close": None,
}


# InfoNCE has no reason to keep style: what the initial weights held of it fades, and does so more cleanly at
# small rates. With this share of the recipe's rates the results of `fig2` were made; it is used wherever
# InfoNCE is compared with AnInfoNCE.
INFONCE_RATES = 0.3


def scaled_rates(share: float) -> dict[str, float]:
    """Give the rates of the recipe "fast", multiplied.

    >>> scaled_rates(INFONCE_RATES)["adam_lr"]
    0.0024
    """
    names = ("muon_lr", "adam_lr", "concentration_lr")
    return {name: share * Recipe.model_fields[name].default for name in names}
