"""AnInfoNCE in a plain PyTorch loop: the loss, its own learning rate, and Λ̂ at the end."""

import torch

from aninfonce import AnInfoNCE, process
from aninfonce.metrics import linear_r2


def main(steps: int = 500) -> float:
    """Train on pairs of five strongly and five weakly varying factors; gives their R²."""
    world = process("fig2/25", mixing="identity")  # any source of pairs will do
    pairs = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    encoder = torch.nn.Sequential(torch.nn.Linear(10, 128), torch.nn.LeakyReLU(0.2), torch.nn.Linear(128, 10))
    loss = AnInfoNCE(dim=10)  # in place of NT-Xent; embeddings are normalised inside
    # Λ̂ is a parameter of the loss: it must go to the optimiser, best with a rate of its own.
    groups = [{"params": encoder.parameters()}, *loss.param_groups(lr=2e-2)]
    optimizer = torch.optim.Adam(groups, lr=5e-3)
    for _ in range(steps):
        batch = world.sample(512, pairs)
        value = loss(encoder(batch.x), encoder(batch.x_pos))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    test = world.sample(2048, pairs)
    with torch.no_grad():
        embedding = torch.nn.functional.normalize(encoder(test.x), dim=1)
    score = linear_r2(test.z, embedding).mean
    print(f"R² {score:.3f}, Λ̂ {[round(v, 1) for v in loss.concentration.sort().values.tolist()]}")
    return score


if __name__ == "__main__":
    main()
