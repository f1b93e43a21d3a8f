"""The picture of a rat's path, its spikes, and the path that comes out of them.

python -m benchmarks.recordings.figure            draw docs/figures/rats.png from the committed numbers
python -m benchmarks.recordings.figure --renew    fit again first: seed 0, needs ratinabox
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aninfonce._files import whole_file
from benchmarks.rows import command
from benchmarks.timing import timed

NUMBERS = Path(__file__).parent / "rats_path.npz"
PICTURE = Path(__file__).parents[2] / "docs" / "figures" / "rats.png"
CASE, SEED = "sargolini-grid", 0
# Of the held-out path and its spikes.
_SECONDS = 30.0
# Of the frames that are shown in grey, one in so many.
_EVERY = 4
METHODS = {"pca": "PCA, 2 columns", "ours": "ours"}
_GREY, _INK, _COLOURS = "#dfe3e8", "#202428", "viridis"

Array = npt.NDArray[np.floating]


def renew() -> None:
    """Fit PCA and ours on the training blocks; keep their maps of the arena and one held-out block."""
    from aninfonce._seeds import derive_seed
    from benchmarks.recordings import rats
    from benchmarks.recordings.sessions import session

    data = session(CASE, SEED)
    first = int(np.flatnonzero(data.held_out)[0])
    shown = slice(first, first + round(_SECONDS / data.frame))
    kept: dict[str, Any] = {
        "frame": np.float32(data.frame),
        "truth": data.position[shown].astype(np.float32),
        "truth_all": data.position[::_EVERY].astype(np.float16),
        "spikes": np.minimum(data.counts[shown], 255).astype(np.uint8),
    }
    for name, method in METHODS.items():
        with timed() as spent:
            found, x = rats.METHODS[method](data, derive_seed(SEED, "rats", method) % 2**31)
        kept[f"{name}_seconds"] = np.float32(spent.cpu)
        z = rats.embed(found, x, data)
        scores = rats.readouts(z, data.position, data.held_out)["linear"]
        turned = onto(z, data.position, ~data.held_out)
        kept[name], kept[f"{name}_all"] = (
            turned[shown].astype(np.float32),
            turned[::_EVERY].astype(np.float16),
        )
        kept[f"{name}_r2"] = np.asarray(scores, np.float32)
    with whole_file(NUMBERS) as temporary:
        np.savez_compressed(temporary, **kept)


def onto(z: Array, truth: Array, known: npt.NDArray[np.bool_]) -> Array:
    """Turn an embedding to the truth, and give it the same spread: no column is shrunk or mixed further.

    Args:
        z: embedding (T, 2).
        truth: (T, 2).
        known: rows to find the rotation (or reflection) on.

    Returns:
        (T, 2), in the units of the truth.

    """
    from scipy.linalg import orthogonal_procrustes

    centre, spread = truth[known].mean(axis=0), truth[known].std(axis=0)
    own = (z - z[known].mean(axis=0)) / z[known].std(axis=0)
    turn, _ = orthogonal_procrustes(own[known], (truth[known] - centre) / spread)
    turned: Array = own @ turn * spread + centre
    return turned


def draw(numbers: Path = NUMBERS, picture: Path = PICTURE) -> None:
    """Draw four panels: the true path, spikes, and what PCA and ours make of them.

    Args:
        numbers: of `renew`.
        picture: PNG or SVG.

    """
    from matplotlib.figure import Figure

    with np.load(numbers) as stored:
        kept = dict(stored)
    figure = Figure(figsize=(5.2, 5.7), layout="constrained", facecolor="white")
    (true_path, spikes), (pca, ours) = figure.subplots(2, 2)
    _draw_path(true_path, kept, "truth")
    true_path.set_title("a rat's path, 30 s", fontsize=13)
    _draw_spikes(spikes, kept)
    for axis, name, title in (
        (pca, "pca", "PCA"),
        (ours, "ours", f"ours, computed in {kept['ours_seconds']:.0f} s"),
    ):
        _draw_path(axis, kept, name)
        axis.set_title(title, fontsize=13)
        x, y = kept[f"{name}_r2"]
        axis.set_xlabel(f"R² of x {x:.2f}, of y {y:.2f}".replace("-", "−"), fontsize=12)
    picture.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(picture) as temporary:
        # No date and no version: the same numbers give the same file.
        figure.savefig(temporary, dpi=150, metadata={"Software": None} if picture.suffix == ".png" else None)


def _draw_path(axis: Any, kept: dict[str, Any], name: str) -> None:
    """Draw all frames in grey, and the shown ones from dark to bright as time goes by."""
    from matplotlib.collections import LineCollection

    path = kept[name]
    axis.plot(*kept[f"{name}_all"].astype(np.float32).T, ".", color=_GREY, markersize=2.2, zorder=1)
    lines = LineCollection(
        list(np.stack([path[:-1], path[1:]], axis=1)),
        array=np.arange(len(path) - 1),
        cmap=_COLOURS,
        linewidths=2.0,
        capstyle="round",
        zorder=2,
    )
    axis.add_collection(lines)
    axis.set(xlim=(-0.12, 1.12), ylim=(-0.12, 1.12), aspect="equal", xticks=[], yticks=[])
    _quiet(axis)


def _draw_spikes(axis: Any, kept: dict[str, Any]) -> None:
    frame, cell = np.nonzero(kept["spikes"])
    seconds = frame * float(kept["frame"])
    axis.scatter(seconds, cell, c=seconds, cmap=_COLOURS, s=0.6, linewidths=0)
    axis.set(xlim=(0, _SECONDS), ylim=(-1, kept["spikes"].shape[1]), xticks=[0, 15, 30], yticks=[])
    axis.set_xlabel("seconds", fontsize=12, labelpad=1)
    axis.tick_params(labelsize=11, length=2, colors=_INK)
    axis.set_box_aspect(1)
    axis.set_title(f"spikes of {kept['spikes'].shape[1]} grid cells", fontsize=13)
    _quiet(axis)


def _quiet(axis: Any) -> None:
    for spine in axis.spines.values():
        spine.set(color="#b0b6bd", linewidth=0.8)


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--renew", action="store_true", help="fit again first")
    if parser.parse_args().renew:
        import torch

        torch.set_num_threads(1)
        renew()
    draw()


if __name__ == "__main__":
    main()
