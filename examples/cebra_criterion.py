"""CEBRA with our loss as its criterion: its models, samplers and solver, and a trainable Λ̂."""

import cebra
import cebra.data
import cebra.models
import cebra.solver
import torch

from aninfonce import AnInfoNCE


class Criterion(AnInfoNCE):
    """What CEBRA's solver calls: reference, positive and negative samples to loss, alignment, uniformity."""

    def forward(self, reference, positive, negative):
        """Compare with the negatives that CEBRA drew, shared by all references."""
        alignment, uniformity = self.components(reference, positive, negative)
        return alignment + uniformity, alignment, uniformity


def main(steps: int = 200) -> float:
    """Train on a slow walk seen through many channels; gives the loss relative to guessing."""
    torch.manual_seed(0)
    walk = torch.randn(2000, 3).cumsum(dim=0)
    walk = (walk - walk.mean(dim=0)) / walk.std(dim=0)
    recording = torch.tanh(walk @ torch.randn(3, 20)) + 0.1 * torch.randn(2000, 20)
    # CEBRA keeps a second variable beside the recording; sampling by time does not look at it.
    dataset = cebra.data.TensorDataset(recording, continuous=torch.arange(2000.0)[:, None])
    loader = cebra.data.ContinuousDataLoader(
        dataset, num_steps=steps, batch_size=256, conditional="time", time_offset=5
    )
    model = cebra.models.init("offset1-model", 20, 32, 3)
    dataset.configure_for(model)
    criterion = Criterion(3, candidates="none")
    groups = [{"params": model.parameters()}, *criterion.param_groups(lr=1e-2)]
    solver = cebra.solver.init(
        "single-session", model=model, criterion=criterion, optimizer=torch.optim.Adam(groups, lr=3e-3),
        tqdm_on=False,
    )  # fmt: skip
    solver.fit(loader)
    # One positive among 256 negatives.
    share = solver.log["total"][-1] / torch.log(torch.tensor(257.0)).item()
    print(f"loss at {share:.2f} of guessing, Λ̂ {[round(v, 1) for v in criterion.concentration.tolist()]}")
    return share


if __name__ == "__main__":
    main()
