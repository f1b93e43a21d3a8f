"""The minimum is found from near and far, and without one the ridge decides."""

import pytest
import torch

from aninfonce.alignment.newton import damped_newton


def far_overshoots(x):
    """Σ √(1 + x²): from |x| > 1 a plain Newton step leads further away."""
    root = (1 + x.square()).sqrt()
    return float(root.sum()), x / root, lambda: torch.diag(root**-3)


@pytest.mark.parametrize("place", [0.1, -2.0, 20.0])
def test_the_minimum_is_found(place):
    start = torch.full((3,), place, dtype=torch.float64)
    found, loss = damped_newton(far_overshoots, start, torch.zeros_like(start), passes=100, enough=1e-12)
    assert far_overshoots(found)[1].abs().max() < 1e-5
    assert loss == pytest.approx(far_overshoots(found)[0], abs=1e-6)


def test_a_loss_without_a_minimum_ends_where_the_ridge_holds_it():
    """−x with ½·0.5·(x − 1)² is lowest at 3."""

    def falls(x):
        return float(-x.sum()), -torch.ones_like(x), lambda: torch.zeros(len(x), len(x), dtype=x.dtype)

    start = torch.ones(2, dtype=torch.float64)
    found, _ = damped_newton(falls, start, 0.5 * start, passes=10, enough=1e-9)
    torch.testing.assert_close(found, 3 * start)


def test_curvature_is_asked_for_only_where_the_loss_is_lower():
    tried, asked = [], []

    def noted(x):
        value, slope, curvature = far_overshoots(x)
        tried.append(value)
        return value, slope, lambda: asked.append(value) or curvature()

    start = torch.full((1,), 2.0, dtype=torch.float64)
    damped_newton(noted, start, torch.zeros_like(start), passes=50, enough=1e-12)
    assert asked == sorted(asked, reverse=True)
    assert len(asked) < len(tried)
