"""A candidate potential absorbs anchors that are not uniform; benchmarks/potential.py shows more."""

from benchmarks.potential import SETTINGS, train


def test_potential_keeps_the_truth_for_skewed_anchors():
    """Density ∝ exp(6 z₀), Λ = 5: starting at the truth, only the loss with β stays there."""
    setting = SETTINGS["skewed"]._replace(steps=250)
    assert train(setting, potential=True, seed=0)["r2"] > 0.99
    assert train(setting, potential=False, seed=0)["r2"] < 0.9
