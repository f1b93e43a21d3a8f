"""At the true latents and the true similarity, each loss is what `optimal_loss` says it should be."""

import math

import pytest
import torch

from aninfonce.losses import AnInfoNCE, InfoNCE, LpInfoNCE, NTXent
from aninfonce.processes import optimal_loss, process

BATCHES = 30
NEGATIVES = 128
TRUTH = torch.tensor([5.0] * 5 + [25.0] * 5)

CASES = {
    "AnInfoNCE": ("fig2/25", AnInfoNCE(10, initial=TRUTH), "forward"),
    "AnInfoNCE, published": (
        "fig2/25",
        AnInfoNCE(10, initial=TRUTH, candidates="both", symmetric=True),
        "published",
    ),
    "InfoNCE, κ=1": ("table1/row1", InfoNCE(), "forward"),
    "InfoNCE, κ=10": ("table1/row2", InfoNCE(temperature=0.1), "forward"),
    "NTXent, κ=10": ("table1/row2", NTXent(0.1), "published"),
    "Laplace": ("table2/row1", LpInfoNCE(1, temperature=0.05), "forward"),
    "GenNorm": ("table2/row2", LpInfoNCE(3, temperature=0.05**3), "forward"),
    "Normal": ("table2/row3", LpInfoNCE(2, temperature=2 * 0.05**2), "forward"),
}


def mean_loss(loss, source, n, generator):
    """Mean over batches at the true latents, and its standard error."""
    values = []
    with torch.no_grad():
        for _ in range(BATCHES):
            batch = source.sample(n, generator)
            values.append(loss(batch.z, batch.z_pos).item())
    spread = torch.tensor(values)
    return spread.mean().item(), spread.std().item() / math.sqrt(BATCHES)


@pytest.mark.parametrize("name", CASES)
def test_loss_at_the_truth_is_the_optimal_loss(name):
    """Four standard errors: all eight cases together raise a false alarm once in 2000 runs."""
    preset, loss, counting = CASES[name]
    source = process(preset, mixing="identity")
    n = NEGATIVES + 1 if counting == "forward" else NEGATIVES // 2 + 1
    value, error = mean_loss(loss, source, n, torch.Generator().manual_seed(0))
    best = optimal_loss(
        source, NEGATIVES, counting=counting, batches=BATCHES, generator=torch.Generator().manual_seed(1)
    )
    tolerance = 4 * math.hypot(error, best.standard_error)
    assert value == pytest.approx(best.value, abs=tolerance + 1e-7)
    assert value < math.log(NEGATIVES + 1)


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_any_other_concentration_does_worse(factor):
    """On the same pairs, Λ̂ off by a quarter costs many times the scatter of the difference."""
    source = process("fig2/25", mixing="identity")
    truth = mean_loss(AnInfoNCE(10, initial=TRUTH), source, 512, torch.Generator().manual_seed(0))[0]
    other = mean_loss(AnInfoNCE(10, initial=TRUTH * factor), source, 512, torch.Generator().manual_seed(0))[0]
    assert other > truth
