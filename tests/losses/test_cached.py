"""Gradients by chunks of the encoder are those of the whole batch."""

import copy

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from aninfonce.losses import AnInfoNCE, NTXent, cached_backward

N, X, D = 40, 6, 3


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def network(*layers):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(X, 8), nn.GELU(), *layers, nn.Linear(8, D)).double()


def gradients(*modules):
    return [p.grad.clone() for module in modules for p in module.parameters()]


@pytest.mark.parametrize("chunk", [1, 7, 40, 100])
@pytest.mark.parametrize("make", [lambda: AnInfoNCE(D), NTXent], ids=["aninfonce", "nt-xent"])
def test_equals_a_plain_backward(make, chunk):
    encoder, loss = network(), make().double()
    plain_encoder, plain_loss = copy.deepcopy(encoder), copy.deepcopy(loss)
    x0, x1 = draw(2, N, X)
    value = cached_backward(encoder, loss, x0, x1, chunk=chunk)
    expected = plain_loss(plain_encoder(x0), plain_encoder(x1))
    expected.backward()
    assert not value.requires_grad
    torch.testing.assert_close(value, expected.detach())
    for mine, exact in zip(gradients(encoder, loss), gradients(plain_encoder, plain_loss), strict=True):
        torch.testing.assert_close(mine, exact, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("layer", [nn.Dropout(0.4), nn.BatchNorm1d(8)], ids=["dropout", "batch norm"])
def test_both_passes_draw_alike_and_count_once(layer):
    """Beside one graph of all chunks: the same masks, the same statistics, the same state afterwards."""
    encoder, loss = network(copy.deepcopy(layer)), AnInfoNCE(D).double()
    plain = copy.deepcopy(encoder)
    x0, x1 = draw(2, N, X)
    torch.manual_seed(3)
    cached_backward(encoder, loss, x0, x1, chunk=8)
    after = torch.rand(3)
    torch.manual_seed(3)
    z0, z1 = (torch.cat([plain(part) for part in x.split(8)]) for x in (x0, x1))
    AnInfoNCE(D).double()(z0, z1).backward()
    assert torch.equal(after, torch.rand(3))
    for mine, exact in zip(gradients(encoder), gradients(plain), strict=True):
        torch.testing.assert_close(mine, exact, rtol=1e-9, atol=1e-12)
    for mine, exact in zip(encoder.buffers(), plain.buffers(), strict=True):
        torch.testing.assert_close(mine, exact)


def test_dropout_is_not_the_same_without_its_state():
    """The test above would notice: masks matter for these gradients."""
    encoder = network(nn.Dropout(0.4))
    x0, x1 = draw(2, N, X)
    results = []
    for seed in (0, 1):
        encoder.zero_grad()
        torch.manual_seed(seed)
        cached_backward(encoder, NTXent(), x0, x1, chunk=8)
        results.append(gradients(encoder)[0])
    assert (results[0] - results[1]).norm() > 0.01 * results[0].norm()


def test_two_encoders_and_chunks_of_any_kind():
    """As for image and text: dictionaries in, one encoder a view."""

    class FromDict(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = network()

        def forward(self, batch):
            return self.inner(batch["pixels"])

    encoders, x0, x1 = (FromDict(), network()), *draw(2, N, X)
    plain = copy.deepcopy(encoders)
    first = [{"pixels": part} for part in x0.split(16)]
    cached_backward(encoders, NTXent(), first, x1, chunk=10)
    NTXent()(plain[0]({"pixels": x0}), plain[1](x1)).backward()
    for mine, exact in zip(gradients(*encoders), gradients(*plain), strict=True):
        torch.testing.assert_close(mine, exact, rtol=1e-9, atol=1e-12)


def test_gradients_add_up_and_can_be_scaled():
    encoder, loss = network(), NTXent()
    x0, x1 = draw(2, N, X)
    cached_backward(encoder, loss, x0, x1, chunk=8)
    once = gradients(encoder)
    cached_backward(encoder, loss, x0, x1, chunk=8, backward=lambda value: (3 * value).backward())
    for mine, first in zip(gradients(encoder), once, strict=True):
        torch.testing.assert_close(mine, 4 * first)


def test_processes_exchange_only_with_the_last_chunk():
    class Counting(nn.Module):
        """Stands for DistributedDataParallel: a context in which gradients stay at home."""

        def __init__(self):
            super().__init__()
            self.inner, self.local = network(), 0

        def forward(self, x):
            return self.inner(x)

        def no_sync(self):
            self.local += 1
            return torch.enable_grad()

    encoder = Counting()
    cached_backward(encoder, NTXent(), *draw(2, N, X), chunk=10)
    assert encoder.local == 7


class Longest(TorchDispatchMode):
    """Remembers the most rows that any hidden activation had."""

    rows = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor) and leaf.ndim == 2 and leaf.shape[1] == 8:
                self.rows = max(self.rows, len(leaf))
        return result


def test_no_activation_of_more_rows_than_a_chunk():
    with Longest() as longest:
        cached_backward(network(), NTXent(), *draw(2, N, X), chunk=5)
    assert longest.rows in (5, X, 8)  # the weights have as many rows as columns


def test_bad_chunk():
    with pytest.raises(ValueError, match="`chunk` must be a whole number of at least 1"):
        cached_backward(network(), NTXent(), *draw(2, N, X), chunk=0)
