import pytest
import torch
from torch import nn

from aninfonce.losses import AnInfoNCE, NTXent
from aninfonce.processes import PairBatch, process
from aninfonce.training.monitor import Monitor


@pytest.fixture
def monitor():
    world = process("fig2/25", mixing="identity")
    return Monitor(world.sample(2048, torch.Generator().manual_seed(0)), world)


def _identity():
    layer = nn.Linear(10, 10)
    with torch.no_grad():
        layer.weight.copy_(torch.eye(10))
        layer.bias.zero_()
    return layer


def test_the_truth_has_no_gap_and_perfect_scores(monitor):
    truth = torch.tensor([5.0] * 5 + [25.0] * 5)
    row = monitor.measure(_identity(), AnInfoNCE(10, initial=truth, normalize=False))
    assert abs(row["gap"]) < 1e-5
    assert row["r2_style"] > 0.9999
    assert row["rank"] > 9.9


def test_a_loss_with_other_negatives_has_no_gap(monitor):
    row = monitor.measure(_identity(), NTXent())
    assert "gap" not in row
    assert "held_out_loss" in row


def test_a_falling_rank_warns_once(monitor):
    layer, loss = _identity(), AnInfoNCE(10, normalize=False)
    monitor.measure(layer, loss)
    with torch.no_grad():
        layer.weight[1:] = 0.0
    with pytest.warns(UserWarning, match=r"effective rank fell to 1.0 from 10.0"):
        monitor.measure(layer, loss)
    monitor.measure(layer, loss)


def test_no_latents_no_r2():
    x = torch.randn(600, 10)
    row = Monitor(PairBatch(x, x + 0.1)).measure(_identity(), AnInfoNCE(10, normalize=False))
    assert "r2" not in row
    assert "gap" not in row
