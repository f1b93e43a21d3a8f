"""The experiments of a published table: one for each method, at the sizes of a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from pydantic import JsonValue

from aninfonce.training import Recipe
from aninfonce_papers.engine import Experiment, Watch
from aninfonce_papers.engine.precision import fastest_precision
from aninfonce_papers.rusak2025.simclr.experiment import (
    BESIDE,
    UNTRAINED,
    Method,
    Probes,
    SimCLREncoder,
    SimCLRLoss,
    SimCLRPairs,
)
from aninfonce_papers.rusak2025.simclr.table import published

# With two projectors, a third of the pairs teaches the one of colours.
_COLOURS_EVERY = 3


@dataclass(frozen=True)
class Sizes:
    """How large the experiments of a data set are.

    Attributes:
        data: set of images.
        recipe: "fast" or "paper".
        stem: first layers of the network.
        width: of the network.
        hidden: of the projector.
        dim: columns of the embedding.
        images: to train on.
        test_images: to score on.
        epochs: over the training images.
        batch_size: pairs of a step.
        seconds: of one step and of the probes, on one core.
        depth: of the network.
        size: side of the pictures of a folder.
        temperature: τ.
        warmup_epochs: over which rates rise.
        muon_lr: rate of hidden matrices, in the recipe "fast".
        night: whether it is for the preset "overnight": `QuickResNet` in the fastest precision, views made
            ahead, and readouts at two strengths.
        view_size: side of the views; that of the pictures if omitted.
        features: columns of the backbone, if more than its last stage has.
        grey: pictures have no colours.

    """

    data: str
    recipe: Literal["fast", "paper"]
    stem: Literal["cifar", "cifar-half", "imagenet"]
    width: int
    hidden: int
    dim: int
    images: int
    test_images: int
    epochs: int
    batch_size: int
    seconds: tuple[float, float]
    depth: int = 18
    size: int = 32
    temperature: float = 0.5
    warmup_epochs: int = 10
    muon_lr: float = 0.05
    night: bool = False
    view_size: int | None = None
    features: int | None = None
    grey: bool = False

    @property
    def steps(self) -> int:
        """Steps of all epochs."""
        return self.epochs * max(1, self.images // self.batch_size)

    def build(self) -> Recipe:
        """Give the recipe."""
        epoch = max(1, self.images // self.batch_size)
        given: dict[str, object] = {
            "steps": self.steps,
            "batch_size": self.batch_size,
            "growth": (),
            "warmup": min(self.warmup_epochs * epoch, self.steps // 2),
            "decay": "cosine",
            "unfold": None,
            "close": None,
        }
        if self.recipe == "paper":
            given |= {"optimizer": "lars", "lars_lr": 0.3 * self.batch_size / 256, "concentration_lr": 1e-3}
        else:
            given |= {"muon_lr": self.muon_lr, "adam_lr": 2e-3, "concentration_lr": 2e-2}
        return Recipe.model_validate(given)


def table_experiments(
    methods: Sequence[Method],
    sizes: Sizes,
    paper: Sizes | None = None,
    printed: Mapping[str, Mapping[str, Sequence[float]]] = MappingProxyType({}),
) -> list[Experiment]:
    """Make one experiment per method.

    Args:
        methods: to train, and "untrained".
        sizes: of all of them.
        paper: its own sizes: at others, published values are shown without a verdict. Needed with `printed`.
        printed: values of the paper, by method and layer.

    Returns:
        The experiments.

    """
    judged_if: dict[str, JsonValue] = {}
    if paper is not None:
        judged_if = {"encoder.width": paper.width, "recipe.steps": paper.steps}
    return [
        _experiment(method, sizes).model_copy(
            update={"published": published(printed[method]), "judged_if": judged_if}
            if method in printed
            else {}
        )
        for method in methods
    ]


def _experiment(method: Method, sizes: Sizes) -> Experiment:
    levels, paper = method == "Λ̂ below, InfoNCE on top", sizes.recipe == "paper"
    beside, every = (sizes.dim, _COLOURS_EVERY) if method == BESIDE else (0, 0)
    step, probes = sizes.seconds
    loss, recipe, seconds = None, None, probes
    if method != UNTRAINED:
        loss = SimCLRLoss(
            method=method,
            temperature=sizes.temperature,
            columns=sizes.hidden if levels else beside,
            colours_every=every,
            positive_map="softplus" if paper else "exp",
        )
        recipe, seconds = sizes.build(), probes + step * sizes.steps
    return Experiment(
        name=method,
        pairs=SimCLRPairs(
            data=sizes.data,
            size=sizes.size,
            images=sizes.images,
            test_images=sizes.test_images,
            grouped=method == "a Λ̂ per augmentation group",
            ahead=sizes.night,
            view_size=sizes.view_size,
            colours_every=every,
            grey=sizes.grey,
        ),
        encoder=SimCLREncoder(
            name="quick" if sizes.night else None,
            dim=sizes.dim,
            depth=sizes.depth,
            stem=sizes.stem,
            width=sizes.width,
            hidden=sizes.hidden,
            sphere=method != "AnInfoNCE without ℓ2",
            levels=levels,
            precision=fastest_precision() if sizes.night else "float32",
            features=sizes.features,
            beside=beside,
        ),
        loss=loss,
        recipe=recipe,
        watch=Watch(evaluations=0, least=1, pairs=256, checkpoint_every=max(1, min(100, sizes.steps // 4))),
        score=Probes(probe="sgd" if paper else "logistic", halves=sizes.night),
        seconds=seconds,
    )
