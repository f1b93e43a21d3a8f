"""The picture of a rat's path, its spikes, and the path that comes out of them.

python -m benchmarks.recordings.figure            draw docs/figures/rats.png from the committed numbers
python -m benchmarks.recordings.figure --renew    fit again first: seed 0, needs ratinabox
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from aninfonce._files import whole_file

NUMBERS = Path(__file__).parent / "rats_path.npz"
PICTURE = Path(__file__).parents[2] / "docs" / "figures" / "rats.png"
CASE, SEED = "sargolini-grid-4-modules", 0
# Of the held-out path, and of the spikes that are shown.
_SECONDS, _RASTER_SECONDS = 30.0, 10.0
METHODS = {"pca": "PCA, 2 columns", "ours": "ours"}


def renew() -> None:
    """Fit PCA and ours on the training blocks; keep one held-out block of each, read linearly in metres."""
    from sklearn.linear_model import RidgeCV
    from sklearn.metrics import r2_score

    from aninfonce._seeds import derive_seed
    from benchmarks.recordings import rats
    from benchmarks.recordings.sessions import session

    data = session(CASE, SEED)
    first = int(np.flatnonzero(data.held_out)[0])
    shown = slice(first, first + round(_SECONDS / data.frame))
    raster = slice(first, first + round(_RASTER_SECONDS / data.frame))
    kept: dict[str, Any] = {
        "frame": np.float32(data.frame),
        "truth": data.position[shown].astype(np.float32),
        "spikes": np.minimum(data.counts[raster], 255).astype(np.uint8),
    }
    train, held_out = ~data.held_out, data.held_out
    for name, method in METHODS.items():
        found, x = rats.METHODS[method](data, derive_seed(SEED, "rats", method) % 2**31)
        z = rats.embed(found, x, data)
        readout = RidgeCV(np.logspace(-3, 4, 8)).fit(z[train], data.position[train])
        score = r2_score(data.position[held_out], readout.predict(z[held_out]), multioutput="raw_values")
        kept[name] = readout.predict(z[shown]).astype(np.float32)
        kept[f"{name}_r2"] = np.asarray(score, np.float32)
    with whole_file(NUMBERS) as temporary:
        np.savez_compressed(temporary, **kept)


def draw(numbers: Path = NUMBERS, picture: Path = PICTURE) -> None:
    """Draw four panels: the true path, spikes, and what PCA and ours make of them.

    Args:
        numbers: of `renew`.
        picture: PNG or SVG.

    """
    from matplotlib.figure import Figure

    with np.load(numbers) as stored:
        kept = dict(stored)
    figure = Figure(figsize=(5.2, 5.4), layout="constrained", facecolor="white")
    (true_path, spikes), (pca, ours) = figure.subplots(2, 2)
    moment = np.arange(len(kept["truth"])) * float(kept["frame"])
    panels = {
        true_path: ("where the rat was", kept["truth"]),
        pca: (_title("PCA", kept["pca_r2"]), kept["pca"]),
        ours: (_title("ours", kept["ours_r2"]), kept["ours"]),
    }
    for axis, (title, path) in panels.items():
        axis.plot(*path.T, color="#c8ccd0", linewidth=0.8, zorder=1)
        axis.scatter(*path.T, c=moment, cmap="viridis", s=5, linewidths=0, zorder=2)
        axis.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05), aspect="equal", xticks=[], yticks=[])
        axis.set_title(title, fontsize=12)
    frame, cell = np.nonzero(kept["spikes"])
    spikes.scatter(frame * float(kept["frame"]), cell, s=1.2, color="#202428", marker="|", linewidths=0.5)
    spikes.set(xlim=(0, _RASTER_SECONDS), xticks=[0, 5, 10], yticks=[])
    spikes.set_xlabel("seconds", fontsize=11, labelpad=1)
    spikes.tick_params(labelsize=11)
    spikes.set_ylabel(f"{kept['spikes'].shape[1]} cells", fontsize=11)
    spikes.set_title("what was recorded", fontsize=12)
    picture.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(picture) as temporary:
        # No date and no version: the same numbers give the same file.
        figure.savefig(temporary, dpi=150, metadata={"Software": None} if picture.suffix == ".png" else None)


def _title(name: str, scores: Any) -> str:
    return f"{name}: R² {scores[0]:.2f} / {scores[1]:.2f}".replace("-", "−")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--renew", action="store_true", help="fit again first")
    if parser.parse_args().renew:
        import torch

        torch.set_num_threads(1)
        renew()
    draw()


if __name__ == "__main__":
    main()
