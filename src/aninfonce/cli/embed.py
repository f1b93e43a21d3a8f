"""`aninfonce embed`: from observations in a file to embeddings in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aninfonce.cli.errors import friendly


@friendly
def embed(
    checkpoint: Annotated[
        Path, typer.Argument(help="A run's folder, or one of its checkpoints.", show_default=False)
    ],
    data: Annotated[Path, typer.Argument(help="Observations, .npz or .npy.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the embeddings go, .npy.")],
    key: Annotated[str, typer.Option(help="Array of the .npz file.")] = "x",
) -> None:
    """Embed observations with a trained encoder.

    For example:

        aninfonce embed runs/config data.npz -o out.npy

        aninfonce embed runs/config/checkpoints/step-00002000 data.npy -o out.npy
    """
    import numpy as np

    from aninfonce.training import load_fitted
    from aninfonce.training.data import read_arrays

    arrays = read_arrays(data)
    if key not in arrays:
        raise ValueError(f"{data} holds no array {key!r}, got {', '.join(sorted(arrays))}: choose with --key")
    embedding = load_fitted(checkpoint).embed(arrays[key]).numpy()
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("wb") as file:
        np.save(file, embedding, allow_pickle=False)
    typer.echo(f"{out}: {embedding.shape[0]} × {embedding.shape[1]}")
