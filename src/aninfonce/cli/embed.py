"""`aninfonce embed`: from observations in a file to embeddings in a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aninfonce.cli.errors import friendly

if TYPE_CHECKING:
    import numpy.typing as npt

_ENDINGS = (".npy", ".npz", ".csv")


@friendly
def embed(
    checkpoint: Annotated[
        Path, typer.Argument(help="A run's folder, or one of its checkpoints.", show_default=False)
    ],
    data: Annotated[
        Path, typer.Argument(help="Observations: .npz, .npy, .csv or .parquet.", show_default=False)
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="Where the embeddings go: .npy, .npz (as `embedding`) or .csv with a header."
        ),
    ],
    key: Annotated[str, typer.Option(help="Array of the file, if it has several.")] = "x",
) -> None:
    """Embed observations with a trained encoder.

    For example:

        aninfonce embed runs/config data.npz -o out.npy

        aninfonce embed runs/config/checkpoints/step-00002000 data.npy -o out.csv
    """
    from aninfonce.datasets.arrays import list_arrays
    from aninfonce.training import load_fitted
    from aninfonce.training.open_data import read_arrays

    if out.suffix.lower() not in _ENDINGS:
        raise ValueError(f"--out must end in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}, got {str(out)!r}")
    arrays = read_arrays(data, [key])
    if key not in arrays:
        raise ValueError(f"{data} holds no array {key!r}, got {list_arrays(data)}: choose with --key")
    embedding = load_fitted(checkpoint).embed(arrays[key]).numpy()
    _write(out, embedding)
    typer.echo(f"{out}: {embedding.shape[0]} × {embedding.shape[1]}")


def _write(path: Path, embedding: npt.NDArray[Any]) -> None:
    """Write in the format that the ending names, whole or not at all."""
    import numpy as np

    from aninfonce._files import whole_file

    ending = path.suffix.lower()
    with whole_file(path) as temporary, temporary.open("wb") as file:
        if ending == ".npy":
            np.save(file, embedding, allow_pickle=False)
        elif ending == ".npz":
            np.savez(file, embedding=embedding)
        else:
            names = ",".join(f"embedding_{column}" for column in range(embedding.shape[1]))
            # Enough digits to restore every bit.
            digits = "%.9g" if embedding.dtype == np.float32 else "%.17g"
            np.savetxt(file, embedding, fmt=digits, delimiter=",", header=names, comments="")
