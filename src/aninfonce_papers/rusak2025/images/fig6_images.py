"""Figures 6 A, B and 7: augmentations of one image are not normally distributed in the latents of a VAE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import torch
from pydantic import JsonValue, PositiveInt
from scipy import stats
from torch import Generator, Tensor

from aninfonce.augment import Augmentation, Compose, Crop, Flip
from aninfonce.datasets import load_images
from aninfonce.extending import pixel_tensor, step_form, stream
from aninfonce_papers.engine import Experiment, Metrics, Preset, Published, Row, Score, Study
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.engine.published import ANINFONCE
from aninfonce_papers.rusak2025.images import pictures, views, world
from aninfonce_papers.worlds.vae import VAE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Steps = Literal["views", "normal"]

NEIGHBOURS = 0.967
# Test images, and versions of each.
_SIZES: dict[Preset, tuple[int, int]] = {"smoke": (2, 300), "laptop": (24, 2_000), "paper": (100, 10_000)}
_SECONDS: dict[Preset, float] = {"smoke": 2.0, "laptop": 60.0, "paper": 600.0}
_ENCODER_SECONDS: dict[Preset, float] = {"smoke": 2.0, "laptop": 230.0, "paper": 10_000.0}
# Images whose histograms and pictures are kept.
_KEPT = 3
_BINS = np.linspace(-4.0, 4.0, 41)


class CropsAndFlips(views.ViewScore):
    """An encoder trained on views of the figure's kind."""

    def augmentation(self) -> Augmentation:
        """Build them."""
        return crops_and_flips()


class FormOfSteps(Score):
    """Each latent of many versions of some test images, tested for normality and two modes.

    Attributes:
        steps: "views" for augmentations, "normal" for images decoded from normal steps in the latents.
        images: how many.
        draws: versions of each.

    """

    steps: Steps
    images: PositiveInt
    draws: PositiveInt

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Encode the versions, and test them."""
        pairs = experiment.pairs
        assert isinstance(pairs, world.ImagePairs)
        vae = pairs.vae(crops_and_flips())
        plain = pixel_tensor(load_images(pairs.dataset, "test").take(self.images, seed).images)
        generator = stream(seed, "versions")
        forms, shown = [], []
        for image in plain:
            seen = versions(vae, image, self.steps, self.draws, generator)
            latents = vae.encode(seen).double().numpy()
            forms.append((latents, step_form(latents)))
            shown.append(seen[:_KEPT])
        odd = np.array([form.odd for _, form in forms])
        two = np.array([form.two_modes for _, form in forms])
        kept = [latents for latents, _ in forms[:_KEPT]]
        return {
            "share not normal": float(odd.mean()),
            "share with two modes": float(two.mean()),
            "images with a bimodal latent": float(two.any(axis=1).mean()),
            "latents that are bimodal somewhere": int(two.any(axis=0).sum()),
            "excess kurtosis": np.round([form.kurtosis for _, form in forms], 3).tolist(),
            "histograms": [_histograms(latents) for latents in kept],
            "two modes": two[:_KEPT].tolist(),
            "pictures": cast(JsonValue, _reconstructions(vae, plain[:_KEPT], shown[:_KEPT])),
        }


def experiments(preset: Preset) -> list[Experiment]:
    """Give views of single images, normal steps instead of these, and an encoder trained on such views."""
    images, draws = _SIZES[preset]
    named: dict[str, Steps] = {"views of single images": "views", "normal steps, decoded": "normal"}
    forms = [
        Experiment(
            name=name,
            pairs=world.IMAGES[preset],
            score=FormOfSteps(steps=steps, images=images, draws=draws),
            seconds=_SECONDS[preset],
        )
        for name, steps in named.items()
    ]
    score = CropsAndFlips(real=views.REAL[preset])
    known = {"class accuracy": Published(NEIGHBOURS, precision=5e-4)}
    encoder = views.by_convolutions(
        "encoder", preset, "InfoNCE", score, known, seconds=_ENCODER_SECONDS[preset]
    )
    return [*forms, encoder]


def crops_and_flips() -> Compose:
    """Build the augmentation of the figure."""
    return Compose([Crop(), Flip(p=0.5)])


def versions(vae: VAE, image: Tensor, steps: Steps, draws: int, generator: Generator) -> Tensor:
    """Make many versions of one image.

    Args:
        vae: trained on augmented images.
        image: (C, H, W).
        steps: "views" for augmentations, "normal" for images decoded from normal steps in the latents that
            have the views' mean and covariance.
        draws: versions.
        generator: draws them.

    Returns:
        Images (draws, C, H, W).

    """
    seen = crops_and_flips()(image.expand(draws, *image.shape), generator).images
    if steps == "views":
        return seen
    latents = vae.encode(seen).double()
    spread = torch.linalg.cholesky(torch.cov(latents.T))
    noise = torch.randn(latents.shape, generator=generator, dtype=torch.float64)
    return vae.decode((latents.mean(dim=0) + noise @ spread.T).float())


def _histograms(latents: Any) -> list[list[int]]:
    """Count each standardised latent in bins."""
    unit = (latents - latents.mean(axis=0)) / latents.std(axis=0)
    return [np.histogram(column, _BINS)[0].tolist() for column in unit.T]


def _reconstructions(vae: VAE, plain: Tensor, shown: Sequence[Tensor]) -> dict[str, list[str]]:
    """Put each image beside some of its versions and what the VAE makes of these."""
    columns = {"image": pictures.packed(plain)}
    for place in range(_KEPT):
        seen = torch.stack([part[place] for part in shown])
        columns[f"version {place + 1}"] = pictures.packed(seen)
        columns[f"by the VAE {place + 1}"] = pictures.packed(vae.decode(vae.encode(seen)))
    return columns


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw the conditionals of the first images along every latent, and reconstructions."""
    figures = {}
    for row in rows:
        if row.seed == 0 and "histograms" in row.metrics:
            name = "views" if row.cell.startswith("views") else "normal"
            figures[f"{name}-conditionals"] = _draw_conditionals(row)
            shown = cast(dict[str, list[str]], row.metrics["pictures"])
            figures[f"{name}-pictures"] = pictures.draw_grid(shown, row.cell)
    return figures


def _draw_conditionals(row: Row) -> Figure:
    histograms = cast(list[list[list[int]]], row.metrics["histograms"])
    two_modes = cast(list[list[bool]], row.metrics["two modes"])
    images, latents = len(histograms), world.DIM
    figure = new_figure(1.1 * latents, 0.5 + 1.1 * images)
    grid = figure.subplots(images, latents, squeeze=False)
    middle = (_BINS[1:] + _BINS[:-1]) / 2
    for image, columns in enumerate(histograms):
        for latent, counts in enumerate(columns):
            axes = grid[image][latent]
            total = sum(counts) * (_BINS[1] - _BINS[0])
            colour = "C1" if two_modes[image][latent] else "C0"
            axes.fill_between(middle, np.array(counts) / total, step="mid", color=colour)
            axes.plot(middle, stats.norm.pdf(middle), color="black", linewidth=0.7)
            axes.set(xticks=[], yticks=[])
    figure.suptitle(
        f"{row.cell}: one row per image, one column per latent (orange: two modes; line: normal)", fontsize=9
    )
    return figure


STUDY = Study(
    name="fig6-images",
    title="Conditionals of augmented images in the latents of a VAE",
    paper=ANINFONCE,
    source="Figures 6 A, B and 7, and Appendix G: the accuracy of an encoder trained on crops and flips",
    experiments=experiments,
    plot=plot,
    remarks=("The encoder is that of `mnist-augmentations`, far less trained than the paper's.",),
)
