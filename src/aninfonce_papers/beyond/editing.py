"""What recovered latents are good for: content of one image with the style of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import torch
from pydantic import JsonValue, PositiveInt
from torch import Tensor

from aninfonce.alignment import fit_metric
from aninfonce.extending import stream
from aninfonce.processes import DataGeneratingProcess
from aninfonce_papers.engine import Experiment, Metrics, Preset, Published, Row, Score, Study, Watch
from aninfonce_papers.engine.drawing import new_figure
from aninfonce_papers.engine.published import ANINFONCE
from aninfonce_papers.rusak2025.images import pictures, world

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONCENTRATION = (5.0,) * 5 + (25.0,) * 5
PARTS = {"style": list(range(5)), "content": list(range(5, 10))}
METHODS = ("AnInfoNCE", "InfoNCE", "VAE encoder")
_SECONDS: dict[Preset, float] = {"smoke": 2.0, "laptop": 150.0, "paper": 20_000.0}
_SHOWN = 6
_BLOCK = 1_024


class Edits(Score):
    """Content, and style, swapped between decoded images, beside the same edit of the true latents.

    Attributes:
        test_pairs: images to learn the edit from, and as many to edit.

    """

    test_pairs: PositiveInt

    def run(self, experiment: Experiment, seed: int) -> Metrics:
        """Edit through an encoder that is trained, or through the VAE's own if there is none."""
        assert isinstance(experiment.pairs, world.DecodedPairs)
        vae = experiment.pairs.vae()
        source = experiment.pairs.open(seed, vae)
        embed = vae.encode if experiment.encoder is None else world.train_on(source, experiment, seed).embed
        return measure(source.process, embed, self.test_pairs, seed)


def experiments(preset: Preset) -> list[Experiment]:
    """Give both losses, and the VAE's own encoder, which was trained with the decoder."""
    # An edit is perfect if what is swapped arrives, and what is not stays: R² of both is 1.
    known = {name: Published(1.0, precision=0.02) for part in PARTS for name in _names(part)}
    pairs, score = world.decoded(preset, CONCENTRATION), Edits(test_pairs=world.SIZES[preset].test_pairs)
    own = Experiment(name=METHODS[-1], pairs=pairs, score=score, published=known, seconds=5.0)
    trained = [
        Experiment(
            name=loss,
            pairs=pairs,
            encoder=world.ENCODERS[preset],
            loss=world.LOSSES[loss],
            recipe=world.sizes_of(preset, loss).build(),
            watch=Watch(pairs=min(4_096, score.test_pairs)),
            score=score,
            published=known,
            seconds=_SECONDS[preset],
        )
        for loss in METHODS[:2]
    ]
    return [*trained, own]


def measure(process: DataGeneratingProcess, embed: world.Embed, count: int, seed: int) -> Metrics:
    """Edit fresh images, as many as the edit is learned from; gives scores, and some of the pictures."""
    generator = stream(seed, "test pairs")
    others, asked = (process.sample(count, generator) for _ in range(2))
    assert others.z is not None
    assert asked.z is not None
    editor = fit_editor(embed(others.x), embed(others.x_pos), others.z)
    decode = process.mixing
    # Images that have nothing to do with each other: every second is the partner of the one before it.
    first, second = asked.z[::2], asked.z[1::2]
    seen = embed(asked.x)
    metrics: dict[str, JsonValue] = {}
    shown: dict[str, list[str]] = {
        "one": pictures.packed(decode(first[:_SHOWN])),
        "other": pictures.packed(decode(second[:_SHOWN])),
    }
    for part, columns in PARTS.items():
        edited = editor.swap(seen[::2], seen[1::2], part)
        ideal = swapped(first, second, columns)
        metrics |= dict(zip(_names(part), swap_scores(edited, first, second, columns), strict=True))
        metrics[f"{part} swapped: pixels"] = explained(decode(edited), decode(ideal))
        shown[f"{part} of other"] = pictures.packed(decode(edited[:_SHOWN]))
        shown[f"{part}, true"] = pictures.packed(decode(ideal[:_SHOWN]))
    return {**metrics, "pictures": cast(JsonValue, shown)}


class Editor(NamedTuple):
    """How to change what an embedding holds.

    Attributes:
        axes: (d, d), columns along which pairs vary independently, smallest Λ first.
        centre: (d,) of the embedding.
        readout: (d + 1, k), from the embedding along the axes, and a 1, to latents.

    """

    axes: Tensor
    centre: Tensor
    readout: Tensor

    def swap(self, one: Tensor, other: Tensor, part: str) -> Tensor:
        """Put a part of other embeddings (N, d) in the place of the same part of one, and read the latents.

        "style" is the half of the axes along which pairs vary most, "content" the rest. Gives latents (N, k)
        of length 1.
        """
        style = self.axes.shape[1] // 2
        columns = slice(0, style) if part == "style" else slice(style, None)
        mixed, taken = ((z.double() - self.centre) @ self.axes for z in (one, other))
        mixed[:, columns] = taken[:, columns]
        return on_sphere(_with_one(mixed) @ self.readout).float()


def fit_editor(z: Tensor, z_pos: Tensor, latents: Tensor) -> Editor:
    """Find the axes of a frozen embedding by its pairs alone, and how to read latents off them.

    Args:
        z: embeddings (N, d).
        z_pos: of the positives.
        latents: (N, k) for the linear readout, since a decoder takes no other latents than its own.

    """
    h, h_pos = z.double(), z_pos.double()
    centre = h.mean(dim=0)
    # Without any variance there are no axes, and any will do.
    axes = torch.eye(h.shape[1], dtype=torch.float64)
    if float(h.var(dim=0).min()) > 1e-9:
        start = 1.0 / (h - h_pos).square().mean(dim=0)
        metric = fit_metric(h - centre, h_pos - centre, start, block=min(_BLOCK, len(h) // 2)).matrix
        # Λ in units of the embedding's own spread: a direction may be small because it holds little.
        scale = torch.linalg.cholesky(torch.cov(h.T))
        vectors = torch.linalg.eigh(scale.T @ metric @ scale).eigenvectors
        axes = torch.linalg.solve(scale.T, vectors)
    turned = _with_one((h - centre) @ axes)
    readout = torch.linalg.lstsq(turned, latents.double(), driver="gelsd").solution
    return Editor(axes, centre, readout)


def swapped(one: Tensor, other: Tensor, columns: Sequence[int]) -> Tensor:
    """Put some columns of other latents in the place of those of one, on the sphere."""
    mixed = one.clone()
    mixed[:, list(columns)] = other[:, list(columns)]
    return on_sphere(mixed)


def on_sphere(z: Tensor) -> Tensor:
    """Bring latents to length 1; those of length 0 stay."""
    length: Tensor = z.norm(dim=1, keepdim=True)
    return z / length.clamp_min(1e-12)


def swap_scores(edited: Tensor, one: Tensor, other: Tensor, columns: Sequence[int]) -> tuple[float, float]:
    """Score an edit of latents (N, k) that puts some columns of `other` in the place of those of `one`.

    Gives the share of the variance of the swapped latents that arrives, and of the others that stays: 1 if
    exact, 0 if the edit always gives the same image.
    """
    ideal = swapped(one, other, columns)
    rest = [column for column in range(one.shape[1]) if column not in columns]
    arrives, stays = (explained(edited[:, part], ideal[:, part]) for part in (list(columns), rest))
    return arrives, stays


def explained(found: Tensor, truth: Tensor) -> float:
    """R² of values that are given, not fitted, over all columns together; not below 0."""
    error = (found.double() - truth.double()).square().sum()
    spread = (truth.double() - truth.double().mean(dim=0)).square().sum()
    return max(0.0, 1.0 - float(error / spread))


def _names(part: str) -> tuple[str, str]:
    return f"{part} swapped: arrives", f"{part} swapped: the rest stays"


def _with_one(h: Tensor) -> Tensor:
    return torch.cat([h, torch.ones_like(h[:, :1])], dim=1)


def plot(rows: Sequence[Row]) -> dict[str, Figure]:
    """Draw the scores of each method, and its edits."""
    figure = new_figure(7.0, 3.4)
    axes = figure.add_subplot()
    metrics = [name for part in PARTS for name in _names(part)]
    for number, method in enumerate(METHODS):
        mine = [row for row in rows if row.cell == method]
        for found in mine:
            places = [place + 0.25 * number for place in range(len(metrics))]
            label = method if found is mine[0] else None
            axes.bar(places, [found.number(name) for name in metrics], 0.22, color=f"C{number}", label=label)
    axes.set_xticks(
        [place + 0.25 for place in range(len(metrics))], [n.replace(": ", ":\n") for n in metrics]
    )
    axes.set(ylabel="R²", ylim=(0, 1.05), title="Edits through recovered latents (1 is exact)")
    axes.legend(fontsize=8)
    shown = {
        row.cell: pictures.draw_grid(cast(dict[str, list[str]], row.metrics["pictures"]), row.cell)
        for row in rows
        if row.seed == 0
    }
    return {"scores": figure, **shown}


STUDY = Study(
    name="editing",
    title="Content of one image, style of another",
    paper=f"Ours, on the images of {ANINFONCE}",
    source="an edit of the true latents, R² 1; .02 counts as nothing",
    experiments=experiments,
    plot=plot,
    reference="truth",
)
