"""What a candidate potential β is good for: marginals that are not uniform.

    python -m benchmarks.potential            # run (some minutes), write benchmarks/results/potential.jsonl
    python -m benchmarks.potential --show     # print what was found

Each run starts at the truth, with the identity as encoder and Λ̂ = Λ, and trains on exact pairs: an objective
whose optimum is the truth stays there, any other walks away. `symmetric` uses both views as anchors and all
other embeddings as negatives, and the positives of uniform anchors are not uniform; `skewed` draws anchors
from the density ∝ exp(6 z₀). How much that costs without β depends on Λ: the isotropic Λ = 5 of `skewed` was
picked, after a look at several, as a case where R² falls far; `skewed, anisotropic` is one where it does
not.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.nn.functional import normalize

from aninfonce.distributions import FisherBingham, Uniform, VonMisesFisher
from aninfonce.losses import AnInfoNCE
from aninfonce.spaces import Sphere
from benchmarks.rows import FOLDER, Row, command, complete, read_rows
from benchmarks.timing import timed

RESULTS = FOLDER / "potential.jsonl"


class Setting(NamedTuple):
    """One way of drawing pairs and of contrasting them."""

    symmetric: bool
    concentration: tuple[float, ...]
    skew: float
    steps: int
    batch: int


SETTINGS = {
    "symmetric": Setting(True, (25.0,) * 5 + (5.0,) * 5, 0.0, 1200, 1024),
    "skewed": Setting(False, (5.0,) * 5, 6.0, 600, 512),
    "skewed, anisotropic": Setting(False, (25.0,) * 5 + (5.0,) * 5, 6.0, 600, 512),
}


class NearIdentity(nn.Module):
    """z plus a small network, back on the sphere; exactly the identity at the start."""

    def __init__(self, dim: int, width: int = 128) -> None:
        super().__init__()
        last = nn.Linear(width, dim)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.layers = nn.Sequential(
            nn.Linear(dim, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), last
        )

    def forward(self, z: Tensor) -> Tensor:
        """(N, d) to (N, d)."""
        return normalize(z + self.layers(z))


def anchor_sampler(setting: Setting, generator: Generator) -> Callable[[int], Tensor]:
    """Uniform anchors, or anchors of density ∝ exp(skew · z₀)."""
    dim = len(setting.concentration)
    if not setting.skew:
        return lambda n: Uniform(Sphere(dim)).sample(n, generator)
    pole = torch.eye(dim)[:1]
    return lambda n: VonMisesFisher(pole.repeat(n, 1), setting.skew).sample(generator)


def train(setting: Setting, potential: bool, seed: int, lr: float = 4e-3) -> Row:
    """Train from the truth; give R² of the latents from the embedding, on anchors, and Λ̂."""
    torch.manual_seed(seed)
    generator = Generator().manual_seed(seed)
    truth = torch.tensor(setting.concentration)
    anchors = anchor_sampler(setting, generator)
    encoder = NearIdentity(len(truth))
    loss = AnInfoNCE(
        len(truth),
        initial=truth,
        potential=potential,
        symmetric=setting.symmetric,
        candidates="both" if setting.symmetric else "anchors",
    )
    groups = [{"params": encoder.parameters()}, *loss.param_groups(5 * lr)]
    optimizer = torch.optim.Adam(groups, lr=lr)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / setting.steps)
    with timed() as spent:
        for _ in range(setting.steps):
            z = anchors(setting.batch)
            positive = FisherBingham(z, truth).sample(generator)
            optimizer.zero_grad()
            loss(encoder(z), encoder(positive)).backward()
            optimizer.step()
            schedule.step()
    concentration = loss.concentration.detach()
    with torch.no_grad():
        fit, test = anchors(4096), anchors(4096)
        r2 = linear_r2(encoder(fit), fit, encoder(test), test)
    return {
        "potential": potential,
        "seed": seed,
        "r2": round(r2, 4),
        "concentration": {
            f"{value:g}": round(concentration[truth == value].mean().item(), 3)
            for value in truth.unique().tolist()
        },
        "largest_error": round(_block_errors(concentration, truth), 4),
        "seconds": round(spent.wall, 1),
    }


def _block_errors(concentration: Tensor, truth: Tensor) -> float:
    """Largest relative error of the mean Λ̂ of a block of equal Λ."""
    blocks = truth.unique().tolist()
    return max(abs(concentration[truth == value].mean().item() / value - 1) for value in blocks)


def linear_r2(z_fit: Tensor, y_fit: Tensor, z_test: Tensor, y_test: Tensor) -> float:
    """R² of a linear regression with intercept, fitted and scored on different points, mean over columns."""
    ones = torch.ones(len(z_fit), 1)
    weights = torch.linalg.lstsq(torch.cat([z_fit, ones], 1), y_fit).solution
    residual = y_test - torch.cat([z_test, torch.ones(len(z_test), 1)], 1) @ weights
    variance = (y_test - y_test.mean(dim=0)).square().sum(dim=0)
    return float((1 - residual.square().sum(dim=0) / variance).mean())


def run(name: str, seed: int, potential: bool) -> Row:
    """Train one setting."""
    return {"setting": name, **train(SETTINGS[name], potential, seed)}


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="only print what --out holds")
    options = parser.parse_args()
    if not options.show:
        cells = [
            (name, seed, potential)
            for name in SETTINGS
            for seed in options.seeds
            for potential in (False, True)
        ]
        options.out.unlink(missing_ok=True)
        complete(cells, run, options.out, ("setting", "seed", "potential"))
    for row in read_rows(options.out):
        values = ", ".join(f"Λ={k}: {v:.2f}" for k, v in row["concentration"].items())
        print(
            f"{row['setting']:20} seed {row['seed']} {'with' if row['potential'] else 'without':>7} β:"
            f" R² {row['r2']:.4f}, Λ̂ {values} (off by {row['largest_error']:.1%})"
        )


if __name__ == "__main__":
    main()
