"""`aninfonce audit`: what an encoder kept and lost, as a page."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aninfonce.cli.errors import friendly

if TYPE_CHECKING:
    from torch import Tensor

_NAMES = ("x", "x_pos", "z", "labels")


@friendly
def audit(
    encoder: Annotated[
        str,
        typer.Option(help="module:function, or a run's folder or checkpoint.", show_default=False),
    ],
    data: Annotated[
        str,
        typer.Option(
            help="An .npz file with x and x_pos (and z, labels), or a folder of such .npy files.",
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
) -> None:
    """See what an encoder kept and lost, and which assumption its data break.

    Writes a page with a number, an interval, a plot and advice for each finding.

    For example:

        aninfonce audit --encoder runs/config --data pairs.npz --out audit

        aninfonce audit --encoder mine:embed --data x.npz --augmentations mine:changes --out audit
    """
    from aninfonce.diagnostics import audit as run_audit
    from aninfonce.report import write_audit

    arrays = _read(data)
    if "x_pos" not in arrays and augmentations is None:
        raise ValueError(f"{data} must hold `x_pos`, or give --augmentations to make positives of `x`")
    observations = (arrays["x"], arrays["x_pos"]) if "x_pos" in arrays else arrays["x"]
    report = run_audit(
        _encoder(encoder),
        observations,
        None if augmentations is None else _imported(augmentations, "--augmentations"),
        arrays.get("z"),
        arrays.get("labels"),
        max_pairs=pairs,
        seed=seed,
    )
    page = write_audit(report, out, name=encoder)
    typer.echo(str(report))
    typer.echo(f"wrote {page}")


def _encoder(text: str) -> Any:
    """Open a checkpoint or import a function; a path comes first, since it may hold a colon too."""
    from aninfonce.training import load_fitted

    if Path(text).exists():
        return load_fitted(text).encoder
    if ":" in text:
        return _imported(text, "--encoder")
    raise ValueError(f"--encoder must be module:function or the path of a checkpoint, got {text!r}")


def _imported(text: str, option: str) -> Any:
    module, _, name = text.partition(":")
    # As `python -m` has it: modules beside the user are found first.
    sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as problem:
        raise ValueError(f"{option} must be module:name, got {text!r}: {problem}") from None
    finally:
        sys.path.remove(str(Path.cwd()))


def _read(text: str) -> dict[str, Tensor]:
    """Read arrays by the names that the audit knows."""
    from aninfonce.training.data import read_arrays

    path = Path(text)
    if path.is_dir():
        found = {name: path / f"{name}.npy" for name in _NAMES}
        arrays = {name: read_arrays(file)["x"] for name, file in found.items() if file.exists()}
    elif path.exists():
        arrays = read_arrays(path)
    else:
        raise ValueError(f"--data must be an .npz file or a folder of .npy files, got {text!r}")
    if "x" not in arrays:
        raise ValueError(f"{text} must hold an array `x`, got {', '.join(sorted(arrays)) or 'none'}")
    return arrays
