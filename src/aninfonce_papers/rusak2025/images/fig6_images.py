"""Figures 6 A, B and 7: what augmentation does to one image is no normal step in the latents of a VAE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from scipy import stats
from torch import Generator, Tensor

from aninfonce.augment import Compose, Crop, Flip
from aninfonce.datasets import load_images
from aninfonce.extending import pixel_tensor, step_form, stream
from aninfonce_papers.engine.base import ANINFONCE, Cell, Configuration, Metrics, Preset, Published, Study
from aninfonce_papers.rusak2025.images import pictures, views, world
from aninfonce_papers.worlds.vae import VAE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aninfonce_papers.engine.store import Row

NEIGHBOURS = 0.967
SIZES: dict[Preset, Configuration] = {
    "smoke": {"images": 2, "draws": 300},
    "laptop": {"images": 24, "draws": 2_000},
    "paper": {"images": 100, "draws": 10_000},
}
_SECONDS: dict[Preset, float] = {"smoke": 2.0, "laptop": 60.0, "paper": 600.0}
# Images whose histograms and pictures are kept.
_KEPT = 3
_BINS = np.linspace(-4.0, 4.0, 41)


def cells(preset: Preset) -> list[Cell]:
    """Give views of single images, normal steps instead of these, and an encoder trained on such views."""
    sizes = {**world.VAE_SIZES[preset], **SIZES[preset]}
    known = {"class accuracy": Published(NEIGHBOURS, precision=5e-4)}
    training = views.sizes(preset)
    return [
        Cell("views of single images", {"steps from": "views"}, sizes, {}, _SECONDS[preset]),
        Cell("normal steps, decoded", {"steps from": "normal"}, sizes, {}, _SECONDS[preset]),
        Cell("encoder", {"loss": "InfoNCE"}, training, known, 2 * _SECONDS[preset], world.ORIGINAL),
    ]


def crops_and_flips() -> Compose:
    """Build the augmentation of the figure."""
    return Compose([Crop(), Flip(p=0.5)])


def run(cell: Cell, seed: int) -> Metrics:
    """Encode many versions of each of some test images, and test each latent for normality and two modes."""
    settings = cell.configuration
    if "loss" in settings:
        return views.train_and_score(crops_and_flips(), settings, seed)
    vae = world.known_vae(settings, crops_and_flips())
    plain = pixel_tensor(load_images(settings["dataset"], "test").take(settings["images"], seed).images)
    generator = stream(seed, "versions")
    forms, shown = [], []
    for image in plain:
        seen = versions(vae, image, settings, generator)
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
        "pictures": _reconstructions(vae, plain[:_KEPT], shown[:_KEPT]),
    }


def versions(vae: VAE, image: Tensor, settings: Mapping[str, Any], generator: Generator) -> Tensor:
    """Make many versions of one image.

    Args:
        vae: trained on augmented images.
        image: (C, H, W).
        settings: `draws`, and `steps from`: "views" for augmentations, "normal" for images decoded from
            normal steps in the latents that have the views' mean and covariance.
        generator: draws them.

    Returns:
        Images (draws, C, H, W).

    """
    count = settings["draws"]
    seen = crops_and_flips()(image.expand(count, *image.shape), generator).images
    if settings["steps from"] == "views":
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
        if row["seed"] == 0 and "histograms" in row["metrics"]:
            name = str(row["configuration"]["steps from"])
            figures[f"{name}-conditionals"] = _draw_conditionals(row)
            figures[f"{name}-pictures"] = pictures.draw_grid(row["metrics"]["pictures"], row["cell"])
    return figures


def _draw_conditionals(row: Row) -> Figure:
    from matplotlib.figure import Figure

    metrics = row["metrics"]
    images, latents = len(metrics["histograms"]), world.DIM
    figure = Figure(figsize=(1.1 * latents, 0.5 + 1.1 * images), layout="constrained")
    grid = figure.subplots(images, latents, squeeze=False)
    middle = (_BINS[1:] + _BINS[:-1]) / 2
    for image, columns in enumerate(metrics["histograms"]):
        for latent, counts in enumerate(columns):
            axes = grid[image][latent]
            total = sum(counts) * (_BINS[1] - _BINS[0])
            colour = "C1" if metrics["two modes"][image][latent] else "C0"
            axes.fill_between(middle, np.array(counts) / total, step="mid", color=colour)
            axes.plot(middle, stats.norm.pdf(middle), color="black", linewidth=0.7)
            axes.set(xticks=[], yticks=[])
    figure.suptitle(
        f"{row['cell']}: a row an image, a column a latent (orange: two modes; line: normal)", fontsize=9
    )
    return figure


STUDY = Study(
    name="fig6-images",
    title="Conditionals of augmented images in the latents of a VAE",
    paper=ANINFONCE,
    source="Figures 6 A, B and 7, and Appendix G: the accuracy of an encoder trained on crops and flips",
    cells=cells,
    run=run,
    plot=plot,
    remarks=("The encoder is the multilayer perceptron of `fig3`, far less trained than the paper's.",),
)
