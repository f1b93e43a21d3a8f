"""What the studies of 3DIdent and Causal3DIdent share: pictures, networks, recipes and the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import torch
from pydantic import NonNegativeInt, PositiveInt, model_validator
from torch import Tensor, nn

from aninfonce.extending import (
    HELD_OUT_LOSS,
    SEEN_LOSS,
    ImageRows,
    Pixels,
    Space,
    coarse_pixels,
    derive_seed,
    pixel_tensor,
    stream,
)
from aninfonce.processes import DataGeneratingProcess
from aninfonce.sources import ArraySource, NeighbourOrder, PairSource
from aninfonce.training import Fitted, Recipe, fit
from aninfonce_papers.engine import Experiment, Pairs, Preset, Watch
from aninfonce_papers.engine.precision import Precision, fastest_precision, open_fabric
from aninfonce_papers.engine.scratch import scratch_folder
from aninfonce_papers.worlds.scenes import (
    NORMALIZATION,
    SHAPES,
    DrawnImages,
    FreshScenes,
    Groups,
    MatchedSource,
    PicturePairs,
    SceneImages,
    SceneRenderer,
    drawn,
    is_released,
    read_scenes,
    scene_process,
)
from aninfonce_papers.zimmermann2021.scene_encoders import SceneEncoder, Standardize

RENDERED = "rendered"
# Published values count on the pictures that they were measured on.
JUDGED_IF = {"pairs.released": True}
WATCH = Watch(logs=20, evaluations=10, least=1, pairs=1_024)
# Pictures are the same for every seed, as a data set would be; seeds draw weights, order and views.
_DATA_SEED = 0
_FOR_STATISTICS = 1_000
# Pairs that are drawn ahead while training: a minute and a half of work that a killed run does again. A
# network that goes through a few thousand pairs eight times in a row learns them by heart.
_BULK = 32_768


@dataclass(frozen=True)
class Sizes:
    """How large an experiment on scenes is.

    Attributes:
        images: training pictures (pairs) that are drawn.
        keep: whether they go to the cache, or are drawn again each time.
        size: side of the pictures in pixels.
        encoder: by name.
        width: of the encoder.
        recipe: "fast" or "paper".
        steps: of training.
        batch_size: pairs of a step.
        temperature: of the loss.
        step_seconds: of one step on one core, for estimates before there are rows to go by.
        test_images: to score on.
        uses: of each picture that is drawn while training; 0 if all are drawn beforehand.
        night: whether it is for the preset "overnight": in the fastest precision, with checkpoints.
        rates: of kernels, and of all other weights, in the recipe "fast".

    """

    images: int
    keep: bool
    size: int
    encoder: str
    width: int
    recipe: Literal["fast", "paper"]
    steps: int
    batch_size: int
    temperature: float
    step_seconds: float
    test_images: int = 4_096
    uses: int = 0
    night: bool = False
    rates: tuple[float, float] = (0.05, 8e-3)

    def build(self) -> Recipe:
        """Give the recipe; nothing is fitted to a sphere afterwards."""
        fast: dict[str, object] = {}
        if self.recipe == "fast":
            muon, adam = self.rates
            fast = {"muon_lr": muon, "adam_lr": adam, "warmup": min(50, self.steps // 4)}
        return Recipe.model_validate(
            {
                "name": self.recipe,
                "steps": self.steps,
                "batch_size": self.batch_size,
                "growth": (),
                "unfold": None,
                "close": None,
                **fast,
            }
        )

    @property
    def of_stored(self) -> Sizes:
        """Sizes for augmentations of stored pictures; overnight half the steps, since each takes longer."""
        return replace(self, uses=0, steps=self.steps // 2) if self.uses else self

    def seconds(self, factor: float = 1.0) -> float:
        """Give rough seconds of one training."""
        return 5.0 + self.steps * self.step_seconds * factor


SIZES: dict[Preset, Sizes] = {
    "smoke": Sizes(70, True, 24, "small-conv", 8, "fast", 3, 16, 0.02, 0.3, test_images=70),
    "laptop": Sizes(20_000, True, 48, "small-conv", 16, "fast", 1_200, 256, 0.02, 0.2),
    "overnight": Sizes(80_000, True, 64, "glimpse", 16, "fast", 7_000, 256, 0.1, 0.3, uses=8, night=True),
    "paper": Sizes(250_000, False, 224, "resnet18", 64, "paper", 30_000, 512, 1.0, 300.0),
}


class ScenePairs(Pairs):
    """Pictures of scenes, in pairs.

    Attributes:
        kind: of the data set.
        data: "rendered", or a folder in the released layout.
        images: how many training pictures are drawn; while training, how many at a time at most.
        keep: whether they go to the cache, or are drawn again each time.
        test_images: to score on.
        size: side of the pictures in pixels.
        batches: of random pictures, of "neighbours" that look alike, or, with pictures that are drawn while
            training, of "hard negatives": scenes that share all but their rotation, up to a small step.
        uses: of each picture that is drawn while training; 0 if all are drawn beforehand.
        hard_until: share of the training after which hard negatives give way to random pictures.

    """

    kind: Literal["threedident", "causal3dident"]
    data: str = RENDERED
    images: PositiveInt
    keep: bool
    test_images: PositiveInt
    size: PositiveInt
    batches: Literal["random", "neighbours", "hard negatives"] = "random"
    uses: NonNegativeInt = 0
    hard_until: float = 0.75

    @model_validator(mode="after")
    def _hard_negatives_are_drawn(self) -> Self:
        if self.batches == "hard negatives" and (self.data != RENDERED or not self.uses):
            raise ValueError(
                "`batches` must be 'random' or 'neighbours' where pictures are not drawn while training"
                f" (data {self.data!r}, uses {self.uses})"
            )
        return self

    @property
    def shapes(self) -> Sequence[str]:
        """The objects, as many of each."""
        return SHAPES if self.kind == "causal3dident" else ("teapot",)

    @property
    def held_out(self) -> float:
        """A tenth of rendered pictures, at least 16; none of a folder, which has test pictures of its own."""
        return max(0.1, 16 / self.images) if self.data == RENDERED else 0.0

    @property
    def released(self) -> bool:
        """Whether pictures are the authors': never those drawn on demand, whatever folders are about."""
        return self.data != RENDERED and is_released(self.data)

    @property
    def label(self) -> str:
        """Say which pictures a result was measured on."""
        if self.data == RENDERED:
            return "rendered on demand"
        return "released files" if self.released else "a rendered folder"

    def pictures(self, latents: Tensor) -> ImageRows:
        """Draw latents (n, 10) with the objects in turn: once into the cache, or each time anew."""
        z, classes = latents.double().numpy(), np.arange(len(latents)) % len(self.shapes)
        draw = drawn if self.keep else DrawnImages
        return draw(z, self.size, classes=classes, shapes=self.shapes)

    def stored(self, split: str) -> SceneImages:
        """Open the folder, and require that it holds this data set."""
        scenes = read_scenes(self.data, split, size=self.size)
        if scenes.kind != self.kind:
            raise ValueError(f"`data` must be a folder of {self.kind}, got one of {scenes.kind}")
        return scenes

    def open(
        self,
        law: DataGeneratingProcess,
        seed: int,
        views: Callable[[ImageRows], PairSource] | None = None,
        pairs: int | None = None,
    ) -> tuple[PairSource, ImageRows]:
        """Give the training pairs, and pictures that show the statistics of their colours.

        Args:
            law: of the latents.
            seed: of the order, and of matched pairs.
            views: makes pairs of pictures; without it, positives have latents drawn by the law.
            pairs: that the training will take, which says when hard negatives end; never if omitted.

        """
        if self.data != RENDERED:
            given = self.stored("train")
            source = MatchedSource(given, law, seed) if views is None else views(given.images)
            return source, given.images
        if self.uses and views is None:
            return self._fresh(law, seed, pairs), self.pictures(_uniform(_FOR_STATISTICS, "statistics"))
        # Anchors come first from the generator: they are the same, and drawn once, for all laws.
        stored = law.sample(self.images, stream(_DATA_SEED, "scenes", "train"))
        assert stored.z is not None
        assert stored.z_pos is not None
        anchors = self.pictures(stored.z)
        if views is not None:
            return views(anchors), anchors
        rows = PicturePairs(anchors, self.pictures(stored.z_pos), stored.z)
        if self.batches == "neighbours":
            order = NeighbourOrder(coarse_pixels(anchors), seed, what="pairs")
            return ArraySource(rows, seed, order=order), anchors
        return ArraySource(rows, seed), anchors

    def artist(self) -> Callable[[Tensor], Pixels]:
        """Give what draws latents (n, 10), with the objects in turn."""
        renderer = SceneRenderer(self.size, self.shapes)

        def draw(latents: Tensor) -> Pixels:
            return renderer.render(latents.double().numpy(), np.arange(len(latents)) % len(self.shapes))

        return draw

    def _fresh(self, law: DataGeneratingProcess, seed: int, pairs: int | None) -> FreshScenes:
        groups = until = None
        if self.batches == "hard negatives":
            groups, until = Groups(), None if pairs is None else round(self.hard_until * pairs)
        bulk = min(_BULK, self.images)
        return FreshScenes(
            law, self.artist(), seed, groups=groups, groups_until=until, bulk=bulk, uses=self.uses
        )

    def training_pictures(self) -> tuple[ImageRows, Tensor]:
        """Give the anchors' pictures and latents (N, 10) of a data set without classes."""
        if self.data != RENDERED:
            given = self.stored("train")
            return given.images, torch.from_numpy(np.array(given.latents)).float()
        latents = _uniform(self.images, "train")
        return self.pictures(latents), latents

    def held_out_pictures(self) -> tuple[Tensor, Tensor, Tensor]:
        """Give test pictures (n, 3, size, size), their latents (n, 10) and classes (n,)."""
        n = self.test_images
        if self.data != RENDERED:
            # In random order, not by classes: scores are fitted on every other row.
            given = self.stored("test")
            order = np.random.default_rng(derive_seed(_DATA_SEED, "scenes", "test"))
            rows = order.permutation(len(given))[:n]
            latents, classes = (torch.from_numpy(np.array(a[rows])) for a in (given.latents, given.classes))
            return pixel_tensor(given.images[rows]), latents.float(), classes
        z = _uniform(n, "test")
        return pixel_tensor(self.pictures(z)[np.arange(n)]), z, torch.arange(n) % len(self.shapes)

    def standardize(self, images: ImageRows) -> Standardize:
        """Scale by the published statistics on the released files, by those of some pictures elsewhere."""
        if self.released:
            return Standardize(*NORMALIZATION[self.kind])
        some = pixel_tensor(images[np.arange(min(_FOR_STATISTICS, len(images)))])
        return Standardize(some.mean(dim=(0, 2, 3)).tolist(), some.std(dim=(0, 2, 3)).tolist())


def _uniform(n: int, split: str) -> Tensor:
    return scene_process(size=None).marginal.sample(n, stream(_DATA_SEED, "scenes", split))


def scene_encoder(sizes: Sizes, dim: int, space: Space = "sphere") -> SceneEncoder:
    """Give the network of a size."""
    precision: Precision = fastest_precision() if sizes.night else "float32"
    return SceneEncoder(name=sizes.encoder, width=sizes.width, dim=dim, space=space, precision=precision)


def watch(sizes: Sizes) -> Watch:
    """Say how often a training of a size is looked at; long ones keep checkpoints."""
    return WATCH.model_copy(update={"evaluations": 24, "checkpoint_every": 200}) if sizes.night else WATCH


def scene_pairs(kind: Literal["threedident", "causal3dident"], sizes: Sizes) -> ScenePairs:
    """Give the pictures of a size."""
    return ScenePairs(
        kind=kind,
        images=sizes.images,
        keep=sizes.keep,
        test_images=sizes.test_images,
        size=sizes.size,
        uses=sizes.uses,
    )


def parts_of(experiment: Experiment) -> tuple[ScenePairs, SceneEncoder]:
    """Give the two parts of an experiment that scenes have in their own form."""
    assert isinstance(experiment.pairs, ScenePairs)
    assert isinstance(experiment.encoder, SceneEncoder)
    return experiment.pairs, experiment.encoder


def train(
    experiment: Experiment, source: PairSource, images: ImageRows, seed: int, network: nn.Module | None = None
) -> Fitted:
    """Train the encoder of an experiment on pairs of pictures; a run that was killed goes on if it can."""
    pairs, encoder = parts_of(experiment)
    return fit(
        source,
        experiment.training_config(seed),
        encoder=encoder.network(pairs.standardize(images), seed) if network is None else network,
        directory=scratch_folder() if experiment.watch.checkpoint_every else None,
        resume=True,
        fabric=open_fabric(encoder.precision),
    )


def loss_curve(pairs: ScenePairs) -> str:
    """Name the column of the history that holds the loss of the evaluations."""
    return HELD_OUT_LOSS if pairs.held_out else SEEN_LOSS
