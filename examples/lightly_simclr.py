"""lightly's SimCLR with AnInfoNCE in the place of its NTXentLoss: one line changes, and the optimiser's."""

import torch

try:
    from lightly.models.modules import SimCLRProjectionHead
except (ImportError, RuntimeError) as problem:  # lightly imports torchvision, built for this very torch
    raise SystemExit(f"this example needs lightly with torchvision: {problem}") from None

from aninfonce import AnInfoNCE


class SimCLR(torch.nn.Module):
    """A small backbone with lightly's projection head."""

    def __init__(self, dim: int = 16) -> None:
        super().__init__()
        self.backbone = torch.nn.Sequential(
            torch.nn.Conv2d(1, 16, 3, stride=2), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(64)
        )
        self.head = SimCLRProjectionHead(64, 64, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Images to projections."""
        return self.head(self.backbone(x))


def view(images: torch.Tensor) -> torch.Tensor:
    """Shift the images a little and add noise; in earnest, this is lightly's SimCLRTransform."""
    moved = images.roll(int(torch.randint(-2, 3, ())), dims=-1)
    return moved + 0.1 * torch.randn_like(moved)


def main(steps: int = 100) -> float:
    """Train on random images; gives the loss relative to guessing."""
    torch.manual_seed(0)
    images = torch.rand(512, 1, 16, 16)
    model = SimCLR()
    model(images[:2])  # lets the lazy layer find its size
    loss = AnInfoNCE(dim=16)  # was: lightly.loss.NTXentLoss()
    optimizer = torch.optim.Adam([{"params": model.parameters()}, *loss.param_groups(lr=1e-2)], lr=1e-3)
    for _ in range(steps):
        batch = images[torch.randperm(512)[:256]]
        value = loss(model(view(batch)), model(view(batch)))
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
    share = value.item() / torch.log(torch.tensor(256.0)).item()
    print(f"loss at {share:.2f} of guessing, Λ̂ up to {loss.concentration.max().item():.1f}")
    return share


if __name__ == "__main__":
    main()
