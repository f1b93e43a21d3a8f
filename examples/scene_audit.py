"""What an encoder of pictures lost, in numbers and in pictures.

Pairs of scenes share their ten causes up to a small step. Seven of these are enough to tell a random batch
apart, so a short contrastive training leaves out the other three, the object's rotation. Nothing in the
loss says so. The audit does, and `lost.png` shows it: below each picture is the one that the encoder takes
for most alike, among 4000 others. Place, light and colours agree, the rotation does not.

    python examples/scene_audit.py --out scene-audit    # about five minutes of one core, then open index.html

Needs `pip install 'aninfonce[papers]'`. A second call goes on from the trained encoder.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from matplotlib.figure import Figure
from sklearn.neighbors import NearestNeighbors

from aninfonce.diagnostics import audit, write_audit
from aninfonce.sources import ArraySource
from aninfonce.training import TrainingConfig, fit
from aninfonce_papers.worlds.scenes import LATENTS, PicturePairs, SceneRenderer, scene_process

SIDE = 64
ROTATION = [3, 4, 5]
SHOWN = 8


def drawn_pairs(count, seed):
    """Draw pairs of scenes: pictures as bytes, and the latents of the first ones."""
    law, renderer = scene_process("normal", scale=0.2, size=None), SceneRenderer(SIDE)
    pairs = law.sample(count, torch.Generator().manual_seed(seed))
    pictures = (
        np.concatenate([renderer.render(part) for part in np.split(z, range(512, count, 512))])
        for z in (pairs.z.double().numpy(), pairs.z_pos.double().numpy())
    )
    return PicturePairs(*pictures, pairs.z)


def train(pairs, steps, folder):
    """Train as cl-ica's Table 4 does, in a box; a run that is there is taken as it is."""
    config = TrainingConfig(
        dim=10,
        space="box",
        encoder="glimpse",
        loss={"name": "lp", "options": {"p": 2, "temperature": 0.1}},
        recipe={
            "steps": steps,
            "batch_size": min(256, len(pairs) // 4),
            "growth": (),
            "muon_lr": 0.05,
            "close": None,
            "unfold": None,
        },
        evaluate_every=0,
        checkpoint_every=100,
    )
    return fit(ArraySource(pairs, 0), config, directory=folder, resume=True)


def most_alike(embedding):
    """Find, for each row, the other row that lies nearest."""
    return NearestNeighbors(n_neighbors=2).fit(embedding).kneighbors(embedding)[1][:, 1]


def draw(path, pictures, z, nearest):
    """Draw some pictures above the ones that the encoder takes for most alike."""
    figure = Figure(figsize=(1.25 * SHOWN, 3.1), layout="constrained")
    axes = figure.subplots(2, SHOWN)
    for column in range(SHOWN):
        for place, row in ((0, column), (1, nearest[column])):
            axes[place, column].imshow(pictures[row].transpose(1, 2, 0))
            axes[place, column].set(xticks=[], yticks=[])
        turned = 90 * np.abs(z[column] - z[nearest[column]])[ROTATION].max()
        axes[1, column].set_xlabel(f"turned {turned:.0f}°")
    axes[0, 0].set_ylabel("a picture")
    axes[1, 0].set_ylabel("most alike")
    figure.savefig(path, dpi=100)


def main():
    """Train, audit, and draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("scene-audit"), help="folder of the page")
    parser.add_argument("--pairs", type=int, default=20_000, help="to train on")
    parser.add_argument("--steps", type=int, default=600, help="of training")
    parser.add_argument("--test-pairs", type=int, default=4_000, help="to audit on")
    options = parser.parse_args()
    fitted = train(drawn_pairs(options.pairs, seed=0), options.steps, options.out / "run")
    test = drawn_pairs(options.test_pairs, seed=1)
    seen = test[torch.arange(len(test))]
    report = audit(fitted, (seen.x, seen.x_pos), latents=seen.z)
    print(report)
    print("R² of each latent:")
    for name, value in zip(LATENTS, report["identifiability"].details["r2"], strict=True):
        print(f"  {name:16s} {value:.2f}")
    write_audit(report, options.out, name="an encoder of scenes")
    nearest = most_alike(fitted.embed(seen.x).numpy())
    draw(options.out / "lost.png", test.x, test.z.numpy(), nearest)
    print(f"{options.out / 'index.html'} and {options.out / 'lost.png'}")


if __name__ == "__main__":
    main()
