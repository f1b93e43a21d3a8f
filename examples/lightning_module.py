"""AnInfoNCE in a Lightning module: the loss is a submodule, so that Λ̂ is trained, moved and saved with it."""

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

from aninfonce import AnInfoNCE, process
from aninfonce.metrics import linear_r2


class Contrastive(lightning.LightningModule):
    """An encoder that learns from pairs (x, x_pos)."""

    def __init__(self, dim: int = 10) -> None:
        super().__init__()
        self.encoder = torch.nn.Sequential(
            torch.nn.Linear(dim, 128), torch.nn.LeakyReLU(0.2), torch.nn.Linear(128, dim)
        )
        # On several GPUs every process then sees the negatives of all.
        self.loss = AnInfoNCE(dim, gather_distributed=True)

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        """One batch of pairs."""
        x, x_pos = batch
        value = self.loss(self.encoder(x), self.encoder(x_pos))
        self.log("loss", value)
        return value

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Λ̂ with a rate of its own."""
        groups = [{"params": self.encoder.parameters()}, *self.loss.param_groups(lr=2e-2)]
        return torch.optim.Adam(groups, lr=5e-3)


def main(steps: int = 500) -> float:
    """Train on pairs of known factors; gives their R²."""
    lightning.seed_everything(0, verbose=False)
    world = process("fig2/25", mixing="identity")
    batch = world.sample(20_000, torch.Generator().manual_seed(0))
    loader = DataLoader(TensorDataset(batch.x, batch.x_pos), batch_size=512, shuffle=True, drop_last=True)
    model = Contrastive()
    trainer = lightning.Trainer(
        max_steps=steps, accelerator="auto", devices=1, logger=False, enable_checkpointing=False
    )
    trainer.fit(model, loader)
    test = world.sample(2048, torch.Generator().manual_seed(1))
    with torch.no_grad():
        embedding = torch.nn.functional.normalize(model.encoder(test.x), dim=1)
    score = linear_r2(test.z, embedding).mean
    print(f"R² {score:.3f}")
    return score


if __name__ == "__main__":
    main()
