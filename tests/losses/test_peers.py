"""The same value and gradients as other libraries, where the objectives coincide.

Each test skips where its peer is not installed; `pip install aninfonce[bench]` brings them.
"""

import pytest
import torch
from benchmarks.peers import lightly_loss_module
from torch.nn.functional import normalize

from aninfonce.losses import InfoNCE, LpInfoNCE, NTXent

N, D = 12, 5
REASON = "{} is not installed (it is in the bench extra)"


def views():
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(N, D, generator=generator, dtype=torch.float64) for _ in range(2))


def assert_same(ours, theirs):
    results = []
    for loss in (ours, theirs):
        leaves = [z.clone().requires_grad_() for z in views()]
        value = loss(*leaves)
        results.append((value, *torch.autograd.grad(value, leaves)))
    for mine, peer in zip(*results, strict=True):
        torch.testing.assert_close(mine, peer, rtol=1e-6, atol=1e-7)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_ntxent_of_pytorch_metric_learning():
    losses = pytest.importorskip(
        "pytorch_metric_learning.losses", reason=REASON.format("pytorch-metric-learning")
    )
    peer = losses.SelfSupervisedLoss(losses.NTXentLoss(temperature=0.3))
    assert_same(NTXent(0.3), peer)


def test_info_nce_pytorch():
    peer = pytest.importorskip("info_nce", reason=REASON.format("info-nce-pytorch"))
    assert_same(InfoNCE(candidates="positives", temperature=0.3), peer.InfoNCE(temperature=0.3))
    negatives = torch.randn(N, 3, D, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    ours, theirs = InfoNCE(candidates="none", temperature=0.3), peer.InfoNCE(0.3, negative_mode="paired")
    assert_same(lambda a, b: ours(a, b, negatives), lambda a, b: theirs(a, b, negatives))
    shared = negatives[:, 0]
    theirs_shared = peer.InfoNCE(0.3)
    assert_same(lambda a, b: ours(a, b, shared), lambda a, b: theirs_shared(a, b, shared))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_cebra():
    """cebra leaves the positive out of its negatives; given as one of them, the objectives coincide."""
    criterions = pytest.importorskip("cebra.models.criterions", reason=REASON.format("cebra"))
    cosine = criterions.FixedCosineInfoNCE(temperature=0.3)
    assert_same(
        InfoNCE(candidates="positives", temperature=0.3),
        lambda a, b: cosine(normalize(a), normalize(b), normalize(b))[0],
    )
    euclidean = criterions.FixedEuclideanInfoNCE(temperature=0.3)
    assert_same(LpInfoNCE(2, candidates="positives", temperature=0.3), lambda a, b: euclidean(a, b, b)[0])


def test_lightly():
    module = lightly_loss_module()
    if module is None:
        pytest.skip(REASON.format("lightly"))
    assert_same(NTXent(0.3), module.NTXentLoss(temperature=0.3))
