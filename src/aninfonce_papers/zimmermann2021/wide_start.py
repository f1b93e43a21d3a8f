"""The first training of a network of scenes, in many columns, which several rows of a table share."""

from __future__ import annotations

import hashlib

from filelock import FileLock
from torch import Tensor, nn

from aninfonce.datasets import cache_dir
from aninfonce.extending import ImageRows, derive_seed, embed_in_chunks, pixel_tensor, stream
from aninfonce.processes import DataGeneratingProcess
from aninfonce.training import Fitted, fit
from aninfonce_papers.engine import Experiment, Loss
from aninfonce_papers.engine.precision import open_fabric
from aninfonce_papers.worlds.scenes import LATENTS, Groups
from aninfonce_papers.worlds.scenes.fresh import ROTATION
from aninfonce_papers.zimmermann2021.narrowing import narrow, telling_directions
from aninfonce_papers.zimmermann2021.scenes import parts_of

# Raise this when the same settings come to give other weights: older starts are then ignored.
_START_VERSION = 1
# A sigmoid is a quarter as steep as its argument.
_SLOPE = 4.0
# So many columns need more pairs to read R² from.
_WATCH_START = {"pairs": 2_048, "evaluations": 12}


def train_start(experiment: Experiment, law: DataGeneratingProcess, name: str, seed: int) -> Fitted | None:
    """Train the wide start of an experiment, or take the one that was trained before; None without one.

    It is kept in the cache. Of several processes that want the same one, one trains it and the others wait;
    what was stopped goes on.

    Args:
        experiment: to start.
        law: of the latents.
        name: of that law, for the cache.
        seed: of weights and pairs.

    """
    pairs, encoder = parts_of(experiment)
    start = encoder.start
    if start is None:
        return None
    assert experiment.recipe is not None
    own = {
        "steps": start.steps,
        "warmup": min(experiment.recipe.warmup, start.steps // 4),
        "muon_lr": start.muon_lr,
        "adam_lr": start.adam_lr,
    }
    wide = experiment.model_copy(
        update={
            "encoder": encoder.model_copy(update={"dim": start.columns, "space": "sphere", "start": None}),
            "loss": Loss(name="nt-xent", options={"temperature": start.temperature}),
            "recipe": experiment.recipe.model_copy(update=own),
            "watch": experiment.watch.model_copy(update=_WATCH_START),
        }
    )
    _, wide_encoder = parts_of(wide)
    source, images = pairs.open(law, derive_seed(seed, "start"))
    text = repr((_START_VERSION, name, seed, wide.configuration))
    folder = cache_dir() / "scenes" / f"start-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_suffix(".lock")):
        return fit(
            source,
            wide.training_config(derive_seed(seed, "start") % 2**31),
            encoder=wide_encoder.network(pairs.standardize(images), seed),
            directory=folder,
            resume=True,
            fabric=open_fabric(encoder.precision),
        )


def narrowed(
    experiment: Experiment, start: Fitted, law: DataGeneratingProcess, images: ImageRows, seed: int
) -> nn.Module:
    """Build the network of an experiment with what its start has learned, in as many columns as latents.

    Which directions of the many columns follow latents is seen in groups of scenes that differ in one latent
    alone, or in rotation alone, which has three. No latent is told: groups are drawn by the process, as
    hard negatives are.

    Args:
        experiment: with a start.
        start: what came of it.
        law: of pairs.
        images: that show the statistics of colours.
        seed: of what is drawn.

    """
    pairs, encoder = parts_of(experiment)
    assert encoder.start is not None
    assert experiment.loss is not None
    n, draw = encoder.start.pictures, pairs.artist()
    generator = stream(seed, "scenes", "directions")

    def show(z: Tensor) -> Tensor:
        return embed_in_chunks(start.encoder.body, pixel_tensor(draw(z)), chunk=512)

    free = [*((latent,) for latent in range(len(LATENTS)) if latent not in ROTATION), ROTATION]
    kinds = []
    for latents in free:
        groups = Groups(alone=0.0, free=latents)
        shown = start.encoder.head(show(groups.sample(n, generator)))
        kinds.append((shown.unflatten(0, (-1, groups.count)), len(latents)))
    z = law.marginal.sample(n, generator)
    sides = show(z), show(law.conditional(z).sample(generator))
    first, second = (start.encoder.head(side) for side in sides)
    directions = telling_directions(kinds, (first - second) / 2**0.5)
    # Where steps within pairs are this wide, the loss is at the temperature of the pairs.
    temperature = experiment.loss.options["temperature"]
    assert isinstance(temperature, float)
    step = (temperature / 2) ** 0.5 * (_SLOPE if encoder.space == "box" else 1.0)
    network = encoder.network(pairs.standardize(images), seed)
    narrow(network, start.encoder.body, directions, sides, step)
    return network
