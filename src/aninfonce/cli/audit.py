"""`aninfonce audit`: what an encoder kept and lost, as a page."""

from __future__ import annotations

import importlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from aninfonce.cli.errors import friendly


@friendly
def audit(
    encoder: Annotated[
        str,
        typer.Option(help="module:function, or a run's folder or checkpoint.", show_default=False),
    ],
    data: Annotated[
        str,
        typer.Option(
            help="An .npz, .csv or .parquet file with x and x_pos (and z, labels), a folder of .npy files of"
            " these names or of images, or mnist, fashion-mnist, cifar10.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder of the page.", show_default=False)],
    augmentations: Annotated[
        str | None,
        typer.Option(help="module:name of a dictionary of functions; x alone is enough then."),
    ] = None,
    pairs: Annotated[int, typer.Option(min=200, help="Pairs to look at, at most.")] = 4096,
    seed: Annotated[int, typer.Option(min=0, help="Of what is random in the audit.")] = 0,
    size: Annotated[int, typer.Option(min=8, help="Side that pictures of a folder are cut to.")] = 64,
    flat: Annotated[
        bool, typer.Option("--flat", help="Give the encoder images as rows of pixels, as an MLP wants them.")
    ] = False,
    fail_on_concern: Annotated[
        bool,
        typer.Option("--fail-on-concern", help="Exit with 1 if a finding asks for attention, as for CI."),
    ] = False,
) -> None:
    """See what an encoder kept and lost, and which assumption its data break.

    Writes a page with a number, an interval, a plot and advice for each finding.

    For example:

        aninfonce audit --encoder runs/config --data pairs.npz --out audit

        aninfonce audit --encoder mine:embed --data x.npz --augmentations mine:changes --out audit

        aninfonce audit --encoder mine:embed --data cifar10 --out audit

        aninfonce audit --encoder mine:embed --data pairs.csv --out audit --fail-on-concern
    """
    from aninfonce.cli.audit_data import open_audit_data

    if out.exists() and not out.is_dir():
        raise ValueError(f"--out must be a folder, got the file {out}")
    found = open_audit_data(data, pairs, seed, size)  # a wrong name is reported before torch is loaded

    from aninfonce.diagnostics import audit as run_audit
    from aninfonce.diagnostics import write_audit

    changes = found.augmentations if augmentations is None else _imported(augmentations, "--augmentations")
    if not isinstance(found.data, tuple) and changes is None:
        raise ValueError(f"{data} must hold `x_pos`, or give --augmentations to make positives of `x`")
    embed = _encoder(encoder)
    report = run_audit(
        _on_rows(embed) if flat and found.images else embed,
        found.data,
        changes,
        found.latents,
        found.labels,
        max_pairs=pairs,
        seed=seed,
    )
    page = write_audit(report, out, name=encoder)
    typer.echo(str(report))
    typer.echo(f"wrote {page}")
    if fail_on_concern and report.concerns:
        raise typer.Exit(1)


def _encoder(text: str) -> Any:
    """Open a checkpoint or import a function; a path comes first, since it may hold a colon too."""
    from aninfonce.training import load_fitted

    if Path(text).exists():
        return load_fitted(text)
    if ":" in text:
        return _imported(text, "--encoder")
    raise ValueError(f"--encoder must be module:function or the path of a checkpoint, got {text!r}")


def _imported(text: str, option: str) -> Any:
    module, _, name = text.partition(":")
    # As with `python -m`, modules in the current folder are found first.
    sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as problem:
        raise ValueError(f"{option} must be module:name, got {text!r}: {problem}") from None
    finally:
        sys.path.remove(str(Path.cwd()))


def _on_rows(encoder: Any) -> Any:
    """Make an encoder of rows of pixels take images."""
    from torch import nn

    from aninfonce.encoders.embedding import Embedding
    from aninfonce.training import Fitted

    if isinstance(encoder, Fitted):
        return replace(encoder, encoder=Embedding(encoder.encoder, nn.Identity(), nn.Flatten()))
    if isinstance(encoder, nn.Module):
        return nn.Sequential(nn.Flatten(), encoder)
    return lambda images: encoder(images.flatten(1))
