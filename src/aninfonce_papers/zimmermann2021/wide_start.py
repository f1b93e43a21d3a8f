"""The first training of a network of scenes, in many columns, which several rows of a table share."""

from __future__ import annotations

import hashlib

from filelock import FileLock

from aninfonce.datasets import cache_dir
from aninfonce.extending import derive_seed
from aninfonce.processes import DataGeneratingProcess
from aninfonce.training import Fitted, fit
from aninfonce_papers.engine import Experiment, Loss
from aninfonce_papers.engine.precision import open_fabric
from aninfonce_papers.zimmermann2021.scenes import parts_of

# Raise this when the same settings come to give other weights: older starts are then ignored.
_START_VERSION = 1
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
