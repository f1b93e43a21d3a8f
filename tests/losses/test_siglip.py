"""The sigmoid loss against its definition in float64, in panels of any size, and its refusals."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from aninfonce.functional import siglip
from aninfonce.losses import SigLIP
from aninfonce.losses.kernel.sigmoid import sigmoid_sweep


def written_out(z0: Tensor, z1: Tensor, t: Tensor, b: Tensor) -> Tensor:
    """Algorithm 1 of the paper: the inputs normalised, t' and b learned."""
    x, y = (torch.nn.functional.normalize(z, dim=1) for z in (z0, z1))
    logits = x @ y.T * t.exp() + b
    labels = 2 * torch.eye(len(x), dtype=logits.dtype) - 1
    return -torch.nn.functional.logsigmoid(labels * logits).sum() / len(x)


def pairs(n: int, d: int, dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    z0 = torch.randn(n, d, generator=generator, dtype=torch.float64)
    z1 = z0 + 0.5 * torch.randn(n, d, generator=generator, dtype=torch.float64)
    return z0.to(dtype).requires_grad_(), z1.to(dtype).requires_grad_()


@pytest.mark.parametrize(("n", "d"), [(1, 3), (7, 2), (300, 40), (1500, 9)])
@pytest.mark.parametrize(("temperature", "bias"), [(0.1, -10.0), (0.01, -3.0), (1.0, 4.0)])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 2e-6)])
def test_values_and_gradients_are_those_of_the_paper(n, d, temperature, bias, dtype, tolerance):
    z0, z1 = pairs(n, d)
    t, b = (torch.tensor(v, dtype=torch.float64).requires_grad_() for v in (-math.log(temperature), bias))
    value = written_out(z0, z1, t, b)
    expected = [value, *torch.autograd.grad(value, (z0, z1, t, b))]
    expected[3] = -expected[3]  # of log temperature = −t'

    loss = SigLIP(temperature, bias).to(dtype)
    with torch.no_grad():
        loss.log_temperature.copy_(-t)
    single = [z.detach().to(dtype).requires_grad_() for z in (z0, z1)]
    value = loss(*single)
    found = [value, *torch.autograd.grad(value, (*single, loss.log_temperature, loss.bias))]
    for index, (mine, true) in enumerate(zip(found, expected, strict=True)):
        # A gradient of one number is a sum of terms of both signs: its rounding is that of the terms.
        size = true.norm() if index < 3 else true.abs() + expected[0].abs()
        assert (mine.double() - true).norm() <= tolerance * size.clamp_min(1e-12)


def test_gradients_agree_with_differences():
    z0, z1 = pairs(6, 3)
    t, b = (torch.tensor(v, dtype=torch.float64).requires_grad_() for v in (0.4, -1.0))

    def value(a: Tensor, c: Tensor, t: Tensor, b: Tensor) -> Tensor:
        return siglip(a, c, temperature=t, bias=b, normalize=True)

    assert torch.autograd.gradcheck(value, (z0, z1, t, b))
    each = torch.autograd.gradcheck(
        lambda a, c: siglip(a, c, temperature=0.4, bias=-1.0, reduction="none"), (z0, z1)
    )
    assert each


@pytest.mark.parametrize("panel", [1, 4, 11])
def test_panels_of_any_size_give_the_same(panel):
    query, key = (z.detach() for z in pairs(11, 3))
    key, bias = torch.cat([query[:2], key]), torch.tensor(-1.0, dtype=torch.float64)
    whole = sigmoid_sweep((query, key, bias), 0.5, first=2)
    parts = sigmoid_sweep((query, key, bias), 0.5, first=2, panel=panel)
    torch.testing.assert_close(whole.rows, parts.rows)
    torch.testing.assert_close(whole.gradients, parts.gradients)


def test_reductions_agree():
    z0, z1 = pairs(9, 4)
    rows = siglip(z0, z1, reduction="none")
    assert rows.shape == (9,)
    torch.testing.assert_close(rows.sum(), siglip(z0, z1, reduction="sum"))
    torch.testing.assert_close(rows.mean(), siglip(z0, z1))


def test_it_starts_as_in_the_paper():
    """At the start nearly all of the loss is that of the pairs: a bias of −10 says that nothing belongs."""
    loss = SigLIP()
    assert math.isclose(loss.temperature.item(), 0.1, rel_tol=1e-6)
    assert loss.bias.item() == -10
    orthogonal = torch.eye(8)
    value = loss(orthogonal[:4], orthogonal[4:])
    assert math.isclose(value.item(), math.log1p(math.exp(10)) + 3 * math.log1p(math.exp(-10)), rel_tol=1e-6)


def test_temperature_and_bias_learn_from_their_group():
    z0, z1 = (z.float().detach() for z in pairs(32, 6))
    loss = SigLIP()
    optimizer = torch.optim.AdamW(loss.param_groups(lr=0.1))
    before = loss(z0, z1).item()
    for _ in range(20):
        optimizer.zero_grad()
        loss(z0, z1).backward()
        optimizer.step()
    assert loss(z0, z1).item() < before
    assert "temperature=" in repr(loss)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a, b: siglip(a, b[:-1]), r"`z1` must have shape \(4, 3\), got \(3, 3\)"),
        (lambda a, b: siglip(a, b, temperature=0.0), "`temperature` must be"),
        (lambda a, b: siglip(a, b, temperature=torch.tensor(-1.0)), "`temperature` must be"),
        (lambda a, b: siglip(a, b, bias=torch.ones(2)), "`bias` must be one number"),
        (lambda a, b: siglip(a, b, bias=math.nan), "`bias` must be"),
        (lambda a, b: siglip(a, b * math.nan), "`z1` must be finite, got NaN or infinity in 4 of 4"),
        (lambda a, b: siglip(a, b, reduction="max"), "`reduction` must be"),
        (lambda a, b: SigLIP(temperature=-1), "`temperature` must be"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    z0, z1 = (z.detach() for z in pairs(4, 3))
    with pytest.raises(ValueError, match=message):
        call(z0, z1)


def test_half_precision_is_computed_in_float32():
    z0, z1 = (z.detach().to(torch.bfloat16) for z in pairs(8, 3))
    value = SigLIP()(z0, z1)
    assert value.dtype == torch.float32
    torch.testing.assert_close(value, SigLIP()(z0.float(), z1.float()))
