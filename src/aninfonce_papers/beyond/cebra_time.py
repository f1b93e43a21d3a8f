"""CEBRA-Time, for comparison: contrastive learning of a recording by how far its rows are apart in time."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, PositiveInt

from aninfonce.extending import global_stream
from aninfonce_papers.beyond.worlds import Matrix


class CebraSettings(BaseModel):
    """The settings of CEBRA that were tuned; all others are as its authors recommend.

    Attributes:
        distance: by which rows are compared: "cosine" on a sphere, "euclidean" in flat space.
        time_offset: rows from a sample to its positive.
        temperature_mode: "constant", or "auto" if it is trained.
        iterations: of training; the default takes about as long as our estimator.

    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    distance: Literal["cosine", "euclidean"] = "cosine"
    time_offset: PositiveInt = 10
    temperature_mode: Literal["constant", "auto"] = "auto"
    iterations: PositiveInt = 5_000


def grid(lag: int) -> list[CebraSettings]:
    """List what its settings are chosen from, for a recording whose pairs are `lag` apart."""
    return [
        CebraSettings(distance=distance, time_offset=offset, temperature_mode=mode)
        for distance, offset, mode in product(
            ("cosine", "euclidean"), dict.fromkeys((lag, 10)), ("constant", "auto")
        )
    ]


def fit_cebra(x: Any, columns: int, seed: int, **settings: Any) -> Any:
    """Train CEBRA-Time at its recommended settings but for those that are given, such as `distance`.

    Args:
        x: (T, D) observations, in the order of time.
        columns: of the embedding. The unit sphere has one dimension less than columns, so with the cosine
            distance it gets one more.
        seed: of weights. CEBRA's samplers seed themselves: numbers differ a little from run to run.
        settings: as CEBRA calls them.

    Returns:
        The fitted model.

    References:
        Schneider et al., "Learnable latent embeddings for joint behavioural and neural analysis" (2023).

    """
    try:
        import cebra
    except ImportError:
        raise ModuleNotFoundError(
            'this cell needs CEBRA: pip install "aninfonce[examples]"', name="cebra"
        ) from None
    model = cebra.CEBRA(
        conditional="time",
        output_dimension=columns + (settings["distance"] == "cosine"),
        batch_size=512,
        learning_rate=3e-4,
        device="cpu",
        verbose=False,
        **{"model_architecture": "offset1-model", **settings},
    )
    # Weights are drawn from torch's global generator.
    with global_stream(seed, "cebra"):
        return model.fit(np.asarray(x, dtype=np.float32))


def cebra_time(x: Matrix, rows: int, columns: int, seed: int, settings: CebraSettings) -> Matrix:
    """Train on the first rows of x (T, D) and embed all: (T, columns), or one more with cosine distance."""
    model = fit_cebra(
        x[:rows],
        columns,
        seed,
        distance=settings.distance,
        time_offsets=settings.time_offset,
        temperature_mode=settings.temperature_mode,
        max_iterations=settings.iterations,
    )
    return np.asarray(model.transform(np.asarray(x, dtype=np.float32)), dtype=np.float64)
