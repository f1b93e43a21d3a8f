"""One experiment: train a network on views, or take it as it is, and probe it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import JsonValue, NonNegativeInt, PositiveFloat, PositiveInt
from torch import nn

from aninfonce.augment import (
    SIMCLR_GROUPS,
    Blur,
    Brightness,
    Compose,
    Contrast,
    Crop,
    Flip,
    GroupedViews,
    ViewSource,
    simclr,
)
from aninfonce.datasets import LabelledImages, load_images
from aninfonce.encoders import ResNet
from aninfonce.extending import leave_at_exit, leave_process_group, stream
from aninfonce.losses import AlternatingLoss, AnInfoNCE, EnsembleAnInfoNCE, InfoNCE
from aninfonce.sources import DrawnAhead, PairSource
from aninfonce.training import Fitted, TrainingConfig, fit
from aninfonce_papers.engine import Encoder, Experiment, Loss, Metrics, Pairs, Score
from aninfonce_papers.engine.precision import Precision, open_fabric
from aninfonce_papers.engine.scratch import scratch_folder
from aninfonce_papers.models.quick_resnet import QuickResNet
from aninfonce_papers.rusak2025.simclr.network import BesideLoss, LevelsLoss, Network, colours_shared
from aninfonce_papers.rusak2025.simclr.probes import (
    GREY_HALVES,
    GREY_READOUTS,
    HALVES,
    READOUTS,
    logistic_probe,
    measure,
    sgd_probe,
)

if TYPE_CHECKING:
    from lightning_fabric import Fabric

Method = Literal[
    "InfoNCE",
    "AnInfoNCE",
    "AnInfoNCE without ℓ2",
    "Λ̂ below, InfoNCE on top",
    "a Λ̂ per augmentation group",
    "AnInfoNCE of colours beside InfoNCE",
    "untrained",
]
PUBLISHED_METHODS: tuple[Method, ...] = ("InfoNCE", "AnInfoNCE", "AnInfoNCE without ℓ2")
IDEAS: tuple[Method, ...] = ("Λ̂ below, InfoNCE on top", "a Λ̂ per augmentation group")
BESIDE: Method = "AnInfoNCE of colours beside InfoNCE"
UNTRAINED: Method = "untrained"


class SimCLRPairs(Pairs):
    """Views of images.

    Attributes:
        data: set of images by name, or a folder of them with a folder for each class.
        size: side of the pictures of a folder.
        images: to train on, and to fit probes on.
        test_images: to score probes on.
        grouped: whether the views of a pair differ in one group of augmentations, each in turn.
        ahead: whether a thread makes the views of the next step during the present one.
        view_size: side of the views in pixels; that of the pictures if omitted. Probes see whole pictures.
        colours_every: of so many pairs in a row, the views of the last one share their changes of colour; 0
            for none.
        grey: pictures have no colours; nor have augmentations and readouts.

    """

    data: str
    size: PositiveInt = 32
    images: PositiveInt
    test_images: PositiveInt
    grouped: bool = False
    ahead: bool = False
    view_size: PositiveInt | None = None
    colours_every: NonNegativeInt = 0
    grey: bool = False

    @property
    def held_out(self) -> float:
        """0: encoders of the table are trained on all images; probes have test images of their own."""
        return 0.0

    def split(self, name: Literal["train", "test"], seed: int) -> LabelledImages:
        """Open a split: some of its images in memory, or all of them as they lie on disk."""
        whole = load_images(self.data, name, size=self.size)
        n = self.images if name == "train" else self.test_images
        return whole if n >= len(whole) else whole.take(n, seed)

    def open(self, images: LabelledImages, seed: int, shard: tuple[int, int] = (0, 1)) -> PairSource:
        """Make the stream of pairs, of which this process, (rank, processes), sees a part."""
        change = grey_views(self.view_size) if self.grey else simclr("cifar10", size=self.view_size)
        if self.grouped or self.colours_every:
            shared = SIMCLR_GROUPS if self.grouped else colours_shared(self.colours_every)
            views: ViewSource = GroupedViews(images.images, change, seed, shared=shared, shard=shard)
        else:
            views = ViewSource(images.images, change, seed, shard=shard)
        return DrawnAhead(views) if self.ahead else views


def grey_views(size: int | None = None) -> Compose:
    """Build SimCLR's augmentations without colours: of its jitter, brightness and contrast are left.

    >>> [step.name for step in grey_views().steps]
    ['crop', 'flip', 'brightness', 'contrast', 'blur']
    """
    changes = (Brightness((0.2, 1.8), p=0.8), Contrast((0.2, 1.8), p=0.8))
    return Compose([Crop(size=size), Flip(p=0.5), *changes, Blur(p=0.5)])


class SimCLREncoder(Encoder):
    """Backbone and projector.

    Attributes:
        name: "quick" for `QuickResNet`, which has a depth and a stem of its own.
        space: unbounded, since the network brings its own sphere.
        dim: columns of the last layer.
        depth: of the residual network.
        stem: its first layers.
        precision: of its products in training.
        width: of it.
        hidden: width inside the projector.
        sphere: bring the last layer to unit length.
        levels: the loss also sees the projector's first layer.
        features: columns of the backbone "quick", more than its last stage has channels.
        beside: columns of a second projector, which the loss sees before those of the first.

    """

    name: Literal["quick"] | None = None
    space: Literal["unbounded"] = "unbounded"
    dim: PositiveInt
    depth: PositiveInt
    stem: Literal["cifar", "cifar-half", "imagenet"]
    width: PositiveInt
    hidden: PositiveInt
    sphere: bool = True
    levels: bool = False
    precision: Precision = "float32"
    features: PositiveInt | None = None
    beside: NonNegativeInt = 0

    def network(self, channels: int, seed: int) -> Network:
        """Build it for images of so many channels; the seed draws the weights."""
        generator = stream(seed, "network")
        backbone: ResNet | QuickResNet
        if self.name == "quick":
            backbone = QuickResNet(
                in_channels=channels, width=self.width, features=self.features, generator=generator
            )
        else:
            backbone = ResNet(
                self.depth, stem=self.stem, in_channels=channels, width=self.width, generator=generator
            )
        return Network(
            backbone,
            hidden=self.hidden,
            dim=self.dim,
            sphere=self.sphere,
            levels=self.levels,
            beside=self.beside,
            generator=generator,
        )


class SimCLRLoss(Loss):
    """The loss of a method, for embeddings that are on the sphere already where they should be.

    All count negatives as SimCLR does. Λ̂ starts at 1/τ everywhere, which on the sphere is InfoNCE itself.

    Attributes:
        method: whose loss it is.
        temperature: τ.
        columns: in front of those of the last layer, for a loss in two parts.
        colours_every: as the pairs have it.
        positive_map: how Λ̂ is kept positive.

    """

    name: str = "custom"
    method: Method
    temperature: PositiveFloat
    columns: NonNegativeInt = 0
    colours_every: NonNegativeInt = 0
    positive_map: Literal["exp", "softplus"] = "exp"

    def module(self, dim: int, seed: int) -> nn.Module:
        """Build it for the last layer's columns; nothing about it is random."""
        counted: Any = {
            "symmetric": True,
            "candidates": "both",
            "normalize": False,
            "gather_distributed": True,
        }
        trained: Any = {**counted, "initial": 1 / self.temperature, "positive_map": self.positive_map}
        top = InfoNCE(temperature=self.temperature, **counted)
        if self.method == "InfoNCE":
            return top
        if self.method == "Λ̂ below, InfoNCE on top":
            return LevelsLoss(self.columns, AnInfoNCE(self.columns, **trained), top)
        if self.method == BESIDE:
            return BesideLoss(self.columns, AnInfoNCE(self.columns, **trained), top, self.colours_every)
        if self.method == "a Λ̂ per augmentation group":
            return AlternatingLoss(EnsembleAnInfoNCE(dim, len(SIMCLR_GROUPS), **trained))
        return AnInfoNCE(dim, **trained)


class Probes(Score):
    """Classes and augmentations that linear probes read off the frozen network.

    Attributes:
        devices: to train on.
        probe: logistic regression, or a linear layer trained as in the paper.
        halves: whether augmentations are read out at half their strength, too.

    """

    devices: PositiveInt = 1
    probe: Literal["logistic", "sgd"] = "logistic"
    halves: bool = False

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Train and probe, on as many devices as are named."""
        assert isinstance(experiment.encoder, SimCLREncoder)
        fabric = open_fabric(experiment.encoder.precision, self.devices)
        found: Metrics = fabric.launch(train_and_probe, experiment, seed, scratch_folder())  # type: ignore[arg-type]
        return found


def train_and_probe(fabric: Fabric, experiment: Experiment, seed: int, folder: Path | None) -> Metrics:
    """Do the work of one process.

    Args:
        fabric: launched.
        experiment: to run.
        seed: of images, weights and views.
        folder: for checkpoints, from which a killed run goes on; no checkpoints if None.

    Returns:
        The results, on the first process; the others end here.

    """
    pairs, encoder, score = experiment.pairs, experiment.encoder, experiment.score
    assert isinstance(pairs, SimCLRPairs)
    assert isinstance(encoder, SimCLREncoder)
    assert isinstance(score, Probes)
    train = pairs.split("train", seed)
    network = encoder.network(train.shape[0], seed)
    found: dict[str, JsonValue] = {}
    if experiment.loss is not None:
        fitted = _train(fabric, experiment, train, network, seed, folder)
        rows = fitted.history
        curve: dict[str, JsonValue] = {
            "steps": [row["step"] for row in rows],
            "value": [round(row["loss"], 4) for row in rows],
        }
        found = {"loss": curve, **_concentration(fitted)}
    # The first process goes on alone. Python's normal exit could abort any of them, whether it probes or not.
    leave_process_group(stay=fabric.is_global_zero)
    probe = sgd_probe if score.probe == "sgd" else logistic_probe
    test = pairs.split("test", seed)
    found = {
        **measure(
            network.to(fabric.device),
            train,
            test,
            probe=probe,
            seed=seed,
            readouts=GREY_READOUTS if pairs.grey else READOUTS,
            halves=(GREY_HALVES if pairs.grey else HALVES) if score.halves else None,
        ),
        **found,
    }
    leave_at_exit()
    return found


def _train(
    fabric: Fabric,
    experiment: Experiment,
    train: LabelledImages,
    network: Network,
    seed: int,
    folder: Path | None,
) -> Fitted:
    pairs, encoder, loss = experiment.pairs, experiment.encoder, experiment.loss
    assert isinstance(pairs, SimCLRPairs)
    assert isinstance(encoder, SimCLREncoder)
    assert loss is not None
    module: nn.Module = network
    if fabric.world_size > 1 and fabric.device.type == "cuda":
        module = nn.SyncBatchNorm.convert_sync_batchnorm(network)  # type: ignore[no-untyped-call]
    return fit(
        pairs.open(train, seed, (fabric.global_rank, fabric.world_size)),
        training_config(experiment, len(train), network.out_features, seed),
        encoder=module,
        loss=loss.module(encoder.dim, seed),
        directory=folder,
        resume=True,
        fabric=fabric,
    )


def training_config(experiment: Experiment, images: int, columns: int, seed: int) -> TrainingConfig:
    """Give the settings of the training.

    Args:
        experiment: to run.
        images: how many there are. If fewer than the experiment asks for, steps and warm-up shrink with them,
            so that the epochs stay the same.
        columns: that the loss sees.
        seed: of the run.

    Returns:
        The settings.

    """
    assert isinstance(experiment.pairs, SimCLRPairs)
    assert experiment.recipe is not None
    share = min(1.0, images / experiment.pairs.images)
    if share < 1.0:
        recipe = experiment.recipe
        steps = max(1, round(share * recipe.steps))
        changed = recipe.model_copy(update={"steps": steps, "warmup": round(share * recipe.warmup)})
        experiment = experiment.model_copy(update={"recipe": changed})
    return experiment.training_config(seed).model_copy(update={"dim": columns})


def _concentration(fitted: Fitted) -> dict[str, JsonValue]:
    """Give every Λ̂ of the loss, sorted."""
    found: list[JsonValue] = [
        [round(value, 4) for value in sorted(part.concentration.tolist())]
        for part in fitted.loss.modules()
        if isinstance(part, AnInfoNCE)
    ]
    return {"Λ̂": found} if found else {}
