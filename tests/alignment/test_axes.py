from __future__ import annotations

import pytest
import torch

from aninfonce.alignment.axes import fix_signs, flat_axes, time_constant

LAMBDA = torch.tensor([0.5, 2.0, 9.0, 40.0], dtype=torch.float64)


def _embedding(n: int = 50_000, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Latents of unit variance, and h = BΛ^½z + c with the metric that goes with a random B."""
    generator = torch.Generator().manual_seed(seed)
    z = torch.rand(n, 4, generator=generator, dtype=torch.float64) * 12**0.5
    b = torch.randn(4, 4, generator=generator, dtype=torch.float64)
    inverse = torch.linalg.inv(b)
    return z, (z * LAMBDA.sqrt()) @ b.T + 3.0, inverse.T @ inverse


def test_axes_and_concentration_are_the_latents() -> None:
    z, h, metric = _embedding()
    axes = flat_axes(h, metric[None])
    e = axes(h)
    assert torch.allclose(torch.cov(e.T), torch.eye(4, dtype=torch.float64), atol=1e-8)
    assert torch.allclose(axes.concentration[0], LAMBDA, rtol=0.03)
    correlation = torch.corrcoef(torch.cat([z, e], dim=1).T)[:4, 4:].abs()
    assert correlation.diagonal().min() > 0.999


def test_the_similarity_of_a_pair_stays_the_same() -> None:
    _, h, metric = _embedding()
    axes = flat_axes(h, metric[None])
    first, second = h[:100], h[100:200]
    before = (((first - second) @ metric) * (first - second)).sum(dim=1)
    after = ((axes(first) - axes(second)).square() * axes.concentration[0]).sum(dim=1)
    assert torch.allclose(before, after)


def test_a_second_metric_tells_equal_ones_apart() -> None:
    z, h, _ = _embedding()
    z, turn = z[:, :2], torch.tensor([[0.8, -0.6], [0.6, 0.8]], dtype=torch.float64)
    h = z @ turn.T
    equal = torch.eye(2, dtype=torch.float64)
    other = turn @ torch.diag(torch.tensor([1.0, 3.0], dtype=torch.float64)) @ turn.T
    e = flat_axes(h, torch.stack([equal, other]))(h)
    correlation = torch.corrcoef(torch.cat([z, e], dim=1).T)[:2, 2:].abs()
    assert correlation.max(dim=0).values.min() > 0.999


def test_a_direction_without_variance_has_no_concentration() -> None:
    _, h, metric = _embedding()
    h = h.clone()
    h[:, 0] = 1.0
    axes = flat_axes(h, metric[None])
    assert axes.concentration[0, 0] < 1e-6
    assert bool(torch.isfinite(axes(h)).all())


def test_signs_do_not_depend_on_the_sign_that_came() -> None:
    x = torch.randn(100, 3, generator=torch.Generator().manual_seed(0))
    e = torch.stack([x[:, 0] - x[:, 1], -x[:, 2]], dim=1)
    assert torch.equal(e * fix_signs(e, x), -e * fix_signs(-e, x))


def test_time_constants_invert_the_concentration_of_an_autoregression() -> None:
    tau = torch.tensor([0.3, 5.0, 1e4], dtype=torch.float64)
    phi = torch.exp(-3.0 / tau)
    assert torch.allclose(time_constant(phi / (1 - phi**2), lag=3.0), tau)
    assert time_constant(torch.zeros(1)).item() == 0.0


def test_metrics_of_another_width_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="`metrics` must have shape"):
        flat_axes(torch.randn(10, 3), torch.eye(2)[None])
