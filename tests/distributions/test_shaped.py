"""Noise of other forms: the moments that its docstring states."""

import numpy as np
import pytest
import torch
from scipy import stats

from aninfonce.distributions import Projected, ShapedNoise
from aninfonce.distributions.shaped import FORMS
from aninfonce.processes import ProcessSettings
from aninfonce.spaces import Sphere

CONCENTRATION = torch.tensor([4.0, 25.0, 100.0], dtype=torch.float64)


def draws(form):
    """Standardised by what Λ promises, around anchors that are not at the origin."""
    loc = torch.tensor([[1.0, -2.0, 0.5]], dtype=torch.float64).expand(200_000, -1)
    x = ShapedNoise(loc, CONCENTRATION, form).sample(torch.Generator().manual_seed(0))
    return ((x - loc) * CONCENTRATION.sqrt()).numpy()


@pytest.mark.parametrize("form", FORMS)
def test_mean_variance_and_correlation(form):
    e = draws(form)
    assert np.abs(e.mean(axis=0)).max() < 0.015
    assert np.abs(e.var(axis=0) - 1).max() < 0.04
    expected = 0.5 if form == "correlated" else 0.0
    assert np.abs(np.corrcoef(e.T)[np.triu_indices(3, 1)] - expected).max() < 0.015


REFERENCES = {
    "normal": stats.norm().cdf,
    "correlated": stats.norm().cdf,
    "heavy-tailed": stats.t(5, scale=(3 / 5) ** 0.5).cdf,
    "skewed": stats.expon(loc=-1).cdf,
    "bimodal": lambda v: sum(stats.norm(m, 0.19**0.5).cdf(v) for m in (-0.9, 0.9)) / 2,
}


@pytest.mark.parametrize("form", FORMS)
def test_each_coordinate_has_the_stated_law(form):
    for column in draws(form).T:
        assert stats.kstest(column[:20_000], REFERENCES[form]).pvalue > 1e-4


@pytest.mark.parametrize(("form", "skewness", "kurtosis"), [("bimodal", 0.0, -1.3122), ("skewed", 2.0, 6.0)])
def test_skewness_and_kurtosis(form, skewness, kurtosis):
    e = draws(form).reshape(-1)
    assert stats.skew(e) == pytest.approx(skewness, abs=0.05)
    assert stats.kurtosis(e) == pytest.approx(kurtosis, abs=0.5 if form == "skewed" else 0.01)


def test_it_can_be_projected_and_has_no_density():
    law = Projected(ShapedNoise(torch.eye(3), CONCENTRATION, "bimodal"), Sphere(3))
    assert Sphere(3).contains(law.sample(torch.Generator().manual_seed(0))).all()
    with pytest.raises(NotImplementedError, match="no density"):
        law.log_prob(law.loc)


def test_settings():
    law = {"kind": "shaped", "form": "skewed", "concentration": (5, 25)}
    process = ProcessSettings(space="sphere", dim=2, conditional=law, mixing="identity").build()
    assert Sphere(2).contains(process.sample(10, torch.Generator().manual_seed(0)).z_pos).all()
    assert process.concentration is None  # Λ of this law is not the theory's
    with pytest.raises(ValueError, match="no truncated form"):
        ProcessSettings(space="box", dim=2, conditional=law)
    with pytest.raises(ValueError, match="3 concentrations"):
        ProcessSettings(space="sphere", dim=3, conditional=law)
    with pytest.raises(ValueError, match="form"):
        ShapedNoise(torch.eye(3), CONCENTRATION, "flat")
    with pytest.raises(ValueError, match="above 0"):
        ShapedNoise(torch.eye(2), torch.tensor([1.0, 0.0]), "normal")
