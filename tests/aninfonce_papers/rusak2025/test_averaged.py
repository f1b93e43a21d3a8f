"""Batches that are averaged over: the value and gradient of single ones, and what is refused."""

import pytest
import torch

from aninfonce.losses import AnInfoNCE
from aninfonce_papers.rusak2025.averaged import AveragedAnInfoNCE, AveragedLoss


@pytest.mark.parametrize("normalize", [True, False])
def test_value_and_gradients_are_the_mean_of_single_batches(normalize):
    drawn = torch.Generator().manual_seed(0)
    z0, z1 = torch.randn(2, 23, 4, generator=drawn, dtype=torch.float64)
    ours, theirs = [], []
    for found, loss in (
        (ours, AveragedAnInfoNCE(4, 5, initial=3.0, normalize=normalize)),
        (theirs, AnInfoNCE(4, initial=3.0, normalize=normalize)),
    ):
        a, p = z0.clone().requires_grad_(), z1.clone().requires_grad_()
        double = loss.double()
        if found is ours:
            value = double(a, p)  # the last three pairs are no whole batch
        else:
            pairs = zip(a[:20].split(5), p[:20].split(5), strict=True)
            value = torch.stack([double(*batch) for batch in pairs]).mean()
        value.backward()
        (of_concentration,) = (weight.grad for weight in loss.parameters())
        found += [value.detach(), a.grad, p.grad, of_concentration]
    for one, other in zip(ours, theirs, strict=True):
        assert torch.allclose(one, other, rtol=1e-10, atol=1e-12)


def test_what_has_no_meaning_is_refused():
    loss = AveragedLoss(size=5).module(3, seed=0)
    z = torch.ones(10, 3)
    with pytest.raises(ValueError, match="`negatives`"):
        loss(z, z, z)
    with pytest.raises(ValueError, match="`z0` must have at least 5 rows, one batch, got 4"):
        loss(z[:4], z[:4])
    with pytest.raises(ValueError, match="greater than or equal to 2"):
        AveragedLoss(size=1)
