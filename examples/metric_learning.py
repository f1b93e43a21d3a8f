"""pytorch-metric-learning with our similarity as its distance: any of its losses then has a trainable Λ̂."""

import torch
from pytorch_metric_learning.losses import NTXentLoss, SelfSupervisedLoss

from aninfonce import process
from aninfonce.metrics import linear_r2
from aninfonce.similarities import Anisotropic


def main(steps: int = 200) -> float:
    """Train on pairs of known factors; gives their R²."""
    world = process("fig2/25", mixing="identity")
    pairs = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    encoder = torch.nn.Sequential(torch.nn.Linear(10, 128), torch.nn.LeakyReLU(0.2), torch.nn.Linear(128, 10))
    similarity = Anisotropic(10)  # −½ΔᵀΛ̂Δ, larger is closer
    loss = SelfSupervisedLoss(NTXentLoss(temperature=1.0, distance=similarity))
    optimizer = torch.optim.Adam(
        [{"params": encoder.parameters()}, {"params": similarity.parameters(), "lr": 2e-2}], lr=5e-3
    )

    def embed(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(encoder(x), dim=1)

    for _ in range(steps):
        batch = world.sample(64, pairs)  # its NTXentLoss takes time cubic in this
        value = loss(embed(batch.x), embed(batch.x_pos))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    test = world.sample(2048, pairs)
    with torch.no_grad():
        score = linear_r2(test.z, embed(test.x)).mean
    print(f"R² {score:.3f}, Λ̂ {[round(v, 1) for v in similarity.concentration.sort().values.tolist()]}")
    return score


if __name__ == "__main__":
    main()
