"""Figure 11: pairs of two kinds in one stream."""

from types import SimpleNamespace

import torch

from aninfonce.distributions import Uniform
from aninfonce.losses import AlternatingLoss, EnsembleAnInfoNCE
from aninfonce.processes import ensemble_process
from aninfonce.spaces import Sphere
from aninfonce_papers.engine import find_study
from aninfonce_papers.rusak2025.fig11 import alternate, joint_concentration


def test_rows_alternate_between_the_kinds():
    """Var(Δ) of a latent is about 1/Λ where Λ is large: 15 and 250 differ tenfold."""
    batch = alternate(ensemble_process(mixing="identity")).sample(8_001, torch.Generator().manual_seed(0))
    step = (batch.z_pos - batch.z).square()
    first, second = step[0::2].mean(dim=0), step[1::2].mean(dim=0)
    assert (first[3:10] > 5 * second[3:10]).all()
    assert (second[10:] > 5 * first[10:]).all()
    assert torch.allclose(first[:3], second[:3], rtol=0.2)


def test_published_values():
    cells = {cell.name: cell.published for cell in find_study("fig11").experiments("laptop")}
    values = [cells[name]["R²"].value for name in ("InfoNCE", "AnInfoNCE", "ensemble")]
    assert values == [0.48, 0.93, 0.98]


def test_concentrations_are_read_in_the_axes_that_both_kinds_share():
    """An embedding A z + b of true latents, in Rᵈ, with the metrics that belong to it."""
    truth = torch.tensor([[40.0, 15.0, 25.0], [40.0, 25.0, 15.0]])
    stretch = torch.tensor([2.0, 0.5, 3.0])
    parts = EnsembleAnInfoNCE(3, 2, normalize=False)
    for loss, diagonal in zip(parts.losses, truth, strict=True):
        with torch.no_grad():
            loss.similarity.raw.copy_((diagonal / stretch**2).log())
    fitted = SimpleNamespace(embed=lambda x: x * stretch + 1.0, loss=AlternatingLoss(parts))
    z = Uniform(Sphere(3)).sample(20_000, torch.Generator().manual_seed(0))
    embedding, found = joint_concentration(fitted, z)
    # By the difference of the two: −10, 0 and 10.
    assert torch.allclose(found, truth[:, [1, 0, 2]].double(), rtol=0.05)
    assert torch.allclose(embedding.abs(), z[:, [1, 0, 2]].abs().double(), atol=0.1)
