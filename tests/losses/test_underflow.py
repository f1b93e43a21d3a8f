"""What is too small for all digits of float32 counts as zero, and nothing else changes."""

import pytest
import torch
from torch.nn.functional import normalize

from aninfonce.losses import AnInfoNCE, LpInfoNCE
from aninfonce.losses.kernel import half, panels, recomputed, underflow, whole

TINY = torch.finfo(torch.float32).tiny


def small_numbers(x):
    return int(((x != 0) & (x.abs() < TINY)).sum()) if x.dtype is torch.float32 else 0


def test_exponentials_have_all_digits_or_are_zero():
    exponents = torch.linspace(-160.0, 3.0, 5_000)
    expected = exponents.double().exp2()
    found = underflow.exponentials(exponents.clone())
    assert small_numbers(exponents.exp2()) > 100
    assert small_numbers(found) == 0
    kept = found > 0
    torch.testing.assert_close(found[kept].double(), expected[kept], rtol=1e-6, atol=0)
    assert float(expected[~kept].max()) < 2.0**-115


def test_beside_one_the_smallest_are_zero():
    logits = torch.linspace(-120.0, 0.0, 5_000)
    expected = logits.double().exp()
    found = underflow.beside_one(logits.clone())
    assert small_numbers(found) == 0
    kept = found > 0
    torch.testing.assert_close(found[kept].double(), expected[kept], rtol=1e-5, atol=0)
    assert float(expected[~kept].max()) < 1e-30
    assert underflow.beside_one(torch.tensor([torch.nan])).isnan()


def test_weighted_exponentials_of_either_sign_have_all_digits_or_are_zero():
    weighted = torch.tensor([1e-40, -1e-40, 1e-30, -1e-30, 0.0, 1.0])
    assert underflow.without_faint(weighted.clone()).tolist() == [0.0, 0.0, *weighted[2:].tolist()]


def test_nan_stays_and_float64_keeps_its_own_range():
    assert underflow.exponentials(torch.tensor([torch.nan])).isnan()
    assert underflow.without_faint(torch.tensor([torch.nan])).isnan()
    far = torch.tensor([-500.0], dtype=torch.float64)
    assert float(underflow.exponentials(far.clone())) == 2.0**-500
    assert not underflow.can_underflow(far.squeeze())


def test_only_a_processor_s_low_logits_are_looked_for():
    assert underflow.can_underflow(torch.tensor(-90.0))
    assert not underflow.can_underflow(torch.tensor(-70.0))
    assert not underflow.can_underflow(torch.tensor(-90.0, device="meta"))


def batch(n, concentration, d=10):
    """Draw positives as far away as Λ says, and other anchors anywhere: exponents from −1 to −2Λ."""
    generator = torch.Generator().manual_seed(0)
    z0 = normalize(torch.randn(n, d, generator=generator), dim=1)
    return z0, normalize(z0 + torch.randn(n, d, generator=generator) / concentration**0.5, dim=1)


# The whole matrix at once; half of it, kept and computed again; all of it in panels.
WAYS = {
    "whole": (100, {}),
    "whole, narrow": (300, {}),
    "half": (700, {}),
    "half, many columns": (700, {"d": 64}),
    "half, computed again": (2_500, {}),
    "both views": (600, {"candidates": "both", "symmetric": True}),
    "panels": (1_200, {"candidates": "positives"}),
}


@pytest.mark.parametrize("concentration", [40.0, 100.0, 200.0])
@pytest.mark.parametrize("way", WAYS)
def test_no_product_sees_a_small_number_and_the_gradient_is_that_of_float64(way, concentration, monkeypatch):
    """With a Λ of 40 or more, exponents between −126 and −149 are there without it."""
    n, options = WAYS[way]
    options = dict(options)
    d = options.pop("d", 10)
    views = batch(n, concentration, d)
    seen = []

    def watched(module, name):
        original = getattr(module, name)

        def noted(*args, **kwargs):
            found = original(*args, **kwargs)
            seen.append(small_numbers(found))
            return found

        monkeypatch.setattr(module, name, noted)

    for module, names in (
        (half, ("exponentials", "without_faint")),
        (whole, ("exponentials", "without_faint")),
        (panels, ("exponentials",)),
    ):
        for name in names:
            watched(module, name)
    found, expected = (
        gradients(views, AnInfoNCE(d, initial=concentration, **options), dtype)
        for dtype in (torch.float32, torch.float64)
    )
    assert seen
    assert sum(seen) == 0
    for ours, exact in zip(found, expected, strict=True):
        # Beside what they are far from, some positives are certain to the last digit.
        assert float((ours.double() - exact).norm()) <= 2e-5 * float(exact.norm()) + 2e-6


@pytest.mark.parametrize(("p", "scale"), [(1.0, 1.0), (1.0, 20.0), (1.0, 100.0), (3.0, 10.0)])
def test_panels_of_autograd_see_no_small_number_either(p, scale, monkeypatch):
    """Logits of a box of side 20, as in cl-ica's Table 2, go down to −200."""
    generator = torch.Generator().manual_seed(0)
    z0 = scale * torch.rand(300, 6, generator=generator)
    views = z0, z0 + 0.05 * scale * torch.randn(300, 6, generator=generator)
    seen = []

    def noted(logits):
        found = underflow.beside_one(logits)
        seen.append(small_numbers(found))
        return found

    monkeypatch.setattr(recomputed, "beside_one", noted)
    loss = LpInfoNCE(p, candidates="anchors+self")
    found, expected = (gradients(views, loss, dtype) for dtype in (torch.float32, torch.float64))
    assert seen
    assert sum(seen) == 0
    for ours, exact in zip(found, expected, strict=True):
        assert float((ours.double() - exact).norm()) <= 1e-4 * float(exact.norm()) + 1e-6


def gradients(views, loss, dtype):
    given = [z.to(dtype).requires_grad_() for z in views]
    return torch.autograd.grad(loss.to(dtype)(*given), given)


def test_weights_of_any_sign_and_size_give_the_gradient_of_float64():
    """A weight of its own for each anchor is not lifted: nothing says how large it is."""
    views = batch(900, 100.0)
    weights = torch.linspace(-1e6, 1e6, 900, dtype=torch.float64)

    def slopes(dtype):
        given = [z.to(dtype).requires_grad_() for z in views]
        loss = AnInfoNCE(10, initial=100.0, reduction="none").to(dtype)
        return torch.autograd.grad(loss(*given) @ weights.to(dtype), given)

    for ours, exact in zip(slopes(torch.float32), slopes(torch.float64), strict=True):
        assert float((ours.double() - exact).norm()) <= 2e-5 * float(exact.norm())
